// SPDX-License-Identifier: MIT
// What compilers add to a function's name and what differs from build to build. Used where two builds are compared
// (answers/diff, flame graphs of two traces): names are compared without it, and shown with it.
#pragma once

#include <string>
#include <string_view>

namespace monitor {

// Without suffixes of parts, clones and symbols that were made unique (.cold, .constprop.0, .llvm.123, [clone
// .isra.0]), the hash at the end of Rust's names, and the numbers of lambdas and closures.
std::string without_build_suffixes(std::string_view name);

} // namespace monitor
