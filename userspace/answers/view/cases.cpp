// SPDX-License-Identifier: MIT
#include "cases.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

namespace monitor::view {
namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned bar_bits = 2; // 4 bars per power of two

// The width of a value's bar, as a power of two.
unsigned shift_of(std::uint64_t value)
{
	const auto power = static_cast<unsigned>(std::bit_width(value));
	return power > bar_bits + 1 ? power - bar_bits - 1 : 0;
}

// The start of a value's bar, and the end of the bar with this start.
std::uint64_t bar_begin(std::uint64_t value)
{
	return value >> shift_of(value) << shift_of(value);
}

std::uint64_t bar_end(std::uint64_t begin)
{
	return begin + (std::uint64_t(1) << shift_of(begin));
}

} // namespace

void Cases::add(const Case &found)
{
	const std::uint64_t ticks = found.to - found.from;
	histogram_.add(ticks);
	if (ticks < wanted_.min_ticks || ticks >= wanted_.max_ticks)
		return;
	++count_;
	total_ += ticks;
	const auto is_longer = [](const Case &one, const Case &other) {
		return one.to - one.from > other.to - other.from;
	};
	if (longest_.size() >= max_longest && ticks <= longest_.front().to - longest_.front().from)
		return;
	longest_.push_back(found);
	std::ranges::push_heap(longest_, is_longer);
	if (longest_.size() > max_longest) {
		std::ranges::pop_heap(longest_, is_longer);
		longest_.pop_back();
	}
}

void Cases::finished(const activities::Finished &activity)
{
	using activities::ActivitySource;
	const bool is_wanted =
	    (wanted_.of == CasesWanted::Of::calls && activity.source == ActivitySource::system_call) ||
	    (wanted_.of == CasesWanted::Of::sleeps && activity.source == ActivitySource::blocked);
	const analyze::Thread &thread = activity.thread;
	if (!is_wanted || activity.was_refused || (wanted_.pid && fold_.leader(thread).tid != *wanted_.pid) ||
	    (wanted_.tid && thread.tid != *wanted_.tid))
		return;
	if (wanted_.call &&
	    (activity.number == EDC_NO_SYSCALL ? "-" : fold_.kinds().syscall_label(activity.number)) != *wanted_.call)
		return;
	add({activity.begin, activity.end, &thread, activity.number});
}

void Cases::waited(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to)
{
	if (wanted_.of != CasesWanted::Of::waits || thread.hidden || (wanted_.tid && thread.tid != *wanted_.tid))
		return;
	const Case found{from, to, &thread, EDC_NO_SYSCALL};
	if (wanted_.pid && !thread.introduced && thread.tgid == thread.tid)
		of_unknown_process_.push_back(found);
	else if (!wanted_.pid || thread.tgid == *wanted_.pid)
		add(found);
}

void Cases::finish()
{
	for (const Case &found : of_unknown_process_)
		if (found.thread->tgid == *wanted_.pid)
			add(found);
	of_unknown_process_.clear();
}

Json Cases::json() const
{
	std::map<std::uint64_t, std::uint64_t> bars;
	histogram_.visit(
	    [&](std::uint64_t first, std::uint64_t, std::uint64_t count) { bars[bar_begin(first)] += count; });
	Json made = {{"count", count_}, {"total", total_}, {"bars", Json::array()}, {"longest", Json::array()}};
	for (const auto &[begin, count] : bars)
		made["bars"].push_back({begin, bar_end(begin), count});
	std::unordered_map<const analyze::Thread *, std::size_t> numbers;
	for (const analyze::Thread &thread : fold_.threads())
		numbers.emplace(&thread, numbers.size());
	std::vector<Case> longest = longest_;
	std::ranges::sort(longest, std::ranges::greater(), [](const Case &one) { return one.to - one.from; });
	for (const Case &one : longest) {
		Json call = nullptr;
		if (one.call != EDC_NO_SYSCALL)
			call = fold_.kinds().syscall_label(one.call);
		made["longest"].push_back({{"from", one.from - std::min(one.from, begin_)},
					   {"to", one.to - std::min(one.to, begin_)},
					   {"thread", numbers.at(one.thread)},
					   {"tid", one.thread->tid},
					   {"pid", one.thread->tgid},
					   {"name", one.thread->name},
					   {"call", call}});
	}
	return made;
}

} // namespace monitor::view
