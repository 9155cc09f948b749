// SPDX-License-Identifier: MIT
// Reads what the kernel says of control groups (base/recording_file/cgroups.h), from the hierarchy that has the
// controller of CPU time: that of version 2, or of version 1. See the kernel's admin-guide/cgroup-v2.rst and
// scheduler/sched-bwc.rst.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include <sys/types.h>

#include "base/recording_file/cgroups.h"

namespace monitor::record {

// `command` 0: none. `paths`: those of groups of version 2, by id. `patience`: CPU time for groups that are neither the
// command's nor above it.
recording_file::Cgroups read_cgroups(pid_t command, const std::map<std::uint64_t, std::string> &paths,
				     std::chrono::microseconds patience);

} // namespace monitor::record
