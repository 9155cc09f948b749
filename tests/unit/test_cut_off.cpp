// SPDX-License-Identifier: MIT
// Files that are cut off while they are read: the rest of a trace is read, and every other SIGBUS finds its handler.
#include <catch2/catch.hpp>

#include <csetjmp>
#include <csignal>
#include <fstream>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/mapped_file.h"
#include "poet_samples.h"

namespace test_cut_off {

using namespace poet_samples;

namespace {

constexpr std::size_t pages = 8, page = 4096;

class File {
public:
	explicit File(std::size_t size_bytes) : path_(fs::temp_directory_path() / ("cut-" + std::to_string(::getpid())))
	{
		std::ofstream(path_, std::ios::binary) << std::string(size_bytes, 'x');
	}
	~File() { fs::remove(path_); }
	File(const File &) = delete;
	File &operator=(const File &) = delete;
	std::string path() const { return path_.string(); }
	void cut(std::size_t size_bytes) const { fs::resize_file(path_, size_bytes); }

private:
	fs::path path_;
};

sigjmp_buf out;
volatile std::sig_atomic_t jumps = 0;

void jump_out(int)
{
	jumps = 1;
	siglongjmp(out, 1);
}

std::uint64_t events_of(const poet::Trace &trace)
{
	std::uint64_t events = 0;
	poet::visit(trace, [&](const poet::Event &) { ++events; });
	return events;
}

std::vector<StreamWriter> two_streams()
{
	std::vector<StreamWriter> writers;
	for (unsigned cpu : {0u, 1u}) {
		writers.emplace_back(cpu, 0u);
		for (std::uint64_t packet = 0; packet < 4; ++packet) {
			writers.back().open(1000 * (packet + 1) + cpu);
			for (std::uint64_t n = 0; n < 10; ++n)
				writers.back().post(1000 * (packet + 1) + 10 * n + cpu, 256, 1);
		}
	}
	return writers;
}

} // namespace

TEST_CASE("cut off: what is before the cut is read, zeros follow, and the mapping says so")
{
	const File file(pages * page);
	const monitor::MappedFile mapped(file.path());
	CHECK(mapped.was_in_file(0, pages * page));
	CHECK(mapped.whole_bytes() == pages * page);
	file.cut(3 * page + 100);
	CHECK(mapped.was_in_file(page, 3 * page));
	CHECK(mapped.bytes()[5 * page] == std::byte{0});
	CHECK(mapped.bytes()[0] == std::byte{'x'});
	CHECK(mapped.whole_bytes() <= 5 * page);
	CHECK(mapped.was_in_file(3 * page, 3 * page + 100));
	CHECK_FALSE(mapped.was_in_file(3 * page, 3 * page + 101));
	CHECK_FALSE(mapped.was_in_file(7 * page, 7 * page + 1));
}

TEST_CASE("cut off: within the last page nothing is raised, and it is noticed")
{
	const File file(2 * page);
	const monitor::MappedFile mapped(file.path());
	CHECK(mapped.was_in_file(page, 2 * page));
	file.cut(page + 10);
	CHECK(mapped.was_in_file(page, page + 10));
	CHECK_FALSE(mapped.was_in_file(page, page + 11));
}

TEST_CASE("cut off: the place of a mapping that is gone is taken by the next one")
{
	for (int round = 0; round < 3; ++round) {
		const File file(pages * page);
		monitor::MappedFile first(file.path());
		const monitor::MappedFile moved(std::move(first));
		file.cut(0);
		CHECK(moved.bytes().back() == std::byte{0});
		CHECK(moved.whole_bytes() == (pages - 1) * page);
	}
}

// A signal's handler is the process's: these two run in one that has none of POET's yet.
TEST_CASE("cut off: fresh process with a handler before", "[.]")
{
	std::signal(SIGBUS, jump_out);
	auto writers = two_streams();
	const Directory directory(writers);
	const poet::Trace trace(directory.path());
	const File file(page);
	const monitor::Fd fd = monitor::open_file(file.path(), O_RDONLY);
	const monitor::Mapping foreign(::mmap(nullptr, page, PROT_READ, MAP_PRIVATE, fd.get(), 0), page);
	file.cut(0);
	fs::resize_file(fs::path(directory.path()) / "s0", 0);
	CHECK_FALSE(poet::survive_fault(foreign.data()));
	CHECK(events_of(trace) == 40);
	CHECK(jumps == 0);
	if (sigsetjmp(out, 1) == 0)
		static_cast<void>(*static_cast<const volatile std::byte *>(foreign.data()));
	CHECK(jumps == 1);
}

TEST_CASE("cut off: fresh process with a handler of its own", "[.]")
{
	static int survived = 0;
	poet::leave_sigbus();
	struct sigaction mine = {};
	mine.sa_flags = SA_SIGINFO;
	mine.sa_sigaction = [](int, siginfo_t *info, void *) {
		if (!poet::survive_fault(info->si_addr))
			::_exit(3);
		++survived;
	};
	::sigaction(SIGBUS, &mine, nullptr);
	auto writers = two_streams();
	const Directory directory(writers);
	const poet::Trace trace(directory.path());
	fs::resize_file(fs::path(directory.path()) / "s1", EDC_BLOCK_SIZE);
	CHECK(events_of(trace) == 50);
	CHECK(survived == 1);
}

TEST_CASE("cut off: other handlers of SIGBUS are called, and may be the only ones")
{
	const std::string test = GENERATE("cut off: fresh process with a handler before",
					  "cut off: fresh process with a handler of its own");
	const pid_t child = ::fork();
	if (child == 0) {
		::execl("/proc/self/exe", "unit_tests", test.c_str(), nullptr);
		::_exit(127);
	}
	int status = 0;
	REQUIRE(::waitpid(child, &status, 0) == child);
	INFO(test);
	CHECK(WIFEXITED(status));
	CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("cut off: poet reads on, names the place, and its cursors end")
{
	auto writers = two_streams();
	const Directory directory(writers);
	const poet::Trace trace(directory.path());
	poet::Cursor cursor(trace);
	REQUIRE(cursor.next() == poet::Item::event);
	fs::resize_file(fs::path(directory.path()) / "s0", 2 * EDC_BLOCK_SIZE);
	CHECK(events_of(trace) == 60);
	REQUIRE(trace.problems().size() == 1);
	CHECK(
	    trace.problems().front() ==
	    "s0, packet 2 at byte 8192: the file could not be read from here on: it was cut off meanwhile, or its disk "
	    "failed");
	while (cursor.next() != poet::Item::none) {
	}
	CHECK(cursor.previous() != poet::Item::none);
	CHECK(cursor.move_to(59) == poet::Item::event);
}

} // namespace test_cut_off
