// SPDX-License-Identifier: MIT
#include "steps.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "base/grow.h"
#include "reading/activities/activity_names.h"
#include "reading/analyze/feed.h"
#include "reading/cost/probe_cost.h"

namespace monitor::model {
namespace {

using analyze::EventMeaning;
using analyze::State;

constexpr std::size_t max_nesting = 256;
// The cost of an event of edc.h, by tools/bench user: calibrations do not measure it.
constexpr double user_event_ns = 8;
constexpr std::int32_t first_usual_priority = 100; // the kernel's MAX_RT_PRIO
constexpr std::size_t min_wakes = 20;              // for a median

std::uint64_t median(std::vector<std::uint64_t> values)
{
	std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
	return values[values.size() / 2];
}

class Collector final : public analyze::Observer {
public:
	Collector(trace::Trace &trace, const analyze::RecordingInfo &info, const std::vector<std::string> &comms)
	    : trace_(trace), info_(info), comms_(comms), fold_(trace, info),
	      names_(analyze::input_of(trace, info), nullptr)
	{
		if (!has("sched_switch", EventMeaning::sched_switch) ||
		    !has("sched_waking", EventMeaning::sched_waking))
			throw Error("{}: a model is learnt from switches and wake-ups of threads: record with -e "
				    "sched,irq,syscall",
				    trace.directory());
		steps_.directory = trace.directory();
		for (const auto &cls : trace.description().classes())
			if (cls->name == "sched_waking")
				priority_ = trace::FieldRef(*cls, "prio");
		set_costs();
		fold_.add(*this);
	}

	Steps collect();

	void blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
		     const analyze::Waker &waker) override;
	void user_event(const analyze::Thread &thread, const trace::Event &event) override;
	void function(const analyze::Thread &thread, const analyze::FunctionToken &token) override;
	void ended(const analyze::Thread &thread, std::uint64_t time) override;

private:
	// What a thread is doing, and what is not in its steps yet.
	struct Progress {
		std::vector<std::uint32_t> open; // activities
		bool is_running = false;
		std::uint64_t since = 0;  // up to when its running is in `ns`
		double ns = 0;            // CPU time since the last step
		double overhead = 0;      // of probes in that time
		std::optional<Step> wait; // that has been ended by a wake-up; the thread has not run yet
		std::uint64_t woken = 0;
		bool was_cpu_idle = false;
	};
	struct CpuState {
		std::uint64_t interrupted = 0; // time of the last hardware interrupt
		std::uint64_t woke = 0;        // time of the last event, if it was a wake-up
		bool woke_idle = false;
	};

	bool has(const char *event, EventMeaning meaning) const
	{
		return info_.present ? info_.has_program(event) : fold_.kinds().has(meaning);
	}
	void set_costs();
	void after(const trace::Event &event);
	void on_switch(const analyze::EventKind &kind, const trace::Event &event);
	void on_waking(const analyze::EventKind &kind, const trace::Event &event);
	void note_interrupt(const analyze::EventKind &kind, const trace::Event &event);
	void mark(const analyze::Thread &thread, std::uint32_t activity, bool begins, std::uint64_t time,
		  std::uint64_t key);
	std::uint64_t ns(std::uint64_t ticks) const { return trace_.description().clock.to_ns(ticks); }
	bool is_of_program(const analyze::Thread &thread) const
	{
		return thread.in_tree || std::ranges::find(comms_, thread.name) != comms_.end();
	}
	// For the program: a thread of another program there does not count.
	bool is_idle(const analyze::Cpu &cpu) const { return cpu.current && !is_of_program(*cpu.current); }
	bool is_by_own_call(const analyze::Waker &waker) const;
	CpuState &cpu_state(std::uint32_t cpu) { return grow_to(cpus_, cpu); }
	std::uint32_t thread_number(const analyze::Thread &thread);
	void account(Progress &progress, std::uint64_t time);
	void flush(std::uint32_t thread);
	void add(std::uint32_t thread, const Step &step);
	void finish();

	trace::Trace &trace_;
	const analyze::RecordingInfo &info_;
	const std::vector<std::string> &comms_;
	analyze::ThreadFold fold_;
	activities::ActivityNames names_;
	Steps steps_;
	std::vector<const analyze::Thread *> threads_; // by number
	std::vector<Progress> progress_;
	std::vector<CpuState> cpus_;
	std::unordered_map<const analyze::Thread *, std::uint32_t> thread_numbers_;
	std::vector<double> cost_; // by event class, in ns
	std::size_t number_of_steps_ = 0;
	std::uint32_t wakings_ = 0;
	trace::FieldRef priority_;                    // of sched_waking
	std::uint64_t realtime_ = 0, of_program_ = 0; // wake-ups of realtime threads, of all threads of the program
	bool has_own_marks_ = false;                  // events of edc.h
	struct Waking {
		std::uint32_t waker, woken;
	};
	std::optional<Waking> waking_; // from blocked() to on_waking() for the same event
	std::vector<std::uint64_t> wakes_idle_, wakes_local_;
};

void Collector::set_costs()
{
	if (!info_.calibration) {
		steps_.why_no_cost = "the recording was not calibrated";
		return;
	}
	for (const recording_file::ClassCounts &counts : info_.classes) {
		const cost::EventCost cost = cost::event_cost(*info_.calibration, counts.family);
		if (!cost.why_unknown.empty() && steps_.why_no_cost.empty())
			steps_.why_no_cost = cost.why_unknown;
		if (counts.id >= cost_.size())
			cost_.resize(counts.id + 1, 0);
		cost_[counts.id] = cost.why_unknown.empty() ? cost.median : 0;
	}
}

std::uint32_t Collector::thread_number(const analyze::Thread &thread)
{
	const auto [found, is_new] = thread_numbers_.try_emplace(&thread, static_cast<std::uint32_t>(threads_.size()));
	if (is_new) {
		threads_.push_back(&thread);
		progress_.emplace_back();
		steps_.threads.emplace_back();
	}
	return found->second;
}

void Collector::add(std::uint32_t thread, const Step &step)
{
	if (++number_of_steps_ > Steps::max_steps)
		throw Error(
		    "{}: the program does more than {} steps, which is too long for a model: record a shorter run",
		    trace_.directory(), Steps::max_steps);
	steps_.threads[thread].steps.push_back(step);
}

void Collector::account(Progress &progress, std::uint64_t time)
{
	if (!progress.is_running || time < progress.since)
		return;
	progress.ns += static_cast<double>(ns(time - progress.since));
	progress.since = time;
}

void Collector::flush(std::uint32_t thread)
{
	Progress &progress = progress_[thread];
	if (progress.ns > 0) {
		Step run;
		run.ns = static_cast<std::uint64_t>(std::max(progress.ns - progress.overhead, 1.));
		add(thread, run);
	}
	progress.ns = progress.overhead = 0;
}

// Whether the wake-up is by a softirq that the running thread's system call has raised, as for messages on loopback:
// since the call began there was neither a hardware interrupt on this CPU nor a switch.
bool Collector::is_by_own_call(const analyze::Waker &waker) const
{
	const analyze::Thread *thread = waker.thread;
	if (!thread || !analyze::EventKinds::is_softirq(static_cast<std::uint32_t>(waker.interrupt)))
		return false;
	const std::uint64_t interrupted = thread->cpu < cpus_.size() ? cpus_[thread->cpu].interrupted : 0;
	return thread->ring == analyze::Ring::system_call && thread->syscall_known &&
	       std::max(interrupted, thread->out_time) < thread->syscall_since &&
	       fold_.cpus()[thread->cpu].interrupts.size() == 1;
}

void Collector::blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
			const analyze::Waker &waker)
{
	const std::uint32_t slept = thread_number(thread);
	const bool is_by_thread = waker.thread && (waker.interrupt < 0 || is_by_own_call(waker));
	Step wait;
	wait.kind = Step::Kind::wait;
	wait.time = ns(from);
	wait.ns = ns(to) - wait.time;
	wait.waking = ++wakings_;
	wait.what = is_by_thread ? thread_number(*waker.thread) : waker.interrupt >= 0 ? interrupt : unknown;
	const std::string *call = fold_.kinds().syscall_name(thread.syscall);
	wait.is_timed = call && (*call == "nanosleep" || *call == "clock_nanosleep");
	Progress &progress = progress_[slept];
	progress.is_running = false;
	progress.wait = wait;
	progress.woken = to;
	progress.was_cpu_idle =
	    std::ranges::any_of(fold_.cpus(), [this](const analyze::Cpu &cpu) { return is_idle(cpu); });
	waking_.reset();
	if (is_by_thread)
		waking_ = {wait.what, slept};
}

void Collector::mark(const analyze::Thread &thread, std::uint32_t activity, bool begins, std::uint64_t time,
		     std::uint64_t key)
{
	const std::uint32_t number = thread_number(thread);
	Progress &progress = progress_[number];
	if (thread.state == State::running && !progress.is_running) {
		progress.is_running = true;
		progress.since = time;
	}
	account(progress, time);
	const auto open = std::ranges::find(progress.open, activity);
	if (begins == (open != progress.open.end()) || progress.open.size() > max_nesting)
		return; // recursive, or its beginning was not recorded
	flush(number);
	Step step;
	step.time = ns(time);
	step.key = key;
	if (begins) {
		progress.open.push_back(activity);
		step.kind = Step::Kind::begin;
		step.what = activity;
		return add(number, step);
	}
	step.kind = Step::Kind::end; // also of activities within it that have no end, as functions left by an exception
	do {
		step.what = progress.open.back();
		progress.open.pop_back();
		add(number, step);
	} while (step.what != activity);
}

void Collector::user_event(const analyze::Thread &thread, const trace::Event &event)
{
	const activities::Role &role = names_.role_of(*event.cls);
	if (role.is_function)
		return function(thread, {role.begins, event.time, role.argument.get<std::uint32_t>(event), 0});
	if (role.activity == activities::no_activity)
		return;
	has_own_marks_ = true;
	steps_.marks_functions = false;
	progress_[thread_number(thread)].overhead += user_event_ns;
	if (role.argument && role.activity < steps_.has_argument.size())
		steps_.has_argument[role.activity] = true;
	mark(thread, role.activity, role.begins, event.time, role.argument ? role.argument.get(event) : 0);
}

void Collector::function(const analyze::Thread &thread, const analyze::FunctionToken &token)
{
	const std::uint32_t name = names_.function(token.number);
	if (name == activities::no_activity)
		return;
	steps_.marks_functions = !has_own_marks_;
	mark(thread, name, token.is_entry, token.time, 0);
}

void Collector::ended(const analyze::Thread &thread, std::uint64_t time)
{
	if (thread.tid == info_.command_pid)
		(thread.state == State::dead ? steps_.end : steps_.begin) = ns(time);
	const auto number = thread_numbers_.find(&thread);
	if (thread.state == State::dead && number != thread_numbers_.end())
		steps_.threads[number->second].ended = ns(time);
}

void Collector::on_switch(const analyze::EventKind &kind, const trace::Event &event)
{
	const analyze::Thread *prev = fold_.thread(kind.field[1].get<std::int32_t>(event));
	const analyze::Thread *next = fold_.thread(kind.field[2].get<std::int32_t>(event));
	const double half_cost = event.cls->id < cost_.size() ? cost_[event.cls->id] / 2 : 0;
	if (prev && prev->tid != 0) {
		const std::uint32_t number = thread_number(*prev);
		Progress &progress = progress_[number];
		progress.overhead += half_cost;
		account(progress, event.time);
		progress.is_running = false;
		if (prev->state != State::runnable && prev->state != State::throttled)
			flush(number);
	}
	if (!next || next->tid == 0)
		return;
	const std::uint32_t number = thread_number(*next);
	Progress &progress = progress_[number];
	if (progress.wait) {
		const std::uint64_t latency = ns(event.time - progress.woken);
		progress.wait->latency = static_cast<std::uint32_t>(std::min<std::uint64_t>(latency, nothing));
		if (progress.was_cpu_idle)
			steps_.latencies.push_back(latency);
		add(number, *progress.wait);
		progress.wait.reset();
	}
	progress.is_running = true;
	progress.since = event.time;
	progress.overhead += half_cost;
}

void Collector::on_waking(const analyze::EventKind &kind, const trace::Event &event)
{
	const auto waking = std::exchange(waking_, std::nullopt);
	if (!waking)
		return;
	Progress &progress = progress_[waking->waker];
	account(progress, event.time);
	flush(waking->waker);
	const std::uint32_t target = kind.field[1] ? kind.field[1].get<std::uint32_t>(event) : event.cpu();
	Step wake;
	wake.kind = Step::Kind::wake;
	wake.what = waking->woken;
	wake.waking = wakings_;
	wake.time = ns(event.time);
	wake.is_remote = target != event.cpu();
	if (priority_ && is_of_program(*threads_[waking->woken])) {
		++of_program_;
		realtime_ += priority_.get<std::int32_t>(event) < first_usual_priority;
	}
	add(waking->waker, wake);
	CpuState &here = cpu_state(event.cpu());
	here.woke = event.time;
	here.woke_idle = wake.is_remote && target < fold_.cpus().size() && is_idle(fold_.cpus()[target]);
	if (wake.is_remote && !here.woke_idle)
		here.woke = 0;
}

void Collector::note_interrupt(const analyze::EventKind &kind, const trace::Event &event)
{
	if (!analyze::EventKinds::is_softirq(kind.interrupt))
		cpu_state(event.cpu()).interrupted = event.time;
}

void Collector::after(const trace::Event &event)
{
	if (!event.has_cpu() || event.stream->is_user() || event.stream->is_recorder() ||
	    event.cpu() >= fold_.cpus().size())
		return;
	const analyze::EventKind &kind = fold_.kinds()[*event.cls];
	CpuState &here = cpu_state(event.cpu());
	if (const std::uint64_t woke = std::exchange(here.woke, 0))
		(here.woke_idle ? wakes_idle_ : wakes_local_).push_back(ns(event.time - woke));
	if (kind.kind == EventMeaning::sched_switch)
		return on_switch(kind, event);
	const analyze::Thread *current = fold_.cpus()[event.cpu()].current;
	if (current && current->tid != 0 && event.cls->id < cost_.size())
		progress_[thread_number(*current)].overhead += cost_[event.cls->id];
	if (kind.kind == EventMeaning::sched_waking)
		on_waking(kind, event);
	else if (kind.kind == EventMeaning::interrupt_entry || kind.kind == EventMeaning::timer_entry)
		note_interrupt(kind, event);
}

// Keeps the threads of the program only, and subtracts the cost of remote wake-ups from the CPU times.
void Collector::finish()
{
	std::vector<std::uint32_t> new_number(threads_.size(), unknown);
	std::vector<ThreadSteps> kept;
	for (std::size_t i = 0; i < threads_.size(); ++i) {
		const analyze::Thread &thread = *threads_[i];
		if (!is_of_program(thread))
			continue;
		steps_.threads[i].tid = thread.tid;
		steps_.threads[i].name = thread.name;
		steps_.threads[i].born = thread.born ? ns(thread.born) : 0;
		new_number[i] = static_cast<std::uint32_t>(kept.size());
		kept.push_back(std::move(steps_.threads[i]));
	}
	for (ThreadSteps &thread : kept)
		for (Step &step : thread.steps)
			if ((step.kind == Step::Kind::wait || step.kind == Step::Kind::wake) && step.what < unknown) {
				const bool is_kernel = threads_[step.what]->is_kernel;
				step.what =
				    new_number[step.what] == unknown && is_kernel ? interrupt : new_number[step.what];
			}
	steps_.threads = std::move(kept);
	if (wakes_idle_.size() >= min_wakes) {
		constexpr std::uint64_t usual = 700, max_usual = 3000;
		std::uint64_t local = wakes_local_.size() >= min_wakes ? median(wakes_local_) : usual;
		local = local < max_usual ? local : usual;
		steps_.wake_cost = std::max(median(wakes_idle_), local) - local;
	}
	for (ThreadSteps &thread : steps_.threads)
		for (std::size_t i = 0; i + 1 < thread.steps.size(); ++i) {
			Step &next = thread.steps[i + 1];
			if (thread.steps[i].kind == Step::Kind::wake && thread.steps[i].is_remote &&
			    next.kind == Step::Kind::run)
				next.ns = std::max(next.ns, steps_.wake_cost + 1) - steps_.wake_cost;
		}
	std::ranges::sort(steps_.latencies);
}

Steps Collector::collect()
{
	steps_.activities = names_.all();
	steps_.has_argument.resize(steps_.activities.size());
	steps_.cpus = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(info_.cpus, 1, 65536));
	const trace::Losses losses = analyze::feed(trace_, fold_, [this](const trace::Event &event) { after(event); });
	if (losses.gaps || info_.lost() || info_.too_deep() || info_.missed())
		throw Refused("Events were lost in this recording: its arrivals are not known.");
	steps_.is_realtime = realtime_ * 2 > of_program_;
	finish();
	return std::move(steps_);
}

} // namespace

Steps collect_steps(trace::Trace &trace, const std::vector<std::string> &comms)
{
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	if (info.statistics || !info.has_tokens)
		throw Error(
		    "{}: this recording has no events, only sums of them: record without --no-tokens and --statistics",
		    trace.directory());
	if (trace.is_empty())
		throw Error("{}: this trace has no events, so there is nothing to learn from", trace.directory());
	return Collector(trace, info, comms).collect();
}

} // namespace monitor::model
