// SPDX-License-Identifier: MIT
// Times between events (include/monitor/timing.h): which start an end belongs to, and what is folded.
#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "monitor/timing.h"

namespace test_timing {
namespace {

std::uint64_t number_of(const edc_timed &timed)
{
	std::uint64_t number = 0;
	for (const std::uint64_t of_bucket : timed.bucket)
		number += of_bucket;
	return number;
}

} // namespace

TEST_CASE("timing: a bucket holds what is between its bounds, an eighth of a power of two")
{
	for (unsigned bucket = 0; bucket + 1 < EDC_TIMED_BUCKETS; ++bucket) {
		INFO(bucket);
		const std::uint64_t first = edc_timed_bucket_first(bucket), next = edc_timed_bucket_first(bucket + 1);
		CHECK(edc_timed_bucket(first) == bucket);
		CHECK(edc_timed_bucket(next - 1) == bucket);
		CHECK(next > first);
		CHECK((first < 8 || next - first <= first / 8));
	}
	CHECK(edc_timed_bucket(0) == 0);
	CHECK(edc_timed_bucket(~0ull) == EDC_TIMED_BUCKETS - 1);
}

TEST_CASE("timing: random starts and ends are paired as a map does")
{
	std::mt19937_64 random(1);
	const auto pending = std::make_unique<edc_pending_starts>();
	edc_timed timed{};
	std::map<std::uint64_t, std::uint64_t> open;
	std::uint64_t time = 1000, number = 0, sum = 0, longest = 0, shortest = ~0ull, replaced = 0, ends = 0,
		      starts = 0;
	for (int i = 0; i < 300'000; ++i) {
		const std::uint64_t key = random() % 300 * (random() % 2 ? 1 : 0x100000001ull);
		time += random() % 5000;
		if (random() % 2) {
			++starts;
			replaced += open.contains(key);
			open[key] = time;
			edc_timed_start(&timed, pending.get(), key, time);
			continue;
		}
		edc_timed_end(&timed, pending.get(), key, time);
		const auto found = open.find(key);
		if (found == open.end()) {
			++ends;
			continue;
		}
		const std::uint64_t ticks = time - found->second;
		open.erase(found);
		++number;
		sum += ticks;
		longest = std::max(longest, ticks);
		shortest = std::min(shortest, ticks);
	}
	CHECK(timed.forgotten == 0);
	CHECK(number_of(timed) == number);
	CHECK(timed.sum == sum);
	CHECK(timed.longest == longest);
	CHECK(~timed.not_shortest == shortest);
	CHECK(timed.starts == starts);
	CHECK(timed.replaced == replaced);
	CHECK(timed.ends == ends);
}

TEST_CASE("timing: starts without room are forgotten, the oldest first, and counted")
{
	const auto pending = std::make_unique<edc_pending_starts>();
	edc_timed timed{};
	for (std::uint64_t key = 0; key < 3 * EDC_PENDING_STARTS; ++key)
		edc_timed_start(&timed, pending.get(), key, 1000 + key);
	CHECK(timed.starts == 3 * EDC_PENDING_STARTS);
	CHECK(timed.forgotten >= 2 * EDC_PENDING_STARTS);
	CHECK(timed.forgotten < 2 * EDC_PENDING_STARTS + EDC_PENDING_STARTS / 8);
	for (std::uint64_t key = 0; key < 3 * EDC_PENDING_STARTS; ++key)
		edc_timed_end(&timed, pending.get(), key, 100'000);
	CHECK(number_of(timed) + timed.forgotten == timed.starts);
	CHECK(timed.ends == timed.forgotten);
	CHECK(timed.longest < 100'000 - 1000 - EDC_PENDING_STARTS); // those that are left are the latest
	for (const edc_pending_start &entry : pending->entry)
		CHECK(entry.begin == 0);
}

TEST_CASE("timing: threads with keys of their own do not lose each other's starts")
{
	const auto pending = std::make_unique<edc_pending_starts>();
	constexpr unsigned threads = 4, rounds = 200'000, keys = 16;
	std::vector<edc_timed> timed(threads);
	{
		std::vector<std::jthread> all;
		for (unsigned thread = 0; thread < threads; ++thread)
			all.emplace_back([&, thread] {
				for (unsigned round = 0; round < rounds; ++round) {
					const std::uint64_t key = thread * keys + round % keys, time = 1000 + round;
					edc_timed_start(&timed[thread], pending.get(), key, time);
					edc_timed_end(&timed[thread], pending.get(), key, time + 5);
				}
			});
	}
	for (const edc_timed &one : timed) {
		CHECK(number_of(one) + one.forgotten == rounds);
		CHECK(one.forgotten == 0);
		CHECK(one.sum == 5ull * rounds);
		CHECK(one.bucket[5] == rounds);
	}
}

} // namespace test_timing
