// SPDX-License-Identifier: MIT
// One recording: start, wait, stop. What `monitor record` does; driven by tools/monitor/cmd_record.cpp.
//
//     Recording recording(options, listener);
//     recording.start();                          // throws Error: nothing was recorded, nothing is left
//     const Result result = recording.wait();     // until it ends by itself, or another thread calls stop()
//
// start(): directory, command (held back), card, preflight, privileges dropped, threads started, initial state
// recorded, command released. wait(): drain -> pool -> writer; then the final counts, the probes detached, the rest of
// the rings, the final description. Killed at any instant, it leaves a readable trace that says `incomplete`.
// Its steps and its state are in session.h.
// Invariant: one recording for each process, because privileges that were dropped do not come back.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/event_matcher.h"
#include "recording/card/stack_probes.h"
#include "recording/counting/counting.h"
#include "recording/flight/snapshot_window.h"
#include "recording/periods/period_files.h"
#include "recording/rings/block_sink.h"

namespace monitor::record {

// record --filter, --count and --no-tokens: the expressions, and who makes the tables of a matcher from them. The
// record side cannot read expressions; tools/monitor gives it the maker (answers/matcher).
struct Matching {
	// `description`: TSDL of all classes known so far; `begin_time`: of the trace; `more_classes`: programs may
	// declare more. Throws Error.
	using Make = std::function<std::shared_ptr<const EventMatcher>(const std::string &description,
								       std::uint64_t begin_time, bool more_classes)>;

	MatcherRequest request;
	Make make;
	std::uint64_t every_ns = 0; // the counts are also recorded each time this has passed; 0: at the end only
};

// What is left of a recording with a sink (Options::live).
enum class Kept : std::uint8_t {
	trace,
	own_files, // the description, and what the sink writes beside it
	nothing,   // Result::directory is gone
};

struct Options {
	std::string output; // empty: named by date and command
	bool force = false;
	std::vector<std::string> families; // empty: the default ones
	std::vector<std::string> left_out; // classes of these that are not recorded
	std::string card = "auto";         // bpf, module; auto: the module if it is loaded and supports the request
	std::uint64_t sample_every_ns = 0; // all CPUs at once; 0: never
	std::optional<double> duration_s;
	std::optional<Matching> matching;  // --filter, --count
	std::shared_ptr<StateSink> states; // --states; null: none
	bool writes_tokens = true;         // else, with `states`, those of the kernel and of programs are only read
	std::shared_ptr<BlockSink> live;   // who else gets all events; null: nobody. Not with `states`.
	Kept kept = Kept::trace;           // with `live`
	std::optional<StatisticsOptions> statistics; // --statistics; with `live` unless counts_only
	std::vector<int> pids;                       // -p PID,...: these and their descendants
	bool only_command = false;                   // -p cmd
	std::optional<Counting> counting;            // -m
	card::StackOptions stacks;                   // --stacks
	std::vector<std::string> functions;          // --functions: patterns
	std::optional<double> budget;                // --budget: the share of the CPU time that their events may take
	bool user_only = false;                      // --user-only: no kernel events, no privilege
	bool everyone = false; // --user: every instrumented process of the machine, not only the command's
	std::optional<std::uint64_t> buffer_bytes;
	bool calibrates = true;                 // measure what an event costs, before and after
	bool calibrates_in_phases = false;      // --calibrate: and in the command itself
	std::optional<std::uint64_t> max_bytes; // end the recording when the trace has this size
	std::string note;
	std::vector<std::string> command;

	std::optional<FlightOptions> flight; // --flight

	BlockSink *sink() const { return states ? states.get() : live.get(); }
	bool filtering() const { return only_command || !pids.empty(); }
};

struct Progress {
	double seconds = 0;
	std::uint64_t tokens = 0, lost = 0, bytes = 0;
};

struct Result {
	std::string directory;
	std::string end_reason;             // the end of a sentence: "the command ended"
	std::optional<int> command_exit;    // the command's exit code, 128 + signal
	int exec_error = 0;                 // errno when the command could not be started: nothing was recorded
	bool failed = false;                // the recording ended early because the trace could not be written
	std::uint64_t snapshots = 0;        // that a flight recorder took,
	std::uint64_t failed_snapshots = 0; // and those that could not be written, or not whole
	std::string triggers;               // of a flight recorder: what became of them, as in recording.json
	std::uint64_t left_out = 0;         // firings of triggers while another snapshot was taken
};

// Each may be empty.
struct Listener {
	std::function<void(const std::string &directory)> on_start; // every probe is attached, the command starts
	std::function<void(const Progress &)> on_progress;          // twice a second
	std::function<void(const std::string &)> on_note;           // what was chosen, before the start
	std::function<void(const std::string &)> on_snapshot;       // a flight recorder took one: a sentence
};

class Session;

class Recording {
public:
	Recording(Options options, Listener listener);
	~Recording();

	void start();
	// Returns at once if the command could not be started.
	Result wait();
	// Any thread, also before wait(). A command that still runs is terminated, as after the duration. `reason` is
	// the end of a sentence, like Result::end_reason.
	void stop(const std::string &reason);
	// Paths of the cgroups that there were so far, by id. Any thread, after start().
	std::map<std::uint64_t, std::string> cgroups() const;

private:
	std::unique_ptr<Session> session_;
};

} // namespace monitor::record
