// SPDX-License-Identifier: MIT
// Histories (history.h) with stacks. Used by test_flame_graph.cpp and tests/record/test_live_stacks.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "history.h"

namespace history {

inline const std::string stack_events =
    "typealias enum : u16_t { \"timer\" = 0, \"sched_switch\" = 256, \"sched_waking\" = 257 } := taken_at_t;\n"
    "typealias enum : u4_t { \"complete\" = 0, \"no rule\" = 4 } := stack_ended_t;\n" +
    samples::event_block(EDC_ID_STACK_SAMPLE, "stack_sample",
			 "taken_at_t at; s32_t pid; s32_t tgid; x64_t address; x64_t kernel_stack; x64_t user_stack;") +
    samples::event_block(
	EDC_ID_STACK_FRAMES, "stack_frames",
	"u12_t first; u4_t count; x64_t stack; x64_t frame0; x64_t frame1; x64_t frame2; x64_t frame3; "
	"x64_t frame4; x64_t frame5;") +
    samples::event_block(EDC_ID_STACK_END, "stack_end",
			 "u12_t frames; stack_ended_t ended; x64_t stack; x64_t address;");

// Two threads of one process take turns; the second one wakes the first. Stacks of the kernel, whose functions have no
// names here: each address is a function.
struct Stacks : History {
	void sample(std::uint32_t on, std::uint64_t time, unsigned at, std::int32_t tid, std::uint64_t address,
		    std::uint64_t kernel)
	{
		cpu(on).post(time, EDC_ID_STACK_SAMPLE, at, {pair(tid, 7), address, kernel, 0});
	}
	void describe(std::uint64_t stack, std::vector<std::uint64_t> frames, unsigned ended = 0, std::uint32_t on = 0,
		      std::uint64_t time = 1)
	{
		frames.resize(6);
		const auto count = static_cast<unsigned>(std::ranges::find(frames, 0u) - frames.begin());
		cpu(on).post(time, EDC_ID_STACK_FRAMES, count << 12,
			     {stack, frames[0], frames[1], frames[2], frames[3], frames[4], frames[5]});
		cpu(on).post(time, EDC_ID_STACK_END, count | ended << 12, {stack, 0});
	}
};

} // namespace history
