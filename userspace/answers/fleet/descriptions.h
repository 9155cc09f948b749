// SPDX-License-Identifier: MIT
// Puts the pieces of descriptions together: `metadata`, `.monitor/*`.
//
// Used by collector.cpp, which locks. A file grows beside the trace and takes its place by rename, so that a reader
// sees the whole old or the whole new one. Pieces come in order; what does not continue is asked for from the start
// again. Invariant: at most max_open files of a host are in progress.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "base/fd.h"
#include "base/fleet/batch.h"

namespace monitor::fleet {

class Descriptions {
public:
	// `directory`: for files in progress, on the file system of the traces.
	explicit Descriptions(std::string directory) : directory_(std::move(directory)) {}

	// `target`: the path that the file will have. Throws Error if it cannot be written.
	Status take(const std::string &host, const std::string &target, const Piece &piece);

private:
	static constexpr std::size_t max_open = 4;

	struct Growing {
		std::string target, path;
		std::uint64_t hash = 0, file_bytes = 0, have = 0;
		std::uint64_t hash_so_far = 0;
		Fd file;
	};

	Growing &start(std::deque<Growing> &of_host, const std::string &target, const Piece &piece);

	std::string directory_;
	std::uint64_t number_ = 0;
	std::map<std::string, std::deque<Growing>> growing_; // by host
};

} // namespace monitor::fleet
