// SPDX-License-Identifier: MIT
// Assembles descriptions, `metadata` and `.monitor/*`, from their pieces.
//
// A file grows beside the trace; when it is whole, syncer.h renames it, so that a reader sees the whole old or the
// whole new one. Pieces come in order; one out of order makes the sender start again. Not locked. Invariant: at most
// max_open files of a host are in progress, and the paths of whole ones are in the order in which they came.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "base/fd.h"
#include "fleet/wire/batch.h"

namespace monitor::fleet {

class Descriptions {
public:
	// `directory`: for files in progress, on the file system of the traces.
	explicit Descriptions(std::string directory) : directory_(std::move(directory)) {}

	// A complete file: the caller must rename or remove it.
	struct Whole {
		std::string path;
		std::shared_ptr<const Fd> file;
	};
	// `target`: its final path. Status::stored: the file is in `whole`. Throws Error if it cannot be written.
	Status add_piece(const std::string &host, const std::string &target, const Piece &piece, Whole &whole);

private:
	static constexpr std::size_t max_open = 4;

	struct Partial {
		std::string target, path;
		std::uint64_t hash = 0, file_bytes = 0, received_bytes = 0;
		std::uint64_t hash_so_far = 0;
		Fd file;
	};

	Partial &start(std::deque<Partial> &of_host, const std::string &target, const Piece &piece);

	std::string directory_;
	std::uint64_t number_ = 0;
	std::map<std::string, std::deque<Partial>> partial_; // by host
};

} // namespace monitor::fleet
