// SPDX-License-Identifier: MIT
#include "record_arguments.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "answers/matcher/named_text.h"
#include "answers/trigger/trigger_text.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/escape.h"
#include "live_sinks.h"
#include "matching.h"
#include "monitor/device.h"
#include "option_texts.h"
#include "problems.h"
#include "recording/counting/user_reads.h"
#include "recording/pmu/selection.h"
#include "recording/recorder/user.h"
#include "recording/session/stack_choice.h"

namespace monitor {
namespace {

constexpr std::uint64_t min_series_ns = 1'000'000;
constexpr std::uint64_t min_period_ns = 1'000'000'000, max_period_ns = 86'400'000'000'000;
constexpr std::uint64_t max_periods = 10'000; // a week of minutes

const std::map<std::string, record::RatioFormat> ratio_formats = {{"exact", record::RatioFormat::exact},
								  {"rems16", record::RatioFormat::rems16},
								  {"rems32", record::RatioFormat::rems32}};

// Invalid combinations of options. `other`: what else to omit.
struct Excluded {
	bool is_given;
	const char *why, *other = nullptr;
};

void expect_none(std::initializer_list<Excluded> rows)
{
	for (const Excluded &row : rows)
		if (row.is_given)
			throw Error(row.other ? fmt::format("{}: leave it out, or {}", row.why, row.other) : row.why);
}

void expect_events_chosen(const RecordArguments &a)
{
	const bool user_only = a.options.user_only, counts = !a.counts.empty() || !a.times.empty();
	const bool has_m = !a.measurements.empty(), has_states = !a.states.empty();
	const bool has_functions = !a.functions.empty(), has_stacks = a.stacks.any();
	const bool has_triggers = !a.triggers.empty() || !a.trigger_files.empty();
	expect_none({
	    {!has_m && !a.every.empty() && !counts, "--every sets when counters are read: choose counters with -m, "
						    "such as -m cpu, or events with --count or --time"},
	    {!has_m && !a.reset_on.empty(),
	     "--reset-on sets when counters are read: choose counters with -m, such as -m cpu"},
	    {has_m && user_only, "-m needs the kernel's probes: leave out --user-only"},
	    {!a.reset_on.empty() && a.has_ratios(), "--reset-on needs exact counts: leave out --ratio-format"},
	    {has_stacks && user_only, "--stacks needs the kernel's probes: leave out --user-only"},
	    {!has_functions && !a.budget.empty(), "--budget needs --functions PATTERN"},
	    {has_functions && user_only, "--functions needs the kernel's probes: leave out --user-only"},
	    {!a.budget.empty() && a.no_calibration,
	     "--budget needs to know what an event costs: leave out --no-calibration"},
	    {has_triggers && user_only, "--trigger needs the probes of the kernel's events: leave out --user-only"},
	    {!a.times.empty() && user_only, "--time is of the kernel's events: leave out --user-only"},
	    {a.no_tokens && !counts && !has_states,
	     "--no-tokens leaves only counts, times and states: add --count NAME=EXPRESSION, --time or --states TREE"},
	    {a.no_tokens && a.filter && !has_states, "--no-tokens keeps no events: leave out --filter"},
	    {a.no_tokens && has_m, "-m records tokens: leave out --no-tokens"},
	    {a.no_tokens && has_functions, "--functions records tokens: leave out --no-tokens"},
	    {a.no_tokens && has_stacks, "--stacks records tokens: leave out --no-tokens"},
	    {a.no_tokens && has_triggers, "--trigger records tokens: leave out --no-tokens"},
	    {!a.sample_every.empty() && user_only, "--sample-every needs the kernel's events: leave out --user-only"},
	    {user_only && a.options.command.empty() && !a.options.everyone,
	     "--user-only records the command's events, or with --user those of all programs: add -- CMD ... or "
	     "--user"},
	});
}

void expect_compatible_modes(const RecordArguments &a)
{
	const bool of_flight = a.flight.has_value(), of_sums = !a.statistics.empty(),
		   counts_only = of_sums && a.count_only;
	const bool counts = !a.counts.empty() || !a.times.empty(), user_only = a.options.user_only;
	const bool is_matching = counts || a.filter || !a.triggers.empty() || !a.trigger_files.empty();
	constexpr const char *flight = "--flight", *sums = "--statistics", *only = "--count-only",
			     *phases = "--calibrate";
	expect_none({
	    {!of_flight && a.snapshots, "--snapshots are those of a flight recorder: add --flight"},
	    {of_flight && user_only, "--user-only has no kernel events, which a flight recorder keeps", flight},
	    {of_flight && a.stacks.any(), "--stacks describes each stack once, which a flight recorder would overwrite",
	     flight},
	    {of_flight && !a.states.empty(), "--states is written while it is recorded", flight},
	    {of_flight && counts, "--count or --time counts all that happens, not what a snapshot has", flight},
	    {of_flight && !a.max_size.empty(), "--max-size is of one trace", flight},
	    {of_flight && !a.budget.empty(), "--budget leaves out functions while they are recorded", flight},
	    {of_flight && a.has_ratios(), "--ratio-format has ratios of parts that may be overwritten", flight},
	    {of_flight && !a.flight->empty() && !a.flight->ends_with('s') && !a.buffer.empty(),
	     "--buffer is the size of the rings, as --flight SIZE is", flight},
	    {!of_sums && !a.keep.empty(), "--keep is how long periods are kept: add --statistics TIME"},
	    {!of_sums && a.count_only, "--count-only is of periods: add --statistics TIME, such as --statistics 60s"},
	    {of_sums && of_flight, "--flight keeps events, of which statistics are made instead", sums},
	    {of_sums && !a.states.empty(), "--states records run lengths, which grow with time", sums},
	    {of_sums && user_only, "--user-only records none of the kernel's events, of which statistics are made",
	     sums},
	    {of_sums && a.stacks.any(), "--stacks records who called whom, which is not in statistics", sums},
	    {of_sums && !a.measurements.empty(), "-m reads counters, which are not in statistics", sums},
	    {of_sums && is_matching,
	     "--filter, --count, --time and --trigger decide on events, and statistics need all of them", sums},
	    {of_sums && !a.sample_every.empty(), "--sample-every records samples, which are not in statistics", sums},
	    {of_sums && !a.max_size.empty(), "--max-size ends a trace that grows; --keep bounds statistics", sums},
	    {counts_only && a.options.everyone, "--user records programs' own events, which the probes do not count",
	     only},
	    {counts_only && !a.functions.empty(), "--functions records each call, and --count-only no event", only},
	    {counts_only && !a.buffer.empty(),
	     "--buffer is of rings, and --count-only posts nothing into them: leave it out"},
	    {a.calibrate && a.options.command.empty(),
	     "--calibrate measures what an event costs in a command: add -- CMD ..."},
	    {a.calibrate && a.no_calibration, "--no-calibration measures no costs", phases},
	    {a.calibrate && user_only, "--user-only has no probes that cost something", phases},
	    {a.calibrate && of_flight, "--flight keeps the newest events, without gaps", phases},
	    {a.calibrate && of_sums, "--statistics needs all events", phases},
	    {a.calibrate && !a.states.empty(), "--states must see all events", phases},
	    {a.calibrate && !a.selection.empty(), "-p must see all processes that are created", phases},
	    {a.calibrate && is_matching, "--filter, --count, --time and --trigger must see all events", phases},
	    {a.calibrate && !a.measurements.empty(), "-m counts without gaps", phases},
	    {a.calibrate && a.stacks.any(), "--stacks takes time that depends on the stack", phases},
	    {a.calibrate && !a.functions.empty(), "--functions has probes that need a privilege to be attached",
	     phases},
	    {a.calibrate && !a.sample_every.empty(), "--sample-every numbers its samples without gaps", phases},
	});
}

void parse_selection(RecordArguments &arguments)
{
	if (arguments.selection.empty())
		return;
	for (const std::string &item : split(arguments.selection)) {
		if (item == "cmd") {
			if (arguments.options.command.empty())
				throw Error("-p cmd needs a command to record: add -- CMD ...");
			arguments.options.only_command = true;
			continue;
		}
		const std::vector<int> pids = parse_processes(item, "; cmd is the recorded command");
		arguments.options.pids.insert(arguments.options.pids.end(), pids.begin(), pids.end());
	}
}

std::uint64_t sample_period(const std::string &text)
{
	const std::uint64_t ns = parse_duration(text, "--sample-every");
	if (ns < EDC_SAMPLE_MIN_NS)
		throw Error("--sample-every: the minimum is 100us, because each sample interrupts every CPU");
	return ns;
}

void parse_measurements(RecordArguments &arguments)
{
	record::Options &options = arguments.options;
	if (arguments.measurements.empty())
		return;
	record::Counting &counting = options.counting.emplace();
	if (!arguments.every.empty())
		counting.every_ns = parse_duration(arguments.every, "--every");
	counting.format = ratio_formats.at(arguments.ratio_format);
	if (!arguments.reset_on.empty())
		counting.resets = card::parse_reset_events(split(arguments.reset_on));
	counting.selection = pmu::select(split(arguments.measurements));
	if (counting.format != record::RatioFormat::exact)
		record::keep_ratios(counting.selection);
	counting.user_reads = record::user_reads(counting);
	for (const std::string &note : counting.selection.notes)
		print_error(note);
}

// A comma between parentheses is part of a C++ name.
std::vector<std::string> split_patterns(const std::string &text)
{
	std::vector<std::string> patterns(1);
	int depth = 0;
	for (const char c : text) {
		depth += (c == '(') - (c == ')');
		if (c == ',' && depth <= 0)
			patterns.emplace_back();
		else
			patterns.back() += c;
	}
	return patterns;
}

double parse_percent(const std::string &text)
{
	char *end = nullptr;
	const double percent = std::strtod(text.c_str(), &end);
	if (*end == '%')
		++end;
	if (text.empty() || *end || !(percent > 0) || percent > 100)
		throw Error("--budget {}: give a share of the CPU time, above 0 and up to 100%", text);
	return percent;
}

void parse_functions(RecordArguments &arguments)
{
	if (arguments.functions.empty())
		return;
	arguments.options.functions = split_patterns(arguments.functions);
	if (!arguments.budget.empty())
		arguments.options.budget = parse_percent(arguments.budget) / 100;
}

void expect_possible(const std::vector<NamedTrigger> &triggers, const RecordArguments &arguments)
{
	const bool any_stops = std::ranges::any_of(triggers, &NamedTrigger::stops),
		   of_flight = arguments.flight.has_value();
	const bool any_reads = std::ranges::any_of(triggers, &NamedTrigger::reads),
		   counts = !arguments.measurements.empty();
	for (const NamedTrigger &trigger : triggers) {
		const bool stops = trigger.stops(), reads = trigger.reads(), by_clock = trigger.first.empty();
		const bool takes_stack = trigger.does(TriggerAct::Kind::stack);
		const std::pair<bool, const char *> rows[] = {
		    {trigger.takes_snapshot() && !of_flight, "snapshots are those of a flight recorder: add --flight"},
		    {trigger.starts() && stops, "start and stop are of two triggers"},
		    {trigger.starts() && !any_stops, "no trigger stops, so there is nothing to start: add one with => "
						     "stop, such as 'at start => stop'"},
		    {takes_stack && !arguments.stacks.any(),
		     "stack needs what tells a program's callers: add --stacks"},
		    {takes_stack && by_clock,
		     "there is no thread whose stack could be taken when it fires by the clock: use sample"},
		    {trigger.samples() && !arguments.sample_every.empty(),
		     "--sample-every numbers its samples itself: leave it out, or sample"},
		    {stops && of_flight, "a flight recorder writes only snapshots: leave out stop"},
		    {stops && !arguments.states.empty(), "--states must see all events: leave out stop"},
		    {stops && (!arguments.reset_on.empty() || any_reads),
		     "--reset-on, read and reset store their readings in pauses, too: leave out stop"},
		    {reads && !counts, "read and reset are of counters: choose some with -m, such as -m cpu"},
		    {reads && arguments.has_ratios(), "read and reset need exact counts: leave out --ratio-format"},
		    {reads && (by_clock || trigger.kind == EDC_TRIGGER_MISSING),
		     "read and reset are of the CPU where an event fires: use sample, which also reads the counters of "
		     "all"},
		};
		for (const auto &[is_so, why] : rows)
			if (is_so)
				throw Error("{}: {}", trigger.title(), why);
	}
}

std::vector<NamedTrigger> triggers_of(const RecordArguments &arguments)
{
	std::vector<trigger::TriggerText> texts;
	for (const std::string &file : arguments.trigger_files)
		for (const trigger::TriggerText &text : trigger_texts(file))
			texts.push_back(text);
	texts.insert(texts.end(), arguments.triggers.begin(), arguments.triggers.end());
	return trigger::parse_triggers(texts);
}

void parse_matching(RecordArguments &arguments)
{
	const bool has_states = !arguments.states.empty();
	// States need tokens, even if these are not written.
	MatcherRequest request{arguments.filter, matcher::parse_counts(arguments.counts),
			       matcher::parse_times(arguments.times), has_states || !arguments.no_tokens,
			       triggers_of(arguments)};
	const bool counts = !request.counts.empty() || !request.times.empty();
	expect_possible(request.triggers, arguments);
	for (const NamedTrigger &trigger : request.triggers)
		if (trigger.resets())
			arguments.options.counting->reset_triggers.push_back(trigger.name);
	if (!request.filter && !counts && request.triggers.empty())
		return;
	const bool has_series = counts && !arguments.every.empty();
	arguments.options.matching = matching(request);
	if (has_series)
		arguments.options.matching->every_ns = parse_duration(arguments.every, "--every");
	if (has_series && arguments.options.matching->every_ns < min_series_ns)
		throw Error("--every: counts are read every 1ms at the most");
}

void parse_states(RecordArguments &arguments)
{
	if (arguments.states.empty())
		return;
	states::Tree tree = [&] {
		// A user who may not read the file must not see its text in an error.
		const record::AsUser as(record::invoking_user());
		return states::load_tree(arguments.states);
	}();
	expect_utf8("the tree " + printable(arguments.states), tree.text());
	arguments.options.states = live_states(std::move(tree));
	arguments.options.writes_tokens = !arguments.no_tokens;
}

// --keep, or the default.
std::uint64_t keep_ns_of(const RecordArguments &arguments, std::uint64_t period_ns)
{
	if (arguments.keep.empty())
		return period_ns * max_periods;
	const std::uint64_t keep_ns = parse_duration(arguments.keep, "--keep");
	if (keep_ns < period_ns)
		throw Error("--keep: the time to keep is shorter than a period");
	if (keep_ns / period_ns > max_periods)
		throw Error("--keep: at most {} periods are kept, each in a file of its own: use a longer --statistics "
			    "or a shorter --keep",
			    max_periods);
	return keep_ns;
}

// --statistics: refuses options that do not apply to sums.
void parse_statistics(RecordArguments &arguments)
{
	record::Options &options = arguments.options;
	if (arguments.statistics.empty())
		return;
	record::StatisticsOptions statistics;
	statistics.counts_only = arguments.count_only;
	statistics.period_ns = parse_duration(arguments.statistics, "--statistics");
	if (statistics.period_ns < min_period_ns || statistics.period_ns > max_period_ns)
		throw Error("--statistics {}: periods are from 1s to 1d", printable(arguments.statistics));
	statistics.keep_ns = keep_ns_of(arguments, statistics.period_ns);
	options.statistics = statistics;
	if (!statistics.counts_only)
		options.live = live_statistics(statistics);
	options.kept = record::Kept::own_files;
}

// The value of --flight is the size of the rings, or the time that a snapshot reaches back.
void parse_flight(RecordArguments &arguments)
{
	if (!arguments.flight)
		return;
	record::Options &options = arguments.options;
	record::FlightOptions &flight = options.flight.emplace();
	flight.snapshots = arguments.snapshots;
	if (arguments.flight->empty())
		return;
	if (arguments.flight->ends_with('s')) {
		flight.before_ns = parse_duration(*arguments.flight, "--flight");
		return;
	}
	try {
		options.buffer_bytes = parse_bytes(*arguments.flight, "--flight");
	} catch (const Error &) {
		throw Error("--flight: '{}' is neither a size, such as 256M, nor a time, such as 10s or 500ms",
			    *arguments.flight);
	}
}

// A recorded command is sampled for its functions unless options select what to record.
bool samples_command(const RecordArguments &a)
{
	const bool selects_events = !a.families.empty() || a.options.matching || !a.options.pids.empty() || a.flight ||
				    !a.statistics.empty() || !a.states.empty() || a.no_tokens || a.options.user_only;
	return !a.options.command.empty() && !selects_events && !a.stacks.is_declined();
}

} // namespace

void parse_record_arguments(RecordArguments &arguments)
{
	const ChosenEvents chosen = parse_events(arguments.families);
	arguments.options.families = chosen.families;
	arguments.options.left_out = chosen.left_out;
	parse_selection(arguments);
	expect_events_chosen(arguments);
	parse_measurements(arguments);
	if (arguments.stacks.any())
		arguments.options.stacks = arguments.stacks.options();
	parse_functions(arguments);
	parse_matching(arguments);
	parse_states(arguments);
	if (!arguments.stacks.any() && samples_command(arguments))
		arguments.options.stacks = record::samples_of_command();
	if (!arguments.sample_every.empty())
		arguments.options.sample_every_ns = sample_period(arguments.sample_every);
	if (!arguments.buffer.empty())
		arguments.options.buffer_bytes = parse_bytes(arguments.buffer, "--buffer");
	if (!arguments.max_size.empty())
		arguments.options.max_bytes = parse_bytes(arguments.max_size, "--max-size");
	arguments.options.calibrates = !arguments.no_calibration;
	arguments.options.calibrates_in_phases = arguments.calibrate;
	expect_compatible_modes(arguments);
	parse_flight(arguments);
	parse_statistics(arguments);
}

} // namespace monitor
