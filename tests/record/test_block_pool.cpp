// SPDX-License-Identifier: MIT
// The pool between the drain thread and the writer thread.
#include <cstring>
#include <new>
#include <set>
#include <thread>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "faults.h"
#include "recording/rings/blocks.h"

namespace test_block_pool {

using monitor::record::BlockPool;
using monitor::record::PooledBlock;

TEST_CASE("block pool: each block is one owner's, and the one returned last is given first")
{
	BlockPool pool(16);
	std::set<std::uint32_t> taken;
	std::uint32_t index = 0;
	while (pool.take(index)) {
		CHECK(index < 16);
		CHECK(taken.insert(index).second);
	}
	CHECK(taken.size() == 16);
	pool.give_back(7);
	pool.give_back(3);
	REQUIRE(pool.take(index));
	CHECK(index == 3);
	REQUIRE(pool.take(index));
	CHECK(index == 7);
	CHECK_FALSE(pool.take(index));
}

TEST_CASE("block pool: what a write took comes back once, with one of its blocks")
{
	BlockPool pool(16);
	std::uint32_t first, second;
	REQUIRE(pool.take(first));
	REQUIRE(pool.take(second));
	CHECK(pool.free_blocks() == 14);
	pool.give_back(second);
	pool.give_back(first, {.start = 1, .wall_ns = 2, .cpu_ns = 3, .stream = 4, .blocks = 5, .error = 6});
	REQUIRE(pool.take(first)); // which finds it
	const auto writes = pool.take_writes();
	REQUIRE(writes.size() == 1);
	CHECK(writes[0].start == 1);
	CHECK(writes[0].cpu_ns == 3);
	CHECK(writes[0].blocks == 5);
	CHECK(writes[0].error == 6);
	CHECK(pool.take_writes().empty());
	CHECK(pool.free_blocks() == 15);
}

TEST_CASE("block pool: blocks come out in the order and with the streams that they were given with")
{
	BlockPool pool(16);
	for (std::uint32_t lap = 0; lap < 5; ++lap) {
		for (std::uint32_t i = 0; i < 16; ++i) {
			std::uint32_t index;
			REQUIRE(pool.take(index));
			std::memset(pool.at(index), static_cast<int>(i), EDC_BLOCK_SIZE);
			pool.give({index, lap * 100 + i});
		}
		PooledBlock block;
		for (std::uint32_t i = 0; i < 16; ++i) {
			REQUIRE(pool.next(block));
			CHECK(block.stream == lap * 100 + i);
			CHECK(pool.at(block.index)[EDC_BLOCK_SIZE - 1] == static_cast<std::byte>(i));
			pool.give_back(block.index);
		}
		CHECK_FALSE(pool.next(block));
	}
}

TEST_CASE("block pool: the writer knows of as many blocks as one write takes, and of fewer when it is told")
{
	for (const std::uint32_t blocks : {64u, 2048u}) {
		BlockPool pool(blocks);
		const std::uint32_t enough = blocks == 64 ? 16 : monitor::record::max_blocks_in_a_write;
		for (std::uint32_t i = 1; i < enough; ++i)
			pool.give({i, 1});
		CHECK(pool.given() == enough - 1);
		pool.give({enough, 1});
		CHECK(pool.given() == 0);
		pool.wait(); // returns
		pool.give({0, 1});
		CHECK(pool.given() == 1);
		pool.wake();
		CHECK(pool.given() == 0);
		pool.wait();
	}
}

TEST_CASE("block pool: without memory it says what to do")
{
	faults::mappings.set({faults::fails(ENOMEM)});
	CHECK_THROWS_WITH(BlockPool(16), Catch::Contains("--buffer") && Catch::Contains("Cannot allocate memory"));
	faults::mappings.reset();
	int failed = 0;
	for (long number = 0;; ++number, ++failed) {
		faults::fail_allocation(number);
		try {
			BlockPool pool(16);
			break;
		} catch (const std::bad_alloc &) {
			REQUIRE(faults::allocation_failed());
		}
	}
	CHECK(failed >= 3); // two queues and the list
	faults::fail_allocation(-1);
}

TEST_CASE("block pool: between two threads no block is lost, changed or owned twice")
{
	constexpr std::uint32_t rounds = 200'000;
	BlockPool pool(16);
	std::uint32_t wrong = 0, seen = 0;
	std::thread writer([&] {
		while (seen < rounds) {
			pool.wait();
			for (PooledBlock block; pool.next(block); ++seen) {
				std::uint32_t number;
				std::memcpy(&number, pool.at(block.index) + seen % 1000, sizeof number);
				wrong += number != seen || block.stream != seen % 7;
				pool.give_back(block.index);
			}
		}
	});
	for (std::uint32_t number = 0; number < rounds;) {
		std::uint32_t index;
		if (!pool.take(index)) {
			pool.wake();
			std::this_thread::yield();
			continue;
		}
		std::memcpy(pool.at(index) + number % 1000, &number, sizeof number);
		pool.give({index, number % 7});
		if (++number % 5 == 0)
			pool.wake();
	}
	pool.wake();
	writer.join();
	CHECK(wrong == 0);
	CHECK(seen == rounds);
}

} // namespace test_block_pool
