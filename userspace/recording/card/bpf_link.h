// SPDX-License-Identifier: MIT
// The attachment of a BPF program, which ends with the link, and why the kernel refused one; the reader's end of a BPF
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

// Runs the program when the perf event occurs, and enables that. Throws Error.
Link link_to_event(bpf_program *program, const Fd &event);

// From here on the library's warnings are kept instead of printed; with MONITOR_DEBUG set they are printed.
void keep_warnings();
// The first of them, which gives the reason.
std::string why_refused();

} // namespace monitor::card
