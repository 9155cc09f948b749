/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The user card: a program's own events, on the same time line as the kernel's, for the price of reading the clock.
 *
 *     #include <monitor/edc.h>
 *     EDC_EVENT(request_begin, "arg: u16 worker");
 *     EDC_EVENT(request_end, "arg: u16 worker; u64 bytes (B)");
 *     EDC_ACTIVITY(parse, "arg: u16 id");
 *
 *     edc(request_begin, worker);             8 bytes: token with a 16-bit argument
 *     edc_data(request_end, worker, bytes);   a token and 1 to 7 payload words of 64 bits
 *     edc_begin(parse, id); ... edc_end(parse, id);
 *     edc::scope s{parse, id};                C++: the same by a scope's life
 *
 * Fields: "arg:" describes the argument, what follows describes the payload words, by semicolon. A field is a kind, a
 * name, and a unit in parentheses or labels in braces:
 *     u16 s16                            integers, for the argument only       u16 worker
 *     u64 s64                            integers                              u64 bytes (B)
 *     x16 x64, address                   shown in hexadecimal                  address buffer
 *     token NAME {a = 0, b = 1}          one of the labels
 *     flags NAME {r = 1, w = 2}          a set of the labels, each one bit
 * Without "arg:" the argument has no name and is shown as `arg`.
 *
 * C11 and C++17 and later, libc only, Linux on x86-64 and aarch64 (elsewhere the events compile to nothing). Not
 * recording: one predictable branch. -DEDC_DISABLE: nothing at all. Safe in signal handlers and threads; a fork's child
 * gets rings of its own. Not allowed in the child of vfork() before it execs. An event has as many words as its class
 * has fields behind "arg:", else it is refused and counted. Never fails visibly, never blocks, keeps errno; what could
 * not be posted is counted, and the trace says so. How it works: user_ring.h (memory), edc_card.h (state), edc_post.h
 * (the fast path), edc_rings.h, edc_shared.h and edc_connect.h (the slow ones).
 */
#ifndef MONITOR_EDC_H
#define MONITOR_EDC_H

#include <stdint.h>

#if defined(EDC_DISABLE) || !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__))

#define EDC_EVENT(name, fields) struct edc_no_class_##name
#ifdef __cplusplus
#define EDC_ACTIVITY(name, fields) __attribute__((unused)) static constexpr ::edc::activity name = {}
#else
#define EDC_ACTIVITY(name, fields) struct edc_no_class_##name
#endif
#define edc(name, arg) (0 ? edc_nothing_(0, arg) : (void)0)
#define edc_data(name, arg, ...) (0 ? edc_nothing_(0, arg, __VA_ARGS__) : (void)0)
static inline void edc_nothing_(int none, ...)
{
	(void)none;
}
#define edc_begin(name, arg) edc(name, arg)
#define edc_end(name, arg) edc(name, arg)
#ifdef __cplusplus
namespace edc {
struct activity {};
struct scope {
	explicit scope(const activity &, uint16_t = 0) {}
};
} // namespace edc
#endif

#else

#include "edc_counters.h"

/* Declares an event class. At file scope; the same line in several files of a program is one class. */
#define EDC_EVENT(name, fields)                                           \
	static struct edc_class edc_class_##name = {#name, fields, 0, 0}; \
	__attribute__((used, section("edc_classes"))) static struct edc_class *edc_class_at_##name = &edc_class_##name

/* Declares an activity: the classes NAME_begin and NAME_end, and in C++ the object NAME for edc::scope. */
#ifdef __cplusplus
#define EDC_ACTIVITY(name, fields)                                                                  \
	EDC_EVENT(name##_begin, fields);                                                            \
	EDC_EVENT(name##_end, fields);                                                              \
	__attribute__((unused)) static constexpr ::edc::activity name = {&edc_class_##name##_begin, \
									 &edc_class_##name##_end}
#else
#define EDC_ACTIVITY(name, fields)       \
	EDC_EVENT(name##_begin, fields); \
	EDC_EVENT(name##_end, fields)
#endif

#define edc(name, arg) edc_post_(&edc_class_##name, (uint16_t)(arg), 0, 0)

#define edc_begin(name, arg) edc_border_(&edc_class_##name##_begin, (uint16_t)(arg))
#define edc_end(name, arg) edc_border_(&edc_class_##name##_end, (uint16_t)(arg))

/* edc_data(NAME, ARG, WORD...): 1 to 7 words. */
#define edc_data(name, arg, ...)                                                                  \
	do {                                                                                      \
		const uint64_t edc_words_[] = {EDC_EACH_(__VA_ARGS__)};                           \
		edc_post_(&edc_class_##name, (uint16_t)(arg), sizeof edc_words_ / 8, edc_words_); \
	} while (0)

#define EDC_EACH_(...) EDC_PICK_(__VA_ARGS__, EDC_7_, EDC_6_, EDC_5_, EDC_4_, EDC_3_, EDC_2_, EDC_1_, 0)(__VA_ARGS__)
#define EDC_PICK_(a, b, c, d, e, f, g, macro, ...) macro
#define EDC_1_(a) (uint64_t)(a)
#define EDC_2_(a, b) (uint64_t)(a), (uint64_t)(b)
#define EDC_3_(a, b, c) EDC_2_(a, b), (uint64_t)(c)
#define EDC_4_(a, b, c, d) EDC_3_(a, b, c), (uint64_t)(d)
#define EDC_5_(a, b, c, d, e) EDC_4_(a, b, c, d), (uint64_t)(e)
#define EDC_6_(a, b, c, d, e, f) EDC_5_(a, b, c, d, e), (uint64_t)(f)
#define EDC_7_(a, b, c, d, e, f, g) EDC_6_(a, b, c, d, e, f), (uint64_t)(g)

#ifdef __cplusplus
namespace edc {
struct activity {
	edc_class *begin, *end;
};
/* An activity that lasts as long as it lives. */
class scope {
public:
	explicit scope(const activity &what, uint16_t arg = 0) : end_(what.end), arg_(arg)
	{
		edc_border_(what.begin, arg);
	}
	~scope() { edc_border_(end_, arg_); }
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;

private:
	edc_class *end_;
	uint16_t arg_;
};
} // namespace edc
#endif

#endif
#endif
