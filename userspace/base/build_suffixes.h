// SPDX-License-Identifier: MIT
// Suffixes that compilers add to function names and that differ between builds. Comparisons of two builds
// (answers/diff, flame graphs of two traces) ignore them, but show them.
#pragma once

#include <string>
#include <string_view>

namespace monitor {

// Without suffixes of parts, clones and symbols that were made unique (.cold, .constprop.0, .llvm.123, [clone
// .isra.0]), the hash at the end of Rust's names, and the numbers of lambdas and closures.
std::string without_build_suffixes(std::string_view name);

} // namespace monitor
