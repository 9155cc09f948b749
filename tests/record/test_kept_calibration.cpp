// SPDX-License-Identifier: MIT
// What an event costs, kept for the next recording: only what was measured well, of the same key, in a file that nobody
// else can have written.
#include <catch2/catch.hpp>

#include "base/fd.h"
#include "kept_files.h"
#include "recording/calibration/kept_calibration.h"

namespace test_kept_calibration {

using monitor::card::CalibrationFile;
using monitor::card::compare_costs;
using monitor::card::CostCheck;
using monitor::card::KeptCalibration;

namespace {

KeptCalibration good()
{
	KeptCalibration kept{.tp = true, .measured_s = 77};
	kept.measured.costs = {{"syscall", {50, 55, 60, 0.01, 22}}, {"sched", {70, 80, 90, 0.02, 21}}};
	kept.measured.call_edge = 31;
	return kept;
}

using Kept = KeptIn<CalibrationFile>;

} // namespace

TEST_CASE("kept calibration: a check beside other work decides nothing")
{
	using enum CostCheck;
	const auto kept = good().measured.costs;
	auto now = kept;
	CHECK(compare_costs(kept, now) == agrees);
	now["syscall"] = {61, 62, 63, 0.01, 9}; // other quartiles, and a median 12 % above
	CHECK(compare_costs(kept, now) == contradicts);
	now["syscall"].off_difference = 0.06;
	CHECK(compare_costs(kept, now) == undecided);
	now["syscall"].median = 221; // over four times as much
	CHECK(compare_costs(kept, now) == contradicts);
	now["syscall"].median = 62;
	now["sched"] = {100, 110, 120, 0.02, 9};
	CHECK(compare_costs(kept, now) == contradicts);
	now.erase("sched");
	CHECK(compare_costs(kept, now) == contradicts);
}

TEST_CASE("kept calibration: what one recording writes the next one reads")
{
	const Kept it;
	CHECK(!it.file().read());
	it.file().write(good());
	const auto kept = it.file().read();
	REQUIRE(kept);
	CHECK(kept->tp);
	CHECK(kept->measured_s == 77);
	CHECK(kept->measured.costs.at("sched").median == 80);
	CHECK(kept->measured.costs.at("syscall").rounds == 22);
	CHECK(kept->measured.call_edge == 31);
	CHECK(!it.file("another kernel").read());
	it.file("").write(good());
	CHECK(!it.file("").read());
	const CalibrationFile last = it.file();
	last.forget_costs(true);
	REQUIRE(it.file().read());
	CHECK(it.file().read()->tp);
	CHECK(it.file().read()->measured.costs.empty());
}

TEST_CASE("kept calibration: how probes are attached may be all that is known")
{
	const Kept it;
	it.file().write({.tp = true});
	REQUIRE(it.file().read());
	CHECK(it.file().read()->measured.costs.empty());
}

TEST_CASE("kept calibration: what is damaged or impossible is not used")
{
	const Kept it;
	it.file().write(good());
	const std::string whole = monitor::read_text(it.path());
	const auto with = [&](const std::string &was, const std::string &is) {
		it.write(whole, was, is);
		return it.file().read().has_value();
	};
	CHECK(with("77", "78"));
	CHECK(!with("this machine", "that machine"));
	CHECK(!with("55.0", "-55.0")); // not between the quartiles
	CHECK(!with("50.0", "-1.0"));
	CHECK(!with("90.0", "9e99"));
	CHECK(!with("\"rounds\":22", "\"rounds\":9"));
	CHECK(!with("\"rounds\":22", "\"rounds\":true"));
	CHECK(!with("0.02", "0.2"));
	CHECK(!with("31.0", "-31.0"));
	for (const std::string &text : {std::string(), std::string("{"), std::string("[]"), whole + "}",
					std::string(5000, '['), whole + std::string(1 << 16, ' ')}) {
		it.write(text);
		CHECK(!it.file().read());
	}
}

TEST_CASE("kept calibration: a file that others can write, or that is none, is not used")
{
	const Kept it;
	it.file().write(good());
	check_only_own_files(it, [&] { return !it.file().read(); });
}

TEST_CASE("kept calibration: only a good one is kept")
{
	const auto can_be_kept = [](auto change) {
		monitor::card::Calibration measured = good().measured;
		change(measured);
		return monitor::card::can_be_kept(measured);
	};
	CHECK(can_be_kept([](auto &) {}));
	CHECK(!can_be_kept([](auto &measured) { measured.costs.clear(); }));
	CHECK(!can_be_kept([](auto &measured) { measured.costs["sched"].low = -1; }));
	CHECK(!can_be_kept([](auto &measured) { measured.costs["sched"].rounds = 20; }));
	CHECK(!can_be_kept([](auto &measured) { measured.costs["sched"].off_difference = 0.06; }));
}

} // namespace test_kept_calibration
