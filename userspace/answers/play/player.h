// SPDX-License-Identifier: MIT
// Moves through a trace, forwards and backwards, and gives the scene where it is. Called by `monitor play`: play.cpp
// for what keys ask for, cmd_play.cpp for frames as text.
//
// A move is asked for, then done by work() in parts, so that a large trace never blocks the caller, who may show how
// far it is, or ask for something else meanwhile. Forwards it pulls events and folds them; backwards it starts from the
// last checkpoint before (checkpoints.h). One thread. Invariant: when there is nothing left to do, exactly the events
// and gaps up to time() are folded, however it got there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "checkpoints.h"
#include "reading/analyze/fold_input.h"
#include "reading/analyze/recorded.h"
#include "reading/events/pull.h"
#include "scene.h"

namespace monitor::play {

class Player {
public:
	static constexpr std::uint64_t usual_spacing = 1u << 20; // events between checkpoints

	// Both must outlive it. Throws Error if the recording's times cannot be those of its events.
	Player(trace::Trace &trace, const analyze::RecordingInfo &info, std::uint64_t spacing_events = usual_spacing);
	Player(const Player &) = delete; // the fold points to its observer
	Player &operator=(const Player &) = delete;

	// Of the time in which all probes were attached, in ticks.
	std::uint64_t begin() const { return fold_->window_begin(); }
	std::uint64_t end() const { return fold_->window_end(); }
	const trace::Clock &clock() const { return trace_.description().clock; }
	std::uint64_t time() const { return time_; }
	std::uint64_t step() const { return step_; }
	// Where a move that has not been done leads to, else time().
	std::uint64_t target() const { return doing_ == Doing::going ? target_ : time_; }

	// The first moment at which what runs is known of as many CPUs as it ever is within this many events; begin()
	// if of none. Before anything else is asked for.
	std::uint64_t find_known(std::uint64_t max_events = usual_spacing);

	// Each of these gives up what it was doing. Times outside of the recording are its start or end.
	// `past`: how many steps of each CPU, the one at `time` included.
	void go_to(std::uint64_t time, std::uint64_t step_ticks, unsigned past = past_steps);
	// One step on, or as far as the recording goes.
	void go_on();
	// To the next or the previous event of a thread, or, without one, of any.
	void find_next(std::optional<std::int32_t> tid);
	void find_previous(std::optional<std::int32_t> tid);
	// Stays where it has come to.
	void give_up();

	// Handles this many events; true: there is nothing left to do.
	bool work(std::uint64_t events);
	bool is_working() const { return doing_ != Doing::nothing; }
	// How much of the way through the trace the fold has come, from 0 to 1.
	double part() const;
	// The last find_*() has found none, and it is back where it was.
	bool has_found_none() const { return has_found_none_; }
	bool is_at_end() const { return time_ == end(); }

	Scene scene() const;

private:
	enum class Doing : std::uint8_t { nothing, going, finding_next, finding_previous };

	void start_from(std::uint64_t time);
	void restart(const Checkpoint *checkpoint);
	void pull_from(std::uint64_t time);
	void pass_to(std::uint64_t time);
	void fold_item();
	bool concerns() const;
	void sample();
	void go_back_to_find();
	void found();
	bool step_going();
	bool step_finding();

	trace::Trace &trace_;
	const analyze::RecordingInfo &info_;
	Checkpoints checkpoints_;
	std::unique_ptr<analyze::ThreadFold> fold_;
	std::unique_ptr<Placement> placement_;
	std::unique_ptr<Recent> recent_;
	std::unique_ptr<trace::Pull> pull_;
	trace::Cursor::Item item_ = trace::Cursor::Item::end; // the first that is not folded
	std::uint64_t folded_to_ = 0;                         // all up to it is folded
	std::uint64_t since_checkpoint_ = 0;                  // events

	Doing doing_ = Doing::nothing;
	std::uint64_t time_ = 0, step_ = 1;
	std::uint64_t target_ = 0, next_sample_ = 0;
	std::vector<std::vector<PastStep>> past_; // by CPU, the oldest first
	std::optional<std::int32_t> wanted_;
	std::uint64_t found_at_ = 0, search_from_ = 0, search_to_ = 0;
	bool has_found_ = false, has_found_none_ = false;
	analyze::Recorded recorded_;
};

} // namespace monitor::play
