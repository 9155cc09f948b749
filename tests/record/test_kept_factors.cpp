// SPDX-License-Identifier: MIT
// What other code pays for the probes than loops: fitted to what programs paid, and kept in a file that nobody else can
// have written.
#include <catch2/catch.hpp>

#include "base/fd.h"
#include "kept_files.h"
#include "recording/calibration/factor_fit.h"
#include "recording/calibration/kept_factors.h"

namespace test_kept_factors {

using monitor::card::FactorsFile;
using monitor::card::fit_factors;
using monitor::card::KeptFactors;
using monitor::card::LoadCost;
using monitor::recording_file::CodeFactors;

namespace {

KeptFactors good()
{
	return {.factors = {{"syscall", {1.2, 1.7}}, {"other", {2, 3}}},
		.loads = {{.name = "walk", .events = 7, .predicted_ns = {{"syscall", 100}}, .rounds = 5}}};
}

struct Kept : KeptIn<FactorsFile> {
	std::string why_not;

	CodeFactors read(const std::string &key = "this machine")
	{
		why_not.clear();
		return file(key).read(why_not);
	}
};

// `share`: half of the interval.
LoadCost load(double syscall, double fault, double other, double measured, double share = 0.01)
{
	return {.name = "load",
		.events = 1000,
		.cpu_ns = 1e6,
		.predicted_ns = {{"syscall", syscall}, {"fault", fault}, {"other", other}},
		.low_ns = measured - share * std::abs(measured),
		.measured_ns = measured,
		.high_ns = measured + share * std::abs(measured),
		.rounds = 20};
}

double middle(const CodeFactors &factors, const std::string &family)
{
	return (factors.at(family).low + factors.at(family).high) / 2;
}

} // namespace

TEST_CASE("kept factors: what doctor writes a recording reads, of the same key")
{
	Kept it;
	CHECK(it.read().empty());
	CHECK(it.why_not.empty());
	it.file().write(good());
	CHECK(it.read().at("other").high == 3);
	CHECK(it.read("another kernel").empty());
	CHECK(it.why_not.empty());
	struct stat status {};
	REQUIRE(::stat(it.path().c_str(), &status) == 0);
	CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("kept factors: what is damaged or impossible is one sentence")
{
	Kept it;
	it.file().write(good());
	const std::string whole = monitor::read_text(it.path());
	const auto is_damaged = [&] {
		return it.read().empty() && it.why_not.ends_with("run monitor doctor --calibrate again");
	};
	const auto is_damaged_with = [&](const std::string &text) {
		it.write(text);
		return is_damaged();
	};
	const auto with = [&](const std::string &was, const std::string &is) {
		it.write(whole, was, is);
		return is_damaged();
	};
	CHECK(!with("1.7", "1.8"));
	CHECK(with("1.2", "-1.2"));
	CHECK(with("1.2", "0"));
	CHECK(with("1.7", "1.1")); // below the low one
	CHECK(with("1.7", "1e9"));
	CHECK(with("1.7", "\"x\""));
	CHECK(with("\"other\"", "\"more\"")); // families that are not named have none
	for (const std::string &text : {std::string(), std::string("{"), std::string("[]"), std::string("{}"),
					std::string(5000, '['), whole + std::string(1 << 16, ' ')})
		CHECK(is_damaged_with(text));
}

TEST_CASE("kept factors: a file that others can write, or that is none, is not used")
{
	Kept it;
	it.file().write(good());
	check_only_own_files(it,
			     [&] { return it.read().empty() && it.why_not.find("by others") != std::string::npos; });
}

TEST_CASE("factors: found again from what programs paid")
{
	const auto paid = [](double syscall, double fault, double other) {
		return load(syscall, fault, other, 1.3 * syscall + 2 * fault + 3 * other);
	};
	const CodeFactors factors = fit_factors({paid(100, 1, 0), paid(20, 50, 5), paid(40, 0, 30), paid(5, 80, 1)});
	CHECK(middle(factors, "syscall") == Approx(1.3).epsilon(0.01));
	CHECK(middle(factors, "fault") == Approx(2).epsilon(0.01));
	CHECK(middle(factors, "other") == Approx(3).epsilon(0.01));
	for (const auto &[family, factor] : factors)
		CHECK(factor.high <= 3.5 * factor.low);
}

TEST_CASE("factors: a load that pays more than the others widens the range, one that is not known well does not")
{
	const auto high_with = [&](const std::vector<LoadCost> &more) {
		std::vector<LoadCost> loads(4, load(100, 0, 0, 150));
		loads.insert(loads.end(), 4, load(0, 0, 100, 150));
		loads.insert(loads.end(), more.begin(), more.end());
		return fit_factors(loads).at("syscall").high;
	};
	const double high = high_with({});
	CHECK(high == Approx(1.5 * 1.51).epsilon(0.02));
	CHECK(high_with({load(100, 0, 0, 400)}) > high * 1.3);
	CHECK(high_with({load(100, 0, 0, 400, 0.9)}) < high * 1.1);
}

TEST_CASE("factors: of programs that say nothing there are none")
{
	CHECK_THROWS(fit_factors({}));
	CHECK_THROWS(fit_factors({load(0, 0, 0, 10)}));
	LoadCost none = load(10, 10, 10, 30);
	none.rounds = 0;
	CHECK_THROWS(fit_factors({none}));
	CHECK_THROWS(fit_factors({load(100, 0, 10, 150, 3), load(90, 0, 10, 150, 3)})); // too wide
}

} // namespace test_kept_factors
