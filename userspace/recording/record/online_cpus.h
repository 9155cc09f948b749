// SPDX-License-Identifier: MIT
// The CPUs that are online: an idle one may have no event for long. Called by Recording.
#pragma once

#include <cstdint>
#include <vector>

namespace monitor::record {

// By number; empty: not known.
std::vector<std::uint32_t> online_cpus();

} // namespace monitor::record
