// SPDX-License-Identifier: MIT
// How blocks are divided among the rings of a CPU, from the least number on.
#include <algorithm>
#include <numeric>

#include <catch2/catch.hpp>

#include "card/ring_layout.h"

using monitor::card::blocks_by_ring;
using monitor::card::least_blocks_of_a_ring;

TEST_CASE("ring layout: every ring has its blocks, and all together have them all")
{
	const bool with_lanes = GENERATE(false, true);
	const unsigned rings = with_lanes ? EDC_CARD_RINGS : EDC_CARD_LEVELS;
	for (std::uint64_t blocks = least_blocks_of_a_ring * (rings + 1); blocks < 5000; ++blocks) {
		const auto by_ring = blocks_by_ring(blocks, with_lanes);
		REQUIRE(std::accumulate(by_ring.begin(), by_ring.end(), std::uint64_t(0)) == blocks);
		REQUIRE(*std::max_element(by_ring.begin(), by_ring.end()) <= blocks);
		REQUIRE(*std::min_element(by_ring.begin(), by_ring.begin() + rings) >= least_blocks_of_a_ring);
		REQUIRE(std::all_of(by_ring.begin() + rings, by_ring.end(), [](std::uint64_t n) { return n == 0; }));
	}
}

TEST_CASE("ring layout: where there are lanes the first one has most")
{
	const auto by_ring = blocks_by_ring(2048, true);
	CHECK(by_ring[EDC_CARD_LEVELS] > 900);
	CHECK(by_ring[0] > 500);
}
