// SPDX-License-Identifier: MIT
// How blocks are divided among the rings of a CPU, from the least number on, and memory among those of programs.
#include <algorithm>
#include <bit>
#include <numeric>

#include <catch2/catch.hpp>

#include "base/buffering/ring_layout.h"
#include "base/buffering/user_memory.h"

namespace test_ring_layout {

using monitor::buffering::blocks_by_ring;
using monitor::buffering::min_blocks_of_a_ring;

TEST_CASE("ring layout: every ring has its blocks, and all together have them all")
{
	const bool with_slots = GENERATE(false, true);
	const unsigned rings = with_slots ? EDC_CARD_RINGS : EDC_CARD_LEVELS;
	for (std::uint64_t blocks = min_blocks_of_a_ring * (rings + 1); blocks < 5000; ++blocks) {
		const auto by_ring = blocks_by_ring(blocks, with_slots);
		REQUIRE(std::accumulate(by_ring.begin(), by_ring.end(), std::uint64_t(0)) == blocks);
		REQUIRE(*std::max_element(by_ring.begin(), by_ring.end()) <= blocks);
		REQUIRE(*std::min_element(by_ring.begin(), by_ring.begin() + rings) >= min_blocks_of_a_ring);
		REQUIRE(std::all_of(by_ring.begin() + rings, by_ring.end(), [](std::uint64_t n) { return n == 0; }));
	}
}

TEST_CASE("ring layout: programs' rings have one bound, whatever the number of CPUs")
{
	const std::uint64_t mib = 1 << 20, bound = GENERATE(1, 32, 128, 1024, 8192) * mib;
	const unsigned cpus = GENERATE(1u, 2u, 16u, 128u, 1024u);
	const monitor::buffering::UserMemory memory{bound, 8 * mib};
	std::uint64_t used = 0, before = ~0ull, whole = 0, programs = 0;
	while (const std::uint64_t blocks = monitor::buffering::user_ring_blocks(memory, used, cpus)) {
		REQUIRE(std::has_single_bit(blocks));
		REQUIRE(blocks <= before);
		before = blocks;
		whole += blocks * EDC_BLOCK_SIZE == 8 * mib;
		used += monitor::buffering::user_area_bytes(blocks, cpus);
		REQUIRE(used <= bound);
		++programs;
	}
	const std::uint64_t burst = 8 * mib * (cpus + 1);
	CHECK((whole >= 2) == (bound >= 7 * burst));
	if (bound >= 128 * mib && cpus <= 16)
		CHECK(programs >= 100);
}

TEST_CASE("ring layout: where there are slots the first one has most")
{
	const auto by_ring = blocks_by_ring(2048, true);
	CHECK(by_ring[EDC_CARD_LEVELS] > 900);
	CHECK(by_ring[0] > 500);
}

} // namespace test_ring_layout
