// SPDX-License-Identifier: MIT
// PIDs and pid namespaces (pid_namespaces(7)). Probes use PIDs of the initial namespace, system calls and /proc those
// of the recorder's own. If the recorder is in another namespace they are not translated: a probe's PID must not be
// passed to a system call, nor the recorder's PIDs be written into the trace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace monitor::record {

// Whether the recorder is in the initial namespace.
bool in_first_pid_namespace();
// This process's PID in the initial namespace; 0: unknown.
pid_t own_kernel_pid();
// Prefix of a recorder's abstract socket name: `before`, and the pid namespace unless it is the initial one, since
// other containers may share the network namespace only.
std::string socket_name_prefix(std::string_view before);

// Numeric names in a directory, such as /proc.
std::vector<int> numbers_in(const std::string &directory);

// NSpid of /proc/PID/status: a thread's numbers from this pid namespace to its own, "4711\t12"; "": it has ended.
std::string numbers_of(const std::string &status_path);

// The text of a file; "" if unreadable, as when the process has ended.
std::string text_of(const std::string &path);

} // namespace monitor::record
