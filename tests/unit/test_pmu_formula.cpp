// SPDX-License-Identifier: MIT
// Formulas of measurements and the files of groups: what they mean, and where an error is.
#include <catch2/catch.hpp>

#include "pmu_machine.h"
#include "recording/pmu/formula.h"
#include "recording/pmu/groups.h"

namespace test_pmu_formula {

using namespace monitor::pmu;
using Catch::Contains;

namespace {

bool is_plain(const std::string &word)
{
	return word == "cycles" || word == "instructions" || word == "a" || word == "b";
}

std::string terms_of(const std::vector<FormulaTerm> &terms)
{
	std::string text;
	for (const FormulaTerm &term : terms) {
		char factor[32];
		std::snprintf(factor, sizeof factor, "%g", term.factor);
		text +=
		    (text.empty() ? "" : " + ") + std::string(factor) + "*" + (term.busy ? "busy " : "") + term.event;
	}
	return text;
}

std::string meaning(const std::string &text)
{
	const char *per[] = {"", "time", "seconds", "count", "nothing"};
	const Formula formula = parse_formula(text, is_plain);
	const std::string denominator =
	    formula.per == Per::counters ? terms_of(formula.denominator) : per[static_cast<int>(formula.per)];
	return terms_of(formula.numerator) + " / " + denominator + " [" + formula.unit + "]";
}

// Column and sentence of the error.
std::string error_of(const std::string &text)
{
	try {
		parse_formula(text, is_plain);
	} catch (const monitor::ParseError &error) {
		return std::to_string(error.position().column) + ": " + error.what();
	}
	return "none";
}

} // namespace

TEST_CASE("pmu formula: sums, factors, what they are divided by, units")
{
	CHECK(meaning("cycles") == "1*cycles / nothing []");
	CHECK(meaning("instructions/cycles") == "1*instructions / 1*cycles []");
	CHECK(meaning(" LLC-load-misses / LLC-loads  %") == "1*LLC-load-misses / 1*LLC-loads [%]");
	CHECK(meaning("64 * a / seconds B/s") == "64*a / seconds [B/s]");
	CHECK(meaning("2*1e-9*a/seconds") == "2e-09*a / seconds []");
	CHECK(meaning("(a + 3*b) / (b + a)") == "1*a + 3*b / 1*b + 1*a []");
	CHECK(meaning("a + b ns") == "1*a + 1*b / nothing [ns]");
	CHECK(meaning("a / count ns") == "1*a / count [ns]");
	CHECK(meaning("busy(L1D_PEND_MISS:PENDING) / time %") == "1*busy L1D_PEND_MISS:PENDING / time [%]");
	CHECK(parse_formula("  a  / b   %", is_plain).text == "a  / b");
}

TEST_CASE("pmu formula: a slash belongs to a PMU or divides")
{
	CHECK(meaning("msr/tsc/") == "1*msr/tsc/ / nothing []");
	CHECK(meaning("msr/tsc//time") == "1*msr/tsc/ / time []");
	CHECK(meaning("msr/tsc/ / time") == "1*msr/tsc/ / time []");
	CHECK(meaning("cpu/event=0xc0,umask=0x1/u/cycles:u") == "1*cpu/event=0xc0,umask=0x1/u / 1*cycles:u []");
	CHECK(meaning("cycles/msr/tsc/") == "1*cycles / 1*msr/tsc/ []");
	CHECK(meaning("a/skl::X:Y:c=1") == "1*a / 1*skl::X:Y:c=1 []");
	CHECK(ends_within_terms("x=cpu/event=0xc0"));
	CHECK_FALSE(ends_within_terms("x=cpu/event=0xc0,umask=1/"));
	CHECK_FALSE(ends_within_terms("x=a/b"));
	CHECK_FALSE(ends_within_terms("x=a/skl::X:c=1"));
}

TEST_CASE("pmu formula: errors name the column")
{
	CHECK_THAT(error_of(""), Contains("1: an event is missing at the end"));
	CHECK_THAT(error_of("a / "), Contains("an event is missing at the end"));
	CHECK_THAT(error_of("a + b / a"), Contains("1: put parentheses around a sum that is divided"));
	CHECK_THAT(error_of("a / a + b"), Contains("5: put parentheses around a sum that is a divisor"));
	CHECK_THAT(error_of("(a + b / a"), Contains("closing parenthesis"));
	CHECK_THAT(error_of("64 / a"), Contains("4: an asterisk"));
	CHECK_THAT(error_of("0 * a"), Contains("1: this is not a factor"));
	CHECK_THAT(error_of("time / a"), Contains("1: \"time\" is not an event"));
	CHECK_THAT(error_of("a / 3"), Contains("asterisk"));
	CHECK_THAT(error_of("busy(a) / b"), Contains("6: busy() is a time"));
	CHECK_THAT(error_of("a * 3"), Contains("3: unexpected \"*\""));
	CHECK_THAT(error_of("a cycles"), Contains("3: \"cycles\" is not a unit"));
	CHECK_THAT(error_of("a / b % c"), Contains("\"% c\" is not a unit"));
}

TEST_CASE("pmu groups: the section of the CPU replaces and adds lines")
{
	const Group group =
	    parse_group("g", "g.group",
			"# a comment\nSHORT what it is\n\nx = a / b %\ny = a\n"
			"[intel skl, icl]\nx = b\nz = b\n[amd zen3]\ny = b\n[arm]\ny = b + b\n[intel]\nx = a + b\n");
	CHECK(group.description == "what it is");
	const auto names = [&](const std::string &family) {
		std::string all;
		for (const GroupLine &line : lines_for(group, {family}))
			all += line.name + "=" + line.formula.text + ";";
		return all;
	};
	CHECK(names("hsw") == "x=a + b;y=a;");
	CHECK(names("skl") == "x=b;y=a;z=b;"); // the first one that fits, and no other
	CHECK(names("amd64_fam19h_zen3") == "x=a / b;y=b;");
	CHECK(names("amd64_fam17h_zen2") == "x=a / b;y=a;");
	CHECK(names("arm_n1") == "x=a / b;y=b + b;");
	CHECK(lines_for(group, {}).size() == 2);
	CHECK(fits({"zen"}, "amd64_fam19h_zen4"));
	CHECK_FALSE(fits({"intel", "zen"}, "amd64_fam19h_zen4"));
	CHECK_FALSE(fits({"en4"}, "amd64_fam19h_zen4"));
}

TEST_CASE("pmu groups: errors name file, line and column")
{
	const auto error = [](const std::string &text) {
		try {
			parse_group("g", "my.group", text);
		} catch (const monitor::Error &thrown) {
			return std::string(thrown.what());
		}
		return std::string("none");
	};
	CHECK_THAT(error("SHORT x\nIPC = instructions / \n"), Catch::StartsWith("my.group:2:"));
	CHECK_THAT(error("# x\n\n  IPC  =  cycles * 3\n"), Catch::StartsWith("my.group:3:18: unexpected \"*\""));
	CHECK_THAT(error("cycles\n"), Catch::StartsWith("my.group:1:1: expected NAME = FORMULA"));
	CHECK_THAT(error(" = cycles\n"), Catch::StartsWith("my.group:1:2: the name is missing"));
	CHECK_THAT(error("x = cycles\nx = cycles\n"), Catch::StartsWith("my.group:2:1: \"x\" appears twice"));
	CHECK_THAT(error("[intel\nx = cycles\n"), Catch::StartsWith("my.group:1:1: a section"));
	CHECK_THAT(error("[ ]\n"), Catch::StartsWith("my.group:1:1: expected the CPUs of the section"));
}

TEST_CASE("pmu groups: the user's own go before the shipped ones")
{
	samples::PmuMachine test;
	CHECK_THAT(load_group("cpu", test.machine).path, !Contains(test.path.string()));
	test.write("groups/cpu.group", "SHORT mine\nmine = cycles\n");
	test.write("groups/extra.group", "x = cycles\n");
	CHECK(load_group("cpu", test.machine).description == "mine");
	const auto names = group_names(test.machine);
	CHECK(std::count(names.begin(), names.end(), "cpu") == 1);
	CHECK(std::count(names.begin(), names.end(), "extra") == 1);
	CHECK_THROWS_WITH(load_group("cach", test.machine),
			  Contains("unknown group \"cach\"") && Contains("Did you mean cache"));
	CHECK_THROWS_WITH(load_group("../groups/cpu", test.machine), Contains("unknown group"));
	test.machine.own_groups_uid = 4000000;
	CHECK_THROWS_WITH(load_group("cpu", test.machine), Contains("does not belong"));
}

TEST_CASE("pmu formula: what stands between two slashes are a PMU's terms, also where its name is an event's")
{
	const auto everything_is_an_event = [](const std::string &) { return true; };
	const Formula tsc = parse_formula("msr/tsc/ / time", everything_is_an_event);
	REQUIRE(tsc.numerator.size() == 1);
	CHECK(tsc.numerator[0].event == "msr/tsc/");
	CHECK(tsc.per == Per::time);
	const Formula ratio = parse_formula("cycles/cpu/event=0x3c/u", everything_is_an_event);
	CHECK(ratio.numerator[0].event == "cycles");
	CHECK(ratio.denominator.at(0).event == "cpu/event=0x3c/u");
}

} // namespace test_pmu_formula
