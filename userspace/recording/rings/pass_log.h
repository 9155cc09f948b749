// SPDX-License-Identifier: MIT
// Logs the recorder's own activity in its stream: a token for each drain pass that copied blocks, and for each write,
// which is returned with its blocks. Empty passes are summed up in the next token and do not read the CPU clock, so
// that an idle recording stays small and cheap; CPU time until the next pass finds a block is divided evenly among
// them. Drain thread only.
#pragma once

#include "control_stream.h"

namespace monitor::record {

class PassLog {
public:
	PassLog(BlockPool &pool, ControlStream &control, ReadTime read_time)
	    : pool_(pool), control_(control), read_time_(read_time)
	{
	}

	// Called by the thread that makes the passes from now on.
	void enter();
	void begin(std::uint32_t why);
	void copied()
	{
		if (++pass_.blocks == 1)
			begin_copying();
	}
	// `fullest`: thousandths of a ring. `is_last`: the thread's last pass. No token is later than `latest`.
	void end(unsigned fullest, bool is_stalled, bool is_last, std::uint64_t latest);

private:
	void begin_copying();

	BlockPool &pool_;
	ControlStream &control_;
	ReadTime read_time_;
	std::uint64_t cpu_before_ = 0;  // the thread's CPU time at the end of the last logged pass
	std::uint64_t cpu_copying_ = 0; // and when this pass began to copy
	DrainPass pass_;
};

} // namespace monitor::record
