// SPDX-License-Identifier: MIT
// Copies a file with its holes. Traces have holes for blocks that were not fetched, up to a TiB in all.
#pragma once

#include <string>

namespace monitor {

// Creates `to`, which must not exist, with the mode of `from`. Throws Error.
void copy_sparse(const std::string &from, const std::string &to, bool is_synced = false);

} // namespace monitor
