// SPDX-License-Identifier: MIT
#include "triggers_table.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/escape.h"
#include "base/json.h"
#include "base/text.h"
#include "reading/events/field_ref.h"

namespace monitor::report {

std::string event_text(const trace::Event &event)
{
	std::string text = event.cls->name;
	for (const trace::Field &field : event.cls->fields) {
		const trace::FieldRef value(*event.cls, field);
		if (const std::string *label = value.label(event))
			text += fmt::format(" {}={}", field.name, *label);
		else if (field.kind == trace::FieldKind::signed_integer)
			text += fmt::format(" {}={}", field.name, value.get<std::int64_t>(event));
		else if (field.is_integer() && field.base == 16)
			text += fmt::format(" {}={:#x}", field.name, value.get(event));
		else if (field.is_integer())
			text += fmt::format(" {}={}", field.name, value.get(event));
		else
			text += fmt::format(" {}={}", field.name, readable(value.get<std::string_view>(event)));
	}
	return text;
}

Table triggers_table(const std::vector<FiringRow> &rows, const trace::Trace &trace)
{
	Table table;
	table.columns = {
	    {"time_ns", "time", Unit::instant, 0, "when it fired, in s since the start of the trace"},
	    {"trigger", "trigger", Unit::text, 0, "its name"},
	    {"cpu", "CPU", Unit::count, 3, "where; -: at an event of a program"},
	    {"tid", "tid", Unit::count, 2, "the thread that ran"},
	    {"thread", "thread", Unit::text, 1, "its name"},
	    {"cause", "cause", Unit::text, 0, "the event that fired it; -: time did"},
	    {"since_ns", "since", Unit::nanoseconds, 2, "the first event, or the first of a number of them"},
	    {"key", "key", Unit::text, 1, "what the events have in common"}};
	const bool any_marks = std::ranges::any_of(rows, [](const FiringRow &row) { return !row.mark.empty(); });
	if (any_marks)
		table.columns.push_back({"mark", "mark", Unit::text, 1, "the text of the trigger's mark"});
	const bool any_samples = std::ranges::any_of(rows, [](const FiringRow &row) { return row.spread.has_value(); });
	if (any_samples)
		table.columns.push_back({"spread_ns", "spread of sample", Unit::nanoseconds, 4,
					 "time between the first and the last CPU's part"});
	const trace::Clock &clock = trace.description().clock;
	for (const FiringRow &row : rows) {
		const trigger::Fired &fired = row.fired;
		auto &cells = table.rows.emplace_back();
		cells.emplace_back(static_cast<double>(trace.since_begin_ns(fired.time)));
		cells.emplace_back(row.name);
		cells.push_back(fired.cpu == EDC_CPU_UNKNOWN ? Cell() : Cell(std::uint64_t(fired.cpu)));
		cells.push_back(fired.tid < 0 ? Cell() : Cell(static_cast<std::uint64_t>(fired.tid)));
		cells.push_back(cell_of(row.thread));
		cells.push_back(cell_of(row.cause));
		cells.push_back(
		    fired.began ? Cell(static_cast<double>(clock.to_ns(fired.time - std::min(fired.time, fired.began))))
				: Cell());
		cells.push_back(row.has_key ? Cell(std::to_string(static_cast<std::int64_t>(fired.key))) : Cell());
		if (any_marks)
			cells.push_back(cell_of(row.mark));
		if (any_samples)
			cells.push_back(row.spread ? Cell(static_cast<double>(clock.to_ns(*row.spread))) : Cell());
	}
	return table;
}

std::string triggers_notes(const analyze::RecordingInfo &info)
{
	std::string text;
	const auto times = [](std::uint64_t number) {
		return number == 1 ? std::string("once") : count_text(number) + " times";
	};
	for (const analyze::TriggerInfo &trigger : info.triggers) {
		text += fmt::format("{}: {} => {}\n", printable(trigger.name), printable(trigger.when),
				    printable(trigger.what));
		if (!trigger.fired || (!info.complete() && !info.flight)) {
			text += "  how often it fired is unknown: the recording was not completed\n";
			continue;
		}
		text += *trigger.fired ? "  fired " + times(*trigger.fired) : std::string("  did not fire");
		if (info.flight)
			text += " since the flight recorder started";
		if (trigger.reaction_median_ns && trigger.reaction_p99_ns && trigger.reaction_max_ns)
			text += fmt::format("; the recorder knew after {} (median; 99 % {}, at most {})",
					    duration_text(static_cast<double>(*trigger.reaction_median_ns)),
					    duration_text(static_cast<double>(*trigger.reaction_p99_ns)),
					    duration_text(static_cast<double>(*trigger.reaction_max_ns)));
		if (trigger.delivered && *trigger.delivered < *trigger.fired)
			text += fmt::format("; the recorder did not learn of {} of these, which came too fast",
					    count_text(*trigger.fired - *trigger.delivered));
		if (trigger.samples && (*trigger.samples || trigger.samples_left_out.value_or(0)))
			text +=
			    fmt::format("; {} samples of all CPUs (monitor report DIR samples), {} left out because "
					"they were asked for too soon after the one before",
					count_text(*trigger.samples), count_text(trigger.samples_left_out.value_or(0)));
		if (trigger.runs && (*trigger.runs || trigger.runs_left_out.value_or(0)))
			text += fmt::format("; commands: {} started, {} failed, {} still running at the end, {} left "
					    "out because one was running or too many had been started",
					    count_text(*trigger.runs), count_text(trigger.runs_failed.value_or(0)),
					    count_text(trigger.running.value_or(0)),
					    count_text(trigger.runs_left_out.value_or(0)));
		if (trigger.signals && (*trigger.signals || trigger.signals_refused.value_or(0)))
			text += fmt::format("; signals: {} sent, {} refused", count_text(*trigger.signals),
					    count_text(trigger.signals_refused.value_or(0)));
		text += "\n";
	}
	if (info.triggers_without_token)
		text += fmt::format("{} firings by events of programs have no token: too many came at once\n",
				    count_text(info.triggers_without_token));
	if (info.triggers_forgotten)
		text += fmt::format("{} first events were forgotten, because too many waited for a second one\n",
				    count_text(info.triggers_forgotten));
	return text;
}

std::string triggers_json(const analyze::RecordingInfo &info)
{
	auto all = nlohmann::ordered_json::array();
	for (const analyze::TriggerInfo &trigger : info.triggers)
		all.push_back({{"name", trigger.name},
			       {"when", trigger.when},
			       {"do", trigger.what},
			       {"fired", or_null(trigger.fired)},
			       {"told", or_null(trigger.delivered)},
			       {"reaction_median_ns", or_null(trigger.reaction_median_ns)},
			       {"reaction_p99_ns", or_null(trigger.reaction_p99_ns)},
			       {"reaction_max_ns", or_null(trigger.reaction_max_ns)},
			       {"samples", or_null(trigger.samples)},
			       {"samples_left_out", or_null(trigger.samples_left_out)},
			       {"runs", or_null(trigger.runs)},
			       {"runs_failed", or_null(trigger.runs_failed)},
			       {"runs_running", or_null(trigger.running)},
			       {"runs_left_out", or_null(trigger.runs_left_out)},
			       {"signals", or_null(trigger.signals)},
			       {"signals_refused", or_null(trigger.signals_refused)}});
	return json_dump(all);
}

} // namespace monitor::report
