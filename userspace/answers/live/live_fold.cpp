// SPDX-License-Identifier: MIT
#include "live_fold.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/ranges.h"
#include "recording/card/classes.h"

namespace monitor::live {
namespace {

constexpr std::uint64_t forget_interval_ns = 100'000'000;
constexpr unsigned forgets_per_check = 10; // is_gone() costs a system call per thread

// Also for threads of other users: signal 0 is not delivered.
bool is_gone(const analyze::Thread &thread)
{
	return ::kill(thread.tid, 0) < 0 && errno == ESRCH;
}

} // namespace

struct LiveFold::Visitor {
	LiveFold &fold;

	void stream(const trace::StreamInfo &info)
	{
		fold.thread_fold_->add_stream(info);
		if (fold.tracker_)
			fold.tracker_->add_stream(info);
	}
	void event(const trace::Event &event)
	{
		const std::size_t index = event.cls->index;
		// Before the first window and after the last one, some probes were not attached.
		const bool is_within =
		    event.time >= fold.thread_fold_->window_begin() && (!fold.end_ || event.time < *fold.end_);
		std::vector<std::uint64_t> &counts = is_within ? fold.class_counts_ : fold.outside_counts_;
		if (index >= counts.size())
			counts.resize(index + 1);
		counts[index] += !event.is_control();
		fold.thread_fold_->event(event);
		if (fold.virtual_)
			fold.virtual_->event(event);
	}
	void gap(const trace::StreamInfo &info, std::uint64_t from, std::uint64_t until)
	{
		fold.note_loss();
		fold.thread_fold_->gap(info, from, until);
	}
	void gap_ended(const trace::StreamInfo &info, std::uint64_t until)
	{
		fold.note_loss();
		fold.thread_fold_->gap_ended(info, until);
	}
	void lost(std::uint64_t count) { fold.lost_ += count != trace::unknown_count ? count : 0; }
};

void LiveFold::note_loss()
{
	has_losses_ = true;
	if (virtual_)
		virtual_->lose();
}

LiveFold::LiveFold(std::uint64_t window_ns, std::function<void()> on_window)
    : window_ns_(window_ns), on_window_(std::move(on_window))
{
}

void LiveFold::start(const record::LiveStart &start)
{
	events_.start(start);
	begin_time_ = events_.input().window.from;
	directory_ = start.directory;
	stacks_ns_ = start.stacks_ns;
	if (stacks_ns_)
		stacks_ns_at_begin_ = stacks_ns_();
	thread_fold_.emplace(events_.input(), events_.info());
	for (const std::uint32_t cpu : start.cpus)
		thread_fold_->add_cpu(cpu);
	if (info().counters) {
		counters_.emplace(events_.description(), *info().counters);
		thread_fold_->add(*counters_);
	}
	if (start.has_more_classes || !info().functions.chosen.empty()) {
		tracker_.emplace(events_.input(), *thread_fold_, activities::Tracker::Options{});
		thread_fold_->add(*tracker_);
	}
	if (compensates_)
		virtual_.emplace(*thread_fold_, info(), events_.description());
	window_ticks_ = std::max<std::uint64_t>(clock().to_ticks(window_ns_), 1);
	const std::uint64_t begin = events_.input().window.from;
	next_end_ = begin + window_ticks_;
	if (is_aligned_)
		next_end_ = aligned_end_after(begin);
	if (forgets_often_) {
		forget_ticks_ = std::max<std::uint64_t>(clock().to_ticks(forget_interval_ns), 1);
		next_forget_ = begin + forget_ticks_;
	}
	if (on_start_)
		on_start_();
}

std::uint64_t LiveFold::aligned_end_after(std::uint64_t time) const
{
	const auto wall_ns = static_cast<std::uint64_t>(clock().wall_ns(time));
	return time + std::max<std::uint64_t>(clock().to_ticks(window_ns_ - wall_ns % window_ns_), 1);
}

void LiveFold::add_classes()
{
	thread_fold_->add_classes(events_.description());
	if (tracker_)
		tracker_->add_classes(events_.description());
}

void LiveFold::forget_ended()
{
	const bool checks = ++forgets_ % forgets_per_check == 0;
	thread_fold_->forget([checks](const analyze::Thread &thread) { return checks && is_gone(thread); });
	next_forget_ += forget_ticks_;
}

bool LiveFold::advance(std::uint64_t time)
{
	if (events_.has_new_classes())
		add_classes();
	if (clock().steps.size() != std::exchange(clock_steps_, clock().steps.size()) && is_aligned_ &&
	    time < next_end_)
		next_end_ = aligned_end_after(time);
	Visitor visitor{*this};
	for (;;) {
		const std::uint64_t until = end_ ? time : std::min({time, next_end_, next_forget_});
		if (!events_.advance(until, visitor))
			return false;
		if (!end_ && until == next_forget_) {
			forget_ended();
			continue;
		}
		if (end_ || time < next_end_)
			return true;
		end_window(next_end_);
		next_end_ += window_ticks_;
	}
}

void LiveFold::end_window(std::uint64_t time)
{
	if (forgets_often_)
		thread_fold_->forget(is_gone);
	thread_fold_->end_window(time);
	if (stacks_ns_) {
		const std::uint64_t now = stacks_ns_();
		stacks_ns_of_window_ = now - std::exchange(stacks_ns_at_begin_, now);
	}
	on_window_();
	begin_window();
}

void LiveFold::begin_window()
{
	if (counters_)
		counters_->begin_window();
	if (!forgets_often_)
		thread_fold_->forget(is_gone);
	thread_fold_->begin_window();
	if (virtual_)
		virtual_->begin_window();
	lost_ = 0;
	std::ranges::fill(class_counts_, 0);
	has_losses_ = false;
	if (thread_fold_->lossy_until() > thread_fold_->window_begin())
		note_loss();
}

void LiveFold::set_window_end(std::uint64_t time)
{
	end_ = time;
	thread_fold_->set_last(time);
}

record::LiveEnd LiveFold::finish()
{
	while (!advance(~std::uint64_t(0))) {
	}
	if (*end_ > thread_fold_->window_begin())
		end_window(*end_);
	if (on_finish_)
		on_finish_();
	return {*end_, late(), {}};
}

std::uint64_t LiveFold::count(const std::string &name) const
{
	std::uint64_t sum = 0;
	for (const auto &cls : events_.description().classes())
		if (cls->name == name && cls->index < class_counts_.size())
			sum += class_counts_[cls->index];
	return sum;
}

std::uint64_t LiveFold::count() const
{
	return sum_of_all<std::uint64_t>(class_counts_);
}

LiveFold::Counts LiveFold::by_id(const std::vector<std::uint64_t> &of) const
{
	Counts counts;
	for (const auto &cls : events_.description().classes())
		if (cls->index < of.size() && of[cls->index])
			counts.emplace_back(cls->id, of[cls->index]);
	return counts;
}

LiveFold::Counts LiveFold::take_outside()
{
	return by_id(std::exchange(outside_counts_, {}));
}

cost::ProbeCost LiveFold::probe_cost() const
{
	analyze::RecordingInfo counted;
	counted.stacks.spent_at_events_ns = stacks_ns_of_window_;
	counted.calibration = info().calibration;
	for (const auto &cls : events_.description().classes()) {
		const std::uint64_t seen = cls->index < class_counts_.size() ? class_counts_[cls->index] : 0;
		if (const std::string family = card::family_of(cls->name); !family.empty() && seen)
			counted.classes.push_back({.id = 0, .name = cls->name, .family = family, .seen = seen});
	}
	return cost::probe_cost(counted);
}

} // namespace monitor::live
