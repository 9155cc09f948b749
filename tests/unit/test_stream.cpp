// SPDX-License-Identifier: MIT
// Reading one stream (reading/events/cursor.h): packets and tokens are validated, damage is reported and skipped,
// losses become gaps.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <malloc.h>
#include <unistd.h>

#include "reading/events/cursor.h"
#include "reading/events/fetched_packets.h"
#include "samples.h"

namespace test_stream {

using namespace monitor::trace;
using samples::StreamWriter;

namespace {

// All items of a cursor as text: "256@100" is event 256 at time 100, "gap 10-20:3" 3 events lost between 10 and 20.
struct Walk {
	std::vector<std::string> items;
	Problems problems;

	Walk() = default;
	explicit Walk(std::span<const std::byte> bytes, std::uint64_t from = 0, std::uint64_t trace_begin = 0)
	{
		const auto description = samples::description();
		const Stream stream("s", bytes, samples::uuid);
		Cursor cursor(stream, *description, problems, trace_begin);
		for (cursor.start(from); cursor.item() != Cursor::Item::end; cursor.advance())
			items.push_back(text(cursor));
	}
	static std::string text(const Cursor &cursor)
	{
		if (cursor.item() == Cursor::Item::event)
			return std::to_string(cursor.event().cls->id) + "@" + std::to_string(cursor.time());
		const Gap &gap = cursor.gap();
		return "gap " + std::to_string(gap.from_time) + "-" + std::to_string(gap.to_time) + ":" +
		       (gap.lost == unknown_count ? "?" : std::to_string(gap.lost));
	}
	std::string message() const { return problems.empty() ? "" : problems.kept().front().message; }
};

using Items = std::vector<std::string>;

// Three packets: 100..110, 200, 300..310.
StreamWriter three()
{
	StreamWriter writer(2, 1);
	writer.open(100);
	writer.post(100, 256, 1);
	writer.post(110, 257, 2, {3});
	writer.open(200);
	writer.post(200, 256, 4);
	writer.open(300);
	writer.post(300, 256, 5);
	writer.post(310, 256, 6);
	return writer;
}

edc_block &header(std::span<std::byte> bytes, std::size_t packet)
{
	return *reinterpret_cast<edc_block *>(bytes.data() + packet * EDC_BLOCK_SIZE);
}

} // namespace

TEST_CASE("stream: events in their order, with ring and times")
{
	auto writer = three();
	const Stream stream("s", writer.bytes(), samples::uuid);
	CHECK(stream.info().cpu == 2);
	CHECK(stream.info().level == 1);
	CHECK(stream.begin_time() == 100);
	CHECK(stream.end_time() == 310);
	CHECK(stream.packets() == 3);
	const Walk walk(writer.bytes());
	CHECK(walk.items == Items{"256@100", "257@110", "256@200", "256@300", "256@310"});
	CHECK(walk.problems.empty());
}

TEST_CASE("stream: what was recorded and is missing at the end is a gap to the end of the trace")
{
	const auto walk = [](StreamWriter writer, std::uint64_t recorded) {
		Walk all;
		const auto description = samples::description();
		Stream stream("s", writer.bytes(), samples::uuid);
		stream.set_recorded(recorded);
		stream.set_lost_until(1000);
		Cursor cursor(stream, *description, all.problems, 50);
		for (cursor.start(0); cursor.item() != Cursor::Item::end; cursor.advance())
			all.items.push_back(Walk::text(cursor));
		return all.items;
	};
	const Items events{"256@100", "257@110", "256@200", "256@300", "256@310"};
	Items cut = events;
	cut.emplace_back("gap 310-1000:?");
	for (const std::uint64_t recorded : {0, 2, 3})
		CHECK(walk(three(), recorded) == events);
	CHECK(walk(three(), 4) == cut);
	CHECK(walk(three(), ~0ull) == cut);

	StreamWriter between(2, 1); // its second packet is missing, which its third one says
	between.open(100);
	between.post(100, 256, 1);
	between.skip_sequence(1);
	between.open(300);
	between.post(300, 256, 2);
	CHECK(walk(between, 3) == Items{"256@100", "gap 100-300:?", "256@300"});

	StreamWriter snapshot(2, 1); // a flight recorder's does not begin with the first packet
	snapshot.skip_sequence(70);
	snapshot.open(100);
	snapshot.post(100, 256, 1);
	CHECK(walk(snapshot, 1) == Items{"256@100"});
	CHECK(walk(snapshot, 2) == Items{"256@100", "gap 100-1000:?"});
}

TEST_CASE("stream: one that was recorded and is missing is a gap, on the CPU that its name says")
{
	constexpr std::uint32_t none = EDC_CPU_UNKNOWN;
	const std::pair<const char *, std::pair<std::uint32_t, std::uint32_t>> rings[] = {
	    {"kernel_cpu3", {3, 0}},
	    {"kernel_cpu13_level2", {13, 2}},
	    {"host/kernel_cpu0", {0, 0}},
	    {"user_77_cpu1", {1, EDC_LEVEL_USER}},
	    {"user_7_card2_cpu4", {4, EDC_LEVEL_USER}},
	    {"user_shared", {none, EDC_LEVEL_USER}},
	    {"recorder", {none, 0}},
	    {"kernel_cpu8192", {none, 0}},
	    {"kernel_cpu99999999999", {none, 0}},
	    {"kernel_cpu", {none, 0}},
	    {"", {none, 0}},
	    {"_cpu_level", {none, 0}}};
	for (const auto &[name, ring] : rings) {
		CAPTURE(name);
		Stream stream(name, std::span<const std::byte>(), samples::uuid);
		CHECK_FALSE(stream.is_missing());
		stream.set_recorded(9);
		stream.set_lost_until(1000);
		CHECK(stream.is_missing());
		CHECK(stream.missing() == 9);
		CHECK(std::pair(stream.info().cpu, stream.info().level) == ring);
		Walk walk;
		const auto description = samples::description();
		Cursor cursor(stream, *description, walk.problems, 50);
		for (cursor.start(0); cursor.item() != Cursor::Item::end; cursor.advance())
			walk.items.push_back(Walk::text(cursor));
		CHECK(walk.items == Items{"gap 50-1000:?"});
	}
}

TEST_CASE("stream: a packet that was not fetched is a gap, not damage")
{
	auto writer = three();
	const auto bytes = writer.bytes();
	std::ranges::fill(bytes.subspan(EDC_BLOCK_SIZE, EDC_BLOCK_SIZE), std::byte{0});
	const std::string path =
	    std::filesystem::temp_directory_path() / ("monitor-fetched-" + std::to_string(::getpid()));
	std::ofstream(path).write(reinterpret_cast<const char *>(bytes.data()),
				  static_cast<std::streamsize>(bytes.size()));
	const auto walk = [&](std::uint64_t blocks, std::initializer_list<std::uint64_t> present) {
		Walk all;
		monitor::FetchedStream fetched;
		fetched.blocks = blocks;
		for (const std::uint64_t block : present)
			fetched.present.add(block, 1);
		const std::shared_ptr<const monitor::trace::Description> description = samples::description();
		monitor::MappedFile file(path);
		auto packets = fetched_packets(file.bytes(), samples::uuid, fetched);
		const Stream stream("s", description, std::move(file), std::move(packets));
		Cursor cursor(stream, *description, all.problems, 0);
		for (cursor.start(0); cursor.item() != Cursor::Item::end; cursor.advance())
			all.items.push_back(Walk::text(cursor));
		return all;
	};
	const Items events{"256@100", "257@110", "gap 110-300:?", "256@300", "256@310"};
	CHECK(walk(3, {0, 2}).items == events);
	CHECK(walk(3, {0, 2}).problems.empty());
	CHECK(walk(3, {0, 1, 2}).items == events); // block 1 was fetched: that it is empty is damage
	CHECK(walk(3, {0, 1, 2}).problems.total() == 1);
	Items more = events;
	more.emplace_back("gap 310-310:?");
	CHECK(walk(4, {0, 2}).items == more);
	CHECK(walk(4, {0, 2}).problems.empty());
	CHECK(walk(3, {2}).items == Items{"gap 0-300:?", "256@300", "256@310"});
	CHECK(walk(1'000'000'000, {0}).items == Items{"256@100", "257@110", "gap 110-110:?"});
	CHECK(walk(4, {0, 2, 3}).problems.total() == 1); // the file lacks the last one
	CHECK(walk(0, {}).problems.empty());
	std::filesystem::remove(path);
}

TEST_CASE("stream: the low 32 bits of time wrap")
{
	StreamWriter writer(0, 0);
	writer.open(0x1'ffff'fff0);
	writer.post(0x1'ffff'fff0, 256, 0);
	writer.post(0x2'0000'0004, 256, 0);
	writer.post(0x2'7000'0004, 256, 0);
	writer.open(0x5'0000'0000);
	writer.post(0x5'0000'0000, 256, 0);
	const Walk walk(writer.bytes());
	CHECK(walk.items == Items{"256@8589934576", "256@8589934596", "256@10468982788", "256@21474836480"});
	CHECK(walk.problems.empty());
}

TEST_CASE("stream: an empty packet is no problem")
{
	StreamWriter writer(0, 0);
	writer.open(5);
	writer.open(10);
	writer.open(20);
	writer.post(21, 256, 0);
	writer.open(30);
	const Walk walk(writer.bytes());
	CHECK(walk.items == Items{"256@21"});
	CHECK(walk.problems.empty());
}

TEST_CASE("stream: a loss is a gap that ends at the next packet")
{
	StreamWriter writer(0, 0);
	writer.open(100, 2);
	writer.post(100, 256, 0);
	writer.open(200, 2);
	writer.post(200, 256, 0);
	writer.open(300, 9);
	writer.post(300, 256, 0);
	writer.skip_sequence(3);
	writer.open(400, 10);
	writer.post(405, 256, 0);
	const Walk walk(writer.bytes(), 0, 50);
	CHECK(walk.items ==
	      Items{"gap 50-100:2", "256@100", "256@200", "gap 200-300:7", "256@300", "gap 300-400:?", "256@405"});
	CHECK(walk.problems.empty());
}

TEST_CASE("stream: a damaged packet is skipped and leaves a gap")
{
	struct Case {
		const char *message;
		void (*damage)(edc_block &);
	};
	const Case cases[] = {
	    {"magic", [](edc_block &h) { h.magic ^= 1; }},
	    {"uuid", [](edc_block &h) { h.uuid[3] ^= 1; }},
	    {"stream class", [](edc_block &h) { h.stream_id = 1; }},
	    {"4096", [](edc_block &h) { h.packet_size += 8; }},
	    {"content", [](edc_block &h) { h.content_size = EDC_BLOCK_SIZE * 8 + 64; }},
	    {"content", [](edc_block &h) { h.content_size = 8; }},
	    {"content", [](edc_block &h) { h.content_size += 8; }},
	    {"before it begins", [](edc_block &h) { h.timestamp_end = 199; }},
	    {"another ring", [](edc_block &h) { h.cpu_id = 3; }},
	    {"another ring", [](edc_block &h) { h.level = 0; }},
	    {"before the last event", [](edc_block &h) { h.timestamp_begin = 105; }},
	};
	for (const Case &each : cases) {
		auto writer = three();
		each.damage(header(writer.bytes(), 1));
		const Walk walk(writer.bytes());
		INFO(each.message);
		CHECK(walk.items == Items{"256@100", "257@110", "gap 110-300:?", "256@300", "256@310"});
		CHECK(walk.problems.total() == 1);
		CHECK_THAT(walk.message(), Catch::Contains(each.message));
		CHECK(walk.problems.kept().front().offset == EDC_BLOCK_SIZE);
		CHECK(walk.problems.kept().front().packet == 1);
	}
}

TEST_CASE("stream: a damaged token ends its packet")
{
	auto writer = three();
	const auto bytes = writer.bytes();
	const auto damaged = [&](std::uint64_t token) {
		std::memcpy(bytes.data() + EDC_BLOCK_HEADER + 8, &token, 8);
		return Walk(bytes);
	};
	const Items rest = {"256@100", "gap 100-200:?", "256@200", "256@300", "256@310"};
	auto walk = damaged(edc_token(999, 1, 110, 0));
	CHECK(walk.items == rest);
	CHECK_THAT(walk.message(), Catch::Contains("unknown class 999"));
	CHECK(walk.problems.kept().front().offset == EDC_BLOCK_HEADER + 8);
	walk = damaged(0);
	CHECK(walk.items == rest);
	CHECK_THAT(walk.message(), Catch::Contains("no event"));
	walk = damaged(edc_token(258, 1, 110, 0));
	CHECK(walk.items == rest);
	CHECK_THAT(walk.message(), Catch::Contains("extends beyond"));
	walk = damaged(edc_token(257, 1, 99, 0));
	CHECK(walk.items == rest);
	CHECK_THAT(walk.message(), Catch::Contains("steps back"));
	walk = damaged(edc_token(257, 1, 111, 0));
	CHECK(walk.items == rest);
	CHECK_THAT(walk.message(), Catch::Contains("after the packet's end"));
}

TEST_CASE("stream: a truncated file is read up to its last whole packet")
{
	auto writer = three();
	const auto bytes = writer.bytes();
	const Walk truncated(bytes.first(2 * EDC_BLOCK_SIZE + 100));
	CHECK(truncated.items == Items{"256@100", "257@110", "256@200"});
	CHECK_THAT(truncated.message(), Catch::Contains("middle of a packet"));
	CHECK(truncated.problems.kept().front().packet == 2);
	const Walk shorter(bytes.first(2 * EDC_BLOCK_SIZE));
	CHECK(shorter.problems.empty());
}

TEST_CASE("stream: damage at the end is a gap too")
{
	auto writer = three();
	header(writer.bytes(), 2).magic = 0;
	const Walk walk(writer.bytes());
	CHECK(walk.items == Items{"256@100", "257@110", "256@200", "gap 200-200:?"});
}

TEST_CASE("stream: a damaged first packet does not determine the stream's ring")
{
	auto writer = three();
	header(writer.bytes(), 0).cpu_id = 77;
	const Walk walk(writer.bytes());
	CHECK(walk.items == Items{"gap 0-200:?", "256@200", "256@300", "256@310"});
}

TEST_CASE("stream: each packet's problem is reported once, and a million of them need little memory")
{
	const std::size_t before = ::mallinfo2().uordblks;
	StreamInfo first, second;
	second.index = 1;
	Problems all, partition, other;
	for (std::uint64_t packet = 0; packet < 1'000'000; ++packet)
		all.add(first, packet, 0, "bad");
	CHECK(::mallinfo2().uordblks - before < 2'000'000);
	all.add(first, 999'999, 0, "bad");
	CHECK(all.total() == 1'000'000);
	CHECK(all.kept().size() == Problems::max_kept);
	for (std::uint64_t packet : {5, 5'000, 9'000}) {
		partition.add(first, packet, 0, "bad");
		other.add(first, packet + packet % 2, 0, "bad");
		other.add(second, packet, 0, "bad");
	}
	partition.merge(other);
	CHECK(partition.total() == 3 + 1 + 3);
	CHECK(partition.kept().size() == 7);
	CHECK(partition.kept().front().packet == 5);
	CHECK(other.total() == 6);
}

TEST_CASE("stream: a walk from a later time gives the rest of a walk from the start")
{
	StreamWriter writer(0, 0);
	for (std::uint64_t i = 0; i < 100; ++i) {
		writer.open(1000 * i);
		writer.post(1000 * i + 1, 256, 0);
		writer.post(1000 * i + 2, 256, 0);
	}
	auto bytes = writer.bytes();
	for (std::size_t damaged : {10, 11, 12, 50, 51, 75, 98})
		header(bytes, damaged).magic = 0;
	const Walk all(bytes);
	for (std::uint64_t from = 0; from < 100000; from += 333) {
		const Walk walk(bytes, from);
		// the rest of the walk from the start; of a gap its end decides
		Items expected;
		for (const std::string &item : all.items) {
			const std::size_t at = item.find_first_of("@-");
			if (std::stoull(item.substr(at + 1)) >= from)
				expected.push_back(item);
		}
		CHECK(walk.items == expected);
	}
}

} // namespace test_stream
