// SPDX-License-Identifier: MIT
#include "matched_events.h"

#include <utility>

#include <fmt/format.h>

#include "card_options.h"
#include "recording/rings/event_counts.h"
#include "recording/rings/event_times.h"

namespace monitor::record {

MatchedEvents::MatchedEvents(const Options &options, Describe describe, Tell tell)
    : options_(options), describe_(std::move(describe)), tell_(std::move(tell))
{
}

std::shared_ptr<const EventMatcher> MatchedEvents::make(const Classes &classes) const
{
	return options_.matching->make(describe_(classes), begin_time_, with_programs_);
}

void MatchedEvents::expect_decidable(bool with_programs)
{
	with_programs_ = with_programs;
	decidable_ = make({});
	for (const std::string &doubt : decidable_->doubts)
		tell_(doubt + " It may be one of a program's events.");
	for (const std::string &hint : decidable_->hints)
		tell_(hint);
	needed_families_ = record::needed_families(options_, *decidable_, tell_);
	for (const std::string &family : needed_families_)
		tell_(
		    fmt::format("the family {} is recorded too, because the expressions are about its events", family));
}

void MatchedEvents::start(card::BpfCard *card, const ClockSteering &steering, Contents &file)
{
	begin_time_ = steering.first().time;
	const auto matcher = make({});
	counted_since_ = read_sync(steering.invariant_tsc());
	if (card)
		card->set_matcher(*matcher);
	if (card && options_.calibrates)
		for (const auto &[id, ns] : card->time_judgements(*matcher))
			file.judgements.push_back({id, ns});
	add_matching(file, request(), *matcher);
}

void MatchedEvents::write(ControlStream &to, const Sync &sync, const card::BpfCard *card,
			  const card::UserCard *users) const
{
	const std::vector<EventCount> counts = event_counts(request().counts, card, users);
	for (std::size_t i = 0; i < counts.size(); ++i)
		to.count(i, counts[i].count, sync.time);
	const std::vector<EventTime> times = event_times(request().times, card);
	for (std::size_t i = 0; i < times.size(); ++i)
		to.timed(i, times[i], sync.time);
}

void MatchedEvents::end(const Sync &end, const card::BpfCard *card, const card::UserCard *users, Contents &file) const
{
	const auto matcher = make(users ? users->classes() : Classes());
	add_matching(file, request(), *matcher);
	for (const std::string &doubt : matcher->doubts)
		tell_(doubt + " Nor has any of the programs'.");
	for (const std::string &note : matcher->notes)
		tell_(note);
	file.counted = {counted_since_.time, end.monotonic_ns - counted_since_.monotonic_ns};
	file.counts = event_counts(request().counts, card, users);
	file.times = event_times(request().times, card);
}

} // namespace monitor::record
