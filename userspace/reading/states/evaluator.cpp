// SPDX-License-Identifier: MIT
#include "evaluator.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/grow.h"
#include "base/text.h"
#include "reading/events/merge.h"

namespace monitor::states {

using analyze::Cpu;
using analyze::EventKind;
using analyze::EventMeaning;
using analyze::Thread;

Evaluator::Evaluator(const Tree &tree, const analyze::FoldInput &input, const analyze::RecordingInfo &info,
		     std::uint64_t begin_time, trace::TimeRange whole, const analyze::Scope &scope, RunSink &sink)
    : tree_(tree), sink_(sink), description_(input.description), begin_time_(begin_time),
      whole_(whole), attached_{std::clamp(input.window.from, whole.from, whole.to),
			       std::clamp(input.window.to, whole.from, whole.to)},
      begin_(std::clamp(scope.range.from, whole.from, whole.to)),
      end_(scope.range.to < whole.to ? std::max(begin_, scope.range.to + 1) : whole.to),
      is_complete_(info.complete() || !info.present), is_generic_ctf_(input.is_generic_ctf), fold_(input, info, scope),
      knowledge_(tree.subject(), fold_, cpus_)
{
	recorded_ = states::recorded(input, info, fold_.kinds());
	has_more_classes_ = input.has_more_classes;
	make_classifier();
	if (classifier_->derives()) {
		const auto has_all = [&](const char *event) { return !info.partial.contains(event); };
		threads_.emplace(description_, has_all("sys_enter") && has_all("sys_exit"));
		running_.threads = &*threads_;
	}
	if (input.is_running && classifier_->uses_time())
		throw Error("{} compares `time`, which cannot be done while recording, because the frequency of the "
			    "clock is known exactly only at the end: use monitor states --tree afterwards",
			    readable(tree.name()));
	if (tree.subject() == Subject::thread && !recorded_.switches && !recorded_.user_events)
		throw Error("{} is a tree of a thread, and this trace does not tell which thread an event is of, as it "
			    "lacks sched_switch: make it a tree of a cpu or of a machine",
			    readable(tree.name()));
	if (uses_activities()) {
		tracker_ = std::make_unique<activities::Tracker>(input, fold_, activities::Tracker::Options{});
		fold_.add(*tracker_);
		knowledge_.set_tracker(*tracker_);
	}
	fold_.add(*this);
	if (info.states)
		for (const std::uint32_t cpu : info.states->cpus)
			add_cpu(cpu);
	for (const auto &[stream, end_time] : input.streams)
		add_stream(stream);
	if (tree.subject() == Subject::machine) {
		Followed &machine = follow({}, attached_.from);
		by_cpu_.push_back(&machine);
		show(machine);
	}
}

bool Evaluator::uses_activities() const
{
	return classifier_->uses_known("activity") || classifier_->uses_known("outer_activity");
}

void Evaluator::make_classifier()
{
	const filter::KnownNames known = known_names(tree_.subject(), recorded_, description_);
	doubts_.clear();
	classifier_ = std::make_unique<const Classifier>(tree_, description_, begin_time_, known,
							 has_more_classes_ ? &doubts_ : nullptr);
	uses_programs_ = classifier_->uses_event() || uses_activities();
}

void Evaluator::add_classes()
{
	fold_.add_classes(description_);
	if (tracker_)
		tracker_->add_classes(description_);
	if (threads_)
		threads_->add_classes(description_);
	make_classifier();
}

void Evaluator::set_window_end(std::uint64_t time)
{
	attached_.to = whole_.to = std::max(time, attached_.from);
	end_ = std::clamp(end_, begin_, whole_.to);
	fold_.set_last(whole_.to);
}

void Evaluator::add_cpu(std::uint32_t number)
{
	fold_.add_cpu(number);
	if (number >= fold_.cpus().size() || std::ranges::find(cpus_, number) != cpus_.end())
		return;
	cpus_.push_back(number);
	if (tree_.subject() == Subject::cpu)
		followed_cpu(number);
}

void Evaluator::add_stream(const trace::StreamInfo &stream)
{
	fold_.add_stream(stream);
	if (tracker_)
		tracker_->add_stream(stream);
	if (threads_)
		threads_->add_stream(stream);
	if (stream.has_cpu() && !stream.is_user())
		add_cpu(stream.cpu);
}

// Adds a subject that did not exist, or was not recorded, until then.
Evaluator::Followed &Evaluator::follow(Who who, std::uint64_t absent_until)
{
	Followed &made = *followed_all_.emplace_back(std::make_unique<Followed>());
	made.who = who;
	made.state = tree_.unknown();
	made.since = absent_until;
	if (absent_until > whole_.from)
		emit(made, tree_.pause(), whole_.from, absent_until);
	return made;
}

// Null: the CPU is not a subject.
Evaluator::Followed *Evaluator::followed_cpu(std::uint32_t number)
{
	if (number >= fold_.cpus().size() || !fold_.scope().includes_cpu(number))
		return nullptr;
	Followed *&found = grow_to(by_cpu_, number);
	if (!found) {
		found = &follow({number, nullptr}, attached_.from);
		show(*found);
	}
	return found;
}

Evaluator::Followed *Evaluator::followed_thread(const Thread &thread)
{
	if (thread.tid == 0 || !thread.selected)
		return nullptr;
	Followed *&found = by_thread_[&thread];
	if (!found)
		found = &follow({0, &thread}, std::max(thread.born, attached_.from));
	return found;
}

void Evaluator::show(Followed &followed)
{
	if (followed.number != none)
		return;
	followed.number = static_cast<std::uint32_t>(shown_.size());
	shown_.push_back(followed.who);
	for (Run &run : followed.early) {
		run.subject = followed.number;
		sink_.run(run);
	}
	followed.early = {};
}

void Evaluator::emit(Followed &followed, State state, std::uint64_t from, std::uint64_t to)
{
	Run run;
	run.subject = followed.number;
	run.state = state;
	run.from = std::clamp(from, begin_, end_);
	run.to = std::clamp(to, run.from, end_);
	const bool is_outside = from < to ? run.from == run.to : from < begin_ || from > end_;
	if (is_outside)
		return;
	if (followed.number == none)
		followed.early.push_back(run);
	else
		sink_.run(run);
}

void Evaluator::set(Followed &followed, std::uint64_t time, State state)
{
	time = std::max(time, followed.since);
	const bool is_initial = std::exchange(followed.is_initial, false);
	if (state == followed.state)
		return;
	if (!is_initial || time > followed.since)
		emit(followed, followed.state, followed.since, time);
	followed.state = state;
	followed.since = time;
	if (followed.who.thread && !followed.is_listed && state != tree_.pause() && state != tree_.unknown()) {
		followed.is_listed = true;
		known_.push_back(&followed);
	}
}

void Evaluator::lose(Followed &followed, std::uint64_t from, std::uint64_t to)
{
	followed.unknown_until = std::max(followed.unknown_until, to);
	if (followed.state != tree_.pause())
		set(followed, from, tree_.unknown());
}

// A loss that may affect every subject. Those not followed yet are unknown until their next event anyway.
void Evaluator::lose_all(std::uint64_t from, std::uint64_t to)
{
	all_unknown_until_ = std::max(all_unknown_until_, to);
	for (Followed *followed : by_cpu_)
		if (followed)
			lose(*followed, from, to);
	for (Followed *followed : std::exchange(known_, {})) {
		followed->is_listed = false;
		lose(*followed, from, to);
	}
}

// The CPU of the event; null: unknown.
const Cpu *Evaluator::cpu_in(const trace::Event &event) const
{
	if (!event.has_cpu() || event.stream->is_recorder() || event.cpu() >= fold_.cpus().size())
		return nullptr;
	return &fold_.cpus()[event.cpu()];
}

void Evaluator::event(const trace::Event &event)
{
	if (!threads_)
		return process(event);
	running_.tid = threads_->before(event);
	process(event);
	threads_->after(event);
}

void Evaluator::process(const trace::Event &event)
{
	const EventKind &kind = fold_.kinds()[*event.cls];
	writer_ = nullptr;
	exchanged_.clear();
	const Cpu *cpu = cpu_in(event);
	const Thread *const before = cpu ? cpu->current : nullptr;
	fold_.event(event);
	if (kind.kind == EventMeaning::thread_state)
		return on_listed(event, kind);
	if (event.time < attached_.from || event.time > attached_.to)
		return;
	if (kind.kind == EventMeaning::cpu_offline && tree_.subject() == Subject::cpu)
		return on_offline(event, kind);
	if (classifier_->uses_event() ? event.is_control() : event.stream->is_recorder())
		return;
	switch (tree_.subject()) {
	case Subject::machine:
		return on_machine(event);
	case Subject::cpu:
		return on_cpu(event, kind, before != nullptr);
	case Subject::thread:
		return on_threads(event, kind, before);
	}
}

void Evaluator::on_machine(const trace::Event &event)
{
	Followed &machine = *by_cpu_.front();
	if (event.time < machine.unknown_until)
		return;
	knowledge_.set_cpu(cpu_in(event));
	set(machine, event.time, classify(event));
}

// The CPU has been offline since its last event.
void Evaluator::on_offline(const trace::Event &event, const EventKind &kind)
{
	const auto number = kind.field[0].get<std::uint32_t>(event);
	Followed *const followed = followed_cpu(number);
	if (!followed || event.time < followed->unknown_until || classifier_->uses_event())
		return;
	knowledge_.set_cpu(&fold_.cpus()[number]);
	set(*followed, event.time, classify(event));
}

void Evaluator::on_cpu(const trace::Event &event, const EventKind &kind, bool was_known)
{
	const Cpu *cpu = cpu_in(event);
	if (!cpu && writer_ && writer_->cpu < fold_.cpus().size())
		cpu = &fold_.cpus()[writer_->cpu];
	Followed *const followed = cpu ? followed_cpu(cpu->number) : nullptr;
	if (!followed || event.time < followed->unknown_until)
		return;
	// It was idle until now, without an event that said so.
	const bool found_idle = !was_known && !event.stream->is_user() &&
				(event.opens_packet() ? event.packet_tid() == 0
						      : kind.kind == EventMeaning::sched_switch &&
							    kind.field[1].get<std::int32_t>(event) == 0);
	const std::uint64_t idle_since = std::max(followed->since, followed->unknown_until);
	if (found_idle && followed->state == tree_.unknown() && idle_since < event.time && !classifier_->uses_event()) {
		knowledge_.set_cpu(cpu, true);
		set(*followed, idle_since, classify(event));
	}
	knowledge_.set_cpu(cpu);
	set(*followed, event.time, classify(event));
}

void Evaluator::on_threads(const trace::Event &event, const EventKind &kind, const Thread *before)
{
	const Thread *about[6] = {before, writer_};
	std::size_t count = 2;
	const auto add = [&](const Thread *thread) {
		if (std::find(about, about + count, thread) == about + count)
			about[count++] = thread;
	};
	if (const Cpu *cpu = cpu_in(event))
		add(cpu->current);
	switch (kind.kind) {
	case EventMeaning::sched_switch:
		add(fold_.thread(kind.field[1].get<std::int32_t>(event)));
		break;
	case EventMeaning::sched_waking:
	case EventMeaning::sched_wakeup_new:
	case EventMeaning::sched_process_fork:
	case EventMeaning::new_thread_woken:
		add(fold_.thread(kind.field[0].get<std::int32_t>(event)));
		break;
	default:
		break;
	}
	for (std::size_t i = 0; i < count; ++i)
		if (about[i] && (i == 0 || about[i] != before))
			on_thread(event, *about[i], about[i] == before);
	for (const Thread *thread : exchanged_)
		on_thread(event, *thread, thread == before);
}

void Evaluator::on_thread(const trace::Event &event, const Thread &thread, bool ran)
{
	Followed *const followed = followed_thread(thread);
	if (!followed || event.time < std::max(followed->unknown_until, all_unknown_until_))
		return;
	State state = tree_.pause();
	const bool is_known = fold_.is_known(thread);
	if (classifier_->uses_event() && !is_known && &thread != writer_ && fold_.may_run_unseen(event.time)) {
		state = tree_.unknown(); // its next event may be lost
	} else if (thread.state != analyze::State::dead || !is_known) {
		knowledge_.set_thread(thread);
		state = classify(event);
	}
	set(*followed, event.time, state);
	if (ran || thread.has_run || thread.state == analyze::State::running || &thread == writer_)
		show(*followed);
}

// The list of threads at the start has their states and CPUs; what it says of a sleeping one has held since the start.
void Evaluator::on_listed(const trace::Event &event, const EventKind &kind)
{
	if (classifier_->uses_event() || event.time > attached_.to)
		return;
	const std::uint64_t time = std::max(event.time, attached_.from);
	const Thread *const thread = fold_.thread(kind.field[1].get<std::int32_t>(event));
	if (!thread || !fold_.is_known(*thread) || thread->state == analyze::State::dead)
		return;
	const bool runs = thread->state == analyze::State::running;
	if (tree_.subject() == Subject::thread) {
		Followed *const followed = followed_thread(*thread);
		if (!followed || !followed->is_initial)
			return;
		knowledge_.set_thread(*thread);
		set(*followed, runs ? time : followed->since, classify(event));
		if (runs)
			show(*followed);
		return;
	}
	const auto number = kind.field[4].get<std::uint32_t>(event);
	if (!runs || number >= fold_.cpus().size())
		return;
	knowledge_.set_cpu(&fold_.cpus()[number]);
	Followed *const followed = tree_.subject() == Subject::machine ? by_cpu_.front() : followed_cpu(number);
	if (followed && time >= followed->unknown_until)
		set(*followed, time, classify(event));
}

void Evaluator::gap(const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to)
{
	fold_.gap(stream, from, to);
	if (threads_)
		threads_->gap(stream);
	const bool is_of_any_cpu = is_generic_ctf_ && !stream.has_cpu();
	if (is_of_any_cpu || (stream.is_user() && uses_programs_))
		lose_all(from, to);
}

void Evaluator::gap_ended(const trace::StreamInfo &stream, std::uint64_t to)
{
	fold_.gap_ended(stream, to);
	for (Followed *followed : by_cpu_) {
		if (!followed)
			continue;
		followed->unknown_until = all_unknown_until_;
		for (const Cpu &cpu : fold_.cpus())
			if (tree_.subject() == Subject::machine || cpu.number == followed->who.cpu)
				followed->unknown_until = std::max(followed->unknown_until, cpu.gap_until);
	}
}

void Evaluator::lost(const Cpu &cpu, std::uint64_t from, std::uint64_t to)
{
	if (tree_.subject() == Subject::thread) {
		const auto is_still_known = [&](Followed *followed) {
			if (fold_.is_known(*followed->who.thread))
				return true;
			if (followed->state != tree_.pause())
				set(*followed, from, tree_.unknown());
			followed->is_listed = false;
			return false;
		};
		known_.erase(std::partition(known_.begin(), known_.end(), is_still_known), known_.end());
		return;
	}
	if (Followed *const followed = tree_.subject() == Subject::machine ? by_cpu_.front() : followed_cpu(cpu.number))
		lose(*followed, from, to);
}

void Evaluator::user_event(const Thread &thread, const trace::Event &)
{
	writer_ = &thread;
	knowledge_.note_event_of(thread);
}

void Evaluator::user_gap(const trace::StreamInfo &, std::uint32_t)
{
	knowledge_.lose_activities();
}

void Evaluator::exchanged(const Thread &one, const Thread &other)
{
	exchanged_ = {&one, &other};
}

void Evaluator::finish(std::uint64_t end_time)
{
	end_ = std::clamp(end_time, begin_, end_);
	const std::uint64_t last = std::min(attached_.to, end_time);
	for (const auto &each : followed_all_) {
		Followed &followed = *each;
		// Killed recording: what followed a CPU's last token was not written.
		const Thread *const thread = followed.who.thread;
		const bool is_of_cpu =
		    tree_.subject() == Subject::cpu || (thread && thread->state == analyze::State::running &&
							fold_.is_known(*thread) && thread->cpu < fold_.cpus().size());
		if (!is_complete_ && is_of_cpu)
			lose(followed, fold_.cpus()[thread ? thread->cpu : followed.who.cpu].accounted, last);
		if (last < end_time)
			set(followed, last, tree_.pause());
		const bool is_empty = followed.is_initial && followed.since == end_;
		if (!is_empty)
			emit(followed, followed.state, followed.since, end_);
		followed.since = end_;
	}
}

void evaluate(trace::Trace &trace, Evaluator &evaluator)
{
	trace::merge(
	    trace, {}, [&](const trace::Event &event) { evaluator.event(event); },
	    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t) {
		    evaluator.gap(stream, from, to);
	    });
	evaluator.finish();
}

} // namespace monitor::states
