// SPDX-License-Identifier: MIT
// What is compared: rows of one repetition, by process, thread and kind of time. Filled by measure.cpp, matched by
// comparison.cpp.
// Rows are matched by the names of command and thread, never by numbers: these differ from run to run. A row that
// *leads* has a part of the threads' time that no other leading row has: CPU time by mode and by system call; and, for
// the recorded command, time in which a thread waited for a CPU or slept. A sleep that another thread of the command
// ended does not lead, because what that thread did meanwhile has rows of its own; nor does the command's sleep until
// the recorder let it start. Activities, without nested ones, functions and whole stacks are the same time again, as
// the program names it: they lead in rankings of their own.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "answers/report/summary.h"
#include "reading/analyze/recorded.h"
#include "reading/events/problem.h"

namespace monitor::diff {

// What --by selects.
enum class RowKind : std::uint8_t { cpu, calls, waits, activities, functions, stacks, sleeps };
constexpr std::size_t kinds = 7;
const char *name_of(RowKind kind);

enum class Item : std::uint8_t {
	user,
	kernel, // outside of system calls and page faults
	faults, // in page faults, and in the code before their tokens
	irq,
	softirq,
	unattributed, // as in reports, but without the code before calls and faults
	unknown,
	cpu_time,       // the sum of these and the calls, for recordings without the same modes
	in_call,        // CPU time in a system call, and unattributed time before its token
	ready,          // waiting for a CPU
	throttled,      // the same, while the quota of its cgroup was used up
	asleep,         // in a system call, or not
	asleep_for_own, // the same, ended by another thread of the recorded command
	before_start,   // the same, of the command until the recorder let it start
	activity,
	function,            // on the CPU, from samples
	stack,               // the same, with all its callers
	sleep_stack,         // asleep, by stack
	sleep_stack_for_own, // the same, ended by another thread of the recorded command
};
RowKind kind_of(Item item);
bool is_counted(Item item); // it has a number of occurrences, not only a time

struct RowKey {
	Item item = Item::user;
	bool of_command = false; // of the recorded command
	std::string command, thread;
	std::string name;               // of the call, the activity or the function; for a stack its frames, folded
	std::size_t program_frames = 0; // of a stack; the kernel's follow
	std::string shown = {};         // the name in one of the builds, if it differs: not compared

	auto compared() const { return std::tie(item, of_command, command, thread, name, program_frames); }
	auto operator<=>(const RowKey &other) const { return compared() <=> other.compared(); }
	bool operator==(const RowKey &other) const { return compared() == other.compared(); }
	std::string what() const;
	std::string short_what() const; // for a stack, its most significant frames

private:
	const std::string &shown_name() const { return shown.empty() ? name : shown; }
};

struct Amount {
	std::uint64_t time_ns = 0;
	std::optional<std::uint64_t> count;
	bool leads = false;
};

using Rows = std::map<RowKey, Amount>;

// Whose waiting and sleeping leads.
enum class Ours : std::uint8_t {
	command,  // the recorded command's and its descendants'
	selected, // of the processes of record -p
	nobody,   // neither was given: all waiting for a CPU leads, sleeping does not
};

// What all folds must have in common.
struct Plan {
	Ours ours = Ours::nobody;
	bool same_modes = true;         // false: CPU time leads as a whole
	bool same_processes = true;     // false: only those of the recorded command are compared
	bool same_samples = true;       // false: one side's samples lack the kernel, so none are compared
	bool same_wakers = true;        // false: which thread ended a sleep is not compared
	bool separate_throttled = true; // false: throttled time is part of waiting for a CPU
	// For the kernel's code before calls and faults, by name in RecordingInfo::cost_ns: the same for all
	// recordings, so that different calibrations do not look like a difference of the programs.
	std::map<std::string, double> edges_ns;
	bool with_activities = true, with_stacks = true;
};

// One repetition, folded.
struct Measured {
	std::string name; // as given by the user
	report::Summary summary;
	std::uint64_t elapsed_ns = 0;                 // of the window, from when the recorder let the command start
	std::uint64_t cpu_ns = 0, command_cpu_ns = 0; // without idle threads
	std::uint64_t unknown_ns = 0;                 // of CPUs
	trace::Problems problems;
	analyze::Recorded recorded;
	bool has_activities = false, has_samples = false, has_sleep_stacks = false;
	bool is_whole = true;                  // no event is missing: what has no row did not happen
	std::set<std::string> hidden_commands; // commands with running threads that the kernel hides
	Rows rows;

	// Its time for this row; nullptr: unknown, as it was not recorded, or as events are missing.
	const Amount *find(const RowKey &key) const;
};

} // namespace monitor::diff
