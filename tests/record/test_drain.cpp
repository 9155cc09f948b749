// SPDX-License-Identifier: MIT
// The drain thread: from rings that the test fills into a pool that the test empties.
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <thread>

#include <catch2/catch.hpp>
#include <poll.h>

#include "fake_card.h"
#include "faults.h"
#include "monitor/token.h"
#include "recording/rings/drain.h"

namespace test_drain {

using namespace monitor::record;
using monitor::card::CardMemory;

namespace {

constexpr unsigned cpus = 2;
constexpr std::uint64_t ring_blocks = 64;

struct Taken {
	edc_block header;
	std::vector<std::uint64_t> words; // the payloads
};

// What the writer would get, by stream.
class Taker {
public:
	explicit Taker(BlockPool &pool) : pool_(pool) {}

	void take_all()
	{
		for (PooledBlock block; pool_.next(block);) {
			Taken taken;
			std::memcpy(&taken.header, pool_.at(block.index), sizeof taken.header);
			for (std::uint64_t at = EDC_BLOCK_HEADER; block.stream && at < taken.header.content_size / 8;
			     at += 16)
				std::memcpy(&taken.words.emplace_back(), pool_.at(block.index) + at + 8, 8);
			if (block.stream == 0)
				own.assign(pool_.at(block.index),
					   pool_.at(block.index) + taken.header.content_size / 8);
			pool_.give_back(block.index);
			streams[block.stream].push_back(std::move(taken));
		}
	}
	std::vector<std::uint64_t> words(StreamNumber stream)
	{
		std::vector<std::uint64_t> all;
		for (const Taken &block : streams[stream])
			all.insert(all.end(), block.words.begin(), block.words.end());
		return all;
	}
	std::map<StreamNumber, std::vector<Taken>> streams;
	std::vector<std::byte> own; // the recorder's newest block

private:
	BlockPool &pool_;
};

struct Draining {
	CardMemory card{fake::options(cpus, ring_blocks)};
	edc_clock clock{};
	ClockSteering steering{clock, true};
	BlockPool pool;
	Failure failure;
	ControlStream control{card.uuid(), [this](const std::byte *block) { drain.push_control(block); }};
	Drain drain{&card, nullptr, pool, control, steering, failure};
	Taker taker{pool};

	explicit Draining(std::uint32_t pool_blocks = 256) : pool(pool_blocks) { steering.start(read_sync(true), 1); }
	~Draining() { faults::fail_allocation(-1); }

	StreamNumber stream(unsigned cpu, unsigned level) const
	{
		return static_cast<StreamNumber>(card.area(cpu).level[level].ring.stream_instance_id);
	}
	std::uint64_t closed(unsigned cpu, unsigned level) const { return card.area(cpu).level[level].ring.closed; }
	std::uint64_t read(unsigned cpu, unsigned level) const { return card.area(cpu).reader.read[level]; }
};

} // namespace

TEST_CASE("drain: closed blocks of every ring are taken once, in order, over the ring's end; the open one stays")
{
	Draining it;
	std::uint64_t posted = 0;
	for (int round = 0; round < 7; ++round) {
		for (unsigned i = 0; i < 20 * fake::records_in_block; ++i, ++posted)
			for (unsigned cpu = 0; cpu < cpus; ++cpu)
				REQUIRE(fake::post(it.card, cpu, 0, posted, posted));
		fake::fill_block(it.card, 1, 3, 5, 5);
		it.drain.drain_now();
		it.taker.take_all();
		CHECK(it.read(0, 0) == it.closed(0, 0));
		CHECK(it.read(1, 3) == it.closed(1, 3));
	}
	for (unsigned cpu = 0; cpu < cpus; ++cpu) {
		const auto &blocks = it.taker.streams[it.stream(cpu, 0)];
		REQUIRE(blocks.size() == it.closed(cpu, 0));
		for (std::size_t i = 0; i < blocks.size(); ++i) {
			CHECK(blocks[i].header.packet_seq_num == i);
			CHECK(blocks[i].header.magic == EDC_BLOCK_MAGIC);
		}
		CHECK(it.taker.words(it.stream(cpu, 0)) == fake::numbers(it.closed(cpu, 0) * fake::records_in_block));
	}
	CHECK(it.taker.streams[it.stream(1, 3)].size() == it.closed(1, 3));
	CHECK(it.taker.streams.count(it.stream(0, 3)) == 0);
}

TEST_CASE("drain: a pass that copied blocks is told, and those before it that found none are summed up in it")
{
	Draining it;
	for (int i = 0; i < 3; ++i)
		it.drain.drain_now();
	CHECK(it.control.tokens() == 0);
	fake::fill_block(it.card, 0, 0, 1, 1);
	fake::fill_block(it.card, 1, 0, 1, 1);
	it.drain.drain_now();
	CHECK(it.control.tokens() == 1);
	it.drain.drain_now();
	it.drain.drain_rest(); // with the open blocks
	it.taker.take_all();
	struct Pass {
		std::uint64_t token, start, cpu_ns;
		std::uint32_t blocks, free_blocks, empty;
		std::uint16_t fullest, stalled;
		std::uint64_t empty_cpu_ns;
	};
	const auto &own = it.taker.own;
	REQUIRE(own.size() == EDC_BLOCK_HEADER + 2 * sizeof(Pass));
	Pass passes[2];
	std::memcpy(passes, own.data() + EDC_BLOCK_HEADER, sizeof passes);
	for (const Pass &pass : passes) {
		CHECK(edc_token_id(pass.token) == EDC_ID_DRAIN_PASS);
		CHECK(pass.cpu_ns > 0);
		CHECK(pass.empty_cpu_ns > 0);
		CHECK(pass.stalled == 0);
	}
	CHECK(static_cast<std::uint32_t>(passes[0].start) <= edc_token_time(passes[0].token));
	CHECK(edc_token_arg(passes[0].token) == EDC_PASS_START);
	CHECK(passes[0].blocks == it.closed(0, 0) + it.closed(1, 0));
	CHECK(passes[0].free_blocks == 256 - passes[0].blocks);
	CHECK(passes[0].empty == 3);
	const std::uint64_t blocks = it.card.area(0).level[0].ring.blocks;
	CHECK(passes[0].fullest == (it.closed(0, 0) * 1000 + blocks - 1) / blocks);
	CHECK(edc_token_arg(passes[1].token) == EDC_PASS_END);
	CHECK(passes[1].blocks == 2); // the open ones
	CHECK(passes[1].empty == 1);
}

TEST_CASE("drain: what the pool has no room for waits in its ring, and only what the ring refuses is lost")
{
	Draining it(16);
	std::uint64_t posted = 0, refused = 0;
	for (unsigned i = 0; i < 3 * ring_blocks * fake::records_in_block; ++i) {
		if (fake::post(it.card, 0, 0, posted, posted))
			++posted;
		else
			++refused;
		if (i % 500 == 0)
			it.drain.drain_now(); // nobody empties the pool
	}
	CHECK(refused > 0);
	CHECK(it.read(0, 0) == 16);
	for (int i = 0; i < 10; ++i) {
		it.taker.take_all();
		it.drain.drain_now();
	}
	it.taker.take_all();
	CHECK(it.read(0, 0) == it.closed(0, 0));
	CHECK(it.taker.words(it.stream(0, 0)) == fake::numbers(it.closed(0, 0) * fake::records_in_block));
	CHECK(it.card.area(0).level[0].ring.discarded == refused);
}

TEST_CASE("drain: at the end the open blocks come, and what was refused last is said by an empty block")
{
	Draining it(512);
	std::uint64_t posted = 0;
	while (fake::post(it.card, 0, 0, posted, posted))
		++posted;
	fake::post(it.card, 0, 0, posted, posted);
	for (std::uint64_t i = 0; i < 10; ++i)
		fake::post(it.card, 1, 2, 1000 + i, i);
	it.drain.drain_rest();
	it.taker.take_all();
	CHECK(it.taker.words(it.stream(0, 0)) == fake::numbers(posted));
	const Taken &last = it.taker.streams[it.stream(0, 0)].back();
	CHECK(last.words.empty());
	CHECK(last.header.events_discarded == 2);
	CHECK(last.header.packet_seq_num == it.card.area(0).level[0].ring.opened);
	CHECK(last.header.timestamp_begin >= posted);
	REQUIRE(it.taker.streams[it.stream(1, 2)].size() == 1);
	CHECK(it.taker.words(it.stream(1, 2)) == fake::numbers(10));
	CHECK(it.taker.streams[it.stream(1, 2)].back().header.timestamp_end == 1009);
	CHECK(it.taker.streams.count(it.stream(1, 1)) == 0);
}

TEST_CASE("drain: the recorder's own blocks wait for the pool, in order")
{
	Draining it(16);
	std::uint32_t index;
	std::vector<std::uint32_t> held;
	while (it.pool.take(index))
		held.push_back(index);
	for (int i = 0; i < 5; ++i) {
		it.drain.sync();
		it.control.flush();
	}
	for (const std::uint32_t each : held)
		it.pool.give_back(each);
	it.drain.sync();
	it.drain.drain_rest();
	it.taker.take_all();
	const auto &blocks = it.taker.streams[0];
	REQUIRE(blocks.size() == 6);
	for (std::size_t i = 0; i < blocks.size(); ++i)
		CHECK(blocks[i].header.packet_seq_num == i);
}

TEST_CASE("drain: what is due at a time is called then, not before, and in steps from there")
{
	Draining it;
	const auto due = std::chrono::steady_clock::now() + std::chrono::milliseconds(70);
	constexpr std::chrono::milliseconds interval(30);
	std::vector<std::chrono::nanoseconds> since_due;
	std::mutex lock;
	it.drain.set_periodic_call(
	    interval,
	    [&](const Sync &sync) {
		    const std::lock_guard guard(lock);
		    since_due.push_back(std::chrono::nanoseconds(sync.monotonic_ns) - due.time_since_epoch());
	    },
	    due);
	it.drain.write_nothing();
	it.drain.start();
	for (bool is_over = false; !is_over;) {
		std::this_thread::sleep_for(std::chrono::milliseconds(5));
		const std::lock_guard guard(lock);
		is_over = since_due.size() >= 3;
	}
	it.drain.stop();
	it.drain.drain_rest();
	for (std::size_t i = 0; i < since_due.size(); ++i) {
		CHECK(since_due[i].count() >= 0);
		CHECK((i == 0 || since_due[i] / interval > since_due[i - 1] / interval));
	}
	it.taker.take_all();
	CHECK(it.taker.streams.empty()); // not even the recorder's own
}

TEST_CASE("drain: beside a probe and a writer every event is in a block or refused")
{
	constexpr std::uint64_t events = 300'000;
	Draining it(16);
	std::atomic<bool> over{false};
	std::thread writer([&] {
		while (!over) {
			it.pool.wait();
			it.taker.take_all();
		}
	});
	it.drain.start();
	std::uint64_t discarded[cpus] = {};
	std::vector<std::thread> probes;
	for (unsigned cpu = 0; cpu < cpus; ++cpu)
		probes.emplace_back([&, cpu] {
			for (std::uint64_t i = 0; i < events; ++i) {
				discarded[cpu] += !fake::post(it.card, cpu, 0, i, i);
				if (i % 20'000 == 0) // longer than a look takes
					std::this_thread::sleep_for(std::chrono::milliseconds(1));
			}
		});
	for (std::thread &probe : probes)
		probe.join();
	it.drain.stop();
	it.drain.drain_rest();
	over = true;
	it.pool.wake();
	writer.join();
	it.taker.take_all();
	for (unsigned cpu = 0; cpu < cpus; ++cpu) {
		const auto words = it.taker.words(it.stream(cpu, 0));
		CHECK(words.size() + discarded[cpu] == events);
		CHECK(std::is_sorted(words.begin(), words.end()));
		CHECK(it.taker.streams[it.stream(cpu, 0)].back().header.events_discarded == discarded[cpu]);
	}
}

TEST_CASE("drain: where memory ends for a moment, what was there before and comes later is whole")
{
	Draining it;
	long failures = 0;
	for (std::uint64_t i = 0; i < 60; ++i) {
		faults::fail_allocation(static_cast<long>(i % 4));
		try {
			it.drain.sync();
			it.control.flush();
		} catch (const std::bad_alloc &) {
			++failures;
		}
		faults::fail_allocation(-1);
		it.taker.take_all();
	}
	CHECK(failures > 10);
	it.drain.sync();
	it.drain.drain_rest();
	it.taker.take_all();
	std::uint64_t before = 0;
	for (const Taken &block : it.taker.streams[0]) {
		CHECK(block.header.timestamp_begin >= before);
		CHECK(block.header.content_size > EDC_BLOCK_HEADER * 8);
		before = block.header.timestamp_end;
	}
}

TEST_CASE("drain: where memory ends in its thread the recording is to end, with a sentence")
{
	Draining it;
	it.drain.start();
	faults::fail_allocation(0);
	pollfd failure{it.failure.fd(), POLLIN, 0};
	REQUIRE(::poll(&failure, 1, 10'000) == 1); // it reads a clock every 100 ms
	REQUIRE(it.failure.reported());
	CHECK_THAT(std::string(it.failure.text()), Catch::Contains("out of memory"));
	it.drain.stop();
	fake::fill_block(it.card, 0, 0, 1, 1);
	it.drain.drain_now();
	CHECK(it.read(0, 0) == 1);
}

} // namespace test_drain
