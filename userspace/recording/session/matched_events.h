// SPDX-License-Identifier: MIT
// record --filter, --count and --time in a recording: compiles the matcher's tables, activates them, and collects the
// results.
//
//     expect_decidable() -> card_options() -> start(): from here on events are judged -> write() now and then -> end()
//
// The tables are compiled again at each step, with the classes and the clock known by then.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "recording.h"
#include "recording/card/bpf_card.h"
#include "recording/rings/clock.h"
#include "recording/rings/control_stream.h"
#include "recording/user_card/user_card.h"
#include "recording_file.h"

namespace monitor::record {

class MatchedEvents {
public:
	using Classes = std::vector<card::UserClass>;
	using Describe = std::function<std::string(const Classes &)>; // TSDL of all classes
	using Notify = std::function<void(const std::string &)>;      // a message for the user

	// `options` must outlive it.
	MatchedEvents(const Options &options, Describe describe, Notify notify)
	    : options_(options), describe_(std::move(describe)), notify_(std::move(notify))
	{
	}

	// Called before anything slow or visible. Throws Error if an expression is invalid or cannot be evaluated by
	// probes.
	void expect_decidable(bool with_programs);
	// Tables of the kernel's events, before the clock is known.
	const EventMatcher &decidable() const { return *decidable_; }

	// Called when the clock is known, in whose ticks `time` is compared. Without a card only programs' events are
	// evaluated.
	void start(card::BpfCard *card, const ClockSteering &steering, Contents &file);
	// In any thread.
	std::shared_ptr<const EventMatcher> make(const Classes &classes) const;
	// Writes the totals so far. In the drain thread.
	void write(ControlStream &to, const Sync &sync, const card::BpfCard *card, const card::UserCard *users) const;
	// Called when all classes are known and all events were read.
	void end(const Sync &end, const card::BpfCard *card, const card::UserCard *users, Contents &file) const;

private:
	const MatcherRequest &request() const { return options_.matching->request; }

	const Options &options_;
	const Describe describe_;
	const Notify notify_;
	bool with_programs_ = false;
	std::uint64_t begin_time_ = 0; // of the trace; 0: the clock is not known yet
	std::shared_ptr<const EventMatcher> decidable_;
	Sync counted_since_; // counting started after this
};

} // namespace monitor::record
