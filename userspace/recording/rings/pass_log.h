// SPDX-License-Identifier: MIT
// What the recorder itself does, for its own stream: a token for each pass of the drain thread that copied blocks, and
// for each write of the writer thread, which come back with its blocks. Passes without blocks are summed up in the next
// token, and read no clock of CPU time: so a recording of nothing stays small, and costs no more. What they and the
// next one took until that one found a block has equal shares. One thread at a time, the one that passes.
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
	void copied()
	{
		if (++pass_.blocks == 1)
			begin_copying();
	}
	// `fullest`: thousandths of a ring. `is_last`: of this thread, whose passes have no later token. No token is
	// later than `latest`.
	void end(unsigned fullest, bool is_stalled, bool is_last, std::uint64_t latest);

private:
	void begin_copying();

	BlockPool &pool_;
	ControlStream &control_;
	ReadTime read_time_;
	std::uint64_t cpu_before_ = 0;  // the thread's CPU time at the end of the last pass that has a token
	std::uint64_t cpu_copying_ = 0; // and when this one began to copy
	DrainPass pass_;
};

} // namespace monitor::record
