// SPDX-License-Identifier: MIT
// Events of `record --reset-on`: a tracepoint, or a function of a program or library. Parsed here, attached by
// bpf_card_attach.cpp to bpf/reset.bpf.c.
#pragma once

#include <string>
#include <vector>

struct bpf_link;
struct bpf_program;

namespace monitor::card {

struct ResetEvent {
	std::string name;       // as the user wrote it
	std::string tracepoint; // "" for a function
	std::string path, symbol;
	bool at_return = false;
};

// "sched_process_exec", "sched:sched_process_exec", "PATH:FUNCTION", "PATH:FUNCTION%return"; a PATH without a slash is
// looked up as the loader does. Tracepoints come first in the result, in whatever order they were given: an event's
// number is its index. Throws Error.
std::vector<ResetEvent> parse_reset_events(const std::vector<std::string> &names);

// The name of the program that event `number` runs.
std::string reset_program(const ResetEvent &event, std::size_t number);
// Attaches it; returns null and sets errno if the kernel or libbpf refuses.
bpf_link *attach_reset_event(const bpf_program *program, const ResetEvent &event, std::size_t number);

} // namespace monitor::card
