// SPDX-License-Identifier: MIT
#include "matcher_tables.h"

#include <bit>

#include "base/error.h"

namespace monitor::matcher {
namespace {

using filter::Factor;
using filter::Range;
using filter::Ranges;
using From = filter::ValueSource::From;

constexpr std::uint64_t max_key = ~std::uint64_t(0);

[[noreturn]] void fail_full(std::size_t capacity, const char *of)
{
	throw Error("the expression is too large for the kernel, whose tables have room for {} {}", capacity, of);
}

// Where a value is in an event, and how its key is made.
struct ValuePosition {
	unsigned value = 0, shift = 0;
	std::uint64_t mask = max_key, flip = 0;
	bool is_text = false;
	unsigned word = 0; // of a text

	bool operator==(const ValuePosition &other) const = default;
};

ValuePosition position_of_field(const Factor &factor)
{
	const trace::Field &field = *factor.source.field.field();
	ValuePosition position;
	const unsigned word = field.offset_bits / 64;
	position.value = word == 0 ? EDC_VALUE_ARGUMENT : EDC_VALUE_WORD + word - 1 + factor.word;
	if (factor.is_text()) {
		position.is_text = true;
		position.word = factor.word;
		return position;
	}
	const unsigned first = word == 0 ? field.offset_bits - EDC_ARG_SHIFT : field.offset_bits % 64;
	position.shift = first + factor.shift;
	const std::uint64_t field_mask = field.size_bits < 64 ? (std::uint64_t(1) << field.size_bits) - 1 : max_key;
	position.mask = (field_mask >> factor.shift) & factor.mask;
	position.flip = factor.flip ? std::uint64_t(1) << (field.size_bits - 1) : 0;
	return position;
}

ValuePosition position_of(const Factor &factor)
{
	ValuePosition position;
	position.shift = factor.shift;
	position.mask = factor.mask;
	position.flip = factor.flip;
	switch (factor.source.from) {
	case From::cpu:
		position.value = EDC_VALUE_CPU;
		return position;
	case From::level:
		position.value = EDC_VALUE_LEVEL;
		return position;
	case From::tid:
		position.value = EDC_VALUE_TID;
		return position;
	case From::time:
		position.value = EDC_VALUE_TIME;
		return position;
	case From::thread:
		return {EDC_VALUE_NAME + factor.word, 0, max_key, 0, true, factor.word};
	case From::field:
	case From::text_field:
		return position_of_field(factor);
	default:
		throw Error("a value of this kind cannot be judged while recording");
	}
}

// Keys as the event has them: in a factor, those of a signed field are sign-extended to 64 bits.
Ranges ranges_of(const Factor &factor, const ValuePosition &position)
{
	if (!factor.flip || position.flip == factor.flip)
		return factor.accepted;
	const std::uint64_t lowest = factor.flip - position.flip, highest = lowest + 2 * position.flip - 1;
	Ranges ranges = clipped(factor.accepted, {lowest, highest});
	for (Range &range : ranges)
		range = {range.first - lowest, range.last - lowest};
	return ranges;
}

bool accepts(const Ranges &ranges, std::uint64_t key)
{
	return std::any_of(ranges.begin(), ranges.end(),
			   [key](const Range &range) { return key >= range.first && key <= range.last; });
}

struct Dimension {
	ValuePosition position;
	std::vector<std::pair<std::size_t, Ranges>> accepted; // accepted ranges per pattern

	// Starts of intervals, except 0.
	std::vector<std::uint64_t> bounds() const
	{
		std::vector<std::uint64_t> all;
		for (const auto &[pattern, ranges] : accepted)
			for (const Range &range : ranges) {
				if (range.first != 0)
					all.push_back(static_cast<std::uint64_t>(range.first));
				if (range.last != max_key)
					all.push_back(static_cast<std::uint64_t>(range.last + 1));
			}
		std::sort(all.begin(), all.end());
		all.erase(std::unique(all.begin(), all.end()), all.end());
		return all;
	}
};

void add(edc_matcher &matcher, EventMatcher::Used &used, const Dimension &dimension, std::size_t patterns)
{
	const std::vector<std::uint64_t> bounds = dimension.bounds();
	const bool is_direct = bounds.empty() || bounds.back() <= EDC_MATCH_DIRECT;
	const std::size_t rows = is_direct ? (bounds.empty() ? 1 : bounds.back() + 1) : bounds.size() + 1;
	unsigned steps = 0;
	while (!is_direct && (std::size_t(1) << steps) - 1 < bounds.size())
		++steps;
	const std::size_t padded = (std::size_t(1) << steps) - 1;
	if (used.dimensions == EDC_MATCH_DIMENSIONS)
		fail_full(EDC_MATCH_DIMENSIONS, "values of all classes of events");
	if (steps > EDC_MATCH_STEPS)
		fail_full((1u << EDC_MATCH_STEPS) - 1, "different constants of one value");
	if (used.bounds + padded > EDC_MATCH_BOUNDS || used.rows + rows > EDC_MATCH_ROWS)
		fail_full(EDC_MATCH_ROWS, "different constants");
	matcher.dimension[used.dimensions++] = {dimension.position.mask,
						dimension.position.flip,
						dimension.position.value,
						dimension.position.shift,
						used.bounds,
						steps,
						used.rows,
						static_cast<unsigned>(rows - 1)};
	for (std::size_t i = 0; i < padded; ++i)
		matcher.bound[used.bounds++] = i < bounds.size() ? bounds[i] : max_key;
	for (std::size_t row = 0; row < rows; ++row, ++used.rows) {
		__u64 *bits = matcher.row[used.rows];
		for (std::size_t i = 0; i < patterns; ++i)
			bits[i / 64] |= std::uint64_t(1) << i % 64; // patterns without a condition on it
		const std::uint64_t key = is_direct ? row : row ? bounds[row - 1] : 0;
		for (const auto &[pattern, ranges] : dimension.accepted)
			if (!accepts(ranges, key))
				bits[pattern / 64] &= ~(std::uint64_t(1) << pattern % 64);
	}
}

// Whether all keys but those in the middle are accepted: one range that wraps around.
bool wraps_around(const Ranges &ranges, const ValuePosition &position)
{
	return ranges.size() == 2 && ranges[0].first == 0 && ranges[1].last >= position.mask;
}

// A class with few conditions needs no rows.
void add_tests(edc_match_class &cls, const std::vector<Tables::Pattern> &patterns)
{
	unsigned tests = 0;
	for (const auto &[product, target] : patterns) {
		if (product.empty() || (target != Tables::keep_target && target >= EDC_TARGET_STARTS))
			return;
		for (const Factor &factor : product) {
			const ValuePosition position = position_of(factor);
			const Ranges ranges = ranges_of(factor, position);
			if (tests == EDC_MATCH_TESTS || position.is_text ||
			    (ranges.size() != 1 && !wraps_around(ranges, position)))
				return;
			edc_match_test &test = cls.test[tests++];
			test.mask = position.mask;
			test.flip = position.flip;
			test.lowest = static_cast<std::uint64_t>(ranges.back().first);
			test.span = static_cast<std::uint64_t>(ranges.front().last) - test.lowest;
			test.value = static_cast<__u8>(position.value);
			test.shift = static_cast<__u8>(position.shift);
			test.is_last = &factor == &product.back();
			test.target = static_cast<__u8>(target == Tables::keep_target ? EDC_MATCH_COUNTS : target);
		}
	}
	cls.tests = tests;
}

edc_match_key key_of(const filter::ValueSource &source)
{
	Factor factor;
	factor.source = source;
	const ValuePosition position = position_of(factor);
	return {static_cast<__u8>(position.value), static_cast<__u8>(position.shift),
		static_cast<__u8>(std::bit_width(position.mask)), source.is_signed};
}

} // namespace

void Tables::add(unsigned slot, const ClassConditions &conditions)
{
	const std::vector<Pattern> &patterns = conditions.patterns;
	if (patterns.size() > EDC_MATCH_PATTERNS)
		fail_full(EDC_MATCH_PATTERNS, "alternatives of one class of events");
	std::vector<Dimension> dimensions;
	edc_match_class &cls = matcher_.cls[slot];
	cls.decision = conditions.decision;
	cls.counted = conditions.counted;
	cls.belongs = conditions.belongs;
	cls.has_patterns = !patterns.empty();
	cls.whole = cls.has_patterns || cls.counted || cls.belongs ? EDC_MATCH_EVALUATE : cls.decision;
	const bool only_counts = std::has_single_bit(cls.counted) && !cls.has_patterns && !cls.belongs;
	cls.in_probe = only_counts
			   ? EDC_MATCH_COUNTS_ALL(static_cast<unsigned>(std::countr_zero(cls.counted)), cls.decision)
			   : cls.whole;
	cls.words = static_cast<unsigned>((patterns.size() + 63) / 64);
	for (std::size_t i = 0; i < patterns.size(); ++i) {
		cls.patterns[i / 64] |= std::uint64_t(1) << i % 64;
		if (patterns[i].target == keep_target)
			cls.keeping[i / 64] |= std::uint64_t(1) << i % 64;
		for (const Factor &factor : patterns[i].product) {
			const ValuePosition position = position_of(factor);
			auto found = std::find_if(dimensions.begin(), dimensions.end(),
						  [&](const Dimension &other) { return other.position == position; });
			if (found == dimensions.end())
				found = dimensions.insert(found, {position, {}});
			found->accepted.emplace_back(i, ranges_of(factor, position));
		}
	}
	cls.first_target = used_.targets;
	if (used_.targets + patterns.size() > EDC_MATCH_TARGETS)
		fail_full(EDC_MATCH_TARGETS, "alternatives of all classes of events");
	for (const Pattern &pattern : patterns)
		matcher_.target[used_.targets++] =
		    static_cast<__u8>(pattern.target == keep_target ? 0 : pattern.target);
	if (dimensions.size() > EDC_MATCH_VALUES_USED)
		fail_full(EDC_MATCH_VALUES_USED, "values of one class of events");
	cls.first = used_.dimensions;
	cls.dimensions = static_cast<unsigned>(dimensions.size());
	for (const Dimension &dimension : dimensions) {
		matcher::add(matcher_, used_, dimension, patterns.size());
		cls.wanted |= 1u << dimension.position.value;
		if (!dimension.position.is_text)
			continue;
		const unsigned first = dimension.position.value - dimension.position.word;
		for (unsigned value = first; value <= dimension.position.value; ++value)
			cls.texts |= 1u << value; // whether the text has ended depends on its earlier words
		cls.text_starts |= 1u << first;
	}
	for (const auto &[target, source] : conditions.keys) {
		const edc_match_key key = key_of(source);
		matcher_.key[target - EDC_TARGET_STARTS][slot] = key;
		cls.wanted |= 1u << key.value;
	}
	if (conditions.has_times())
		cls.wanted |= 1u << EDC_VALUE_TIME;
	else if (!cls.counted)
		add_tests(cls, patterns);
}

} // namespace monitor::matcher
