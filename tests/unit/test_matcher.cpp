// SPDX-License-Identifier: MIT
// The matcher (include/monitor/matcher.h) and the tables that are made for it: they decide as the offline filter does.
#include <algorithm>

#include <catch2/catch.hpp>

#include "answers/matcher/expression_matcher.h"
#include "base/parse_error.h"
#include "random_filters.h"

namespace test_matcher {

using monitor::EventMatcher;
using monitor::matcher::make_matcher;
using samples::RandomFilters;

namespace {

std::unique_ptr<EventMatcher> made(const RandomFilters &random, const std::string &expression,
				   bool more_classes = false)
{
	return make_matcher({expression, {}, {}, true, {}}, *random.description, RandomFilters::begin_time,
			    more_classes);
}

unsigned decision(const EventMatcher &matcher, unsigned id)
{
	for (const EventMatcher::Class &cls : matcher.classes)
		if (cls.id == id)
			return cls.decision;
	return 99;
}

// "column C: SENTENCE" of the refusal.
std::string refusal(const std::string &expression, bool more_classes = false)
{
	const RandomFilters random(1);
	try {
		made(random, expression, more_classes);
	} catch (const monitor::ParseError &error) {
		return std::to_string(error.position().column) + ": " + error.sentence();
	}
	return "";
}

} // namespace

TEST_CASE("matcher: decides random expressions on random events as the filter does")
{
	RandomFilters random(16);
	std::uint64_t kept = 0, rejected = 0, too_large = 0;
	__u64 counts[EDC_MATCH_COUNTS] = {};
	for (int i = 0; i < 1500; ++i) {
		const std::string expression = random.expression();
		INFO(expression);
		const monitor::filter::Filter filter(expression, *random.description, RandomFilters::begin_time);
		std::unique_ptr<EventMatcher> matcher;
		try {
			matcher = made(random, expression);
		} catch (const monitor::Error &) {
			++too_large;
			continue;
		}
		for (int event = 0; event < 100; ++event) {
			RandomFilters::Sample sample = random.sample();
			const bool expected = filter.matches(*sample.event, sample.running);
			INFO(sample.id);
			REQUIRE(matcher->judge(sample.id, sample.value, counts) == expected);
			++(expected ? kept : rejected);
		}
	}
	CHECK(too_large < 30);
	CHECK(kept > 20'000);
	CHECK(rejected > 20'000);
}

TEST_CASE("matcher: whole classes need no tables, and those that others need are kept")
{
	const RandomFilters random(1);
	const auto matcher = made(random, "name == \"call\" and id >= 0 or pid == 5");
	CHECK(decision(*matcher, 262) == EDC_MATCH_KEEP); // task_rename: names threads
	CHECK(decision(*matcher, 350) == EDC_MATCH_EVALUATE);
	CHECK(decision(*matcher, 351) == EDC_MATCH_NONE);
	CHECK(decision(*matcher, 352) == EDC_MATCH_KEEP);
	CHECK(decision(*matcher, 354) == EDC_MATCH_EVALUATE);
	CHECK(decision(*matcher, 1024) == EDC_MATCH_NONE);
	CHECK(!made(random, "true_ == 1 or true_ != 1", true)->kernel_tables()->cls[350 - 256].wanted);
}

TEST_CASE("matcher: alternatives of one value are one pattern")
{
	const RandomFilters random(1);
	std::string expression = "u == 0";
	for (int i = 1; i < 200; ++i)
		expression += " or u == " + std::to_string(7 * i);
	const auto matcher = made(random, expression);
	const edc_match_class &cls = matcher->kernel_tables()->cls[350 - 256];
	CHECK(cls.patterns[0] == 1);
	CHECK(cls.dimensions == 1);
}

TEST_CASE("matcher: few values in one range each need no rows")
{
	const RandomFilters random(1);
	const auto tests = [&](const std::string &expression, std::vector<std::string> counts = {}) {
		monitor::MatcherRequest request{expression, {}, {}, true, {}};
		for (const std::string &count : counts)
			request.counts.push_back({"count" + count, count});
		const auto made = make_matcher(request, *random.description, RandomFilters::begin_time, false);
		return made->kernel_tables()->cls[350 - 256].tests;
	};
	CHECK(tests("u == 5") == 1);
	CHECK(tests("u > 5 and small < -3 and tid != 0 and pid != -1") == 4);
	CHECK(tests("u in {5, 7}") == 0);
	CHECK(tests("u > 5 and small < -3 and tid > 0 and pid >= 1 and cpu == 1") == 0);
	CHECK(tests("u > 5", {"small < -3 and tid > 0", "pid >= 1"}) == 4);
	CHECK(tests("u > 5", {"has(u)"}) == 0); // all events of the class count
	CHECK(tests("u > 5 and thread == \"make\"") == 0);
}

TEST_CASE("matcher: says that its tables depend on the time, which may be one condition more once the clock is known")
{
	const RandomFilters random(1);
	const std::string others = "u > 5 and small < -3 and tid != 0 and pid != -1";
	CHECK_FALSE(made(random, others)->uses_time);
	const auto tests = [&](std::uint64_t begin_time) {
		const auto made = make_matcher({others + " and time >= 0ms", {}, {}, true, {}}, *random.description,
					       begin_time, false);
		CHECK(made->uses_time);
		return made->kernel_tables()->cls[350 - 256].tests;
	};
	CHECK(tests(0) == 4); // not known yet
	CHECK(tests(RandomFilters::begin_time) == 0);
}

TEST_CASE("matcher: counts random expressions on random events as filters do")
{
	RandomFilters random(17);
	std::uint64_t counted = 0;
	unsigned without_rows = 0; // classes
	for (int i = 0; i < 300; ++i) {
		monitor::MatcherRequest request{{}, {}, {}, i % 2 == 0, {}};
		std::vector<monitor::filter::Filter> filters;
		for (int n = 0; n < (i % 3 ? 6 : 2); ++n) {
			request.counts.push_back({"count", random.expression()});
			filters.emplace_back(request.counts.back().expression, *random.description,
					     RandomFilters::begin_time);
		}
		std::unique_ptr<EventMatcher> matcher;
		try {
			matcher = make_matcher(request, *random.description, RandomFilters::begin_time, false);
		} catch (const monitor::Error &) {
			continue; // too large
		}
		if (const edc_matcher *tables = matcher->kernel_tables())
			without_rows += static_cast<unsigned>(
			    std::ranges::count_if(tables->cls, [](const edc_match_class &cls) { return cls.tests; }));
		__u64 counts[EDC_MATCH_COUNTS] = {}, expected[EDC_MATCH_COUNTS] = {};
		for (int event = 0; event < 100; ++event) {
			RandomFilters::Sample sample = random.sample();
			for (std::size_t n = 0; n < filters.size(); ++n)
				expected[n] += filters[n].matches(*sample.event, sample.running);
			REQUIRE(matcher->judge(sample.id, sample.value, counts) == request.keeps_tokens);
		}
		for (std::size_t n = 0; n < filters.size(); ++n) {
			INFO(request.counts[n].expression);
			REQUIRE(counts[n] == expected[n]);
			counted += counts[n];
		}
	}
	CHECK(counted > 10'000);
	CHECK(without_rows > 20);
}

TEST_CASE("matcher: without tokens, and with counts, no class is kept for others")
{
	const RandomFilters random(1);
	const monitor::MatcherRequest request{
	    {}, {{"renames", "name == \"task_rename\""}, {"all", "cpu >= 0"}}, {}, false, {}};
	const auto matcher = make_matcher(request, *random.description, RandomFilters::begin_time, false);
	CHECK(decision(*matcher, 262) == EDC_MATCH_NONE);
	CHECK(decision(*matcher, 350) == EDC_MATCH_NONE);
	__u64 value[EDC_MATCH_VALUES] = {}, counts[EDC_MATCH_COUNTS] = {};
	CHECK(!matcher->judge(262, value, counts));
	CHECK(!matcher->judge(350, value, counts));
	CHECK(counts[0] == 1);
	CHECK(counts[1] == 2);
}

TEST_CASE("matcher: what the kernel cannot decide is refused where it is")
{
	CHECK(refusal("u + s > 3").starts_with("7: the kernel compares a value, or VALUE & MASK"));
	CHECK(refusal("id == 1 or u > s").starts_with("14: the kernel compares a value"));
	CHECK(refusal("comm ~ \"a*b\"").starts_with("8: the kernel compares the beginnings of texts"));
	CHECK(refusal("comm ~ \"a?\"").starts_with("8: the kernel compares whole texts"));
	CHECK(refusal("stream ~ \"kernel*\"").starts_with("8: only the reader knows the streams"));
	CHECK(refusal("comm == other").starts_with("6: the kernel compares a text only with constants"));
	CHECK(refusal("pid & 0xffffffffff == 1") != "");
	CHECK(refusal("u + s > 3").ends_with("monitor list DIR --filter 'u + s > 3'"));
	CHECK(refusal("id == 1 or idd == 1").starts_with("12: no event of this trace has a field \"idd\""));
}

TEST_CASE("matcher: names that no class has may be those of classes to come")
{
	const RandomFilters random(1);
	CHECK(refusal("order == 1 and price + 1 > 5", true).empty());
	CHECK(made(random, "order == 1", true)->doubts ==
	      std::vector<std::string>{"no event of the kernel has a field \"order\"."});
	CHECK(made(random, "name == \"order\"", true)->doubts.size() == 1);
	CHECK(refusal("name == \"numberz\"", true).find("numbers") != std::string::npos);
	CHECK(refusal("addres == 1", true).find("address") != std::string::npos);
	CHECK(refusal("abi == \"nativ\"", true).find("native") != std::string::npos);
}

TEST_CASE("matcher: each of many alternatives of a filter and of a count is found")
{
	const RandomFilters random(1);
	std::string expression;
	for (int i = 0; i < 120; ++i)
		expression +=
		    (i ? " or u == " : "u == ") + std::to_string(1000 + 3 * i) + " and s > " + std::to_string(i);
	const monitor::MatcherRequest request{expression, {{"all", expression}}, {}, true, {}};
	const auto matcher = make_matcher(request, *random.description, RandomFilters::begin_time, false);
	REQUIRE(matcher->kernel_tables()->cls[350 - 256].words == 4);
	__u64 counts[EDC_MATCH_COUNTS] = {};
	for (std::uint64_t i = 0; i < 120; ++i) {
		INFO(i);
		for (const bool holds : {true, false}) {
			__u64 value[EDC_MATCH_VALUES] = {};
			value[EDC_VALUE_WORD] = 1000 + 3 * i;
			value[EDC_VALUE_WORD + 1] = i + holds;
			CHECK(matcher->judge(350, value, counts) == holds);
		}
		CHECK(counts[0] == i + 1);
	}
}

TEST_CASE("matcher: there is room for 256 random patterns, and beyond it a sentence")
{
	const RandomFilters random(1);
	const auto patterns = [](int count) {
		std::string expression;
		for (int i = 0; i < count; ++i)
			expression += (i ? " or u == " : "u == ") + std::to_string(1000 + 3 * i) + " and address > " +
				      std::to_string(5 * i * i + 1);
		return expression;
	};
	CHECK(decision(*made(random, patterns(100)), 350) == EDC_MATCH_EVALUATE);
	CHECK(decision(*made(random, patterns(255)), 350) == EDC_MATCH_EVALUATE);
	CHECK_THROWS_WITH(made(random, patterns(300)), Catch::Contains("alternatives"));
}

} // namespace test_matcher
