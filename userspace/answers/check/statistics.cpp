// SPDX-License-Identifier: MIT
#include "statistics.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "counted_periods.h"
#include "kernel_totals.h"
#include "monitor/function_table.h"
#include "reading/analyze/thread_fold.h"
#include "reading/events/fetched_packets.h"

namespace monitor::check {
namespace {

// Whether one recording ended, or was killed, and the next one into the same trace begins there.
bool is_between_recordings(const RecordingInfo &info, std::uint64_t end, std::uint64_t begin)
{
	const auto follows = [&](const Moment &start) {
		return start.time && end <= *start.time && begin <= *start.time;
	};
	return begin > end && !info.lives.empty() &&
	       (follows(info.start) || std::ranges::any_of(info.lives, follows, &Life::start));
}

// Files of periods, whole ones of which may have been removed. Periods must be adjacent.
Statement judge_sequence(const trace::Trace &trace, const RecordingInfo &info)
{
	const trace::Clock &clock = trace.description().clock;
	std::vector<std::pair<std::uint64_t, std::uint64_t>> periods;
	for (const auto &stream : trace.streams())
		if (trace::is_period(*stream))
			periods.emplace_back(stream->begin_time(), stream->end_time());
	if (periods.empty())
		return {"periods", Verdict::fails, "there is no period"};
	std::ranges::sort(periods);
	std::uint64_t pauses = 0, paused = 0;
	for (std::size_t i = 1; i < periods.size(); ++i)
		if (const auto [end, begin] = std::pair(periods[i - 1].second, periods[i].first);
		    is_between_recordings(info, end, begin)) {
			++pauses;
			paused += begin - end;
		} else if (begin != end) {
			const double at = static_cast<double>(trace.since_begin_ns(end)) / 1e9;
			return {"periods", Verdict::fails,
				begin > end ? fmt::format("a period is missing: {:.3f} s from {:.3f} s on",
							  static_cast<double>(clock.to_ns(begin - end)) / 1e9, at)
					    : fmt::format("two periods overlap at {:.3f} s", at)};
		}
	// Killed recording: the last period is missing, and its length is unknown.
	if (const std::uint64_t end = periods.back().second; info.complete() && info.end.time && *info.end.time != end)
		return Statement(
		    "periods", Verdict::fails, "the periods end {:.3f} s {} the recording did",
		    static_cast<double>(clock.to_ns(std::max(*info.end.time, end) - std::min(*info.end.time, end))) /
			1e9,
		    *info.end.time > end ? "before" : "after");
	if (pauses)
		return Statement("periods", Verdict::holds,
				 "{} periods of {} recordings follow each other; between these nothing was recorded, "
				 "for {:.3f} s in all",
				 periods.size(), info.number_of_lives(),
				 static_cast<double>(clock.to_ns(paused)) / 1e9);
	return Statement("periods", Verdict::holds, "{} periods follow each other without a hole", periods.size());
}

// Trace::open compares the marks.
Statement judge_ends(const trace::Trace &trace)
{
	if (trace.description().find_env("marked_periods") == nullptr)
		return {"period_ends", Verdict::not_witnessed,
			"whether the periods' files are whole is not known: their recorder wrote no end marks"};
	if (!trace.problems().empty())
		return {"period_ends", Verdict::not_checked, "files are damaged, so their ends are not compared"};
	return Statement(
	    "period_ends", Verdict::holds, "{} files end with the mark that says how much they hold",
	    std::ranges::count_if(trace.streams(), [](const auto &stream) { return trace::is_period(*stream); }));
}

// Lost events are no failure if the periods report them.
Statement judge_losses(const Periods &periods, const RecordingInfo &info)
{
	if (info.has_counts_only()) {
		const std::uint64_t lost = info.lost() + info.missed();
		return Statement("losses", lost == periods.lost ? Verdict::holds : Verdict::fails,
				 "the probes lost {}, the periods lack {} (in {} of {} periods)", lost, periods.lost,
				 periods.lossy, periods.count);
	}
	const std::uint64_t of_programs = info.user_card ? info.user_card->discarded : 0;
	return Statement(
	    "losses", info.lost() + of_programs == periods.lost ? Verdict::holds : Verdict::fails,
	    "the probes discarded {}{}, the periods lack {} (in {} of {} periods); {} came too late to be in any",
	    info.lost(), of_programs ? fmt::format(" and programs' rings {}", of_programs) : "", periods.lost,
	    periods.lossy, periods.count, periods.late);
}

std::uint64_t count_of(const std::map<std::uint32_t, std::uint64_t> &events, unsigned id)
{
	const auto found = events.find(id);
	return found == events.end() ? 0 : found->second;
}

void judge_conservation(const Periods &periods, const RecordingInfo &info, Statements &statements)
{
	for (const ClassCounts &counts : info.classes) {
		const std::uint64_t within = count_of(periods.events, counts.id),
				    outside = count_of(periods.outside, counts.id);
		if (counts.written() == 0 && within + outside == 0)
			continue;
		statements.add("conservation", counts.written() == within + outside ? Verdict::holds : Verdict::fails,
			       "{} ({}): the probes passed on {}, the periods have {}, and {} were before the first or "
			       "after the last one",
			       counts.name, counts.id, counts.written(), within, outside);
	}
}

// Events of programs, which no probe counts, but the recorder when it reads them.
void judge_user_events(const Periods &periods, const RecordingInfo &info, Statements &statements)
{
	if (!info.user_card)
		return;
	const auto of_programs = [](const std::map<std::uint32_t, std::uint64_t> &events) {
		std::uint64_t sum = 0;
		for (auto event = events.lower_bound(EDC_ID_USER_FIRST); event != events.end(); ++event)
			sum += event->second;
		return sum;
	};
	const std::uint64_t within = of_programs(periods.events), outside = of_programs(periods.outside);
	statements.add("user_events", info.user_card->tokens == within + outside ? Verdict::holds : Verdict::fails,
		       "{} events of {} instrumented processes were read, the periods have {}, and {} were before the "
		       "first or after the last one",
		       info.user_card->tokens, info.user_card->processes, within, outside);
}

// The ids of the classes that begin activities.
std::set<std::uint32_t> activity_begin_classes(const trace::Description &description)
{
	constexpr std::string_view begin = "_begin";
	std::set<std::uint32_t> ids;
	for (const auto &cls : description.classes()) {
		const bool is_user = cls->domain == trace::Domain::user;
		const std::string name = cls->name;
		const bool is_pair =
		    is_user && name.ends_with(begin) && name.size() > begin.size() &&
		    std::ranges::any_of(
			description.find(name.substr(0, name.size() - begin.size()) + "_end"),
			[](const trace::EventClass *end) { return end->domain == trace::Domain::user; });
		if (is_pair || name == (is_user ? EDC_FUNCTION_ENTRY_CLASS : "function_entry"))
			ids.insert(cls->id);
	}
	return ids;
}

// Activities that began in the periods must have ended, lack an end, or be open; so may some that began before.
void judge_activities(const Periods &periods, const RecordingInfo &info, const trace::Description &description,
		      bool has_hidden, Statements &statements)
{
	std::uint64_t begins = 0, outside = 0;
	for (const std::uint32_t id : activity_begin_classes(description)) {
		begins += count_of(periods.events, id);
		outside += count_of(periods.outside, id);
	}
	const std::uint64_t recorded = periods.activities + periods.unpaired_begins + periods.open;
	if (begins + recorded == 0)
		return;
	// Then some begins may belong to no activity: the thread was unknown, or they came too late.
	const bool may_lack = has_hidden || periods.lossy || periods.late || !info.functions.budget.left_out.empty();
	statements.add("activities",
		       recorded > begins + outside || (recorded < begins && !may_lack) ? Verdict::fails
										       : Verdict::holds,
		       "of programs' activities {} began in the periods; {} ended, {} have no end, {} are still open",
		       begins, periods.activities, periods.unpaired_begins, periods.open);
}

// The kernel's count covers less time than all periods.
Statement judge_switches(const Periods &periods, const RecordingInfo &info, bool has_hidden)
{
	if (!info.kernel_counts.start || !info.kernel_counts.end || has_hidden || periods.lossy ||
	    !info.attached("sched_switch"))
		return {"context_switches", Verdict::not_checked,
			has_hidden ? "this machine's kernel hides threads from the probes, so its count of context "
				     "switches is not compared"
			: periods.lossy
			    ? "events were lost, so their number is not compared with the kernel's own figures"
			    : "the kernel's own count of context switches is not known"};
	if (const auto stepped_back =
		judge_step_back("context_switches", "context switches", info.kernel_counts.start->context_switches,
				info.kernel_counts.end->context_switches, false))
		return *stepped_back;
	std::uint64_t counted = 0;
	for (const ClassCounts &counts : info.classes)
		if (counts.name == "sched_switch")
			counted += count_of(periods.events, counts.id) + count_of(periods.outside, counts.id);
	const std::uint64_t kernel =
	    info.kernel_counts.end->context_switches - info.kernel_counts.start->context_switches;
	return Statement("context_switches", counted >= kernel ? Verdict::holds : Verdict::fails,
			 "the kernel counted {} context switches; the recording, which was a little longer, has {}",
			 kernel, counted);
}

} // namespace

void judge_statistics(trace::Trace &trace, const RecordingInfo &info, Statements &statements)
{
	// Counts are known only of the last recording into the trace.
	const std::uint64_t begin = info.start.time.value_or(0);
	ThreadFold fold(trace, info, {{info.lives.empty() ? 0 : begin, ~std::uint64_t(0)}, {}, {}, {}});
	feed(trace, fold);
	const Periods &periods = fold.periods();
	if (!trace::fetched_parts(trace).empty())
		return statements.add("periods", Verdict::not_checked,
				      "only a part of the trace is here, so it is not known which periods are missing");
	statements.push_back(judge_sequence(trace, info));
	statements.push_back(judge_ends(trace));
	if (!info.complete())
		return statements.add("conservation", Verdict::not_checked,
				      "what the probes counted is known when the recording has ended");
	if (trace.first_time() > begin)
		return statements.add(
		    "conservation", Verdict::not_checked,
		    "periods at the beginning were removed, so their sum is not compared with what the probes counted");
	statements.push_back(judge_losses(periods, info));
	judge_conservation(periods, info, statements);
	if (info.has_counts_only())
		return judge_counted(info, statements);
	judge_user_events(periods, info, statements);
	const bool has_hidden = fold.hidden_threads() > 0;
	judge_activities(periods, info, trace.description(), has_hidden, statements);
	statements.push_back(judge_switches(periods, info, has_hidden));
}

} // namespace monitor::check
