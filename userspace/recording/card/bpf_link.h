// SPDX-License-Identifier: MIT
// The attachment of a BPF program, which ends with the link, and why the kernel refused one. Used by the files that
// attach one.
#pragma once

#include <memory>
#include <string>

#include "base/fd.h"

struct bpf_link;
struct bpf_program;

namespace monitor::card {

struct LinkDeleter {
	void operator()(bpf_link *link) const;
};
using Link = std::unique_ptr<bpf_link, LinkDeleter>;

// Runs the program when the perf event occurs, and enables that. Throws Error.
Link link_to_event(bpf_program *program, const Fd &event);

// From here on the library's warnings are kept instead of printed; with MONITOR_DEBUG set they are printed.
void keep_warnings();
// The first of them, which gives the reason.
std::string why_refused();

} // namespace monitor::card
