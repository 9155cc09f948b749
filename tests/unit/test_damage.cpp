// SPDX-License-Identifier: MIT
// Damaged streams in one process: cut at every byte, bits flipped at many places, garbage. The reader may say what it
// wants, but it ends, it stays inside the bytes (run with sanitizers), times never step back, and intact packets are
// read.
#include <catch2/catch.hpp>

#include <random>

#include "reading/events/field_ref.h"
#include "reading/events/merge.h"
#include "samples.h"

namespace test_damage {

using namespace monitor::trace;
using samples::StreamWriter;

namespace {

// An allocation of its own of exactly this size, so that a read after its end shows.
struct Copy {
	explicit Copy(std::span<const std::byte> bytes) : size(bytes.size()), data(new std::byte[bytes.size()])
	{
		std::copy(bytes.begin(), bytes.end(), data.get());
	}
	std::size_t size;
	std::unique_ptr<std::byte[]> data;
	std::span<std::byte> bytes() { return {data.get(), size}; }
};

std::vector<std::uint64_t> read(Copy &first, Copy &second, std::uint64_t from = 0)
{
	std::vector<std::unique_ptr<Stream>> streams;
	streams.push_back(samples::stream("a", first.bytes()));
	streams.push_back(samples::stream("b", second.bytes()));
	Trace trace(samples::description(), std::move(streams));
	std::vector<std::uint64_t> times;
	std::uint64_t last = 0, sum = 0;
	const auto pass = [&](std::uint64_t time) {
		CHECK(time >= last);
		last = time;
	};
	merge(
	    trace, {from, ~std::uint64_t(0)},
	    [&](const Event &event) {
		    pass(event.time);
		    times.push_back(event.time);
		    for (const Field &field : event.cls->fields)
			    sum += FieldRef(*event.cls, field).get(event) +
				   FieldRef(*event.cls, field).get<std::string_view>(event).size();
	    },
	    [&](const StreamInfo &, std::uint64_t gap_from, std::uint64_t gap_to, std::uint64_t) {
		    CHECK(gap_from <= gap_to);
		    pass(gap_from);
	    });
	CHECK(sum != 1); // keeps the reads
	return times;
}

StreamWriter sample(std::uint32_t cpu, int packets)
{
	StreamWriter writer(cpu, 0);
	std::uint64_t time = 0xffff'ff00 + cpu;
	for (int packet = 0; packet < packets; ++packet) {
		writer.open(time);
		for (unsigned n = 0; n < 20; ++n, time += 10) {
			writer.post(time, 256, n);
			writer.post(time + 1, 257, n, {time});
			writer.post(time + 2, 258, n, {time, 0});
		}
	}
	return writer;
}

} // namespace

TEST_CASE("damage: a stream cut at every byte")
{
	auto writer = sample(0, 2), other_writer = sample(1, 1);
	Copy other(other_writer.bytes());
	for (std::size_t size = 0; size <= writer.bytes().size(); ++size) {
		const std::size_t within = size % EDC_BLOCK_SIZE;
		if (within > EDC_BLOCK_HEADER + 60 * 16 && within < EDC_BLOCK_SIZE - 16 && within % 11)
			continue; // nothing but unused bytes
		Copy cut(writer.bytes().first(size));
		CHECK(read(cut, other).size() == 60 + size / EDC_BLOCK_SIZE * 60);
	}
}

TEST_CASE("damage: flipped bits cost at most what stands after them in their packet")
{
	auto writer = sample(0, 4), other_writer = sample(1, 4);
	Copy other(other_writer.bytes());
	std::mt19937 random(4711);
	const std::size_t used = EDC_BLOCK_HEADER + 20 * 48;
	for (int flip = 0; flip < 1500; ++flip) {
		Copy damaged(writer.bytes());
		const std::size_t packet = random() % 4, byte = random() % used;
		damaged.bytes()[packet * EDC_BLOCK_SIZE + byte] ^= std::byte(1u << random() % 8);
		const std::size_t events = read(damaged, other).size();
		INFO("packet " << packet << " byte " << byte);
		// a damaged begin may pull time ahead of the packet after it, which is then refused
		CHECK(events >= 240 + 120);
		read(damaged, other, 0xffff'ff00 + random() % 1000);
	}
}

TEST_CASE("damage: garbage in a stream leaves other streams readable")
{
	auto other_writer = sample(1, 1);
	Copy other(other_writer.bytes());
	std::mt19937 random(4711);
	for (int round = 0; round < 300; ++round) {
		auto writer = sample(0, 3);
		Copy garbage(writer.bytes());
		for (std::size_t i = 0; i < garbage.size; ++i)
			if (i % EDC_BLOCK_SIZE >= (round % 2 ? 0u : 72u) && random() % (1 + round) == 0)
				garbage.bytes()[i] = std::byte(random());
		CHECK(read(garbage, other).size() >= 60);
	}
}

} // namespace test_damage
