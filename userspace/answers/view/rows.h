// SPDX-License-Identifier: MIT
// The rows of a page: a thread each or, for very many, those with the most CPU time, and a row per command for the
// others. Lanes and keys refer to threads by their rows. Made by picture.cpp; next in the flow: tile.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "timeline.h"

namespace monitor::view {

class Rows {
public:
	// Limits of rows for single threads, and for commands of others.
	static constexpr std::size_t max_threads = 8192, max_commands = 1024;

	Rows() = default;
	explicit Rows(const Timeline &timeline, std::size_t max_threads = Rows::max_threads);

	std::size_t size() const { return rows_.size(); }
	// Indices in the timeline. All of one command, or of the many beyond max_commands.
	std::span<const std::uint32_t> threads(std::size_t row) const { return rows_[row]; }
	// The row of an index in the timeline; keys that are no threads are unchanged.
	std::uint32_t row_of(std::uint32_t index) const { return index < row_of_.size() ? row_of_[index] : index; }

private:
	std::vector<std::vector<std::uint32_t>> rows_;
	std::vector<std::uint32_t> row_of_; // by index in the timeline
};

} // namespace monitor::view
