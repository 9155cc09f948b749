// SPDX-License-Identifier: MIT
// What is published of a command that is sampled unasked: histories of processes until one is sampled, and tables of
// files once they pay.
#include <array>

#include <catch2/catch.hpp>
#include <fcntl.h>

#include "base/fd.h"
#include "recording/stacks/address_spaces.h"
#include "recording/stacks/code_files.h"
#include "recording/stacks/code_histories.h"

namespace test_sampled_stacks {

using namespace monitor;
using stacks::Change, stacks::CodeHistories;

namespace {

Change change(Change::Kind kind, std::int32_t process, std::uint64_t time, std::int32_t parent = 0)
{
	Change made;
	made.kind = kind;
	made.process = process;
	made.parent = parent;
	made.monotonic_ns = time;
	return made;
}

// "mapped 5, exec 7": what is known of a process, and when it happened.
std::string known_of(const CodeHistories &histories, std::int32_t process)
{
	std::string text;
	for (const Change &each : histories.changes_of(process)) {
		REQUIRE(each.process == process);
		text += std::string(text.empty() ? "" : ", ") +
			(each.kind == Change::Kind::mapped ? "mapped " : "exec ") + std::to_string(each.monotonic_ns);
	}
	return text;
}

} // namespace

TEST_CASE("sampled stacks: a process has what its parent had when it was created, and of an exec on its own")
{
	using enum Change::Kind;
	CodeHistories histories;
	histories.add(change(executed, 1, 10));
	histories.add(change(mapped, 1, 11));
	histories.add(change(mapped, 3, 31)); // reported before its creation
	histories.add(change(created, 2, 20, 1));
	histories.add(change(mapped, 1, 25)); // after that
	histories.add(change(created, 3, 30, 1));
	CHECK(known_of(histories, 1) == "exec 10, mapped 11, mapped 25");
	CHECK(known_of(histories, 2) == "exec 10, mapped 11");
	CHECK(known_of(histories, 3) == "exec 10, mapped 11, mapped 25, mapped 31");
	histories.add(change(mapped, 2, 41)); // of the new program, reported before
	histories.add(change(executed, 2, 40));
	CHECK(known_of(histories, 2) == "exec 40, mapped 41");
	histories.add(change(ended, 1, 50));
	CHECK(known_of(histories, 1).empty());
	CHECK(known_of(histories, 3) == "exec 10, mapped 11, mapped 25, mapped 31");
	histories.add(change(created, 2, 60, 3)); // another one has its number
	CHECK(known_of(histories, 2) == "exec 10, mapped 11, mapped 25, mapped 31");
	for (std::uint64_t i = 0; i < 2 * CodeHistories::max_changes; ++i)
		histories.add(change(mapped, 4, 100 + i));
	CHECK(histories.changes_of(4).size() == CodeHistories::max_changes);
}

TEST_CASE("sampled stacks: a table is made once the command has run long enough to pay for it")
{
	std::vector<edc_unwind_row> rows(1 << 20);
	std::array<edc_unwind_mapping, 64> mappings{};
	std::array<edc_unwind_space, 4> spaces{};
	stacks::AddressSpaces all(mappings, spaces, [](std::int32_t, std::int64_t) {});
	stacks::CodeFiles files(rows, Fd(::open("/dev/null", O_WRONLY | O_CLOEXEC)));
	Fd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
	const auto image = ElfImage::open(self.get());
	const stacks::CodeFile *file = files.add("self", "/self", image, {}, 0, std::move(self));
	REQUIRE(file);
	REQUIRE(file->rows == EDC_UNWIND_LATER);
	all.on_mapped(1, {100, 200, 0, file->first_row, file->rows, 10, file->number});
	all.on_mapped(1, {300, 400, 0, 7, 8, 10, file->number + 1});
	all.publish(stacks::AddressSpaces::Clock::now());
	CHECK(mappings[0].rows == EDC_UNWIND_LATER);
	int made = 0;
	const auto make = [&](std::uint64_t max_ns) {
		files.make_tables(max_ns, [&](const stacks::CodeFile &of) {
			++made;
			all.set_rows(of.number, of.first_row, of.rows);
		});
	};
	make(0);
	CHECK(made == 0);
	CHECK(mappings[0].rows == EDC_UNWIND_LATER);
	make(60'000'000'000);
	make(60'000'000'000);
	CHECK(made == 1);
	CHECK(files.rows() > 1000);
	CHECK(mappings[0].rows == files.rows());
	CHECK(mappings[0].first_row == file->first_row);
	CHECK(mappings[1].rows == 8); // of another file
}

} // namespace test_sampled_stacks
