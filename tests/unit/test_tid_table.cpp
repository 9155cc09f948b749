// SPDX-License-Identifier: MIT
#include <map>
#include <random>

#include <catch2/catch.hpp>

#include "reading/analyze/tid_table.h"

namespace test_tid_table {

using monitor::analyze::largest_tid;
using monitor::analyze::TidTable;

TEST_CASE("tid table: it has what a map has, and room only for what was set")
{
	std::mt19937 random(7);
	TidTable<int> table;
	CHECK(table.find(0) == 0);
	CHECK(table.find(largest_tid) == 0);
	CHECK(table.bytes() == 0);
	std::map<std::int32_t, int> model;
	for (int i = 1; i < 2000; ++i) {
		const auto tid =
		    static_cast<std::int32_t>(random() % 3 ? random() % 5000 : random() % (largest_tid + 1));
		table[tid] = model[tid] = i;
	}
	const TidTable<int> copy = table;
	table.visit([](int &value) { value = -value; });
	for (const auto &[tid, value] : model) {
		CHECK(table.find(tid) == -value);
		CHECK(copy.find(tid) == value);
	}
	TidTable<void *> one;
	one[largest_tid] = &one;
	CHECK(one.bytes() < 200'000);
	CHECK(one.find(largest_tid - 1) == nullptr);
	// Numbers that no thread has are one.
	CHECK(one.find(-1) == &one);
	CHECK(one.find(largest_tid + 1) == &one);
}

} // namespace test_tid_table
