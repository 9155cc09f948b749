// SPDX-License-Identifier: MIT
#include "recording.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "base/error.h"
#include "base/memory_bound.h"
#include "kernel_counts.h"
#include "metadata.h"
#include "proc_tasks.h"
#include "recording/counting/counter_classes.h"
#include "recording/recorder/directory.h"
#include "recording/recorder/process_numbers.h"
#include "session.h"

namespace monitor::record {

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
		write_file(); // also if the recorder should be killed
}

void Session::tell(const std::string &note) const
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

std::string Session::description(const ClockDescription &clock, const std::vector<card::UserClass> &classes) const
{
	const MatcherRequest request = options_.matching ? options_.matching->request : MatcherRequest();
	const auto names = [](const auto &all) {
		std::vector<std::string> of_all;
		for (const auto &one : all)
			of_all.push_back(one.name);
		return of_all;
	};
	return metadata(uuid_, clock, counter_classes(options_.counting), classes, functions_.found().names(),
			names(request.counts), names(request.times), names(request.triggers),
			options_.states ? options_.states->state_names() : std::vector<std::string>());
}

// The clock of the trace, if that is not this recording's own.
ClockDescription Session::clock_of_files(const ClockDescription &own) const
{
	return lives_ ? lives_->moved(own) : own;
}

void Session::write_description()
{
	clock_ = describe_clock(*steering_);
	replace_file(result_.directory + "/metadata", description(clock_of_files(clock_), user_classes()), 0600);
}

// Runs in the user card's thread whenever there are new classes, and in the main thread when the clock was set. The
// writer reports a full disk.
void Session::describe_again(const std::vector<card::UserClass> &classes)
{
	if (flight_)
		return; // each snapshot describes what it knows
	const std::lock_guard guard(description_lock_);
	if (BlockSink *const sink = this->sink())
		sink->describe(description(classes));
	try {
		replace_file(result_.directory + "/metadata", description(clock_of_files(clock_), classes), 0600);
	} catch (const Error &) {
	}
}

// Runs in the drain thread, which writes no such files. The description of a recording that is killed has the steps,
// too; statistics write theirs with each period.
void Session::note_set_clock()
{
	{
		const std::lock_guard guard(description_lock_);
		clock_ = describe_clock(*steering_);
		if (BlockSink *const sink = this->sink())
			sink->describe(description(user_classes()));
	}
	const std::uint64_t one = 1;
	if (clock_was_set_)
		static_cast<void>(::write(clock_was_set_.get(), &one, sizeof one));
}

// All that there are; those that the kernel hides from BPF have a flag.
std::vector<edc_task> Session::threads()
{
	std::vector<edc_task> tasks = card_->list_tasks();
	if (tasks.empty() || !in_first_pid_namespace())
		return tasks; // the kernel made no list; /proc has other numbers
	std::vector<edc_task> hidden =
	    tasks_only_in_proc(tasks, read_sync(steering_->invariant_tsc()).time, options_.filtering());
	if (!hidden.empty())
		drop_new_tasks(hidden, card_->list_tasks());
	tasks.insert(tasks.end(), hidden.begin(), hidden.end());
	return tasks;
}

std::vector<card::UserClass> Session::user_classes() const
{
	return users_ ? users_->classes() : std::vector<card::UserClass>();
}

void Session::write_tasks(bool at_end)
{
	if (!card_ || counted_ || (options_.matching && !options_.matching->request.keeps_tokens))
		return;
	ControlStream *const listed = states_ ? states_->list_of_threads() : nullptr;
	ControlStream &to = listed ? *listed : *control_;
	for (const edc_task &task : threads()) {
		to.thread_state(task, at_end);
		if (!(task.flags & EDC_THREAD_HIDDEN)) // else they are unknown
			to.thread_counts(task, at_end);
	}
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

void Session::write_file() const
{
	write_recording(lives_ ? lives_->recording(file_) : file_, result_.directory);
}

void Session::name_new_cgroups()
{
	if (card_ && card_->new_cgroups() < 0)
		cgroups_.collect();
	else if (card_)
		for (const edc_new_cgroup &group : card_->take_new_cgroups())
			cgroups_.add(group.id, group.parent, group.name);
}

// Threads that were created while nothing was stored have no names: after each pause those there are are listed again.
void Session::list_after_pause()
{
	const std::uint64_t pauses = triggers_->pauses().number;
	if (pauses == pauses_ || !drain_)
		return;
	const std::lock_guard guard(listed_lock_);
	if (!listed_.empty())
		return; // the next time: at most one list for each time that the drain writes
	pauses_ = pauses;
	listed_ = threads();
}

// The same of those created while no probe was attached. In the thread of the phases.
void Session::list_after_phase()
{
	std::vector<edc_task> all = threads();
	const std::lock_guard guard(listed_lock_);
	listed_ = std::move(all);
}

// In the drain thread.
void Session::write_listed()
{
	const std::lock_guard guard(listed_lock_);
	for (edc_task &thread : listed_) {
		thread.flags |= EDC_THREAD_LATER; // its state is that of this moment only
		control_->thread_state(thread, false);
	}
	listed_.clear();
}

// What triggers that fired have the recorder do.
void Session::act()
{
	acts_->collect();
	list_after_pause();
	for (const Firing &firing : triggers_->take()) {
		const NamedTrigger &trigger = triggers_->of(firing);
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
	const int look_ms = flight_ && triggers_      ? 1000
			    : flight_                 ? -1
			    : options_.max_bytes      ? 20
			    : functions_.has_budget() ? 50
			    : listener_.on_progress   ? 500
						      : -1;
	const bool watches_cgroups = card_ && card_->new_cgroups() >= 0;
	const bool watches_cpus = card_ && card_->late_cpus() >= 0;
	auto next_progress = std::chrono::steady_clock::now();
	const auto look = [&]() -> std::string {
		if (failure_.reported()) {
			result_.failed = true;
			return failure_.text();
		}
		if (watches_cgroups)
			name_new_cgroups();
		if (watches_cpus)
			for (const recording_file::LateCpu &late : card_->open_late_cpus())
				add_late_cpu(file_, late);
		if (triggers_)
			act();
		std::uint64_t times;
		if (clock_was_set_ && ::read(clock_was_set_.get(), &times, sizeof times) > 0)
			describe_again(user_classes());
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
	if (clock_was_set_)
		fds.push_back({clock_was_set_.get(), POLLIN, 0});
	result_.end_reason = ending_.wait(command_.get(), failure_, look_ms, look, fds);
}

Result Session::wait()
{
	if (result_.exec_error) {
		stop_threads();
		if (card_)
			card_->detach();
		if (writer_)
			writer_->finish();
		remove_directory();
		result_.command_exit = command_->wait();
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

Recording::Recording(Options options, Listener listener)
    : session_(std::make_unique<Session>(std::move(options), std::move(listener)))
{
	set_memory_bound(0); // it reads its own tokens, all of them
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
