// SPDX-License-Identifier: MIT
// The language of rules: every form against a plain evaluation of all pairs of events on small random traces.
#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "answers/rules/run.h"
#include "base/error.h"
#include "reading/events/merge.h"
#include "samples.h"

namespace test_rules {

using namespace monitor;

namespace {

// Letters as events: A, B, C and F with a key and a value.
const std::string classes = samples::event_block(256, "A", "u16_t key; u32_t value; u32_t other;") +
			    samples::event_block(257, "B", "u16_t key; u32_t value; u32_t other;") +
			    samples::event_block(258, "C", "u16_t key; u32_t value; u32_t other;") +
			    samples::event_block(259, "F", "u16_t key; u32_t value; u32_t other;") +
			    samples::event_block(260, "unseen", "u16_t nothing;");

struct Letter {
	char name;
	unsigned key;
	std::uint64_t time, value;
	bool behind_loss = false;
};
using Letters = std::vector<Letter>;

rules::Outcome outcome(const Letters &letters, const std::string &rule)
{
	std::vector<samples::StreamWriter> writers{{0, 0}};
	writers[0].open(1000);
	std::uint64_t lost = 0;
	for (const Letter &letter : letters) {
		if (letter.behind_loss)
			writers[0].open(letter.time - 1, ++lost);
		writers[0].post(letter.time, 256 + (letter.name == 'F' ? 3 : static_cast<unsigned>(letter.name - 'A')),
				letter.key, {letter.value});
	}
	trace::Trace trace = samples::trace(writers, classes);
	return rules::run(trace, rules::parse_rules("rule: r\n" + rule, "test"), {1000, false}).at(0);
}

Letters random_letters(std::mt19937 &numbers, bool with_losses)
{
	Letters letters;
	std::uint64_t time = 1000;
	const unsigned count = numbers() % 14;
	for (unsigned i = 0; i < count; ++i) {
		time += 1 + numbers() % 20;
		letters.push_back({"ABCF"[std::min(numbers() % 5, 3UL)], static_cast<unsigned>(numbers() % 2), time,
				   numbers() % 3, with_losses && numbers() % 8 == 0});
	}
	return letters;
}

// The letters of one key between losses, as the rules see them: nothing is carried from one part to the next.
std::vector<Letters> parts(const Letters &letters)
{
	std::vector<Letters> made;
	for (unsigned key = 0; key < 2; ++key) {
		made.emplace_back();
		for (const Letter &letter : letters) {
			if (letter.behind_loss)
				made.emplace_back();
			if (letter.key == key)
				made.back().push_back(letter);
		}
	}
	return made;
}

using Oracle = std::size_t (*)(const Letters &);

// Every A with the first B or A after it, by looking at all of them.
std::size_t answers_late(const Letters &part)
{
	std::size_t violated = 0;
	for (std::size_t i = 0; i < part.size(); ++i) {
		const auto before =
		    std::find_if(part.rend() - static_cast<std::ptrdiff_t>(i), part.rend(),
				 [](const Letter &each) { return each.name == 'A' || each.name == 'B'; });
		if (part[i].name != 'A' || (before != part.rend() && before->name == 'A'))
			continue; // not the first one of its case
		const auto end = std::find_if(part.begin() + static_cast<std::ptrdiff_t>(i), part.end(),
					      [](const Letter &each) { return each.name == 'B'; });
		violated += end != part.end() && end->time - part[i].time > 15;
	}
	return violated;
}

// C while some A has no B yet; a case is reported once.
std::size_t came_between(const Letters &part)
{
	std::size_t violated = 0;
	for (std::size_t i = 0; i < part.size(); ++i) {
		if (part[i].name != 'C')
			continue;
		for (std::size_t j = i; j-- > 0 && part[j].name != 'B' && part[j].name != 'C';)
			if (part[j].name == 'A') {
				++violated;
				break;
			}
	}
	return violated;
}

// B that has no A since the B before, if an A or B was before.
std::size_t ends_alone(const Letters &part)
{
	std::size_t violated = 0;
	std::string seen;
	for (const Letter &each : part) {
		if (each.name == 'B' && !seen.empty() && seen.back() == 'B')
			++violated;
		if (each.name == 'A' || each.name == 'B')
			seen += each.name;
	}
	return violated;
}

// Pairs as a text editor would match brackets; the values of each pair differ.
std::size_t nested_values(const Letters &part)
{
	std::size_t violated = 0;
	for (std::size_t i = 0; i < part.size(); ++i) {
		int depth = 1;
		for (std::size_t j = i + 1; part[i].name == 'A' && j < part.size() && depth > 0; ++j) {
			depth += part[j].name == 'A' ? 1 : part[j].name == 'B' ? -1 : 0;
			violated += depth == 0 && part[j].value != part[i].value;
		}
	}
	return violated;
}

std::size_t neighbours_fall(const Letters &part)
{
	std::optional<std::uint64_t> before;
	std::size_t violated = 0;
	for (const Letter &each : part)
		if (each.name == 'A') {
			violated += before && each.value < *before;
			before = each.value;
		} else if (each.name == 'F') {
			before.reset();
		}
	return violated;
}

// The first B after each A, unless a C is between; another A takes its place.
std::size_t came_after(const Letters &part)
{
	std::size_t violated = 0;
	for (std::size_t i = 0; i < part.size(); ++i)
		for (std::size_t j = i + 1; part[i].name == 'A' && j < part.size(); ++j) {
			if (part[j].name == 'A' || part[j].name == 'C')
				break;
			if (part[j].name == 'B') {
				++violated;
				break;
			}
		}
	return violated;
}

// B where the last of A and C before it is a C.
std::size_t came_without(const Letters &part)
{
	std::size_t violated = 0;
	for (std::size_t i = 0; i < part.size(); ++i)
		for (std::size_t j = i; part[i].name == 'B' && j-- > 0;)
			if (part[j].name == 'A' || part[j].name == 'C') {
				violated += part[j].name == 'C';
				break;
			}
	return violated;
}

std::size_t values_of_zero(const Letters &part)
{
	return static_cast<std::size_t>(std::count_if(
	    part.begin(), part.end(), [](const Letter &each) { return each.name == 'A' && each.value == 0; }));
}

struct Case {
	const char *rule;
	Oracle oracle;
};

constexpr Case cases[] = {
    {"never: name == \"A\" and value == 0", values_of_zero},
    {"for: name == \"A\"\nholds: value != 0", values_of_zero},
    {"when: name == \"A\"\nthen: name == \"B\"\nkey: key\nwithin: 1s", [](const Letters &) { return std::size_t(0); }},
    {"when: name == \"A\"\nthen: name == \"B\"\nkey: key\nnot between: name == \"C\"", came_between},
    {"when: name == \"A\"\nonly then: name == \"B\"\nkey: key", ends_alone},
    {"when: name == \"A\"\nthen: name == \"B\"\nkey: key\nnested: yes\nsame: value", nested_values},
    {"for: name == \"A\"\nfollows: value >= value\nkey: key\nforget: name == \"F\"", neighbours_fall},
    {"when: name == \"A\"\nnever: name == \"B\"\nuntil: name == \"C\"\nkey: key", came_after},
    {"for: name == \"B\"\nafter: name == \"A\"\nuntil: name == \"C\"\nkey: key", came_without},
};

std::string error_of(const std::string &rules)
{
	try {
		std::vector<samples::StreamWriter> none;
		trace::Trace trace = samples::trace(none, classes);
		rules::run(trace, rules::parse_rules(rules, "test"), {});
	} catch (const Error &error) {
		return error.what();
	}
	return "";
}

} // namespace

TEST_CASE("rules: forms find what a plain evaluation finds, on random traces")
{
	std::mt19937 numbers(4711);
	for (int i = 0; i < 500; ++i) {
		const Letters letters = random_letters(numbers, i % 2);
		for (const Case &each : cases) {
			std::size_t expected = 0;
			for (const Letters &part : parts(letters))
				expected += each.oracle(part);
			const rules::Outcome found = outcome(letters, each.rule);
			INFO(each.rule << "\n" << found.text);
			REQUIRE(found.tally.violated == expected);
			REQUIRE(found.shown.size() == expected);
			REQUIRE((found.verdict == rules::Outcome::Verdict::fails) == (expected > 0));
		}
	}
}

TEST_CASE("rules: what occurs while events of another CPU are lost is not judged together with others")
{
	const auto judged = [](const std::string &rule) {
		std::vector<samples::StreamWriter> writers{{0, 0}, {1, 0}};
		writers[1].open(1000);
		writers[1].post(1000, 259, 0, {0});
		writers[1].open(1100, 3); // three are lost between 1000 and 1100
		writers[1].post(1100, 259, 0, {0});
		writers[0].open(1000);
		for (const auto &[time, id] : {std::pair(1010, 256), std::pair(1020, 257), std::pair(1030, 257),
					       std::pair(1040, 256), std::pair(1200, 258), std::pair(1210, 257)})
			writers[0].post(static_cast<std::uint64_t>(time), static_cast<unsigned>(id), 0, {0});
		trace::Trace trace = samples::trace(writers, classes);
		return rules::run(trace, rules::parse_rules("rule: r\n" + rule, "test"), {1000, false}).at(0).tally;
	};
	const rules::Tally between =
	    judged("when: name == \"A\"\nthen: name == \"B\"\nkey: key\nnot between: name == \"C\"");
	CHECK(between.judged == 0);
	CHECK(between.unknown == 4);
	CHECK(judged("when: name == \"A\"\nonly then: name == \"B\"\nkey: key").violated == 0);
	CHECK(judged("when: name == \"A\"\nnever: name == \"C\"\nuntil: name == \"B\"\nkey: key").violated == 0);
	CHECK(judged("never: name == \"A\"").violated == 2);
}

TEST_CASE("rules: a time that is over is a violation, with both events or at the end")
{
	std::mt19937 numbers(42);
	for (int i = 0; i < 2000; ++i) {
		const Letters letters = random_letters(numbers, false);
		std::size_t expected = 0;
		for (Letters part : parts(letters)) {
			if (!letters.empty()) // the end of the trace is as an end of what is open
				part.push_back({'B', 0, letters.back().time, 0});
			expected += answers_late(part);
		}
		const auto found = outcome(letters, "when: name == \"A\"\nthen: name == \"B\"\nkey: key\nwithin: 15ns");
		REQUIRE(found.tally.violated == expected);
	}
}

TEST_CASE("rules: so many are open at most, and what is open may have to end")
{
	const Letters three = {{'A', 0, 1010, 0}, {'A', 0, 1020, 0}, {'A', 0, 1030, 0}, {'B', 0, 1040, 0}};
	const std::string pair = "when: name == \"A\"\nthen: name == \"B\"\nkey: key\n";
	CHECK(outcome(three, pair + "at most: 3").tally.violated == 0);
	CHECK(outcome(three, pair + "at most: 2").tally.violated == 1);
	CHECK(outcome(three, pair + "at most: 1").tally.violated == 2);
	CHECK(outcome(three, pair + "nested: yes").tally.open == 2);
	CHECK(outcome(three, pair + "nested: yes\nallow open: no").tally.violated == 2);
	CHECK(outcome(three, pair + "nested: yes\nallow open: at loss").tally.violated == 2);
	CHECK(outcome(three, pair + "nested: yes\nallow open: at end").tally.violated == 0);
}

TEST_CASE("rules: a begin, a set and what is before the begin")
{
	const Letters letters = {{'B', 1, 1010, 1}, {'C', 1, 1020, 1}, {'B', 0, 1030, 0}, {'B', 1, 1040, 1}};
	CHECK(outcome(letters, "never: name == \"B\"").tally.violated == 3);
	CHECK(outcome(letters, "never: name == \"B\"\nbegin: name == \"C\"").tally.violated == 2);
	CHECK(outcome(letters, "never: name == \"B\"\namong: value of name == \"C\"\nmembers: value").tally.violated ==
	      1);
	CHECK(
	    outcome(letters, "never: name == \"B\"\namong: 0, value of name == \"C\"\nmembers: value").tally.violated ==
	    2);
	const std::string after = "for: name == \"B\"\nafter: name == \"A\"\nkey: key\n";
	CHECK(outcome(letters, after).tally.unknown == 3);
	CHECK(outcome(letters, after + "before begin: nothing").tally.violated == 3);
	Letters lossy = letters;
	lossy[2].behind_loss = true; // what was before is unknown again
	CHECK(outcome(lossy, after + "before begin: nothing").tally.violated == 1);
	const Letters leaving = {{'C', 0, 1010, 1}, {'B', 0, 1020, 1}, {'F', 0, 1030, 1}, {'B', 0, 1040, 1}};
	const std::string set = "never: name == \"B\"\namong: value of name == \"C\"\nmembers: value\n";
	CHECK(outcome(leaving, set).tally.violated == 2);
	CHECK(outcome(leaving, set + "leaves: value of name == \"F\"").tally.violated == 1);
}

TEST_CASE("rules: no more keys are kept than the bound, and those with nothing open make room")
{
	std::vector<samples::StreamWriter> writers{{0, 0}};
	writers[0].open(1000);
	for (unsigned i = 0; i < 40; ++i)
		writers[0].post(1001 + i, i < 20 ? 256 + i % 2 : 256, i / 2, {0});
	trace::Trace trace = samples::trace(writers, classes);
	const auto texts =
	    rules::parse_rules("rule: r\nwhen: name == \"A\"\nonly then: name == \"B\"\nkey: key", "test");
	const rules::Rule rule = rules::compile(texts[0], trace.description(), trace.begin_time());
	rules::Judge judge(rule, trace.description().clock, 5, 4);
	trace::merge(trace, {}, [&](const trace::Event &event) { judge.event(event, {}); });
	judge.finish(2000);
	CHECK(judge.tally().judged == 10);   // keys 0 to 9: each ended, so they make room
	CHECK(judge.tally().open == 4);      // of keys 10 to 19 the first four
	CHECK(judge.tally().too_many == 12); // both starts of each of the others
}

TEST_CASE("rules: without a key, and with that of a message, events of two machines pair; CPUs are of their machine")
{
	std::vector<samples::StreamWriter> writers{{0, 0}, {0, 0}};
	for (samples::StreamWriter &writer : writers)
		writer.open(1000);
	writers[0].post(1010, 256, 7, {0}); // A here, B there, then one pair on each
	writers[1].post(1020, 257, 7, {0});
	writers[0].post(1030, 256, 8, {0});
	writers[1].post(1031, 256, 9, {0});
	writers[1].post(1040, 257, 9, {0});
	writers[0].post(1050, 257, 8, {0});
	std::vector<std::unique_ptr<trace::Stream>> streams;
	for (std::uint32_t machine = 0; machine < 2; ++machine) {
		streams.push_back(samples::stream("s" + std::to_string(machine), writers[machine].bytes()));
		streams.back()->set_machine(machine);
	}
	trace::Trace trace(samples::description(classes), std::move(streams));
	const auto tally_of = [&](const std::string &key) {
		const auto texts =
		    rules::parse_rules("rule: r\nwhen: name == \"A\"\nonly then: name == \"B\"\n" + key, "test");
		const rules::Rule rule = rules::compile(texts[0], trace.description(), trace.begin_time());
		rules::Judge judge(rule, trace.description().clock, 5);
		trace::merge(trace, {}, [&](const trace::Event &event) { judge.event(event, {}); });
		judge.finish(2000);
		return std::pair(judge.tally().judged, judge.tally().unknown);
	};
	CHECK(tally_of("key: key") == std::pair<std::uint64_t, std::uint64_t>(3, 0));
	CHECK(tally_of("nested: yes") == std::pair<std::uint64_t, std::uint64_t>(3, 0));
	CHECK(tally_of("key: cpu") == std::pair<std::uint64_t, std::uint64_t>(2, 1));
	CHECK(tally_of("key: stream") == std::pair<std::uint64_t, std::uint64_t>(2, 1));
	CHECK(tally_of("key: value = cpu") == std::pair<std::uint64_t, std::uint64_t>(2, 1));
}

TEST_CASE("rules: events are shown as the listing prints them")
{
	const auto found = outcome({{'A', 7, 1010, 3}}, "never: name == \"A\"");
	REQUIRE(found.shown.size() == 1);
	CHECK(found.shown[0].events.at(0).find("A key=7 value=3 other=0") != std::string::npos);
}

TEST_CASE("rules: what the trace does not have")
{
	using Verdict = rules::Outcome::Verdict;
	const Letters one = {{'A', 0, 1010, 0}};
	CHECK(outcome(one, "never: name == \"missing\"").verdict == Verdict::not_checked);
	CHECK(outcome(one, "for: name == \"B\"\nholds: value == 0").verdict == Verdict::not_checked);
	CHECK(outcome(one, "never: name == \"B\"").verdict == Verdict::holds);
	CHECK(outcome(one, "never: name == \"A\"\nneeds: B").verdict == Verdict::not_checked);
	CHECK(outcome(one, "never: name == \"A\"\nneeds: A").verdict == Verdict::fails);
}

TEST_CASE("rules: errors have their place")
{
	const auto says = [](const std::string &rules, const char *what) {
		const std::string error = error_of(rules);
		INFO(error);
		CHECK(error.find(what) != std::string::npos);
	};
	says("", "test: it has no rule");
	says("rule: r\nwhen", "test, line 2: expected a word and a colon");
	says("rule: r\nwithn: a", "line 2: withn is not a keyword of rules. Did you mean within");
	says("when: a", "line 1: `when:` belongs below a `rule:`");
	says("rule: r\nkey: key", "line 1: the rule demands nothing");
	says("rule: r\nnever: value == 1\nnever: value == 1", "line 3: the rule has `never:` twice");
	says("rule: r\nnever: value == 1\nkey: key", "line 3: `key:` does not go with `never:`");
	says("rule: r\nnever: name == \"A\" and valu == 1", "line 2: filter, column 17");
	says("rule: r\nnever: value ==", "line 2: filter, column 9");
	says("rule: r\nwhen: name == \"A\"\nthen: name == \"B\"\nkey: nothing",
	     "line 4: no event that `when:` selects has");
	says("rule: r\nwhen: name == \"A\"\nthen: name == \"B\"\nkey: key = name",
	     "line 4: key is a number, name a text: they are never equal.");
	says("r: name == \"A\" then name == \"B\" per nothing", "line 1: no event that `when:` selects has nothing.");
	says("rule: r\nfor: name == \"A\"\nwithin: 10", "line 3: 10 is not a duration, such as 100ms");
	says("rule: r\nfor: name == \"A\"\nfollows: value = valu", "line 3: no event of this trace has a field valu");
	says("rule: r\nfor: name == \"A\"\nfollows: value = value + x", "line 3: a number is missing after +");
	says("rule: r\nwhen: name == \"A\"\nthen: name == \"B\"\nat most: 65",
	     "line 4: 65 is not a number from 1 to 64");
}

TEST_CASE("rules: a relation that does not hold is said with its values")
{
	const Letters two = {{'A', 1, 1000, 3}, {'B', 1, 1010, 5}};
	const rules::Outcome said =
	    outcome(two, "when: name == \"A\"\nthen: name == \"B\"\nkey: key\nsame: value <= value");
	REQUIRE(said.shown.size() == 1);
	CHECK(said.shown[0].what == "value <= value does not hold: value is 5, value was 3");
}

} // namespace test_rules
