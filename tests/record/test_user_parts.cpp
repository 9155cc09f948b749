// SPDX-License-Identifier: MIT
// The parts of the user card: its counts, the classes it knows, whose wake-ups it takes, the table of processes, and
// the drain of a ring that this process writes itself.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "base/tsc.h"
#include "monitor/token.h"
#include "recording/user_card/user_drain.h"
#include "recording/user_card/user_known_classes.h"
#include "recording/user_card/user_process_table.h"
#include "recording/user_card/user_wakeup_watch.h"

namespace test_user_parts {

using namespace monitor::card;

namespace {

constexpr std::uint64_t ticks_per_second = 1'000'000'000;

UserCardOptions options(unsigned cpus)
{
	UserCardOptions options;
	options.cpus = cpus;
	options.user = ::getuid();
	options.name_processes = true;
	options.memory = {1 << 28, 1 << 16};
	return options;
}

// A table with rings for this process, and what a pass moves out of them.
struct Rig {
	UserCardOptions options;
	KnownClasses classes{nullptr, 0};
	ProcessTable table{options, nullptr};
	FunctionEvents functions{4, classes};
	UserFilter filter{{}};
	UserDrain drain{table, classes, functions, filter, [] {}, [] {}};
	std::vector<std::string> streams;
	std::vector<edc_block> blocks;
	bool is_full = false; // the pool
	std::uint16_t id;

	explicit Rig(unsigned cpus) : options(test_user_parts::options(cpus))
	{
		id = classes.ids_of(std::string_view("step\0arg: u16 value\0", 20), 1,
				    {::getpid(), ::getuid(), true})[0];
		drain.start(ticks_per_second);
		table.start(4);
	}
	~Rig() { drain.stop(); }

	UserProcess &arrive()
	{
		edc_welcome welcome{};
		REQUIRE(table.give_area({::getpid(), ::getuid(), ::getgid()}, welcome));
		CHECK(welcome.rings == options.cpus);
		return *table.all().back();
	}
	// As the process itself does it: fills the ring's next block with tokens, and closes it.
	void close_block(UserRing &ring, std::uint64_t blocks, std::uint64_t tokens) const
	{
		const std::uint64_t now = monitor::read_tsc();
		auto *block = const_cast<std::byte *>(ring.block(blocks));
		edc_block header{};
		header.timestamp_begin = now;
		header.tid = static_cast<std::uint32_t>(::getpid());
		header.content_size = (EDC_BLOCK_HEADER + 8 * tokens) * 8;
		std::memcpy(block, &header, sizeof header);
		const std::uint64_t token = edc_token(id, EDC_MODE_USER, now, 0);
		for (std::uint64_t i = 0; i < tokens; ++i)
			std::memcpy(block + EDC_BLOCK_HEADER + 8 * i, &token, sizeof token);
		ring.shared->state += EDC_USER_BLOCK_WORDS;
	}
	unsigned pass(bool last = false)
	{
		return drain.pass(
		    last,
		    [this](const std::string &name) {
			    streams.push_back(name);
			    return static_cast<std::uint32_t>(streams.size());
		    },
		    [this](std::uint32_t, const std::byte *block) {
			    if (!is_full)
				    std::memcpy(&blocks.emplace_back(), block, sizeof(edc_block));
			    return !is_full;
		    });
	}
	UserCounts counts() const
	{
		UserCounts counts = table.counts();
		drain.add_counts(counts);
		return counts;
	}
};

} // namespace

TEST_CASE("user counts: one claim per process, the largest ones, the impossible ones first")
{
	UserCounts counts;
	for (pid_t process = 1; process <= 20; ++process)
		counts.add({process, static_cast<std::uint64_t>(process), 0, true});
	counts.add({20, 0, 100, true});
	counts.add({99, 0, 0, true}); // lost nothing
	counts.add({98, 0, 0, false});
	CHECK(counts.claims == 21);
	CHECK(counts.discarded == 210);
	CHECK(counts.early == 100);
	REQUIRE(counts.largest_claims.size() == max_claims_kept);
	CHECK(counts.largest_claims[1].process == 20);
	CHECK(counts.largest_claims[1].lost() == 120);
	CHECK_FALSE(counts.largest_claims[0].possible);
}

TEST_CASE("known classes: a class has words once it has an id, and waits for its description")
{
	KnownClasses classes(nullptr, 3);
	CHECK(classes.words(false)[EDC_ID_USER_COUNTERS] == 3);
	const std::string texts("one\0arg: u16 value\0two\0arg: u16 value; u64 more\0one\0arg: u16 value\0", 67);
	const auto ids = classes.ids_of(texts, 3, {1, 0, true});
	REQUIRE(ids.size() == 3);
	CHECK(ids[0] == ids[2]);
	CHECK(classes.all().size() == 2);
	CHECK(classes.words(false)[ids[0]] == 0);
	CHECK(classes.words(true)[ids[1]] == 1);
	CHECK(classes.words(false)[ids[1] + 1] == unknown_class);
	CHECK(classes.has_undescribed(ids));
	classes.set_described(1);
	CHECK_FALSE(classes.has_undescribed({ids[0]}));
	CHECK(classes.has_undescribed({ids[1]}));
	CHECK(classes.ids_of(std::string_view("cut", 3), 5, {1, 0, true}).size() == 1); // fewer texts than announced
}

TEST_CASE("bell watch: a bell that is rung without need is not heard for a while, and longer each time")
{
	WakeupWatch watch([] {});
	watch.set_ticks_per_second(ticks_per_second);
	constexpr std::uint64_t pause = ticks_per_second / 200;
	std::uint32_t word = EDC_BELL_RUNG;
	WakeupState state;
	std::uint64_t now = ticks_per_second;
	const auto pass_at = [&](std::uint64_t time, bool needed) {
		watch.begin(time);
		watch.update(word, state, needed);
		watch.end();
		return word;
	};
	CHECK(pass_at(now, true) == EDC_BELL_QUIET); // there was a need: taken at once
	word = EDC_BELL_RUNG;
	CHECK(pass_at(++now, false) == EDC_BELL_RUNG);
	CHECK(pass_at(now + pause - 1, false) == EDC_BELL_RUNG);
	CHECK(pass_at(now += pause, false) == EDC_BELL_QUIET);
	word = EDC_BELL_RUNG;
	CHECK(pass_at(++now, false) == EDC_BELL_RUNG);
	CHECK(pass_at(now + 2 * pause - 1, false) == EDC_BELL_RUNG);
	CHECK(pass_at(now + 2 * pause, false) == EDC_BELL_QUIET);
	word = EDC_BELL_NONE;
	CHECK(watch.longest_wait() == std::chrono::nanoseconds::max());
	// A program that has just got its rings makes its futex quiet soon; one that was built without never does.
	pass_at(now += ticks_per_second, false);
	CHECK(watch.longest_wait() == std::chrono::milliseconds(2));
	pass_at(now + ticks_per_second / 5 - 1, false);
	CHECK(watch.longest_wait() == std::chrono::milliseconds(2));
	pass_at(now + ticks_per_second / 5, false);
	CHECK(watch.longest_wait() == std::chrono::milliseconds(40));
	watch.stop();
}

TEST_CASE("user drain: a closed block goes into the ring's own stream, and waits there if the pool is full")
{
	Rig rig(2);
	UserProcess &process = rig.arrive();
	CHECK(rig.table.take_arrived().size() == 1);
	rig.close_block(process.rings[1], process.blocks, 5);
	rig.is_full = true;
	CHECK(rig.pass() > 0);
	CHECK(rig.blocks.empty());
	rig.is_full = false;
	rig.pass();
	REQUIRE(rig.blocks.size() == 1);
	CHECK(rig.streams == std::vector<std::string>{"user_" + std::to_string(::getpid()) + "_cpu1"});
	CHECK(rig.blocks[0].cpu_id == 1);
	CHECK(rig.counts().tokens == 5);
	CHECK(process.rings[1].shared->read == 1);
	CHECK_FALSE(rig.table.all_done());
	process.rings[1].shared->discarded = 7;
	process.ended = true;
	rig.pass(true);
	CHECK(rig.table.all().empty());
	CHECK(rig.blocks.back().events_discarded == 7);
	CHECK(rig.counts().discarded == 7);
	CHECK(rig.counts().processes == 1);
}

TEST_CASE("user drain: rings of later processes are merged into a stream of their CPU")
{
	Rig rig(max_own_streams / 2);
	UserProcess &first = rig.arrive(), &second = rig.arrive(), &third = rig.arrive();
	CHECK_FALSE(second.is_merged);
	CHECK(second.card == 2);
	REQUIRE(third.is_merged);
	static_cast<void>(first);
	rig.close_block(third.rings[1], third.blocks, 3);
	rig.pass(true);
	CHECK(rig.streams == std::vector<std::string>{"user_merged_cpu1"});
	CHECK(rig.counts().tokens == 3);
	CHECK(rig.drain.is_empty());
	CHECK(rig.table.all_done());
}

TEST_CASE("user drain: a damaged block is counted, and so is what a program cannot have lost")
{
	Rig rig(1);
	UserProcess &process = rig.arrive();
	rig.id = 4000;
	rig.close_block(process.rings[0], process.blocks, 2);
	process.rings[0].shared->discarded = ~0ull;
	rig.pass(true);
	const UserCounts counts = rig.counts();
	CHECK(counts.damaged == 1);
	CHECK(counts.damage.find("by process " + std::to_string(::getpid())) != std::string::npos);
	CHECK(counts.tokens == 0);
	CHECK(counts.discarded == 0);
	REQUIRE(counts.largest_claims.size() == 1);
	CHECK_FALSE(counts.largest_claims[0].possible);
}

} // namespace test_user_parts
