// SPDX-License-Identifier: MIT
// Reads the kernel's figures of cgroups (base/recording_file/cgroups.h) from the hierarchy with the cpu controller,
// version 2 or 1. See the kernel's admin-guide/cgroup-v2.rst and scheduler/sched-bwc.rst.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include <sys/types.h>

#include "base/recording_file/cgroups.h"

namespace monitor::record {

// `command` 0: none. `paths`: of version 2 groups, by id. `budget`: CPU time to spend on groups other than the
// command's and its ancestors.
recording_file::Cgroups read_cgroups(pid_t command, const std::map<std::uint64_t, std::string> &paths,
				     std::chrono::microseconds budget);

} // namespace monitor::record
