// SPDX-License-Identifier: MIT
// Triggers on events of programs (record --trigger). Programs' rings are read one after the other, so events are
// queued, and processed in time order, by the same code as in probes (include/monitor/trigger.h), once nothing earlier
// can arrive.
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

// Where and when an event was posted.
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
	// Whether programs have declared events of a trigger.
	bool has_inputs() const { return has_inputs_; }

	// `inputs`: bits from the first trigger's first input on.
	void note(const PostedEvent &event, std::uint32_t inputs) { waiting_.push_back({inputs, event}); }
	// Processes queued events before this time; ~0: all.
	void step(std::uint64_t before);
	// Those since the last call, in the order of time.
	std::vector<ProgramFiring> take_fired() { return std::exchange(fired_, {}); }
	// First events without room, and events that arrived too late.
	std::uint64_t forgotten() const { return forgotten_; }
	// Absences until this time have fired.
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
	bool has_inputs_ = false;
	std::vector<Noted> waiting_;
	std::uint64_t stepped_before_ = 0, missed_until_ = 0;
	std::array<std::unique_ptr<edc_trigger_state>, EDC_TRIGGERS> state_;
	std::vector<ProgramFiring> fired_;
	__u64 forgotten_ = 0;
};

} // namespace monitor::card
