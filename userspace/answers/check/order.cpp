// SPDX-License-Identifier: MIT
#include "order.h"

#include <algorithm>
#include <limits>

#include "answers/report/table.h"
#include "base/escape.h"
#include "reading/events/event_order.h"
#include "reading/events/merge.h"

namespace monitor::check {
namespace {

using trace::EventOrder;

// Adjacent events of the listing that are from different machines.
struct Neighbours {
	std::uint64_t pairs = 0, unknown = 0;
};

Neighbours count_neighbours(trace::Trace &trace)
{
	const EventOrder order(trace);
	Neighbours found;
	std::optional<EventOrder::Instant> before;
	trace::merge(trace, {}, [&](const trace::Event &event) {
		const EventOrder::Instant now{event.stream->machine, event.time};
		if (before && before->machine != now.machine) {
			++found.pairs;
			found.unknown += !order.is_before(*before, now);
		}
		before = now;
	});
	return found;
}

struct JudgedMessages {
	std::uint64_t between = 0; // messages between hosts
	std::uint64_t early = 0;   // those proven to arrive before they were sent
	std::uint64_t unknown = 0; // those whose order the clocks do not determine
	std::string first_early;   // the key of the first early one
};

JudgedMessages judge_messages(const trace::Trace &trace, const collection::Messages &found)
{
	const EventOrder order(trace);
	JudgedMessages judged;
	for (const auto &[key, sent] : found.sent) {
		const auto received = found.received.find(key);
		if (received == found.received.end() || received->second.machine == sent.machine)
			continue;
		++judged.between;
		const auto is_early = order.is_before(received->second, sent);
		judged.unknown += !is_early;
		if (!is_early.value_or(false))
			continue;
		if (judged.early == 0 || key < judged.first_early)
			judged.first_early = key;
		++judged.early;
	}
	return judged;
}

} // namespace

trace::MachineClock::Range bounds_of_clock(const trace::Trace &trace, std::size_t machine)
{
	std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;
	for (const auto &stream : trace.streams()) {
		if (stream->info().machine != machine || stream->is_foreign())
			continue;
		begin = std::min(begin, stream->begin_time());
		end = std::max(end, stream->end_time());
	}
	return trace.machine_clocks()[machine].range(std::min(begin, end), end);
}

std::string bound_text(const trace::MachineClock::Range &range)
{
	if (range.known == 0)
		return "unknown";
	const auto duration = [](std::uint64_t ns) { return report::duration_text(static_cast<double>(ns)); };
	std::string text = "at most " + duration(range.max);
	if (range.min < range.max)
		text = duration(range.min) + " to " + duration(range.max);
	if (range.unknown > 0)
		text += fmt::format(", unknown in {} of {} windows", range.unknown, range.known + range.unknown);
	return text;
}

void judge_order(trace::Trace &trace, Statements &statements)
{
	for (std::size_t i = 0; i < trace.machines().size(); ++i) {
		const auto range = bounds_of_clock(trace, i);
		statements.add("clock_of_host", range.unknown ? Verdict::not_witnessed : Verdict::holds,
			       "the clock of {} is off the common one by: {}", printable(trace.machines()[i]),
			       bound_text(range));
	}
	const Neighbours found = count_neighbours(trace);
	statements.add("order_between_hosts", found.unknown ? Verdict::not_witnessed : Verdict::holds,
		       "of {} pairs of neighbouring events of different hosts, the order of {} is not known: they are "
		       "closer than the bounds of the clocks, or a bound is unknown",
		       found.pairs, found.unknown);
}

void judge_causality(trace::Trace &trace, const collection::MessageText &text, Statements &statements)
{
	const JudgedMessages judged = judge_messages(trace, collection::find_messages(trace, text));
	if (judged.between == 0)
		return statements.add("causality", Verdict::not_checked,
				      "no message of --sync passed between two hosts: check --sync and --key");
	if (judged.early > 0)
		return statements.add(
		    "causality", Verdict::fails,
		    "{} of {} messages between hosts arrive before they were sent, by more than the bounds of the "
		    "clocks allow (the first by its key: {}): the bounds are too small, or other events have that key; "
		    "monitor merge --sync finds bounds that hold",
		    judged.early, judged.between, judged.first_early);
	statements.add("causality", judged.unknown == judged.between ? Verdict::not_witnessed : Verdict::holds,
		       "no message of {} between hosts arrives before it was sent; for {} of them the clocks alone do "
		       "not say which came first",
		       judged.between, judged.unknown);
}

} // namespace monitor::check
