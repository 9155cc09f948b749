// SPDX-License-Identifier: MIT
// The ring of threads without restartable sequences: what is whole is yielded, what never comes is gone round.
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include <unistd.h>

#include <catch2/catch.hpp>

#include "recording/user_card/user_shared.h"

namespace {

std::function<void()> at_claim; // what happens while a writer is stopped between its claim and its stores

} // namespace

#define EDC_CLAIMED_() (at_claim ? std::exchange(at_claim, nullptr)() : void())
#include "monitor/edc_shared.h"
#include "monitor/token.h"

namespace test_user_shared {

using namespace monitor::card;

namespace {

constexpr std::uint64_t start = 5'000'000'000'000, now = start + 1'000'000, patience = 1000;
constexpr std::uint64_t blocks = 2, words = blocks * EDC_USER_BLOCK_WORDS;

WordsById some_words()
{
	WordsById known;
	known.fill(unknown_class);
	known[EDC_ID_THREAD] = 1;
	known[1024] = 0;
	known[1026] = 2;
	return known;
}

// What a program's card does, one step at a time.
struct Ring {
	alignas(EDC_BLOCK_SIZE) std::array<std::uint64_t, EDC_USER_BLOCK_WORDS + words> memory{};
	edc_user_ring &shared = *reinterpret_cast<edc_user_ring *>(memory.data());
	bool writers_live = true;
	SharedRing reader{&shared, blocks, start, [this](std::uint32_t) { return writers_live; }};
	std::vector<SharedRecord> seen;
	std::uint64_t delay = 0; // between the first look at the clock and the second

	std::uint64_t &at(std::uint64_t position) { return memory[EDC_USER_BLOCK_WORDS + position % words]; }
	std::uint64_t claim(std::uint64_t count) { return std::exchange(shared.state, shared.state + 2 + count); }
	void store(std::uint64_t position, std::uint32_t id, std::uint64_t time,
		   std::initializer_list<std::uint64_t> payload = {})
	{
		std::uint64_t next = position + 1;
		at(next++) = edc_token(id, EDC_MODE_USER, time, 5);
		for (std::uint64_t word : payload)
			at(next++) = word;
		at(position) = 77ull << EDC_HEAD_THREAD_SHIFT | (time >> 32 & 0xffff) << EDC_HEAD_TIME_SHIFT |
			       (position & EDC_HEAD_POSITION);
	}
	void post(std::uint32_t id, std::uint64_t time, std::initializer_list<std::uint64_t> payload = {})
	{
		store(claim(payload.size()), id, time, payload);
	}
	const char *take(std::uint64_t when = now, bool last = false)
	{
		const auto clock = [&, looks = 0]() mutable { return when + (looks++ ? delay : 0); };
		return reader.take({clock, last, patience}, some_words(),
				   [this](const auto &record) { seen.push_back(record); });
	}
};

} // namespace

TEST_CASE("shared ring: a reader that was away between the clock and the ring finds newer records")
{
	Ring ring;
	ring.delay = 1'000'000;
	ring.post(1024, now + 900'000);
	CHECK(ring.take(now) == nullptr);
	REQUIRE(ring.seen.size() == 1);
	CHECK(ring.seen[0].time == now + 900'000);
	CHECK(ring.reader.complete_before() == now);
	ring.post(1024, now + 1'200'000); // after the clock's time and what another CPU's may be ahead
	CHECK(ring.take(now) != nullptr);
	CHECK(ring.seen.size() == 1);
}

TEST_CASE("shared ring: whole records, with full times, over the ring's boundary")
{
	Ring ring;
	for (std::uint64_t i = 0; i < 1000; ++i) {
		ring.post(1026, start + i, {i, ~i});
		REQUIRE(ring.take(start + i) == nullptr);
		REQUIRE(ring.seen.size() == i + 1);
		CHECK(ring.seen.back().time == start + i);
		CHECK(ring.seen.back().tid == 77);
		CHECK(ring.seen.back().words == 3);
		CHECK(ring.seen.back().word[1] == i);
		CHECK(ring.seen.back().word[2] == ~i);
		CHECK(ring.shared.read == ring.shared.state);
	}
	CHECK(ring.reader.discarded() == 0);
	CHECK(ring.reader.complete_before() == start + 999);
}

TEST_CASE("shared ring: who has claimed is waited for, and no time after it is told complete")
{
	Ring ring;
	const std::uint64_t mine = ring.claim(0);
	ring.post(1024, start + 2);
	CHECK(ring.take(now) == nullptr);
	CHECK(ring.seen.empty());
	CHECK(ring.reader.complete_before() == start);
	CHECK(ring.shared.read == 0);
	ring.store(mine, 1024, start + 1);
	CHECK(ring.take(now + patience - 1) == nullptr);
	CHECK(ring.seen.size() == 2);
	CHECK(ring.reader.discarded() == 0);
	CHECK(ring.reader.complete_before() == now + patience - 1);
}

TEST_CASE("shared ring: a hole is gone round after a while, at once when the writers have ended, and counted")
{
	const bool last = GENERATE(false, true);
	Ring ring;
	ring.post(1024, start + 1);
	ring.claim(2);
	ring.post(1024, start + 2);
	ring.claim(0);
	if (!last) {
		CHECK(ring.take(now) == nullptr);
		CHECK(ring.seen.size() == 1);
		CHECK(ring.take(now + patience - 1) == nullptr);
		CHECK(ring.seen.size() == 1);
		CHECK(ring.take(now + patience) == nullptr);
		CHECK(ring.seen.size() == 2);
		CHECK(ring.reader.discarded() == 2); // the second hole was claimed as early as the first
	} else {
		CHECK(ring.take(now, true) == nullptr);
	}
	CHECK(ring.seen.size() == 2);
	CHECK(ring.reader.discarded() == 2);
	CHECK(ring.shared.read == ring.shared.state);
}

TEST_CASE("shared ring: what an earlier lap left is no record")
{
	Ring ring;
	for (std::uint64_t i = 0; i < words / 2; ++i)
		ring.post(1024, start + i);
	CHECK(ring.take() == nullptr);
	CHECK(ring.seen.size() == words / 2);
	ring.claim(0);
	CHECK(ring.take() == nullptr);
	CHECK(ring.seen.size() == words / 2);
	ring.shared.discarded = 3;
	CHECK(ring.take(now, true) == nullptr);
	CHECK(ring.reader.discarded() == 4);
}

TEST_CASE("shared ring: what no card writes is told and gone round")
{
	Ring ring;
	SECTION("an unknown class")
	{
		ring.post(1025, start + 1);
	}
	SECTION("a thread token")
	{
		ring.post(EDC_ID_THREAD, start + 1, {5});
	}
	SECTION("a time before the one that is complete")
	{
		ring.post(1024, start - 1'000'000);
	}
	SECTION("a time that would lie before the clock began")
	{
		ring.post(1024, start | 1ull << 47);
	}
	SECTION("an event longer than what is claimed")
	{
		ring.store(ring.claim(0), 1026, start + 1);
		CHECK(ring.take() != nullptr);
		CHECK(ring.seen.empty());
		return;
	}
	SECTION("a position that jumped")
	{
		ring.shared.state += words + 1;
		CHECK(ring.take() != nullptr);
		CHECK(ring.shared.read == ring.shared.state);
		ring.post(1024, now + 2);
		CHECK(ring.take() == nullptr);
		CHECK(ring.seen.size() == 1);
		return;
	}
	ring.post(1024, start + 2);
	CHECK(ring.take() != nullptr);
	CHECK(ring.seen.size() == 1);
	CHECK(ring.reader.discarded() == 1);
}

TEST_CASE("shared ring: one that was full before its recorder came begins where it is")
{
	Ring ring;
	ring.shared.state = words; // as the kernel module makes it
	ring.reader.skip_present_content();
	CHECK(ring.shared.read == words);
	CHECK(ring.take() == nullptr);
	ring.post(1024, now + 2);
	CHECK(ring.take() == nullptr);
	CHECK(ring.seen.size() == 1);
	CHECK(ring.reader.discarded() == 0);
}

TEST_CASE("shared ring: a class that is learnt when it is met")
{
	Ring ring;
	WordsById known = some_words();
	ring.post(1030, start + 1, {9});
	const char *wrong = ring.reader.take(
	    {[] { return now; }, false, patience}, known, [&](const auto &record) { ring.seen.push_back(record); },
	    [&] { known[1030] = 1; });
	CHECK(wrong == nullptr);
	CHECK(ring.seen.size() == 1);
	CHECK(ring.seen[0].words == 2);
}

TEST_CASE("shared ring: holes that were there together are waited for together")
{
	Ring ring;
	for (int i = 0; i < 10; ++i) {
		ring.claim(0);
		ring.post(1024, start + 1);
	}
	CHECK(ring.take() == nullptr);
	CHECK(ring.seen.empty());
	ring.claim(0); // claimed after the first look
	CHECK(ring.take(now + patience) == nullptr);
	CHECK(ring.seen.size() == 10);
	CHECK(ring.reader.discarded() == 10);
	CHECK(ring.take(now + 2 * patience) == nullptr);
	CHECK(ring.reader.discarded() == 11);
}

TEST_CASE("shared ring: who is stopped with a claim in hand does not store into the next lap")
{
	const bool ends = GENERATE(false, true);
	edc_user_area area{};
	Ring ring;
	edc_card card{};
	card.shared = &ring.shared;
	card.area = &area;
	card.mask = words - 1;
	card.pid = static_cast<std::uint64_t>(::getpid());
	std::uint64_t posted = 0;
	const auto post = [&] {
		const std::uint64_t payload[] = {posted, ~posted};
		++posted;
		edc_share_(&card, 5ull << EDC_ARG_SHIFT | 1026, 2, payload);
	};
	std::vector<SharedRecord> seen;
	SharedRing reader(&ring.shared, blocks, edc_tsc_(), [&](std::uint32_t) { return !ends; });
	const auto take = [&] { // which waits for nobody
		return reader.take({edc_tsc_}, some_words(), [&](const auto &record) { seen.push_back(record); });
	};
	post();
	at_claim = [&] { // other threads go on, the reader goes round the claim, and a lap is over
		while (ring.shared.state < words) {
			post();
			CHECK(take() == nullptr);
		}
		CHECK(reader.discarded() == 1);
		++posted; // a shorter one, so that records of the next lap lie across those of this one
		edc_share_(&card, 1024, 0, nullptr);
		for (std::uint64_t i = 0; i < words; i += 8)
			post();
		if (ends) // it stores nothing any more, and its words are used again
			CHECK(take() == nullptr);
	};
	post();
	REQUIRE(!at_claim); // the hook was called
	if (!ends) {
		CHECK(take() == nullptr);
		CHECK(seen.size() + reader.discarded() == posted);
		CHECK(ring.shared.read == ring.shared.state); // its words are free again
		for (const SharedRecord &record : seen)
			CHECK((record.words == 1 || record.word[2] == ~record.word[1]));
	} else {
		CHECK(reader.discarded() == 1);
	}
	for (const edc_user_claim &claim : ring.shared.claim)
		CHECK(claim.word == 0);
}

} // namespace test_user_shared
