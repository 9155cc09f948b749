// SPDX-License-Identifier: MIT
#include "counts_table.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/escape.h"
#include "reading/events/field_ref.h"
#include "reading/events/merge.h"

namespace monitor::report {
namespace {

using analyze::RecordingInfo;

double seconds_of(const RecordingInfo &info)
{
	return static_cast<double>(info.counted.ns) / 1e9;
}

// The totals that the recorder wrote periodically, per count or time.
class Series {
public:
	using Totals = std::vector<std::uint64_t>;

	Series(trace::Trace &trace, const std::string &event, const std::string &number,
	       const std::vector<std::string> &totals)
	{
		const auto classes = trace.description().find(event);
		if (classes.size() != 1)
			return;
		const trace::FieldRef number_field(*classes[0], number);
		std::vector<trace::FieldRef> fields;
		for (const std::string &total : totals)
			fields.emplace_back(*classes[0], total);
		trace::merge(trace, {}, [&](const trace::Event &event) {
			if (event.cls != classes[0])
				return;
			Totals &found = by_time_[event.time][number_field.get(event)];
			for (const trace::FieldRef &field : fields)
				found.push_back(field.get(event));
			found.resize(fields.size());
		});
	}

	const std::map<std::uint64_t, std::map<std::uint64_t, Totals>> &by_time() const { return by_time_; }

	// The difference between two of the times, or since 0; nullopt: one of these is missing.
	std::optional<Totals> growth(std::uint64_t from, std::uint64_t to, std::uint64_t number) const
	{
		const Totals *now = find(to, number), *before = find(from, number);
		if (!now)
			return std::nullopt;
		Totals grown = *now;
		for (std::size_t i = 0; before && i < grown.size(); ++i)
			grown[i] -= std::min(grown[i], (*before)[i]);
		return grown;
	}

private:
	const Totals *find(std::uint64_t time, std::uint64_t number) const
	{
		const auto at_time = by_time_.find(time);
		if (at_time == by_time_.end())
			return nullptr;
		const auto found = at_time->second.find(number);
		return found == at_time->second.end() ? nullptr : &found->second;
	}

	std::map<std::uint64_t, std::map<std::uint64_t, Totals>> by_time_; // then by number
};

} // namespace

std::string counted_text(const RecordingInfo &info)
{
	std::string text = info.counted.ns ? "counted for " + duration_text(static_cast<double>(info.counted.ns))
					   : std::string("for how long was counted is unknown");
	if (info.counted.ns > info.recorder.wall_ns)
		text += fmt::format(": from when the probes were attached, {} before the recording began",
				    duration_text(static_cast<double>(info.counted.ns - info.recorder.wall_ns)));
	if (info.too_deep())
		text += fmt::format("; {} events in too many nested probes were lost, and are in no count",
				    info.too_deep());
	return text + '\n';
}

Table counts_table(const RecordingInfo &info)
{
	Table table;
	table.columns = {{"name", "count", Unit::text, 0, "its name"},
			 {"count", "events", Unit::count, 0, "for which the expression was true"},
			 {"per_second", "per second", Unit::ratio, 1, "how many that is in a second"},
			 {"expression", "expression", Unit::text, 2, "what was counted"}};
	for (const analyze::EventCount &count : info.counts) {
		const double seconds = seconds_of(info);
		const Cell rate = seconds > 0 ? Cell(static_cast<double>(count.count) / seconds) : Cell();
		table.rows.push_back({count.name, count.count, rate, count.expression});
	}
	return table;
}

Table counts_by_cpu(const RecordingInfo &info)
{
	Table table;
	table.columns = {{"cpu", "CPU", Unit::text, 0, "its number; programs: of no CPU"}};
	std::size_t cpus = 0;
	bool any_of_programs = false;
	for (const analyze::EventCount &count : info.counts) {
		table.columns.push_back(
		    {count.name, printable(count.name), Unit::count, 0, "events that were counted"});
		cpus = std::max(cpus, count.by_cpu.size());
		any_of_programs = any_of_programs || count.of_programs > 0;
	}
	for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
		auto &row = table.rows.emplace_back(1, std::to_string(cpu));
		for (const analyze::EventCount &count : info.counts)
			row.push_back(cpu < count.by_cpu.size() ? Cell(count.by_cpu[cpu]) : Cell());
	}
	if (!any_of_programs)
		return table;
	auto &row = table.rows.emplace_back(1, std::string("programs"));
	for (const analyze::EventCount &count : info.counts)
		row.push_back(count.of_programs);
	return table;
}

Table counts_by_time(trace::Trace &trace, const RecordingInfo &info)
{
	Table table;
	table.columns = {{"from_ns", "from", Unit::nanoseconds, 0, "where the interval begins"},
			 {"to_ns", "to", Unit::nanoseconds, 0, "where it ends"}};
	for (const analyze::EventCount &count : info.counts)
		table.columns.push_back(
		    {count.name, printable(count.name), Unit::count, 0, "events that were counted"});
	for (const analyze::EventTime &timed : info.times) {
		table.columns.push_back(
		    {timed.name, printable(timed.name), Unit::count, 0, "how many times were measured"});
		table.columns.push_back({timed.name + "_mean_ns", "mean", Unit::nanoseconds, 1, "of one"});
	}
	const Series counts(trace, "count", "count", {"total"}), times(trace, "timed", "timed", {"number", "total"});
	const Series &any = info.counts.empty() ? times : counts;
	if (any.by_time().size() < 2)
		throw Error("this recording has no series of counts: record --count or --time with --every TIME");
	const trace::Clock &clock = trace.description().clock;
	std::uint64_t from = info.counted.since.value_or(trace.begin_time());
	for (const auto &[time, unused] : any.by_time()) {
		auto &row = table.rows.emplace_back();
		row.emplace_back(static_cast<double>(trace.since_begin_ns(from)));
		row.emplace_back(static_cast<double>(trace.since_begin_ns(time)));
		for (std::size_t i = 0; i < info.counts.size(); ++i) {
			const auto grown = counts.growth(from, time, i);
			row.push_back(grown ? Cell((*grown)[0]) : Cell());
		}
		for (std::size_t i = 0; i < info.times.size(); ++i) {
			const auto grown = times.growth(from, time, i);
			row.push_back(grown ? Cell((*grown)[0]) : Cell());
			row.push_back(grown && (*grown)[0]
					  ? Cell(static_cast<double>((*grown)[1]) / static_cast<double>((*grown)[0]) *
						 1e9 / static_cast<double>(clock.frequency_hz))
					  : Cell());
		}
		from = time;
	}
	return table;
}

} // namespace monitor::report
