// SPDX-License-Identifier: MIT
#include "matched_events.h"

#include <algorithm>

#include "card_options.h"

namespace monitor::record {

using recording_file::EventCount, recording_file::EventTime;

namespace {

// The totals of record --count: summed over CPUs and levels for the kernel's events, and from the drain for programs'
// events. Either card may be null.
std::vector<EventCount> event_counts(const std::vector<NamedExpression> &counts, const card::BpfCard *card,
				     const card::UserCard *users)
{
	std::vector<EventCount> all;
	const std::vector<std::uint64_t> matched = users ? users->counts().matched : std::vector<std::uint64_t>();
	for (std::size_t i = 0; i < counts.size(); ++i) {
		EventCount &of = all.emplace_back();
		static_cast<NamedExpression &>(of) = counts[i];
		for (unsigned cpu = 0; card && cpu < card->cpus(); ++cpu) {
			std::uint64_t sum = 0;
			for (const edc_level &level : card->area(cpu).level)
				sum += __atomic_load_n(&level.count[i], __ATOMIC_RELAXED);
			of.by_cpu.push_back(sum);
			of.count += sum;
		}
		of.of_programs = i < matched.size() ? matched[i] : 0;
		of.count += of.of_programs;
	}
	return all;
}

std::uint64_t read(const __u64 &value)
{
	return __atomic_load_n(&value, __ATOMIC_RELAXED);
}

void add(EventTime &all, const edc_timed &timed)
{
	recording_file::EventTimeOfCpu &cpu = all.by_cpu.emplace_back();
	cpu.total = read(timed.sum);
	for (unsigned i = 0; i < EDC_TIMED_BUCKETS; ++i)
		if (const std::uint64_t number = read(timed.bucket[i])) {
			all.buckets[i] += number;
			cpu.number += number;
		}
	all.starts += read(timed.starts);
	all.replaced += read(timed.replaced);
	all.forgotten += read(timed.forgotten);
	all.ends += read(timed.ends);
	if (cpu.number == 0)
		return;
	const std::uint64_t shortest = ~read(timed.not_shortest);
	all.shortest = all.number ? std::min(all.shortest, shortest) : shortest;
	all.longest = std::max(all.longest, read(timed.longest));
	all.number += cpu.number;
	all.total += cpu.total;
}

// The results of record --time, summed over the CPUs (monitor/timing.h). While probes run, members of a result may be
// inconsistent by some events. Empty without a card.
std::vector<EventTime> event_times(const std::vector<NamedTime> &times, const card::BpfCard *card)
{
	std::vector<EventTime> all;
	for (std::size_t i = 0; i < times.size(); ++i) {
		static_cast<NamedTime &>(all.emplace_back()) = times[i];
		for (unsigned cpu = 0; card && cpu < card->cpus(); ++cpu)
			add(all[i], card->area(cpu).timed[i]);
	}
	return all;
}

} // namespace

std::shared_ptr<const EventMatcher> MatchedEvents::make(const Classes &classes) const
{
	return options_.matching->make(describe_(classes), begin_time_, with_programs_);
}

void MatchedEvents::expect_decidable(bool with_programs)
{
	with_programs_ = with_programs;
	decidable_ = make({});
	for (const std::string &doubt : decidable_->doubts)
		notify_(doubt + " It may be one of a program's events.");
	for (const std::string &hint : decidable_->hints)
		notify_(hint);
	expect_families(options_, *decidable_, notify_);
}

void MatchedEvents::start(card::BpfCard *card, const ClockSteering &steering, Contents &file)
{
	begin_time_ = steering.last().time;
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
		notify_(doubt + " Nor has any of the programs'.");
	for (const std::string &note : matcher->notes)
		notify_(note);
	file.counted = {counted_since_.time, end.monotonic_ns - counted_since_.monotonic_ns};
	file.counts = event_counts(request().counts, card, users);
	file.times = event_times(request().times, card);
}

} // namespace monitor::record
