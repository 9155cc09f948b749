// SPDX-License-Identifier: MIT
#include "virtual_table.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/grow.h"

namespace monitor::report {
namespace {

using cost::Bound;
using cost::bounds;

struct TimeColumns {
	const char *key, *title;
};

constexpr TimeColumns time_columns[] = {{"cpu", "CPU time"}, {"waiting", "runnable"}, {"blocked", "blocked"}};
constexpr const char *range_title = "range";

Cell whole_ns(const std::optional<double> &ns)
{
	return ns ? Cell(static_cast<std::uint64_t>(*ns + 0.5)) : Cell();
}

void add_cells(std::vector<Cell> &row, const VirtualTime &time, bool is_measured = true)
{
	const auto measured = is_measured ? std::optional(time.measured) : std::nullopt;
	for (const std::optional<double> &ns : {measured, time.value, time.low, time.high})
		row.push_back(whole_ns(ns));
}

std::string range_text(double low_ns, double high_ns)
{
	return duration_text(low_ns) + " to " + duration_text(high_ns);
}

nlohmann::ordered_json time_json(const VirtualTime &time)
{
	const auto whole = [](const std::optional<double> &ns) {
		return ns ? nlohmann::ordered_json(static_cast<std::uint64_t>(*ns + 0.5))
			  : nlohmann::ordered_json(nullptr);
	};
	return {{"measured_ns", whole(time.measured)},
		{"virtual_ns", whole(time.value)},
		{"low_ns", whole(time.low)},
		{"high_ns", whole(time.high)}};
}

} // namespace

// In ticks.
struct VirtualReport::Sum {
	analyze::Usage usage;
	std::array<double, bounds> running{}, waiting{}, blocked{}; // removed, by Bound

	// `used`: the thread's usage, or that in one cgroup, which gets its share of what is removed. Virtual clocks do
	// not distinguish waiting and throttled.
	void add(const analyze::Thread &thread, const analyze::Usage &used, const cost::VirtualTimes &times)
	{
		const auto share = [](double removed, std::uint64_t part, std::uint64_t all) {
			return part == all ? removed : removed * static_cast<double>(part) / static_cast<double>(all);
		};
		const analyze::Usage &all = thread.usage;
		usage += used;
		usage.waiting += used.throttled;
		for (std::size_t i = 0; i < bounds; ++i) {
			const cost::RemovedTimes removed = times.removed(thread, static_cast<Bound>(i));
			running[i] += share(removed.running, used.cpu(), all.cpu());
			waiting[i] +=
			    share(removed.waiting, used.waiting + used.throttled, all.waiting + all.throttled);
			blocked[i] += share(removed.blocked, used.blocked, all.blocked);
		}
	}
};

VirtualTime VirtualReport::time_of(std::uint64_t measured, const std::array<double, bounds> &removed,
				   bool is_known) const
{
	VirtualTime time{static_cast<double>(clock_.to_ns(measured))};
	if (!is_known)
		return time;
	const double ns_per_tick = 1e9 / static_cast<double>(clock_.frequency_hz);
	std::array<double, bounds> left;
	std::ranges::transform(removed, left.begin(),
			       [&](double ticks) { return std::max(0.0, time.measured - ticks * ns_per_tick); });
	time.value = left[static_cast<std::size_t>(Bound::middle)];
	time.low = std::max(0.0, *std::ranges::min_element(left) - *time.value * noise());
	time.high = *std::ranges::max_element(left) + *time.value * noise();
	return time;
}

VirtualRow VirtualReport::row_of(const Sum &sum) const
{
	const auto cpu = static_cast<double>(sum.usage.cpu());
	VirtualRow row;
	row.overhead = cpu > 0 ? sum.running[static_cast<std::size_t>(Bound::middle)] / cpu : 0;
	const bool is_known = !row.is_refused();
	row.cpu = time_of(sum.usage.cpu(), sum.running, is_known);
	row.waiting = time_of(sum.usage.waiting, sum.waiting, is_known && with_wakings_);
	row.blocked = time_of(sum.usage.blocked, sum.blocked, is_known && with_wakings_);
	return row;
}

VirtualReport::VirtualReport(const analyze::ThreadFold &fold, const cost::VirtualTimes &times,
			     const cost::VirtualCost &cost, const trace::Clock &clock, const UsageOptions &options)
    : cost_(cost), clock_(clock),
      // Required because a sleep's virtual length depends on whether a thread or a device ended it.
      with_wakings_(options.recorded.wakings && options.recorded.interrupts && options.recorded.softirqs)
{
	Grouping grouping(fold, options.grouping);
	std::vector<Sum> sums;
	Sum of_command;
	bool any_command = false;
	double of_others = 0, waited = 0;
	for (const analyze::Thread &thread : fold.threads()) {
		if (thread.tid == 0 || times.is_recorder(thread))
			continue;
		if (thread.in_tree) {
			any_command = true;
			of_command.add(thread, thread.usage, times);
			waited += times.waited_for_others(thread);
		} else {
			of_others += static_cast<double>(thread.usage.cpu());
		}
		if (!thread.selected)
			continue;
		fold.visit_cgroups(thread, [&](std::uint64_t cgroup, const analyze::Usage &usage) {
			const std::size_t row = grouping.row_of(thread, cgroup);
			grow_to(sums, row).add(thread, usage, times);
		});
	}
	const auto all = static_cast<double>((fold.window_end() - fold.window_begin()) * fold.cpus().size());
	others_ = all > 0 ? of_others / all : 0;
	table_.columns = grouping.columns();
	std::ranges::move(virtual_columns(), std::back_inserter(table_.columns));
	std::vector<std::size_t> order(sums.size());
	std::iota(order.begin(), order.end(), std::size_t{0});
	std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return sums[i].usage.cpu(); });
	for (const std::size_t i : order)
		add_row(grouping, grouping.rows()[i], sums[i], options.with_sleepers);
	if (!any_command)
		return;
	command_ = {row_of(of_command), {}};
	if (const auto elapsed = times.elapsed(); elapsed && with_wakings_) {
		std::array<double, bounds> removed;
		std::ranges::transform(elapsed->compensated, removed.begin(),
				       [&](double ticks) { return elapsed->measured - ticks; });
		command_->waited_ns = waited * 1e9 / static_cast<double>(clock_.frequency_hz);
		command_->elapsed =
		    time_of(static_cast<std::uint64_t>(elapsed->measured), removed, !command_->row.is_refused());
		if (VirtualTime &time = *command_->elapsed; time.value) {
			*time.low = std::max(0.0, *time.low - command_->waited_ns);
			*time.high += command_->waited_ns;
		}
	}
}

void VirtualReport::add_row(const Grouping &grouping, const Grouping::Row &of, const Sum &sum, bool with_sleepers)
{
	const bool is_idle = sum.usage.cpu() == 0 && sum.usage.voluntary + sum.usage.involuntary == 0;
	if (is_idle && !of.hidden && !(with_sleepers && sum.usage.waiting + sum.usage.blocked > 0))
		return;
	std::vector<Cell> cells = grouping.cells(of);
	if (of.hidden) {
		cells.resize(table_.columns.size());
		table_.rows.push_back(std::move(cells));
		return;
	}
	const VirtualRow row = row_of(sum);
	refused_ += row.is_refused();
	add_cells(cells, row.cpu);
	cells.push_back(sum.usage.cpu() ? Cell(row.overhead * 100) : Cell());
	add_cells(cells, row.waiting, with_wakings_);
	add_cells(cells, row.blocked, with_wakings_);
	table_.rows.push_back(std::move(cells));
}

std::vector<Column> virtual_columns()
{
	std::vector<Column> columns;
	for (const auto &[key, title] : time_columns) {
		const std::string name = key;
		const unsigned rank = name == "cpu" ? 0 : name == "waiting" ? 2 : 4;
		columns.push_back({name + "_ns", title, Unit::nanoseconds, rank, "as measured"});
		columns.push_back({"virtual_" + name + "_ns", "virtual", Unit::nanoseconds, rank,
				   "as if nobody had measured; -: not known"});
		columns.push_back({"virtual_" + name + "_low_ns", range_title, Unit::nanoseconds, rank + 1,
				   "that the time without measuring is in"});
		columns.push_back({"virtual_" + name + "_high_ns", "", Unit::nanoseconds});
		if (name == "cpu")
			columns.push_back(
			    {"overhead_percent", "probes%", Unit::percent, 1, "of the CPU time that measuring took"});
	}
	return columns;
}

Table with_ranges(const Table &table)
{
	Table text;
	for (std::size_t i = 0; i < table.columns.size(); ++i) {
		const bool is_range = table.columns[i].title == range_title;
		text.columns.push_back(table.columns[i]);
		if (is_range)
			text.columns.back().unit = Unit::text;
		i += is_range;
	}
	for (const auto &row : table.rows) {
		auto &cells = text.rows.emplace_back();
		for (std::size_t i = 0; i < table.columns.size(); ++i) {
			if (table.columns[i].title != range_title) {
				cells.push_back(row[i]);
				continue;
			}
			const auto low = number_of(row[i]), high = number_of(row[i + 1]);
			cells.push_back(low && high ? Cell(range_text(*low, *high)) : Cell());
			++i;
		}
	}
	return text;
}

std::string virtual_command_text(const VirtualReport &report)
{
	if (!report.command())
		return "";
	const auto text = [](const char *what, const VirtualTime &time) {
		return time.value ? fmt::format("{} {}, without measuring {} ({})", what, duration_text(time.measured),
						duration_text(*time.value), range_text(*time.low, *time.high))
				  : fmt::format("{} {}, without measuring unknown", what, duration_text(time.measured));
	};
	const VirtualCommand &command = *report.command();
	return "the command and its descendants: " + text("CPU time", command.row.cpu) +
	       (command.elapsed ? "\nthe command: " + text("elapsed", *command.elapsed)
				: "\nthe command's elapsed time is unknown: it had not ended, or wakings, interrupts "
				  "or softirqs were not recorded") +
	       "\n";
}

std::string virtual_notes(const VirtualReport &report, const cost::VirtualCost &cost,
			  const analyze::RecordingInfo &info)
{
	std::string text = fmt::format("virtual: as if nobody had measured. Its range: {}; runs that nobody measures "
				       "differ by {:.0f} %, as others had {:.0f} % of the CPUs",
				       fmt::join(cost.reasons, "; "), report.noise() * 100, report.others() * 100);
	if (report.command() && report.command()->waited_ns > 0)
		text += fmt::format(
		    "; the command waited {} for CPUs that others had, which makes the range of its elapsed time wider",
		    duration_text(report.command()->waited_ns));
	text += "\nThe recorder's own threads are left out.\n";
	const bool is_command_refused = report.command() && report.command()->row.is_refused();
	if (report.refused() || is_command_refused)
		text += fmt::format("More than {:.0f} % of the CPU time of {} was the probes': what is left of that is "
				    "not known well enough. Record fewer kinds of events (-e).\n",
				    cost::max_overhead * 100,
				    report.refused()
					? fmt::format("{} {}", report.refused(), report.refused() == 1 ? "row" : "rows")
					: "the command");
	if (info.user_card && info.user_card->tokens)
		text += "Programs' own events are taken for a part of the programs: what they cost stays.\n";
	return text;
}

nlohmann::ordered_json virtual_json(const VirtualReport &report, const cost::VirtualCost &cost)
{
	nlohmann::ordered_json json = {{"command", nullptr},
				       {"range", cost.reasons},
				       {"noise_percent", report.noise() * 100},
				       {"others_percent", report.others() * 100}};
	if (report.command()) {
		const VirtualCommand &command = *report.command();
		json["command"] = {
		    {"cpu", time_json(command.row.cpu)},
		    {"waiting", time_json(command.row.waiting)},
		    {"blocked", time_json(command.row.blocked)},
		    {"elapsed", command.elapsed ? time_json(*command.elapsed) : nlohmann::ordered_json(nullptr)},
		    {"overhead_percent", command.row.overhead * 100},
		    {"waited_for_others_ns", static_cast<std::uint64_t>(command.waited_ns)}};
	}
	return json;
}

} // namespace monitor::report
