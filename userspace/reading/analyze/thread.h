// SPDX-License-Identifier: MIT
// Threads and CPUs in the fold: what is known of each, and what it used. Filled by thread_fold.h. Times are in ticks of
// the trace's clock; usages are within the fold's scope (scope.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "monitor/card.h"
#include "scope.h"

namespace monitor::analyze {

// How a CPU's time is spent. `unattributed`: kernel or user, as no pair of tokens brackets it. `unknown`: after a loss,
// or before the first token that determines it.
enum class Mode : std::uint8_t { user, kernel, irq, softirq, unattributed, unknown };
constexpr std::size_t modes = 6;

// For a system call's result: Linux returns errors as -4095 to -1.
inline bool has_failed(std::int64_t result)
{
	return result < 0 && result >= -4095;
}

// Instead of the call that a thread sleeps in: in none, but a signal (SIGSTOP) stopped it, or its tracer (ptrace). They
// are no arguments of sys_enter, which have 16 bits.
inline constexpr std::uint32_t stopped_call = 0xfffffd, traced_call = 0xfffffc;

inline bool is_stop(std::uint32_t call)
{
	return call == stopped_call || call == traced_call;
}

struct Usage {
	std::array<std::uint64_t, modes> ticks{};
	std::uint64_t waiting = 0;   // runnable, not running
	std::uint64_t throttled = 0; // part of that: its group had used up its quota
	std::uint64_t blocked = 0;
	std::uint64_t voluntary = 0, involuntary = 0, migrations = 0;
	std::uint64_t syscalls = 0, minor_faults = 0, major_faults = 0;

	std::uint64_t &operator[](Mode mode) { return ticks[static_cast<std::size_t>(mode)]; }
	std::uint64_t operator[](Mode mode) const { return ticks[static_cast<std::size_t>(mode)]; }
	std::uint64_t cpu() const;
	std::uint64_t counts() const
	{
		return voluntary + involuntary + migrations + syscalls + minor_faults + major_faults;
	}
	bool is_empty() const { return cpu() + waiting + throttled + blocked + counts() == 0; }
	Usage &operator+=(const Usage &other);
	Usage &operator-=(const Usage &other); // a part of it
};

// A thread's times up to now, whatever the scope. `waiting`: throttled or not.
struct SoFar {
	std::uint64_t cpu = 0, waiting = 0, blocked = 0;
};

// throttled: runnable, but its group has used up its quota.
enum class State : std::uint8_t { unknown, running, runnable, throttled, blocked, dead };

// The privilege ring in which a thread runs, and how it came there, as far as tokens show.
enum class Ring : std::uint8_t {
	unknown, // no token yet
	user,
	system_call,
	fault,  // from user mode; ends when the fault completes
	kernel, // a kernel thread, or the kernel side of a new thread
	within, // seen in the kernel; the token of the call or fault is before the recording or lost
};

// A cgroup that a thread left, and the thread's total usage until then.
struct CgroupStay {
	std::uint64_t cgroup = 0; // 0: unknown
	std::uint64_t until = 0;
	Usage so_far;
};

// The kernel's own counts of a thread at one moment (thread_counts).
struct ThreadCounts {
	bool present = false;
	std::uint64_t time = 0;
	std::uint64_t nvcsw = 0, nivcsw = 0, sum_exec_ns = 0, min_flt = 0, maj_flt = 0;
};

// What a thread is doing, and what the kernel counted for it. It moves with the thread when that takes over another's
// number (ThreadFold::exchange_numbers).
struct TaskState {
	State state = State::unknown;
	Ring ring = Ring::unknown;
	std::uint32_t epoch = 0; // ThreadTable's at its last token: a loss since then makes state and ring unknown
	std::uint32_t cpu = 0;   // where it was last seen
	std::uint64_t since = 0; // start of the state runnable, throttled or blocked
	std::uint64_t out_time = 0;
	std::uint32_t queue = 0; // the CPU in whose run queue it was last, and since when: for throttles.h
	std::uint64_t queued = 0;
	std::uint32_t syscall = EDC_NO_SYSCALL; // while it sleeps in none: also stopped_call, traced_call
	bool syscall_known = false;             // its entry was seen at syscall_since
	std::uint64_t syscall_since = 0;
	std::uint64_t early_waking = 0; // time of a wake-up while still running; 0: none
	ThreadCounts at_start, at_end, at_exit;
};

// In statistics: the row of all ended threads of a command in a cgroup, or of all threads without a row.
enum class Sum : std::uint8_t { none, of_ended, of_others };

// A thread number, and the usage of all that had it.
struct Thread : TaskState {
	std::int32_t tid = 0, tgid = 0, parent = 0; // parent: the process or thread that created it
	std::string name;
	bool is_kernel = false;
	bool filtered = false;        // rejected by -p: shown as `other`
	bool hidden = false;          // the kernel hides it from BPF: its own events are missing
	bool introduced = false;      // a list or its creation named it
	bool has_run = false;         // a switch to it was seen
	bool in_tree = false;         // the recorded command or a descendant
	bool selected = true;         // by the scope
	std::uint64_t cgroup = 0;     // id; 0: unknown
	bool cgroup_is_later = false; // read when a snapshot was requested: it may have moved there after the events
	std::vector<CgroupStay> left; // its earlier cgroups
	bool leads_others = false;    // its process has had other threads
	std::uint64_t born = 0;       // trace time; 0: before the recording
	bool blocked_later = false;   // read when a snapshot was requested, after the events
	Sum sum = Sum::none;          // else: not a thread, and without a number
	Usage usage;
	SoFar so_far;

	// For display; "?": unknown.
	std::string label() const { return (name.empty() ? "?" : name) + (sum == Sum::of_ended ? " (ended)" : ""); }
};

struct Cpu {
	std::uint32_t number = 0;
	Thread *current = nullptr;   // null: unknown
	bool current_listed = false; // from the list of threads at the start, not from a switch
	bool selected = true;        // by the scope
	std::uint64_t accounted = 0;
	std::uint64_t switched = 0;        // time of the last switch
	std::uint64_t gap_until = 0;       // everything is unknown until here, because of a loss
	std::uint64_t known_gap_until = 0; // the same without losses whose end is not known yet
	std::uint32_t open_gaps = 0;       // the number of the latter
	std::uint64_t fault_ticks = 0;     // of the running thread's fault, until it completes
	std::uint64_t unknown_ticks = 0; // of the running thread without a token of its mode, since it was switched in
	Ticks user_ticks;                // since the running thread entered user mode
	Ticks before_first;              // before the running thread is first known
	Usage usage;                     // of all that ran here
	std::uint64_t idle = 0;
	bool is_offline = false;  // since its last token
	bool was_offline = false; // once, which ends all that was opened for the CPU, such as counters
	std::uint64_t offline = 0;
	std::uint64_t runner_unknown = 0;      // time in the window that may be idle: the thread is unknown
	std::vector<std::uint32_t> interrupts; // nested, innermost last: kind << 16 | number
	bool interrupts_known = false; // the nesting is known: there was a switch since the start or the last loss
};

inline std::uint64_t Usage::cpu() const
{
	std::uint64_t sum = 0;
	for (std::uint64_t t : ticks)
		sum += t;
	return sum;
}

inline Usage &Usage::operator+=(const Usage &other)
{
	for (std::size_t i = 0; i < modes; ++i)
		ticks[i] += other.ticks[i];
	for (std::uint64_t Usage::*figure :
	     {&Usage::waiting, &Usage::throttled, &Usage::blocked, &Usage::voluntary, &Usage::involuntary,
	      &Usage::migrations, &Usage::syscalls, &Usage::minor_faults, &Usage::major_faults})
		this->*figure += other.*figure;
	return *this;
}

// The part may have time that later turned out to be of another mode.
inline Usage &Usage::operator-=(const Usage &other)
{
	for (std::size_t i = 0; i < modes; ++i)
		ticks[i] -= std::min(ticks[i], other.ticks[i]);
	for (std::uint64_t Usage::*figure :
	     {&Usage::waiting, &Usage::throttled, &Usage::blocked, &Usage::voluntary, &Usage::involuntary,
	      &Usage::migrations, &Usage::syscalls, &Usage::minor_faults, &Usage::major_faults})
		this->*figure -= std::min(this->*figure, other.*figure);
	return *this;
}

} // namespace monitor::analyze
