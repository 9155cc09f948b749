// SPDX-License-Identifier: MIT
// What a host's error clock adds to the bounds of its lines: its traces' times are off the clock that exchanges read.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "fleet/clocks/run_clocks.h"
#include "fleet/clocks/trace_clock_error.h"
#include "monitor/card.h"
#include "reading/events/clock_map.h"
#include "samples.h"

namespace test_trace_clock_error {

using namespace monitor;
using collection::ClockLines;
using fleet::TraceClockError;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t origin = 1'700'000'000'000'000'000, second = 1'000'000'000;

const std::string events =
    samples::event_block(EDC_ID_SYNC, "sync", "u16_t cpu; u64_t monotonic; u64_t realtime; u64_t tai; u64_t width;") +
    samples::event_block(EDC_ID_CLOCK_SET, "clock_set",
			 "u16_t set; u64_t from_ns; u64_t base; u32_t whole; u32_t frac;") +
    samples::some_events;

// A run of one host: at s seconds of the reference, the host's clock has s * 10^9 ticks, which its monotonic clock
// counts, too. The line of the probes is `ahead` ticks ahead of it.
class Run {
public:
	explicit Run(std::uint64_t ahead, std::uint64_t skew = 0, std::uint64_t last_sync = 10 * second)
	    : path_(fs::temp_directory_path() / ("error-clock-" + std::to_string(::getpid())))
	{
		samples::StreamWriter recorder(EDC_CPU_UNKNOWN, 0), cpu(0, 0);
		recorder.open(second);
		recorder.post(second, EDC_ID_CLOCK_SET, 0, {0, ahead, 1});
		for (std::uint64_t time = second; time <= last_sync; time += second / 10)
			recorder.post(time, EDC_ID_SYNC, 0, {time, 0, 0, 40});
		cpu.open(second);
		for (std::uint64_t s = 1; s < 10; ++s)
			cpu.post(s * second + ahead, 256, 0);
		fs::create_directories(path_ / "a" / ".monitor");
		fs::create_directories(path_ / ".monitor" / "clocks");
		std::ofstream(path_ / "a" / "metadata") << samples::description_text(events);
		write("recorder", recorder);
		write("cpu0", cpu);
		std::ofstream(path_ / "a" / ".monitor" / "recording.json")
		    << R"({"boot_id": ")" << boot << R"(", "tsc_skew": {"start": {"ticks": )" << skew
		    << R"(, "uncertainty": 0, "cpus_compared": 1, "cpus_online": 2}}})";
	}
	~Run() { fs::remove_all(path_); }
	Run(const Run &) = delete;
	Run &operator=(const Run &) = delete;

	// An exchange each tenth of a second: 1 us there, 1 us back; every second one of a CPU whose clock is ahead.
	void exchange(std::uint64_t ahead_on_cpu1 = 0) const
	{
		std::ofstream file(path_ / ".monitor" / "clocks" / "a");
		file << "monitor-clock 1 a clock=tsc frequency_hz=1000000000 boot=" << boot << '\n';
		for (std::uint64_t i = 0, at = 0; at <= 11 * second; at += second / 10, ++i) {
			const std::uint64_t off = i % 2 ? ahead_on_cpu1 : 0;
			file << at + off << ' ' << origin + at + 1000 << ' ' << origin + at + 1000 << ' '
			     << at + off + 2000 << '\n';
		}
	}
	std::string path() const { return path_.string(); }
	std::string host() const { return (path_ / "a").string(); }

private:
	static constexpr const char *boot = "01234567-89ab-cdef-0123-456789abcdef";

	void write(const char *name, samples::StreamWriter &writer) const
	{
		const auto bytes = writer.bytes();
		std::ofstream(path_ / "a" / name, std::ios::binary)
		    .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
	}

	fs::path path_;
};

std::shared_ptr<const trace::ClockMap> map_of(const ClockLines &lines)
{
	const char *why = nullptr;
	auto map = trace::ClockMap::make(lines.nodes, lines.bounds_ns, second, why);
	INFO((why ? why : ""));
	REQUIRE(map);
	return map;
}

std::uint64_t apart(std::uint64_t a, std::uint64_t b)
{
	return a > b ? a - b : b - a;
}

} // namespace

TEST_CASE("error clock: the true time of a token is within the bound, however far the probes' line is off")
{
	for (const std::uint64_t ahead : {0u, 500u, 20'000u, 3'000'000u}) {
		const Run run(ahead);
		run.exchange();
		const auto clocks = fleet::write_run_clocks(run.path());
		REQUIRE(clocks.size() == 1);
		CHECK(clocks[0].why_none == "");
		const ClockLines &lines = clocks[0].lines;
		const auto map = map_of(lines);
		REQUIRE(lines.own_ns);
		CHECK(*lines.own_ns >= ahead + 40);
		CHECK(*lines.own_ns < ahead + 100);
		for (std::uint64_t s = 1; s < 10; ++s) {
			const std::uint64_t stored = map->map(s * second + ahead), truth = origin + s * second;
			const auto bound = map->bound_at(stored);
			REQUIRE(bound);
			CHECK(apart(stored, truth) <= *bound);
			CHECK(*bound < ahead + 2500); // the exchanges leave 1 us open
		}
		// what the exchanges alone say, as before the trace's begin, is too little
		CHECK((ahead < 20'000 || lines.min_bound_ns() < ahead));
	}
}

TEST_CASE("error clock: exchanges of two CPUs whose clocks differ have a line, and the truth is within its bound")
{
	constexpr std::uint64_t skew = 50'000;
	const Run run(0, skew);
	run.exchange(skew);
	const auto clocks = fleet::write_run_clocks(run.path());
	const ClockLines &lines = clocks[0].lines;
	CHECK(lines.infeasible == 0);
	const auto map = map_of(lines);
	for (const std::uint64_t off : {std::uint64_t(0), skew}) {
		const std::uint64_t stored = map->map(5 * second + off);
		const auto bound = map->bound_at(stored);
		REQUIRE(bound);
		CHECK(apart(stored, origin + 5 * second) <= *bound);
		CHECK(*bound < 4 * skew);
	}
}

TEST_CASE("error clock: where no two snapshots enclose a time, its bound is unknown")
{
	const Run run(100, 0, 6 * second + second / 2);
	run.exchange();
	const auto clocks = fleet::write_run_clocks(run.path());
	const ClockLines &lines = clocks[0].lines;
	const auto map = map_of(lines);
	CHECK(lines.not_witnessed > 0);
	CHECK(lines.has_bound());
	CHECK(map->bound_at(origin + 6 * second));
	CHECK(map->bound_at(origin + 6 * second + second / 2 - 1000));
	CHECK_FALSE(map->bound_at(origin + 6 * second + second / 2 + 1000));
	CHECK_FALSE(map->bound_at(origin + 8 * second));
}

TEST_CASE("error clock: a split line passes where it did before")
{
	ClockLines lines;
	lines.nodes = {{1000, 5000}, {2000, 9001}, {3000, 9002}};
	lines.bounds_ns = {std::nullopt, 10, 20, std::nullopt};
	lines.windows = 2;
	TraceClockError error;
	error.begin = 900;
	error.end = 2900;
	error.frequency_hz = second;
	error.has_snapshots = true;
	error.intervals = {{1500, 2500, 7}, {2500, 2700, 3}};
	const auto before = map_of(lines);
	fleet::add_clock_errors(lines, {error});
	const auto after = map_of(lines);
	// between 2000 and 3000 there is no ns between the nodes for another one: it is unknown as a whole
	REQUIRE(lines.nodes.size() == 4);
	CHECK(lines.nodes[1].ticks == 1500);
	CHECK(lines.windows == 3);
	CHECK(lines.bounds_ns == std::vector<trace::ClockBoundNs>{{}, {}, 11 + 7, {}, {}});
	CHECK(lines.not_witnessed == 2);
	CHECK(lines.own_ns == 7u);
	for (std::uint64_t ticks = 900; ticks < 3100; ticks += 7)
		CHECK(apart(before->map(ticks), after->map(ticks)) <= 1);
}

TEST_CASE("error clock: a trace without snapshots adds nothing, and says so")
{
	ClockLines lines;
	lines.nodes = {{1000, 5000}, {2000, 9000}};
	lines.bounds_ns = {std::nullopt, 10, std::nullopt};
	TraceClockError error;
	error.begin = 1000;
	error.end = 2000;
	error.intervals = {{1000, 2000, 7}};
	fleet::add_clock_errors(lines, {error});
	CHECK(lines.bounds_ns[1] == 10u);
	CHECK_FALSE(lines.own_ns);
	CHECK(TraceClockError{0, 0, 3, 7}.skew_ns() == 2'333'333'334);
}

} // namespace test_trace_clock_error
