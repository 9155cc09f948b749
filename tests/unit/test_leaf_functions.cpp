// SPDX-License-Identifier: MIT
// Which functions threads were in, from samples: shares with what sampling leaves open, and none from a few samples.
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "answers/report/leaf_functions.h"
#include "stack_history.h"

namespace test_leaf_functions {

using namespace monitor;
using namespace history;

TEST_CASE("leaf functions: shares of the samples in programs, with a 95 % interval, and none from a few samples")
{
	const std::filesystem::path maps =
	    std::filesystem::temp_directory_path() / fmt::format("leaf-functions-{}", ::getpid());
	std::filesystem::create_directories(maps);
	std::ofstream(maps / "perf-7.map") << "1000 100 hot\n2000 100 cold\n";
	Stacks history;
	history.describe(0xa, {0x9001});
	history.switches(0, 100, 0, running, 7);
	std::uint64_t time = 101;
	const auto take = [&](std::uint64_t number, std::uint64_t address, std::uint64_t kernel = 0) {
		while (number--)
			history.sample(0, time++, 0, 7, address + number % 16, kernel);
	};
	take(45, 0x1010);
	take(12, 0x2010);
	take(3, 0x5000); // code that nothing names
	take(20, 0x9500, 0xa);
	history.switches(0, 300, 7, sleeping, 0);
	history.switches(1, 310, 0, running, 8);
	for (int i = 0; i < 29; ++i)
		history.sample(1, 320u + static_cast<unsigned>(i), 0, 8, 0x1010, 0);
	const analyze::RecordingInfo info = make_info(0, 1000, true, false);
	trace::Trace trace = samples::trace(history.all(), events + stack_events);
	analyze::ThreadFold fold(trace, info);
	analyze::StackFold stacks;
	fold.add(stacks);
	feed(trace, fold);
	symbols::SymbolOptions options;
	options.maps = maps;
	symbols::Symbolizer symbolizer("/nowhere", options);

	const auto of = [&](std::int32_t tid) {
		return report::leaf_functions(stacks, symbolizer, [&](const analyze::Thread &thread, std::uint64_t) {
			return thread.tid == tid;
		});
	};
	const report::LeafFunctions found = of(7);
	CHECK(found.in_programs == 60);
	CHECK(found.in_kernel == 20);
	REQUIRE(found.functions.size() == 3);
	CHECK(found.functions[0].name.function == "hot");
	CHECK(found.functions[0].is_named);
	CHECK(found.functions[0].share == 0.75);
	CHECK(found.functions[0].interval.low == Approx(0.6277).margin(1e-4)); // Wilson, 45 of 60
	CHECK(found.functions[0].interval.high == Approx(0.8422).margin(1e-4));
	CHECK(found.functions[1].name.function == "cold");
	CHECK(found.functions[2].samples == 3);
	CHECK_FALSE(found.functions[2].is_named);
	CHECK(of(8).in_programs == 29);
	CHECK(of(8).functions.empty());
	CHECK(report::leaf_functions(stacks, symbolizer).in_programs == 89);
	const auto is_late = [](const analyze::Thread &, std::uint64_t time) { return time >= 320; };
	CHECK(report::leaf_functions(stacks, symbolizer, is_late).in_programs == 29);
	std::filesystem::remove_all(maps);
}

} // namespace test_leaf_functions
