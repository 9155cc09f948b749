// SPDX-License-Identifier: MIT
// Which CPUs come online during a recording, or come back, also after the machine slept: bpf/power.bpf.c tells. Owned
// by BpfCard. One thread.
#pragma once

#include <memory>
#include <vector>

#include "bpf_link.h"

struct card;
struct ring_buffer;

namespace monitor::card {

class LateCpus {
public:
	// Between opening and loading: whether this kernel tells.
	static void configure(::card *skeleton, bool wanted);
	// From then on. Throws Error.
	void watch(::card *skeleton);
	int fd() const; // readable when there are some; -1: the kernel does not tell
	std::vector<unsigned> take();

private:
	struct Deleter {
		void operator()(ring_buffer *ring) const;
	};
	Link link_;
	std::unique_ptr<ring_buffer, Deleter> ring_;
	std::vector<unsigned> found_;
};

} // namespace monitor::card
