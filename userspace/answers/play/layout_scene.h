// SPDX-License-Identifier: MIT
// A scene in terms of a layout: which threads are in each box and what they do, and the messages on their way along
// each arrow. Drawn by layout_picture.cpp in a terminal, and by the page of `monitor view`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "layout.h"
#include "picture.h"
#include "scene.h"

namespace monitor::play {

constexpr unsigned travel_steps = 12; // duration of a message's way from box to box

struct BoxScene {
	std::string who, doing;            // for display
	bool runs = false, waits = false;  // at least one of its threads
	const SceneThread *only = nullptr; // its thread in the scene, if it has only one
};

// Positions of an arrow's messages, from 0 to 1, and their number in the past that is shown.
struct Traffic {
	std::vector<double> on_the_way;
	std::size_t count = 0;
	bool is_at_least = false;

	std::string text() const { return std::to_string(count) + (is_at_least ? "+" : ""); }
};

// By box and by arrow. The view has the layout.
std::vector<BoxScene> boxes_of(const Scene &scene, const View &view);
Traffic traffic_of(const Arrow &arrow, const Scene &scene, const Layout &layout);

} // namespace monitor::play
