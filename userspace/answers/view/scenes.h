// SPDX-License-Identifier: MIT
// The scenes of a trace for the animation in the page: one player (answers/play/player.h) for all pages that look at
// it. Its checkpoints make going back cheap; the scenes that follow the last ones go on from there.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include <nlohmann/json.hpp>

#include "answers/play/layout.h"
#include "answers/play/player.h"
#include "window.h"

namespace monitor::view {

class Scenes {
public:
	static constexpr unsigned max_steps = 60; // in one answer
	struct Opened {
		trace::Trace trace;
		analyze::RecordingInfo info;
	};
	using Open = std::function<Opened()>;

	// `open`: called for the first answer.
	Scenes(Open open, std::optional<play::Layout> layout);

	// Scenes (scene_json.h) at `from`, and so on, `steps` of them, (to - from) / steps ticks apart, at least one;
	// those after the recording's end are left out. One from before it is known what runs also says from when on
	// it is (`known_from`, Player::find_known()). 0 steps: only gives up what the page asked for before. Ticks
	// since its begin. Waits while another answer is made, unless it is over. Throws Error. Any thread.
	nlohmann::ordered_json answer(std::uint64_t from_ticks, std::uint64_t to_ticks, unsigned steps,
				      const IsOver &is_over);
	const std::optional<play::Layout> &layout() const { return layout_; }

private:
	struct Playing {
		explicit Playing(Opened made) : of(std::move(made)), player(of.trace, of.info) {}
		Opened of;
		play::Player player;
	};

	void go_to(std::uint64_t time, std::uint64_t step, const IsOver &is_over);

	const Open open_;
	const std::optional<play::Layout> layout_;
	std::timed_mutex lock_; // of:
	std::optional<Playing> playing_;
	std::uint64_t known_from_ = 0; // ticks
};

} // namespace monitor::view
