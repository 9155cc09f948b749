// SPDX-License-Identifier: MIT
// Triggers on events of programs: the rings of several CPUs are read one after the other.

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "monitor/matcher.h"
#include "monitor/token.h"
#include "recording/user_card/user_triggers.h"

namespace test_user_triggers {

using namespace monitor;
using namespace monitor::card;

namespace {

// Of class 1024 every event is the first input of trigger 0, and of 1025 the second one, with their thread as key.
std::shared_ptr<EventMatcher> matcher_of(unsigned kind, std::uint64_t within, unsigned times = 0)
{
	auto made = std::make_shared<EventMatcher>();
	made->make_tables(EventMatcher::group_of(EDC_ID_KERNEL_FIRST)).trigger[0] = {kind, 0, within, times, 0};
	edc_matcher &tables = made->make_tables(EventMatcher::group_of(1024));
	for (const unsigned input : {0u, 1u}) {
		tables.cls[input].belongs = std::uint64_t(1) << (EDC_FIRST_INPUT + input);
		tables.key[EDC_FIRST_INPUT + input][input] = {EDC_VALUE_TID, 0, 32, 1};
		EventMatcher::Class cls;
		cls.id = 1024 + input;
		cls.belongs = tables.cls[input].belongs;
		made->classes.push_back(cls);
	}
	return made;
}

PostedEvent event(unsigned id, std::uint64_t time, std::uint32_t tid)
{
	return {{0, tid, 7, time}, {edc_token(id, EDC_MODE_USER, time, 0)}};
}

void note(UserTriggers &triggers, unsigned id, std::uint64_t time, std::uint32_t tid)
{
	triggers.note(event(id, time, tid), 1u << (id - 1024));
}

} // namespace

TEST_CASE("user triggers: events of several rings are stepped in the order of time")
{
	UserTriggers triggers;
	CHECK(!triggers.has_inputs());
	triggers.step(~std::uint64_t(0)); // no class is known yet
	triggers.set(matcher_of(EDC_TRIGGER_THEN, 100));
	CHECK(triggers.has_inputs());
	note(triggers, 1025, 1050, 5); // of one ring
	note(triggers, 1025, 1250, 6);
	note(triggers, 1024, 1000, 5); // of another
	note(triggers, 1024, 1100, 6);
	note(triggers, 1024, 2000, 5);
	triggers.step(1040);
	CHECK(triggers.take_fired().empty()); // an earlier one may come yet
	note(triggers, 1024, 1045, 9);
	note(triggers, 1025, 1046, 9);
	triggers.step(2000);
	const auto fired = triggers.take_fired();
	REQUIRE(fired.size() == 2);
	CHECK(fired[0].key == 9);
	CHECK(fired[1].began == 1000);
	CHECK(fired[1].time == 1050);
	CHECK(fired[1].event->at.process == 7);
	CHECK(triggers.forgotten() == 0);
	note(triggers, 1025, 2050, 5);
	triggers.step(3000);
	CHECK(triggers.take_fired().size() == 1); // the one at 2000 had waited
	note(triggers, 1024, 500, 5);
	triggers.step(3000);
	CHECK(triggers.forgotten() == 1); // too late for its place
}

TEST_CASE("user triggers: what does not follow is missing once its time is over, and not before the end of the events")
{
	UserTriggers triggers;
	triggers.set(matcher_of(EDC_TRIGGER_MISSING, 100));
	note(triggers, 1024, 1000, 5);
	note(triggers, 1024, 1010, 6);
	note(triggers, 1025, 1090, 5);
	triggers.step(1100);
	CHECK(triggers.take_fired().empty());
	triggers.step(1111);
	const auto fired = triggers.take_fired();
	REQUIRE(fired.size() == 1);
	CHECK(fired[0].began == 1010);
	CHECK(fired[0].key == 6);
	CHECK(!fired[0].event);
	CHECK(triggers.missed_until() == 1111);
	note(triggers, 1024, 1200, 5);
	triggers.step(~std::uint64_t(0));
	CHECK(triggers.take_fired().empty());
}

TEST_CASE("user triggers: any order of reading rings fires the same")
{
	std::mt19937 random(3);
	std::vector<std::uint64_t> all;
	for (int shuffled = 0; shuffled < 20; ++shuffled) {
		UserTriggers triggers;
		triggers.set(matcher_of(EDC_TRIGGER_TIMES, 400, 5));
		std::vector<std::pair<std::uint64_t, std::uint32_t>> events; // time and thread
		std::mt19937 same(17);
		for (unsigned i = 0; i < 2000; ++i)
			events.emplace_back(1000 + 10 * i + same() % 10, same() % 4);
		std::vector<std::uint64_t> fired;
		for (std::size_t from = 0; from < events.size(); from += 250) { // a pass
			std::shuffle(events.begin() + static_cast<std::ptrdiff_t>(from),
				     events.begin() + static_cast<std::ptrdiff_t>(from) + 250, random);
			for (std::size_t i = from; i < from + 250; ++i)
				note(triggers, 1024, events[i].first, events[i].second);
			triggers.step(1000 + 10 * (from + 200));
			for (const ProgramFiring &one : triggers.take_fired())
				fired.push_back(one.time);
		}
		triggers.step(~std::uint64_t(0));
		for (const ProgramFiring &one : triggers.take_fired())
			fired.push_back(one.time);
		CHECK(std::ranges::is_sorted(fired));
		if (all.empty())
			all = fired;
		CHECK(fired == all);
		CHECK(fired.size() > 300);
	}
}

} // namespace test_user_triggers
