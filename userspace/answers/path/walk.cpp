// SPDX-License-Identifier: MIT
#include "walk.h"

#include <algorithm>

namespace monitor::path {
namespace {

// Without a time between them; more are an error in the trace.
constexpr std::uint32_t max_jumps_at_once = 64;

} // namespace

void Paths::add_critical(std::uint32_t thread, trace::TimeRange range, std::uint64_t end, const IsInside &is_inside)
{
	is_inside_ = &is_inside;
	follow(thread, range, end, 0);
}

void Paths::add_bounded(std::uint32_t thread, trace::TimeRange range, std::uint64_t end, std::uint32_t sleep)
{
	is_inside_ = nullptr;
	follow(thread, range, end, sleep);
}

std::uint32_t Paths::add_root()
{
	sleeps_.emplace_back();
	return static_cast<std::uint32_t>(sleeps_.size() - 1);
}

void Paths::follow(std::uint32_t thread, trace::TimeRange range, std::uint64_t end, std::uint32_t sleep)
{
	const auto before = static_cast<std::ptrdiff_t>(links_.size());
	frames_.clear();
	thread_ = thread;
	sleep_ = sleep;
	jumps_ = 0;
	has_exchanged_ = false;
	time_ = end;
	wanted_to_ = range.to;
	while (time_ > range.from)
		step(range.from);
	std::reverse(links_.begin() + before, links_.end());
	links_.push_back({.begin = range.to});
	total_ += range.to - range.from;
}

void Paths::add_link(std::uint64_t begin, const Stretch *stretch, bool is_cut)
{
	Link link;
	link.begin = time_ = begin;
	link.stretch = stretch;
	link.thread = thread_;
	link.sleep = sleep_;
	link.is_cut = is_cut;
	if (begin < wanted_to_)
		links_.push_back(link);
	jumps_ = 0;
	has_exchanged_ = false;
}

void Paths::jump(std::uint32_t to, std::uint32_t sleep)
{
	thread_ = to;
	sleep_ = sleep;
	++jumps_;
	has_exchanged_ = false;
}

std::uint32_t Paths::sleep_in(const Stretch &stretch)
{
	if (!is_nested_)
		return 0;
	const std::uint32_t call = stretch.where, name = threads_[thread_].name_at(stretch.begin);
	const auto next = static_cast<std::uint32_t>(sleeps_.size());
	const auto [found, is_new] = known_sleeps_.try_emplace({sleep_, thread_, call, name}, next);
	if (is_new)
		sleeps_.push_back({sleep_, thread_, call, name});
	return found->second;
}

const ThreadStretches::Exchange *Paths::last_exchange(const ThreadStretches &of) const
{
	for (auto exchange = of.exchanges.rbegin(); exchange != of.exchanges.rend(); ++exchange)
		if ((is_inside_ || !exchange->is_exit) &&
		    (exchange->time < time_ || (exchange->time == time_ && !has_exchanged_)))
			return &*exchange;
	return nullptr;
}

// Who continues a thread that a signal stopped need not have worked for it: the stop is a link.
bool Paths::was_woken_by_thread(const Stretch &stretch) const
{
	return stretch.kind == Kind::blocked && stretch.where != analyze::stopped_call && stretch.end == End::thread &&
	       stretch.cause != thread_ && jumps_ < max_jumps_at_once;
}

void Paths::step(std::uint64_t first)
{
	for (; !frames_.empty() && time_ <= frames_.back().begin; frames_.pop_back()) {
		thread_ = frames_.back().thread;
		sleep_ = frames_.back().sleep;
	}
	const ThreadStretches &of = threads_[thread_];
	std::uint64_t bound = std::max(first, frames_.empty() ? 0 : frames_.back().begin);
	if (const ThreadStretches::Exchange *exchange = last_exchange(of)) {
		if (exchange->time == time_) {
			thread_ = exchange->other;
			has_exchanged_ = true;
			return;
		}
		bound = std::max(bound, exchange->time);
	}
	const auto [stretch, end] = of.before(time_);
	if (!stretch)
		return go_to_creator(of, bound);
	if (time_ > of.end)
		return add_link(std::max(bound, of.end), nullptr);
	if (end <= time_ && stretch->kind == Kind::blocked && stretch->end == End::led)
		return follow_lead(*stretch, bound);
	const std::uint64_t begin = std::max(bound, stretch->begin);
	if (end > time_ || !was_woken_by_thread(*stretch))
		return add_link(begin, stretch, end > time_);
	if (is_inside_ && (*is_inside_)(stretch->cause)) {
		frames_.clear();
		return jump(stretch->cause, 0);
	}
	const std::uint32_t within = sleep_in(*stretch);
	frames_.push_back({thread_, sleep_, begin});
	jump(stretch->cause, within);
}

// Inside, the link begins with the work, also if the sleeper ran until later: what it ran was not waited for.
void Paths::follow_lead(const Stretch &stretch, std::uint64_t bound)
{
	const Lead &lead = leads_[stretch.cause];
	const bool is_known = lead.thread != nobody && jumps_ < max_jumps_at_once;
	if (is_known && is_inside_ && (*is_inside_)(lead.thread)) {
		add_link(std::max(bound, lead.begin), &stretch);
		if (time_ == lead.begin) {
			frames_.clear();
			jump(lead.thread, 0);
		}
		return;
	}
	const std::uint64_t begin = std::max(bound, stretch.begin);
	add_link(std::max(begin, lead.begin), &stretch);
	if (is_known && time_ > begin && lead.thread != thread_) {
		const std::uint32_t within = sleep_in(stretch);
		frames_.push_back({thread_, sleep_, begin});
		jump(lead.thread, within);
	}
}

// Goes on in the creator, if it is known: there is no sleep to return to.
void Paths::go_to_creator(const ThreadStretches &of, std::uint64_t bound)
{
	const std::uint64_t born = of.thread->born;
	if (of.creator == nobody || jumps_ >= max_jumps_at_once)
		return add_link(bound, nullptr);
	if (born < time_)
		return add_link(std::max(bound, born), nullptr);
	const bool is_inside = is_inside_ && (*is_inside_)(of.creator);
	if (is_inside)
		frames_.clear();
	jump(of.creator, is_inside ? 0 : sleep_);
}

} // namespace monitor::path
