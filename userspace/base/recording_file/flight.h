// SPDX-License-Identifier: MIT
// A snapshot of record --flight (`flight`). Times of the trace.
#pragma once

#include "fields.h"

namespace monitor::recording_file {

struct FlightRing {
	unsigned cpu = 0, level = 0;
	std::uint64_t first_block = 0, overwritten = 0, discarded = 0, torn_blocks = 0;

	void fields(auto &v)
	{
		v("cpu", cpu, "level", level, "first_block", first_block, "overwritten", overwritten, "discarded",
		  discarded, "torn_blocks", torn_blocks);
	}
};

struct FlightInfo {
	std::uint64_t snapshot = 0; // number
	std::string why;
	std::uint64_t asked = 0; // when it was requested
	std::optional<std::uint64_t> before_ns;
	std::uint64_t after_ns = 0;
	std::uint64_t held_ns = 0; // how long nothing was overwritten
	bool is_settled = false;   // no probe was in progress at its end
	std::uint64_t discarded = 0, overwritten = 0,
		      torn_blocks = 0;    // tokens in the snapshot, tokens before it, blocks
	std::uint64_t programs_since = 0; // older events of programs were overwritten
	std::uint64_t overwritten_blocks_of_programs = 0;
	std::vector<std::uint64_t> since; // by CPU: start of the gapless part
	std::vector<FlightRing> rings;

	void fields(auto &v)
	{
		v("snapshot", snapshot, "why", why, "asked", asked);
		v.or_null("before_ns", before_ns);
		v("after_ns", after_ns, "held_ns", held_ns, "settled", is_settled, "discarded", discarded,
		  "overwritten", overwritten, "torn_blocks", torn_blocks, "programs_since", programs_since,
		  "overwritten_blocks_of_programs", overwritten_blocks_of_programs, "since", since, "rings", rings);
	}
};

} // namespace monitor::recording_file
