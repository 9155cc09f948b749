// SPDX-License-Identifier: MIT
// Triggers that wait for events of programs (record --trigger): which fired. Programs post into many rings, which are
// read one after the other; so events are noted as they are met, and stepped in the order of time, by the code that
// probes use for the kernel's (include/monitor/trigger.h), once nothing earlier can come.
//
//     user_filter.cpp: an event is an input -> note() -> step(), at the end of each pass -> take_fired() ->
//     triggers.cpp
//
// Under the lock of the card. A trigger's first and second events are both of programs: what it remembers of the
// kernel's events is in the probes' memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/event_matcher.h"
#include "monitor/trigger.h"

namespace monitor::card {

// Where an event was posted.
struct PostedAt {
	std::uint32_t cpu = EDC_CPU_UNKNOWN, tid = 0, process = 0;
	std::uint64_t time = 0;
};

struct PostedEvent {
	PostedAt at;
	std::array<std::uint64_t, 1 + EDC_MAX_WORDS> record{}; // token and payload

	// What patterns and keys look at, as EDC_VALUE_*. (To the compiler a std::uint64_t is another object than a
	// __u64: read through a cast pointer, it may not be written yet.)
	std::array<__u64, EDC_MATCH_VALUES> values() const;
};

// An event of a program that made a trigger fire.
struct ProgramFiring {
	unsigned trigger = 0;               // its number
	std::uint64_t began = 0, key = 0;   // as in edc_firing
	std::uint64_t time = 0;             // of the event, or when its absence was noticed
	std::unique_ptr<PostedEvent> event; // null: none followed in time
};

class UserTriggers {
public:
	void set(std::shared_ptr<const EventMatcher> matcher);
	// Whether programs have declared events that a trigger waits for.
	bool wait() const { return waits_; }

	// `inputs`: bits from the first trigger's first input on.
	void note(const PostedEvent &event, std::uint32_t inputs) { waiting_.push_back({inputs, event}); }
	// All events before this time have been noted; ~0: all that there will be.
	void step(std::uint64_t before);
	// Those since the last call, in the order of time.
	std::vector<ProgramFiring> take_fired() { return std::exchange(fired_, {}); }
	// First events that there was no room to remember, and events that came too late for their place.
	std::uint64_t forgotten() const { return forgotten_; }
	// What was missing then has fired.
	std::uint64_t missed_until() const { return missed_until_; }

private:
	struct Noted {
		std::uint32_t inputs;
		PostedEvent event;
	};

	const edc_trigger &trigger(unsigned number) const { return matcher_->kernel_tables()->trigger[number]; }
	void step(const Noted &noted);
	void step(const PostedEvent &event, unsigned input, std::uint64_t key);
	void step_missing(std::uint64_t before);

	std::shared_ptr<const EventMatcher> matcher_; // null: there are no classes yet
	bool waits_ = false;
	std::vector<Noted> waiting_;
	std::uint64_t stepped_before_ = 0, missed_until_ = 0;
	std::array<std::unique_ptr<edc_trigger_state>, EDC_TRIGGERS> state_;
	std::vector<ProgramFiring> fired_;
	__u64 forgotten_ = 0;
};

} // namespace monitor::card
