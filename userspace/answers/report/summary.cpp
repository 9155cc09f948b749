// SPDX-License-Identifier: MIT
#include "summary.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "reading/events/merge.h"
#include "table.h"

namespace monitor::report {
namespace {

std::string share_text(const std::optional<double> &cpu_ns, double wall_ns)
{
	return cpu_ns && wall_ns > 0
		   ? fmt::format("{} = {:.2f} % of one CPU", duration_text(*cpu_ns), *cpu_ns / wall_ns * 100)
		   : "unknown";
}

cost::ProbeCost not_counted()
{
	cost::ProbeCost cost;
	cost.why_unknown = "the trace is incomplete";
	return cost;
}

std::string lost_text(const Summary &summary)
{
	if (!summary.lost)
		return "unknown";
	std::string text = count_text(*summary.lost), where;
	for (std::size_t cpu = 0; cpu < summary.lost_by_cpu.size(); ++cpu)
		if (summary.lost_by_cpu[cpu])
			where += fmt::format("{}CPU {}: {}", where.empty() ? "" : ", ", cpu,
					     count_text(summary.lost_by_cpu[cpu]));
	if (!where.empty())
		text += " (" + where + ")";
	if (summary.claimed_lost.value_or(0))
		text += fmt::format(", by programs' own count {} more", count_text(*summary.claimed_lost));
	return text;
}

std::string clock_text(const Summary &summary)
{
	if (!summary.clock_bound_ns)
		return "unknown";
	std::string text = duration_text(static_cast<double>(*summary.clock_bound_ns));
	if (summary.clocks_not_compared)
		text += fmt::format(" on {} of {} CPUs", summary.cpus_online - summary.clocks_not_compared,
				    summary.cpus_online);
	return text;
}

// "" if the rows cover the whole recording.
std::string window_text(const std::optional<Window> &window, bool are_figures_of_it = false)
{
	if (!window || (window->is_all && window->cpus.empty() && !window->of_threads))
		return "";
	std::string text = fmt::format("rows: from {} to before {}", window->begin_text, window->end_text);
	for (const std::uint32_t &cpu : window->cpus)
		text += fmt::format("{}{}", &cpu == window->cpus.data() ? " on CPU " : ", ", cpu);
	return text + (window->of_threads ? ", of selected threads" : "") +
	       (are_figures_of_it ? "\n" : "\nwhole recording: ");
}

std::string periods_text(const analyze::Periods &periods, bool counts_only, std::size_t recordings)
{
	std::string text =
	    periods.count == 1 ? "\nof 1 period" : fmt::format("\nof {} periods", count_text(periods.count));
	if (recordings)
		text += fmt::format(" of {} recordings, between which nothing was recorded", recordings);
	if (periods.lossy)
		text += fmt::format(", in {} of which events were lost: their times and counts are too small",
				    count_text(periods.lossy));
	if (counts_only)
		text += "; only the numbers of events were recorded, no times";
	if (periods.late)
		text += fmt::format("; {} events came too late to be in any", count_text(periods.late));
	return text;
}

// For a recording of statistics, perhaps running: the figures of its periods in the window.
void use_periods(Summary &summary, const analyze::Periods &periods, const analyze::RecordingInfo &info,
		 const trace::Clock &clock)
{
	summary.periods = periods;
	summary.recordings = info.number_of_lives();
	summary.counts_only = info.has_counts_only();
	summary.wall_ns = static_cast<double>(clock.to_ns(periods.ticks));
	summary.recorder_cpu_ns = static_cast<double>(periods.recorder_ns);
	summary.lost_by_cpu.clear();
	const bool is_counted = periods.lost || !periods.lossy; // what was lost
	summary.lost = is_counted ? std::optional(periods.lost) : std::nullopt;
	if (!info.complete())
		return;
	analyze::RecordingInfo counted;
	counted.calibration = info.calibration;
	for (analyze::ClassCounts counts : info.classes) {
		const auto events = periods.events.find(counts.id);
		counts.seen = events == periods.events.end() ? 0 : events->second;
		counted.classes.push_back(std::move(counts));
	}
	summary.probes = cost::probe_cost(counted);
}

// The tokens in the streams, if the recording left no counts.
std::uint64_t count_tokens(trace::Trace &trace)
{
	std::uint64_t tokens = 0;
	trace::merge(trace, {}, [&](const trace::Event &event) { tokens += !event.is_control(); });
	return tokens;
}

} // namespace

Window window_of(const analyze::ThreadFold &fold, const trace::Trace &trace, const trace::TimeText &times)
{
	const std::uint64_t begin = fold.window_begin(), end = fold.window_end();
	return {trace.since_begin_ns(begin),
		trace.since_begin_ns(end),
		times(begin) + times.unit(),
		times(end) + times.unit(),
		fold.scope().cpus,
		fold.scope().threads.has_value(),
		fold.is_whole()};
}

Summary summarize(const trace::Trace &trace, const analyze::RecordingInfo &info, const analyze::ClockBound &bound,
		  std::uint64_t tokens)
{
	const trace::Clock &clock = trace.description().clock;
	Summary summary;
	summary.tokens = tokens;
	summary.complete = info.complete();
	summary.is_generic_ctf = trace.is_generic_ctf();
	summary.left_out = info.left_out;
	summary.unknown = info.unknown_text();
	summary.bytes = trace.size_bytes();
	summary.has_contradictory_ends = analyze::has_contradictory_ends(trace, info);
	const auto [begin, end] = analyze::window_of(trace, info);
	summary.wall_ns = static_cast<double>(clock.to_ns(end > begin ? end - begin : 0));
	if (info.present && !bound.intervals().empty())
		summary.clock_bound_ns = clock.to_ns(bound.largest());
	summary.clocks_not_compared = info.skew().not_compared;
	summary.cpus_online = info.skew().cpus_online;
	if (info.complete()) {
		summary.missing = info.tokens() - std::min(info.tokens(), tokens);
		if (!summary.missing)
			summary.lost = info.lost();
		if (info.has_losses_of_cpus())
			summary.lost_by_cpu = info.lost_by_cpu;
		if (info.user_card)
			summary.claimed_lost = info.user_card->discarded + info.user_card->early;
		summary.misses = info.missed();
		summary.other_recorders = info.other_recorders;
		summary.stack_opener_lost = info.stacks.unwinding.opener_lost;
		summary.pauses = info.pauses.number;
		summary.paused = info.paused();
		if (info.pauses.number)
			summary.paused_ns = static_cast<double>(clock.to_ns(info.pauses.ticks));
		if (info.calibration && info.calibration->phases) {
			summary.phases = info.calibration->phases->number;
			summary.phases_ns = static_cast<double>(clock.to_ns(info.calibration->phases->ticks));
		}
		if (info.has_possible_cpu_time(static_cast<std::uint64_t>(summary.wall_ns)))
			summary.recorder_cpu_ns = static_cast<double>(info.recorder.cpu_ns);
		summary.probes = cost::probe_cost(info);
	}
	return summary;
}

Summary summarize(const trace::Trace &trace, const analyze::RecordingInfo &info, const analyze::ClockBound &bound,
		  const analyze::ThreadFold &fold, const trace::Losses &losses)
{
	Summary summary = summarize(trace, info, bound, fold.tokens());
	summary.hidden_threads = fold.hidden_threads();
	const auto is_measured = [&](const char *edge) {
		const auto cost = info.cost_ns.find(edge);
		return cost != info.cost_ns.end() && cost->second > 0;
	};
	summary.user_has_edges = (info.has_program("sys_enter") && !is_measured("call_edge")) ||
				 (info.has_program("page_fault_user") && !is_measured("fault_edge"));
	for (const auto &[call, count] : fold.calls_of_unknown()) {
		summary.calls_of_unknown += count;
		summary.unknown_calls.emplace_back(fold.kinds().syscall_label(call), count);
	}
	std::ranges::stable_sort(summary.unknown_calls, std::greater<>(), [](const auto &of) { return of.second; });
	summary.functions_of_unknown = fold.functions_of_unknown();
	if (trace.is_generic_ctf())
		summary.lost = losses.total_lost();
	if (!trace.problems().empty())
		summary.lost.reset(); // events in damaged parts were not counted
	summary.window = window_of(fold, trace, trace::TimeText(trace, false));
	if (info.statistics)
		use_periods(summary, fold.periods(), info, trace.description().clock);
	return summary;
}

Summary summarize(trace::Trace &trace, const analyze::RecordingInfo &info)
{
	analyze::ClockBound bound(trace.description(), info);
	for (const auto &stream : trace.streams()) {
		if (!stream->info().is_recorder() || stream->is_foreign())
			continue;
		trace::Problems ignored;
		trace::Cursor cursor(*stream, trace.description(), ignored, trace.first_time());
		for (auto item = cursor.start(0); item != trace::Cursor::Item::end; item = cursor.advance())
			if (item == trace::Cursor::Item::event)
				bound.event(cursor.event());
	}
	if (info.statistics) {
		analyze::ThreadFold fold(trace, info);
		const trace::Losses losses = analyze::feed(trace, fold);
		return summarize(trace, info, bound, fold, losses);
	}
	return summarize(trace, info, bound, info.complete() ? info.tokens() : count_tokens(trace));
}

std::string range_text(const cost::ProbeCost &cost)
{
	if (!cost.is_of_real_code)
		return fmt::format(" (measured in {} phases without probes)", cost.phases);
	return cost.when.empty() ? "" : " (" + cost.when + ")";
}

// Probes in a loop are in the caches; in other code they are not, so costs computed from loops are lower bounds.
std::string damage_text(std::size_t problems)
{
	return problems == 0
		   ? ""
		   : fmt::format("parts of this trace that are damaged or missing, and were left out: {}\n", problems);
}

std::string probes_text(const Summary &summary)
{
	const std::optional<cost::ProbeCost> &cost = summary.probes;
	const double wall_ns = summary.wall_ns;
	if (!cost || wall_ns <= 0)
		return "unknown";
	if (!cost->low_ns)
		return fmt::format("unknown ({})", cost->why_unknown);
	if (cost->high_ns && (cost->phases || cost->is_of_real_code))
		return fmt::format("{} to {} = {:.2f} to {:.2f} % of one CPU{}", duration_text(*cost->low_ns),
				   duration_text(*cost->high_ns), *cost->low_ns / wall_ns * 100,
				   *cost->high_ns / wall_ns * 100, range_text(*cost));
	return fmt::format("at least {} (loops{}{})", share_text(cost->low_ns, wall_ns), cost->when.empty() ? "" : ", ",
			   cost->when);
}

std::string per_token_text(const Summary &summary)
{
	return summary.tokens && !summary.counts_only
		   ? fmt::format(", {:.2f} bytes per token",
				 static_cast<double>(summary.bytes) / static_cast<double>(summary.tokens))
		   : "";
}

std::string others_text(const ShownRows &shown)
{
	if (shown.of != ShownRows::Of::command || (!shown.amount && !shown.others.value_or(0)))
		return "";
	const std::string amount =
	    shown.is_time ? duration_text(static_cast<double>(shown.amount)) : count_text(shown.amount) + " stacks";
	return "left out: " +
	       (shown.others ? fmt::format("{} {} of other processes, {} in all", count_text(*shown.others),
					   *shown.others == 1 ? "row" : "rows", amount)
			     : amount + " of other processes") +
	       "; --all shows them\n";
}

std::string unknown_calls_text(const Summary &summary)
{
	constexpr std::size_t most = 5;
	std::vector<std::string> texts;
	for (const auto &[call, count] : summary.unknown_calls)
		texts.push_back(fmt::format("{} {}", call, count_text(count)));
	const std::size_t rest = texts.size() - std::min(texts.size(), most);
	texts.resize(texts.size() - rest);
	return fmt::format("{}{}", fmt::join(texts, ", "), rest ? fmt::format(" and {} other calls", rest) : "");
}

std::string summary_text(const Summary &summary)
{
	if (summary.is_generic_ctf)
		return window_text(summary.window) +
		       fmt::format("{} events, lost {}", count_text(summary.tokens), lost_text(summary));
	std::string text = window_text(summary.window, summary.periods.has_value());
	text += fmt::format("{} {}, lost {}, clock bound {}; cost: recorder {}, probes {}", count_text(summary.tokens),
			    summary.counts_only ? "events counted" : "tokens", lost_text(summary), clock_text(summary),
			    share_text(summary.recorder_cpu_ns, summary.wall_ns), probes_text(summary));
	if (summary.periods)
		text += periods_text(*summary.periods, summary.counts_only, summary.recordings);
	if (!summary.unknown.empty())
		text += "\n" + summary.unknown;
	if (summary.has_contradictory_ends)
		text += "\nstart and end in recording.json contradict the times of the tokens: all times are of the "
			"whole trace";
	if (summary.hidden_threads.value_or(0))
		text += fmt::format("\nthis machine's kernel hides {} threads from the probes: their time is unknown, "
				    "their events are missing",
				    *summary.hidden_threads);
	if (summary.calls_of_unknown)
		text += fmt::format("\n{} system calls are in no row: no token says which thread made them ({})",
				    count_text(summary.calls_of_unknown), unknown_calls_text(summary));
	if (summary.functions_of_unknown)
		text += fmt::format(
		    "\n{} entries and exits of functions are in no row: no token says which thread made them",
		    count_text(summary.functions_of_unknown));
	if (summary.user_has_edges && !summary.counts_only)
		text += "\nnot calibrated: user time includes the kernel's path into and out of each call and fault";
	if (summary.missing)
		text += fmt::format("\n{} tokens that were recorded are not in the files of this trace: parts of it "
				    "were removed or damaged; `monitor check` says which",
				    count_text(summary.missing));
	if (!summary.other_recorders.empty())
		text += fmt::format("\nanother recording ran too ({} {}): what its probes cost is not in these figures",
				    summary.other_recorders.size() == 1 ? "process" : "processes",
				    fmt::join(summary.other_recorders, ", "));
	if (summary.paused_ns)
		text += fmt::format("\npaused {} by triggers, {} in all: {} events were not stored",
				    summary.pauses == 1 ? "once" : count_text(summary.pauses) + " times",
				    duration_text(*summary.paused_ns), count_text(summary.paused));
	if (summary.phases)
		text += fmt::format(
		    "\nthe probes were detached {} times to calibrate, {} = {:.1f} % of the time: what happened then "
		    "is unknown{}",
		    count_text(summary.phases), duration_text(summary.phases_ns),
		    summary.phases_ns / summary.wall_ns * 100,
		    summary.probes && !summary.probes->why_not_in_command.empty()
			? fmt::format("; they did not say what an event costs ({})", summary.probes->why_not_in_command)
			: "");
	if (summary.misses.value_or(0))
		text += fmt::format(
		    "\n{} times the kernel refused to run a probe: that many events are missing from this trace",
		    count_text(*summary.misses));
	if (summary.stack_opener_lost)
		text += "\nthe process that opens files for --stacks was ended: stacks of what programs started or "
			"loaded later end early";
	if (!summary.complete)
		text += fmt::format(
		    "\n{}",
		    summary.periods
			? "this recording is still running or was killed: the period that had begun is not in it"
			: incomplete_text);
	return text;
}

std::string summary_json(const Summary &summary)
{
	const cost::ProbeCost probes = summary.probes.value_or(not_counted());
	nlohmann::ordered_json json = {{"tokens", summary.tokens},
				       {"lost", or_null(summary.lost)},
				       {"missing", summary.missing},
				       {"misses", or_null(summary.misses)},
				       {"other_recorders", summary.other_recorders},
				       {"pauses", summary.pauses},
				       {"paused", summary.paused},
				       {"paused_ns", or_null(summary.paused_ns)},
				       {"calibration_phases", summary.phases},
				       {"calibration_phases_ns", summary.phases_ns},
				       {"clock_bound_ns", or_null(summary.clock_bound_ns)},
				       {"bytes", summary.bytes},
				       {"wall_ns", summary.wall_ns},
				       {"recorder_cpu_ns", or_null(summary.recorder_cpu_ns)},
				       {"probes_cpu_ns_calibrated", or_null(probes.median_ns)},
				       {"probes_cpu_ns_low", or_null(probes.low_ns)},
				       {"probes_cpu_ns_high", or_null(probes.high_ns)},
				       {"probes_unknown", probes.median_ns
							      ? nlohmann::ordered_json(nullptr)
							      : nlohmann::ordered_json(probes.why_unknown)},
				       {"hidden_threads", or_null(summary.hidden_threads)},
				       {"calls_of_unknown", summary.calls_of_unknown},
				       {"unknown_calls", nlohmann::ordered_json::object()},
				       {"functions_of_unknown", summary.functions_of_unknown},
				       {"user_has_edges", summary.user_has_edges},
				       {"complete", summary.complete}};
	if (probes.is_of_real_code)
		json["probes_of_real_code"] = true;
	for (const auto &[call, count] : summary.unknown_calls)
		json["unknown_calls"][call] = count;
	if (const std::optional<Window> &window = summary.window) {
		json["window"] = {{"begin_ns", window->begin_ns},
				  {"end_ns", window->end_ns},
				  {"cpus", nullptr},
				  {"selected_threads", window->of_threads}};
		if (!window->cpus.empty())
			json["window"]["cpus"] = window->cpus;
	}
	if (const std::optional<ShownRows> &shown = summary.shown_rows) {
		constexpr const char *of[] = {"all", "command", "options"};
		auto &selection = json["selection"] = {{"of", of[static_cast<std::size_t>(shown->of)]}};
		if (shown->of == ShownRows::Of::command && shown->others)
			selection["others"] = *shown->others;
		if (shown->of == ShownRows::Of::command)
			selection[shown->is_time ? "others_total_ns" : "others_total"] = shown->amount;
	}
	if (!summary.left_out.empty()) {
		json["left_out"] = summary.left_out;
		json["unknown"] = summary.unknown;
	}
	if (summary.has_contradictory_ends)
		json["contradictory_ends"] = true;
	if (summary.clocks_not_compared)
		json["clocks_not_compared"] = summary.clocks_not_compared;
	if (summary.stack_opener_lost)
		json["stack_opener_lost"] = true;
	if (summary.claimed_lost)
		json["claimed_lost"] = *summary.claimed_lost;
	if (const std::optional<analyze::Periods> &periods = summary.periods)
		json["periods"] = {{"count", periods->count},
				   {"lossy", periods->lossy},
				   {"late", periods->late},
				   {"counts_only", summary.counts_only},
				   {"recordings", std::max<std::size_t>(summary.recordings, 1)}};
	return json_dump(json);
}

} // namespace monitor::report
