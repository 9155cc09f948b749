// SPDX-License-Identifier: MIT
// `monitor trigger FILE [DIR]`: checks triggers without recording. --explain: which events they evaluate, and at what
// cost. With a trace: when they would have fired. Exit code 1: invalid triggers, or the recording had the same triggers
// and they fired differently.
#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "answers/matcher/judgement_cost.h"
#include "answers/report/table.h"
#include "answers/report/triggers_table.h"
#include "answers/trigger/rehearsal.h"
#include "answers/trigger/trigger_text.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/json.h"
#include "commands.h"
#include "common_options.h"
#include "matching.h"
#include "open.h"
#include "problems.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/merge.h"
#include "recording/session/metadata.h"
#include "terminal.h"

namespace monitor {
namespace {

using trigger::Fired;

struct TriggerArguments {
	std::string triggers, directory;
	bool explains = false, json = false;
	std::size_t top = report::rows_in_text;
};

std::string number_text(std::size_t number, const char *what)
{
	return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

void explain(const std::vector<NamedTrigger> &triggers, const EventMatcher &matcher)
{
	report::Table table;
	table.columns = {{"trigger", "trigger", report::Unit::text},
			 {"input", "event", report::Unit::text},
			 {"class", "class", report::Unit::text},
			 {"values", "decided by", report::Unit::text},
			 {"cost_ns", "ns per event", report::Unit::ratio}};
	for (std::size_t input = 0; input < 2 * triggers.size(); ++input)
		for (const EventMatcher::Class &cls : matcher.classes) {
			if (!(cls.belongs >> (EDC_FIRST_INPUT + input) & 1))
				continue;
			const std::vector<report::Cell> row = {
			    triggers[input / 2].name, std::string(input % 2 ? "second" : "first"), cls.name,
			    cls.values.empty() ? "all of them" : fmt::format("{}", fmt::join(cls.values, ", ")),
			    matcher::judgement_ns(matcher, cls.id)};
			// a name may stand for a short and a long form of an event
			const bool is_known = std::ranges::any_of(table.rows, [&](const auto &other) {
				return std::equal(row.begin(), row.begin() + 4, other.begin());
			});
			if (!is_known)
				table.rows.push_back(row);
		}
	fmt::print("\n{}\nns per event: of this class, here and now, whether or not it fires; a firing stores a token "
		   "besides. Events of\nother classes take no longer than without triggers.\n",
		   report::to_text(table, terminal_width()));
}

void print_triggers(const std::vector<NamedTrigger> &triggers, const EventMatcher &matcher,
		    const TriggerArguments &arguments)
{
	if (arguments.json) {
		auto all = nlohmann::ordered_json::array();
		for (std::size_t i = 0; i < triggers.size(); ++i) {
			auto classes = nlohmann::ordered_json::array();
			for (const EventMatcher::Class &cls : matcher.classes)
				for (const std::size_t input : {2 * i, 2 * i + 1})
					if (cls.belongs >> (EDC_FIRST_INPUT + input) & 1) {
						classes.push_back({{"name", cls.name},
								   {"event", input % 2 ? "second" : "first"},
								   {"values", cls.values}});
						if (arguments.explains)
							classes.back()["cost_ns"] =
							    matcher::judgement_ns(matcher, cls.id);
					}
			all.push_back({{"name", triggers[i].name},
				       {"when", triggers[i].when},
				       {"do", triggers[i].what},
				       {"classes", classes}});
		}
		return fmt::print("{}\n", json_dump(all, 1));
	}
	for (const NamedTrigger &trigger : triggers)
		fmt::print("{}: {}\n    => {}\n", trigger.name, printable(trigger.when), printable(trigger.what));
	for (const std::string &hint : matcher.hints)
		fmt::print("\n{}\n", printable(hint));
	for (const std::string &doubt : matcher.doubts)
		fmt::print("\n{}\n", printable(doubt));
	if (arguments.explains)
		explain(triggers, matcher);
}

// The difference of the two lists as a message; "" if equal. The absence of an event is noticed late, at a time that
// varies: for these only the missing events are compared, not the times.
std::string difference(const NamedTrigger &trigger, std::vector<Fired> here, std::vector<Fired> recorded)
{
	if (here.size() != recorded.size())
		return fmt::format("the recording has {}", number_text(recorded.size(), "firing"));
	const bool is_missing = trigger.kind == EDC_TRIGGER_MISSING;
	const auto what = [&](const Fired &fired) {
		return std::tuple(is_missing ? 0 : fired.time, fired.began, fired.key, is_missing ? 0 : fired.cause);
	};
	std::ranges::sort(here, {}, what);
	std::ranges::sort(recorded, {}, what);
	std::size_t others = 0;
	for (std::size_t i = 0; i < here.size(); ++i)
		others += what(here[i]) != what(recorded[i]);
	return others ? fmt::format("{} of them at other events than in the recording", others) : "";
}

// Why a trace may lack events that its recording's triggers saw; "": complete.
std::string what_is_missing(const analyze::RecordingInfo &info, std::uint64_t gaps, std::uint64_t unnamed)
{
	if (info.flight)
		return "a snapshot begins in the middle: what was before it is not known";
	if (!info.filter.expression.empty())
		return "the recording's --filter left out events that its triggers saw";
	if (info.triggers_without_token)
		return "not every firing has a token in this trace: too many came at once";
	if (info.pauses.number && !info.lost())
		return "triggers paused the recording: what they saw meanwhile is not stored";
	if (gaps || info.lost())
		return "events were lost that its triggers saw";
	if (unnamed)
		return fmt::format("{} events in the trace do not say in which thread they happened",
				   report::count_text(unnamed));
	return "";
}

struct Comparison {
	nlohmann::ordered_json json = nlohmann::ordered_json::array();
	std::string text; // lines
	bool contradicts = false;
};

std::vector<Fired> firings_of(const std::vector<Fired> &all, std::size_t number)
{
	std::vector<Fired> some;
	std::ranges::copy_if(all, std::back_inserter(some),
			     [number](const Fired &fired) { return fired.trigger == number; });
	return some;
}

// Compares each trigger's firings here with those in the recording, if it had the same trigger.
Comparison compare(const std::vector<NamedTrigger> &triggers, const std::vector<Fired> &firings,
		   const analyze::RecordingInfo &info, const std::vector<Fired> &recorded, const std::string &lacking)
{
	Comparison made;
	for (std::size_t i = 0; i < triggers.size(); ++i) {
		const NamedTrigger &trigger = triggers[i];
		auto &json = made.json.emplace_back(nlohmann::ordered_json{{"name", trigger.name},
									   {"firings", nullptr},
									   {"same", nullptr},
									   {"difference", nullptr},
									   {"lacking", nullptr}});
		if (!lacking.empty())
			json["lacking"] = lacking;
		if (trigger.first.empty()) {
			made.text += trigger.name + ": fires by the clock, not by events\n";
			continue;
		}
		const std::vector<Fired> here = firings_of(firings, i);
		json["firings"] = here.size();
		made.text += fmt::format("{}: {}", trigger.name, number_text(here.size(), "firing"));
		const auto same = std::ranges::find_if(info.triggers, [&](const analyze::TriggerInfo &other) {
			return other.name == trigger.name && other.when == trigger.when;
		});
		if (same != info.triggers.end()) {
			const auto number = static_cast<std::size_t>(same - info.triggers.begin());
			const std::string differs = difference(trigger, here, firings_of(recorded, number));
			json["same"] = differs.empty();
			if (!differs.empty())
				json["difference"] = differs;
			made.contradicts = made.contradicts || (!differs.empty() && lacking.empty());
			made.text += differs.empty()   ? ", the same as in the recording"
				     : lacking.empty() ? "; " + differs
						       : "; " + differs + ", which is no contradiction";
		}
		made.text += "\n";
	}
	if (!lacking.empty())
		made.text += lacking + "\n";
	return made;
}

int rehearse(const std::vector<NamedTrigger> &triggers, const EventMatcher &matcher, const TriggerArguments &arguments)
{
	trace::Trace trace = open_trace({arguments.directory}, "");
	expect_events(trace, "a trial of triggers");
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	std::vector<std::string> doubts; // of the recording's own triggers
	trigger::Rehearsal rehearsal(triggers, trace, info.triggers.empty() ? nullptr : &doubts);
	trigger::RecordedFirings recorded(trace);
	trace::Threads threads(trace);
	std::vector<report::FiringRow> rows;
	std::uint64_t gaps = 0;
	const auto add_rows = [&](const trace::Event *cause) {
		for (std::size_t i = rows.size(); i < rehearsal.firings().size(); ++i) {
			const Fired &fired = rehearsal.firings()[i];
			const auto *thread = fired.tid < 0 ? nullptr : threads.name(fired.tid, 0);
			rows.push_back(
			    {fired, triggers[fired.trigger].name, thread ? std::string(thread->view()) : std::string(),
			     cause && fired.cause ? report::event_text(*cause) : std::string(),
			     !triggers[fired.trigger].first_key.empty(), triggers[fired.trigger].mark(), std::nullopt});
		}
	};
	trace::merge(
	    trace, {},
	    [&](const trace::Event &event) {
		    const std::int64_t running = threads.before(event);
		    rehearsal.event(event, {running, &threads});
		    recorded.event(event);
		    add_rows(&event);
		    threads.after(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t, std::uint64_t, std::uint64_t) {
		    threads.gap(stream);
		    ++gaps;
	    });
	rehearsal.end(info.triggers_until.value_or(trace.end_time()),
		      info.program_triggers_until.value_or(trace.end_time()));
	add_rows(nullptr);
	const Comparison comparison = compare(triggers, rehearsal.firings(), info, recorded.firings(),
					      what_is_missing(info, gaps, rehearsal.unnamed()));
	report::Table table = report::triggers_table(rows, trace);
	if (arguments.json) {
		fmt::print("{{\"rows\": {},\n\"triggers\": {}}}\n", report::to_json(table), json_dump(comparison.json));
	} else {
		if (arguments.top)
			table.keep_top(arguments.top);
		if (!rows.empty())
			fmt::print("{}{}\n", report::to_text(table, terminal_width()),
				   report::more_rows_text(rows.size() - table.rows.size()));
		fmt::print("{}", comparison.text);
		for (const std::string &doubt : doubts)
			fmt::print("{}\n", printable(doubt));
		if (rehearsal.forgotten())
			fmt::print("{} first events were forgotten, because too many waited for a second one\n",
				   rehearsal.forgotten());
	}
	for (const std::string &hint : matcher.hints)
		print_note("monitor: {}\n", printable(hint));
	return print_problems(trace.problems()) || comparison.contradicts ? 1 : 0;
}

int run_trigger(const TriggerArguments &arguments)
{
	const std::vector<NamedTrigger> triggers = trigger::parse_triggers(trigger_texts(arguments.triggers));
	if (triggers.empty())
		throw Error(arguments.triggers + " has no trigger");
	MatcherRequest request;
	request.triggers = triggers;
	const auto matcher = matching(request).make(record::metadata({}, {}, {}, {}), 0, true);
	if (!arguments.directory.empty())
		return rehearse(triggers, *matcher, arguments);
	print_triggers(triggers, *matcher, arguments);
	return 0;
}

} // namespace

void add_trigger(CLI::App &app, int &exit_code)
{
	CLI::App *command = app.add_subcommand(
	    "trigger", "check triggers for `record --trigger`, or see what they would have done in a trace");
	auto arguments = std::make_shared<TriggerArguments>();
	add_option(*command, "triggers", "FILE|TRIGGER", arguments->triggers, "a file of triggers, or one trigger")
	    ->required();
	add_option(*command, "trace", "DIR", arguments->directory, "a trace: run the triggers on it");
	command->add_flag("--explain", arguments->explains,
			  "also the events that they look at, and what that costs on this machine");
	add_option(*command, "--top", "N", arguments->top, "print at most N firings (0: all; default: 40)")
	    ->check(row_count_error);
	command->add_flag("--json", arguments->json, "as JSON");
	command->footer("Examples:\n"
			"  monitor trigger 'late: name == \"sched_waking\" as a then name == \"sched_switch\" and\n"
			"      next_pid == a.pid within 1s => mark' DIR\n"
			"  monitor trigger --explain stalls.triggers\n"
			"  monitor trigger stalls.triggers DIR");
	command->callback([arguments, &exit_code] { exit_code = run_trigger(*arguments); });
}

} // namespace monitor
