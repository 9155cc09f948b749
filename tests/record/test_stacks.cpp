// SPDX-License-Identifier: MIT
// What the probes get about stacks: address spaces of processes, whatever the order in which changes arrive, and
// unwind tables of instructions as compilers write them.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>

#include <elf.h>

#include "base/go_functions.h"
#include "recording/stacks/address_spaces.h"
#include "recording/stacks/cpu_share.h"
#include "recording/stacks/frame_pointers.h"
#include "recording/stacks/go_rows.h"
#include "recording/stacks/image_rows.h"
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
	return shown(stacks::unwind_table(eh_frame(instructions, 100, 50, is_signal), 0));
}

// A program of Go as its linker writes it: code, and the table of its functions, each of 64 bytes from 4096 on.
struct GoSource {
	std::string name;
	unsigned flags;                                    // 1: outermost, 2: changes the stack, 4: assembler
	std::vector<std::pair<int, unsigned>> frame_sizes; // size in bytes; length of its code
	std::vector<unsigned> code;
};

constexpr std::uint32_t go_1_2 = 0xfffffffb, go_1_16 = 0xfffffffa, go_1_18 = 0xfffffff0, go_1_20 = 0xfffffff1;

// `code_at` 0: it is filled in when the program is loaded. `more` functions are claimed that it does not have.
std::string go_program(const std::vector<GoSource> &functions, std::uint64_t code_at = 4096, std::size_t more = 0,
		       std::uint32_t magic = go_1_20)
{
	std::string text, names(1, '\0'), changes(1, '\0'), list, records, relocations;
	const auto put = [](std::string &to, std::uint64_t value, std::size_t size) {
		to.append(reinterpret_cast<const char *>(&value), size);
	};
	constexpr std::size_t of_function = 64, record = 44, table_address = 9000;
	const bool has_places = magic != go_1_2, has_code = has_places && magic != go_1_16;
	const std::size_t code_bytes = has_code ? 4 : 8, flags_at = magic == go_1_18 ? 37 : 41;
	std::vector<std::pair<std::size_t, std::size_t>> places; // in names and in changes
	for (const GoSource &function : functions) {
		places.emplace_back(names.size(), changes.size());
		names += function.name + '\0';
		for (int last = -1; const auto &[size, bytes] : function.frame_sizes) {
			const int by = size - last;
			changes += static_cast<char>(by < 0 ? -2 * by - 1 : 2 * by);
			changes += static_cast<char>(bytes);
			last = size;
		}
		changes += '\0';
		for (const unsigned byte : function.code)
			text += static_cast<char>(byte);
		text.resize(places.size() * of_function, '\xcc');
	}
	const std::size_t list_bytes = (functions.size() + 1) * 2 * code_bytes,
			  head = has_code     ? 72
				 : has_places ? 64
					      : 16,
			  names_at = has_places ? head : head + list_bytes + functions.size() * record,
			  changes_at = names_at + names.size(),
			  list_at = has_places ? changes_at + changes.size() : head;
	const auto put_address = [&](std::string &to, std::size_t at, std::size_t function) {
		const Elf64_Rela moved{table_address + at + to.size(), ELF64_R_INFO(0, R_X86_64_RELATIVE),
				       static_cast<std::int64_t>(4096 + function * of_function)};
		if (!has_code && code_at == 0)
			relocations.append(reinterpret_cast<const char *>(&moved), sizeof moved);
		put(to, (has_code ? 0 : code_at) + (has_code || code_at ? function * of_function : 0), code_bytes);
	};
	for (std::size_t i = 0; i < functions.size(); ++i) {
		put_address(list, list_at, i);
		put(list, (has_places ? 0 : list_at) + list_bytes + i * record, code_bytes);
		put_address(records, list_at + list_bytes, i);
		put(records, (has_places ? 0 : names_at) + places[i].first, 4);
		put(records, 0, 8);
		put(records, (has_places ? 0 : changes_at) + places[i].second, 4);
		records.resize(i * record + flags_at);
		put(records, functions[i].flags, 1);
		records.resize((i + 1) * record);
	}
	put_address(list, list_at, functions.size());
	list.resize(list_bytes);
	std::string table;
	put(table, 0x0801000000000000u | magic, 8);
	put(table, functions.size() + more, 8);
	if (has_places)
		put(table, 0, 8);
	if (has_code)
		put(table, code_at, 8);
	if (has_places)
		for (const std::uint64_t value : {names_at, std::size_t{0}, std::size_t{0}, changes_at, list_at})
			put(table, value, 8);
	table += has_places ? names + changes + list + records : list + records + names + changes;
	const std::string section_names("\0.text\0.gopclntab\0.names\0.rela.dyn\0", 36);
	Elf64_Ehdr elf{};
	std::memcpy(elf.e_ident, ELFMAG, SELFMAG);
	elf.e_ident[EI_CLASS] = ELFCLASS64;
	elf.e_ident[EI_DATA] = ELFDATA2LSB;
	elf.e_phentsize = sizeof(Elf64_Phdr);
	elf.e_phnum = 1;
	elf.e_phoff = sizeof elf;
	elf.e_shentsize = sizeof(Elf64_Shdr);
	elf.e_shnum = 5;
	elf.e_shstrndx = 3;
	const std::size_t text_at = sizeof elf + sizeof(Elf64_Phdr), table_at = text_at + text.size(),
			  names_of_sections_at = table_at + table.size(),
			  relocations_at = names_of_sections_at + section_names.size();
	elf.e_shoff = relocations_at + relocations.size();
	const Elf64_Phdr code{PT_LOAD, PF_R | PF_X, text_at, 4096, 4096, text.size(), text.size(), 1};
	const Elf64_Shdr parts[5] = {{},
				     {1, SHT_PROGBITS, SHF_EXECINSTR, 4096, text_at, text.size(), 0, 0, 1, 0},
				     {7, SHT_PROGBITS, 0, table_address, table_at, table.size(), 0, 0, 1, 0},
				     {18, SHT_STRTAB, 0, 0, names_of_sections_at, section_names.size(), 0, 0, 1, 0},
				     {25, SHT_RELA, 0, 0, relocations_at, relocations.size(), 0, 0, 1, 0}};
	std::string file(reinterpret_cast<const char *>(&elf), sizeof elf);
	file.append(reinterpret_cast<const char *>(&code), sizeof code);
	file += text + table + section_names + relocations;
	file.append(reinterpret_cast<const char *>(parts), sizeof parts);
	return file;
}

std::string go_table(const std::vector<GoSource> &functions, std::uint64_t code_at = 4096, std::size_t more = 0,
		     std::uint32_t magic = go_1_20)
{
	const std::string file = go_program(functions, code_at, more, magic);
	const auto image = ElfImage::open(std::as_bytes(std::span(file)));
	REQUIRE(image);
	return shown(stacks::go_rows(*image));
}

} // namespace

TEST_CASE("stacks: of Go, by its own table")
{
	// push %rbp; mov %rsp,%rbp; sub $16,%rsp; ...; add $16,%rsp; pop %rbp; ret
	const GoSource usual{"main.f", 0, {{0, 1}, {8, 7}, {24, 30}, {8, 1}, {0, 1}}, {}};
	CHECK(go_table({usual}) == "4096:1,1,0 4097:1,2,-2 4104:1,4,-2 4134:1,2,-2 4135:1,1,0 4160:7,0,0");
	CHECK(go_table({usual}, 0) == go_table({usual})); // counted from where .text is
	CHECK(go_table({{"runtime.goexit", 1 + 4, {{0, 60}}, {}}}) == "4096:0,0,0 4160:7,0,0");
	CHECK(go_table({{"data", 0, {}, {}}}) == "4096:7,0,0");
	// what assembler pushes is not the frame pointer
	CHECK(go_table({{"asm", 4, {{0, 1}, {8, 60}}, {0x50}}}) == "4096:1,1,0 4097:1,2,0 4160:7,0,0");
	// the restorer of a signal handler, whose return address is its first
	CHECK(go_table({usual, {"runtime.sigreturn", 4, {{0, 60}}, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}}}) ==
	      "4096:1,1,0 4097:1,2,-2 4104:1,4,-2 4134:1,2,-2 4135:1,1,0 4159:4,0,0 4224:7,0,0");
	CHECK(go_table({}).empty());
	CHECK(go_table({usual}, 4096, 1000).empty());
}

TEST_CASE("stacks: of Go, from one stack to another")
{
	// mov %fs:-8,%rax; mov 0x30(%rax),%rbx; cmp 0xc0(%rbx),%rax
	const std::vector<unsigned> places = {0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48,
					      0x8b, 0x58, 0x30, 0x48, 0x3b, 0x83, 0xc0, 0,    0,    0};
	// mov 0x38(%rsi),%rsp; mov %rdi,0x30(%rsp); mov %rdi,0x28(%rsp); or 8 and 0
	const std::vector<unsigned> to_c = {0x48, 0x8b, 0x66, 0x38, 0x48, 0x89, 0x7c,
					    0x24, 0x30, 0x48, 0x89, 0x7c, 0x24, 0x28},
				    newer = {0x48, 0x8b, 0x66, 0x38, 0x48, 0x89, 0x7c,
					     0x24, 0x08, 0x48, 0x89, 0x3c, 0x24};
	const auto rows = [](const std::string &name, const std::vector<unsigned> &code) {
		return go_table({{name, 2 + 4, {{0, 60}}, code}});
	};
	CHECK(rows("runtime.systemstack", places) == "4096:8,24,-1 4160:7,0,0");
	const GoSource system{"runtime.systemstack", 2 + 4, {{0, 60}}, places};
	CHECK(go_table({system, {"runtime.morestack", 2 + 4, {{0, 60}}, {}}, {"runtime.mcall", 2, {{0, 60}}, {}}}) ==
	      "4096:8,24,-1 4160:9,24,-1 4224:10,24,-1 4288:7,0,0");
	CHECK(rows("runtime.asmcgocall", to_c) == "4096:1,1,0 4100:11,5,6 4160:7,0,0");
	CHECK(rows("runtime.asmcgocall", newer) == "4096:1,1,0 4100:11,0,1 4160:7,0,0");
	CHECK(go_table({{"runtime.asmcgocall", 0, {{0, 60}}, {}}}) == "4096:1,1,0 4160:7,0,0"); // a wrapper
	// what looks otherwise is not followed
	CHECK(rows("runtime.systemstack", to_c) == "4096:6,0,0 4160:7,0,0");
	CHECK(rows("runtime.asmcgocall", places) == "4096:6,0,0 4160:7,0,0");
	CHECK(rows("gogo", {}) == "4096:6,0,0 4160:7,0,0");
	// The frame pointer leads back: sub $24,%rsp; mov %rbp,16(%rsp); lea 16(%rsp),%rbp; ...; add $24,%rsp; ret
	std::vector<unsigned> code = {0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c,
				      0x24, 0x10, 0x48, 0x8d, 0x6c, 0x24, 0x10};
	code.resize(40, 0x90);
	code.insert(code.end(), {0x48, 0x83, 0xc4, 0x18, 0xc3});
	CHECK(go_table({{"runtime.nanotime1", 2 + 4, {{0, 4}, {24, 40}, {0, 1}}, code}}) ==
	      "4096:1,1,0 4100:1,4,-2 4110:2,2,-2 4136:1,4,-2 4140:1,1,0 4160:7,0,0");
	// push %rbp; mov %rsp,%rbp
	CHECK(go_table({{"time.now", 2 + 4, {{0, 1}, {8, 40}, {0, 1}}, {0x55, 0x48, 0x89, 0xe5}}}) ==
	      "4096:1,1,0 4097:1,2,-2 4100:2,2,-2 4137:1,1,0 4160:7,0,0");
}

TEST_CASE("stacks: of Go, by the tables of older versions")
{
	const GoSource usual{"main.f", 0, {{0, 1}, {8, 7}, {24, 30}, {8, 1}, {0, 1}}, {}};
	const std::string rows = go_table({usual});
	for (const std::uint32_t magic : {go_1_2, go_1_16, go_1_18}) {
		CHECK(go_table({usual}, 4096, 0, magic) == rows);
		CHECK(go_table({usual}, 0, 0, magic) == rows); // a shared library's addresses are relocated
		CHECK(go_table({usual}, 4096, 1000, magic).empty());
		CHECK(go_table({usual}, 4096, ~std::size_t{0} - 1, magic).empty());
	}
	// before Go 1.17 functions have no flags: names say what they do
	for (const std::uint32_t magic : {go_1_2, go_1_16}) {
		CHECK(go_table({{"runtime.goexit", 0, {{0, 60}}, {}}}, 4096, 0, magic) == "4096:0,0,0 4160:7,0,0");
		CHECK(go_table({{"runtime.gogo", 0, {{0, 60}}, {}}}, 4096, 0, magic) == "4096:6,0,0 4160:7,0,0");
	}
	// and in 1.17 wrappers have the same names
	CHECK(go_table({{"runtime.goexit", 1, {{0, 60}}, {}}, {"runtime.gogo", 0, {{0, 60}}, {}}}, 4096, 0, go_1_16) ==
	      "4096:0,0,0 4160:1,1,0 4224:7,0,0");
	const auto is_unknown = [&](std::uint32_t magic) {
		const std::string file = go_program({usual}, 4096, 0, magic);
		return GoFunctions::is_unknown(*ElfImage::open(std::as_bytes(std::span(file))));
	};
	CHECK_FALSE(is_unknown(go_1_2));
	CHECK(is_unknown(0xfffffff2));
	CHECK(go_table({usual}, 4096, 0, 0xfffffff2).empty());
}

TEST_CASE("stacks: where only frame pointers lead to the caller")
{
	const auto assumed_of = [](const GoSource &function, std::uint32_t magic) {
		const std::string file = go_program({function}, 4096, 0, magic);
		const auto image = ElfImage::open(std::as_bytes(std::span(file)));
		std::vector<stacks::CodeRange> assumed;
		stacks::image_rows(*image, assumed);
		std::string text;
		for (const stacks::CodeRange &range : assumed)
			text += std::to_string(range.first) + "-" + std::to_string(range.end) + " ";
		return text;
	};
	const std::vector<unsigned> sets_one = {0x55, 0x48, 0x89, 0xe5};
	CHECK(assumed_of({"f", 0, {{0, 60}}, sets_one}, 0xfffffff2) == "4100-4160 ");
	CHECK(assumed_of({"f", 0, {{0, 60}}, sets_one}, go_1_20).empty()); // its table describes it
	CHECK(assumed_of({"f", 0, {{0, 60}}, {}}, 0xfffffff2).empty());    // stacks end there
}

TEST_CASE("stacks: what one user's processes map leaves as much room as they take")
{
	Spaces it;
	it.users = {{1, 1000}, {2, 1000}, {3, 1000}, {4, 1001}};
	for (const std::int32_t process : {1, 2, 3, 4, 5})
		for (std::uint64_t i = 0; i < 60; ++i)
			it.all.on_mapped(process,
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
		it.all.on_ended(process);
	it.all.publish(it.now += 2s);
	it.all.on_mapped(3, code(1, 2, 3, 2));
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
	spaces.all.on_mapped(1, code(100, 200, 7, 10));
	spaces.all.on_mapped(1, code(300, 400, 8, 11));
	CHECK(spaces.seen(1) == "100-200:7 300-400:8");
	spaces.all.on_mapped(1, code(150, 350, 9, 12));
	CHECK(spaces.seen(1) == "100-150:7 150-350:9 350-400:8");
	spaces.all.on_mapped(1, code(160, 170, 1, 13));
	CHECK(spaces.seen(1) == "100-150:7 150-160:9 160-170:1 170-350:9 350-400:8");
	CHECK(spaces.seen(2) == "none");
}

TEST_CASE("stacks: a process has a bounded number of mappings, and a list that is full has to be read again")
{
	Spaces spaces;
	std::uint64_t mapped = 0;
	while (mapped < 100'000 && spaces.all.on_mapped(1, code(100 * mapped, 100 * mapped + 50, 0, 10)))
		++mapped;
	CHECK(mapped == 8192);
	CHECK(!spaces.all.on_mapped(1, code(100, 150, 1, 11)));
	CHECK(spaces.all.on_mapped(2, code(100, 200, 0, 10)));
	spaces.all.on_executed(1, 20);
	CHECK(spaces.all.on_mapped(1, code(100, 200, 3, 20)));
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
		spaces.all.on_mapped(1, code(100, 200, 7, 10));
		if (exec_first)
			spaces.all.on_executed(1, 20);
		spaces.all.on_mapped(1, code(300, 400, 8, 21));
		spaces.all.on_mapped(1, code(500, 600, 9, 19)); // reported late
		if (!exec_first)
			spaces.all.on_executed(1, 20);
		CHECK(spaces.seen(1) == "300-400:8");
	}
}

TEST_CASE("stacks: a child shares its parent's space until one of them changes it")
{
	Spaces spaces;
	spaces.all.on_mapped(1, code(100, 200, 7, 10));
	spaces.all.on_created(2, 1, 15);
	CHECK(spaces.seen(2) == "100-200:7");
	CHECK(spaces.of[1] == spaces.of[2]);
	spaces.all.on_mapped(1, code(300, 400, 8, 20));
	CHECK(spaces.seen(1) == "100-200:7 300-400:8");
	CHECK(spaces.seen(2) == "100-200:7");
	spaces.all.on_created(3, 1, 18); // reported late: before the second mapping
	CHECK(spaces.seen(3) == "100-200:7");
	spaces.all.on_mapped(4, code(500, 600, 1, 30)); // the child's own is reported before its creation
	spaces.all.on_created(4, 1, 25);
	CHECK(spaces.seen(4) == "100-200:7 300-400:8 500-600:1");
	spaces.all.on_executed(5, 50);
	spaces.all.on_created(5, 1, 40);
	CHECK(spaces.seen(5) == "none");
}

TEST_CASE("stacks: one process whose list changes all the time leaves room for others")
{
	Spaces spaces;
	for (std::uint64_t i = 0; i < 1000; ++i) {
		spaces.all.on_mapped(1, code(100, 200, i, 10 + i));
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
		spaces.all.on_mapped(process, code(100, 200, static_cast<std::uint64_t>(process), 10));
	for (std::int32_t process = 1; process <= 8; ++process)
		CHECK(spaces.seen(process) == "100-200:" + std::to_string(process));
	spaces.all.on_mapped(9, code(100, 200, 9, 10));
	CHECK(spaces.seen(9) == "none");
	CHECK(spaces.all.without_room() == 1);
	const auto old = static_cast<std::size_t>(spaces.of[3]);
	const std::uint64_t generation = spaces.spaces[old].generation;
	spaces.all.on_ended(3);
	CHECK(spaces.of[3] == -1);
	spaces.all.on_mapped(10, code(100, 200, 10, 10));
	CHECK(spaces.seen(10) == "none");
	CHECK(spaces.spaces[old].generation == generation);
	spaces.now += 2s;
	spaces.all.on_mapped(10, code(300, 400, 11, 11));
	CHECK(spaces.seen(10) == "100-200:10 300-400:11");
	CHECK(spaces.of[10] == static_cast<std::int64_t>(old));
	CHECK(spaces.spaces[old].generation > generation);
}

TEST_CASE("stacks: room that one process left is there for lists of any length below")
{
	Spaces spaces; // 256 mappings
	for (std::uint64_t i = 0; i < 100; ++i)
		spaces.all.on_mapped(1, code(1000 * i, 1000 * i + 10, i, 10)); // 128
	spaces.all.publish(spaces.now);
	for (std::int32_t process = 2; process <= 7; ++process)
		spaces.all.on_mapped(process, code(100, 200, 7, 10));
	spaces.all.on_ended(1);
	spaces.all.publish(spaces.now += 2s);
	for (std::uint64_t i = 0; i < 40; ++i)
		spaces.all.on_mapped(8, code(1000 * i, 1000 * i + 10, i, 10)); // 64: half of what the first had
	spaces.all.on_mapped(9, code(100, 200, 9, 10));
	CHECK(spaces.seen(8) != "none");
	CHECK(spaces.seen(9) == "100-200:9");
	CHECK(spaces.seen(7) == "100-200:7");
	CHECK(spaces.all.without_room() == 0);
}

TEST_CASE("stacks: a CIE whose instructions are long is none, so that no FDE repeats them")
{
	const std::vector<std::byte> usual = eh_frame({0x41, 0x0e, 16}, 100, 50);
	CHECK(stacks::unwind_table(usual, 0).size() == 3);
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
	CHECK(stacks::unwind_table(bytes, 0).empty());
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
	CHECK(table({0x0f, 3, 0x77, 0, 0x06}, true) == "100:4,0,0 151:7,0,0"); // a signal handler's return
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

TEST_CASE("stacks: a signal handler's return is known by its code")
{
	std::vector<std::byte> code(32, std::byte{0x90});
	for (std::size_t i = 0; const unsigned byte : {0x48u, 0xc7u, 0xc0u, 0x0fu, 0u, 0u, 0u, 0x0fu, 0x05u})
		code[16 + i++] = static_cast<std::byte>(byte);
	CHECK(shown(stacks::frame_pointer_rows(code, 100)) == "115:4,0,0 126:7,0,0");
	code[19] = std::byte{0x0e}; // another call
	CHECK(stacks::frame_pointer_rows(code, 100).empty());
}

TEST_CASE("stacks: a program's start without a rule is the end of its stacks")
{
	const auto marked = [](std::uint64_t entry) {
		auto rows = stacks::unwind_table(eh_frame({}, 100, 50), 0);
		stacks::mark_entry(rows, entry);
		return shown(rows);
	};
	CHECK(marked(20) == "20:0,0,0 84:7,0,0 100:1,1,0 150:7,0,0");
	CHECK(marked(90) == "90:0,0,0 100:1,1,0 150:7,0,0");
	CHECK(marked(200) == "100:1,1,0 150:7,0,0 200:0,0,0 264:7,0,0");
	CHECK(marked(110) == "100:1,1,0 150:7,0,0");
	CHECK(marked(0) == "100:1,1,0 150:7,0,0");
}

TEST_CASE("stacks: what a table does not describe is taken from the next")
{
	const auto rows = [](std::uint32_t first, std::uint32_t size) {
		return stacks::unwind_table(eh_frame({}, first, size), 0);
	};
	const auto filled = [&](const auto &some, const auto &others) {
		return shown(stacks::fill_gaps(some, others));
	};
	const std::vector<edc_unwind_row> none, other = {{50, 3, 0, EDC_UNWIND_FP}, {250, 0, 0, EDC_UNWIND_NONE}};
	CHECK(filled(rows(100, 50), other) == "50:2,3,0 100:1,1,0 150:2,3,0 250:7,0,0");
	CHECK(filled(rows(100, 500), other) == "50:2,3,0 100:1,1,0 600:7,0,0");
	CHECK(filled(rows(40, 20), other) == "40:1,1,0 60:2,3,0 250:7,0,0");
	CHECK(filled(rows(300, 20), other) == "50:2,3,0 250:7,0,0 300:1,1,0 320:7,0,0");
	CHECK(filled(none, other) == shown(other));
	CHECK(filled(other, none) == shown(other));
}

TEST_CASE("stacks: a table for debuggers is read like the other")
{
	// a CIE of version 4 (addresses of 8 bytes, no segments), and an FDE of 50 bytes at 100
	const std::vector<unsigned> section = {16, 0, 0,    0, 0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0, 1,    0x78, 16, 0x0c,
					       7,  8, 0x90, 1, 24,   0,    0,    0,    0, 0, 0, 0, 100,  0,    0,  0,
					       0,  0, 0,    0, 50,   0,    0,    0,    0, 0, 0, 0, 0x41, 0x0e, 16, 0};
	std::vector<std::byte> bytes;
	for (const unsigned byte : section)
		bytes.push_back(static_cast<std::byte>(byte));
	const auto table = [&] { return shown(stacks::unwind_table(bytes, 0, eh::SectionKind::debug_frame)); };
	CHECK(table() == "100:1,1,0 101:1,2,0 150:7,0,0");
	CHECK(stacks::unwind_table(bytes, 0).empty());
	bytes[10] = std::byte{4}; // other addresses
	CHECK(table().empty());
}

TEST_CASE("stacks: a damaged section ends, with fewer rows")
{
	const std::vector<std::byte> whole = eh_frame({0x41, 0x0e, 16}, 100, 50);
	for (std::size_t size = 0; size < whole.size(); ++size)
		stacks::unwind_table(std::span(whole).first(size), 0);
	for (std::size_t at = 0; at < whole.size(); ++at)
		for (const unsigned value : {0u, 1u, 0x7fu, 0x80u, 0xffu}) {
			std::vector<std::byte> damaged = whole;
			damaged[at] = static_cast<std::byte>(value);
			const auto rows = stacks::unwind_table(damaged, 0);
			CHECK(std::ranges::is_sorted(rows, {}, &edc_unwind_row::address));
		}
}

} // namespace test_stacks
