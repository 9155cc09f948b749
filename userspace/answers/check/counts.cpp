// SPDX-License-Identifier: MIT
#include "counts.h"

#include <optional>
#include <string>

#include "base/error.h"
#include "base/escape.h"
#include "monitor/matcher.h"
#include "reading/events/merge.h"
#include "reading/events/threads.h"
#include "reading/filter/filter.h"
#include "times.h"

namespace monitor::check {
namespace {

struct TokensOfCount {
	const EventCount &count;
	std::optional<filter::Filter> filter;
	std::uint64_t matching = 0; // tokens
};

// Why the tokens are not all that were counted, or may match differently; "" otherwise.
std::string why_no_witness(const trace::Trace &trace, const RecordingInfo &info)
{
	if (!info.complete())
		return "the recording was not completed";
	if (!info.has_tokens || !info.filter.expression.empty())
		return "not all events were recorded";
	if (info.pauses.number)
		return "triggers paused the recording";
	if (info.lost() || (info.user_card && info.user_card->discarded + info.user_card->early) ||
	    !trace.problems().empty())
		return "events were lost";
	return "";
}

// The recorder's own tokens are not events, nor are those that extend others.
bool is_counted(const trace::EventClass &cls)
{
	return cls.domain == trace::Domain::user || (cls.domain == trace::Domain::kernel && !EDC_NEVER_COUNTED(cls.id));
}

void count_tokens(trace::Trace &trace, std::vector<TokensOfCount> &all)
{
	trace::Threads threads(trace);
	trace::merge(
	    trace, {},
	    [&](const trace::Event &event) {
		    const std::int64_t tid = threads.before(event);
		    for (TokensOfCount &one : all)
			    if (is_counted(*event.cls) && one.filter && one.filter->matches(event, {tid, &threads}))
				    ++one.matching;
		    threads.after(event);
	    },
	    [&](const trace::StreamInfo &stream, std::uint64_t, std::uint64_t, std::uint64_t) { threads.gap(stream); });
}

} // namespace

void judge_counts(trace::Trace &trace, const RecordingInfo &info, Statements &statements)
{
	std::vector<TokensOfCount> all;
	const std::string why_not = why_no_witness(trace, info);
	for (const EventCount &count : info.counts) {
		TokensOfCount &added = all.emplace_back(TokensOfCount{count, {}, 0});
		try {
			if (why_not.empty())
				added.filter.emplace(count.expression, trace.description(), trace.first_time(),
						     filter::KnownNames{}, nullptr, filter::Evaluator::probe);
		} catch (const Error &) {
			// The file is untrusted, and no event may have the names.
		}
	}
	if (why_not.empty() && !all.empty())
		count_tokens(trace, all);
	judge_times(trace, info, why_not, statements);
	for (const TokensOfCount &one : all) {
		const std::string name = printable(one.count.name);
		if (one.count.is_damaged) {
			statements.add("counts", Verdict::fails,
				       "the count {}: its numbers in recording.json are damaged", name);
			continue;
		}
		if (!one.filter || one.filter->needs_threads()) {
			const std::string why = !why_not.empty() ? why_not
						: one.filter
						    ? "the tokens do not name every thread that the kernel knew"
						    : "no event has the names of its expression";
			statements.add("counts", Verdict::not_witnessed, "the count {} of {}: {}", name,
				       one.count.count, why);
			continue;
		}
		statements.add("counts", one.matching == one.count.count ? Verdict::holds : Verdict::fails,
			       "the count {}: {} events were counted, {} tokens match its expression", name,
			       one.count.count, one.matching);
	}
}

} // namespace monitor::check
