// SPDX-License-Identifier: MIT
// What the recorder itself does, for its own stream: a token for each pass of the drain thread that copied blocks, and
// for each write of the writer thread, which come back with its blocks. Passes without blocks are summed up in the next
// token, so that a recording of nothing stays small. One thread at a time, the one that passes.
#pragma once

#include "control_stream.h"

namespace monitor::record {

class PassLog {
public:
	PassLog(BlockPool &pool, ControlStream &control, ReadTime read_time)
	    : pool_(pool), control_(control), read_time_(read_time)
	{
	}

	// The calling thread is the one that passes from now on.
	void enter();
	void begin(std::uint32_t why);
	void copied() { ++pass_.blocks; }
	// `fullest`: thousandths of a ring. `is_last`: passes without blocks have no other token to be summed up in.
	void end(unsigned fullest, bool is_stalled, bool is_last);

private:
	BlockPool &pool_;
	ControlStream &control_;
	ReadTime read_time_;
	std::uint64_t cpu_before_ = 0; // the thread's CPU time at the end of the last pass
	DrainPass pass_;
};

} // namespace monitor::record
