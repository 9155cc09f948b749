// SPDX-License-Identifier: MIT
#include "times.h"

#include <memory>
#include <unordered_map>

#include "base/error.h"
#include "base/escape.h"
#include "monitor/matcher.h"
#include "reading/activities/pairs.h"
#include "reading/events/merge.h"
#include "reading/events/threads.h"

namespace monitor::check {
namespace {

// Two events of a key this close on different CPUs may have been folded in another order than that of their times: a
// probe reads the clock first, and the hypervisor may stop it before the fold.
constexpr double close_ns = 100'000;

// The pairs of one --time; all durations are in one row.
struct TokensOfTime {
	struct Instant {
		std::uint64_t time = 0, cpu = 0;
	};

	const EventTime &time;
	std::unique_ptr<activities::Definition> definition; // null: its expressions do not fit the trace
	std::string refusal;                                // the reason for that
	std::unique_ptr<activities::Pairs> pairs;
	std::unordered_map<std::string, Instant> last; // the last event of each key
	std::uint64_t close = 0;                       // events too close to the previous one of their key

	void compile(trace::Trace &trace)
	{
		const std::string key = time.start_key + (time.end_key == time.start_key ? "" : " = " + time.end_key);
		try {
			definition = std::make_unique<activities::Definition>(
			    activities::compile({time.name, time.start, time.end, "", key, "", false, "--time"},
						trace.description(), trace.first_time(), filter::Evaluator::probe));
			pairs = std::make_unique<activities::Pairs>(*definition);
		} catch (const Error &error) { // the file is untrusted, and no event may have the names
			refusal = error.what();
		}
	}

	void event(const trace::Event &event, const filter::Running &running, std::uint64_t close_ticks)
	{
		pairs->event(event, running);
		if (definition->end->can_match(*event.cls) && definition->end->matches(event, running))
			note_close_events(definition->end_key, event, running, close_ticks);
		if (definition->start->can_match(*event.cls) && definition->start->matches(event, running))
			note_close_events(definition->start_key, event, running, close_ticks);
	}

private:
	void note_close_events(const activities::Keys &keys, const trace::Event &event, const filter::Running &running,
			       std::uint64_t close_ticks)
	{
		std::string key;
		// Events of one thread are ordered, but thread 0 is on every CPU.
		if (keys.thread(event, running).value_or(0) != 0 || !keys.append(event, running, key))
			return;
		Instant &before = last[key];
		close += before.time && before.cpu != event.cpu() && event.time - before.time < close_ticks;
		before = {event.time, event.cpu()};
	}
};

// With the kernel's rules for pairs.
EventTime folded(const activities::Pairs &pairs)
{
	EventTime found;
	for (const auto &[key, row] : pairs.rows().all()) {
		found.number = row.values.count();
		found.total = static_cast<std::uint64_t>(row.values.ticks());
		found.shortest = static_cast<std::uint64_t>(row.values.min());
		found.longest = static_cast<std::uint64_t>(row.values.max());
		row.values.visit([&](std::int64_t first, std::int64_t, std::uint64_t number) {
			found.buckets[edc_timed_bucket(static_cast<std::uint64_t>(first))] += number;
		});
	}
	const activities::Pairs::Unpaired unpaired = pairs.unpaired();
	found.ends = unpaired.ends;
	found.replaced = unpaired.restarted;
	found.starts = found.number + found.replaced + unpaired.open;
	return found;
}

bool are_equal(const EventTime &one, const EventTime &other)
{
	return one.number == other.number && one.total == other.total && one.shortest == other.shortest &&
	       one.longest == other.longest && one.buckets == other.buckets && one.ends == other.ends &&
	       one.replaced == other.replaced && one.starts == other.starts;
}

void pair_tokens(trace::Trace &trace, std::vector<TokensOfTime> &all)
{
	const auto close_ticks =
	    static_cast<std::uint64_t>(close_ns * 1e-9 * static_cast<double>(trace.description().clock.frequency_hz));
	trace::Threads threads(trace);
	trace::merge(
	    trace, {},
	    [&](const trace::Event &event) {
		    const std::int64_t tid = threads.before(event);
		    if (event.cls->domain == trace::Domain::kernel && !EDC_NEVER_COUNTED(event.cls->id))
			    for (TokensOfTime &one : all)
				    if (one.pairs)
					    one.event(event, {tid, &threads}, close_ticks);
		    threads.after(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t, std::uint64_t, std::uint64_t) { threads.gap(stream); });
}

Statement statement_of(const TokensOfTime &one, const std::string &why_not)
{
	const std::string name = printable(one.time.name);
	if (one.time.is_damaged)
		return Statement("times", Verdict::fails, "the time {}: its numbers in recording.json are damaged",
				 name);
	std::string why = why_not;
	if (why.empty() && !one.pairs)
		why = "its expressions do not fit this trace: " + one.refusal;
	else if (why.empty() && one.time.forgotten)
		why = "there was no room for some of the starts";
	else if (why.empty() && (one.definition->needs_names || one.pairs->unpaired().keyless))
		why = "the tokens do not name every thread that the kernel knew";
	if (!why.empty())
		return Statement("times", Verdict::not_witnessed, "the time {} of {} pairs: {}", name, one.time.number,
				 why);
	const EventTime found = folded(*one.pairs);
	const std::string figures =
	    fmt::format("the time {}: {} pairs of {} ticks were timed, the tokens have {} of {}", name, one.time.number,
			one.time.total, found.number, found.total);
	if (are_equal(found, one.time))
		return {"times", Verdict::holds, figures};
	// Each close event may end one pair more or less.
	const std::uint64_t difference =
	    found.number > one.time.number ? found.number - one.time.number : one.time.number - found.number;
	if (one.close && difference <= one.close)
		return Statement("times", Verdict::not_checked,
				 "{}; {} of their events are within {:.0f} us of one on another CPU, and may have been "
				 "timed in another order",
				 figures, one.close, close_ns / 1e3);
	return {"times", Verdict::fails, figures};
}

} // namespace

void judge_times(trace::Trace &trace, const RecordingInfo &info, const std::string &why_not, Statements &statements)
{
	std::vector<TokensOfTime> all;
	for (const EventTime &time : info.times) {
		TokensOfTime &added = all.emplace_back(TokensOfTime{time, {}, {}, {}, {}});
		if (why_not.empty())
			added.compile(trace);
	}
	if (why_not.empty() && !all.empty())
		pair_tokens(trace, all);
	for (const TokensOfTime &one : all)
		statements.push_back(statement_of(one, why_not));
}

} // namespace monitor::check
