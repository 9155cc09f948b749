// SPDX-License-Identifier: MIT
// An expression compiled for one event class: tests, each with a target for true and one for false.
// entry -> test -> test -> ... -> accept or reject
// Made by compile(), run per event by Filter::matches. `and`, `or` and `not` are only edges between the tests; what
// depends only on the class needs no test. Runs without allocation; const, so any number of threads may use it.
// Invariants: a test only leads to earlier tests, so a run ends; the stack of a computation has at most max_depth
// values.
#pragma once

#include <cstdint>
#include <vector>

#include "expression.h"
#include "ranges.h"
#include "value_source.h"

namespace monitor::filter {

// A test by its index, or the end of a run.
using Target = std::uint32_t;
inline constexpr Target accept = 0xfffffffe, reject = 0xffffffff;

// Keys order like their values: unsigned, with the sign bit of signed values flipped.
struct KeyRange {
	std::uint64_t first, last;
};

struct Test {
	enum class Kind : std::uint8_t {
		range,    // the source's key within one range
		ranges,   // ... within one of `count` ranges of keys
		computed, // the value of `count` steps within one of `range_count` ranges
		real,     // the source's real number against the constants of a condition
		text,     // a condition accepts the source's text
		texts,    // the source's text compared with that of a step
		present,  // the source has a value
	};

	Kind kind = Kind::present;
	bool negated = false; // text or real
	Relation relation = Relation::equal;
	Target on_true = accept, on_false = reject;
	ValueSource source;
	std::uint64_t flip = 0; // XORed with the source's bits to make a key
	KeyRange range = {0, 0};
	std::uint32_t first = 0, count = 0;             // in keys, or in steps
	std::uint32_t range_first = 0, range_count = 0; // in ranges
	const Expression *condition = nullptr;          // the source of this test
};

// A step of a stack machine: pushes a value, or pops two and pushes the result.
struct Step {
	enum class Kind : std::uint8_t { constant, source, arithmetic, difference };

	Kind kind = Kind::constant;
	Arithmetic arithmetic = Arithmetic::add;
	Integer constant = 0;
	ValueSource source;
	const trace::Clock *clock = nullptr; // of `time`
	std::uint64_t begin_time = 0;
};

class Program {
public:
	// Whether some event of the class may match.
	bool can_match() const { return entry != reject; }

	bool matches(const trace::Event &event, const Running &running) const
	{
		Target at = entry;
		while (at < accept)
			at = holds(tests[at], event, running) ? tests[at].on_true : tests[at].on_false;
		return at == accept;
	}

	// Whether it uses derived values, see ValueSource::is_derived().
	bool is_derived() const;
	// Whether the result depends on an unknown derived value.
	bool is_undecided(const trace::Event &event, const Running &running) const;

	Target entry = reject;
	std::vector<Test> tests;
	std::vector<KeyRange> keys;
	std::vector<Step> steps;
	std::vector<Range> ranges;

private:
	bool holds(const Test &test, const trace::Event &event, const Running &running) const
	{
		if (test.kind == Test::Kind::range) {
			std::uint64_t bits = 0;
			const bool present = test.source.bits(event, running, bits);
			return present && (bits ^ test.flip) - test.range.first <= test.range.last - test.range.first;
		}
		return holds_otherwise(test, event, running);
	}
	bool holds_otherwise(const Test &test, const trace::Event &event, const Running &running) const;
	template <class Matches> bool any_source(const Test &test, Matches &&matches) const;
	bool compute(const Test &test, const trace::Event &event, const Running &running, Integer &value) const;
};

} // namespace monitor::filter
