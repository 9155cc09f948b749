// SPDX-License-Identifier: MIT
// A trace with the short and long forms of calls' and processes' exits. Used by the tests of what follows from earlier
// events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "monitor/card.h"
#include "monitor/syscall_arg.h"
#include "samples.h"

namespace short_forms {

inline const std::string call_type = "enum : u12_t { \"read\" = 0, \"clone\" = 56, \"openat\" = 257 } id; abi_t abi;";

inline const std::string events =
    samples::event_block(EDC_ID_SCHED_SWITCH, "sched_switch", "u16_t prev_state; s32_t prev_pid; s32_t next_pid;") +
    samples::event_block(EDC_ID_SCHED_WAKEUP_NEW, "sched_wakeup_new",
			 "u16_t target_cpu; s32_t pid; s32_t tgid; s32_t parent_pid; s32_t prio; text_t comm[16];") +
    samples::event_block(EDC_ID_SYS_ENTER, "sys_enter", call_type) +
    samples::event_block(EDC_ID_SYS_ENTER_COMPAT, "sys_enter", "u12_t id; abi_t abi;") +
    samples::event_block(EDC_ID_SYS_EXIT, "sys_exit", "s16_t ret;") +
    samples::event_block(EDC_ID_SYS_EXIT_LONG, "sys_exit", call_type + " s64_t ret;") +
    samples::event_block(EDC_ID_SYS_EXIT_LONG_COMPAT, "sys_exit", "u12_t id; abi_t abi; s64_t ret;") +
    samples::event_block(EDC_ID_SCHED_PROCESS_EXIT, "sched_process_exit", "u16_t group_dead; s32_t pid; s32_t tgid;") +
    samples::event_block(EDC_ID_SCHED_PROCESS_EXIT_NAMED, "sched_process_exit",
			 "u16_t group_dead; s32_t pid; s32_t tgid; text_t comm[16];") +
    samples::event_block(300, "other", "u16_t at;") + samples::event_block(301, "other", "u32_t reserved;");

inline constexpr unsigned read = 0, clone = 56, openat = 257;

inline std::uint64_t pair(std::int32_t first, std::int32_t second)
{
	return static_cast<std::uint32_t>(first) | static_cast<std::uint64_t>(static_cast<std::uint32_t>(second)) << 32;
}

// Thread 5 calls openat, and is in read while 6 runs. 6 is in a call that nobody saw begin, then in a compat call of
// openat's number. A loss is within a call of openat. 5 clones 7, named "kid", which exits.
inline std::vector<samples::StreamWriter> writers()
{
	std::vector<samples::StreamWriter> made = {{0, 0}};
	samples::StreamWriter &cpu = made[0];
	const auto exits = [&](std::uint64_t time, int result) {
		cpu.post(time, EDC_ID_SYS_EXIT, static_cast<std::uint16_t>(result));
	};
	const auto switches = [&](std::uint64_t time, std::int32_t prev, std::int32_t next) {
		cpu.post(time, EDC_ID_SCHED_SWITCH, 1, {pair(prev, next)});
	};
	cpu.open(1000).tid = 9;
	switches(1000, 9, 5);
	cpu.post(1010, EDC_ID_SYS_ENTER, openat);
	exits(1020, -2);
	cpu.post(1030, EDC_ID_SYS_ENTER, read);
	switches(1040, 5, 6);
	exits(1050, 0);
	cpu.post(1060, EDC_ID_SYS_ENTER_COMPAT, openat | EDC_ABI_COMPAT << EDC_ABI_SHIFT);
	exits(1065, -2);
	switches(1070, 6, 5);
	exits(1080, 5);
	cpu.post(1090, EDC_ID_SYS_ENTER, openat);
	cpu.open(1100, 1).tid = 5;
	exits(1110, -2);
	cpu.post(1120, EDC_ID_SYS_ENTER, openat);
	cpu.post(1130, EDC_ID_SYS_EXIT_LONG, openat, {3});
	cpu.post(1140, EDC_ID_SYS_ENTER, clone);
	cpu.post(1150, EDC_ID_SCHED_WAKEUP_NEW, 0, {pair(7, 7), pair(5, 120), 0x64696b, 0});
	exits(1160, 7);
	switches(1170, 5, 7);
	exits(1180, 0);
	cpu.post(1190, EDC_ID_SCHED_PROCESS_EXIT, 1, {pair(7, 7)});
	cpu.post(1200, EDC_ID_SCHED_PROCESS_EXIT, 1, {pair(8, 8)});
	cpu.post(1210, 301, 0, {0});
	return made;
}

} // namespace short_forms
