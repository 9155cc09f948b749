// SPDX-License-Identifier: MIT
// Regular expressions over run lengths: what they match, beside a matcher that tries everything; and what is refused.
#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "reading/states/matcher.h"

namespace test_states_match {

using namespace monitor;
using states::Automaton;
using states::Matcher;
using states::Pattern;
using states::Run;
using states::State;
using states::Tree;

namespace {

using Matches = std::vector<std::pair<std::size_t, std::size_t>>;

const Tree &tree()
{
	static const Tree made = states::parse_tree("of cpu\n"
						    "a: cpu == 1\n"
						    "\tx: cpu == 1\n"
						    "\ty-1: cpu == 1\n"
						    "b: cpu == 1\n"
						    "c: cpu == 1\n"
						    "\tx: cpu == 1\n",
						    "my.tree"); // 1 a/x, 2 a/y-1, 3 a/REST, 4 b, 5 c/x, 6 c/REST
	return made;
}

std::vector<Run> runs_of(const std::vector<int> &states)
{
	std::vector<Run> runs;
	for (const int state : states)
		runs.push_back({0, static_cast<State>(state), runs.size(), runs.size() + 1});
	return runs;
}

Matches found_by(Matcher &matcher, const std::vector<Run> &runs)
{
	Matches found;
	matcher.find(runs, [&](std::size_t first, std::size_t end) { found.emplace_back(first, end); });
	return found;
}

Matches found(const std::string &text, const std::vector<int> &states)
{
	const Automaton automaton(states::parse_pattern(text, tree()), tree());
	Matcher matcher(automaton);
	return found_by(matcher, runs_of(states));
}

std::string refused(const std::string &text)
{
	try {
		const Automaton automaton(states::parse_pattern(text, tree()), tree());
	} catch (const Error &error) {
		return error.what();
	}
	return "accepted";
}

// Where what the pattern matches from `at` on may end: tries everything.
std::set<std::size_t> ends(const Pattern &pattern, const std::vector<Run> &runs, std::size_t at)
{
	std::set<std::size_t> all;
	switch (pattern.kind) {
	case Pattern::Kind::states:
		if (at < runs.size() && pattern.states[runs[at].state])
			all.insert(at + 1);
		return all;
	case Pattern::Kind::sequence: {
		std::set<std::size_t> now = {at};
		for (const Pattern &child : pattern.children) {
			std::set<std::size_t> next;
			for (const std::size_t from : now)
				next.merge(ends(child, runs, from));
			now = next;
		}
		return now;
	}
	case Pattern::Kind::alternatives:
		for (const Pattern &child : pattern.children)
			all.merge(ends(child, runs, at));
		return all;
	case Pattern::Kind::repetition: {
		std::set<std::size_t> now = {at};
		if (pattern.min == 0)
			all = now;
		for (std::uint32_t i = 1; i <= pattern.max && i <= runs.size() + pattern.min && !now.empty(); ++i) {
			std::set<std::size_t> next;
			for (const std::size_t from : now)
				next.merge(ends(pattern.children.front(), runs, from));
			now = next;
			if (i >= pattern.min)
				all.insert(now.begin(), now.end());
		}
		return all;
	}
	}
	return all;
}

Matches tried(const Pattern &pattern, const std::vector<Run> &runs)
{
	Matches found;
	for (std::size_t at = 0; at < runs.size();) {
		const std::set<std::size_t> all = ends(pattern, runs, at);
		const std::size_t end = all.empty() ? at : *all.rbegin();
		if (end > at)
			found.emplace_back(at, end);
		at = std::max(end, at + 1);
	}
	return found;
}

std::string random_pattern(std::mt19937 &random, int depth)
{
	const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
	const char *const leaves[] = {"a", "b", "c", "x", "a/x", "1", "5", ".", "[^b 2]", "[a b]", "REST", "unknown"};
	const char *const after[] = {"*", "+", "?", "{2}", "{1,3}", "{0}", "{2,}"};
	if (depth == 0)
		return leaves[below(std::size(leaves))];
	switch (below(4)) {
	case 0:
		return '(' + random_pattern(random, depth - 1) + '|' + random_pattern(random, depth - 1) + ')';
	case 1:
		return '(' + random_pattern(random, depth - 1) + ')' + after[below(std::size(after))];
	default:
		return random_pattern(random, depth - 1) + ' ' + random_pattern(random, depth - 1);
	}
}

} // namespace

TEST_CASE("states: a pattern matches leftmost, then longest, and matches do not overlap")
{
	CHECK(found("5 1+ 4", {0, 5, 1, 4, 5, 4, 5, 1, 1, 4, 5, 1}) == Matches{{1, 4}, {6, 10}});
	CHECK(found("a+", {1, 2, 4, 3}) == Matches{{0, 2}, {3, 4}});
	CHECK(found("x", {1, 5, 2}) == Matches{{0, 1}, {1, 2}});
	CHECK(found("c/x | a/y-1 b", {1, 5, 2, 4}) == Matches{{1, 2}, {2, 4}});
	CHECK(found("b (a b)*", {4, 1, 4, 2, 4, 1}) == Matches{{0, 5}});
	CHECK(found("b|b 1|1 4 5", {4, 1, 4, 5}) == Matches{{0, 2}, {2, 3}});
	CHECK(found("b{2,3}", {4, 4, 4, 4, 4, 4}) == Matches{{0, 3}, {3, 6}});
	CHECK(found("b{2}", {4, 4, 4}) == Matches{{0, 2}});
	CHECK(found("b{2,}", {4, 0, 4, 4, 4}) == Matches{{2, 5}});
	CHECK(found("b?", {1, 4}) == Matches{{1, 2}}); // none is empty
	CHECK(found("b{0}", {4}).empty());
	CHECK(found(".+", {1, 7, 0, 8, 4}) == Matches{{0, 1}, {2, 3}, {4, 5}}); // neither PAUSE nor unknown
	CHECK(found("[^b]+", {1, 4, 0, 8}) == Matches{{0, 1}, {2, 3}});
	CHECK(found("unknown|PAUSE", {7, 8, 1}) == Matches{{0, 1}, {1, 2}});
	CHECK(found("1(4|5)(1)", {1, 5, 1}) == Matches{{0, 3}}); // blanks are not needed
	CHECK(found("1 4", {}).empty());
}

TEST_CASE("states: what matches is what trying everything finds")
{
	std::mt19937 random(29);
	std::size_t all = 0;
	for (int i = 0; i < 3000; ++i) {
		const std::string text = random_pattern(random, 1 + i % 3);
		CAPTURE(text);
		const Pattern pattern = states::parse_pattern(text, tree());
		const Automaton automaton(pattern, tree());
		Matcher matcher(automaton);
		for (int j = 0; j < 3; ++j) {
			std::vector<int> states(random() % 16);
			for (int &state : states)
				state = static_cast<int>(random() % 9);
			const std::vector<Run> runs = runs_of(states);
			const Matches expected = tried(pattern, runs);
			REQUIRE(found_by(matcher, runs) == expected);
			all += expected.size();
		}
	}
	CHECK(all > 5000);
}

TEST_CASE("states: matches across the blocks of a long sequence, with more sets than are kept")
{
	std::mt19937 random(3);
	std::vector<int> states(30000);
	for (int &state : states)
		state = random() % 2 ? 1 : 4;
	// Whether a run 18 further on matches: nearly every position has its own set.
	const Matches found = test_states_match::found("4 .{17} 1 .{900,}", states);
	const auto is_first = [&](std::size_t at) { return states[at] == 4 && states[at + 18] == 1; };
	std::size_t first = 0;
	while (!is_first(first))
		++first;
	REQUIRE(found == Matches{{first, states.size()}});
	Matches pairs;
	for (std::size_t at = 0; at + 18 < states.size();) {
		if (is_first(at))
			pairs.emplace_back(at, at + 19);
		at += is_first(at) ? 19 : 1;
	}
	CHECK(test_states_match::found("4 .{17} 1", states) == pairs);
}

TEST_CASE("states: a pattern is refused with a caret and what to do")
{
	CHECK(refused("idle") == "match, column 1: this tree has no state idle.\n  idle\n  ^");
	CHECK(refused("b unknwon").find("this tree has no state unknwon. Did you mean unknown?") != std::string::npos);
	CHECK(refused("b 7").find("column 3: this tree has the states 0 to 6") != std::string::npos);
	CHECK(refused("b/x").find("no state b/x") != std::string::npos);
	CHECK(refused("").find("the pattern is empty") != std::string::npos);
	CHECK(refused("b |").find("a state is missing here") != std::string::npos);
	CHECK(refused("(b").find("a ) is missing") != std::string::npos);
	CHECK(refused("b)").find("this ) closes nothing") != std::string::npos);
	CHECK(refused("*").find("a state is expected here, not ") != std::string::npos);
	CHECK(refused("b**").find("use parentheses") != std::string::npos);
	CHECK(refused("b{3,2}").find("larger than the second") != std::string::npos);
	CHECK(refused("b{2,3").find("a } is missing") != std::string::npos);
	CHECK(refused("b{x}").find("a number of repetitions is missing") != std::string::npos);
	CHECK(refused("b{1001}").find("at most 1000 repetitions") != std::string::npos);
	CHECK(refused("[]").find("a state is missing in []") != std::string::npos);
	CHECK(refused("[b").find("a ] is missing") != std::string::npos);
	CHECK(refused(std::string(200, '(') + "b").find("100 levels deep") != std::string::npos);
	CHECK(refused(std::string(5000, '1')).find("at most 4096 bytes") != std::string::npos);
	CHECK(refused("(b{1000}){1000}").find("too large an automaton") != std::string::npos);
	CHECK(refused(".* 4 .{12} 1").find("too large an automaton") != std::string::npos);
	CHECK(refused("((((b{0}){1000}){1000}){1000}){1000} b") == "accepted");
}

} // namespace test_states_match
