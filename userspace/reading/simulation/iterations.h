// SPDX-License-Identifier: MIT
// Which iterations the threads of a role execute: each has an item and a row of the role's samples.
//
// With as many threads as recorded, each thread has its recorded iterations. With another number, the threads of
// `split` and `in order` roles share all iterations round robin; in other roles, further threads repeat the iterations
// of a recorded one, beginning at another one. If `loop` is more than was recorded, the recorded iterations are
// repeated, with new items.
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
	// `samples` may be null if the model needs none. All items of the model's samples are below `items`.
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

	// A thread executes the rows of a list, beginning with index `from`. Threads share lists to save memory.
	struct RowSequence {
		std::size_t list = 0, from = 0;
	};

	const model::RoleSamples *samples_;
	std::uint32_t threads_;
	std::uint64_t items_;
	std::vector<std::uint64_t> counts_;                          // by thread
	std::vector<std::vector<std::uint32_t>> lists_;              // of rows; empty without samples
	std::vector<RowSequence> sequences_;                         // by thread
	std::unordered_map<std::uint64_t, std::size_t> row_of_item_; // of a pool
	std::vector<std::uint64_t> items_in_order_;                  // of a pool
};

} // namespace monitor::simulation
