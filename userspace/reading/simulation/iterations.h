// SPDX-License-Identifier: MIT
// Which iterations the threads of a role run, with which item and which row of the samples.
//
// With as many threads as were recorded each runs its own. Otherwise: `split` and `in order`, the threads share all
// iterations by turns; `each`, a thread more runs those of a recorded one, from another one on. More iterations than
// were recorded (`loop`) start again at the first, with items of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "reading/model/model.h"

namespace monitor::simulation {

struct Iteration {
	std::uint64_t item = 0;
	std::size_t row = 0; // of the role's samples, if there are any
};

class Iterations {
public:
	// `samples`: none, if nothing of the model is from samples. All its items are below `items`.
	Iterations(const model::Role &role, const model::RoleSamples *samples, std::uint32_t threads,
		   std::uint64_t items);

	std::uint64_t count(std::uint32_t thread) const { return counts_[thread]; } // not of a pool
	Iteration at(std::uint32_t thread, std::uint64_t number) const;
	Iteration of_item(std::uint64_t item) const;             // of a pool
	std::uint64_t item_in_order(std::uint64_t number) const; // of a pool
	std::size_t rows() const { return samples_ ? samples_->threads.size() : 0; }

private:
	void share(const model::Role &role);
	void repeat(const model::Role &role, std::uint32_t recorded);
	std::uint32_t recorded_threads() const;

	// The rows that a thread runs in turn, from one of them on. Threads share the lists: there may be many of both.
	struct Turn {
		std::size_t list = 0, from = 0;
	};

	const model::RoleSamples *samples_;
	std::uint32_t threads_;
	std::uint64_t items_;
	std::vector<std::uint64_t> counts_;                          // by thread
	std::vector<std::vector<std::uint32_t>> lists_;              // of rows; an empty one: no samples
	std::vector<Turn> turns_;                                    // by thread
	std::unordered_map<std::uint64_t, std::size_t> row_of_item_; // of a pool
	std::vector<std::uint64_t> items_in_order_;                  // of a pool
};

} // namespace monitor::simulation
