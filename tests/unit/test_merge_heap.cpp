// SPDX-License-Identifier: MIT
// The heap of the merges: its order, its ties, and how long a source stays the first.
#include <algorithm>
#include <random>
#include <utility>

#include <catch2/catch.hpp>

#include "base/merge_heap.h"

namespace test_merge_heap {

using monitor::MergeHeap;

namespace {

constexpr std::uint64_t latest = ~std::uint64_t(0);

using Item = std::pair<std::uint64_t, std::uint32_t>; // time and source: the order of the merge

struct Sources {
	std::vector<std::vector<std::uint64_t>> times;
	std::vector<Item> in_order;

	explicit Sources(unsigned count)
	{
		std::mt19937 random(count);
		for (std::uint32_t source = 0; source < count; ++source) {
			auto &mine = times.emplace_back(random() % 200);
			for (std::uint64_t &time : mine) {
				time = random() % 100; // most times are those of several sources
				in_order.emplace_back(time, source);
			}
			std::sort(mine.begin(), mine.end());
		}
		std::sort(in_order.begin(), in_order.end());
	}
};

} // namespace

TEST_CASE("merge heap: the lowest time first, at equal times the lowest source")
{
	for (const unsigned count : {0u, 1u, 2u, 3u, 8u, 33u}) {
		const Sources sources(count);
		std::vector<std::size_t> at(count);
		MergeHeap heap;
		for (std::uint32_t source = 0; source < count; ++source)
			if (!sources.times[source].empty())
				heap.add(sources.times[source][0], source);
		heap.make();
		std::vector<Item> found;
		while (!heap.empty()) {
			const std::uint32_t source = heap.first();
			const std::uint64_t bound = heap.bound();
			const auto &mine = sources.times[source];
			REQUIRE(heap.first_time() < bound);
			while (at[source] < mine.size() && mine[at[source]] < bound)
				found.emplace_back(mine[at[source]++], source);
			if (at[source] < mine.size())
				heap.update(mine[at[source]]);
			else
				heap.remove();
		}
		CHECK(found == sources.in_order);
	}
}

TEST_CASE("merge heap: complements of times and sources reverse the order")
{
	const Sources sources(9);
	std::vector<std::size_t> left;
	MergeHeap heap;
	for (std::uint32_t source = 0; source < 9; ++source) {
		left.push_back(sources.times[source].size());
		if (left.back() != 0)
			heap.add(~sources.times[source].back(), ~source);
	}
	heap.make();
	std::vector<Item> found;
	while (!heap.empty()) {
		const std::uint32_t source = ~heap.first();
		found.emplace_back(~heap.first_time(), source);
		if (--left[source] > 0)
			heap.update(~sources.times[source][left[source] - 1]);
		else
			heap.remove();
	}
	std::reverse(found.begin(), found.end());
	CHECK(found == sources.in_order);
}

TEST_CASE("merge heap: a source is the first until the time of another one, which it shares if it is lower")
{
	MergeHeap heap;
	heap.add(10, 1);
	heap.make();
	CHECK(heap.bound() == latest);
	heap.add(latest, 0);
	heap.add(20, 2);
	heap.make();
	CHECK(heap.first() == 1);
	CHECK(heap.bound() == 21);
	heap.update(30);
	CHECK(heap.first() == 2);
	CHECK(heap.bound() == 30);
	heap.remove();
	CHECK(heap.bound() == latest);
	heap.clear();
	CHECK(heap.empty());
}

} // namespace test_merge_heap
