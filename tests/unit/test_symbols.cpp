// SPDX-License-Identifier: MIT
// Names of addresses: which file was mapped where and when, and which function that is.
#include <catch2/catch.hpp>

#include "monitor/card.h"
#include "reading/symbols/code_map.h"
#include "reading/symbols/function_table.h"

namespace test_symbols {

using namespace monitor::symbols;

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

TEST_CASE("symbols: the list of files is not trusted")
{
	const auto files = parse_code_files(
	    "{\"file\": 1, \"path\": \"/a\", \"build_id\": \"00ff\", \"loads\": [[4096, 8192, 100]]}\n"
	    "nonsense\n{\"file\": \"x\"}\n{\"file\": 2, \"path\": 3, \"loads\": [[1], 2, [1, 2, -3]]}\n[]\n");
	CHECK(files.at(1).path == "/a");
	CHECK(files.at(1).build_id == "00ff");
	CHECK(files.at(1).address_of(4100) == 8196);
	CHECK(files.at(1).address_of(4196) == 4196);
	CHECK(files.at(2).path.empty());
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
}

TEST_CASE("symbols: the kernel's functions")
{
	const auto functions = functions_of_kernel(
	    "ffff000000001000 start\nffff000000002000 other [module]\nxyz\n\nffff\n0 zero\nffff000000003000 ");
	REQUIRE(functions.size() == 3);
	CHECK(functions[0].address == 0xffff000000001000);
	CHECK(functions[1].name == "other [module]");
}

} // namespace test_symbols
