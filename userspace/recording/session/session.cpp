// SPDX-License-Identifier: MIT
// The running phase of a recording, and its end.
#include "session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "base/error.h"
#include "base/memory_bound.h"
#include "base/own_cpu_time.h"
#include "recording/recorder/directory.h"
#include "recording/recorder/process_numbers.h"
#include "recording/recorder/recorders.h"

namespace monitor::record {
namespace {

constexpr std::chrono::milliseconds cgroup_budget_at_end(20);

} // namespace

void Session::keep_budget()
{
	const std::vector<LeftOutFunction> left_out = functions_.too_expensive();
	for (const LeftOutFunction &function : left_out) {
		file_.functions.budget.left_out.push_back({function.number, read_sync(steering_->invariant_tsc()).time,
							   function.seconds, function.load.events, 100 * function.share,
							   functions_.name(function.number), function.load.event_ns});
		functions_.leave_out(function.number);
	}
	if (!left_out.empty())
		write_file(); // in case the recorder is killed
}

void Session::notify(const std::string &note) const
{
	if (listener_.on_note)
		listener_.on_note(note);
}

// Runs in the drain thread.
void Session::write_mappings(const Sync &sync)
{
	const double ticks_in_ns = steering_->frequency_hz() / 1e9;
	for (const stacks::MappingChange &change : stacks_->take_changes()) {
		const double ago_ns =
		    change.monotonic_ns
			? static_cast<double>(static_cast<std::int64_t>(sync.monotonic_ns - change.monotonic_ns))
			: 0;
		const std::int64_t ago = std::llround(ago_ns * ticks_in_ns);
		control_->mapping(change, sync.time,
				  change.monotonic_ns ? sync.time - static_cast<std::uint64_t>(ago) : 0);
	}
}

void Session::describe()
{
	description_->set_clock(describe_clock(*steering_));
	description_->write();
}

void Session::write_tasks(bool at_end)
{
	if (!card_ || counted_ || (options_.matching && !options_.matching->request.keeps_tokens))
		return;
	ControlStream *const listed = states_ ? states_->list_of_threads() : nullptr;
	threads_->write(listed ? *listed : *control_, at_end);
}

Progress Session::progress() const
{
	Progress now;
	if (users_)
		now.tokens += users_->counts().tokens; // the losses that programs report are added at the end
	for (unsigned cpu = 0; card_ && cpu < card_->cpus(); ++cpu) {
		const edc_cpu &area = card_->area(cpu);
		for (unsigned slot = 0; slot < EDC_CARD_CLASSES; ++slot) {
			now.lost += area.too_deep[slot];
			for (const edc_level &level : area.level) {
				now.lost += level.discarded[slot];
				now.tokens += level.seen[slot] - level.discarded[slot] - level.filtered[slot];
			}
		}
	}
	now.bytes = writer_->bytes();
	const Sync sync = read_sync(steering_->invariant_tsc());
	now.seconds = static_cast<double>(sync.monotonic_ns - file_.start.monotonic_ns.value_or(0)) / 1e9;
	return now;
}

KernelCounts Session::read_counts_of_kernel()
{
	std::map<std::string, std::uint64_t> before;
	if (counted_)
		before = by_name(counted_->read());
	KernelCounts counts = read_kernel_counts(steering_->invariant_tsc());
	for (auto &[number, name] : counts.interrupt_names)
		file_.interrupt_names[number] = name;
	for (auto &[number, name] : counts.disk_names)
		file_.disk_names[number] = name;
	counts.counted_before = std::move(before);
	if (counted_)
		counts.counted_after = by_name(counted_->read());
	return counts;
}

void Session::note_start()
{
	const Sync &now = steering_->last();
	file_.start = {now.time, now.realtime_ns, now.monotonic_ns};
}

void Session::name_new_cgroups()
{
	if (card_ && card_->new_cgroups() < 0)
		cgroups_.collect();
	else if (card_)
		for (const edc_new_cgroup &group : card_->take_new_cgroups())
			cgroups_.add(group.id, group.parent, group.name);
}

// Performs the actions of fired triggers.
void Session::perform_actions()
{
	acts_->collect();
	if (drain_)
		threads_->list_after_pause(triggers_->pauses().number);
	for (const Firing &firing : triggers_->take()) {
		const NamedTrigger &trigger = triggers_->trigger_of(firing);
		if (!firing.is_unnoted)
			acts_->act(firing);
		if (flight_)
			flight_->fired(firing, trigger);
		else if (trigger.ends() && ended_by_.empty())
			ended_by_ = fmt::format("the trigger {} fired", trigger.name);
	}
}

void Session::add_triggers(Contents &file) const
{
	if (triggers_)
		record::add_triggers(file, options_.matching->request.triggers, *triggers_, acts_->accounts(),
				     users_ ? std::optional(users_->counts()) : std::nullopt);
}

void Session::wait_for_end()
{
	const bool follows_command = stacks_ && options_.stacks.of_command;
	const int check_ms = flight_ && triggers_      ? 1000
			     : flight_                 ? -1
			     : options_.max_bytes      ? 20
			     : functions_.has_budget() ? 50
			     : follows_command         ? 100
			     : listener_.on_progress   ? 500
						       : -1;
	const bool watches_cgroups = card_ && card_->new_cgroups() >= 0;
	const bool watches_cpus = card_ && card_->late_cpus() >= 0;
	auto next_progress = std::chrono::steady_clock::now();
	const auto check = [&]() -> std::string {
		if (failure_.reported()) {
			result_.failed = true;
			return failure_.text();
		}
		if (watches_cgroups)
			name_new_cgroups();
		if (watches_cpus)
			for (const recording_file::LateCpu &late : card_->open_late_cpus())
				add_late_cpu(file_, late);
		if (follows_command)
			card_->follow_command();
		if (triggers_)
			perform_actions();
		description_->follow_clock();
		if (!ended_by_.empty())
			return ended_by_;
		if (flight_)
			return flight_->serve();
		if (functions_.has_budget())
			keep_budget();
		if (options_.max_bytes && writer_->bytes() >= *options_.max_bytes)
			return "the trace reached its --max-size";
		if (listener_.on_progress && std::chrono::steady_clock::now() >= next_progress) {
			listener_.on_progress(progress());
			next_progress += std::chrono::milliseconds(500);
		}
		return "";
	};
	std::vector<pollfd> fds = flight_ ? flight_->fds() : std::vector<pollfd>();
	if (triggers_) {
		std::ranges::copy(triggers_->fds(), std::back_inserter(fds));
		fds.push_back({acts_->fd(), POLLIN, 0});
	}
	if (watches_cgroups)
		fds.push_back({card_->new_cgroups(), POLLIN, 0});
	if (watches_cpus)
		fds.push_back({card_->late_cpus(), POLLIN, 0});
	if (description_->fd() >= 0)
		fds.push_back({description_->fd(), POLLIN, 0});
	result_.end_reason = ending_.wait(command_.get(), failure_, check_ms, check, fds);
}

// The command could not be started.
void Session::end_unrecorded()
{
	stop_threads();
	if (card_)
		card_->detach();
	if (writer_)
		writer_->finish();
	remove_directory();
	result_.command_exit = command_->wait();
}

Result Session::wait()
{
	if (result_.exec_error) {
		end_unrecorded();
		return result_;
	}
	wait_for_end();
	if (flight_)
		end_flight();
	else
		end_recording();
	release_command();
	if (command_)
		result_.command_exit = command_->poll();
	return result_;
}

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
		flight_->poll_programs();
		perform_actions();
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

// Stops all posting, and takes the final readings; returns the end time.
Sync Session::end_parts()
{
	if (phases_)
		phases_->stop();
	drain_->stop();
	drain_->drain_now();
	if (triggers_) { // the recorder's later tokens have later times
		perform_actions();
		triggers_->write(*control_);
		triggers_->stop();
	}
	if (users_)
		users_->stop();
	if (stacks_)
		stacks_->stop();
	if (card_) {
		file_.kernel_counts.end = read_counts_of_kernel();
		file_.cgroups.end =
		    read_cgroups(command_ ? command_->pid() : 0, cgroups_.paths(), cgroup_budget_at_end);
	}
	write_tasks(true);
	drain_->drain_now();
	if (counters_)
		file_.counting->readings.end = counters_->read(true, steering_->invariant_tsc());
	drain_->sync();
	const Sync end = steering_->last();
	if (counted_)
		counted_->end(end);
	file_.recorder.cpu_ns = own_cpu_time_ns() - cpu_before_ns_;
	if (triggers_)
		triggers_->end_pause(end);
	if (BlockSink *const sink = options_.sink())
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
				    notify(doubt);
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

// Collects each part's counts until `end`.
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
		perform_actions();
	add_triggers(file_);
	file_.recorder = {own_kernel_pid(),
			  file_.recorder.cpu_ns,
			  end.monotonic_ns - file_.start.monotonic_ns.value_or(0),
			  writer_->bytes(),
			  writer_->dropped_blocks(),
			  drain_->worst_fill(),
			  control_->tokens() + (states_ ? states_->tokens() : 0)};
	file_.streams = writer_->packets();
	file_.end = moment_of(end);
}

void Session::end_recording()
{
	const Sync end = end_parts();
	drain_rest();
	take_counts(end);
	if (trials_ && options_.calibrates)
		trials_->calibrate_again();
	if (trials_)
		trials_->witness_again();
	if (options_.calibrates && options_.stacks.timer_hz)
		file_.stacks.timer_interrupt_ns = card_->time_stack_interrupt();
	add_other_recorders(file_, other_recorders());
	add_end(file_, result_.end_reason, command_ ? command_->poll() : std::nullopt, !result_.failed);
	write_descriptions();
}

void Session::write_descriptions()
{
	try {
		if (options_.kept == Kept::nothing)
			return remove_trace_directory(result_.directory);
		describe();
		cgroups_.write(result_.directory);
		write_file();
	} catch (const Error &error) { // the disk is full: the files of the start remain and say `incomplete`
		fail(error.what());
	}
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

// Stops all threads before any object is destroyed, because they use each other's.
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

Recording::Recording(Options options, Listener listener)
    : session_(std::make_unique<Session>(std::move(options), std::move(listener)))
{
	set_memory_bound(0); // reads all of its own tokens
}

Recording::~Recording() = default;

void Recording::start()
{
	session_->start();
}

Result Recording::wait()
{
	return session_->wait();
}

void Recording::stop(const std::string &reason)
{
	session_->stop(reason);
}

std::map<std::uint64_t, std::string> Recording::cgroups() const
{
	return session_->cgroups();
}

} // namespace monitor::record
