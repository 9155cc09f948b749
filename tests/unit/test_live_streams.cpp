// SPDX-License-Identifier: MIT
// Packets that are read while they are written: the same events and gaps in the same order as from files, whenever the
// passes are; and what is read is freed.
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "live_feed.h"
#include "monitor/token.h"
#include "reading/events/merge.h"

namespace test_live_streams {

using namespace monitor;
using trace::LiveStreams;

namespace {

struct Seen {
	std::vector<std::string> events, gaps;

	void stream(const trace::StreamInfo &) {}
	void event(const trace::Event &event)
	{
		events.push_back(event.stream->name + ' ' + std::to_string(event.time) +
				 (event.opens_packet() ? " opens" : ""));
	}
	void gap(const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to)
	{
		gaps.push_back(stream.name + ' ' + std::to_string(from) + ' ' + std::to_string(to));
		events.push_back("gap of " + stream.name);
	}
	// The end comes later, but before anything that is not older.
	void gap_ended(const trace::StreamInfo &stream, std::uint64_t to)
	{
		const std::string open = ' ' + std::to_string(LiveStreams::open_end);
		for (std::string &gap : gaps)
			if (gap.starts_with(stream.name + ' ') && gap.ends_with(open))
				gap.replace(gap.size() - open.size(), open.size(), ' ' + std::to_string(to));
	}
};

// Five streams with equal times, short packets and losses.
std::vector<samples::StreamWriter> random_streams(std::mt19937 &random, std::uint64_t &time)
{
	const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
	std::vector<samples::StreamWriter> writers;
	for (const auto &[cpu, level] : {std::pair(EDC_CPU_UNKNOWN, 0u), {1u, 0u}, {0u, 1u}, {0u, 0u}, {0u, 16u}}) {
		writers.emplace_back(cpu, level);
		writers.back().open(time);
		writers.back().post(time, 256, 0); // its first packet comes before anything is passed on
	}
	std::vector<std::uint64_t> discarded(writers.size());
	for (int i = 0; i < 400; ++i) {
		time += below(3);
		const unsigned which = below(static_cast<unsigned>(writers.size()));
		if (below(6) == 0) {
			discarded[which] += below(3) == 0 ? 1 + below(5) : 0;
			writers[which].open(time += below(2), discarded[which]);
		}
		writers[which].post(time, 256, below(100));
	}
	return writers;
}

Seen merged(std::vector<samples::StreamWriter> &writers)
{
	Seen seen;
	trace::Trace trace = samples::trace(writers);
	trace::merge(
	    trace, {}, [&](const trace::Event &event) { seen.event(event); },
	    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t) {
		    seen.gap(stream, from, to);
	    });
	return seen;
}

} // namespace

TEST_CASE("live: events and gaps are those of the files, whenever the passes are")
{
	std::mt19937 random(7);
	std::size_t gaps = 0;
	for (int round = 0; round < 200; ++round) {
		std::uint64_t time = 1000;
		std::vector<samples::StreamWriter> writers = random_streams(random, time);
		const Seen wanted = merged(writers);
		const std::shared_ptr<const trace::Description> description = samples::description();
		LiveStreams live(description, 1000, 64);
		live_feed::Feed feed(writers, *description);
		Seen seen;
		for (std::uint64_t now = 1000; now < time; now += 1 + random() % 40) {
			REQUIRE(feed.offer(live, now));
			REQUIRE(live.advance(now, seen));
		}
		REQUIRE(feed.offer(live, time + 1));
		REQUIRE(live.advance(LiveStreams::open_end, seen));
		REQUIRE(seen.events == wanted.events);
		REQUIRE(seen.gaps == wanted.gaps);
		CHECK(live.late() == 0);
		CHECK(live.problems().empty());
		CHECK(live.packets() == writers.size()); // the newest of each
		gaps += seen.gaps.size();
	}
	CHECK(gaps > 1000);
}

TEST_CASE("live: an event that comes after a later one was passed on is counted")
{
	samples::StreamWriter first(0, 0), second(1, 0);
	first.open(10);
	first.post(10, 256, 0);
	first.post(30, 256, 0);
	second.open(20);
	second.post(20, 256, 0);
	LiveStreams live(samples::description(), 0, 8);
	Seen seen;
	CHECK(live.take(1, "a", LiveStreams::Packet(first.bytes().data(), EDC_BLOCK_SIZE)));
	CHECK(live.advance(100, seen));
	CHECK(live.take(2, "b", LiveStreams::Packet(second.bytes().data(), EDC_BLOCK_SIZE)));
	CHECK(live.advance(100, seen));
	CHECK(seen.events == std::vector<std::string>{"a 10 opens", "a 30", "b 20 opens"});
	CHECK(live.late() == 1);
}

TEST_CASE("live: what has no space is refused until others are read; each stream has space for two packets")
{
	std::vector<samples::StreamWriter> writers;
	for (std::uint32_t cpu = 0; cpu < 3; ++cpu) {
		writers.emplace_back(cpu, 0);
		for (std::uint64_t i = 0; i < 10; ++i) {
			writers.back().open(1000 * i);
			writers.back().post(1000 * i + cpu, 256, 0);
		}
	}
	LiveStreams live(samples::description(), 0, 4);
	const auto take = [&](std::uint32_t cpu, std::size_t packet) {
		return live.take(
		    cpu, "s" + std::to_string(cpu),
		    LiveStreams::Packet(writers[cpu].bytes().data() + packet * EDC_BLOCK_SIZE, EDC_BLOCK_SIZE));
	};
	std::size_t taken = 0;
	while (take(0, taken))
		++taken;
	CHECK(taken == 4);
	CHECK(take(1, 0));
	CHECK(take(1, 1));
	CHECK_FALSE(take(1, 2));
	CHECK(take(2, 0));
	Seen seen;
	CHECK(live.advance(2000, seen)); // frees those that are read, not the newest of a stream
	CHECK(seen.events.size() == 2 + 2 + 1);
	CHECK(take(1, 2));
	CHECK_FALSE(take(0, taken));
	CHECK(live.advance(4000, seen));
	CHECK(take(0, taken));
	CHECK(live.packets() <= 4 + 2 * 3);
}

TEST_CASE("live: a damaged packet is a gap, and the rest is read")
{
	samples::StreamWriter writer(0, 0);
	writer.open(10);
	writer.post(10, 256, 0);
	writer.post(20, 999, 0); // no such class
	writer.open(30);
	writer.post(30, 256, 0);
	LiveStreams live(samples::description(), 0, 8);
	Seen seen;
	CHECK(live.take(0, "s", LiveStreams::Packet(writer.bytes().data(), EDC_BLOCK_SIZE)));
	CHECK(live.take(0, "s", LiveStreams::Packet(writer.bytes().data() + EDC_BLOCK_SIZE, EDC_BLOCK_SIZE)));
	CHECK(live.advance(100, seen));
	CHECK(seen.events == std::vector<std::string>{"s 10 opens", "gap of s", "s 30 opens"});
	CHECK(live.problems().total() == 1);
}

TEST_CASE("live: a deadline leaves the rest for the next time")
{
	samples::StreamWriter writer(0, 0);
	writer.open(0);
	for (std::uint64_t i = 0; i < 100; ++i)
		writer.post(i << 22, 256, 0);
	LiveStreams live(samples::description(), 0, 8);
	Seen seen;
	CHECK(live.take(0, "s", LiveStreams::Packet(writer.bytes().data(), EDC_BLOCK_SIZE)));
	CHECK_FALSE(live.advance(LiveStreams::open_end, seen, LiveStreams::Clock::time_point()));
	CHECK(seen.events.size() < 100);
	CHECK(live.advance(LiveStreams::open_end, seen));
	CHECK(seen.events.size() == 100);
}

} // namespace test_live_streams
