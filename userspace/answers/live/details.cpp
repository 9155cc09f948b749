// SPDX-License-Identifier: MIT
#include "details.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace monitor::live {
namespace {

std::string name_of(const analyze::Thread &thread)
{
	return thread.name.empty() ? fmt::format("thread {}", thread.tid) : thread.name;
}

} // namespace

Details::Details(const analyze::ThreadFold &fold, activities::Tracker *tracker) : fold_(fold), tracker_(tracker)
{
	if (tracker)
		tracker->add(*this);
	clear();
}

void Details::follow(std::int32_t process, std::int32_t thread)
{
	if (std::exchange(process_, process) != process || std::exchange(thread_, thread) != thread)
		clear();
}

void Details::clear()
{
	calls_.clear();
	sleeps_.clear();
	if (tracker_)
		totals_.emplace(
		    activities::Grouping{activities::ActivitySource::program, {activities::Label::activity}}, fold_,
		    *tracker_);
}

bool Details::is_followed(const analyze::Thread &thread) const
{
	return process_ != 0 && thread.tgid == process_ && (thread_ == 0 || thread.tid == thread_);
}

std::string Details::call_name(std::uint32_t call) const
{
	if (call == EDC_NO_SYSCALL)
		return "no call";
	return fold_.kinds().syscall_label(call);
}

std::string Details::waker_name(const analyze::Waker &waker) const
{
	if (waker.interrupt >= 0)
		return fold_.kinds().interrupt_label(static_cast<std::uint32_t>(waker.interrupt), waker.number);
	return waker.thread ? name_of(*waker.thread) : "unknown";
}

Details::Total &Details::total_of(Totals &totals, std::pair<std::string, std::string> key)
{
	auto found = totals.find(key);
	if (found == totals.end() && totals.size() >= max_rows)
		key = {"other", ""};
	return found == totals.end() ? totals[std::move(key)] : found->second;
}

void Details::add_time(Total &total, std::uint64_t ticks)
{
	++total.count;
	++total.timed;
	total.ticks += ticks;
	total.longest = std::max(total.longest, ticks);
}

void Details::system_call(const analyze::Thread &thread, std::uint32_t number, std::uint64_t begin, std::uint64_t end,
			  std::int64_t result)
{
	if (!is_followed(thread))
		return;
	Total &total = total_of(calls_, {call_name(number), ""});
	total.failed += analyze::has_failed(result);
	add_time(total, end - begin);
}

void Details::refused_call(const analyze::Thread &thread, std::uint32_t call, std::uint64_t, std::int64_t result)
{
	if (!is_followed(thread))
		return;
	Total &total = total_of(calls_, {call_name(call), ""});
	++total.count;
	total.failed += analyze::has_failed(result);
}

void Details::blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to, const analyze::Waker &waker)
{
	if (is_followed(thread))
		add_time(total_of(sleeps_, {call_name(thread.syscall), waker_name(waker)}), to - from);
}

void Details::finished(const activities::Finished &activity)
{
	if (activity.source == activities::ActivitySource::program && is_followed(activity.thread))
		totals_->finished(activity);
}

report::Table Details::calls(const trace::Clock &clock) const
{
	using report::Unit;
	report::Table table;
	table.columns = {{"call", "call", Unit::text},           {"count", "count", Unit::count},
			 {"failed", "failed", Unit::count},      {"total_ns", "total", Unit::nanoseconds},
			 {"mean_ns", "mean", Unit::nanoseconds}, {"longest_ns", "longest", Unit::nanoseconds}};
	for (const auto &[key, total] : calls_) {
		const auto ns = [&clock, is_timed = total.timed != 0](std::uint64_t ticks) {
			return is_timed ? report::Cell(clock.to_ns(ticks)) : report::Cell();
		};
		table.rows.push_back({key.first, total.count, total.failed, ns(total.ticks),
				      ns(total.ticks / std::max<std::uint64_t>(total.timed, 1)), ns(total.longest)});
	}
	table.sort_by(3);
	return table;
}

report::Table Details::sleeps(const trace::Clock &clock) const
{
	using report::Unit;
	report::Table table;
	table.columns = {{"call", "slept in", Unit::text},
			 {"waker", "woken by", Unit::text},
			 {"count", "count", Unit::count},
			 {"total_ns", "total", Unit::nanoseconds},
			 {"longest_ns", "longest", Unit::nanoseconds}};
	for (const auto &[key, total] : sleeps_)
		table.rows.push_back(
		    {key.first, key.second, total.count, clock.to_ns(total.ticks), clock.to_ns(total.longest)});
	table.sort_by(3);
	return table;
}

std::optional<report::Table> Details::activities(const trace::Clock &clock) const
{
	using report::Unit;
	if (!totals_)
		return {};
	report::Table table;
	table.columns = {{"activity", "activity", Unit::text},
			 {"count", "count", Unit::count},
			 {"total_ns", "total", Unit::nanoseconds},
			 {"mean_ns", "mean", Unit::nanoseconds},
			 {"longest_ns", "longest", Unit::nanoseconds}};
	for (const activities::TotalsRow &row : totals_->rows())
		table.rows.push_back({row.parts[0].text, row.count, clock.to_ns(row.total.ticks), clock.to_ns(row.mean),
				      row.has_lengths ? report::Cell(clock.to_ns(row.max)) : report::Cell()});
	return table;
}

} // namespace monitor::live
