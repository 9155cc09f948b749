// SPDX-License-Identifier: MIT
// Histories of threads whose cgroup has a quota: 7 and 8 are in it, 9 is in another. Used by test_throttled*.cpp.
#pragma once

#include "history.h"

namespace quota_history {

using history::throttled;

inline constexpr unsigned preempted = EDC_STATE_PREEMPTED;
inline constexpr std::uint64_t group = 42, other_group = 43;

inline const std::string events =
    samples::event_block(EDC_ID_SCHED_SWITCH, "sched_switch",
			 "u12_t prev_state; u4_t prev_flags; s32_t prev_pid; s32_t next_pid;") +
    samples::event_block(EDC_ID_SCHED_WAKING, "sched_waking", "u16_t target_cpu; s32_t pid; s32_t prio;") +
    samples::event_block(EDC_ID_SCHED_MIGRATE_TASK, "sched_migrate_task",
			 "u16_t dest_cpu; s32_t pid; u16_t orig_cpu; u16_t prio;") +
    samples::event_block(
	EDC_ID_CGROUP_ATTACH_TASK, "cgroup_attach_task",
	"u16_t threadgroup; s32_t pid; s32_t dst_root; u64_t dst_id; s32_t dst_level; u32_t reserved;");

struct Machine : history::History {
	// Two CPUs; 7 and 8 are in the group, 9 in another.
	Machine()
	{
		cpu(1);
		moves(0, 1, 7, group);
		moves(0, 2, 8, group);
		moves(0, 3, 9, other_group);
	}
	void migrates(std::uint64_t time, std::int32_t tid, unsigned to)
	{
		cpu(0).post(time, EDC_ID_SCHED_MIGRATE_TASK, to, {history::pair(tid, 0)});
	}
	// 7 is throttled on CPU 0 from 100 until it runs again at 600.
	static Machine with_a_throttle()
	{
		Machine machine;
		machine.switches(0, 10, 0, 0, 7);
		machine.switches(0, 100, 7, throttled, 0);
		return machine;
	}
	void ends()
	{
		switches(0, 600, 0, 0, 7);
		switches(0, 700, 7, history::sleeping, 0);
	}
};

inline monitor::analyze::RecordingInfo info_of(const char *kernel, std::uint64_t end = 1000)
{
	monitor::analyze::RecordingInfo info = history::make_info(5, end, true, false);
	info.kernel = kernel;
	info.switch_flags = {"throttled"};
	info.cgroups.start.emplace().hierarchy = 2;
	return info;
}

} // namespace quota_history
