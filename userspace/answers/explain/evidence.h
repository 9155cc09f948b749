// SPDX-License-Identifier: MIT
// What the rules judge (rules.h): figures of one recording and, if there is one, of a path through it, collected by
// gather() (explain.h). Shares are 0 to 1 of the elapsed time unless another whole is named; an empty figure is not
// known.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace monitor::explain {

// What a part of the path was.
enum class What : std::uint8_t {
	user, // code of `who`
	call, // `detail`: which
	kernel,
	fault,
	edges, // entering or leaving calls and faults; its length is from the calibration
	irq,   // on the CPU of `who`; `detail`: which
	softirq,
	timer,         // `who` slept in `detail` until this ended it
	disk,          // the same
	network,       // the same
	interrupt,     // of a device; `detail`: the call and the interrupt
	open,          // and it had not ended at the end
	stopped,       // a signal had stopped `who`
	other_process, // `who` slept in a call for another process, which computed or slept itself: `detail` has both
	file_lock,     // the same, in a call for a lock on a file
	ready_own,     // `who` was ready, and `detail` of the same command had the CPU
	ready_others,
	ready_idle,      // the CPU was idle
	ready_idle_long, // and that for longer than a wake-up takes
	throttled,
	memory_reclaim,
	unknown // `detail`: why
};

struct PathPart {
	What what = What::unknown;
	std::string who, detail;
	double share = 0;
	std::int32_t process = 0; // the other one
};

// Of a thread on the path.
struct PathThread {
	std::string label;     // "cc1-4711"
	std::string process;   // the name
	std::int32_t tgid = 0; // its number
	std::string name;      // of the thread alone, as PathPart::who
	double ran = 0;        // its own code: without interrupts
	double share = 0;      // all of its links
	std::vector<PathPart> parts{};
};

struct Inversion {
	std::string sleeper, holder, between; // `sleeper` waited for `holder`, whose CPU `between` had
	double share = 0;
};

// Of a process.
struct Use {
	std::string label; // "redis-server-4711"
	std::int32_t tgid = 0;
	double cpus = 0;
	double calls_per_second = 0;      // of its CPU time
	std::optional<double> call_edges; // without the probes, share of its CPU time
	double edges = 0;                 // the same of calls and faults, with the probes
};

// Of all threads while they had a name, wherever they ran.
struct Functions {
	std::string who;
	std::uint64_t samples = 0;                               // in code of programs
	std::vector<std::pair<std::string, std::uint64_t>> hits; // the most first; empty: too few samples
};

struct Path {
	std::vector<PathPart> parts;     // equal ones are one
	std::vector<PathThread> threads; // of the path, the longest first
	double others_ran = 0;           // the command's threads but for the one that ran most, of the elapsed time
	double oversubscribed = 0;       // of the time with more of its threads running or ready than CPUs
	// Whose threads hand the path over by futexes most often: one, or several of the command that share a futex.
	std::set<std::int32_t> futex_processes{};
	double futex_handovers = 0; // in a second
	double futex_sleepers = 0;  // threads
	std::uint64_t wake_ups = 0; // after which a thread was ready, and creations
	// Sleep for locks of files that others had: "sh in flock for rsync-4711" and its share, the largest first.
	std::vector<std::pair<std::string, double>> file_locks{};
	std::vector<Inversion> inversions{};
	std::vector<Functions> functions{};
};

struct Machine {
	std::vector<Use> users;            // processes, those with the most CPU time first, without the recorder
	double busy = 0, ready = 0;        // CPUs, and threads that waited for one, on average
	std::optional<double> saturated{}; // of the time all CPUs were busy and threads waited
	std::vector<std::optional<double>> irqs{}; // by CPU, share of its time; empty: not recorded, or no such CPU
	std::optional<double> steal{};             // of all CPUs' time
	// Cgroups with throttled threads: the share of time of the thread that was throttled longest.
	std::vector<std::pair<std::string, double>> throttled{};
	double steal_resolution = 0; // how much of `steal` may be an error of the counter
};

struct Storm { // of short-lived threads, of the command if there is one
	double creations_per_second = 0, share_of_cpu = 0, share = 0;
	std::uint64_t creations = 0; // in all
};

// Keys of findings for which the events were not recorded.
using Keys = std::vector<std::string>;

// Options of the commands that show more: they limit these to what is explained.
struct Options {
	std::vector<std::string> path{}; // of critical-path: whose it is
	std::vector<std::string> rows{}; // of other reports; empty: these are of the command
	std::vector<std::string> time{};
};

struct Evidence {
	std::string directory; // as it was given
	Options options{};
	std::string subject;     // "make", or the host
	bool is_command = false; // of the recorded command, not another process or thread
	std::string from, to;    // of the path, in words; "": the command, from exec to exit
	std::uint64_t elapsed_ns = 0;
	unsigned cpus = 0;
	bool has_stacks = false;
	std::optional<Path> path;
	Machine machine;
	Storm storm;
	double unknown = 0; // of the path; without one, of the CPUs' time
	std::optional<std::uint64_t> lost;
	std::string lost_text;             // why it is not known, or what else is missing
	bool is_part = false;              // --from, --to or a trigger; `lost` is of all of the recording
	std::string cost;                  // as the end of `record` says it
	std::optional<double> measurement; // the probes' least share of the CPU time that was used
	Keys not_recorded;
};

} // namespace monitor::explain
