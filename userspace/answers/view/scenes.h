// SPDX-License-Identifier: MIT
// The scenes of a trace for the page's animation, from one player (answers/play/player.h) for all pages. Its
// checkpoints make going back cheap; consecutive requests continue from the last scene.
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
	static constexpr unsigned max_steps = 60; // per answer
	struct Opened {
		trace::Trace trace;
		analyze::RecordingInfo info;
	};
	using Open = std::function<Opened()>;

	// `open`: called for the first answer.
	Scenes(Open open, std::optional<play::Layout> layout);

	// `steps` scenes (scene_json.h) from `from` on, (to - from) / steps ticks apart, at least one; those after the
	// recording's end are left out. If a scene is before the time from which running threads are known, the answer
	// has that time, too (`known_from`, Player::find_known()). 0 steps: only cancels the page's previous request.
	// Ticks since the picture's begin. Waits while another answer is made, unless it is cancelled. Throws Error.
	// Called by any thread.
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
	std::timed_mutex lock_; // protects the following
	std::optional<Playing> playing_;
	std::uint64_t known_from_ = 0; // ticks
};

} // namespace monitor::view
