// SPDX-License-Identifier: MIT
#include "counted.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/escape.h"
#include "reading/analyze/feed.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::diff {
namespace {

struct CountedSide {
	std::map<std::string, std::uint64_t> counts; // by the event's name
	double seconds = 0;
	std::uint64_t lossy = 0; // periods

	report::Cell rate(const std::string &name) const
	{
		const auto found = counts.find(name);
		return found == counts.end() || seconds <= 0
			   ? report::Cell()
			   : report::Cell(static_cast<double>(found->second) / seconds);
	}
};

void add_recording(CountedSide &side, trace::Trace trace, const Part &part)
{
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	analyze::Scope scope;
	scope.range = analyze::whole_periods(trace, info, range_of(part, trace, analyze::window_of(trace, info)));
	analyze::ThreadFold fold(trace, info, scope);
	analyze::feed(trace, fold);
	const trace::Description &description = trace.description();
	for (const auto &cls : description.classes())
		if (const auto counted = fold.periods().events.find(static_cast<std::uint32_t>(cls->id));
		    counted != fold.periods().events.end())
			side.counts[cls->name] += counted->second;
	side.seconds += static_cast<double>(description.clock.to_ns(fold.periods().ticks)) / 1e9;
	side.lossy += fold.periods().lossy;
}

report::Cell combined(const report::Cell &a, const report::Cell &b, const auto &make)
{
	const std::optional<double> before = report::number_of(a), after = report::number_of(b);
	return before && after ? make(*before, *after) : report::Cell();
}

} // namespace

bool have_counts_only(const std::vector<Part> &before, const std::vector<Part> &after)
{
	std::optional<Part> counted, timed;
	for (const std::vector<Part> *side : {&before, &after})
		for (const Part &part : *side) {
			const trace::Trace trace = trace::Trace::open(part.directory);
			(analyze::recording_of(trace).has_counts_only() ? counted : timed) = part;
		}
	if (counted && timed)
		throw Error(
		    "{} has only the numbers of events (--count-only), {} has times: record both in the same way",
		    printable(counted->text()), printable(timed->text()));
	return counted.has_value();
}

ComparedCounts compare_counts(const std::vector<Part> &before, const std::vector<Part> &after,
			      const std::function<trace::Trace(const std::string &)> &open)
{
	CountedSide sides[2];
	for (std::size_t i = 0; i < 2; ++i)
		for (const Part &part : i == 0 ? before : after)
			add_recording(sides[i], open(part.directory), part);
	std::map<std::string, std::uint64_t> names = sides[0].counts;
	names.insert(sides[1].counts.begin(), sides[1].counts.end());
	ComparedCounts compared;
	compared.table.columns = {{"event", "event", report::Unit::text},
				  {"before_per_second", "before/s", report::Unit::ratio},
				  {"after_per_second", "after/s", report::Unit::ratio},
				  {"change_per_second", "change/s", report::Unit::ratio},
				  {"ratio", "ratio", report::Unit::ratio}};
	for (const auto &[name, any] : names) {
		const report::Cell a = sides[0].rate(name), b = sides[1].rate(name);
		compared.table.rows.push_back(
		    {name, a, b, combined(a, b, [](double x, double y) { return report::Cell(y - x); }),
		     combined(a, b, [](double x, double y) { return x > 0 ? report::Cell(y / x) : report::Cell(); })});
	}
	std::ranges::stable_sort(compared.table.rows, [](const auto &a, const auto &b) {
		const auto size = [](const auto &row) {
			const std::optional<double> change = report::number_of(row[3]);
			return change ? std::abs(*change) : -1.0; // unknown ones last
		};
		return size(a) > size(b);
	});
	for (std::size_t i = 0; i < 2; ++i)
		if (sides[i].lossy)
			compared.notes.push_back(
			    fmt::format("events were lost in {} periods of {}: its numbers are too small",
					sides[i].lossy, i == 0 ? "BEFORE" : "AFTER"));
	compared.notes.emplace_back(
	    "only the numbers of events were recorded (--count-only), so no times are compared");
	return compared;
}

} // namespace monitor::diff
