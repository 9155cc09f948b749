// SPDX-License-Identifier: MIT
#include "activities_table.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "measurements_table.h"

namespace monitor::report {
namespace {

using activities::ActivitySource;
using activities::Label;

Cell share(bool is_known, std::uint64_t part, std::uint64_t whole)
{
	if (!is_known || whole == 0)
		return {};
	return static_cast<double>(part) / static_cast<double>(whole) * 100;
}

const char *meaning_of(Label label, ActivitySource source)
{
	const bool is_sleep = source == ActivitySource::blocked;
	switch (label) {
	case Label::process:
	case Label::thread:
	case Label::command:
		return is_sleep ? "who slept" : "whose they are";
	case Label::call:
		return is_sleep
			   ? "the system call that it slept in; stopped, traced: in none, by a signal, by its tracer; "
			     "-: none, or not known"
			   : "the system call";
	case Label::waker:
		return "the thread or interrupt that ended the sleep; -: none did, or not known";
	case Label::activity:
		return "its name";
	case Label::argument:
		return "of the event that began it";
	case Label::caller:
		break;
	}
	return "the activity that it was directly inside of; -: none";
}

// Processes and threads also have a number column.
void add_label_columns(const activities::Grouping &grouping, std::vector<Column> &columns)
{
	for (const Label label : grouping.by) {
		const char *const name = name_of(label);
		columns.push_back({name, name, label == Label::argument ? Unit::count : Unit::text, 0,
				   meaning_of(label, grouping.source)});
		if (label == Label::process || label == Label::thread) {
			const char *const id = label == Label::process ? "pid" : "tid";
			columns.push_back({id, id, Unit::count, 4, "its number"});
		}
	}
}

void add_labels(const activities::Grouping &grouping, const activities::TotalsRow &activity, std::vector<Cell> &row)
{
	for (std::size_t i = 0; i < grouping.by.size(); ++i) {
		const std::string &text = activity.parts[i].text;
		const std::optional<std::uint64_t> &number = activity.parts[i].number;
		const Label label = grouping.by[i];
		if (label != Label::argument || !text.empty())
			row.emplace_back(text);
		if (label == Label::process || label == Label::thread || (label == Label::argument && text.empty()))
			row.push_back(cell_of(number));
	}
}

// Whether there is a column `left`: only functions can end without an exit.
bool shows_left(const activities::Totals &totals)
{
	return totals.grouping().source == ActivitySource::program && totals.has_functions();
}

void add_columns(const activities::Totals &totals, std::vector<Column> &columns)
{
	const activities::Grouping &grouping = totals.grouping();
	const bool is_sleep = grouping.source == ActivitySource::blocked;
	const auto add = [&](const char *key, const char *title, Unit unit, unsigned rank, const char *meaning) {
		columns.push_back({key, title, unit, rank, meaning});
	};
	add("count", "count", Unit::count, 1, "how many");
	if (shows_left(totals))
		add("left", "left", Unit::count, 6, "of these by an exception or a jump");
	if (grouping.source == ActivitySource::system_call)
		add("errors", "errors", Unit::count, 3, "of these with an error as their result");
	add("total_ns", "total", Unit::nanoseconds, 0,
	    is_sleep ? "time from going to sleep to being woken" : "time from begin to end, also when not running");
	std::ranges::move(duration_columns(), std::back_inserter(columns));
	if (is_sleep)
		add("transfer_ns", "wake-up to CPU", Unit::nanoseconds, 8,
		    "the time after these wake-ups, in all, until the thread had a CPU; -: not known of any");
	if (grouping.source != ActivitySource::program)
		return;
	add("exclusive_ns", "exclusive", Unit::nanoseconds, 3, "without the activities inside");
	add("cpu_percent", "CPU%", Unit::percent, 2, "of the total on a CPU");
	add("runnable_percent", "runnable%", Unit::percent, 4, "of the total ready to run without a CPU");
	add("blocked_percent", "blocked%", Unit::percent, 3, "of the total asleep");
	add("unknown_percent", "unkn%", Unit::percent, 8, "of the total that no token shows");
}

void add_shares(const activities::Span &total, const KnownShares &known, std::vector<Cell> &row)
{
	row.push_back(share(known.cpu, total.cpu, total.ticks));
	row.push_back(share(known.waiting, total.waiting, total.ticks));
	row.push_back(share(known.waiting, total.blocked, total.ticks));
	const std::uint64_t rest = known.waiting ? total.unknown() : total.ticks - total.cpu;
	row.push_back(share(known.cpu, rest, total.ticks));
}

// Of another tracer's trace.
const char *why_no_events(const analyze::EventKinds &kinds, bool of_calls)
{
	if (of_calls && !kinds.has_calls())
		return "this trace has no entries and exits of system calls, from which this table is made (LTTng: "
		       "syscall_entry_*, syscall_exit_*; perf: raw_syscalls:sys_enter, raw_syscalls:sys_exit)";
	if (!of_calls && !kinds.has(analyze::EventMeaning::sched_waking))
		return "this trace has no sched_waking events, so it does not show how long a thread slept and who "
		       "ended that";
	return "";
}

} // namespace

std::string why_no_states(const analyze::RecordingInfo &info, const analyze::EventKinds &kinds, bool of_calls)
{
	if (!info.present)
		return why_no_events(kinds, of_calls);
	const std::string names =
	    of_calls ? info.partial_of({"sys_enter", "sys_exit"}) : info.partial_of({"sched_waking"});
	if (!names.empty())
		return fmt::format("the recording's --filter left out events of {}, from which this table is made; "
				   "`monitor list` and `monitor stat` show those that it kept",
				   names);
	if (of_calls && (!info.has_program("sys_enter") || !info.has_program("sys_exit")))
		return "this recording has no system calls: record the family syscall";
	if (!of_calls && !info.has_program("sched_waking"))
		return "this recording does not show what was waited for: record the family sched";
	return "";
}

KnownShares known_shares(const analyze::RecordingInfo &info)
{
	const bool switches = !info.present || info.has_program("sched_switch");
	return {switches, switches && (!info.present || info.has_program("sched_waking"))};
}

Table activities_table(const activities::Totals &totals, const std::vector<activities::TotalsRow> &rows,
		       const trace::Clock &clock, const KnownShares &known, const analyze::CountersInfo *counters)
{
	const activities::Grouping &grouping = totals.grouping();
	Table table;
	table.columns = {recorded_column()};
	add_label_columns(grouping, table.columns);
	add_columns(totals, table.columns);
	table.figure = {"total_ns", grouping.source == ActivitySource::program ? "unknown_percent" : ""};
	if (counters && counters->user_id)
		table.columns.push_back(
		    {"counted", "counted", Unit::text, 9, "at its boundaries, or between readings inside it"});
	if (counters)
		add_measurement_columns(*counters, table.columns);
	for (const activities::TotalsRow &activity : rows) {
		std::vector<Cell> row = {activity.in_tree};
		add_labels(grouping, activity, row);
		row.push_back(activity.count);
		if (shows_left(totals))
			row.push_back(activity.left);
		if (grouping.source == ActivitySource::system_call)
			row.push_back(activity.errors);
		for (const std::uint64_t ticks : {activity.total.ticks, activity.mean})
			row.push_back(activity.is_timed ? Cell(clock.to_ns(ticks)) : Cell());
		for (const std::uint64_t ticks : {activity.p50, activity.p99, activity.max})
			row.push_back(activity.has_lengths ? Cell(clock.to_ns(ticks)) : Cell());
		if (grouping.source == ActivitySource::blocked)
			row.push_back(activity.transfers ? Cell(clock.to_ns(activity.transfer)) : Cell());
		if (grouping.source == ActivitySource::program) {
			row.push_back(clock.to_ns(activity.exclusive));
			add_shares(activity.total, known, row);
		}
		if (counters && counters->user_id)
			row.emplace_back(std::string(activity.at_boundaries ? "at boundaries" : "inside"));
		if (counters)
			add_measurements(*counters, activity.counted, clock, row);
		table.rows.push_back(std::move(row));
	}
	return table;
}

std::string how_counted_text(const analyze::CountersInfo &counters, const Table &table)
{
	const bool some_at_boundaries = std::ranges::any_of(table.rows, [](const auto &row) {
		return std::ranges::find(row, Cell(std::string("at boundaries"))) != row.end();
	});
	const std::string inside = "those between readings inside it; record with --every for more";
	if (counters.user_id == 0)
		return fmt::format("an activity's counts are {} (none at its boundaries: {})\n", inside,
				   counters.user_refused.empty() ? "not recorded" : counters.user_refused);
	if (!some_at_boundaries)
		return fmt::format("an activity's counts are {} (the programs could not open counters of their own)\n",
				   inside);
	return fmt::format(
	    "counted: `at boundaries`, by the program where the activity begins and ends ({}); or\n"
	    "`inside`, {}. counting%: share of the time, where not all have counters at their boundaries\n",
	    counters.sets.size() > 1 ? "the first set of counters; the others inside" : "exactly", inside);
}

std::string unpaired_text(const activities::Totals &totals)
{
	const activities::Unpaired &unpaired = totals.unpaired();
	std::string text;
	if (unpaired.begins || unpaired.ends)
		text = fmt::format("unpaired: {} begins without an end, {} ends without a begin; they are in no row\n",
				   count_text(unpaired.begins), count_text(unpaired.ends));
	if (const std::uint64_t uncertain = totals.uncertain())
		text += fmt::format("{} overlap: their arguments do not tell which of several an end belongs to; p50, "
				    "p99 and max are without them, exclusive takes them for nested\n",
				    count_text(uncertain));
	if (totals.resumed())
		text += fmt::format("{} functions went on after they were taken for left: their threads have several "
				    "stacks, as fibers have, which is only known since then\n",
				    count_text(totals.resumed()));
	if (totals.left_out())
		text += fmt::format("{} activities are in no row, as there would be more than {} rows\n",
				    count_text(totals.left_out()), count_text(activities::Totals::max_rows));
	return text;
}

std::string unpaired_json(const activities::Totals &totals)
{
	return fmt::format(R"({{"begins": {}, "ends": {}, "left_out": {}}})", totals.unpaired().begins,
			   totals.unpaired().ends, totals.left_out());
}

namespace {

constexpr std::size_t max_named = 5, max_left_out = 10;

std::string function_name(const analyze::RecordingInfo &info, const analyze::FunctionLeftOut &left_out)
{
	return left_out.function < info.functions.chosen.size() ? info.functions.chosen[left_out.function].name : "?";
}

// When the function was left out, since the start of the recording.
double seconds_in(const analyze::RecordingInfo &info, const analyze::FunctionLeftOut &left_out,
		  const trace::Clock &clock)
{
	const std::uint64_t start = std::min(info.start_time().value_or(0), left_out.time);
	return static_cast<double>(clock.to_ns(left_out.time - start)) / 1e9;
}

std::vector<std::string> never_patched(const activities::PatchedFunctions &patched_functions,
				       const analyze::RecordingInfo &info)
{
	std::vector<std::string> names;
	for (std::size_t number = 0; number < info.functions.chosen.size(); ++number)
		if (info.functions.chosen[number].is_patched() && !patched_functions.is_patched(number))
			names.push_back(info.functions.chosen[number].name);
	return names;
}

// In ns, of all events; nullopt: not calibrated.
std::optional<double> cost_of(const activities::PatchedFunctions &patched_functions, const analyze::RecordingInfo &info)
{
	if (!info.calibration)
		return {};
	const auto cost = info.calibration->start.find("patched");
	if (cost == info.calibration->start.end() || cost->second.rounds == 0)
		return {};
	return cost->second.median * static_cast<double>(patched_functions.events());
}

} // namespace

std::string call_cost_text(const analyze::RecordingInfo &info)
{
	std::string text;
	for (const auto &[what, method, is_patched] :
	     {std::tuple("function", "probed", false), std::tuple("patched", "patched", true)}) {
		const bool any =
		    std::ranges::any_of(info.functions.chosen, [is_patched = is_patched](const auto &function) {
			    return function.is_patched() == is_patched;
		    });
		const auto cost =
		    info.calibration ? info.calibration->start.find(what) : analyze::CalibratedCosts::const_iterator();
		if (any && info.calibration && cost != info.calibration->start.end() && cost->second.rounds > 0)
			text += fmt::format("a call of a {} function takes {:.0f} to {:.0f} ns longer; part of that is "
					    "in the times above\n",
					    method, 2 * cost->second.low, 2 * cost->second.high);
	}
	return text;
}

std::string left_out_text(const analyze::RecordingInfo &info, const trace::Clock &clock)
{
	std::string text;
	for (std::size_t i = 0; i < std::min(info.functions.budget.left_out.size(), max_left_out); ++i) {
		const analyze::FunctionLeftOut &left_out = info.functions.budget.left_out[i];
		text += fmt::format("left out by the budget of {:.3g} %: {} from {:.2f} s on; its {} events in the "
				    "{:.2f} s before took {:.1f} % of the CPU time\n",
				    info.functions.budget.percent.value_or(0), function_name(info, left_out),
				    seconds_in(info, left_out, clock), count_text(left_out.events), left_out.seconds,
				    left_out.percent);
	}
	if (info.functions.budget.left_out.size() > max_left_out)
		text += fmt::format("and {} functions more\n", info.functions.budget.left_out.size() - max_left_out);
	return text;
}

std::string left_out_json(const analyze::RecordingInfo &info, const trace::Clock &clock)
{
	auto json = nlohmann::ordered_json::array();
	for (const analyze::FunctionLeftOut &left_out : info.functions.budget.left_out)
		json.push_back({{"name", function_name(info, left_out)},
				{"time_s", seconds_in(info, left_out, clock)},
				{"before_s", left_out.seconds},
				{"events", left_out.events},
				{"percent", left_out.percent}});
	return json_dump(json);
}

std::string patched_functions_text(const activities::PatchedFunctions &patched_functions,
				   const analyze::RecordingInfo &info)
{
	std::string text;
	if (std::vector<std::string> names = never_patched(patched_functions, info); !names.empty()) {
		const std::size_t rest = names.size() - std::min(names.size(), max_named);
		names.resize(names.size() - rest);
		text = fmt::format(
		    "patched in no process, as none that inherited LD_PRELOAD started with their files: {}{}\n",
		    fmt::join(names, ", "), rest ? fmt::format(" and {} more", rest) : "");
	}
	if (patched_functions.refused_sleds())
		text += fmt::format("{} sleds could not be patched, as their process may not write code or has other "
				    "code there: the calls of their functions are missing\n",
				    count_text(patched_functions.refused_sleds()));
	const std::optional<double> ns = cost_of(patched_functions, info);
	if (patched_functions.events())
		text += fmt::format("patched functions: {} events{}\n", count_text(patched_functions.events()),
				    ns ? fmt::format(", which took about {} in all", duration_text(*ns))
				       : "; what they took is unknown");
	return text;
}

std::string patched_functions_json(const activities::PatchedFunctions &patched_functions,
				   const analyze::RecordingInfo &info)
{
	nlohmann::ordered_json json{{"never_patched", never_patched(patched_functions, info)},
				    {"refused_sleds", patched_functions.refused_sleds()},
				    {"events", patched_functions.events()},
				    {"events_ns", nullptr}};
	if (const auto ns = cost_of(patched_functions, info))
		json["events_ns"] = *ns;
	return json_dump(json);
}

} // namespace monitor::report
