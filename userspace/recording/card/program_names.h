// SPDX-License-Identifier: MIT
// Parses names and sections of BPF programs (bpf/card.bpf.c): the event class that a program posts, and its variant.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include <bpf/libbpf.h>

namespace monitor::card {

inline bool is_tp_program(const std::string &program)
{
	return program.starts_with("tp_");
}

// A program for kernels that lack what the usual one needs: the interrupted registers' symbol, or its tracepoint.
inline bool is_plain(const std::string &program)
{
	return program.starts_with("plain_");
}

// A program that reads the counters of a thread that runs for long without a switch.
inline bool is_every(const std::string &program)
{
	return program.starts_with("every_");
}

// A program that reads the counters alongside a probe of the kernel module.
inline bool is_counters(const std::string &program)
{
	return program.starts_with("counters_");
}

// A program that is not attached by its own name: record --reset-on.
inline bool is_reset(const std::string &program)
{
	return program.starts_with("reset_at_");
}

// A program that is attached to functions of programs: record --functions.
inline bool is_function(const std::string &program)
{
	return program.starts_with("function_");
}

inline bool is_iterator(const bpf_program *program)
{
	return std::string_view(bpf_program__section_name(program)).find("iter/") != std::string_view::npos;
}

inline bool is_stack_timer(const bpf_program *program)
{
	return std::string_view(bpf_program__name(program)) == "stack_sample";
}

inline bool is_fault_event(const bpf_program *program)
{
	return std::string_view(bpf_program__section_name(program)).ends_with("perf_event") && !is_stack_timer(program);
}

// The program that counts page faults caused by a probe's own stack walk: bpf/fault.bpf.c. It posts nothing.
inline bool is_own_fault(const std::string &program)
{
	return program == "own_fault";
}

// The event class that a program posts.
inline std::string class_of(const std::string &program)
{
	if (is_tp_program(program))
		return program.substr(std::strlen("tp_"));
	if (is_every(program))
		return program.substr(std::strlen("every_"));
	if (is_counters(program))
		return program.substr(std::strlen("counters_"));
	return is_plain(program) ? program.substr(std::strlen("plain_")) : program;
}

} // namespace monitor::card
