// SPDX-License-Identifier: MIT
#include "session.h"

#include <csignal>

#include <fmt/format.h>

#include "base/error.h"
#include "base/own_cpu_time.h"
#include "recording/calibration/witness.h"
#include "recording/recorder/directory.h"
#include "recording/recorder/process_numbers.h"
#include "recording/recorder/recorders.h"

namespace monitor::record {

// A flight recorder's.
void Session::write_file_of(const Snapshot &snapshot, bool is_complete) const
{
	Contents file = file_;
	file.misses.end = card_->misses();
	add_snapshot(file, snapshot.account(), snapshot.writer());
	add_triggers(file);
	add_other_recorders(file, other_recorders());
	add_end(file,
		fmt::format("snapshot {} of a flight recorder, by {}", snapshot.account().number,
			    snapshot.account().request.why),
		std::nullopt, is_complete);
	write_recording(file, snapshot.directory());
}

void Session::end_flight()
{
	if (triggers_) {
		flight_->look_at_programs();
		act();
	}
	flight_->end(result_.end_reason);
	Contents file = file_;
	add_triggers(file);
	result_.triggers = text_of(file);
	if (users_)
		users_->stop();
	card_->detach();
	result_.snapshots = flight_->snapshots();
	result_.failed_snapshots = flight_->failed();
	result_.left_out = flight_->left_out();
}

// No part posts any more, and everything that is read once at the end was read; returns the last moment.
Sync Session::end_parts()
{
	if (phases_)
		phases_->stop();
	drain_->stop();
	drain_->look();
	if (triggers_) { // the recorder's later tokens are of later times
		act();
		triggers_->write(*control_);
		triggers_->stop();
	}
	if (users_)
		users_->stop();
	if (stacks_)
		stacks_->stop();
	if (card_)
		file_.kernel_counts.end = read_counts_of_kernel();
	write_tasks(true);
	drain_->look();
	if (counters_)
		file_.counting->readings.end = counters_->read(true, steering_->invariant_tsc());
	drain_->sync();
	const Sync end = steering_->last();
	if (counted_)
		counted_->end(end);
	file_.recorder.cpu_ns = own_cpu_time_ns() - cpu_before_ns_;
	if (triggers_)
		triggers_->end_pause(end);
	if (BlockSink *const sink = this->sink())
		sink->set_window_end(end.time);
	if (card_)
		card_->detach();
	drain_->sync(); // no token is later than this one
	if (steering_->invariant_tsc())
		file_.tsc_skew.end = measure_tsc_skew();
	return end;
}

void Session::drain_rest()
{
	drain_->drain_rest(
	    [this] {
		    if (matched_)
			    matched_->write(*control_, steering_->last(), card_.get(), users_.get());
		    if (triggers_)
			    triggers_->write(*control_, steering_->last().time);
	    },
	    [this] {
		    if (!states_)
			    options_.live->finish();
		    else
			    for (const std::string &doubt : states_->end(file_))
				    tell(doubt);
	    });
	if (counted_) {
		counted_->finish();
		file_.statistics->max_late_ns = counted_->reads().max_late_ns;
		file_.statistics->max_width_ns = counted_->reads().max_width_ns;
	}
	writer_->finish();
	if (failure_.reported())
		fail(failure_.text());
}

// What each part counted until `end`.
void Session::take_counts(const Sync &end)
{
	if (phases_)
		file_.calibration->phases = phases_->finish(progress().lost);
	name_new_cgroups();
	if (card_)
		add_card_counts(file_, *card_);
	if (stacks_)
		file_.stacks = stack_counts(options_.stacks, card_->stack_memory(), stacks_->counts());
	if (users_) {
		file_.user_card = users_->counts();
		file_.user_card->not_searched = search_ ? search_->missed() : 0;
	}
	if (matched_)
		matched_->end(end, card_.get(), users_.get(), file_);
	if (triggers_)
		act();
	add_triggers(file_);
	file_.recorder = {own_kernel_pid(),
			  file_.recorder.cpu_ns,
			  end.monotonic_ns - file_.start.monotonic_ns.value_or(0),
			  writer_->bytes(),
			  writer_->dropped_blocks(),
			  drain_->worst_fill(),
			  control_->tokens() + (states_ ? states_->tokens() : 0)};
	file_.end = moment_of(end);
}

void Session::end_recording()
{
	const Sync end = end_parts();
	drain_rest();
	take_counts(end);
	calibrate_again();
	add_other_recorders(file_, other_recorders());
	add_end(file_, result_.end_reason, command_ ? command_->poll() : std::nullopt, !result_.failed);
	try {
		if (options_.kept == Kept::nothing)
			return remove_trace_directory(result_.directory);
		write_description();
		cgroups_.write(result_.directory);
		write_file();
	} catch (const Error &error) { // the disk is full: the files of the start remain and say `incomplete`
		fail(error.what());
	}
}

// The tokens and counts of the recording have been read: the rings are free.
void Session::calibrate_again()
{
	if (!card_)
		return;
	calibration_.probes = false; // attaching to a function needs a privilege that was given up
	try {
		if (options_.calibrates)
			file_.calibration->end = card::calibrate(*card_, calibration_).costs;
	} catch (const Error &error) { // so does attaching tp tracepoints
		file_.calibration->why_no_end = error.what();
	}
	file_.witness.end = card::witness_calls(*card_, calibration_.tp, calibration_.filtering);
}

void Session::fail(const std::string &why)
{
	result_.failed = true;
	result_.end_reason = why;
}

// The recording ended before its command: terminate it if the duration elapsed, then wait for it.
void Session::release_command()
{
	if (!command_ || command_->poll())
		return;
	if (ending_.ends_command())
		command_->signal(SIGTERM);
	ending_.wait_for(*command_);
}

// Their threads use each other's objects: they are stopped before any of these is destroyed.
void Session::stop_threads()
{
	if (phases_)
		phases_->stop();
	if (users_)
		users_->stop();
	if (stacks_)
		stacks_->stop();
	if (drain_)
		drain_->stop();
	if (flight_)
		flight_->stop();
}

} // namespace monitor::record
