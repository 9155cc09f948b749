// SPDX-License-Identifier: MIT
// Counts events by thread in parts of a recording, for record --calibrate. The drain thread passes the blocks of the
// CPUs' first rings, another thread begins and ends parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "recording/card/classes.h"

namespace monitor::record {

class PhaseEvents {
public:
	PhaseEvents() : words_(card::payload_words()) {}

	// Times of the trace's clock; returns the part's number.
	std::size_t begin(std::uint64_t time);
	void end(std::uint64_t time);

	void count_block(const std::byte *block);

	// After the last block: the events of these threads in a part, by class id.
	std::map<unsigned, std::uint64_t> events_of(std::size_t part,
						    const std::unordered_set<std::int32_t> &threads) const;

private:
	struct Part {
		std::uint64_t begin, end;
		std::map<std::pair<std::int32_t, unsigned>, std::uint64_t> events; // by thread and class
	};
	void count(std::uint64_t time, std::int32_t thread, unsigned id);

	const card::PayloadWords words_;
	mutable std::mutex lock_;
	std::vector<Part> parts_;
};

} // namespace monitor::record
