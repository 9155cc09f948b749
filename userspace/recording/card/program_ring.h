// SPDX-License-Identifier: MIT
// A BPF program that reports to the recorder through a ring buffer of its own while the card is loaded: new cgroups
// (bpf/sched.bpf.c), and CPUs that come online, also after a suspend (bpf/power.bpf.c). One thread.
#pragma once

#include <vector>

#include "bpf_link.h"

struct bpf_map;
struct bpf_program;

namespace monitor::card {

template <class Entry> class ProgramRing {
public:
	// Starts if the program is loaded. Throws Error, which names `what`.
	void watch(const bpf_program *program, const bpf_map *map, const char *what);
	int fd() const; // readable when there are entries; -1: not supported by the kernel
	std::vector<Entry> take();

private:
	Link link_;
	RingBuffer ring_;
	std::vector<Entry> found_;
};

} // namespace monitor::card
