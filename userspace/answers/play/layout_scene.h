// SPDX-License-Identifier: MIT
// What a layout shows of a scene: who is in each box and what they do, and the messages that are on their way along
// each arrow. Drawn by layout_picture.cpp in a terminal, and by the page of `monitor view`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "layout.h"
#include "picture.h"
#include "scene.h"

namespace monitor::play {

constexpr unsigned travel_steps = 12; // of a message, from one box to the other

struct BoxScene {
	std::string who, doing;            // in words
	bool runs = false, waits = false;  // one of its threads
	const SceneThread *only = nullptr; // if there is one; of the scene
};

// Where the messages of an arrow are, from 0 to 1, and how many there were in the past that is shown.
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
