// SPDX-License-Identifier: MIT
#include "flight.h"

#include "base/grow.h"
#include "reading/analyze/recording_info.h"

namespace monitor::check {

FlightCheck::FlightCheck(const trace::Description &description) : count_(description.classes().size())
{
	for (const auto &cls : description.classes())
		if (cls->id == EDC_ID_BLOCK_TOKENS && cls->size_bytes != 0)
			count_[cls->index] = trace::FieldRef(*cls, "tokens");
}

void FlightCheck::event(const trace::Event &event)
{
	if (event.stream->is_user())
		user_events_ += !event.is_control();
	if (event.stream->is_user() || event.stream->is_recorder() || !event.is_token())
		return;
	Ring &ring = grow_to(rings_, event.stream->index);
	const trace::FieldRef &count = count_[event.cls->index];
	if (!count) {
		++ring.expected;
		return;
	}
	const std::uint64_t so_far = count.get(event);
	if (!ring.is_known) {
		ring.name = event.stream->name;
		ring.is_known = true;
		ring.surplus += ring.expected; // tokens before its first count
		ring.first = ring.expected = so_far;
	}
	ring.missing += so_far - std::min(so_far, ring.expected);
	ring.surplus += ring.expected - std::min(so_far, ring.expected);
	ring.expected = so_far;
	++ring.blocks;
}

void FlightCheck::judge(const RecordingInfo &info, Statements &statements) const
{
	const FlightInfo &flight = *info.flight;
	std::uint64_t tokens = 0, overwritten = 0, missing = 0, blocks = 0;
	const Ring *wrong = nullptr;
	for (const Ring &ring : rings_) {
		tokens += ring.expected - ring.first;
		overwritten += ring.first;
		missing += ring.missing;
		blocks += ring.blocks;
		if (ring.missing || ring.surplus)
			wrong = &ring;
	}
	if (wrong)
		statements.add("flight_blocks", Verdict::fails,
			       "the blocks of {} say that their ring had {} tokens more and {} fewer than are in them; "
			       "of all rings {} are missing",
			       wrong->name, wrong->missing, wrong->surplus, missing);
	else
		statements.add("flight_blocks", blocks ? Verdict::holds : Verdict::not_witnessed,
			       "between the counts at the start of {} blocks are as many tokens as their rings had, {} "
			       "in all; the {} before them were overwritten",
			       blocks, tokens, overwritten);
	if (flight.overwritten != overwritten)
		statements.add(
		    "flight_overwritten", Verdict::fails,
		    "the recorder says that {} tokens before the snapshot were overwritten, its blocks say {}",
		    flight.overwritten, overwritten);
	if (flight.torn_blocks)
		statements.add("flight_torn", Verdict::holds,
			       "{} blocks were overwritten while they were copied, and are not in the snapshot",
			       flight.torn_blocks);
	if (!flight.is_settled)
		statements.add("flight_end", Verdict::not_checked,
			       "a probe was in progress when the snapshot ended, and its event may be missing");
	if (user_events_)
		statements.add("flight_programs", Verdict::not_checked,
			       "{} events of programs are in the snapshot{}; their number is not compared",
			       user_events_,
			       flight.programs_since > info.start_time().value_or(0)
				   ? ", of a part of its time only: older ones were overwritten"
				   : "");
}

} // namespace monitor::check
