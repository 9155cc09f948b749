// SPDX-License-Identifier: MIT
// The normalised ratios: the error's bound over all pairs of 64-bit counts, and every code there is.
//
// Why the corners prove the bound: with N = (n + x) 2^s and D = (b + y) 2^s the error n/b - N/D = (n y - b x) / (b (b +
// y)) falls with x, rises with y, and for given x and y is linear in n. So in each exponent its extremes are where x
// and y are least or greatest and n is 0 or b.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "monitor/ratio.h"

namespace test_ratio {

namespace {

using Wide = __int128;
using std::uint32_t, std::uint64_t;

struct Rems16 {
	static constexpr uint32_t bits = 5, hidden = 32;
	static uint32_t encode(uint64_t n, uint64_t d) { return edc_ratio_encode16(n, d); }
	static edc_ratio decode(uint32_t code) { return edc_ratio_decode16(static_cast<__u16>(code)); }
};

struct Rems32 {
	static constexpr uint32_t bits = 13, hidden = 8192;
	static uint32_t encode(uint64_t n, uint64_t d) { return edc_ratio_encode32(n, d); }
	static edc_ratio decode(uint32_t code) { return edc_ratio_decode32(code); }
};

constexpr uint64_t all_ones = ~uint64_t{0};

// What encode(n, d) is to be, computed in another way: by dividing until the denominator fits.
template <class Format> uint32_t plain_code(uint64_t n, uint64_t d)
{
	uint32_t exponent = d >= Format::hidden;
	for (; d >= 2 * Format::hidden; ++exponent) {
		n /= 2;
		d /= 2;
	}
	if (n > d)
		return (2 * Format::hidden - 1) << (Format::bits + 5) |
		       static_cast<uint32_t>(exponent ? Format::hidden - 1 : d) << 5;
	return static_cast<uint32_t>(n) << (Format::bits + 5) | static_cast<uint32_t>(d % Format::hidden) << 5 |
	       std::min(exponent, 31u);
}

// Is everything true that the header says of this pair?
template <class Format> bool holds(uint64_t n, uint64_t d)
{
	const uint32_t code = Format::encode(n, d);
	const edc_ratio ratio = Format::decode(code);
	const uint64_t limit = uint64_t{Format::hidden} << 30;
	if (code != plain_code<Format>(n, d) || Format::encode(ratio.numerator, ratio.denominator) != code ||
	    (ratio.flags & EDC_RATIO_INVALID) || !(ratio.flags & EDC_RATIO_NONE) != (d != 0))
		return false;
	if (ratio.flags & EDC_RATIO_OVER)
		return n > d && !ratio.within && ratio.denominator == std::min(d, uint64_t{Format::hidden} - 1);
	if (!d)
		return !n && code == 0 && !ratio.within && ratio.flags == EDC_RATIO_NONE;
	if (!(ratio.flags & EDC_RATIO_LARGE) != (d < limit) || ratio.numerator > n || ratio.denominator > d)
		return false;
	if (!(ratio.flags & EDC_RATIO_BELOW) != (ratio.numerator || d < 2 * Format::hidden))
		return false;
	if (ratio.flags & EDC_RATIO_BELOW && Wide{n} * Format::hidden >= Wide{d})
		return false;
	if (!ratio.within)
		return d < 2 * Format::hidden && ratio.numerator == n && ratio.denominator == d;
	const Wide difference = Wide{ratio.numerator} * d - Wide{n} * ratio.denominator;
	const Wide error = difference < 0 ? -difference : difference;
	return ratio.within >= Format::hidden && error * ratio.within < Wide{ratio.denominator} * d;
}

// Counts the pairs for which it is not, and keeps the first.
struct Failures {
	uint64_t pairs = 0, count = 0, numerator = 0, denominator = 0;
	template <class Format> void test(uint64_t n, uint64_t d)
	{
		++pairs;
		if (!holds<Format>(n, d) && !count++) {
			numerator = n;
			denominator = d;
		}
	}
	void check() const
	{
		INFO("first " << numerator << " / " << denominator << ", " << pairs << " pairs");
		CHECK(count == 0);
		CHECK(pairs > 0);
	}
};

// All corners of the counts that leave n / b after a shift by `shift`.
template <class Format> void corners(Failures &failures, uint64_t n, uint64_t b, uint32_t shift)
{
	const uint64_t rest = (uint64_t{1} << shift) - 1;
	for (const uint64_t x : {uint64_t{0}, rest})
		for (const uint64_t y : {uint64_t{0}, rest})
			failures.test<Format>(n << shift | x, b << shift | y);
}

bool less_or_equal(const edc_ratio &a, const edc_ratio &b)
{
	return Wide{a.numerator} * b.denominator <= Wide{b.numerator} * a.denominator;
}

bool over(const edc_ratio &ratio)
{
	return (ratio.flags & EDC_RATIO_OVER) != 0;
}

} // namespace

TEST_CASE("ratio: rems16 keeps its bound for every numerator of every small denominator")
{
	Failures failures;
	for (uint64_t d = 0; d < 2048; ++d)
		for (uint64_t n = 0; n <= d + d / 8 + 70; ++n)
			failures.test<Rems16>(n, d);
	failures.check();
}

TEST_CASE("ratio: rems32 keeps its bound for every numerator of small denominators")
{
	Failures failures;
	for (uint64_t d = 0; d < 1024; ++d)
		for (uint64_t n = 0; n <= d + 70; ++n)
			failures.test<Rems32>(n, d);
	std::vector<uint64_t> denominators;
	for (uint64_t d = 1024; d < 70000; d += 1009)
		denominators.push_back(d);
	for (const uint64_t boundary : {8192, 16384, 32768, 65536})
		for (uint64_t d = boundary - 2; d <= boundary + 2; ++d)
			denominators.push_back(d);
	for (const uint64_t d : denominators)
		for (uint64_t n = 0; n <= d + 70; ++n)
			failures.test<Rems32>(n, d);
	failures.check();
}

TEST_CASE("ratio: rems16 keeps its bound at every corner of every normalised pair, over all 64 bits")
{
	Failures failures;
	for (uint32_t shift = 0; shift <= 64 - 6; ++shift)
		for (uint64_t b = 32; b < 64; ++b)
			for (uint64_t n = 0; n < 64; ++n)
				corners<Rems16>(failures, n, b, shift);
	failures.check();
	CHECK(failures.pairs == 59 * 32 * 64 * 4);
}

TEST_CASE("ratio: rems32 keeps its bound at the corners of every normalised denominator, over all 64 bits")
{
	Failures failures;
	for (uint32_t shift = 0; shift <= 64 - 14; ++shift)
		for (uint64_t b = 8192; b < 16384; ++b)
			for (const uint64_t n : {uint64_t{0}, uint64_t{1}, b / 3, b - 1, b, b + 1})
				corners<Rems32>(failures, n, b, shift);
	for (uint32_t shift = 0; shift <= 64 - 14; ++shift)
		for (const uint64_t b : {8192, 8193, 12345, 16383})
			for (uint64_t n = shift; n < 16384; n += 51)
				corners<Rems32>(failures, n, b, shift);
	failures.check();
}

TEMPLATE_TEST_CASE("ratio: the bound holds beside powers of two and for random pairs", "", Rems16, Rems32)
{
	Failures failures;
	std::vector<uint64_t> boundaries{0, all_ones};
	for (uint32_t bit = 0; bit < 64; ++bit)
		for (const uint64_t beside : {uint64_t{0}, uint64_t{1}, all_ones})
			boundaries.push_back((uint64_t{1} << bit) + beside);
	for (const uint64_t d : boundaries)
		for (const uint64_t n : boundaries)
			failures.test<TestType>(n, d);
	std::mt19937_64 random(3663);
	for (int i = 0; i < 1'000'000; ++i) {
		const uint64_t d = random() >> random() % 64;
		failures.test<TestType>(random() >> random() % 64, d);
		failures.test<TestType>(d == all_ones ? random() : random() % (d + 1), d);
	}
	failures.check();
}

TEST_CASE("ratio: the bound cannot be narrower")
{
	// the smallest denominator, and a numerator of which all is cut off
	const uint64_t rest = (uint64_t{1} << 25) - 1;
	const edc_ratio small = edc_ratio_decode16(edc_ratio_encode16(rest, uint64_t{32} << 25));
	CHECK((small.flags & EDC_RATIO_BELOW));
	CHECK(static_cast<double>(rest) / static_cast<double>(uint64_t{32} << 25) == Approx(1 / 32.0).epsilon(1e-6));
	const edc_ratio large = edc_ratio_decode32(edc_ratio_encode32(rest, uint64_t{8192} << 25));
	CHECK((large.flags & EDC_RATIO_BELOW));
	CHECK(static_cast<double>(rest) / static_cast<double>(uint64_t{8192} << 25) ==
	      Approx(1 / 8192.0).epsilon(1e-6));
}

TEST_CASE("ratio: of all 65536 codes those that are made come back, the others are invalid")
{
	std::vector<bool> made(65536);
	for (uint32_t shift = 0; shift <= 31; ++shift)
		for (uint64_t d = 0; d < 64; ++d)
			for (uint64_t n = 0; n < 64; ++n)
				made[edc_ratio_encode16(n << shift, d << shift)] = true;
	uint32_t ratios = 0, marks = 0, invalid = 0, wrong = 0;
	for (uint32_t code = 0; code < 65536; ++code) {
		const edc_ratio ratio = Rems16::decode(code);
		const bool bad = (ratio.flags & EDC_RATIO_INVALID) != 0;
		if (bad)
			wrong += made[code] || ratio.numerator || ratio.denominator || ratio.within;
		else
			wrong += !made[code] || edc_ratio_encode16(ratio.numerator, ratio.denominator) != code;
		invalid += bad;
		marks += over(ratio);
		ratios += !bad && !over(ratio);
	}
	CHECK(wrong == 0);
	CHECK(marks == 32);
	CHECK(ratios == 32 * 33 / 2 + 31 * 32 * (33 + 64) / 2); // n <= d < 32; n <= b in 32 .. 63, 31 exponents
	CHECK(invalid == 65536 - marks - ratios);
}

TEST_CASE("ratio: rems32 codes come back or are invalid")
{
	std::mt19937_64 random(1987);
	uint32_t wrong = 0, good = 0, bad = 0;
	for (uint64_t i = 0; i < 4'000'000; ++i) {
		// every numerator of the smallest exponents, then anything
		const auto code = static_cast<uint32_t>(i < 16384 * 64 ? (i >> 6) << 18 | (i & 63) : random());
		const edc_ratio ratio = edc_ratio_decode32(code);
		const uint32_t n = code >> 18, b = (code >> 5 & 8191) | (code & 31 ? 8192 : 0);
		const bool is_code = n <= b || (!(code & 31) && n == 16383);
		wrong += is_code != !(ratio.flags & EDC_RATIO_INVALID);
		if (is_code)
			wrong += edc_ratio_encode32(ratio.numerator, ratio.denominator) != code;
		else
			wrong += ratio.numerator || ratio.denominator || ratio.within;
		(is_code ? good : bad)++;
	}
	CHECK(wrong == 0);
	CHECK(good > 1'000'000);
	CHECK(bad > 100'000);
}

TEMPLATE_TEST_CASE("ratio: more numerator never reads as less, more denominator never as more", "", Rems16, Rems32)
{
	uint64_t wrong = 0;
	const auto no_less = [&](uint64_t n, uint64_t d, uint64_t more_n, uint64_t less_d) {
		const edc_ratio one = TestType::decode(TestType::encode(n, d));
		const edc_ratio other = TestType::decode(TestType::encode(more_n, less_d));
		wrong += over(one) ? !over(other) : !over(other) && !less_or_equal(one, other);
	};
	for (uint64_t d = 1; d < 600; ++d)
		for (uint64_t n = 0; n < 700; ++n) {
			no_less(n, d, n + 1, d);
			no_less(n, d + 1, n, d);
		}
	std::mt19937_64 random(4);
	for (int i = 0; i < 1'000'000; ++i) {
		const uint64_t d = random() >> random() % 64, n = random() >> random() % 64;
		if (d == 0 || d == all_ones || n == all_ones)
			continue;
		no_less(n, d, n + 1, d);
		no_less(n, d + 1, n, d);
		no_less(n, d, n + random() % (all_ones - n), d);
		no_less(n, d + random() % (all_ones - d), n, d);
	}
	CHECK(wrong == 0);
}

TEST_CASE("ratio: the exponents end where the header says")
{
	CHECK((edc_ratio_encode16(0, 31) & 31) == 0);
	CHECK((edc_ratio_encode16(0, 32) & 31) == 1);
	CHECK((edc_ratio_encode16(0, 63) & 31) == 1);
	CHECK((edc_ratio_encode16(0, 64) & 31) == 2);
	CHECK((edc_ratio_encode16(0, 0xffffffff) & 31) == 27);
	CHECK((edc_ratio_encode16(0, (1ull << 35) - 1) & 31) == 30);
	CHECK((edc_ratio_encode16(0, 1ull << 35) & 31) == 31);
	CHECK((edc_ratio_encode16(0, all_ones) & 31) == 31);
	CHECK((edc_ratio_encode32(0, 8191) & 31) == 0);
	CHECK((edc_ratio_encode32(0, 8192) & 31) == 1);
	CHECK((edc_ratio_encode32(0, 0xffffffff) & 31) == 19);
	CHECK((edc_ratio_encode32(0, (1ull << 43) - 1) & 31) == 30);
	CHECK((edc_ratio_encode32(0, 1ull << 43) & 31) == 31);
	CHECK((edc_ratio_encode32(0, all_ones) & 31) == 31);
}

TEST_CASE("ratio: saturation is marked, and the ratio of large counts holds")
{
	const edc_ratio cycles = edc_ratio_decode16(edc_ratio_encode16(1'000'000'000, 200'000'000'000));
	CHECK(cycles.numerator == 0);
	CHECK(cycles.denominator == 46ull << 30);
	CHECK(cycles.within == 46);
	CHECK(cycles.flags == (EDC_RATIO_LARGE | EDC_RATIO_BELOW));

	const edc_ratio exact = edc_ratio_decode32(edc_ratio_encode32(1'000'000'000, 200'000'000'000));
	CHECK(exact.flags == 0);
	CHECK(exact.numerator == 59ull << 24);
	CHECK(exact.denominator == 11920ull << 24);
	CHECK(exact.within == 11920);

	const edc_ratio half = edc_ratio_decode16(edc_ratio_encode16(1ull << 62, 1ull << 63));
	CHECK(half.flags == EDC_RATIO_LARGE);
	CHECK(half.numerator * 2 == half.denominator);

	const edc_ratio more = edc_ratio_decode16(edc_ratio_encode16(5, 4));
	CHECK(more.flags == EDC_RATIO_OVER);
	CHECK(more.numerator == 63);
	CHECK(more.denominator == 4);
	CHECK(edc_ratio_decode16(edc_ratio_encode16(all_ones, 1)).flags == EDC_RATIO_OVER);
	CHECK(edc_ratio_encode16(all_ones, 1000) == (63u << 10 | 31u << 5));
	CHECK(edc_ratio_encode32(all_ones, 100000) == (16383u << 18 | 8191u << 5));
	CHECK((EDC_RATIO_SATURATED & EDC_RATIO_OVER & ~EDC_RATIO_LARGE) == EDC_RATIO_OVER);

	// An excess that truncation hides reads as 1: it is within the error.
	const edc_ratio one = edc_ratio_decode16(edc_ratio_encode16(1'000'001, 1'000'000));
	CHECK(one.flags == 0);
	CHECK(one.numerator == one.denominator);
}

TEMPLATE_TEST_CASE("ratio: no denominator is no ratio", "", Rems16, Rems32)
{
	CHECK(TestType::encode(0, 0) == 0);
	CHECK(TestType::decode(0).flags == EDC_RATIO_NONE);
	for (const uint64_t n : {uint64_t{1}, uint64_t{1000}, all_ones}) {
		const edc_ratio ratio = TestType::decode(TestType::encode(n, 0));
		CHECK(ratio.flags == (EDC_RATIO_NONE | EDC_RATIO_OVER));
		CHECK(ratio.denominator == 0);
	}
}

TEST_CASE("ratio: a zero is known to be one while the denominator is small, below the error after that")
{
	CHECK(edc_ratio_decode16(edc_ratio_encode16(0, 63)).flags == 0);
	CHECK(edc_ratio_decode16(edc_ratio_encode16(0, 64)).flags == EDC_RATIO_BELOW);
	CHECK(edc_ratio_decode16(edc_ratio_encode16(1, 64)).flags == EDC_RATIO_BELOW);
	CHECK(edc_ratio_decode16(edc_ratio_encode16(2, 64)).flags == 0);
	CHECK(edc_ratio_decode32(edc_ratio_encode32(0, 16383)).flags == 0);
	CHECK(edc_ratio_decode32(edc_ratio_encode32(1, 16384)).flags == EDC_RATIO_BELOW);
	CHECK(edc_ratio_decode32(edc_ratio_encode32(2, 16384)).flags == 0);
	// A numerator of 1 may stand for more than 1/32: what is 1/63 here is almost 2/63.
	const edc_ratio least = edc_ratio_decode16(edc_ratio_encode16(2047, 63 << 10));
	CHECK(least.numerator == 1 << 10);
	CHECK(least.denominator == 63 << 10);
	CHECK(2047 * 32 > 63 << 10);
}

TEST_CASE("ratio: the paper's figures")
{
	// 3.4.1: denominators of 0 to 63 are exact, above that 32 to 63 with the numerator never above, at most 3.125 %
	// off
	uint32_t wrong = 0;
	for (uint64_t d = 1; d < 64; ++d)
		for (uint64_t n = 0; n <= d; ++n) {
			const edc_ratio ratio = edc_ratio_decode16(edc_ratio_encode16(n, d));
			wrong += ratio.within || ratio.numerator != n || ratio.denominator != d;
		}
	CHECK(wrong == 0);
	CHECK(edc_ratio_decode16(edc_ratio_encode16(1, 64)).within == 32);
	CHECK(100.0 / 32 == 3.125);
	// 14, 13 and 5 bits: 0.013 %, as the paper rounds 1/8192
	CHECK(edc_ratio_decode32(edc_ratio_encode32(1, 16384)).within == 8192);
	CHECK(100.0 / 8192 < 0.013);
	CHECK(6 + EDC_RATIO_BITS_16 + EDC_RATIO_EXPONENT_BITS == 16);
	CHECK(14 + EDC_RATIO_BITS_32 + EDC_RATIO_EXPONENT_BITS == 32);
	// the layout
	CHECK(edc_ratio_encode16(3, 7) == (3 << 10 | 7 << 5));
	CHECK(edc_ratio_encode16(40, 50) == (40 << 10 | 18 << 5 | 1));
	CHECK(edc_ratio_encode16(300, 1000) == (18 << 10 | 30 << 5 | 5));
	CHECK(edc_ratio_encode32(300, 1000) == (300u << 18 | 1000u << 5));
	CHECK(edc_ratio_encode32(30000, 100000) == (3750u << 18 | 4308u << 5 | 4));
}

TEST_CASE("ratio: the examples of counters.md")
{
	const auto reads = [](const edc_ratio &ratio, uint64_t n, uint64_t b, uint32_t shift, uint32_t flags) {
		return ratio.numerator == n << shift && ratio.denominator == b << shift && ratio.flags == flags;
	};
	CHECK(reads(edc_ratio_decode16(edc_ratio_encode16(40, 50)), 40, 50, 0, 0));
	CHECK(reads(edc_ratio_decode16(edc_ratio_encode16(300, 1000)), 18, 62, 4, 0));
	CHECK(reads(edc_ratio_decode16(edc_ratio_encode16(30'000, 100'000)), 14, 48, 11, 0));
	CHECK(reads(edc_ratio_decode16(edc_ratio_encode16(20'000, 1'000'000)), 1, 61, 14, 0));
	CHECK(reads(edc_ratio_decode32(edc_ratio_encode32(40, 50)), 40, 50, 0, 0));
	CHECK(reads(edc_ratio_decode32(edc_ratio_encode32(300, 1000)), 300, 1000, 0, 0));
	CHECK(reads(edc_ratio_decode32(edc_ratio_encode32(30'000, 100'000)), 3750, 12500, 3, 0));
	CHECK(reads(edc_ratio_decode32(edc_ratio_encode32(20'000, 1'000'000)), 312, 15625, 6, 0));
	// a duration is count / time
	CHECK(edc_ratio_decode16(edc_ratio_encode16(1000, 33'000)).flags == EDC_RATIO_BELOW);
	CHECK(edc_ratio_decode16(edc_ratio_encode16(1000, 15'000)).flags == 0);
	CHECK(edc_ratio_decode32(edc_ratio_encode32(1000, 17'000'000)).flags == EDC_RATIO_BELOW);
}

} // namespace test_ratio
