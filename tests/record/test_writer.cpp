// SPDX-License-Identifier: MIT
// The writer thread: whole packets in their streams' files, whatever the disk does.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <random>

#include <catch2/catch.hpp>
#include <poll.h>

#include "base/fd.h"
#include "faults.h"
#include "recording/rings/writer.h"
#include "scratch.h"

namespace test_writer {

using namespace monitor::record;
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t pool_blocks = 64;

// A writer, what was given to it, and what is to be in each stream's file.
struct Writing {
	Scratch directory;
	BlockPool pool{pool_blocks};
	Failure failure;
	std::unique_ptr<Writer> writer;
	std::vector<std::string> given = std::vector<std::string>(8);

	explicit Writing(std::size_t added = 0) { start(added); }
	void start(std::size_t added)
	{
		writer = std::make_unique<Writer>(directory.path(), std::vector<std::string>{"recorder", "a", "b"},
						  added, pool, failure, [] { return std::uint64_t(77); });
	}
	~Writing()
	{
		writer.reset();
		faults::writes.reset();
		faults::truncations.reset();
		faults::opens.reset();
		faults::disk_room = faults::unlimited;
	}

	// Blocks with a content of their own. Waits while the pool has none.
	void give(StreamNumber stream, unsigned blocks)
	{
		for (; blocks > 0; --blocks) {
			std::uint32_t index;
			while (!pool.take(index)) {
				pool.wake();
				std::this_thread::yield();
			}
			std::string block(EDC_BLOCK_SIZE,
					  static_cast<char>('a' + given[stream].size() / EDC_BLOCK_SIZE % 26));
			block.front() = static_cast<char>('0' + stream);
			block.back() = '$';
			std::memcpy(pool.at(index), block.data(), block.size());
			given[stream] += block;
			pool.give({index, stream});
		}
		pool.wake();
	}
	std::string file(const char *name) const { return monitor::read_text(directory.path() + "/" + name); }
	// After finish(): every block is in the pool again.
	bool whole_pool()
	{
		std::uint32_t index, blocks = 0;
		while (pool.take(index))
			++blocks;
		return blocks == pool_blocks;
	}
	bool is_failure_readable() const
	{
		pollfd reported{failure.fd(), POLLIN, 0};
		return ::poll(&reported, 1, 0) == 1;
	}
};

} // namespace

TEST_CASE("writer: a stream's blocks are its file, in order and unchanged; streams without blocks have none")
{
	Writing it(1);
	const StreamNumber added = it.writer->add_stream("added");
	for (unsigned i = 0; i < 40; ++i) {
		it.give(1, i % 5 + 1);
		it.give(added, 2);
		it.give(0, i % 2);
	}
	it.writer->finish();
	CHECK(it.file("a") == it.given[1]);
	CHECK(it.file("added") == it.given[added]);
	CHECK(it.file("recorder") == it.given[0]);
	CHECK_FALSE(fs::exists(it.directory.path() + "/b"));
	CHECK_FALSE(it.failure.reported());
	CHECK_FALSE(it.is_failure_readable());
	CHECK(it.writer->dropped_blocks() == 0);
	CHECK(it.writer->bytes() == it.given[0].size() + it.given[1].size() + it.given[added].size());
	CHECK(it.whole_pool());
}

TEST_CASE("writer: blocks of streams in turn become one write for each stream")
{
	faults::writes.set({});
	Writing it;
	it.writer.reset(); // the next one finds all blocks
	for (unsigned i = 0; i < 15; ++i) {
		PooledBlock block{0, i % 3};
		REQUIRE(it.pool.take(block.index));
		const std::string content(EDC_BLOCK_SIZE, static_cast<char>('a' + i));
		std::memcpy(it.pool.at(block.index), content.data(), content.size());
		it.given[block.stream] += content;
		it.pool.give(block);
	}
	it.start(0);
	it.writer->finish();
	CHECK(faults::writes.calls() == 3);
	CHECK(it.file("recorder") == it.given[0]);
	CHECK(it.file("a") == it.given[1]);
	CHECK(it.file("b") == it.given[2]);
	CHECK(it.whole_pool());
}

TEST_CASE("writer: each write is told once, with the blocks that are in the file")
{
	Writing it;
	it.give(1, 5);
	it.give(2, 3);
	while (it.writer->bytes() < 8 * EDC_BLOCK_SIZE)
		std::this_thread::yield();
	faults::disk_room = 4 * EDC_BLOCK_SIZE;
	it.give(1, 8);
	it.writer->finish();
	std::map<StreamNumber, std::uint32_t> blocks;
	int errors = 0;
	for (const BlockWrite &write : it.pool.take_writes()) {
		blocks[write.stream] += write.blocks;
		CHECK(write.start == 77);
		CHECK((write.error == 0 || write.error == ENOSPC));
		errors += write.error != 0;
	}
	CHECK(blocks[1] * EDC_BLOCK_SIZE == it.file("a").size());
	CHECK(blocks[2] * EDC_BLOCK_SIZE == it.file("b").size());
	CHECK(errors == 1); // later ones are not tried
	CHECK(it.pool.free_blocks() == pool_blocks);
}

TEST_CASE("writer: short and interrupted writes are continued")
{
	std::mt19937 random(3);
	for (int round = 0; round < 20; ++round) {
		std::vector<faults::Fault> plan;
		for (int i = 0; i < 500; ++i)
			plan.push_back(random() % 3 == 0 ? faults::fails(EINTR) : faults::takes(1 + random() % 9000));
		faults::writes.set(plan);
		Writing it;
		for (int i = 0; i < 6; ++i) {
			it.give(1, 10);
			it.give(2, 3);
		}
		it.writer->finish();
		REQUIRE(it.file("a") == it.given[1]);
		REQUIRE(it.file("b") == it.given[2]);
		REQUIRE(it.writer->dropped_blocks() == 0);
		REQUIRE_FALSE(it.failure.reported());
	}
}

TEST_CASE("writer: a full disk leaves whole packets, says so, and the blocks that it did not take are counted")
{
	for (const std::size_t until : {1u, 4095u, 4096u, 10'000u}) {
		faults::disk_room = until;
		Writing it;
		it.give(1, 8);
		it.give(2, 4);
		it.writer->finish();
		REQUIRE(it.failure.reported());
		CHECK(it.is_failure_readable());
		CHECK_THAT(std::string(it.failure.text()),
			   Catch::Contains(it.directory.path() + "/a") && Catch::Contains("No space left"));
		const std::size_t whole = until / EDC_BLOCK_SIZE;
		CHECK(it.file("a") == it.given[1].substr(0, whole * EDC_BLOCK_SIZE));
		CHECK(it.writer->dropped_blocks() == 12 - whole);
		CHECK(it.writer->bytes() == whole * EDC_BLOCK_SIZE);
		CHECK(it.whole_pool());
	}
}

TEST_CASE("writer: a packet that cannot be cut off is said")
{
	faults::disk_room = 5000;
	faults::truncations.set({faults::fails(EIO)});
	Writing it;
	it.give(1, 8);
	it.writer->finish();
	REQUIRE(it.failure.reported());
	CHECK_THAT(std::string(it.failure.text()), Catch::Contains("last packet is cut"));
	CHECK(it.file("a").size() == 5000);
	CHECK(it.writer->bytes() == 5000);
	CHECK(it.writer->dropped_blocks() == 7);
}

TEST_CASE("writer: a file that cannot be made is said")
{
	Writing it;
	faults::opens.set({}, faults::fails(EMFILE));
	it.give(1, 5);
	it.writer->finish();
	faults::opens.reset();
	REQUIRE(it.failure.reported());
	CHECK_THAT(std::string(it.failure.text()),
		   Catch::Contains(it.directory.path() + "/a") && Catch::Contains("Too many open files"));
	CHECK(it.writer->dropped_blocks() == 5);
	CHECK(it.writer->bytes() == 0);
	CHECK(it.whole_pool());
}

TEST_CASE("writer: nobody's file is written over")
{
	Writing it;
	monitor::replace_file(it.directory.path() + "/a", "mine", 0600);
	it.give(1, 5);
	it.writer->finish();
	CHECK(it.failure.reported());
	CHECK(it.file("a") == "mine");
}

TEST_CASE("writer: where memory ends it does not start, or writes everything")
{
	for (long number = 0;; ++number) {
		faults::fail_allocation(number);
		try {
			Writing it;
			it.give(1, 5);
			it.writer->finish();
			const bool failed = faults::allocation_failed();
			faults::fail_allocation(-1);
			CHECK(it.file("a") == it.given[1]);
			if (!failed)
				return;
		} catch (const std::bad_alloc &) {
			REQUIRE(faults::allocation_failed());
		}
	}
}

} // namespace test_writer
