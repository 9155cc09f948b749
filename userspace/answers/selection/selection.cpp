// SPDX-License-Identifier: MIT
#include "selection.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "answers/report/table.h"
#include "base/date_text.h"
#include "base/error.h"
#include "base/note.h"
#include "base/text.h"
#include "reading/filter/text_match.h"

namespace monitor::selection {
namespace {

// HH:MM:SS in local time, with the date if the trace is of several days.
std::string time_of_day(const trace::Trace &trace, std::uint64_t time)
{
	return local_date((trace.description().clock.wall_ns(time) + 500'000'000) / 1'000'000'000,
			  trace::time_of_day_format(trace));
}

// "from 0 ns to 12.895 s"
std::string span_text(const Selection &selection, const trace::Trace &trace, const trace::TimeRange &span)
{
	const auto shown = [&](std::uint64_t time) {
		return selection.is_by_clock() ? selection.time_text(trace)(time)
					       : report::cell_text(static_cast<double>(trace.since_begin_ns(time)),
								   report::Unit::nanoseconds);
	};
	return "from " + shown(span.from) + " to " + shown(span.to);
}

// A range that only touches the recorded time at one end has no sum of times.
void check_overlap(const Selection &selection, const trace::Trace &trace, const trace::TimeRange &range,
		   const trace::TimeRange &whole)
{
	const auto ns = [&](std::uint64_t time) { return trace.since_begin_ns(time); };
	const bool is_before = range.from < whole.from && ns(range.to) <= ns(whole.from);
	const bool is_after = range.to > whole.to && ns(range.from) >= ns(whole.to);
	if (whole.from >= whole.to || (!is_before && !is_after))
		return;
	throw Error("{} {} is the {} of what was recorded, which is {}: nothing is {} it",
		    is_after ? "--from" : selection.end_option, is_after ? selection.from : selection.to,
		    is_after ? "end" : "start", span_text(selection, trace, whole), is_after ? "after" : "before");
}

} // namespace

bool Selection::is_all() const
{
	return from.empty() && to.empty() && cpus.empty() && threads.is_all() && !filter;
}

std::vector<std::string> Selection::thread_words() const
{
	std::vector<std::string> words;
	const auto add = [&](const char *option, const auto &values) {
		if (!values.empty())
			words.insert(words.end(), {option, fmt::format("{}", fmt::join(values, ","))});
	};
	add("--pid", threads.pids);
	add("--tid", threads.tids);
	add("--comm", threads.comms);
	add("--cgroup", threads.cgroups);
	if (threads.command)
		words.emplace_back("--command");
	return words;
}

std::vector<std::string> Selection::time_words() const
{
	std::vector<std::string> words;
	if (!from.empty())
		words.insert(words.end(), {"--from", from});
	if (!to.empty())
		words.insert(words.end(), {end_option, to});
	return words;
}

trace::TimeRange Selection::range(const trace::Trace &trace, const trace::TimeRange &whole) const
{
	const trace::TimeRange range = trace::parse_range(from, to, trace, end_option);
	const bool is_late = !from.empty() && range.from > whole.to, is_early = !to.empty() && range.to < whole.from;
	if (!is_late && !is_early)
		return range;
	throw Error("{} {} is outside of what was recorded, which is {}", is_late ? "--from" : end_option,
		    is_late ? from : to, span_text(*this, trace, whole));
}

void print_left_out(const filter::Filter &filter, const trace::Description &description, const std::string &of)
{
	const std::string text = filter::left_out_text(
	    filter::left_out(filter, description, [&](const trace::EventClass &cls) { return filter.can_match(cls); }));
	if (!text.empty())
		print_note("monitor: {}: {}\n", of, printable(text));
}

void print_undecided(const filter::Filter &filter, const std::string &of)
{
	if (filter.undecided())
		print_note("monitor: {}: {}\n", of, filter::undecided_warning);
}

std::optional<filter::Filter> Selection::event_filter(const trace::Trace &trace) const
{
	std::optional<filter::Filter> made;
	if (filter) {
		made.emplace(*filter, trace.description(), trace.begin_time());
		print_left_out(*made, trace.description(), "--filter");
	}
	return made;
}

trace::EventSelection Selection::events(const trace::Trace &trace) const
{
	if (threads.is_all())
		return {trace, cpus, {}};
	return {trace, cpus, threads_of_events(trace, analyze::recording_of(trace), threads)};
}

analyze::Scope Selection::scope(const trace::Trace &trace, const analyze::RecordingInfo &info) const
{
	const trace::TimeRange whole = analyze::window_of(trace, info);
	analyze::Scope scope{range(trace, whole), cpus, {}};
	check_overlap(*this, trace, scope.range, whole);
	const trace::TimeRange given = scope.range;
	scope.range = analyze::whole_periods(trace, info, given);
	if (scope.range.from < given.from || scope.range.to > given.to)
		print_note("monitor: statistics are of whole periods: the time from {} to {} is shown\n",
			   time_of_day(trace, scope.range.from), time_of_day(trace, scope.range.to + 1));
	if (!threads.is_all())
		scope.threads = threads_of_fold(trace, info, threads);
	scope.cgroups = cgroups_of_fold(trace, threads);
	return scope;
}

std::vector<std::string> event_names(const std::vector<std::string> &patterns, const trace::Description &description)
{
	std::vector<std::string> names;
	for (const std::string &pattern : patterns) {
		const std::size_t before = names.size();
		const bool is_name = !description.find(pattern).empty();
		for (const auto &cls : description.classes())
			if (is_name ? cls->name == pattern : filter::matches_glob(pattern, cls->name))
				names.push_back(cls->name);
		if (names.size() == before)
			throw Error("the trace has no event class " + readable(pattern) +
				    "; `monitor info` lists those it has, `monitor events` those of each family");
	}
	return names;
}

} // namespace monitor::selection
