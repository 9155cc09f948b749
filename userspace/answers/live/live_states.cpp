// SPDX-License-Identifier: MIT
#include "live_states.h"

#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace monitor::live {
struct LiveStates::Visitor {
	LiveStates &live;

	void stream(const trace::StreamInfo &info) { live.evaluator_->add_stream(info); }
	void event(const trace::Event &event)
	{
		live.now_ = event.time;
		live.evaluator_->event(event);
	}
	void gap(const trace::StreamInfo &info, std::uint64_t from, std::uint64_t until)
	{
		live.evaluator_->gap(info, from, until);
	}
	void gap_ended(const trace::StreamInfo &info, std::uint64_t until) { live.evaluator_->gap_ended(info, until); }
};

LiveStates::LiveStates(states::Tree tree) : tree_(std::move(tree))
{
	for (states::State state = 0; state < tree_.count(); ++state)
		state_names_.push_back(tree_.path(state));
}

LiveStates::~LiveStates() = default;

void LiveStates::start(const record::LiveStart &start)
{
	output_ = start.written;
	now_ = start.begin_time;
	events_.start(start);
	states::RunSink &sink = *this;
	evaluator_ = std::make_unique<states::Evaluator>(tree_, events_.input(), events_.info(), start.begin_time,
							 events_.input().window, analyze::Scope{}, sink);
	for (const states::Run &run : std::exchange(early_, {}))
		write(run);
}

void LiveStates::add_new_classes()
{
	if (!events_.has_new_classes())
		return;
	try {
		evaluator_->add_classes();
	} catch (const Error &error) {
		why_stopped_ = fmt::format(
		    "the states are unknown from {:.3f} s on: {}",
		    static_cast<double>(events_.description().clock.to_ns(now_ - evaluator_->window_begin())) / 1e9,
		    error.what());
		evaluator_->lose_rest(now_);
	}
}

bool LiveStates::take(record::StreamNumber stream, const std::string &name, const std::byte *block)
{
	return !why_stopped_.empty() || events_.take(stream, name, block);
}

bool LiveStates::advance(std::uint64_t time)
{
	add_new_classes();
	if (!why_stopped_.empty())
		return true;
	Visitor visitor{*this};
	return events_.advance(time, visitor);
}

void LiveStates::set_window_end(std::uint64_t time)
{
	evaluator_->set_window_end(time);
	end_.time = time;
}

record::LiveEnd LiveStates::finish()
{
	while (!advance(~std::uint64_t(0))) {
	}
	end_.late = events_.late();
	evaluator_->finish();
	// Subjects are written again, as names, cgroups and CPU times may have changed.
	for (std::uint32_t number = 0; number < subjects_; ++number)
		if (const analyze::Thread *const thread = evaluator_->subjects()[number].thread) {
			for (const analyze::CgroupStay &stay : thread->left)
				if (stay.cgroup)
					write_subject(number, stay.cgroup);
			write_subject(number, cgroup_of(number));
		}
	end_.doubts = evaluator_->doubts();
	if (!why_stopped_.empty())
		end_.doubts.push_back(why_stopped_);
	return end_;
}

void LiveStates::run(const states::Run &run)
{
	if (evaluator_)
		write(run);
	else
		early_.push_back(run);
}

void LiveStates::write(const states::Run &run)
{
	for (; subjects_ <= run.subject; ++subjects_)
		write_subject(subjects_, cgroup_of(subjects_));
	output_->state_run(run.subject, run.state, run.ticks(), now_);
}

std::uint64_t LiveStates::cgroup_of(std::uint32_t number) const
{
	const analyze::Thread *const thread = evaluator_->subjects()[number].thread;
	return thread ? evaluator_->fold().cgroup_of(*thread) : 0;
}

void LiveStates::write_subject(std::uint32_t number, std::uint64_t cgroup)
{
	const states::Who &who = evaluator_->subjects()[number];
	record::StateSubject subject;
	subject.number = number;
	subject.cpu = who.cpu;
	if (const analyze::Thread *const thread = who.thread) {
		subject.tid = thread->tid;
		subject.process = thread->tgid;
		subject.cgroup = cgroup;
		subject.cpu_ticks = thread->so_far.cpu;
		subject.name = thread->name;
		subject.in_command = thread->in_tree;
	}
	output_->state_subject(subject, now_);
}

} // namespace monitor::live
