// SPDX-License-Identifier: MIT
// Numbers of processes, in /proc and in the recorder's view. Whose numbers these are: probes give the kernel's own,
// system calls and /proc those of the recorder's pid namespace (pid_namespaces(7)). In another than the first nobody
// translates them, so none of a probe may go to a system call, nor one of the recorder's into the trace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace monitor::record {

// Whether both are the same.
bool in_first_pid_namespace();
// This process's number as probes give it; 0: unknown.
pid_t own_kernel_pid();
// What comes before the number in names that others, who may share the network and not the numbers, find this machine's
// recorders by: `before`, and the namespace if it is not the first.
std::string socket_name_start(std::string_view before);

// The names in a directory that are numbers, such as those of /proc.
std::vector<int> numbers_in(const std::string &directory);

// A thread's numbers, from this pid namespace to its own: "4711\t12". Of /proc/PID/status; "": it has ended.
std::string numbers_of(const std::string &status_path);

// The text of a file; "" also if it cannot be read, as of a process that has ended.
std::string text_of(const std::string &path);

} // namespace monitor::record
