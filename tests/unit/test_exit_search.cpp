// SPDX-License-Identifier: MIT
// Where functions are probed: hand-made code, and the instructions that leave it.
#include <catch2/catch.hpp>

#include <cstring>
#include <initializer_list>

#include "recording/functions/exit_search.h"

namespace test_exit_search {

using namespace monitor;
using functions::CodePart;
using functions::Exits;

namespace {

constexpr std::uint64_t start = 0x1000;

std::string text(const Exits &found)
{
	if (!found.why_not.empty())
		return found.why_not;
	std::string text = std::to_string(found.entry - start);
	for (const card::FunctionExit &exit : found.exits)
		text += " " + std::to_string(exit.offset - start) + ":" + std::to_string(exit.condition);
	return text;
}

using functions::not_followed;

std::string arm64(std::initializer_list<std::uint32_t> instructions, std::size_t cut = 0)
{
	CodePart part{start, {}};
	for (const std::uint32_t instruction : instructions)
		for (int i = 0; i < 4; ++i)
			part.bytes.push_back(static_cast<std::byte>(instruction >> 8 * i & 0xff));
	part.bytes.resize(part.bytes.size() - cut);
	return text(functions::find_exits_arm64({{part}, {}, {}}));
}

constexpr std::uint32_t push = 0xa9bf7bfd, nop = 0xd503201f, ret = 0xd65f03c0; // stp x29, x30, [sp, #-16]!

} // namespace

// Encodings as aarch64-linux-gnu-as writes them.
TEST_CASE("exits of arm64: returns, and jumps to other functions")
{
	CHECK(arm64({push, 0xb4000040, ret, 0xd65f0020}) == "0 8:0 12:0"); // cbz x0 to the last; ret; ret x1
	CHECK(arm64({push, 0x14000100}) == "0 4:0");                       // b, 1024 bytes further
	CHECK(arm64({push, 0x17ffff00}) == "0 4:0");                       // b, back
	CHECK(arm64({push, 0xb4000040, 0x17ffffff, ret}) == "0 12:0");     // cbz x0 to the ret; b to the cbz
	CHECK(arm64({push, 0x54000041, nop, ret}) == "0 12:0");            // b.ne to the ret
	CHECK(arm64({push, 0xb4000040, nop, ret}) == "0 12:0");            // cbz x0
	CHECK(arm64({push, 0x36080040, nop, ret}) == "0 12:0");            // tbz w0, #1
	CHECK(arm64({push, 0xd63f0020, ret}) == "0 8:0");                  // blr x1
	CHECK(arm64({push, 0xb4000040, 0xd61f0020, ret}) == "0 12:0");     // cbz x0 to the ret; br x1
	CHECK(arm64({push, 0x94000100, ret}) == "0 8:0");                  // bl
	CHECK(arm64({0xd503233f, push, 0xd50323bf, ret}) == "0 12:0");     // paciasp, autiasp
	CHECK(arm64({push, 0x90000000, 0x58000100, ret}) == "0 12:0");     // adrp; ldr x0, from behind it
}

TEST_CASE("exits of arm64: constants behind the code are none")
{
	CHECK(arm64({push, 0x58000040, ret, 0xd65f03c0}) == "0 8:0"); // ldr x0 from the last, which looks like a ret
	CHECK(arm64({push, ret, 0xd65f03c0, 0x00000000}) == "0 4:0");
	CHECK(arm64({push, 0xd4200000, 0xd65f03c0}) == "0"); // brk
}

TEST_CASE("exits of arm64: what cannot be probed or followed")
{
	CHECK(arm64({push, 0x54001001, ret}) == "it leaves to another function on a condition"); // b.ne
	CHECK(arm64({push, 0xb4001000, ret}) == "it leaves to another function on a condition"); // cbz x0
	CHECK(arm64({push, 0x36081000, ret}) == "it leaves to another function on a condition"); // tbz
	CHECK(arm64({push, nop, 0x17fffffe, ret}) == "a loop in it begins at its first instruction");
	CHECK(arm64({push, 0xd65f0bff}) == "the kernel accepts no probe at an instruction that leaves it"); // retaa
	CHECK(arm64({0xc85f7c20, ret}) == "the kernel accepts no probe at its first instruction");          // ldxr
	CHECK(arm64({push, 0x58000020, ret}) == not_followed); // ldr x0 from what is code, too
	CHECK(arm64({push, 0x10000020, ret}) == not_followed); // adr x0
	CHECK(arm64({push, 0xd61f0020, ret}) == not_followed); // br x1, to the ret or elsewhere
	CHECK(arm64({push, 0x00000000, ret}) == not_followed); // udf
	CHECK(arm64({push, ret}, 1) == not_followed);
}

#if defined(MONITOR_HAS_CAPSTONE) && defined(__x86_64__)
namespace {

CodePart part(std::uint64_t address, std::initializer_list<unsigned> bytes)
{
	CodePart part{address, {}};
	for (const unsigned byte : bytes)
		part.bytes.push_back(static_cast<std::byte>(byte));
	return part;
}

Exits exits_of(std::initializer_list<unsigned> bytes)
{
	return functions::find_exits({{part(start, bytes)}, {}, {}});
}

// With constants of the program at `table`.
template <class T>
std::string with_table(std::initializer_list<unsigned> bytes, std::uint64_t table, std::initializer_list<T> constants)
{
	functions::FunctionCode code{{part(start, bytes)}, {}, {}};
	const std::vector<T> content(constants);
	code.read = [&](std::uint64_t address, std::span<std::byte> into) {
		const std::size_t size = content.size() * sizeof(T);
		if (address - table >= size || into.size() > size - (address - table))
			return false;
		std::memcpy(into.data(), reinterpret_cast<const char *>(content.data()) + (address - table),
			    into.size());
		return true;
	};
	return text(functions::find_exits(code));
}

} // namespace

TEST_CASE("exits: every return leaves, whatever its encoding")
{
	CHECK(text(exits_of({0x55, 0x74, 0x01, 0xc3, 0x5d, 0xc3})) == "0 3:0 5:0");             // je past the first
	CHECK(text(exits_of({0x55, 0x74, 0x02, 0xf3, 0xc3, 0xc2, 0x08, 0x00})) == "0 3:0 5:0"); // rep ret; ret 8
	CHECK(text(exits_of({0xc3})) == "0 0:0");
}

TEST_CASE("exits: a jump out is one, under its condition; one within is not")
{
	CHECK(text(exits_of({0x90, 0xe9, 0x00, 0x10, 0x00, 0x00})) == "0 1:0");
	CHECK(text(exits_of({0x90, 0x0f, 0x84, 0x00, 0x10, 0x00, 0x00, 0xc3})) == "0 1:5 7:0"); // je
	CHECK(text(exits_of({0x90, 0x7f, 0x70, 0xc3})) == "0 1:16 3:0");                        // jg
	CHECK(text(exits_of({0x90, 0x90, 0x75, 0xfd, 0xeb, 0xfb, 0xc3})) == "0");               // never ends
}

TEST_CASE("exits: the parts that the compiler moved away belong to the function")
{
	const Exits found =
	    functions::find_exits({{part(start, {0x90, 0x0f, 0x84, 0xf9, 0x0f, 0x00, 0x00, 0xc3}),         // je 0x2000
				    part(0x2000, {0x90, 0x75, 0x05, 0xe9, 0xff, 0xef, 0xff, 0xff, 0xc3})}, // jmp 0x1007
				   {},
				   {}});
	CHECK(text(found) == "0 7:0 4104:0");
}

TEST_CASE("exits: an instruction that the kernel refuses at the start is passed over")
{
	CHECK(text(exits_of({0xf0, 0x48, 0xff, 0x00, 0x90, 0xc3})) == "4 5:0");   // lock incq
	CHECK(text(exits_of({0xf3, 0x0f, 0x1e, 0xfa, 0xc3})) == "0 4:0");         // endbr64 is accepted
	CHECK(text(exits_of({0xf0, 0x48, 0xff, 0x00, 0x90, 0x75, 0xf9, 0xc3})) == // jne to the lock's place
	      "a loop in it begins at its first instruction");
	CHECK(text(exits_of({0xf0, 0x48, 0xff, 0x00, 0x90, 0x75, 0xfd, 0xc3})) == // jne to the nop
	      "the kernel accepts no probe at its first instruction");
	CHECK(text(exits_of({0x90, 0x2e, 0xc3})) == "the kernel accepts no probe at an instruction that leaves it");
}

TEST_CASE("exits: what is not reached is data and has no probes")
{
	CHECK(text(exits_of({0x90, 0xc3, 0xc3, 0xc3})) == "0 1:0");
	CHECK(text(exits_of({0x90, 0xeb, 0x01, 0xc3, 0xc3})) == "0 4:0");             // jumped over
	CHECK(text(exits_of({0x90, 0x0f, 0x0b, 0xc3})) == "0");                       // behind ud2
	CHECK(text(exits_of({0x90, 0x75, 0x01, 0xc3, 0x0f, 0x0b, 0x06})) == "0 3:0"); // no instruction there
}

TEST_CASE("exits: what is data and reached as code, too, cannot be followed")
{
	// call; what it returns to, if it does, is what mov reads
	CHECK(text(exits_of({0x48, 0x8b, 0x05, 0x05, 0x00, 0x00, 0x00, 0xe8, 0x00, 0x10, 0x00, 0x00, 0xc3})) ==
	      not_followed);
	CHECK(text(exits_of({0xe8, 0x02, 0x00, 0x00, 0x00, 0xc3, 0x90, 0x58, 0xc3})) ==
	      not_followed); // a call into itself
	CHECK(text(exits_of({0x90, 0x75, 0x01, 0xb0, 0xc3, 0xc3})) ==
	      not_followed); // to the constant of mov $0xc3, %al
}

TEST_CASE("exits: behind the last call nothing follows")
{
	CHECK(text(exits_of({0x74, 0x05, 0xe8, 0x00, 0x10, 0x00, 0x00, 0xc3})) == "0 7:0");
	CHECK(text(exits_of({0x74, 0x01, 0xc3, 0xe8, 0x00, 0x10, 0x00, 0x00})) == "0 2:0");
	CHECK(text(exits_of({0x74, 0x01, 0xc3, 0xe8, 0x00, 0x10, 0x00, 0x00, 0x0f, 0x1f, 0x00})) == "0 2:0");
	CHECK(text(exits_of({0x74, 0x01, 0xc3, 0x90})) == not_followed); // into the next function
}

TEST_CASE("exits: where an exception continues is reached")
{
	functions::FunctionCode code{{part(start, {0x90, 0xe8, 0x00, 0x10, 0x00, 0x00, 0xc3, 0x90, 0xc3})}, {}, {}};
	CHECK(text(functions::find_exits(code)) == "0 6:0");
	code.landing_pads = {start + 7};
	CHECK(text(functions::find_exits(code)) == "0 6:0 8:0");
	code.landing_pads = {start + 9}; // in no part of it
	CHECK(text(functions::find_exits(code)) == "0 6:0");
}

// cmp $1, %edi; ja to the end; lea the table; movslq (%rdx,%rdi,4), %rax; add %rdx, %rax; jmp *%rax
#define SWITCH(compare, most)                                                                                          \
	0x83, compare, most, 0x77, 0x13, 0x48, 0x8d, 0x15, 0xf4, 0x0f, 0x00, 0x00, 0x48, 0x63, 0x04, 0xba, 0x48, 0x01, \
	    0xd0, 0xff, 0xe0

TEST_CASE("exits: the targets of a switch are reached, no more than its comparison allows")
{
	constexpr std::uint64_t table = start + 12 + 0xff4; // 0x2000
	const auto to = [](unsigned offset) { return static_cast<std::int32_t>(start + offset - table); };
	//                                   21    22    23    24
	CHECK(with_table<std::int32_t>({SWITCH(0xff, 0x01), 0xc3, 0x90, 0xc3, 0x90, 0xc3}, table,
				       {to(21), to(23), to(22)}) == "0 21:0 23:0 25:0");
	CHECK(with_table<std::int32_t>({SWITCH(0xff, 0x02), 0xc3, 0x90, 0xc3, 0x90, 0xc3}, table,
				       {to(21), to(23), to(22)}) == "0 21:0 23:0 25:0");
	CHECK(with_table<std::int32_t>({SWITCH(0xff, 0x02), 0xc3, 0x90, 0xc3, 0x90, 0xc3}, table, {to(21), to(23)}) ==
	      not_followed); // the table is cut
	CHECK(with_table<std::int32_t>({SWITCH(0xff, 0x01), 0xc3, 0x90, 0xc3, 0x90, 0xc3}, table, {to(21), to(99)}) ==
	      not_followed);
	CHECK(with_table<std::int32_t>({SWITCH(0xfe, 0x01), 0xc3, 0x90, 0xc3, 0x90, 0xc3}, table, {to(21), to(23)}) ==
	      not_followed); // another number is compared
	// jmp *0x2000(,%rdi,8)
	CHECK(with_table<std::uint64_t>(
		  {0x83, 0xff, 0x01, 0x77, 0x0a, 0xff, 0x24, 0xfd, 0x00, 0x20, 0x00, 0x00, 0xc3, 0x06, 0xc3, 0xc3},
		  0x2000, {start + 12, start + 14}) == "0 12:0 14:0 15:0");
}

TEST_CASE("exits: a jump of which nothing is known is none where all else is reached")
{
	CHECK(text(exits_of({0x74, 0x01, 0xc3, 0xff, 0xe0})) == "0 2:0"); // jmp *%rax
	CHECK(text(exits_of({0x74, 0x01, 0xc3, 0xff, 0xe0, 0x0f, 0x1f, 0x00, 0x66, 0x90, 0xcc})) == "0 2:0");
	CHECK(text(exits_of({0x74, 0x01, 0xc3, 0xff, 0xe0, 0x90, 0xc3})) == not_followed);
}

TEST_CASE("exits: code that cannot be followed has no probes")
{
	CHECK(text(exits_of({0x90, 0x06, 0xc3})) == not_followed);       // no instruction
	CHECK(text(exits_of({0x90, 0xe9, 0x00})) == not_followed);       // cut
	CHECK(text(exits_of({0x90, 0xe2, 0x70, 0xc3})) == not_followed); // loop, out of it
	CHECK(text(exits_of({0x90, 0xeb, 0xfd, 0xc3})) == "a loop in it begins at its first instruction");
}
#endif

} // namespace test_exit_search
