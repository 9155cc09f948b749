// SPDX-License-Identifier: MIT
// What the probes are told about stacks: address spaces of processes, whatever the order in which changes arrive, and
// unwind tables of instructions as compilers write them.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>

#include "recording/stacks/address_spaces.h"
#include "recording/stacks/cpu_share.h"
#include "recording/stacks/frame_pointers.h"
#include "recording/stacks/unwind_table.h"

namespace test_stacks {

using namespace monitor;
using namespace std::chrono_literals;

namespace {

struct Spaces {
	std::array<edc_unwind_mapping, 256> mappings{};
	std::array<edc_unwind_space, 8> spaces{};
	std::map<std::int32_t, std::int64_t> of;
	std::map<std::int32_t, std::uint32_t> users; // those of others are root's
	stacks::AddressSpaces all{
	    mappings, spaces, [this](std::int32_t process, std::int64_t space) { of[process] = space; },
	    [this](std::int32_t process) { return users.contains(process) ? users[process] : 0; }};
	stacks::AddressSpaces::Clock::time_point now = stacks::AddressSpaces::Clock::now();

	// "start-end:bias ..." as a probe sees it.
	std::string seen(std::int32_t process)
	{
		all.publish(now);
		if (all.has_unpublished())
			all.publish(now += 1s);
		if (!of.contains(process) || of[process] < 0)
			return "none";
		const edc_unwind_space &space = spaces[static_cast<std::size_t>(of[process])];
		REQUIRE(space.generation % 2 == 0);
		std::string text;
		for (std::uint32_t i = 0; i < space.mappings; ++i) {
			const edc_unwind_mapping &mapping = mappings[space.first_mapping + i];
			text += (text.empty() ? "" : " ") + std::to_string(mapping.start) + "-" +
				std::to_string(mapping.end) + ":" + std::to_string(mapping.bias);
		}
		return text;
	}
};

stacks::CodeMapping code(std::uint64_t start, std::uint64_t end, std::uint64_t bias, std::uint64_t time)
{
	return {start, end, bias, 0, 1, time};
}

// CIE of x86-64: data factor -8, the CFA at sp + 8, the return address below it; code is counted in bytes.
std::vector<std::byte> eh_frame(std::vector<unsigned> instructions, std::uint32_t first, std::uint32_t size,
				bool is_signal = false)
{
	std::vector<unsigned> bytes;
	const auto word = [&](std::uint32_t value) {
		for (int i = 0; i < 4; ++i)
			bytes.push_back(value >> 8 * i & 0xff);
	};
	const auto finish = [&](std::size_t from) {
		while ((bytes.size() - from) % 8 != 4)
			bytes.push_back(0); // nop
		const auto length = static_cast<std::uint32_t>(bytes.size() - from - 4);
		for (std::size_t i = 0; i < 4; ++i)
			bytes[from + i] = length >> 8 * i & 0xff;
	};
	word(0);
	word(0); // a CIE
	for (const unsigned byte : {1u, unsigned('z'), unsigned('R')})
		bytes.push_back(byte);
	if (is_signal)
		bytes.push_back('S');
	for (const unsigned byte :
	     {0u, 1u, 0x78u, 16u, 1u, 0x03u, 0x0cu, 7u, 8u, 0x90u, 1u}) // absolute 32-bit addresses
		bytes.push_back(byte);
	finish(0);
	const std::size_t fde = bytes.size();
	word(0);
	word(static_cast<std::uint32_t>(fde + 4)); // back to the CIE
	word(first);
	word(size);
	bytes.push_back(0);
	bytes.insert(bytes.end(), instructions.begin(), instructions.end());
	finish(fde);
	word(0);
	std::vector<std::byte> result;
	for (const unsigned byte : bytes)
		result.push_back(static_cast<std::byte>(byte));
	return result;
}

std::string shown(const std::vector<edc_unwind_row> &rows)
{
	std::string text;
	for (const edc_unwind_row &row : rows)
		text += (text.empty() ? "" : " ") + std::to_string(row.address) + ":" + std::to_string(row.rule) + "," +
			std::to_string(row.cfa) + "," + std::to_string(row.fp);
	return text;
}

std::string table(const std::vector<unsigned> &instructions, bool is_signal = false)
{
	return shown(stacks::unwind_table(eh_frame(instructions, 100, 50, is_signal), 0, 0));
}

} // namespace

TEST_CASE("stacks: what one user's processes map leaves as much room as they take")
{
	Spaces it;
	it.users = {{1, 1000}, {2, 1000}, {3, 1000}, {4, 1001}};
	for (const std::int32_t process : {1, 2, 3, 4, 5})
		for (std::uint64_t i = 0; i < 60; ++i)
			it.all.mapped(process,
				      code(1000 + 10 * i, 1005 + 10 * i, static_cast<std::uint64_t>(process), 1));
	const auto has_room = [&](std::int32_t process) { return it.seen(process) != "none"; };
	CHECK(has_room(1));
	CHECK(has_room(2));
	CHECK_FALSE(has_room(3)); // half of all is taken
	CHECK(has_room(4));
	CHECK(has_room(5));
	CHECK(it.all.without_room() == 1);
	CHECK(it.all.take_refused() == std::vector<std::uint32_t>{1000});
	CHECK(it.all.take_refused().empty());
	for (const std::int32_t process : {1, 4, 5})
		it.all.ended(process);
	it.all.publish(it.now += 2s);
	it.all.mapped(3, code(1, 2, 3, 2));
	CHECK(has_room(3));
}

TEST_CASE("stacks: a user has no more of a table than is left for all others, root all that is left")
{
	stacks::UserShares shares(100);
	CHECK(shares.take(1000, 50));
	CHECK_FALSE(shares.take(1000, 1));
	CHECK(shares.take(1001, 25));
	CHECK_FALSE(shares.take(1001, 1));
	CHECK(shares.take(0, 25));
	CHECK_FALSE(shares.take(0, 1));
	shares.give_back(1001, 25);
	CHECK_FALSE(shares.take(1000, 1));
	CHECK(shares.take(0, 25));
}

TEST_CASE("stacks: a process has what it mapped last")
{
	Spaces spaces;
	spaces.all.mapped(1, code(100, 200, 7, 10));
	spaces.all.mapped(1, code(300, 400, 8, 11));
	CHECK(spaces.seen(1) == "100-200:7 300-400:8");
	spaces.all.mapped(1, code(150, 350, 9, 12));
	CHECK(spaces.seen(1) == "100-150:7 150-350:9 350-400:8");
	spaces.all.mapped(1, code(160, 170, 1, 13));
	CHECK(spaces.seen(1) == "100-150:7 150-160:9 160-170:1 170-350:9 350-400:8");
	CHECK(spaces.seen(2) == "none");
}

TEST_CASE("stacks: a process has a bounded number of mappings, and a list that is full has to be read again")
{
	Spaces spaces;
	std::uint64_t mapped = 0;
	while (mapped < 100'000 && spaces.all.mapped(1, code(100 * mapped, 100 * mapped + 50, 0, 10)))
		++mapped;
	CHECK(mapped == 8192);
	CHECK(!spaces.all.mapped(1, code(100, 150, 1, 11)));
	CHECK(spaces.all.mapped(2, code(100, 200, 0, 10)));
	spaces.all.executed(1, 20);
	CHECK(spaces.all.mapped(1, code(100, 200, 3, 20)));
	CHECK(spaces.seen(1) == "100-200:3");
}

TEST_CASE("stacks: whoever used up the credit pauses until it has some again, a tenth of the time")
{
	stacks::CpuShare share;
	CHECK(share.pause_at(1s, 1900ms) == 0s);    // of two seconds at first
	CHECK(share.pause_at(1s, 2100ms) == 1s);    // 0.1 s too much
	CHECK(share.pause_at(2s, 2100ms) == 0s);    // rested
	CHECK(share.pause_at(3s, 2200ms) == 0s);    // a tenth is allowed for ever
	CHECK(share.pause_at(4s, 2400ms) == 1s);    // two are not
	CHECK(share.pause_at(1000s, 4399ms) == 0s); // no more than two seconds are saved up
	CHECK(share.pause_at(1000s, 4401ms) == 10ms);
}

TEST_CASE("stacks: an exec ends all earlier mappings, whichever is told first")
{
	for (const bool exec_first : {true, false}) {
		Spaces spaces;
		spaces.all.mapped(1, code(100, 200, 7, 10));
		if (exec_first)
			spaces.all.executed(1, 20);
		spaces.all.mapped(1, code(300, 400, 8, 21));
		spaces.all.mapped(1, code(500, 600, 9, 19)); // told late
		if (!exec_first)
			spaces.all.executed(1, 20);
		CHECK(spaces.seen(1) == "300-400:8");
	}
}

TEST_CASE("stacks: a child shares its parent's space until one of them changes it")
{
	Spaces spaces;
	spaces.all.mapped(1, code(100, 200, 7, 10));
	spaces.all.created(2, 1, 15);
	CHECK(spaces.seen(2) == "100-200:7");
	CHECK(spaces.of[1] == spaces.of[2]);
	spaces.all.mapped(1, code(300, 400, 8, 20));
	CHECK(spaces.seen(1) == "100-200:7 300-400:8");
	CHECK(spaces.seen(2) == "100-200:7");
	spaces.all.created(3, 1, 18); // told late: before the second mapping
	CHECK(spaces.seen(3) == "100-200:7");
	spaces.all.mapped(4, code(500, 600, 1, 30)); // the child's own is told before its creation
	spaces.all.created(4, 1, 25);
	CHECK(spaces.seen(4) == "100-200:7 300-400:8 500-600:1");
	spaces.all.executed(5, 50);
	spaces.all.created(5, 1, 40);
	CHECK(spaces.seen(5) == "none");
}

TEST_CASE("stacks: one process whose list changes all the time leaves room for others")
{
	Spaces spaces;
	for (std::uint64_t i = 0; i < 1000; ++i) {
		spaces.all.mapped(1, code(100, 200, i, 10 + i));
		spaces.all.publish(spaces.now += 10ms);
	}
	CHECK(spaces.all.without_room() == 0);
	CHECK(spaces.all.has_unpublished());
	spaces.now += 1s;
	CHECK(spaces.seen(1) == "100-200:999");
	CHECK(!spaces.all.has_unpublished());
}

TEST_CASE("stacks: a space that probes may still read is used again after a second, and is invalid meanwhile")
{
	Spaces spaces;
	for (std::int32_t process = 1; process <= 8; ++process)
		spaces.all.mapped(process, code(100, 200, static_cast<std::uint64_t>(process), 10));
	for (std::int32_t process = 1; process <= 8; ++process)
		CHECK(spaces.seen(process) == "100-200:" + std::to_string(process));
	spaces.all.mapped(9, code(100, 200, 9, 10));
	CHECK(spaces.seen(9) == "none");
	CHECK(spaces.all.without_room() == 1);
	const auto old = static_cast<std::size_t>(spaces.of[3]);
	const std::uint64_t generation = spaces.spaces[old].generation;
	spaces.all.ended(3);
	CHECK(spaces.of[3] == -1);
	spaces.all.mapped(10, code(100, 200, 10, 10));
	CHECK(spaces.seen(10) == "none");
	CHECK(spaces.spaces[old].generation == generation);
	spaces.now += 2s;
	spaces.all.mapped(10, code(300, 400, 11, 11));
	CHECK(spaces.seen(10) == "100-200:10 300-400:11");
	CHECK(spaces.of[10] == static_cast<std::int64_t>(old));
	CHECK(spaces.spaces[old].generation > generation);
}

TEST_CASE("stacks: room that one process left is there for lists of any length below")
{
	Spaces spaces; // 256 mappings
	for (std::uint64_t i = 0; i < 100; ++i)
		spaces.all.mapped(1, code(1000 * i, 1000 * i + 10, i, 10)); // 128
	spaces.all.publish(spaces.now);
	for (std::int32_t process = 2; process <= 7; ++process)
		spaces.all.mapped(process, code(100, 200, 7, 10));
	spaces.all.ended(1);
	spaces.all.publish(spaces.now += 2s);
	for (std::uint64_t i = 0; i < 40; ++i)
		spaces.all.mapped(8, code(1000 * i, 1000 * i + 10, i, 10)); // 64: half of what the first had
	spaces.all.mapped(9, code(100, 200, 9, 10));
	CHECK(spaces.seen(8) != "none");
	CHECK(spaces.seen(9) == "100-200:9");
	CHECK(spaces.seen(7) == "100-200:7");
	CHECK(spaces.all.without_room() == 0);
}

TEST_CASE("stacks: a CIE whose instructions are long is none, so that no FDE repeats them")
{
	const std::vector<std::byte> usual = eh_frame({0x41, 0x0e, 16}, 100, 50);
	CHECK(stacks::unwind_table(usual, 0, 0).size() == 3);
	std::vector<std::byte> bytes(usual.begin(), usual.begin() + 4); // of the CIE
	std::uint32_t length;
	std::memcpy(&length, usual.data(), sizeof length);
	const std::size_t cie_end = 4 + length, more = 1024;
	bytes.insert(bytes.end(), usual.begin() + 4, usual.begin() + static_cast<std::ptrdiff_t>(cie_end));
	bytes.resize(cie_end + more); // no operations
	const auto longer = static_cast<std::uint32_t>(length + more);
	std::memcpy(bytes.data(), &longer, sizeof longer);
	bytes.insert(bytes.end(), usual.begin() + static_cast<std::ptrdiff_t>(cie_end), usual.end());
	const auto back = static_cast<std::uint32_t>(cie_end + more + 4);
	std::memcpy(bytes.data() + cie_end + more + 4, &back, sizeof back);
	CHECK(stacks::unwind_table(bytes, 0, 0).empty());
}

TEST_CASE("stacks: rows of an unwind table")
{
	// From 100: sp + 8; after push %rbp at 101: sp + 16, fp saved; after mov at 104: fp + 16; at 140, restored: sp
	// + 8.
	CHECK(table({0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 36, 0x0c, 7, 8, 0xc6}) ==
	      "100:1,1,0 101:1,2,-2 104:2,2,-2 140:1,1,0 150:7,0,0");
	// remember, change, restore
	CHECK(table({0x0a, 0x41, 0x0e, 32, 0x41, 0x0b}) == "100:1,1,0 101:1,4,0 102:1,1,0 150:7,0,0");
	CHECK(table({0x07, 16}) == "100:0,0,0 150:7,0,0");                     // no return address: the outermost frame
	CHECK(table({0x0f, 3, 0x77, 0, 0x06}, true) == "100:4,0,0 150:7,0,0"); // a signal handler's return
	CHECK(table({0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0}) == "100:5,-1,1 150:7,0,0"); // a realigned stack
	CHECK(table({0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}) == "100:3,11,0 150:7,0,0");
	// what cannot be followed
	CHECK(table({0x0c, 3, 16}) == "100:6,0,0 150:7,0,0");                // by rbx
	CHECK(table({0x0e, 12}) == "100:6,0,0 150:7,0,0");                   // not a multiple of 8
	CHECK(table({0x41, 0x3f, 0x41}) == "100:1,1,0 101:6,0,0 150:7,0,0"); // an instruction that is not known
	CHECK(table({0x41, 0x0b}) == "100:1,1,0 101:6,0,0 150:7,0,0");       // nothing was remembered
	CHECK(table({0x04, 0xff, 0xff, 0xff, 0xff, 0x0e, 16}) == "100:1,1,0 150:7,0,0"); // past its end
}

TEST_CASE("stacks: code without rules has those of frame pointers from the first function that sets one")
{
	const auto rows = [](const std::vector<unsigned> &code) {
		std::vector<std::byte> bytes;
		for (const unsigned byte : code)
			bytes.push_back(static_cast<std::byte>(byte));
		return shown(stacks::frame_pointer_rows(bytes, 100));
	};
	CHECK(rows({0x90, 0x55, 0x48, 0x89, 0xe5, 0x90, 0x5d, 0xc3, 0x90}) ==
	      "101:1,1,0 102:1,2,-2 105:2,2,-2 107:1,1,0 108:2,2,-2");
	CHECK(rows({0x55, 0x48, 0x8b, 0xec, 0xc9, 0xc3}) == "100:1,1,0 101:1,2,-2 104:2,2,-2 105:1,1,0"); // the end
	CHECK(rows({0x5d, 0xc3, 0x90, 0x55, 0x48, 0x89, 0xe4}).empty()); // no start: mov %rsp,%rsp
	CHECK(rows({0x55, 0x48, 0x89}).empty());
	CHECK(rows({}).empty());
}

TEST_CASE("stacks: a program's start without a rule is the end of its stacks")
{
	const auto rows = stacks::unwind_table(eh_frame({}, 100, 50), 0, 20);
	CHECK(shown(rows) == "20:0,0,0 100:1,1,0 150:7,0,0");
	CHECK(shown(stacks::unwind_table(eh_frame({}, 100, 50), 0, 110)) == "100:1,1,0 150:7,0,0");
}

TEST_CASE("stacks: a damaged section ends, with fewer rows")
{
	const std::vector<std::byte> whole = eh_frame({0x41, 0x0e, 16}, 100, 50);
	for (std::size_t size = 0; size < whole.size(); ++size)
		stacks::unwind_table(std::span(whole).first(size), 0, 0);
	for (std::size_t at = 0; at < whole.size(); ++at)
		for (const unsigned value : {0u, 1u, 0x7fu, 0x80u, 0xffu}) {
			std::vector<std::byte> damaged = whole;
			damaged[at] = static_cast<std::byte>(value);
			const auto rows = stacks::unwind_table(damaged, 0, 0);
			CHECK(std::ranges::is_sorted(rows, {}, &edc_unwind_row::address));
		}
}

} // namespace test_stacks
