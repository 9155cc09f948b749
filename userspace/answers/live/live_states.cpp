// SPDX-License-Identifier: MIT
#include "live_states.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "growing_description.h"
#include "reading/analyze/recording_info.h"

namespace monitor::live {
namespace {

constexpr std::size_t max_packets = 8192;          // 32 MiB: what a burst may be ahead of the classification
constexpr std::chrono::milliseconds at_a_time(20); // then the rings are drained again

} // namespace

struct LiveStates::Visitor {
	LiveStates &to;

	void stream(const trace::StreamInfo &info) { to.evaluator_->add_stream(info); }
	void event(const trace::Event &event)
	{
		to.now_ = event.time;
		to.evaluator_->event(event);
	}
	void gap(const trace::StreamInfo &info, std::uint64_t from, std::uint64_t until)
	{
		to.evaluator_->gap(info, from, until);
	}
	void gap_ended(const trace::StreamInfo &info, std::uint64_t until) { to.evaluator_->gap_ended(info, until); }
};

LiveStates::LiveStates(states::Tree tree) : tree_(std::move(tree))
{
	for (states::State state = 0; state < tree_.count(); ++state)
		state_names_.push_back(tree_.path(state));
}

LiveStates::~LiveStates() = default;

void LiveStates::start(const record::LiveStart &start)
{
	written_ = start.written;
	now_ = start.begin_time;
	description_ = read_tokens(start.description);
	analyze::RecordingInfo info = analyze::parse_recording(start.recording);
	info.complete = true; // it is the end that tells
	analyze::Source source{*description_, {info.start_time.value_or(start.begin_time)}, {}, false, {}, {}};
	source.functions_left_out = info.functions_left_out;
	source.partial = info.partial;
	source.is_running = true;
	source.has_more_classes = start.has_more_classes;
	streams_.emplace(description_, start.begin_time, max_packets);
	states::RunSink &sink = *this;
	evaluator_ = std::make_unique<states::Evaluator>(tree_, source, info, start.begin_time, source.window,
							 analyze::Scope{}, sink);
	for (const states::Run &run : std::exchange(early_, {}))
		write(run);
}

void LiveStates::describe(const std::string &description)
{
	const std::lock_guard guard(lock_);
	described_ = description;
	is_described_.store(true, std::memory_order_release);
}

void LiveStates::add_described()
{
	if (!is_described_.exchange(false, std::memory_order_acquire))
		return;
	std::string text;
	{
		const std::lock_guard guard(lock_);
		text = std::exchange(described_, {});
	}
	if (text.empty() || !add_classes(*description_, text))
		return;
	try {
		evaluator_->add_classes();
	} catch (const Error &error) {
		why_stopped_ =
		    fmt::format("the states are unknown from {:.3f} s on: {}",
				static_cast<double>(description_->clock.to_ns(now_ - evaluator_->window_begin())) / 1e9,
				error.what());
		evaluator_->lose_rest(now_);
	}
}

bool LiveStates::take(record::StreamNumber stream, const std::string &name, const std::byte *block)
{
	if (!streams_)
		return false; // before start()
	return !why_stopped_.empty() || streams_->take(stream, name, trace::LiveStreams::Packet(block, EDC_BLOCK_SIZE));
}

void LiveStates::lose(record::StreamNumber stream)
{
	streams_->lose(stream);
}

bool LiveStates::advance(std::uint64_t time)
{
	add_described();
	if (!why_stopped_.empty())
		return true;
	Visitor visitor{*this};
	return streams_->advance(time, visitor, trace::LiveStreams::Clock::now() + at_a_time);
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
	end_.late = streams_->late();
	evaluator_->finish();
	// Names, cgroups and CPU times may have changed.
	for (std::uint32_t number = 0; number < subjects_; ++number)
		if (evaluator_->subjects()[number].thread)
			write_subject(number);
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
		write_subject(subjects_);
	written_->state_run(run.subject, run.state, run.ticks(), now_);
}

void LiveStates::write_subject(std::uint32_t number)
{
	const states::Who &who = evaluator_->subjects()[number];
	record::StateSubject subject;
	subject.number = number;
	subject.cpu = who.cpu;
	if (const analyze::Thread *const thread = who.thread) {
		subject.tid = thread->tid;
		subject.process = thread->tgid;
		subject.cgroup = evaluator_->machine().cgroup_of(*thread);
		subject.cpu_ticks = thread->so_far.cpu;
		subject.name = thread->name;
		subject.in_command = thread->in_tree;
	}
	written_->state_subject(subject, now_);
}

} // namespace monitor::live
