// SPDX-License-Identifier: MIT
// Steps between hosts that nearly all requests take in one direction, and a few provably in the other.
// If the first event causes the second, as the sending of a message does its arrival, such a request contradicts the
// clocks or the key; `monitor check --sync` proves it for given messages. Invariant: only orders count that hold for
// all true times within the bounds.
#pragma once

#include <cstdint>
#include <vector>

#include "totals.h"

namespace monitor::requests {

struct Backwards {
	std::uint32_t from = 0, to = 0; // points
	std::uint64_t forward = 0;      // steps of known order
	std::uint64_t requests = 0;     // requests in which `to` is provably before `from`
};

// Sorted by descending number of requests.
std::vector<Backwards> find_backwards(const std::vector<StepTotals> &steps, const Collected &collected,
				      const PathMaker &maker);

} // namespace monitor::requests
