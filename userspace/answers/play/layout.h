// SPDX-License-Identifier: MIT
// Layout files of `monitor play`: which threads are drawn where, and the arrows between them.
//
//     box: filter
//         process: gzip
//         at: 1 2
//     arrow: producer -> filter
//     arrow: filter -> consumer by sent
//
// Read here, drawn by layout_picture.cpp. monitor-play(1) describes the format. The text is untrusted: it is bounded,
// and every line that cannot be parsed is an Error with its number.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace monitor::play {

struct Box {
	std::string name;
	std::vector<std::string> threads, processes; // patterns of names, of which one must match
	unsigned row = 0, column = 0;                // from 1

	bool has(const std::string &thread, const std::string &process) const;
};

struct Arrow {
	std::size_t from = 0, to = 0; // indices of boxes
	std::string event;            // an event of a program in `from`, which stands for the message; "": wake-ups do
};

struct Layout {
	static constexpr unsigned max_row = 50, max_column = 50;
	static constexpr std::size_t max_boxes = 200, max_arrows = 1000;

	std::vector<Box> boxes;
	std::vector<Arrow> arrows;

	// The first box that includes the thread.
	std::optional<std::size_t> box_of(const std::string &thread, const std::string &process) const;
	unsigned rows() const, columns() const;
};

// `name` is for messages. Throws Error.
Layout parse_layout(const std::string &untrusted_text, const std::string &name);
// The file, or share/layouts/NAME.layout. Throws Error naming the available ones.
Layout load_layout(const std::string &name_or_file);

} // namespace monitor::play
