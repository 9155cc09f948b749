/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * REMS's normalised ratios: two 64-bit counts as one 16-bit or 32-bit code.
 *
 *           15      10 9         5 4         0             31       18 17          5 4         0
 *          +----------+-----------+-----------+           +-----------+-------------+-----------+
 *   rems16 |   n (6)  |   d (5)   |   e (5)   |    rems32 |   n (14)  |   d (13)    |   e (5)   |
 *          +----------+-----------+-----------+           +-----------+-------------+-----------+
 *
 * n: numerator, d: denominator, e: their common exponent; H is 32 in rems16 and 8192 in rems32.
 *
 *   e = 0        n / d                                      denominators below H, as they are
 *   e = 1 .. 30  n << (e - 1) / (H + d) << (e - 1)          the denominator's leading one is hidden
 *   e = 31       n / (H + d), both times 2^30 or more       the counts are saturated, the ratio is not
 *
 * A ratio is at most 1, so n is never above the whole denominator b (d, or H + d) in any of these. Both counts are
 * truncated, as the hardware shifts them out. With N = n + x, D = b + y, 0 <= x, y < 1 (in units of the last bit kept)
 * the error n/b - N/D = (n y - b x) / (b (b + y)) lies between -1/b and 1/b, and b >= H: it is below 1/32 (1/8192) of
 * full scale for any two counts. Denominators below 2 H are kept whole (e <= 1) and have no error.
 *
 * Marks of saturation, in codes that no ratio has:
 *
 *   e = 31              The denominator was 2^35 (rems32: 2^43) or more. The exponent is kept for this, as IEEE 754
 *                       keeps its last; the paper's 32-bit counts end at 27 (19). What is decoded are lower bounds
 *                       of the counts; the ratio holds as everywhere.
 *   e = 0, n all ones   The numerator was above the denominator, by more than truncation hides; d is the denominator,
 *                       or all ones if that was larger. At e = 0 a ratio has n <= d < H, and all ones is 2 H - 1.
 *
 * N / 0 is such a mark, with d = 0. 0 / 0 is code 0. Any other code with n above b is never made and decodes as
 * invalid.
 *
 * Who uses it: cards encode where a recording must stay small, the reader decodes. The encoder has no loop and no
 * division. The decoder gives two integers, so dividing, in whatever precision, is the caller's.
 * Source: NBSIR 87-3663, 3.4 (the widths) and 3.4.1 (the normalising counters, the hidden one, the errors).
 *
 * Plain C for BPF, kernel and user space; no other include than <linux/types.h>.
 * Invariant: decoding a code that was made and encoding the counts again gives that code.
 */
#ifndef MONITOR_RATIO_H
#define MONITOR_RATIO_H

#include <linux/types.h>

#define EDC_RATIO_EXPONENT_BITS 5
#define EDC_RATIO_EXPONENT_LAST 31 /* counts beyond the range */

/* Stored bits of the denominator: the error is below 1 / (1 << BITS). The numerator has one bit more. */
#define EDC_RATIO_BITS_16 5
#define EDC_RATIO_BITS_32 13

/* What decoding says of a ratio. */
#define EDC_RATIO_NONE 1u     /* the denominator is 0: there is no ratio */
#define EDC_RATIO_BELOW 2u    /* nothing is left of the numerator: the ratio is below the error, 0 or not */
#define EDC_RATIO_LARGE 4u    /* saturated: the counts are lower bounds, the ratio holds */
#define EDC_RATIO_OVER 8u     /* saturated: the numerator is above the denominator, how far is not known */
#define EDC_RATIO_INVALID 16u /* no encoder makes this code */
#define EDC_RATIO_SATURATED (EDC_RATIO_LARGE | EDC_RATIO_OVER)

struct edc_ratio {
	__u64 numerator;
	__u64 denominator;
	__u32 within; /* the absolute error is below 1 / within; 0: exact, or the flags say that there is no ratio */
	__u32 flags;
};

/* The highest bit set in `count`; 0 has none and gives 0 too. */
static inline __attribute__((always_inline)) __u32 edc_ratio_top(__u64 count)
{
	__u32 top = 0, step;

	step = (__u32)(count > 0xffffffffu) << 5;
	count >>= step;
	top += step;
	step = (__u32)(count > 0xffff) << 4;
	count >>= step;
	top += step;
	step = (__u32)(count > 0xff) << 3;
	count >>= step;
	top += step;
	step = (__u32)(count > 0xf) << 2;
	count >>= step;
	top += step;
	step = (__u32)(count > 3) << 1;
	count >>= step;
	top += step;
	return top + (__u32)(count > 1);
}

/* `bits` is a constant, EDC_RATIO_BITS_16 or EDC_RATIO_BITS_32. */
static inline __attribute__((always_inline)) __u32 edc_ratio_encode(__u64 numerator, __u64 denominator, __u32 bits)
{
	const __u32 hidden = 1u << bits;
	const __u32 top = edc_ratio_top(denominator);
	__u32 exponent = top < bits ? 0 : top - bits + 1;
	const __u32 shift = exponent ? exponent - 1 : 0;

	numerator >>= shift;
	denominator >>= shift;
	if (exponent > EDC_RATIO_EXPONENT_LAST)
		exponent = EDC_RATIO_EXPONENT_LAST;
	if (numerator > denominator) {
		numerator = 2 * hidden - 1;
		if (exponent)
			denominator = hidden - 1;
		exponent = 0;
	}
	return (__u32)numerator << (bits + EDC_RATIO_EXPONENT_BITS) |
	       ((__u32)denominator & (hidden - 1)) << EDC_RATIO_EXPONENT_BITS | exponent;
}

static inline __attribute__((always_inline)) __u16 edc_ratio_encode16(__u64 numerator, __u64 denominator)
{
	return (__u16)edc_ratio_encode(numerator, denominator, EDC_RATIO_BITS_16);
}

static inline __attribute__((always_inline)) __u32 edc_ratio_encode32(__u64 numerator, __u64 denominator)
{
	return edc_ratio_encode(numerator, denominator, EDC_RATIO_BITS_32);
}

static inline __attribute__((always_inline)) struct edc_ratio edc_ratio_decode(__u32 code, __u32 bits)
{
	const __u32 hidden = 1u << bits;
	const __u32 exponent = code & EDC_RATIO_EXPONENT_LAST;
	const __u32 shift = exponent ? exponent - 1 : 0;
	const __u32 numerator = code >> (bits + EDC_RATIO_EXPONENT_BITS);
	const __u32 denominator = (code >> EDC_RATIO_EXPONENT_BITS & (hidden - 1)) | (exponent ? hidden : 0);
	struct edc_ratio ratio = {(__u64)numerator << shift, (__u64)denominator << shift, 0, 0};

	if (!denominator)
		ratio.flags |= EDC_RATIO_NONE;
	if (numerator > denominator) {
		if (!exponent && numerator == 2 * hidden - 1) {
			ratio.flags |= EDC_RATIO_OVER;
			return ratio;
		}
		ratio.numerator = 0;
		ratio.denominator = 0;
		ratio.flags = EDC_RATIO_INVALID;
		return ratio;
	}
	if (shift) {
		ratio.within = denominator;
		if (!numerator)
			ratio.flags |= EDC_RATIO_BELOW;
	}
	if (exponent == EDC_RATIO_EXPONENT_LAST)
		ratio.flags |= EDC_RATIO_LARGE;
	return ratio;
}

static inline __attribute__((always_inline)) struct edc_ratio edc_ratio_decode16(__u16 code)
{
	return edc_ratio_decode(code, EDC_RATIO_BITS_16);
}

static inline __attribute__((always_inline)) struct edc_ratio edc_ratio_decode32(__u32 code)
{
	return edc_ratio_decode(code, EDC_RATIO_BITS_32);
}

#endif
