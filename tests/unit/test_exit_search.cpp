// SPDX-License-Identifier: MIT
// Where functions are probed: hand-made code, and the instructions that leave it.
#include <catch2/catch.hpp>

#include <initializer_list>

#include "recording/functions/exit_search.h"

#if defined(MONITOR_HAS_CAPSTONE) && defined(__x86_64__)
namespace test_exit_search {

using namespace monitor;
using functions::CodePart;
using functions::Exits;

namespace {

constexpr std::uint64_t start = 0x1000;

CodePart part(std::uint64_t address, std::initializer_list<unsigned> bytes)
{
	CodePart part{address, {}};
	for (const unsigned byte : bytes)
		part.bytes.push_back(static_cast<std::byte>(byte));
	return part;
}

Exits exits_of(std::initializer_list<unsigned> bytes)
{
	return functions::find_exits({part(start, bytes)});
}

std::string text(const Exits &found)
{
	if (!found.why_not.empty())
		return found.why_not;
	std::string text = std::to_string(found.entry - start);
	for (const card::FunctionExit &exit : found.exits)
		text += " " + std::to_string(exit.offset - start) + ":" + std::to_string(exit.condition);
	return text;
}

const std::string not_followed = "its code cannot be followed";

} // namespace

TEST_CASE("exits: every return leaves, whatever its encoding")
{
	CHECK(text(exits_of({0x55, 0x5d, 0xc3, 0x90, 0xc3})) == "0 2:0 4:0");
	CHECK(text(exits_of({0x55, 0x5d, 0xf3, 0xc3, 0xc2, 0x08, 0x00})) == "0 2:0 4:0"); // rep ret; ret 8
	CHECK(text(exits_of({0xc3})) == "0 0:0");
}

TEST_CASE("exits: a jump out is one, under its condition; one within is not")
{
	CHECK(text(exits_of({0x90, 0xe9, 0x00, 0x10, 0x00, 0x00})) == "0 1:0");
	CHECK(text(exits_of({0x90, 0x0f, 0x84, 0x00, 0x10, 0x00, 0x00, 0xc3})) == "0 1:5 7:0"); // je
	CHECK(text(exits_of({0x90, 0x7f, 0x70, 0xc3})) == "0 1:16 3:0");                        // jg
	CHECK(text(exits_of({0x90, 0x90, 0xeb, 0xfd, 0xc3})) == "0 4:0");
}

TEST_CASE("exits: the parts that the compiler moved away belong to the function")
{
	const Exits found =
	    functions::find_exits({part(start, {0x90, 0x0f, 0x84, 0xf9, 0x0f, 0x00, 0x00, 0xc3}), // je 0x2000
				   part(0x2000, {0x90, 0xe9, 0x01, 0xf0, 0xff, 0xff, 0xc3})});    // jmp 0x1007
	CHECK(text(found) == "0 7:0 4102:0");
}

TEST_CASE("exits: an instruction that the kernel refuses at the start is passed over")
{
	CHECK(text(exits_of({0xf0, 0x48, 0xff, 0x00, 0x90, 0xc3})) == "4 5:0");   // lock incq
	CHECK(text(exits_of({0xf3, 0x0f, 0x1e, 0xfa, 0xc3})) == "0 4:0");         // endbr64 is accepted
	CHECK(text(exits_of({0xf0, 0x48, 0xff, 0x00, 0x90, 0x75, 0xf9, 0xc3})) == // jne to the lock's place
	      "a loop in it begins at its first instruction");
	CHECK(text(exits_of({0x90, 0x2e, 0xc3})) == "the kernel accepts no probe at an instruction that leaves it");
}

TEST_CASE("exits: code that cannot be followed has no probes")
{
	CHECK(text(exits_of({0x90, 0x06, 0xc3})) == not_followed);                         // no instruction
	CHECK(text(exits_of({0x90, 0xe9, 0x00})) == not_followed);                         // cut
	CHECK(text(exits_of({0x90, 0xeb, 0x01, 0x48, 0x89, 0xc0, 0xc3})) == not_followed); // into an instruction
	CHECK(text(exits_of({0x90, 0xe2, 0x70, 0xc3})) == not_followed);                   // loop, out of it
	CHECK(text(exits_of({0x90, 0xeb, 0xfd, 0xc3})) == "a loop in it begins at its first instruction");
}

} // namespace test_exit_search
#endif
