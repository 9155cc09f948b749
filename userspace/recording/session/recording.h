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

// record --filter, --count and --no-tokens: the expressions, and their compiler (answers/matcher), passed in by
// tools/monitor because the record side cannot parse expressions.
struct Matching {
	// `description`: TSDL of all classes known so far; `begin_time`: of the trace; `more_classes`: programs may
	// declare more. Throws Error.
	using Make = std::function<std::shared_ptr<const EventMatcher>(const std::string &description,
								       std::uint64_t begin_time, bool more_classes)>;

	MatcherRequest request;
	Make make;
	std::uint64_t every_ns = 0; // also write the counts at this interval; 0: at the end only
};

// What a recording with a sink (Options::live) leaves on disk.
enum class Kept : std::uint8_t {
	trace,
	own_files, // the description, and the sink's files
	nothing,   // Result::directory is removed
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
	bool writes_tokens = true;         // false: with `states`, tokens of the kernel and of programs are not written
	std::shared_ptr<BlockSink> live;   // another consumer of all events, or null. Not with `states`.
	Kept kept = Kept::trace;           // with `live`
	std::optional<StatisticsOptions> statistics; // --statistics; with `live` unless counts_only
	std::vector<int> pids;                       // -p PID,...: these and their descendants
	bool only_command = false;                   // -p cmd
	std::optional<Counting> counting;            // -m
	card::StackOptions stacks;                   // --stacks
	std::vector<std::string> functions;          // --functions: patterns
	std::optional<double> budget;                // --budget: share of CPU time for their events
	bool user_only = false;                      // --user-only: no kernel events, no privilege
	bool everyone = false; // --user: every instrumented process of the machine, not only the command's
	std::optional<std::uint64_t> buffer_bytes;
	bool calibrates = true;                 // calibrate before and after the recording
	bool calibrates_in_phases = false;      // --calibrate: and in the command itself
	std::optional<std::uint64_t> max_bytes; // end at this size of the trace
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
	std::uint64_t snapshots = 0;        // taken by a flight recorder
	std::uint64_t failed_snapshots = 0; // not or incompletely written
	std::string triggers;               // of a flight recorder: their results, as in recording.json
	std::uint64_t left_out = 0;         // firings of triggers while another snapshot was taken
};

// Each may be empty.
struct Listener {
	std::function<void(const std::string &directory)> on_start; // every probe is attached, the command starts
	std::function<void(const Progress &)> on_progress;          // twice a second
	std::function<void(const std::string &)> on_note;           // choices made before the start
	std::function<void(const std::string &)> on_snapshot;       // a message about a new snapshot
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
	// Paths of all cgroups so far, by id. Any thread, after start().
	std::map<std::uint64_t, std::string> cgroups() const;

private:
	std::unique_ptr<Session> session_;
};

} // namespace monitor::record
