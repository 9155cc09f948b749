// SPDX-License-Identifier: MIT
// Moves through a trace, forwards and backwards, and makes the scene at its position.
// A move is requested, then done by work() in pieces, so that a large trace never blocks the caller, who may show the
// progress, or request something else meanwhile. Forwards it pulls events and folds them; backwards it starts from the
// last earlier checkpoint (checkpoints.h). One thread. Invariant: when no work is left, exactly the events and gaps up
// to time() are folded, whatever the moves were.
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

	// From when until when all probes were attached, in ticks.
	std::uint64_t begin() const { return fold_->window_begin(); }
	std::uint64_t end() const { return fold_->window_end(); }
	const trace::Clock &clock() const { return trace_.description().clock; }
	std::uint64_t time() const { return time_; }
	std::uint64_t step() const { return step_; }
	// The target of a move in progress, else time().
	std::uint64_t target() const { return state_ == State::moving ? target_ : time_; }

	// The first time at which the running thread is known on the most CPUs, among the first `max_events` events;
	// begin() if it is known on none. Called before anything else.
	std::uint64_t find_known(std::uint64_t max_events = usual_spacing);

	// Each request cancels the previous one. Times outside of the recording are replaced by its start or end.
	// `past`: steps per CPU, including the one at `time`.
	void go_to(std::uint64_t time, std::uint64_t step_ticks, unsigned past = past_steps);
	// Goes one step forward, or to the end of the recording.
	void step_forwards();
	// Goes to the next or the previous event of a thread; without one, to any event.
	void find_next(std::optional<std::int32_t> tid);
	void find_previous(std::optional<std::int32_t> tid);
	// Cancels, and stays at the position reached.
	void cancel();

	// Processes this many events; true: no work is left.
	bool work(std::uint64_t events);
	bool is_working() const { return state_ != State::idle; }
	// The fold's progress through the trace, from 0 to 1.
	double progress() const;
	// The last find_*() found nothing, and the position is the old one.
	bool has_found_none() const { return has_found_none_; }
	bool is_at_end() const { return time_ == end(); }

	Scene scene() const;

private:
	enum class State : std::uint8_t { idle, moving, finding_next, finding_previous };

	void start_from(std::uint64_t time);
	void restart(const Checkpoint *checkpoint);
	void pull_from(std::uint64_t time);
	void pass_to(std::uint64_t time);
	void fold_item();
	bool is_wanted() const;
	void sample();
	void restart_search();
	void end_search();
	bool step_moving();
	bool step_finding();

	trace::Trace &trace_;
	const analyze::RecordingInfo &info_;
	Checkpoints checkpoints_;
	std::unique_ptr<analyze::ThreadFold> fold_;
	std::unique_ptr<Placement> placement_;
	std::unique_ptr<Recent> recent_;
	std::unique_ptr<trace::Pull> pull_;
	trace::Cursor::Item item_ = trace::Cursor::Item::end; // the first item that is not folded
	std::uint64_t folded_to_ = 0;                         // everything up to here is folded
	std::uint64_t since_checkpoint_ = 0;                  // number of events

	State state_ = State::idle;
	std::uint64_t time_ = 0, step_ = 1;
	std::uint64_t target_ = 0, next_sample_ = 0;
	std::vector<std::vector<PastStep>> past_; // by CPU, oldest first
	std::optional<std::int32_t> wanted_;
	std::uint64_t found_at_ = 0, search_from_ = 0, search_to_ = 0;
	bool has_found_ = false, has_found_none_ = false;
	analyze::Recorded recorded_;
};

} // namespace monitor::play
