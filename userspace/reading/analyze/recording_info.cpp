// SPDX-License-Identifier: MIT
#include "recording_info.h"

#include <algorithm>

#include "monitor/timing.h"
#include "untrusted_json.h"

namespace monitor::analyze {
namespace {

std::optional<KernelCounts> kernel_counts(const Json &value)
{
	if (!value.is_object())
		return {};
	KernelCounts counts;
	counts.before = number(member(value, "before"));
	counts.after = number(member(value, "after"));
	counts.context_switches = number(member(value, "context_switches"));
	counts.interrupts = number(member(value, "interrupts"));
	if (const Json &steal = member(value, "steal_ns"); steal.is_array())
		for (const Json &cpu : steal)
			counts.steal_ns.push_back(number(cpu));
	counts.interrupt_rows = numbers(member(value, "interrupt_rows"));
	counts.softirqs = optional_number(member(value, "softirqs"));
	counts.thread_creations = optional_number(member(value, "births"));
	const Json &idle = member(value, "idle");
	counts.idle_before = number(member(idle, "before"));
	counts.idle_after = number(member(idle, "after"));
	counts.idle_ends = optional_number(member(idle, "ends"));
	counts.counted_before = numbers(member(member(value, "counted"), "before"));
	counts.counted_after = numbers(member(member(value, "counted"), "after"));
	return counts;
}

std::optional<FlightInfo> flight_info(const Json &value)
{
	if (!value.is_object())
		return {};
	FlightInfo flight;
	flight.asked = number(member(value, "asked"));
	flight.held_ns = number(member(value, "held_ns"));
	flight.discarded = number(member(value, "discarded"));
	flight.overwritten = number(member(value, "overwritten"));
	flight.torn_blocks = number(member(value, "torn_blocks"));
	flight.programs_since = number(member(value, "programs_since"));
	flight.is_settled = flag(member(value, "settled"));
	if (const Json &since = member(value, "since"); since.is_array())
		for (const Json &time : since)
			flight.since.push_back(number(time));
	return flight;
}

std::vector<ClassCounts> class_counts(const Json &value)
{
	std::vector<ClassCounts> all;
	if (!value.is_array())
		return all;
	for (const Json &item : value) {
		ClassCounts counts;
		counts.id = static_cast<unsigned>(number(member(item, "id")));
		counts.name = text(member(item, "name"));
		counts.family = text(member(item, "family"));
		counts.seen = number(member(item, "seen"));
		counts.discarded = number(member(item, "refused"));
		counts.too_deep = number(member(item, "too_deep"));
		counts.filtered = number(member(item, "filtered"));
		counts.paused = number(member(item, "paused"));
		all.push_back(counts);
	}
	return all;
}

// The skew of an invariant TSC is constant, so of two agreeing measurements the tighter one holds; of two that
// disagree, the larger.
std::uint64_t worst_skew(const Json &skews)
{
	std::uint64_t ticks[2] = {}, uncertainty[2] = {};
	bool measured[2] = {};
	int i = 0;
	for (const char *when : {"start", "end"}) {
		const Json &skew = member(skews, when);
		ticks[i] = number(member(skew, "ticks"));
		uncertainty[i] = number(member(skew, "uncertainty"));
		measured[i++] = number(member(skew, "cpus_compared")) > 0;
	}
	if (!measured[0] || !measured[1])
		return measured[0] ? ticks[0] + uncertainty[0] : ticks[1] + uncertainty[1];
	const std::uint64_t apart = ticks[0] > ticks[1] ? ticks[0] - ticks[1] : ticks[1] - ticks[0];
	const std::uint64_t first = ticks[0] + uncertainty[0], second = ticks[1] + uncertainty[1];
	return apart <= uncertainty[0] + uncertainty[1] ? std::min(first, second) : std::max(first, second);
}

std::uint64_t clocks_not_compared(const Json &skews)
{
	std::uint64_t least = 0;
	bool any = false;
	for (const char *when : {"start", "end"}) {
		const Json &skew = member(skews, when);
		const std::uint64_t online = number(member(skew, "cpus_online"));
		if (online == 0)
			continue;
		const std::uint64_t reached = number(member(skew, "cpus_compared")) + 1;
		const std::uint64_t missing = online - std::min(online, reached);
		least = any ? std::min(least, missing) : missing;
		any = true;
	}
	return least;
}

ClockSkew clock_skew(const Json &skews)
{
	ClockSkew largest;
	for (const char *when : {"start", "end"}) {
		const Json &skew = member(skews, when);
		const std::uint64_t uncertainty = number(member(skew, "uncertainty"));
		if (number(member(skew, "cpus_compared")))
			largest.min_uncertainty =
			    largest.min_uncertainty ? std::min(largest.min_uncertainty, uncertainty) : uncertainty;
		largest.uncertainty = std::max(largest.uncertainty, uncertainty);
		largest.cpus_compared = std::max(largest.cpus_compared, number(member(skew, "cpus_compared")));
		largest.cpus_online = std::max(largest.cpus_online, number(member(skew, "cpus_online")));
	}
	return largest;
}

std::vector<CallWitness> call_witness(const Json &value)
{
	std::vector<CallWitness> all;
	if (!value.is_array())
		return all;
	for (const Json &item : value) {
		CallWitness cpu;
		cpu.cpu = static_cast<unsigned>(number(member(item, "cpu")));
		cpu.calls = number(member(item, "calls"));
		cpu.entries = number(member(item, "entries"));
		cpu.exits = number(member(item, "exits"));
		cpu.alone = flag(member(item, "alone"));
		cpu.brackets = number(member(item, "brackets"));
		cpu.width = number(member(item, "width"));
		cpu.outside = number(member(item, "outside"));
		cpu.allowed = number(member(item, "allowed"));
		all.push_back(cpu);
	}
	return all;
}

// The class that ends what this one begins, or begins what it ends; else the name itself.
std::string other_of_pair(const std::string &name)
{
	constexpr std::pair<std::string_view, std::string_view> ends[] = {
	    {"_enter", "_exit"}, {"_entry", "_exit"}, {"_begin", "_end"}};
	if (name == "sys_exit")
		return "sys_enter";
	for (const auto &[first, last] : ends)
		for (const auto &[mine, other] : {std::pair(first, last), std::pair(last, first)})
			if (name.ends_with(mine) && !(mine == "_exit" && other == "_enter"))
				return name.substr(0, name.size() - mine.size()) + std::string(other);
	return name;
}

void parse_identity(const Json &json, RecordingInfo &info)
{
	info.complete = text(member(json, "state")) == "complete";
	info.command = texts(member(json, "command"));
	info.command_pid = integer(member(json, "command_pid"));
	if (const Json &code = member(json, "command_exit"); code.is_number_integer())
		info.command_exit = code.get<std::int64_t>();
	info.note = text(member(json, "note"));
	info.user = text(member(json, "user"));
	info.host = text(member(json, "host"));
	info.kernel = text(member(json, "kernel"));
	info.machine = text(member(json, "machine"));
	info.is_virtual = flag(member(json, "virtual"));
	info.irq_time_taken_out = flag(member(json, "irq_time_taken_out"));
	info.boot_id = text(member(json, "boot_id"));
	info.date = text(member(json, "date"));
	info.card = text(member(json, "card"));
	info.attach = text(member(json, "attach"));
	info.end_reason = text(member(json, "end_reason"));
	info.cpus = number(member(json, "cpus"));
	info.families = texts(member(json, "families"));
	info.programs = texts(member(json, "programs"));
	info.lacking = texts(member(json, "lacking"));
	const Json &filter = member(json, "filter");
	info.filter_command = flag(member(filter, "command"));
	if (const Json &pids = member(filter, "pids"); pids.is_array())
		for (const Json &pid : pids)
			info.filter_pids.push_back(integer(pid));
	info.has_tokens = !json.contains("tokens") || flag(member(json, "tokens"));
	if (!info.has_tokens)
		info.partial.insert(info.programs.begin(), info.programs.end());
	info.filter_expression = text(member(filter, "expression"));
	for (const char *how : {"part", "none"})
		for (const std::string &name : texts(member(filter, how)))
			info.partial.insert({name, other_of_pair(name)});
}

double real(const Json &value)
{
	return value.is_number() ? value.get<double>() : 0.0;
}

CalibratedCosts calibrated_costs(const Json &json)
{
	CalibratedCosts costs;
	if (json.is_object())
		for (const auto &[what, cost] : json.items())
			costs[what] = {real(member(cost, "low")), real(member(cost, "median")),
				       real(member(cost, "high")), real(member(cost, "off_difference")),
				       number(member(cost, "rounds"))};
	return costs;
}

PhaseCost phase_cost(const Json &json)
{
	PhaseCost cost;
	cost.low = real(member(json, "low"));
	cost.median = real(member(json, "median"));
	cost.high = real(member(json, "high"));
	cost.why_unknown = text(member(json, "why_unknown"));
	const bool is_sound = cost.low > 0 && cost.low <= cost.median && cost.median <= cost.high;
	if (cost.is_known() && !is_sound)
		cost.why_unknown = "recording.json does not say what was measured";
	cost.used = number(member(json, "used"));
	cost.number = number(member(json, "number"));
	cost.ticks = number(member(json, "ticks"));
	cost.marks = number(member(json, "marks"));
	cost.events = numbers(member(json, "events"));
	return cost;
}

std::optional<RecordedStates> recorded_states(const Json &recording)
{
	const Json &json = member(recording, "states");
	if (!json.is_object())
		return {};
	RecordedStates states;
	states.name = text(member(json, "name"));
	states.tree = text(member(json, "tree"));
	if (const Json &cpus = member(json, "cpus"); cpus.is_array())
		for (const Json &cpu : cpus)
			states.cpus.push_back(static_cast<std::uint32_t>(number(cpu)));
	states.begin = number(member(json, "begin"));
	states.end = optional_number(member(json, "end"));
	states.late = number(member(json, "late"));
	const auto start = optional_number(member(member(recording, "start"), "time"));
	const auto end = optional_number(member(member(recording, "end"), "time"));
	states.is_damaged = states.begin != start || states.end != end || states.end.value_or(~0ull) < states.begin;
	return states;
}

void parse_budget(const Json &json, RecordingInfo &info)
{
	if (!json.is_object())
		return;
	info.function_budget = real(member(json, "percent"));
	if (const Json &functions = member(json, "left_out"); functions.is_array())
		for (const Json &function : functions)
			info.functions_left_out.push_back(
			    {number(member(function, "function")), number(member(function, "time")),
			     real(member(function, "seconds")), number(member(function, "events")),
			     real(member(function, "percent"))});
}

// Whether the parts of a time fit together.
bool are_of_one(const EventTime &time)
{
	std::uint64_t in_buckets = 0, on_cpus = 0, total = 0;
	for (const auto &[bucket, number] : time.buckets)
		in_buckets += number;
	for (const EventTime::OfCpu &cpu : time.by_cpu) {
		on_cpus += cpu.number;
		total += cpu.total;
	}
	return in_buckets == time.number && on_cpus == time.number && total == time.total &&
	       time.shortest <= time.longest && (time.number || !time.total);
}

void parse_times(const Json &times, RecordingInfo &info)
{
	if (!times.is_array())
		return;
	for (const Json &time : times) {
		EventTime &added = info.times.emplace_back();
		added.name = text(member(time, "name"));
		added.start = text(member(time, "start"));
		added.end = text(member(time, "end"));
		added.start_key = text(member(time, "start_key"));
		added.end_key = text(member(time, "end_key"));
		added.number = number(member(time, "number"));
		added.total = number(member(time, "total"));
		added.shortest = number(member(time, "shortest"));
		added.longest = number(member(time, "longest"));
		added.starts = number(member(time, "starts"));
		added.replaced = number(member(time, "replaced"));
		added.forgotten = number(member(time, "forgotten"));
		added.ends = number(member(time, "ends"));
		for (const char *name :
		     {"number", "total", "shortest", "longest", "starts", "replaced", "forgotten", "ends"})
			added.is_damaged = added.is_damaged || !member(time, name).is_number_unsigned();
		if (const Json &buckets = member(time, "buckets"); buckets.is_array())
			for (const Json &bucket : buckets)
				if (bucket.is_array() && bucket.size() == 2 && number(bucket[0]) < EDC_TIMED_BUCKETS)
					added.buckets[static_cast<unsigned>(number(bucket[0]))] = number(bucket[1]);
		if (const Json &by_cpu = member(time, "by_cpu"); by_cpu.is_array())
			for (const Json &cpu : by_cpu)
				added.by_cpu.push_back({number(member(cpu, "number")), number(member(cpu, "total"))});
		added.is_damaged = added.is_damaged || !are_of_one(added);
	}
}

void parse_triggers(const Json &json, RecordingInfo &info)
{
	if (const Json &triggers = member(json, "triggers"); triggers.is_array())
		for (const Json &trigger : triggers) {
			const Json &reaction = member(trigger, "reaction_ns"), &runs = member(trigger, "runs"),
				   &signals = member(trigger, "signals");
			TriggerInfo &added = info.triggers.emplace_back();
			added.name = text(member(trigger, "name"));
			added.when = text(member(trigger, "when"));
			added.what = text(member(trigger, "do"));
			added.key = text(member(trigger, "key"));
			added.mark = text(member(trigger, "mark"));
			added.fired = optional_number(member(trigger, "fired"));
			added.samples = optional_number(member(member(trigger, "samples"), "taken"));
			added.samples_left_out = optional_number(member(member(trigger, "samples"), "left_out"));
			added.by_programs = number(member(trigger, "by_programs"));
			added.told = optional_number(member(trigger, "told"));
			added.reaction_median_ns = optional_number(member(reaction, "median"));
			added.reaction_p99_ns = optional_number(member(reaction, "p99"));
			added.reaction_max_ns = optional_number(member(reaction, "max"));
			added.runs = optional_number(member(runs, "started"));
			added.runs_failed = optional_number(member(runs, "failed"));
			added.running = optional_number(member(runs, "running"));
			added.runs_left_out = optional_number(member(runs, "left_out"));
			added.signals = optional_number(member(signals, "sent"));
			added.signals_refused = optional_number(member(signals, "refused"));
		}
	info.triggers_until = optional_number(member(json, "triggers_until"));
	info.program_triggers_until = optional_number(member(json, "program_triggers_until"));
	if (const Json &others = member(json, "other_recorders"); others.is_array())
		for (const Json &other : others)
			info.other_recorders.push_back(static_cast<std::int64_t>(number(other)));
	info.triggers_without_token = number(member(json, "triggers_without_token"));
	info.pauses = number(member(member(json, "pauses"), "number"));
	info.paused_ticks = number(member(member(json, "pauses"), "ticks"));
	info.triggers_forgotten = number(member(json, "triggers_forgotten"));
}

Life life_of(const Json &json)
{
	return {optional_number(member(member(json, "start"), "time")),
		optional_number(member(member(json, "end"), "time"))};
}

// The recording is all of them.
void parse_lives(const Json &json, RecordingInfo &info)
{
	const Json &lives = member(json, "lives");
	if (!lives.is_array() || lives.empty())
		return;
	for (const Json &life : lives)
		info.lives.push_back(life_of(life));
	info.lives.push_back(life_of(json));
	if (info.lives.front().begin)
		info.start_time = info.lives.front().begin;
}

void parse_counts(const Json &json, RecordingInfo &info)
{
	info.start_time = optional_number(member(member(json, "start"), "time"));
	info.end_time = optional_number(member(member(json, "end"), "time"));
	parse_lives(json, info);
	info.start_counts = kernel_counts(member(member(json, "kernel_counts"), "start"));
	info.end_counts = kernel_counts(member(member(json, "kernel_counts"), "end"));
	info.classes = class_counts(member(json, "classes"));
	info.misses_start = numbers(member(member(json, "misses"), "start"));
	info.misses_end = numbers(member(member(json, "misses"), "end"));
	info.fault_counts = numbers(member(json, "fault_counts"));
	if (const Json &cost = member(json, "cost_ns"); cost.is_object())
		for (const auto &[family, ns] : cost.items())
			info.cost_ns[family] = ns.is_number() ? ns.get<double>() : 0;
	if (const Json &calibration = member(json, "calibration"); calibration.is_object()) {
		info.calibration.emplace().start = calibrated_costs(member(calibration, "start"));
		if (const Json &end = member(calibration, "end"); end.is_object() && !end.contains("why_not"))
			info.calibration->end = calibrated_costs(end);
		if (const Json &phases = member(calibration, "phases"); phases.is_object())
			info.calibration->phases = phase_cost(phases);
	}
	if (const Json &functions = member(member(json, "functions"), "chosen"); functions.is_array())
		for (const Json &function : functions)
			info.functions.push_back(
			    {text(member(function, "name")), text(member(function, "method")) == "patch"});
	parse_budget(member(member(json, "functions"), "budget"), info);
	info.counted_ns = number(member(member(json, "counted"), "ns"));
	info.counted_since = optional_number(member(member(json, "counted"), "since"));
	if (const Json &judgements = member(json, "judgements"); judgements.is_array())
		for (const Json &judgement : judgements)
			info.judgement_ns[static_cast<unsigned>(number(member(judgement, "id")))] =
			    real(member(judgement, "ns"));
	if (const Json &counts = member(json, "counts"); counts.is_array())
		for (const Json &count : counts) {
			EventCount &added = info.counts.emplace_back();
			added.name = text(member(count, "name"));
			added.expression = text(member(count, "expression"));
			added.count = number(member(count, "count"));
			added.of_programs = number(member(count, "of_programs"));
			if (const Json &by_cpu = member(count, "by_cpu"); by_cpu.is_array())
				for (const Json &cpu : by_cpu)
					added.by_cpu.push_back(number(cpu));
			std::uint64_t sum = added.of_programs;
			for (const std::uint64_t part : added.by_cpu)
				sum += part;
			added.is_damaged = !member(count, "count").is_number_unsigned() || sum != added.count;
		}
	parse_triggers(json, info);
	parse_times(member(json, "times"), info);
	for (const Json &cpu : member(json, "offline_at_start"))
		info.offline_at_start.push_back(static_cast<std::uint32_t>(number(cpu)));
	for (const Json &cpu : member(json, "late_cpus")) {
		std::vector<std::string> &opened =
		    info.late_cpus[static_cast<std::uint32_t>(number(member(cpu, "cpu")))];
		for (const Json &name : member(cpu, "opened"))
			opened.push_back(text(name));
	}
	const Json &stacks = member(json, "stacks");
	for (const auto &[kind, counts] : member(stacks, "at").items())
		info.stacks_at[kind] = {number(member(counts, "taken")), number(member(counts, "left_out_by_budget"))};
	for (const Json &of : member(stacks, "without_room"))
		info.stacks_without_room.push_back({static_cast<std::uint32_t>(number(member(of, "user"))),
						    number(member(of, "mappings")), number(member(of, "tables"))});
	info.stack_opener_lost = flag(member(stacks, "opener_lost"));
	info.stack_timer_hz = static_cast<unsigned>(number(member(stacks, "timer_hz")));
	info.stacks_ns = number(member(stacks, "spent_at_events_ns")) + number(member(stacks, "spent_at_timer_ns"));
	if (const Json &lost = member(json, "lost_by_cpu"); lost.is_array())
		for (const Json &cpu : lost)
			info.lost_by_cpu.push_back(number(cpu));
	info.skew_ticks = worst_skew(member(json, "tsc_skew"));
	info.clocks_not_compared = clocks_not_compared(member(json, "tsc_skew"));
	info.skew = clock_skew(member(json, "tsc_skew"));
	info.witness_start = call_witness(member(member(json, "witness"), "start"));
	info.witness_end = call_witness(member(member(json, "witness"), "end"));
	const Json &recorder = member(json, "recorder");
	info.recorder_pid = static_cast<std::int64_t>(number(member(recorder, "pid")));
	info.recorder_cpu_ns = number(member(recorder, "cpu_ns"));
	info.wall_ns = number(member(recorder, "wall_ns"));
	info.control_tokens = optional_number(member(recorder, "control_tokens"));
	info.dropped_blocks = number(member(recorder, "dropped_blocks"));
	info.clamped = number(member(json, "clamped"));
	info.traced_refused = number(member(json, "traced_refused"));
	if (const Json &user = member(json, "user_card"); user.is_object()) {
		info.user_card.emplace();
		info.user_card->processes = number(member(user, "processes"));
		info.user_card->refused = number(member(user, "refused"));
		info.user_card->tokens = number(member(user, "tokens"));
		info.user_card->filtered = number(member(user, "filtered"));
		info.user_card->discarded = number(member(user, "discarded"));
		info.user_card->early = number(member(user, "early"));
		info.user_card->damaged = number(member(user, "damaged"));
		info.user_card->damage = text(member(user, "damage"));
		info.user_card->classes_refused = number(member(user, "classes_refused"));
		info.user_card->why_refused = text(member(user, "why_refused"));
		info.user_card->unanswered = optional_number(member(user, "unanswered")).value_or(0);
		info.user_card->not_searched = number(member(user, "not_searched"));
		info.user_card->claims = number(member(user, "claims"));
		if (const Json &claims = member(user, "largest_claims"); claims.is_array())
			for (const Json &claim : claims)
				info.user_card->largest_claims.push_back(
				    {number(member(claim, "process")), number(member(claim, "discarded")),
				     number(member(claim, "early")), flag(member(claim, "possible"))});
	}
	info.counters = counters_info(member(json, "counters"));
	info.states = recorded_states(json);
	info.flight = flight_info(member(json, "flight"));
	if (const Json &statistics = member(json, "statistics"); statistics.is_object())
		info.statistics = {number(member(statistics, "period_ns")),
				   number(member(statistics, "keep_ns")),
				   flag(member(statistics, "counts_only")),
				   optional_number(member(statistics, "hidden_threads")),
				   optional_number(member(statistics, "max_late_ns")),
				   optional_number(member(statistics, "max_width_ns"))};
	info.preflight_missing = number(member(member(json, "start_test"), "missing"));
}

} // namespace

trace::TimeRange window_of(const trace::Trace &trace, const RecordingInfo &info)
{
	if (info.statistics) // those before may have been removed
		return {trace.begin_time(), trace.end_time()};
	return {info.start_time.value_or(trace.begin_time()),
		info.complete ? info.end_time.value_or(trace.end_time()) : trace.end_time()};
}

// A time of day is not exactly where a period begins: the clocks drift. What is touched by a hundredth is not meant.
trace::TimeRange whole_periods(const trace::Trace &trace, const RecordingInfo &info, trace::TimeRange range)
{
	if (!info.statistics)
		return range;
	std::optional<trace::TimeRange> touched, meant;
	const auto add = [](std::optional<trace::TimeRange> &to, std::uint64_t begin, std::uint64_t end) {
		to = to ? trace::TimeRange{std::min(to->from, begin), std::max(to->to, end - 1)}
			: trace::TimeRange{begin, end - 1};
	};
	for (const auto &stream : trace.streams()) {
		const std::uint64_t begin = stream->begin_time(), end = stream->end_time();
		const std::uint64_t first = std::max(begin, range.from), last = std::min(end - 1, range.to);
		if (stream->is_foreign() || end <= begin || first > last)
			continue;
		add(touched, begin, end);
		if (last - first > (end - begin) / 100)
			add(meant, begin, end);
	}
	return meant ? *meant : touched.value_or(range);
}

std::string EventTime::text() const
{
	std::string all = start + " .. " + end;
	if (!start_key.empty())
		all += " per " + start_key + (end_key == start_key ? "" : " = " + end_key);
	return all;
}

RecordingInfo parse_recording(const std::string &json)
{
	RecordingInfo info;
	const Json parsed = parse_json(json);
	if (!parsed.is_object())
		return info;
	info.present = true;
	parse_identity(parsed, info);
	parse_counts(parsed, info);
	return info;
}

bool RecordingInfo::attached(const std::string &event) const
{
	return std::ranges::any_of(programs, [&](const std::string &name) {
		// older recorders wrote classic_
		return name == event || name == "tp_" + event || name == "classic_" + event;
	});
}

std::string RecordingInfo::partial_of(std::initializer_list<const char *> events) const
{
	std::string names;
	for (const char *event : events)
		if (partial.contains(event))
			names += (names.empty() ? "" : ", ") + std::string(event);
	return names;
}

bool RecordingInfo::has_partial() const
{
	return std::ranges::any_of(partial, [this](const std::string &name) {
		return attached(name) || attached("plain_" + name) || name.ends_with("_begin") ||
		       name.ends_with("_end");
	});
}

std::uint64_t RecordingInfo::tokens() const
{
	if (!has_tokens || statistics)
		return 0;
	std::uint64_t sum = user_card ? user_card->tokens : 0;
	for (const ClassCounts &counts : classes)
		sum += counts.written();
	return sum;
}

std::uint64_t RecordingInfo::lost() const
{
	std::uint64_t sum = flight ? flight->discarded : 0;
	for (const ClassCounts &counts : classes)
		sum += counts.lost();
	return sum;
}

std::uint64_t RecordingInfo::paused() const
{
	std::uint64_t sum = 0;
	for (const ClassCounts &counts : classes)
		sum += counts.paused;
	return sum;
}

std::uint64_t RecordingInfo::too_deep() const
{
	std::uint64_t sum = 0;
	for (const ClassCounts &counts : classes)
		sum += counts.too_deep;
	return sum;
}

std::uint64_t RecordingInfo::misses() const
{
	std::uint64_t sum = 0;
	for (const auto &[program, end] : misses_end) {
		const auto start = misses_start.find(program);
		sum += end - (start == misses_start.end() ? 0 : std::min(start->second, end));
	}
	return sum;
}

std::string RecordingInfo::command_line() const
{
	std::string line;
	for (const std::string &word : command)
		line += (line.empty() ? "" : " ") + word;
	return line;
}

std::string RecordingInfo::short_command() const
{
	constexpr std::size_t max_length = 80;
	const std::string line = command_line();
	return line.size() <= max_length ? line : line.substr(0, max_length - 3) + "...";
}

RecordingInfo recording_of(const trace::Trace &trace)
{
	RecordingInfo info = parse_recording(trace.is_generic_ctf() ? "" : trace.recording_json());
	if (const std::string *host = trace.description().find_env("hostname"); host && trace.is_generic_ctf())
		info.host = *host;
	return info;
}

} // namespace monitor::analyze
