// SPDX-License-Identifier: MIT
// Converts an expression to alternatives of ranges of an event's values, which a matcher (include/monitor/matcher.h)
// can decide: the factors of a product are ANDed, products are ORed.
// Program -> disjunction() -> products -> answers/matcher
// Called once per class. What is not a set of ranges of one value is Undecidable: arithmetic beyond a shift and a mask,
// two values compared, real numbers, patterns other than a prefix and *. Invariant: the products of a program are
// disjoint, and together accept the same events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program.h"

namespace monitor::filter {

inline constexpr unsigned max_text_words = 6;

// A number, or a word of a text: 8 characters as a big-endian number, padded with NULs, so that words order as texts
// do.
struct Factor {
	ValueSource source;
	unsigned word = 0;                    // of a text
	unsigned shift = 0;                   // of a number: the key is (value >> shift & mask) ^ flip, where the
	std::uint64_t mask = ~0ull, flip = 0; // value of a signed field is sign-extended to 64 bits
	Ranges accepted;                      // sorted; neither overlap nor touch

	bool is_text() const { return source.from >= ValueSource::From::text_field; }
};

// Each source occurs once. No factors: accepts every event.
using Product = std::vector<Factor>;

// Values that are the same for all judged events.
struct KnownValues {
	std::optional<std::uint64_t> mode, level;
	bool has_thread_names = true; // false: `thread` is absent
};

// Why an expression cannot be decided by ranges.
struct Undecidable {
	std::size_t at = 0; // byte offset in the text of the expression
	std::string why;    // a sentence
};

// No products: accepts no event. Throws Undecidable, also for more than `max_products`.
std::vector<Product> disjunction(const Program &program, const KnownValues &known, std::size_t max_products);

} // namespace monitor::filter
