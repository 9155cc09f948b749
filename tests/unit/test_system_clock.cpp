// SPDX-License-Identifier: MIT
// The state of hosts' system clocks: read from the kernel, sent, stored by the collector, printed.
#include <catch2/catch.hpp>

#include <filesystem>

#include <sys/timex.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "fleet/collector/system_clock_log.h"
#include "fleet/forward/system_clock_read.h"
#include "fleet/wire/system_clock.h"

namespace test_system_clock {

using namespace monitor;
using fleet::SystemClock;

namespace {

constexpr std::uint64_t start_ns = 1'700'000'000'000'000'000, ns_per_s = 1'000'000'000;

SystemClock some_clock()
{
	SystemClock clock{true, 12'345, 17, -4200, 37};
	clock.ptp = {{"ptp0", "a driver's", -250, 900}, {"ptp1", "", std::nullopt, 0}};
	return clock;
}

std::optional<SystemClock> sent(const SystemClock &clock)
{
	return fleet::parse_system_clock(parse_json(json_dump(fleet::system_clock_json(clock))));
}

} // namespace

TEST_CASE("system clock: the state that is read agrees with adjtimex")
{
	const auto clock = fleet::read_system_clock();
	timex kernel{};
	const int state = ::adjtimex(&kernel);
	REQUIRE((state >= 0) == clock.has_value());
	if (!clock)
		return;
	CHECK(clock->is_synchronised == (state != TIME_ERROR && !(kernel.status & STA_UNSYNC)));
	CHECK(clock->tai_s == kernel.tai);
	CHECK(clock->ptp.size() <= SystemClock::max_ptp);
}

TEST_CASE("system clock: a state arrives as it was sent, and a malformed one is refused")
{
	const auto arrived = sent(some_clock());
	REQUIRE(arrived);
	CHECK(arrived->is_synchronised);
	CHECK(arrived->max_error_us == 12'345);
	CHECK(arrived->estimated_error_us == 17);
	CHECK(arrived->frequency_ppb == -4200);
	CHECK(arrived->tai_s == 37);
	REQUIRE(arrived->ptp.size() == 2);
	CHECK(arrived->ptp[0].device == "ptp0");
	CHECK(arrived->ptp[0].name == "a driver's");
	CHECK(arrived->ptp[0].ahead_ns == -250);
	CHECK(arrived->ptp[0].within_ns == 900);
	CHECK_FALSE(arrived->ptp[1].ahead_ns);
	CHECK(arrived->text() == "synchronised, at most 13 ms off by its own account");
	CHECK(SystemClock().text() == "not synchronised");
	for (const char *text : {"", "7", "[]", "{}", R"({"max_error_us": -1})", R"({"max_error_us": "1"})"})
		CHECK_FALSE(fleet::parse_system_clock(parse_json(text)));
	SystemClock many = some_clock();
	many.ptp.resize(100, {"ptp0", "", {}, 0});
	CHECK(sent(many)->ptp.size() == SystemClock::max_ptp);
	many.ptp = {{std::string(SystemClock::max_name + 1, 'x'), "", {}, 0}};
	CHECK(sent(many)->ptp.empty());
}

TEST_CASE("system clock: a PTP clock's offset is that of the fastest of several reads")
{
	ptp_sys_offset read{};
	read.n_samples = 2;
	const auto at = [](std::int64_t s, std::uint32_t ns) { return ptp_clock_time{s, ns, 0}; };
	read.ts[0] = at(5, 0);
	read.ts[1] = at(41, 500'000); // 36 s ahead, read within 2 us, then within 1 us
	read.ts[2] = at(5, 2'000);
	read.ts[3] = at(41, 2'600);
	read.ts[4] = at(5, 3'000);
	SystemClock::Ptp ptp;
	fleet::set_ptp_offset(read, ptp);
	REQUIRE(ptp.ahead_ns);
	CHECK(*ptp.ahead_ns == 36'000'000'100);
	CHECK(ptp.within_ns == 1000);
	read.n_samples = 4'000'000;
	fleet::set_ptp_offset(read, ptp); // more than the array has: must not be read
	SystemClock::Ptp stepped;
	read = {};
	read.n_samples = 1;
	read.ts[0] = at(5, 0);
	read.ts[2] = at(4, 0);
	fleet::set_ptp_offset(read, stepped);
	CHECK_FALSE(stepped.ahead_ns);
}

TEST_CASE("system clock: the log has a line for each minute and for each change of synchronisation")
{
	namespace fs = std::filesystem;
	const fs::path run = fs::temp_directory_path() / ("system-clock-" + std::to_string(::getpid()));
	fs::create_directories(run / ".monitor");
	fleet::SystemClockLog log(run.string());
	SystemClock clock = some_clock();
	for (std::uint64_t s = 0; s < 150; ++s) {
		clock.is_synchronised = s < 100;
		clock.max_error_us = s;
		log.log("h", clock, start_ns + s * ns_per_s);
		log.log("h", clock, start_ns + s * ns_per_s);
	}
	std::string text = read_file((run / ".monitor" / "system_clocks" / "h").string(), 1 << 20);
	CHECK(std::count(text.begin(), text.end(), '\n') == 3); // at 0 s, 60 s and 100 s
	const auto last = fleet::last_system_clock(text);
	REQUIRE(last);
	CHECK_FALSE(last->is_synchronised);
	CHECK(last->max_error_us == 100);
	// skips a line that is of a later version, damaged or incomplete
	for (const char *more : {"{\"version\": 2, \"clock\": {\"max_error_us\": 5}}\n", "\n", "nonsense\n",
				 "{\"version\": 1, \"clock\": {\"max_error_us\": 7}}"})
		CHECK(fleet::last_system_clock(text += more)->max_error_us == 100);
	CHECK_FALSE(fleet::last_system_clock(""));
	CHECK_FALSE(fleet::last_system_clock("\n\n"));
	fs::remove_all(run);
}

} // namespace test_system_clock
