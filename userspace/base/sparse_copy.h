// SPDX-License-Identifier: MIT
// Copies a file as it is on the disk: what is a hole in it is one in the copy. Traces have holes where blocks were not
// fetched, up to a TiB in all.
#pragma once

#include <string>

namespace monitor {

// Creates `to`, which must not exist, with the rights of `from`. Throws Error.
void copy_sparse(const std::string &from, const std::string &to, bool is_synced = false);

} // namespace monitor
