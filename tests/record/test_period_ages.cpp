// SPDX-License-Identifier: MIT
// How old the periods of earlier recordings are, and which of them record --statistics --keep removes.
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "recording/periods/period_ages.h"
#include "scratch.h"

namespace test_period_ages {

using namespace monitor::record;

namespace {

constexpr std::uint64_t hz = 1000, year = 365ull * 24 * 3600 * hz;
constexpr std::int64_t second = 1'000'000'000;

std::set<std::string> files_in(const std::string &directory)
{
	std::set<std::string> files;
	for (const auto &entry : std::filesystem::directory_iterator(directory))
		files.insert(entry.path().filename());
	return files;
}

} // namespace

TEST_CASE("period ages: by the clock of the trace, in which the time between two boots does not count")
{
	const PeriodEnds ends = {{"a", 10 * hz}, {"b", 20 * hz}, {"c", year + 20 * hz}, {"d", 2 * year}, {"cut", {}}};
	const std::uint64_t now = 2 * year + 40 * hz;
	SECTION("one boot")
	{
		const PeriodFiles::Ages ages = ages_of(ends, {}, now, hz);
		CHECK(ages.at("d") == 40 * second);
		CHECK(ages.at("b") == static_cast<std::int64_t>(2 * year / hz + 20) * second);
		CHECK(ages.at("cut") == 0);
	}
	SECTION("the machine was started again twice, this time now")
	{
		const PeriodFiles::Ages ages = ages_of(ends, {year + 15 * hz, now}, now, hz);
		CHECK(ages.at("d") == 0);
		CHECK(ages.at("c") == static_cast<std::int64_t>(year / hz - 20) * second);
		CHECK(ages.at("b") == static_cast<std::int64_t>(year / hz - 15) * second);
		CHECK(ages.at("a") == ages.at("b") + 10 * second);
		CHECK(ages.at("cut") == 0);
	}
	SECTION("of the boot before nothing is left")
	{
		CHECK(ages_of({{"d", 2 * year}}, {year}, now, hz).at("d") == 40 * second);
	}
}

TEST_CASE("period ages: what is removed is what was too old when the first period ended")
{
	const Scratch scratch;
	for (const char *name : {"statistics_old", "statistics_young", ".statistics_part"})
		std::ofstream(scratch.path() + "/" + name).put('x');
	const auto ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * 365);
	std::filesystem::last_write_time(scratch.path() + "/statistics_young", ago); // the system's clock was set since
	PeriodFiles files(scratch.path(), 60 * second,
			  {{"statistics_old", 70 * second}, {"statistics_young", 50 * second}});
	PeriodFiles::Period period;
	period.end_ns = 5000 * second;
	files.add(std::move(period));
	files.finish();
	CHECK(files_in(scratch.path()) == std::set<std::string>{"statistics_19700101T000000Z", "statistics_young"});
}

} // namespace test_period_ages
