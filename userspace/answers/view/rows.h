// SPDX-License-Identifier: MIT
// The threads of a picture as the rows that its page has: each its own, or, of very many, those that ran longest, and
// of each command the others together. Lanes and keys name threads by their rows. Made by picture.cpp; next in the
// flow: tile.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "timeline.h"

namespace monitor::view {

class Rows {
public:
	// Of which a page has names, numbers and times at once: threads, and commands of others.
	static constexpr std::size_t max_threads = 8192, max_commands = 1024;

	Rows() = default;
	explicit Rows(const Timeline &timeline, std::size_t max_threads = Rows::max_threads);

	std::size_t size() const { return rows_.size(); }
	// Places in the timeline. All of one command, or of the many beyond max_commands.
	std::span<const std::uint32_t> threads(std::size_t row) const { return rows_[row]; }
	// Of a place in the timeline; of a key that is no thread itself.
	std::uint32_t row_of(std::uint32_t place) const { return place < row_of_.size() ? row_of_[place] : place; }

private:
	std::vector<std::vector<std::uint32_t>> rows_;
	std::vector<std::uint32_t> row_of_; // by place
};

} // namespace monitor::view
