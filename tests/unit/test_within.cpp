// SPDX-License-Identifier: MIT
// `within T` at exactly the limit: activities, rules and triggers agree, to the tick, with the whole nanoseconds that
// record --time shows.
#include <catch2/catch.hpp>

#include "answers/rules/run.h"
#include "answers/trigger/rehearsal.h"
#include "answers/trigger/trigger_text.h"
#include "base/within.h"
#include "monitor/timing.h"
#include "reading/activities/pairs.h"
#include "reading/events/merge.h"
#include "samples.h"

namespace test_within {

using namespace monitor;

namespace {

const std::string classes = samples::event_block(256, "A", "u16_t key;") + samples::event_block(257, "B", "u16_t key;");
constexpr std::uint64_t begin = 1000;

// A, and B this many ticks after it, by a clock of this frequency.
trace::Trace two_events(samples::StreamWriter &writer, std::uint64_t frequency_hz, std::uint64_t ticks)
{
	writer.open(begin);
	writer.post(begin, 256, 1);
	writer.post(begin + ticks, 257, 1);
	std::string text = samples::description_text(classes), why;
	const std::string usual = "freq = 1000000000";
	text.replace(text.find(usual), usual.size(), fmt::format("freq = {}", frequency_hz));
	std::vector<std::unique_ptr<trace::Stream>> streams;
	streams.push_back(samples::stream("s0", writer.bytes()));
	return {trace::read_description(text, why), std::move(streams)};
}

bool is_measured(trace::Trace &trace, const std::string &pair)
{
	const activities::Definition definition =
	    activities::compile({"a", "", "", "", "", "", false, "--pair", pair}, trace.description(), 0);
	activities::Pairs pairs(definition);
	merge(trace, {}, [&](const trace::Event &event) { pairs.event(event, {}); });
	CHECK(pairs.unpaired().ends == 0);
	CHECK(pairs.unpaired().late + pairs.rows().all().size() == 1);
	return pairs.unpaired().late == 0;
}

bool holds(trace::Trace &trace, const std::string &pair)
{
	return rules::run(trace, rules::parse_rules("r: " + pair, "test"), {}).at(0).verdict ==
	       rules::Outcome::Verdict::holds;
}

bool fires(trace::Trace &trace, const std::string &pair)
{
	trigger::Rehearsal rehearsal(trigger::parse_triggers({pair + " => mark"}), trace);
	merge(trace, {}, [&](const trace::Event &event) { rehearsal.event(event, {}); });
	return !rehearsal.firings().empty();
}

std::uint64_t timed_ns(const trace::Clock &clock, std::uint64_t ticks)
{
	const auto pending = std::make_unique<edc_pending_starts>();
	edc_timed timed{};
	edc_timed_start(&timed, pending.get(), 1, begin);
	edc_timed_end(&timed, pending.get(), 1, begin + ticks);
	return clock.to_ns(timed.longest);
}

} // namespace

TEST_CASE("within: one limit for activities, rules, triggers and times, whatever the clock")
{
	for (const std::uint64_t frequency_hz :
	     {24'000'000ull, 999'999'937ull, 1'000'000'000ull, 2'596'000'000ull, 3'000'000'000ull})
		for (const std::uint64_t limit_ns : {1000ull, 1001ull, 2500ull}) {
			const std::uint64_t near = limit_ns * frequency_hz / 1'000'000'000;
			for (std::uint64_t ticks = near - 2; ticks <= near + 4; ++ticks) {
				CAPTURE(frequency_hz, limit_ns, ticks);
				samples::StreamWriter writer(0, 0);
				trace::Trace trace = two_events(writer, frequency_hz, ticks);
				const std::string end = fmt::format(R"( name == "B" within {} ns per key)", limit_ns);
				const bool is_within = timed_ns(trace.description().clock, ticks) <= limit_ns;
				CHECK(is_measured(trace, R"(name == "A" then)" + end) == is_within);
				CHECK(holds(trace, R"(name == "A" then)" + end) == is_within);
				CHECK(holds(trace, R"(name == "A" not followed by)" + end) == !is_within);
				CHECK(fires(trace, R"(name == "A" then)" + end) == is_within);
				CHECK(fires(trace, R"(name == "A" not followed by)" + end) == !is_within);
				// The recorder looks for what is older than this.
				CHECK((begin < begin + ticks - ticks_within(limit_ns, frequency_hz)) == !is_within);
			}
		}
}

TEST_CASE("within: the largest and the smallest limits")
{
	CHECK(ticks_within(0, 1'000'000'000) == 0);
	CHECK(ticks_within(999, 1'000'000) == 0);
	NamedTrigger trigger;
	trigger.within_ns = 999;
	CHECK(trigger.within_ticks(1'000'000) == 1); // to probes none would be no limit
	CHECK(ticks_within(~0ull, 1'000'000'000) == ~0ull);
	CHECK(ticks_within(~0ull, 3'000'000'000) == ~0ull);
}

} // namespace test_within
