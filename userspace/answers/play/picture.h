// SPDX-License-Identifier: MIT
// Draws a scene: a row for each CPU with its past, the threads or a layout of them, and the newest wake-ups.
// Deterministic, so that tests compare it as text. Next in the flow: answers/terminal/screen.h, or standard output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "answers/terminal/cells.h"
#include "layout.h"
#include "reading/ctf/description.h"
#include "reading/events/time_text.h"
#include "scene.h"

namespace monitor::play {

using terminal::Cells;
using terminal::Colour;
using terminal::Look;

constexpr unsigned min_rows = 10, min_columns = 40;

// How a scene is shown.
struct View {
	const trace::Clock *clock = nullptr;
	trace::TimeText times;            // prints times as --at accepts them
	std::uint64_t begin = 0, end = 0; // of the whole recording
	std::string title, speed;
	const char *state = "";             // "paused"
	std::string note;                   // in the last row
	const Layout *layout = nullptr;     // instead of the list of threads
	std::optional<std::int32_t> marked; // thread
	std::optional<std::uint32_t> marked_cpu;
	std::uint32_t first_cpu = 0; // scroll position: CPUs before it are not shown
};

struct Shown {
	Cells cells;
	unsigned cpus = 0;                 // rows of CPUs
	std::vector<std::int32_t> threads; // listed, from top to bottom
};

Shown draw(const Scene &scene, const View &view, unsigned rows, unsigned columns, bool is_utf8);

// For the files that draw parts.
Look look_of_thread(std::int32_t tid, const View &view);
// What a thread does, such as "sleeps in read for 1.2 ms".
std::string doing_text(const SceneThread &thread, const Scene &scene, const View &view);
// The mode or the system call of a CPU's thread.
std::string mode_text(const SceneCpu &cpu);
struct Message {
	std::uint64_t time;
	std::string text;
};
// The newest wake-ups and events of programs, newest first.
std::vector<Message> messages_of(const Scene &scene, const View &view, std::size_t count);
// Draws the layout into at most these rows; returns the next row.
unsigned draw_layout(Cells &cells, unsigned top, unsigned rows, const Scene &scene, const View &view);

} // namespace monitor::play
