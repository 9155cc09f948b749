// SPDX-License-Identifier: MIT
// Files that are replaced in one step, and mapped ones, where the system refuses.
#include <filesystem>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/fd.h"
#include "base/mapped_file.h"
#include "faults.h"
#include "scratch.h"

namespace test_files {

using monitor::replace_file;
namespace fs = std::filesystem;

namespace {

// A file with the text "before"; what is planned is forgotten at the end.
struct Replaced {
	Scratch directory;
	std::string path = directory.path() + "/file";

	Replaced() { replace_file(path, "before", 0600); }
	~Replaced()
	{
		for (faults::Plan *plan : {&faults::writes, &faults::opens, &faults::renames, &faults::mappings})
			plan->reset();
	}
	void expect_only(const std::string &text) const
	{
		CHECK(monitor::read_text(path) == text);
		CHECK_FALSE(fs::exists(path + ".new"));
	}
};

} // namespace

TEST_CASE("files: short and interrupted writes are continued")
{
	Replaced it;
	faults::writes.set(
	    {faults::takes(1), faults::fails(EINTR), faults::takes(3), faults::fails(EINTR), faults::passes});
	replace_file(it.path, "what is new", 0600);
	CHECK(faults::writes.calls() == 5);
	it.expect_only("what is new");
}

TEST_CASE("files: what cannot be replaced stays, with nothing beside it, and why is said")
{
	Replaced it;
	const auto refused = [&](const char *why) {
		CHECK_THROWS_WITH(replace_file(it.path, "what is new", 0600),
				  Catch::Contains(it.path) && Catch::Contains(why));
		it.expect_only("before");
	};
	faults::writes.set({faults::takes(4)}, faults::fails(ENOSPC));
	refused("No space left");
	faults::writes.reset();
	faults::opens.set({faults::fails(EMFILE)});
	refused("Too many open files");
	faults::renames.set({faults::fails(EIO)});
	refused("Input/output error");
}

TEST_CASE("files: what cannot be mapped is said")
{
	Replaced it;
	faults::mappings.set({faults::fails(ENOMEM)});
	CHECK_THROWS_WITH(monitor::MappedFile(it.path),
			  Catch::Contains(it.path) && Catch::Contains("Cannot allocate memory"));
	CHECK(monitor::MappedFile(it.path).size() == 6);
}

} // namespace test_files
