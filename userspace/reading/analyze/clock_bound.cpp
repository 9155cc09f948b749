// SPDX-License-Identifier: MIT
#include "clock_bound.h"

#include <algorithm>

#include "base/histogram.h"
#include "base/ranges.h"

namespace monitor::analyze {
namespace {

constexpr std::uint64_t inverse_drift = 50'000'000; // 1 / 20e-9
constexpr std::int64_t min_step_ns = 1'000'000;     // as in recording/rings/clock.cpp

} // namespace

ClockBound::ClockBound(const trace::Description &description, const RecordingInfo &info) : skew_(info.skew().ticks)
{
	for (const trace::EventClass *cls : description.find("sync")) {
		sync_class_ = cls;
		monotonic_ = {*cls, "monotonic"};
		width_ = {*cls, "width"};
		realtime_ = {*cls, "realtime"};
	}
	for (const trace::EventClass *cls : description.find("clock_set")) {
		set_class_ = cls;
		number_ = {*cls, "set"};
		from_ns_ = {*cls, "from_ns"};
		base_ = {*cls, "base"};
		whole_ = {*cls, "whole"};
		frac_ = {*cls, "frac"};
	}
	begin_ = info.start_time().value_or(0);
	end_ = info.end.time.value_or(~0ull);
}

std::int64_t ClockBound::error_at(std::uint64_t monotonic_ns, std::uint64_t true_time) const
{
	const edc_clock_set *in_force = &sets_.front();
	for (auto set = sets_.rbegin(); set != sets_.rend(); ++set) {
		if (set->from_ns <= monotonic_ns) {
			in_force = &*set;
			break;
		}
	}
	return static_cast<std::int64_t>(edc_clock_at(in_force, monotonic_ns) - true_time);
}

void ClockBound::event(const trace::Event &event)
{
	if (event.cls == set_class_) {
		const edc_clock_set set{from_ns_.get(event), base_.get(event), whole_.get<std::uint32_t>(event),
					frac_.get<std::uint32_t>(event)};
		check_step(number_.get<unsigned>(event), set);
		sets_.push_back(set);
		return;
	}
	if (event.cls != sync_class_)
		return;
	++syncs_;
	const Sync next{event.time, monotonic_.get(event), width_.get(event), realtime_.get(event)};
	if (have_last_ && next.monotonic_ns > last_.monotonic_ns)
		close_interval(next);
	const auto step_ns = static_cast<std::int64_t>(next.offset_ns() - last_.offset_ns());
	if (next.realtime_ns && last_.realtime_ns && (step_ns >= min_step_ns || step_ns <= -min_step_ns))
		real_time_steps_.push_back({next.time, step_ns});
	last_ = next;
	have_last_ = true;
}

// The numbers of clock sets have 16 bits.
void ClockBound::check_step(unsigned number, const edc_clock_set &set)
{
	if (steps_.sets++ == 0) {
		last_number_ = number;
		return;
	}
	steps_.missing += static_cast<std::uint16_t>(number - last_number_ - 1);
	last_number_ = number;
	const std::uint64_t line = edc_clock_at(&sets_.back(), set.from_ns);
	if (line == set.base)
		return;
	++steps_.steps;
	steps_.largest = std::max<std::uint64_t>(steps_.largest, line > set.base ? line - set.base : set.base - line);
}

void ClockBound::close_interval(const Sync &next)
{
	const std::uint64_t ticks = next.time - last_.time;
	const long double slope =
	    static_cast<long double>(ticks) / static_cast<long double>(next.monotonic_ns - last_.monotonic_ns);
	const auto true_time_at = [&](std::uint64_t ns) {
		return last_.time +
		       static_cast<std::uint64_t>(slope * static_cast<long double>(ns - last_.monotonic_ns));
	};
	std::uint64_t worst = 0, from = last_.time;
	const auto note_error = [&](std::uint64_t ns, std::uint64_t true_time) {
		const std::int64_t error = error_at(ns, true_time);
		worst =
		    std::max(worst, error < 0 ? -static_cast<std::uint64_t>(error) : static_cast<std::uint64_t>(error));
	};
	if (!sets_.empty()) {
		// A flight recorder's snapshot may lack the set in force before its first one.
		const std::uint64_t first_ns = sets_.front().from_ns;
		if (first_ns >= next.monotonic_ns)
			return;
		if (last_.monotonic_ns < first_ns)
			from = true_time_at(first_ns);
		else
			note_error(last_.monotonic_ns, last_.time);
		note_error(next.monotonic_ns, next.time);
		for (const edc_clock_set &set : sets_)
			if (set.from_ns > last_.monotonic_ns && set.from_ns < next.monotonic_ns)
				note_error(set.from_ns, true_time_at(set.from_ns));
		// Only the newest sets can still apply.
		if (sets_.size() > 4)
			sets_.erase(sets_.begin(), sets_.end() - 4);
	}
	if (next.time >= begin_ && last_.time <= end_)
		intervals_.push_back(
		    {from, next.time, worst + std::max(last_.width, next.width) + skew_ + ticks / inverse_drift});
}

std::uint64_t ClockBound::largest() const
{
	return quantile(1);
}

std::uint64_t ClockBound::quantile(double fraction) const
{
	if (intervals_.empty())
		return 0;
	auto bounds = list_of<std::uint64_t>(intervals_, &ClockInterval::bound);
	std::ranges::sort(bounds);
	return bounds[nearest_rank(fraction, bounds.size()) - 1];
}

std::uint64_t ClockBound::max_interval_ticks() const
{
	std::uint64_t max_ticks = 0;
	for (const ClockInterval &interval : intervals_)
		max_ticks = std::max(max_ticks, interval.to - interval.from);
	return max_ticks;
}

} // namespace monitor::analyze
