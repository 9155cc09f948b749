// SPDX-License-Identifier: MIT
// A scene (answers/play/scene.h) as JSON for the page's animation, with limits for a machine with many threads and
// counts of what is left out. Made by scenes.cpp; drawn by the page's stage.js.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

#include "answers/play/picture.h"

namespace monitor::view {

// Limits: threads in a run queue, sleeping threads (the last that changed; with a layout, those in its boxes), wake-ups
// since the previous scene, messages, and messages on the way along an arrow.
constexpr std::size_t max_queued = 12, max_sleeping = 24, max_boxed = 200, max_wake_ups = 32, max_messages = 8,
		      max_on_the_way = 40;

// {boxes: [{name, row, column}], arrows: [{from, to}], travel_steps}: the constant part of a layout.
nlohmann::ordered_json layout_json(const play::Layout &layout);
// {time, cpus: [{cpu, what, lost, tid, mode, doing, ready, waiting}], threads: [{tid, name, state, doing, box}],
// unplaced, unplaced_waiting, sleeping: [tid], counts: {sleeping, unknown}, wakings_are_known,
// wake_ups: [{waker, by, wakee}], messages: [{at, text}]}, with a layout also boxes and arrows in their order. `begin`:
// which `time` counts from. Threads are by their IDs; `threads` has those that are shown.
nlohmann::ordered_json scene_json(const play::Scene &scene, const play::View &view, std::uint64_t begin);

} // namespace monitor::view
