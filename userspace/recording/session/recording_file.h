// SPDX-License-Identifier: MIT
// .monitor/recording.json: what is known about a recording besides its tokens. Written at the start with the state
// `incomplete` and again at a clean end. Filled by Recording; read by reading/analyze/recording_info.cpp.
// Documentation/trace-format.md describes the members.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "function_budget.h"
#include "kernel_counts.h"
#include "recording.h"
#include "recording/calibration/calibration.h"
#include "recording/calibration/calibration_phases.h"
#include "recording/calibration/preflight.h"
#include "recording/calibration/witness.h"
#include "recording/card/bpf_card.h"
#include "recording/counting/counters.h"
#include "recording/counting/ratio_pairs.h"
#include "recording/flight/snapshot.h"
#include "recording/functions/function_search.h"
#include "recording/periods/counted_periods.h"
#include "recording/recorder/recorders.h"
#include "recording/rings/clock.h"
#include "recording/rings/event_counts.h"
#include "recording/rings/event_times.h"
#include "recording/rings/writer.h"
#include "recording/stacks/stack_recorder.h"
#include "recording/triggers/triggers.h"
#include "recording/user_card/user_card.h"

namespace monitor::record {

struct EarlierLives;

class RecordingFile {
public:
	// `command_pid` 0: no command.
	// May be called again, when more classes are known.
	void matching(const MatcherRequest &request, const EventMatcher &matcher);
	// Of record --states. `end`: null before the recording ends.
	void states(const StateSink &states, const std::vector<std::uint32_t> &cpus, const LiveEnd *end);
	// Tokens are recorded, but not written.
	void no_tokens() { json_["tokens"] = false; }
	std::string text() const;
	// ns by class id.
	void judgements(const std::map<unsigned, double> &times);
	// Counts and times are of what happened between these snapshots.
	void counted(const Sync &since, const Sync &until);
	void counts(const std::vector<NamedExpression> &counts, const std::vector<EventCount> &counted);
	// What they are, and what became of them so far.
	void triggers(const std::vector<NamedTrigger> &triggers, const Triggers &fired,
		      const std::vector<ActAccount> &acts, const std::optional<card::UserCounts> &users);
	// The others that ran at the start or the end.
	void other_recorders(const std::vector<pid_t> &others);
	void times(const std::vector<NamedTime> &times, const std::vector<EventTime> &timed);
	void recording(const Options &options, int command_pid, const std::string &user,
		       const std::array<std::uint8_t, 16> &uuid);
	void preflight(const card::Preflight &test);
	void calibration(const char *when, const card::Calibration &calibration);
	void no_calibration(const char *when, const std::string &why);
	void phases(const PhaseAccount &account); // record --calibrate
	void witness(const char *when, const std::vector<card::CallWitness> &calls);
	void no_card();
	void functions(const functions::FoundFunctions &found);
	void budget(double share);
	// `time`: of the trace; events of the function may be missing from then on.
	void left_out_by_budget(const LeftOutFunction &left_out, const std::string &name, std::uint64_t time);
	void card(const card::BpfCard &card, const std::vector<std::string> &families);
	void counting(const Counting &counting);
	void counter_readings(const char *when, const std::vector<CounterReading> &readings);
	void skew(const char *when, const TscSkew &skew);
	void misses(const char *when, const std::vector<card::ProgramMisses> &misses);
	void start(const Sync &sync);
	void kernel_counts(const char *when, const KernelCounts &counts);
	// --count-only: what the probes had counted before and after the kernel's counts were read.
	void counted_around(const char *when, const ClassCounts &before, const ClassCounts &after);
	void hidden_threads(std::uint64_t number);
	void offline_at_start(const std::vector<std::uint32_t> &cpus);
	void late_cpu(const card::LateCpu &late);
	void period_reads(const PeriodReads &reads);
	void card_counts(const card::BpfCard &card);
	void stacks(const card::StackOptions &chosen, const card::StackMemory &memory,
		    const stacks::StackCounts &counts);
	void confined(bool is); // to its trace's directory
	// `not_searched`: processes that were already running and could not be searched.
	// It is written as one of several.
	void lives(const EarlierLives &lives) { lives_ = &lives; }
	void user_card(const card::UserCounts &counts, std::uint64_t not_searched);
	void recorder(std::uint64_t cpu_ns, const Sync &last, const Writer &writer, unsigned worst_fill,
		      std::uint64_t control_tokens);
	// Of a flight recorder, instead of what is counted from the start to the end.
	void snapshot(const SnapshotAccount &account, const Writer &writer);
	void end(const std::string &reason, std::optional<int> command_exit, bool complete);

	void write(const std::string &directory) const;
	std::uint64_t start_monotonic_ns() const { return start_.monotonic_ns; }

private:
	nlohmann::ordered_json json_ = nlohmann::ordered_json::object();
	const EarlierLives *lives_ = nullptr;
	Sync start_;
};

} // namespace monitor::record
