// SPDX-License-Identifier: MIT
// Time 0: the start of what was recorded, as recording.json says it, and what is earlier.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "answers/listing/listing.h"
#include "answers/selection/selection.h"
#include "base/error.h"
#include "base/fd.h"
#include "reading/activities/keys.h"
#include "reading/analyze/recording_info.h"
#include "reading/events/merge.h"
#include "reading/events/time_text.h"
#include "reading/filter/filter.h"
#include "samples.h"

namespace test_trace_begin {

using namespace monitor;
using trace::Trace;

namespace {

namespace fs = std::filesystem;

// A recording with tokens at 1000, 1500 and 4000 ns, and this recording.json.
class Recording {
public:
	explicit Recording(const std::string &json)
	    : path_(fs::temp_directory_path() / ("trace-begin-" + std::to_string(::getpid())))
	{
		samples::StreamWriter writer(0, 0);
		writer.open(1000);
		for (const std::uint64_t time : {1000u, 1500u, 4000u})
			writer.post(time, 256, 1);
		fs::create_directories(path_ / ".monitor");
		std::ofstream(path_ / "metadata") << samples::description_text(samples::some_events);
		const auto bytes = writer.bytes();
		std::ofstream(path_ / "cpu0", std::ios::binary)
		    .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
		if (!json.empty())
			std::ofstream(path_ / ".monitor" / "recording.json") << json;
	}
	~Recording() { fs::remove_all(path_); }
	Recording(const Recording &) = delete;
	Recording &operator=(const Recording &) = delete;

	Trace open() const { return Trace::open(path_.string()); }

private:
	fs::path path_;
};

const std::string started = R"({"version": 1, "start": {"time": 1500}})";

std::string listed(Trace &trace, const trace::ListingOptions &options)
{
	Fd file(::memfd_create("listing", 0));
	trace::Listing listing(trace, options, file.get());
	trace::merge(trace, {}, [&](const trace::Event &event) { return listing.print(event); });
	listing.flush();
	std::string text(static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_END)), '\0');
	REQUIRE(::pread(file.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
	return text;
}

} // namespace

TEST_CASE("trace begin: of a recording the start of its window")
{
	const Recording recording(started);
	const Trace trace = recording.open();
	CHECK(trace.begin_time() == 1500);
	CHECK(trace.first_time() == 1000);
	CHECK(trace.since_begin_ns(1000) == -500);
	CHECK(trace.from_begin_ns(-500) == 1000);
	CHECK(trace.from_begin_ns(-9999) == 0);
}

TEST_CASE("trace begin: else the earliest token, also if the file says what cannot be")
{
	for (const char *json :
	     {"", "{}", "no JSON", R"({"version": 1, "start": {"realtime_ns": 5}})",
	      R"({"version": 1, "start": {"time": 9999999}})",
	      R"({"version": 1, "start": {"time": 1500}, "statistics": {"period_ns": 1000, "keep_ns": 0}})"}) {
		CAPTURE(json);
		const Recording recording(json);
		CHECK(recording.open().begin_time() == 1000);
	}
	const Recording part(R"({"version": 1, "start": {"time": 400}})"); // the rest was not fetched
	CHECK(part.open().begin_time() == 400);
}

TEST_CASE("trace begin: a range that only touches the recorded time has no time to sum")
{
	const Recording recording(started);
	const Trace trace = recording.open();
	const analyze::RecordingInfo info = analyze::recording_of(trace);
	selection::Selection selection;
	const auto scope = [&](const char *from, const char *to) {
		selection.from = from;
		selection.to = to;
		return selection.scope(trace, info).range;
	};
	CHECK_THROWS_WITH(scope("-1us", "0"),
			  Catch::StartsWith("--to 0 is the start of what was recorded, which is from 0 ns to ") &&
			      Catch::EndsWith(": nothing is before it"));
	CHECK_THROWS_WITH(scope("", "0"), Catch::StartsWith("--to 0 is the start of what was recorded"));
	CHECK_THROWS_WITH(scope("2500ns", ""), Catch::StartsWith("--from 2500ns is the end of what was recorded"));
	CHECK_THROWS_WITH(scope("-2us", "-1us"), Catch::Contains("is outside of what was recorded"));
	CHECK(scope("-1us", "1ns").to == 1501);
	CHECK(scope("0", "0").from == 1500); // a moment within
	CHECK(scope("2499ns", "").from == 3999);
}

TEST_CASE("trace begin: what is earlier has negative times, and is selected by them")
{
	const Recording recording(started);
	Trace trace = recording.open();
	CHECK(listed(trace, {}) == "  -0.000000500   0 idle-0               tick arg=1\n"
				   "   0.000000000   0 idle-0               tick arg=1\n"
				   "   0.000002500   0 idle-0               tick arg=1\n");
	trace::ListingOptions json;
	json.json = true;
	CHECK(listed(trace, json).starts_with("{\"time_ns\":-500,\"ticks\":1000,\"cpu\""));
	const auto range = trace::parse_range("-0.0000005", "-1ns", trace);
	CHECK(range.from == 1000);
	CHECK(range.to == 1499);
	CHECK(trace::parse_range("-1s", "0", trace).from == 0);
	CHECK(trace::parse_range("-1s", "0", trace).to == 1500);
	for (const char *wrong : {"-", "--1", "- 1", "-1x", "-12:00"})
		CHECK_THROWS_AS(trace::parse_time(wrong, "--from", trace, false), Error);

	const filter::Filter early("time < 0s", trace.description(), trace.begin_time()),
	    exact("time == -500ns and time + 500 == 0", trace.description(), trace.begin_time());
	const activities::Keys time({"time"}, trace.description(), trace.begin_time(), "--value",
				    activities::Keys::Takes::numbers);
	std::string found;
	trace::merge(trace, {}, [&](const trace::Event &event) {
		std::int64_t ns = 0;
		CHECK(time.number(event, {}, ns));
		found += (early.matches(event, {}) ? "<" : "-") + std::string(exact.matches(event, {}) ? "=" : "-") +
			 std::to_string(ns) + " ";
	});
	CHECK(found == "<=-500 --0 --2500 ");
}

TEST_CASE("trace begin: times of day, with the date if there are several")
{
	::setenv("TZ", "UTC", 1);
	::tzset();
	const Recording recording(started);
	Trace trace = recording.open();
	trace::ListingOptions options;
	options.clock = true;
	CHECK(listed(trace, options).starts_with("22:13:20.000001005   0 "));
	CHECK(trace::TimeText(trace, true)(1500) == "22:13:20.000001505");
	CHECK(trace::TimeText(trace, false)(1000) == "-0.000000500");
	options.json = true;
	CHECK(listed(trace, options).find(",\"ticks\":1000,\"wall_ns\":1700000000000001005,") != std::string::npos);
	CHECK(trace::is_time_of_day("22:13"));
	CHECK_FALSE(trace::is_time_of_day("-0.2"));

	std::vector<samples::StreamWriter> days = {{0, 0}};
	days[0].open(1000);
	days[0].post(1000, 256, 0);
	days[0].open(7'200'000'000'000);
	days[0].post(7'200'000'000'000, 256, 0);
	const Trace of_two = samples::trace(days);
	CHECK(trace::TimeText(of_two, true)(1000) == "2023-11-14 22:13:20.000001005");
}

} // namespace test_trace_begin
