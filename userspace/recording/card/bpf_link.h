// SPDX-License-Identifier: MIT
// Wrappers of libbpf: links that detach when destroyed, the kernel's reason for refusing one, and the reader of a BPF
// ring buffer.
#pragma once

#include <memory>
#include <string>

#include "base/fd.h"

struct bpf_link;
struct bpf_program;
struct ring_buffer;

namespace monitor::card {

struct LinkDeleter {
	void operator()(bpf_link *link) const;
};
using Link = std::unique_ptr<bpf_link, LinkDeleter>;

struct RingBufferDeleter {
	void operator()(ring_buffer *ring) const;
};
using RingBuffer = std::unique_ptr<ring_buffer, RingBufferDeleter>;

// Attaches the program to the perf event, and enables the event. Throws Error.
Link link_to_event(bpf_program *program, const Fd &event);

// Collects libbpf's warnings instead of printing them, unless MONITOR_DEBUG is set.
void collect_warnings();
// The first warning, which has the reason.
std::string first_warning();

} // namespace monitor::card
