// SPDX-License-Identifier: MIT
// What a BPF program tells the recorder through a ring of its own, as long as the card is loaded: new cgroups
// (bpf/sched.bpf.c), and CPUs that come online or come back, also after the machine slept (bpf/power.bpf.c). One
// thread.
#pragma once

#include <vector>

#include "bpf_link.h"

struct bpf_map;
struct bpf_program;

namespace monitor::card {

template <class Entry> class ProgramRing {
public:
	// From now on, if the program is loaded. Throws Error, which says what cannot be watched for.
	void watch(const bpf_program *program, const bpf_map *map, const char *what);
	int fd() const; // readable when there are some; -1: the kernel does not tell
	std::vector<Entry> take();

private:
	Link link_;
	RingBuffer ring_;
	std::vector<Entry> found_;
};

} // namespace monitor::card
