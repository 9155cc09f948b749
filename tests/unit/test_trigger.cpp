// SPDX-License-Identifier: MIT
// Triggers: their text, and when they fire, compared with a model that remembers all events.
#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>

#include "answers/trigger/trigger_text.h"
#include "base/error.h"
#include "base/seconds_text.h"
#include "monitor/trigger.h"

using monitor::NamedTrigger;
using monitor::TriggerAct;

namespace {

NamedTrigger parsed(const std::string &text)
{
	return monitor::trigger::parse_triggers({text}).at(0);
}

std::string refused(const std::string &text)
{
	try {
		parsed(text);
	} catch (const monitor::Error &error) {
		return error.what();
	}
	return "";
}

struct Stepper {
	edc_trigger trigger{};
	std::unique_ptr<edc_trigger_state> state = std::make_unique<edc_trigger_state>();
	__u64 began = 0, forgotten = 0;

	Stepper(unsigned kind, std::uint64_t within, unsigned times = 0)
	{
		trigger.kind = kind;
		trigger.within = within;
		trigger.times = times;
	}
	bool step(unsigned second, std::uint64_t key, std::uint64_t time)
	{
		return edc_trigger_step(&trigger, state.get(), second, key, time, &began, &forgotten);
	}
};

} // namespace

TEST_CASE("trigger: a condition and what is done")
{
	const NamedTrigger plain = parsed(R"(name == "sys_enter" and id == "fsync" => mark)");
	CHECK(plain.name == "trigger1");
	CHECK(plain.kind == EDC_TRIGGER_EVENT);
	CHECK(plain.first == R"(name == "sys_enter" and id == "fsync")");
	const NamedTrigger all = parsed(
	    "late: a == \"x => y, then: z\" => snapshot before 1s after 20ms, mark 'a, b', end, run 'x, y' 3 per "
	    "minute, signal USR1");
	CHECK(all.name == "late");
	CHECK(all.first == "a == \"x => y, then: z\"");
	REQUIRE(all.acts.size() == 5);
	CHECK(all.acts[0].before_ns == 1'000'000'000);
	CHECK(all.acts[0].after_ns == 20'000'000);
	CHECK(all.acts[1].text == "a, b");
	CHECK(all.acts[3].text == "x, y");
	CHECK(all.acts[3].number == 3);
	CHECK(all.acts[4].number == 10);
	CHECK(all.takes_snapshot());
	CHECK(all.ends());
}

TEST_CASE("trigger: events one after the other")
{
	const NamedTrigger then = parsed("a == 1 then b == 2 within 5ms per pid=next_pid => end");
	CHECK(then.kind == EDC_TRIGGER_THEN);
	CHECK(then.first == "a == 1");
	CHECK(then.second == "b == 2");
	CHECK(then.first_key == "pid");
	CHECK(then.second_key == "next_pid");
	CHECK(then.within_ns == 5'000'000);
	CHECK(parsed("a == 1 then b == 2 => end").within_ns == 0);
	const NamedTrigger joined = parsed("a == 1 as w then b == 2 and next_pid == w.pid and c == 3 within 1s => end");
	CHECK(joined.first == "a == 1");
	CHECK(joined.second == "b == 2 and c == 3");
	CHECK(joined.first_key == "pid");
	CHECK(joined.second_key == "next_pid");
	CHECK(parsed("a == 1 as w then w.pid == next_pid && b == 2 => end").second_key == "next_pid");
	const NamedTrigger missing = parsed("a == 1 not  followed by b == 2 within 1s per tid => end");
	CHECK(missing.kind == EDC_TRIGGER_MISSING);
	CHECK(missing.first == "a == 1");
	CHECK(missing.second == "b == 2");
	const NamedTrigger times = parsed("a == 1 20 times within 1s per cpu => end");
	CHECK(times.kind == EDC_TRIGGER_TIMES);
	CHECK(times.first == "a == 1");
	CHECK(times.times == 20);
	CHECK(parsed("every 2s => mark").kind == EDC_TRIGGER_EVERY);
	CHECK(parsed("at start => mark").kind == EDC_TRIGGER_START);
}

TEST_CASE("trigger: the time that a command is told has all nine digits after the point")
{
	CHECK(monitor::seconds_text(1'700'000'000'000'000'042) == "1700000000.000000042");
	CHECK(monitor::seconds_text(0) == "0.000000000");
}

TEST_CASE("trigger: what is not understood is refused with a sentence")
{
	for (const char *text : {"",
				 "a == 1",
				 "a == 1 =>",
				 "=> end",
				 "a == 1 => fly",
				 "a == 1 => end now",
				 "a b: c == 1 => end",
				 "a == 1 then => end",
				 "then b == 1 => end",
				 "a == 1 not followed by b == 1 => end",
				 "a == 1 1 times within 1s => end",
				 "a == 1 62 times within 1s => end",
				 "a == 1 3 times => end",
				 "a == 1 within 1s => end",
				 "a == 1 per tid => end",
				 "a == 1 then b == 1 within x => end",
				 "a == 1 then b == 1 per => end",
				 "a == 1 then b == 1 per 1 => end",
				 "every 1us => end",
				 "every => end",
				 "a == 1 => snapshot before",
				 "a == 1 => snapshot now 1s",
				 "a == 1 => run true",
				 "a == 1 => run ''",
				 "a == 1 => run 'x' 0 per minute",
				 "a == 1 => run 'x' 5 per hour",
				 "a == 1 => signal",
				 "a == 1 => signal NONE",
				 "a == 1 as w then b == 1 => end",
				 "a == 1 as w then x == w.y or b == 1 => end",
				 "a == 1 as w then x == w.y and z == w.z => end",
				 "a == 1 followed by b == 1 => end",
				 "a == 1 => mark don't, end",
				 "every 1s => signal USR1"}) {
		CAPTURE(text);
		CHECK(refused(text).starts_with("trigger "));
	}
	CHECK_THROWS_AS(
	    monitor::trigger::parse_triggers({std::string("x: a == 1 => end"), std::string("x: a == 2 => end")}),
	    monitor::Error);
	const std::vector<monitor::trigger::TriggerText> too_many(EDC_TRIGGERS + 1, {"a == 1 => end", ""});
	CHECK_THROWS_AS(monitor::trigger::parse_triggers(too_many), monitor::Error);
}

TEST_CASE("trigger: an arrow within brackets or quotes is none")
{
	CHECK(refused("(a == 1 => mark").starts_with("trigger trigger1, column 1: this bracket is not closed before"));
	CHECK(refused("(a == 1 => mark)").starts_with("trigger trigger1, column 9: this => is within brackets"));
	CHECK(refused("a == \"1 => mark\"").starts_with("trigger trigger1, column 9: this => is within brackets"));
}

TEST_CASE("trigger: a file has comments and long triggers")
{
	const auto texts =
	    monitor::trigger::texts_in("# first\n\nx: a == \"#\" => end # now\ny: b == 1\n\t=> mark\n   , end\n");
	REQUIRE(texts.size() == 2);
	const auto triggers = monitor::trigger::parse_triggers(texts);
	CHECK(triggers[0].first == "a == \"#\"");
	CHECK(triggers[1].when == "b == 1");
	CHECK(triggers[1].what == "mark , end");
	CHECK(triggers[1].acts.size() == 2);
	const auto of_file =
	    monitor::trigger::texts_in("# first\n\nx: a == 1 => end\ny: b == 1\n\t=> jump", "some.file");
	REQUIRE(of_file.size() == 2);
	CHECK(of_file[0].where == "some.file:3");
	CHECK_THROWS_WITH(monitor::trigger::parse_triggers(of_file),
			  Catch::Matchers::StartsWith("some.file:4: trigger y: 'jump' is not something to do"));
}

TEST_CASE("trigger: a second event after the first, with its key, in time")
{
	Stepper then(EDC_TRIGGER_THEN, 10);
	CHECK(!then.step(1, 5, 100)); // no first
	CHECK(!then.step(0, 5, 100));
	CHECK(!then.step(1, 6, 105)); // another's
	CHECK(then.step(1, 5, 110));
	CHECK(then.began == 100);
	CHECK(!then.step(1, 5, 111)); // each first once
	then.step(0, 5, 200);
	then.step(0, 5, 205); // the newest counts
	CHECK(then.step(1, 5, 214));
	CHECK(then.began == 205);
	then.step(0, 5, 300);
	CHECK(!then.step(1, 5, 311));
	Stepper for_ever(EDC_TRIGGER_THEN, 0);
	for_ever.step(0, 1, 1000);
	CHECK(for_ever.step(1, 1, 1'000'000'000'000));
}

TEST_CASE("trigger: a second event that is missing")
{
	Stepper missing(EDC_TRIGGER_MISSING, 10);
	missing.step(0, 5, 100);
	missing.step(0, 5, 104); // the oldest one counts
	CHECK(!missing.step(1, 5, 110));
	missing.step(0, 5, 200);
	CHECK(missing.step(1, 5, 211)); // too late, and nobody had looked
	missing.step(0, 5, 220);
	CHECK(missing.step(0, 5, 231)); // the next one comes before anybody had looked
	CHECK(missing.began == 220);
	CHECK(!missing.step(0, 5, 241));
	CHECK(missing.step(1, 5, 242));
	CHECK(missing.began == 231);
	missing.step(0, 7, 300);
	unsigned overdue = 0;
	for (const std::uint64_t before : {300u, 301u, 301u})
		for (edc_pending_start &entry : missing.state->pending.entry) {
			__u64 key = 0;
			if (edc_pending_start_overdue(&entry, before, &key)) {
				CHECK(key == 7);
				CHECK(before == 301);
				++overdue;
			}
		}
	CHECK(overdue == 1);
	CHECK(!missing.step(1, 7, 400));
}

TEST_CASE("trigger: events that are frequent, against a model that remembers all")
{
	std::mt19937 random(7);
	for (int round = 0; round < 200; ++round) {
		const unsigned times = 2 + random() % 60, keys = 1 + random() % 8;
		Stepper stepper(EDC_TRIGGER_TIMES, 50 + random() % 500, times);
		std::map<unsigned, std::deque<std::uint64_t>> model; // since the last firing
		std::uint64_t time = 10;
		for (int event = 0; event < 1000; ++event) {
			time += random() % 12;
			const unsigned key = random() % keys;
			std::deque<std::uint64_t> &of_key = model[key];
			of_key.push_back(time);
			const bool fires =
			    of_key.size() >= times && time - of_key[of_key.size() - times] <= stepper.trigger.within;
			REQUIRE(stepper.step(0, key, time) == fires);
			if (fires) {
				REQUIRE(stepper.began == of_key[of_key.size() - times]);
				of_key.clear();
			}
		}
		CHECK(stepper.forgotten == 0);
	}
}

TEST_CASE("trigger: more keys than there is room for are counted")
{
	Stepper times(EDC_TRIGGER_TIMES, 1'000'000, 2);
	std::uint64_t time = 10;
	for (std::uint64_t key = 0; key < 2000; ++key)
		times.step(0, key, ++time);
	CHECK(times.forgotten >= 2000 - EDC_WINDOWS);
	CHECK(times.step(0, 1999, ++time)); // the newest are remembered
	Stepper then(EDC_TRIGGER_THEN, 0);
	for (std::uint64_t key = 0; key < 10000; ++key)
		then.step(0, key, ++time);
	CHECK(then.forgotten >= 10000 - EDC_PENDING_STARTS);
	CHECK(then.step(1, 9999, ++time));
}
