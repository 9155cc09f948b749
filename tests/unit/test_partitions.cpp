// SPDX-License-Identifier: MIT
// Partitions of a trace, read apart: together they have every event and gap once, with the same running threads as one
// pass. Random traces with losses, damaged packets, nesting levels and equal times; random cuts.
#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <stdexcept>
#include <tuple>

#include "answers/statistics/survey.h"
#include "monitor/card.h"
#include "samples.h"
#include "tdl_samples.h"

namespace test_partitions {

using namespace monitor;
using namespace monitor::trace;
using samples::StreamWriter;

namespace {

const std::string classes =
    samples::event_block(EDC_ID_SCHED_SWITCH, "sched_switch", "s16_t prev_state; s32_t prev_pid; s32_t next_pid;") +
    samples::event_block(257, "tick", "u16_t arg;") +
    samples::event_block(EDC_ID_EXIT_COUNTS, "thread_counts", "u16_t arg;");

constexpr std::uint64_t gap_mark = 1u << 20;

// Stream, time, class or gap, running thread or lost events.
using Item = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::int64_t>;

std::vector<Item> read(const Trace &trace, TimeRange range, bool with_threads,
		       const std::vector<statistics::Hidden> &hidden = {})
{
	std::vector<Item> items;
	Problems problems;
	std::optional<Threads> threads;
	if (with_threads)
		threads.emplace(trace);
	statistics::read_partition(
	    trace, range, {threads ? &*threads : nullptr, &hidden}, problems,
	    [&](const Event &event, std::int64_t running) {
		    items.emplace_back(event.stream->index, event.time, event.cls->index, running);
	    },
	    [&](const StreamInfo &stream, const Gap &gap) {
		    if (gap.from_time >= range.from)
			    items.emplace_back(stream.index, 0, gap_mark, static_cast<std::int64_t>(gap.lost));
	    });
	return items;
}

// Two CPUs with two levels each. A packet says who runs when it is opened, as its first token does; one that is opened
// within a switch says who ran before.
class RandomTrace {
public:
	explicit RandomTrace(unsigned seed) : random_(seed)
	{
		std::uint64_t time = 1000;
		std::size_t left[4] = {};
		for (unsigned i = 0; i < 400; ++i) {
			const auto number =
			    static_cast<std::size_t>(random_() % 8 < 7 ? random_() % 2 * 2 : random_() % 4);
			time += number < 4 && random_() % 3 ? random_() % 50 + 1 : 1;
			const std::uint64_t before = running_[number / 2];
			make_room(number, time, before, left[number]);
			post(number, time);
			if (running_[number / 2] != before && random_() % 2) { // within the switch
				make_room(number, ++time, before, left[number]);
				writers_[number].post(time, EDC_ID_EXIT_COUNTS, 0);
			}
		}
		for (StreamWriter &writer : writers_)
			damage(writer);
	}

	Trace trace()
	{
		std::vector<StreamWriter> used;
		for (StreamWriter &writer : writers_)
			if (!writer.bytes().empty())
				used.push_back(writer);
		writers_ = std::move(used);
		return samples::trace(writers_, classes);
	}

private:
	void make_room(std::size_t number, std::uint64_t time, std::uint64_t running, std::size_t &left)
	{
		if (left == 0) {
			open(number, time, running);
			left = random_() % 12 + 1;
		}
		--left;
	}
	void open(std::size_t number, std::uint64_t time, std::uint64_t running)
	{
		if (random_() % 10 == 0)
			writers_[number].skip_sequence(1);
		if (random_() % 10 == 0)
			discarded_[number] += random_() % 5;
		writers_[number].open(time, discarded_[number]).tid = static_cast<std::uint32_t>(running);
	}
	void post(std::size_t number, std::uint64_t time)
	{
		if (number % 2 == 1 || random_() % 3) {
			writers_[number].post(time, 257, 0);
			return;
		}
		const std::uint64_t next = random_() % 50 + 1;
		writers_[number].post(time, EDC_ID_SCHED_SWITCH, 0, {running_[number / 2] | next << 32});
		running_[number / 2] = next;
	}
	void damage(StreamWriter &writer)
	{
		const auto bytes = writer.bytes();
		for (std::size_t at = EDC_BLOCK_SIZE; at < bytes.size(); at += EDC_BLOCK_SIZE)
			if (random_() % 15 == 0) // its magic, or its second token
				bytes[at + (random_() % 2 ? 0 : EDC_BLOCK_HEADER + 8)] ^= std::byte(0xff);
	}

	std::mt19937_64 random_;
	std::vector<StreamWriter> writers_ = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
	std::uint64_t discarded_[4] = {};
	std::uint64_t running_[2] = {7, 8};
};

std::vector<Item> in_partitions(const Trace &trace, const std::vector<TimeRange> &partitions, bool with_threads)
{
	std::vector<Item> all;
	for (const TimeRange &partition : partitions) {
		const auto items = read(trace, partition, with_threads);
		all.insert(all.end(), items.begin(), items.end());
	}
	return all;
}

void compare(const std::vector<Item> &found, const std::vector<Item> &expected)
{
	const auto place = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
	const auto shown = [](auto at, auto end) {
		if (at == end)
			return std::string("nothing");
		const auto &[stream, time, what, more] = *at;
		return "stream " + std::to_string(stream) + " time " + std::to_string(time) + " what " +
		       std::to_string(what) + " thread " + std::to_string(more);
	};
	INFO("item " << place.first - found.begin());
	CHECK(shown(place.first, found.end()) == shown(place.second, expected.end()));
}

} // namespace

TEST_CASE("partitions: cut anywhere, they have what one pass has")
{
	for (unsigned seed = 0; seed < 150; ++seed) {
		RandomTrace made(seed);
		const Trace trace = made.trace();
		std::mt19937_64 random(seed);
		std::vector<TimeRange> partitions = {{}};
		std::uint64_t at = trace.begin_time();
		while ((at += random() % (seed % 2 ? 300 : 3000) + 1) < trace.end_time() + 10) {
			partitions.back().to = at - 1;
			partitions.push_back({at, TimeRange().to});
		}
		INFO("seed " << seed);
		for (const bool with_threads : {false, true}) {
			const auto whole = read(trace, {}, with_threads);
			REQUIRE(whole.size() > 100);
			compare(in_partitions(trace, partitions, with_threads), whole);
		}
	}
}

TEST_CASE("partitions: a trace read in partitions gives the same as read as a whole")
{
	for (unsigned seed = 0; seed < 100; ++seed) {
		RandomTrace made(seed);
		const Trace trace = made.trace();
		const auto cut = statistics::partitions(trace, {}, EDC_BLOCK_SIZE);
		INFO("seed " << seed);
		CHECK(cut.size() > 3);
		CHECK(cut.front().from == 0);
		CHECK(cut.back().to == TimeRange().to);
		for (std::size_t i = 1; i < cut.size(); ++i)
			CHECK(cut[i].from == cut[i - 1].to + 1);
		compare(in_partitions(trace, cut, true), read(trace, {}, true));
		const TimeRange range = {trace.begin_time() + 500, trace.end_time() - 500};
		compare(in_partitions(trace, statistics::partitions(trace, range, EDC_BLOCK_SIZE), true),
			read(trace, range, true));
	}
}

TEST_CASE("partitions: the recorder lists hidden threads long before the partition")
{
	const std::string more = classes + samples::event_block(258, "sys_enter", "u12_t id; abi_t abi;") +
				 samples::event_block(259, "thread_state", "u16_t flags; s32_t pid; u32_t cpu;");
	std::vector<StreamWriter> writers = {{0xffffffff, 0}, {0, 0}};
	writers[0].open(100);
	writers[0].post(100, 259, EDC_THREAD_HIDDEN, {5});
	for (std::uint64_t time = 200; time < 1000; time += 100) { // 5 goes away unseen: who calls then?
		writers[1].open(time).tid = 7;
		writers[1].post(time, EDC_ID_SCHED_SWITCH, 0, {7 | std::uint64_t(5) << 32});
		writers[1].post(time + 1, 257, 0);
		writers[1].post(time + 2, 258, 0);
	}
	const Trace trace = samples::trace(writers, more);
	const auto reported = statistics::threads_of_recorder(trace, statistics::ThreadFields(trace.description()));
	REQUIRE(reported.hidden.size() == 1);
	const auto whole = read(trace, {}, true);
	CHECK(std::get<3>(whole.at(2)) == 5);
	CHECK(std::get<3>(whole.at(3)) == Threads::unknown);
	for (std::uint64_t cut = 150; cut < 1000; ++cut) {
		auto parts = read(trace, {0, cut - 1}, true, reported.hidden);
		const auto later = read(trace, {cut, 1000}, true, reported.hidden);
		parts.insert(parts.end(), later.begin(), later.end());
		INFO("cut at " << cut);
		compare(parts, whole);
	}
}

TEST_CASE("partitions: an event at the time of a cut, packets before it that begin at that time")
{
	std::vector<StreamWriter> writers = {{0, 0}};
	for (unsigned packet = 0; packet < 4; ++packet) {
		writers[0].open(100);
		writers[0].post(100, 257, packet);
	}
	const Trace trace = samples::trace(writers, classes);
	CHECK(read(trace, {0, 99}, false).empty());
	CHECK(read(trace, {100, 200}, false).size() == 4);
}

// Segments of three records, 10 ms apart; the times of segments and of single records may be others. `bytes` must
// outlive it.
static Trace segments(std::vector<std::byte> &bytes, const std::map<unsigned, unsigned> &begins,
		      const std::map<std::pair<unsigned, unsigned>, unsigned> &times, unsigned count = 40)
{
	const std::string text =
	    "trace t\nevery segment begins with\nt unsigned 16 bits, in milliseconds\nlength is 8 bytes\nbegin is t\n"
	    "end\nrecord r\na unsigned 16 bits, in milliseconds\ntime is a\nend\n";
	const auto put = [&](unsigned value) {
		bytes.push_back(std::byte(value & 0xff));
		bytes.push_back(std::byte(value >> 8));
	};
	for (unsigned segment = 0; segment < count; ++segment) {
		put(begins.contains(segment) ? begins.at(segment) : segment * 10);
		for (unsigned record = 0; record < 3; ++record)
			put(times.contains({segment, record}) ? times.at({segment, record}) : segment * 10 + record);
	}
	return tdl::open(text, bytes);
}

TEST_CASE("partitions: a time far ahead costs what has it, wherever one begins to read")
{
	std::vector<std::byte> bytes;
	const Trace trace = segments(bytes, {{20, 5000}}, {{{10, 1}, 300}});
	const auto whole = read(trace, {}, false);
	// a record and the segment that begins far ahead; each leaves a gap
	CHECK(whole.size() == 40 * 3 - 1 - 3 + 2);
	for (std::uint64_t cut = 1; cut < 400; ++cut) {
		INFO("cut at " << cut);
		compare(in_partitions(trace, {{0, cut - 1}, {cut, TimeRange().to}}, false), whole);
	}
}

TEST_CASE("partitions: a segment that begins far too early costs itself, not the one before it")
{
	std::vector<std::byte> bytes;
	const auto whole = read(segments(bytes, {{20, 5}}, {}), {}, false);
	CHECK(whole.size() == 39 * 3 + 1);
}

TEST_CASE("partitions: segments in the wrong order are refused, and soon")
{
	std::vector<std::byte> bytes;
	std::map<unsigned, unsigned> begins;
	constexpr unsigned segments_available = 50'000;
	for (unsigned segment = 0; segment < segments_available; ++segment)
		begins[segment] = segments_available - segment;
	const Trace trace = segments(bytes, begins, {}, segments_available);
	Problems problems;
	Cursor cursor(*trace.streams().front(), trace.description(), problems, 0);
	auto item = cursor.start(0);
	while (item == Cursor::Item::gap)
		item = cursor.advance();
	REQUIRE(cursor.packet() + 8 > segments_available); // nothing before was believed
	while (item != Cursor::Item::end)
		item = cursor.advance();
	CHECK(problems.total() >= segments_available - 5);
}

TEST_CASE("partitions: results are taken in order, what is thrown arrives")
{
	std::vector<TimeRange> partitions;
	for (std::uint64_t i = 0; i < 100; ++i)
		partitions.push_back({i, i});
	for (const unsigned threads : {1u, 3u, 500u}) {
		std::vector<std::uint64_t> taken;
		const auto number = [](TimeRange partition) { return partition.from; };
		statistics::in_order(partitions, threads, number,
				     [&](std::uint64_t result) { taken.push_back(result); });
		CHECK(taken.size() == 100);
		CHECK(std::is_sorted(taken.begin(), taken.end()));
		const auto fails = [](TimeRange partition) {
			return partition.from == 50 ? throw std::runtime_error("fifty") : partition.from;
		};
		CHECK_THROWS_WITH(statistics::in_order(partitions, threads, fails, [](std::uint64_t) {}), "fifty");
		const auto refuse = [](std::uint64_t result) {
			if (result == 20)
				throw std::runtime_error("twenty");
		};
		CHECK_THROWS_WITH(statistics::in_order(partitions, threads, number, refuse), "twenty");
	}
}

} // namespace test_partitions
