// SPDX-License-Identifier: MIT
// Names of addresses: which file was mapped where and when, and which function that is.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "base/demangle.h"
#include "monitor/card.h"
#include "reading/symbols/code_map.h"
#include "reading/symbols/function_table.h"
#include "reading/symbols/jit_functions.h"
#include "reading/symbols/packed_frames.h"

namespace test_symbols {

using namespace monitor::symbols;
using monitor::demangled;

namespace {

monitor::analyze::MappingToken added(std::int32_t process, std::uint64_t time, std::uint64_t start, std::uint64_t end,
				     std::uint32_t file)
{
	return {EDC_MAPPING_ADDED, process, 0, file, time, start, end, 0x1000};
}

std::string at(const CodeMap &map, std::int32_t process, std::uint64_t time, std::uint64_t address)
{
	const auto place = map.find(process, time, address);
	return place ? std::to_string(place->file) + "+" + std::to_string(place->offset) : "nothing";
}

} // namespace

TEST_CASE("symbols: the latest mapping that was there then")
{
	CodeMap map;
	map.add(added(1, 20, 150, 250, 6)); // in any order
	map.add(added(1, 0, 100, 200, 5));
	map.add({EDC_MAPPING_EXEC, 1, 0, 0, 30, 0, 0, 0});
	map.add(added(1, 31, 100, 200, 7));
	map.finish();
	CHECK(at(map, 1, 10, 150) == "5+4146");
	CHECK(at(map, 1, 20, 150) == "6+4096");
	CHECK(at(map, 1, 25, 140) == "5+4136");
	CHECK(at(map, 1, 30, 150) == "nothing");
	CHECK(at(map, 1, 40, 150) == "7+4146");
	CHECK(at(map, 1, 40, 200) == "nothing");
	CHECK(at(map, 2, 40, 150) == "nothing");
}

TEST_CASE("symbols: a child has what its parent had when it was created")
{
	CodeMap map;
	map.add(added(1, 0, 100, 200, 5));
	map.add({EDC_MAPPING_COPIED, 2, 1, 0, 10, 0, 0, 0});
	map.add(added(1, 20, 100, 200, 6));
	map.add(added(2, 30, 300, 400, 7));
	map.add({EDC_MAPPING_COPIED, 3, 2, 0, 40, 0, 0, 0});
	map.add({EDC_MAPPING_COPIED, 4, 4, 0, 40, 0, 0, 0}); // its own parent
	map.finish();
	CHECK(at(map, 2, 50, 150) == "5+4146");
	CHECK(at(map, 3, 50, 150) == "5+4146");
	CHECK(at(map, 3, 50, 350) == "7+4146");
	CHECK(at(map, 2, 5, 150) == "nothing");
	CHECK(at(map, 4, 50, 150) == "nothing");
}

TEST_CASE("symbols: what is mapped after many changes is what a look at all of them says")
{
	std::mt19937 random(1);
	const auto below = [&](std::uint32_t limit) {
		return std::uniform_int_distribution<std::uint32_t>(0, limit - 1)(random);
	};
	CodeMap map;
	std::vector<monitor::analyze::MappingToken> changes;
	for (std::uint64_t time = 1; time <= 4000; ++time) {
		const std::uint32_t what = below(1000);
		const std::uint64_t start = 10 * below(50);
		monitor::analyze::MappingToken change =
		    added(1, time, start, start + 10 * (1 + below(8)), static_cast<std::uint32_t>(time));
		if (what == 0)
			change = {EDC_MAPPING_EXEC, 1, 0, 0, time, 0, 0, 0};
		else if (what == 1)
			change = {EDC_MAPPING_COPIED, 1, 2, 0, time, 0, 0, 0}; // a number that is used again
		changes.push_back(change);
		map.add(change);
	}
	map.add(added(2, 0, 0, 1000, 9999));
	map.finish();
	const auto looked_up = [&](std::uint64_t time, std::uint64_t address) -> std::string {
		for (std::uint64_t i = time; i-- > 0;) {
			const monitor::analyze::MappingToken &change = changes[i];
			if (change.change == EDC_MAPPING_EXEC)
				return "nothing";
			if (change.change == EDC_MAPPING_COPIED)
				return "9999+" + std::to_string(0x1000 + address);
			if (address >= change.start && address < change.end)
				return std::to_string(change.file) + "+" +
				       std::to_string(0x1000 + address - change.start);
		}
		return "nothing";
	};
	for (int i = 0; i < 20'000; ++i) {
		const std::uint64_t time = 1 + below(4000), address = below(600);
		if (at(map, 1, time, address) != looked_up(time, address))
			FAIL("at " << time << ", address " << address << ": " << at(map, 1, time, address) << ", not "
				   << looked_up(time, address));
	}
}

TEST_CASE("symbols: what was forgotten of earlier times does not change what is found")
{
	std::mt19937 random(5);
	const auto below = [&](std::uint32_t limit) {
		return std::uniform_int_distribution<std::uint32_t>(0, limit - 1)(random);
	};
	CodeMap all, live;
	std::map<std::int32_t, std::uint64_t> born = {{1, 0}}; // processes
	std::vector<std::pair<std::int32_t, std::uint64_t>> ended;
	std::uint64_t horizon = 0;
	std::size_t most = 0, found = 0;
	for (std::uint64_t time = 1; time <= 20'000; ++time) {
		const auto process = std::next(born.begin(), below(static_cast<std::uint32_t>(born.size())))->first;
		std::vector<monitor::analyze::MappingToken> changes;
		const std::uint32_t what = below(100);
		if (what < 10 && born.size() < 12) {
			const auto child = static_cast<std::int32_t>(time);
			changes.push_back({EDC_MAPPING_COPIED, child, process, 0, time, 0, 0, 0});
			born[child] = time;
		} else if (what < 15) {
			changes.push_back({EDC_MAPPING_EXEC, process, 0, 0, time, 0, 0, 0});
		} else if (what < 22 && born.size() > 1) {
			born.erase(process);
			ended.emplace_back(process, time);
		} else {
			const std::uint64_t start = below(50) * 10;
			changes.push_back(added(process, time, start, start + 10 + below(40), 1 + below(1000)));
		}
		for (const auto &change : changes) {
			all.add(change);
			live.add(change);
		}
		if (time % 50)
			continue;
		all.finish();
		live.finish();
		horizon = time - 30;
		live.forget_before(horizon);
		while (!ended.empty() && ended.front().second <= horizon) {
			live.ended(ended.front().first, ended.front().second);
			ended.erase(ended.begin());
		}
		most = std::max(most, live.size());
		for (const auto &[of, since] : born)
			for (int i = 0; i < 5; ++i) {
				const std::uint64_t when = std::max(horizon, since) + below(30), address = below(550);
				INFO(of << " at " << when << ", address " << address);
				CHECK(at(live, of, when, address) == at(all, of, when, address));
				found += at(all, of, when, address) != "nothing";
			}
	}
	CHECK(found > 1000);
	CHECK(most < 1500); // of 20,000 changes
	CHECK(all.size() > 10'000);
}

TEST_CASE("symbols: no more changes of mappings are kept than there is room for")
{
	CodeMap map;
	map.limit(2);
	for (std::int32_t process = 1; process <= 5; ++process)
		map.add(added(process, 1, 100, 200, 5));
	map.finish();
	CHECK(map.size() == 2);
	CHECK(map.left_out() == 3);
	map.forget_before(10);
	map.ended(1, 10);
	map.add(added(6, 20, 100, 200, 6));
	map.finish();
	CHECK(at(map, 6, 20, 150) == "6+4146");
	CHECK(at(map, 1, 20, 150) == "nothing");
	CHECK(at(map, 2, 20, 150) == "5+4146");
}

TEST_CASE("symbols: the list of files is not trusted")
{
	const CodeList list = parse_code_list(
	    "{\"file\": 1, \"path\": \"/a\", \"build_id\": \"00ff\", \"loads\": [[4096, 8192, 100]], "
	    "\"assumed\": [[8200, 8210], 7, [1]], \"unknown_go\": true}\n"
	    "nonsense\n{\"file\": \"x\"}\n{\"file\": 2, \"path\": 3, \"loads\": [[1], 2, [1, 2, -3]]}\n[]\n"
	    "{\"file\": 3, \"path\": \"/?\", \"path_bytes\": \"2ffffe\"}\n{\"file\": 4, \"path_bytes\": \"2fzz61\"}\n"
	    "{\"process\": 4711, \"inside\": 1}\n{\"process\": []}\n"
	    "{\"user\": 1000, \"without_room\": \"tables\"}\n{\"user\": {}}\n{\"user\": 1000, \"without_room\": []}\n");
	const auto &files = list.files;
	CHECK(files.at(1).path == "/a");
	CHECK(files.at(1).build_id == "00ff");
	CHECK(files.at(1).address_of(4100) == 8196);
	CHECK(files.at(1).address_of(4196) == 4196);
	CHECK(files.at(1).is_assumed(8200));
	CHECK_FALSE(files.at(1).is_assumed(8210));
	CHECK_FALSE(files.at(1).is_assumed(7));
	CHECK(files.at(1).has_unknown_go);
	CHECK_FALSE(files.at(2).has_unknown_go);
	CHECK(files.at(2).path.empty());
	CHECK(files.at(3).path == "/\xff\xfe");
	CHECK(files.at(4).path == "/");
	CHECK(list.numbers.at(4711) == 1);
	CHECK(list.without_room.contains({1000, "tables"}));
	CHECK(!list.opener_lost);
	CHECK(parse_code_list("{\"opener_lost\": true}\n{\"opener_lost\": 1}\n").opener_lost);
}

TEST_CASE("symbols: a function is found by any address in it")
{
	const FunctionTable table(
	    {{200, 10, "second"}, {100, 0, "first"}, {200, 0, "alias"}, {300, 20, "longer_name"}, {300, 20, "third"}});
	const auto name = [&](std::uint64_t address) {
		const Function *function = table.find(address);
		return function ? function->name : "";
	};
	CHECK(name(99).empty());
	CHECK(FunctionTable({{100, 0, "last"}}).find(100 + (1 << 20) - 1));
	CHECK(!FunctionTable({{100, 0, "last"}}).find(100 + (1 << 20)));
	CHECK(name(100) == "first");
	CHECK(name(199) == "first"); // without a size: up to the next
	CHECK(name(205) == "second");
	CHECK(name(210).empty());
	CHECK(name(319) == "third");
	CHECK(table.size() == 3);
	CHECK(demangled("_ZN3abc3defEv") == "abc::def()");
	CHECK(demangled("_Znonsense") == "_Znonsense");
	CHECK(demangled("main") == "main");
	CHECK(demangled("pthread_cond_signal@@GLIBC_2.3.2") == "pthread_cond_signal");
	CHECK(demangled("_ZN3abc3defEv@@ABC_1.0") == "abc::def()");
	CHECK(demangled("pthread_cond_signal@GLIBC_2.2.5") == "pthread_cond_signal@GLIBC_2.2.5");
	CHECK(demangled("@") == "@");
	CHECK(demangled("_Rb_tree") == "_Rb_tree");
#ifdef MONITOR_HAS_LIBIBERTY
	CHECK(demangled("_RNvNtCs1234_7mycrate3foo3bar") == "mycrate::foo::bar");
	CHECK(demangled("_ZN3foo3bar17h05af221e174051e9E") == "foo::bar");
#endif
}

TEST_CASE("symbols: a function within another, and names that have no type")
{
	const auto name = [](const FunctionTable &table, std::uint64_t address) {
		const Function *function = table.find(address);
		return function ? function->name : "";
	};
	const FunctionTable nested(
	    {{100, 100, "outer"}, {120, 10, "inner"}, {140, 20, "middle"}, {145, 5, "innermost"}});
	CHECK(name(nested, 119) == "outer");
	CHECK(name(nested, 129) == "inner");
	CHECK(name(nested, 130) == "outer");
	CHECK(name(nested, 149) == "innermost");
	CHECK(name(nested, 150) == "middle");
	CHECK(name(nested, 160) == "outer");
	CHECK(name(nested, 200).empty());
	const FunctionTable labels({{100, 50, "function"},
				    {100, 0, "start", true},
				    {120, 0, "loop", true},
				    {200, 0, "no_type", true},
				    {210, 0, "no_type.loop", true},
				    {300, 0, "other", true},
				    {400, 10, "last"}});
	CHECK(name(labels, 100) == "function");
	CHECK(name(labels, 130) == "function");
	CHECK(name(labels, 150).empty());
	CHECK(name(labels, 220) == "no_type");
	CHECK(name(labels, 399) == "other");
	CHECK(name(labels, 405) == "last");
}

TEST_CASE("symbols: kallsyms is parsed, and bad lines are skipped")
{
	const auto functions = functions_of_kernel(
	    "ffff000000001000 start\nffff000000002000 other [module]\nxyz\n\nffff\n0 zero\nffff000000003000 ");
	REQUIRE(functions.size() == 3);
	CHECK(functions[0].address == 0xffff000000001000);
	CHECK(functions[1].name == "other [module]");
}

TEST_CASE("symbols: the last function that was put at an address up to a time")
{
	JitFunctions made;
	const auto at = [&](std::uint64_t time, std::uint64_t address) {
		const JitFunction *function = made.find(time, address);
		return function ? function->name : "nothing";
	};
	made.add_map("1000 10 first\n0x2ff0 20 over two pages\nnonsense\n1000 8 again\n9 9\n\n40 0 empty\n50 "
		     "ffffffffffffffff all");
	CHECK(at(0, 0x1000) == "again");
	CHECK(at(0, 0x1007) == "again");
	CHECK(at(0, 0x1008) == "first");
	CHECK(at(0, 0x1010) == "nothing");
	CHECK(at(0, 0x2fff) == "over two pages");
	CHECK(at(0, 0x300f) == "over two pages");
	CHECK(at(0, 0x3010) == "nothing");
	CHECK(at(0, 0x60) == "nothing"); // larger than any function
	made.add_map("0000000000007000 00000010 with zeros\r\n800A 6 in capitals\r\n");
	CHECK(at(0, 0x700f) == "with zeros");
	CHECK(at(0, 0x800b) == "in capitals");
	made.add({0x1000, 0x10, 50, "later"});
	CHECK(at(49, 0x1000) == "again");
	CHECK(at(50, 0x1000) == "later");
	made.add({~0ull - 2, 8, 0, "around the end"});
	CHECK(at(50, 1) == "nothing");
}

TEST_CASE("symbols: a jitdump is code that came and moved")
{
	std::string dump;
	const auto put = [&](std::initializer_list<std::uint64_t> words, const std::string &rest = "") {
		for (const std::uint64_t word : words)
			dump.append(reinterpret_cast<const char *>(&word), sizeof word);
		dump += rest;
	};
	const auto two = [](std::uint64_t low, std::uint64_t high) { return low | high << 32; };
	const std::string name("step\0code", 9);
	put({two(0x4A695444, 1), two(40, 62), two(0, 7), 1, 0});
	put({two(0, 16 + 40 + 9), 100, two(7, 7), 0x1000, 0x1000, 16, 5}, name);
	put({two(2, 16), 150}); // debug information
	put({two(1, 16 + 48), 200, two(7, 7), 0x5000, 0x1000, 0x5000, 16, 5});
	put({two(1, 16 + 48), 200, two(7, 7), 0x6000, 0x1000, 0x6000, 16, 6}); // of nothing
	const auto names = [&](std::size_t bytes, std::uint64_t time, std::uint64_t address) {
		JitFunctions made;
		made.add_dump(std::as_bytes(std::span(dump.data(), bytes)), [](std::uint64_t ns) { return 10 * ns; });
		return made.find(time, address) != nullptr;
	};
	const std::size_t all = dump.size();
	CHECK_FALSE(names(all, 999, 0x1008));
	CHECK(names(all, 1000, 0x1008));
	CHECK_FALSE(names(all, 1999, 0x5000));
	CHECK(names(all, 2000, 0x500f));
	CHECK_FALSE(names(all, 2000, 0x5010));
	CHECK_FALSE(names(all, 2000, 0x6000));
	CHECK(names(40 + 16 + 40 + 9, 1000, 0x1000));
	CHECK_FALSE(names(40 + 16 + 40 + 8, 1000, 0x1000));
	dump[32] = 1; // the machine's own clock
	CHECK(names(all, 100, 0x1008));
}

TEST_CASE("symbols: packed names come back, and others are passed over")
{
	PackedFrames packed;
	packed.in_files = {{0, 0xffff000000001000, {{"vfs_read", ""}}, "[ext4]"},
			   {3, 4660, {{"main", "slow.c:42"}, {"a\"b\n (inlined)", ""}}, ""}};
	packed.jit = {{77, {0x1000, 16, 5, "step"}}};
	const PackedFrames again = parse_packed_frames(
	    "x\n[1]\n{}\n{\"file\": 3}\n{\"at\": 1, \"frames\": [[\"a\", \"\"]]}\n" + packed_frames_text(packed));
	CHECK(packed_frames_text(again) == packed_frames_text(packed));
	REQUIRE(again.in_files.size() == 2);
	CHECK(again.in_files[0].module == "[ext4]");
	CHECK(again.in_files[1].frames[0].line == "slow.c:42");
	CHECK(again.in_files[1].frames[1].function == "a\"b\n (inlined)");
	REQUIRE(again.jit.size() == 1);
	CHECK(again.jit[0].function.since == 5);
}

} // namespace test_symbols
