// SPDX-License-Identifier: MIT
// The parts of a recording and its steps: session_start.cpp has those until the command runs, session.cpp the others.
// They run in the main thread unless noted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/buffering/buffers.h"
#include "base/encoding.h"
#include "base/fd.h"
#include "card_trials.h"
#include "cgroup_figures.h"
#include "cgroup_names.h"
#include "command.h"
#include "description.h"
#include "ending.h"
#include "kernel_counts.h"
#include "matched_events.h"
#include "online_cpus.h"
#include "recorded_functions.h"
#include "recording.h"
#include "recording/calibration/calibration_phases.h"
#include "recording/card/bpf_card.h"
#include "recording/counting/counters.h"
#include "recording/flight/flight.h"
#include "recording/flight/snapshot_requests.h"
#include "recording/periods/counted_periods.h"
#include "recording/periods/lives.h"
#include "recording/recorder/user.h"
#include "recording/rings/blocks.h"
#include "recording/rings/clock.h"
#include "recording/rings/control_stream.h"
#include "recording/rings/drain.h"
#include "recording/rings/failure.h"
#include "recording/rings/writer.h"
#include "recording/stacks/stack_recorder.h"
#include "recording/triggers/trigger_acts.h"
#include "recording/triggers/triggers.h"
#include "recording/user_card/user_card.h"
#include "recording/user_card/user_search.h"
#include "recording_file.h"
#include "state_streams.h"
#include "thread_lists.h"

namespace monitor::record {

class Session {
public:
	Session(Options options, Listener listener);
	~Session() { stop_threads(); }

	void start();
	Result wait();
	void stop(const std::string &reason) { ending_.stop(reason); }
	std::map<std::uint64_t, std::string> cgroups() const { return cgroups_.paths(); }

private:
	// session_start.cpp
	void expect_possible() const;
	void give_up_samples(const std::string &why);
	void start_parts();
	void start_recording();
	void make_directory();
	void remove_directory() const;
	void open_user_card();
	void expect_readable_programs() const;
	void prepare_matching();
	void start_matching();
	std::vector<std::string> environment_of_command() const;
	void load_card();
	void prepare_stacks();
	void prepare_late_cpus();
	void start_clock(edc_clock &clock, const Sync &first);
	void settle_clock();
	void measure_clock();
	void find_programs();
	void start_streams();
	void start_flight();
	void start_counting();

	// session.cpp
	void notify(const std::string &note) const;
	void keep_budget();
	void write_mappings(const Sync &sync);
	void describe();
	void write_tasks(bool at_end);
	KernelCounts read_counts_of_kernel();
	void note_start();
	void write_file() const { write_recording(lives_ ? lives_->with_lives(file_) : file_, result_.directory); }
	void perform_actions();
	void name_new_cgroups();
	void add_triggers(Contents &file) const;
	void wait_for_end();
	void end_unrecorded();
	Progress progress() const;
	void stop_threads();
	void write_file_of(const Snapshot &snapshot, bool is_complete) const;
	void end_flight();
	void end_recording();
	Sync end_parts();
	void drain_rest();
	void take_counts(const Sync &end);
	void write_descriptions();
	void fail(const std::string &why);
	void release_command();

	Options options_; // constant after the start
	const Listener listener_;
	User user_;
	Result result_;
	Fd directory_lock_;
	std::optional<EarlierLives> lives_; // earlier ones in the directory
	Ending ending_;
	Contents file_;
	CgroupNames cgroups_;
	buffering::Buffers buffers_;
	std::unique_ptr<Command> command_;
	RecordedFunctions functions_;
	std::unique_ptr<MatchedEvents> matched_; // --filter, --count, --time
	std::unique_ptr<card::BpfCard> card_;
	std::optional<CardTrials> trials_; // before and after the recording
	std::optional<ThreadLists> threads_;
	std::unique_ptr<card::UserCard> users_;
	std::unique_ptr<card::UserSearch> search_;
	std::unique_ptr<Description> description_;
	std::unique_ptr<stacks::StackRecorder> stacks_;
	std::unique_ptr<Counters> counters_;
	edc_clock own_clock_{}; // for recordings without a BPF card
	std::unique_ptr<ClockSteering> steering_;
	Failure failure_;
	std::unique_ptr<BlockPool> pool_;
	std::unique_ptr<ControlStream> control_;
	std::optional<OfflineCpus> offline_; // if the kernel is recorded
	std::unique_ptr<Drain> drain_;
	std::unique_ptr<StateStreams> states_;    // --states
	std::unique_ptr<CountedPeriods> counted_; // --count-only
	std::unique_ptr<Writer> writer_;
	std::unique_ptr<SnapshotRequests> requests_; // --flight
	std::unique_ptr<Flight> flight_;
	std::unique_ptr<Triggers> triggers_;        // --trigger
	std::unique_ptr<CalibrationPhases> phases_; // --calibrate
	std::unique_ptr<TriggerActs> acts_;
	Fd announcement_;
	std::string ended_by_; // "": no trigger
	Uuid uuid_;
	std::uint64_t cpu_before_ns_ = 0;
	std::string why_no_samples_; // noted once the recording has started
	bool privileges_dropped_ = false;
};

} // namespace monitor::record
