// SPDX-License-Identifier: MIT
// The drain thread with a sink (record --states): what it is offered of rings that the test fills.
#include <chrono>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "fake_card.h"
#include "monitor/token.h"
#include "recording/rings/drain.h"

namespace test_drain_sink {

using namespace monitor::record;
using monitor::card::CardMemory;

namespace {

constexpr unsigned cpus = 2;
constexpr std::uint64_t ring_blocks = 64;

// Keeps the words of each stream's blocks; a block that is offered again replaces itself.
class Sink : public BlockSink {
public:
	void start(const LiveStart &) override {}
	void describe(const std::string &) override {}
	bool take(StreamNumber stream, const std::string &name, const std::byte *block) override
	{
		edc_block header;
		std::memcpy(&header, block, sizeof header);
		if (refuses || (stream == 0 && !keeps_own(header)))
			return false;
		names[stream] = name;
		std::vector<std::uint64_t> &words = blocks[stream][header.packet_seq_num];
		words.clear();
		for (std::uint64_t at = EDC_BLOCK_HEADER; stream && at < header.content_size / 8; at += 16)
			std::memcpy(&words.emplace_back(), block + at + 8, 8);
		return true;
	}
	void lose(StreamNumber stream) override { ++losses[stream]; }
	bool advance(std::uint64_t time) override
	{
		horizon = time;
		while (own_ends.size() > 1 && own_ends.begin()->second <= time)
			own_ends.erase(own_ends.begin());
		return true;
	}
	void set_window_end(std::uint64_t) override {}
	LiveEnd finish() override { return {}; }

	std::vector<std::uint64_t> words(StreamNumber stream)
	{
		std::vector<std::uint64_t> all;
		for (const auto &[number, words] : blocks[stream])
			all.insert(all.end(), words.begin(), words.end());
		return all;
	}

	// As LiveStreams without other memory: of the recorder's own blocks the newest, and one more.
	bool keeps_own(const edc_block &header)
	{
		if (own_ends.size() >= max_own && !own_ends.contains(header.packet_seq_num))
			return false;
		own_ends[header.packet_seq_num] = header.timestamp_end;
		return true;
	}

	bool refuses = false;
	std::size_t max_own = 1000;
	std::map<std::uint64_t, std::uint64_t> own_ends; // of blocks that are kept, by number
	std::map<StreamNumber, std::map<std::uint64_t, std::vector<std::uint64_t>>> blocks;
	std::map<StreamNumber, std::string> names;
	std::map<StreamNumber, unsigned> losses;
	std::uint64_t horizon = 0;
};

struct Draining {
	CardMemory card{fake::options(cpus, ring_blocks)};
	edc_clock clock{};
	ClockSteering steering{clock, true};
	BlockPool pool{256};
	Failure failure;
	ControlStream control{card.uuid(), [this](const std::byte *block) { drain.push_control(block); }};
	Drain drain{&card, nullptr, pool, control, steering, failure};
	Sink sink;
	std::uint64_t posted = 0;

	explicit Draining(Drain::Written written)
	{
		steering.start(read_sync(true), 1);
		std::vector<std::string> names{"recorder"};
		for (unsigned ring = 0; ring < cpus * card.rings(); ++ring)
			names.push_back("ring" + std::to_string(ring));
		drain.set_sink(sink, names, written);
		drain.set_shown(control);
	}

	bool post() { return fake::post(card, 0, 0, posted, posted) && ++posted; }
	void post(unsigned count)
	{
		for (unsigned i = 0; i < count; ++i)
			REQUIRE(post());
	}
	edc_ring &ring() const { return card.area(0).level[0].ring; }
	StreamNumber stream() const { return static_cast<StreamNumber>(ring().stream_instance_id); }
	std::uint64_t read() const { return card.area(0).reader.read[0]; }
	std::size_t written()
	{
		std::size_t count = 0;
		for (PooledBlock block; pool.next(block); ++count)
			pool.give_back(block.index);
		return count;
	}
};

} // namespace

TEST_CASE("drain: a sink is offered what is in a ring, its open block too, and all of it once more when it is closed")
{
	Draining it(Drain::Written::all);
	for (int i = 0; i < 2000; ++i) {
		it.post(1 + i % 7);
		it.drain.drain_now();
		REQUIRE(it.sink.words(it.stream()).size() == it.posted);
		it.written();
	}
	CHECK(it.sink.words(it.stream()) == fake::numbers(it.posted));
	CHECK(it.sink.blocks[it.stream()].size() == it.ring().opened);
	CHECK(it.sink.names[it.stream()] == "ring0");
	CHECK(it.sink.losses.empty());
}

TEST_CASE("drain: without tokens the writer gets none, the sink all")
{
	Draining it(Drain::Written::own);
	it.post(20 * fake::records_in_block + 3);
	it.drain.drain_now();
	CHECK(it.written() == 0);
	CHECK(it.read() == 20);
	CHECK(it.sink.words(it.stream()) == fake::numbers(it.posted));
}

TEST_CASE("drain: without a trace the sink gets all, the recorder's own too, and the writer nothing")
{
	Draining it(Drain::Written::nothing);
	for (int i = 0; i < 300; ++i)
		it.drain.sync();
	it.post(2 * fake::records_in_block + 3);
	it.drain.drain_now();
	CHECK(it.sink.words(it.stream()) == fake::numbers(it.posted));
	CHECK(it.sink.blocks[0].size() > 1);
	it.drain.drain_rest({}, [] {});
	CHECK(it.written() == 0);
}

TEST_CASE("drain: a sink that has memory for two of the recorder's own blocks gets all of them")
{
	Draining it(Drain::Written::nothing);
	it.sink.max_own = 2;
	for (int i = 0; i < 600; ++i)
		it.drain.sync();
	const std::size_t at_first = it.sink.blocks[0].size();
	std::this_thread::sleep_for(std::chrono::milliseconds(20)); // what is newer may not be complete
	for (int i = 0; i < 20; ++i)
		it.drain.drain_now();
	REQUIRE(it.sink.blocks[0].size() > at_first + 2);
	it.drain.drain_rest({}, [] {});
	CHECK(it.sink.blocks[0].rbegin()->first + 1 == it.sink.blocks[0].size());
	CHECK(it.sink.horizon == ~std::uint64_t(0));
}

TEST_CASE("drain: what a sink has no memory for waits in the ring, and what is older is not said to be complete")
{
	Draining it(Drain::Written::all);
	it.drain.drain_now();
	const std::uint64_t horizon = it.sink.horizon;
	CHECK(horizon > 0);
	it.sink.refuses = true;
	it.post(5 * fake::records_in_block);
	it.drain.drain_now();
	CHECK(it.read() == 0);
	CHECK(it.written() == 0);
	CHECK(it.sink.horizon == horizon);
	it.sink.refuses = false;
	it.drain.drain_now();
	CHECK(it.read() == it.ring().closed);
	CHECK(it.sink.words(it.stream()) == fake::numbers(it.posted));
	CHECK(it.sink.horizon > horizon);
}

TEST_CASE("drain: while a probe is in progress nothing later is said to be complete")
{
	Draining it(Drain::Written::all);
	it.drain.drain_now();
	const std::uint64_t horizon = it.sink.horizon;
	it.card.area(1).depth = 1;
	it.drain.drain_now();
	CHECK(it.sink.horizon == horizon);
	it.card.area(1).depth = 0;
	it.drain.drain_now();
	CHECK(it.sink.horizon > horizon);
}

TEST_CASE("drain: a sink learns of a loss before the next block is opened")
{
	Draining it(Drain::Written::all);
	while (it.post()) {
	}
	it.drain.drain_now();
	CHECK(it.sink.losses[it.stream()] == 1);
	it.post(1); // its block says what was lost
	it.drain.drain_now();
	CHECK(it.sink.losses[it.stream()] == 1);
	CHECK(it.sink.words(it.stream()) == fake::numbers(it.posted));
}

TEST_CASE("drain: the recorder's own events are shown before their block is full")
{
	Draining it(Drain::Written::all);
	it.drain.sync();
	it.drain.drain_now();
	CHECK(it.sink.blocks[0].size() == 1);
	CHECK(it.written() == 0);
	it.drain.drain_rest({}, [] {});
	CHECK(it.sink.blocks[0].size() == 1);
	CHECK(it.written() == 1);
}

TEST_CASE("drain: the recorder's own blocks wait for a sink that is not started yet")
{
	Draining it(Drain::Written::all);
	it.sink.refuses = true;
	for (int i = 0; i < 300; ++i)
		it.drain.sync();
	it.drain.drain_now();
	CHECK(it.sink.blocks[0].empty());
	it.sink.refuses = false;
	it.drain.drain_now();
	REQUIRE(it.sink.blocks[0].size() > 1);
	CHECK(it.sink.blocks[0].rbegin()->first - it.sink.blocks[0].begin()->first + 1 == it.sink.blocks[0].size());
	it.drain.drain_rest({}, [] {});
	CHECK(it.written() == it.sink.blocks[0].size());
}

} // namespace test_drain_sink
