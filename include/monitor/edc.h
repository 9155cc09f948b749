/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The user card: lets a program post events on the same timeline as the kernel's, for the cost of reading the clock.
 *
 *     #include <monitor/edc.h>
 *     EDC_EVENT(request_begin, "arg: u16 worker");
 *     EDC_EVENT(request_end, "arg: u16 worker; u64 bytes (B)");
 *     EDC_ACTIVITY(parse, "arg: u16 id");
 *
 *     edc(request_begin, worker);             8 bytes: token with a 16-bit argument
 *     edc_data(request_end, worker, bytes);   a token and 1 to 7 payload words of 64 bits
 *     edc_begin(parse, id); ... edc_end(parse, id);
 *     edc::scope s{parse, id};                C++: the same for the lifetime of s
 *
 * Fields, separated by semicolons: "arg:" introduces the argument, the others are the payload words. A field is a kind,
 * a name, and optionally a unit in parentheses or labels in braces:
 *     u16 s16                            integers, for the argument only       u16 worker
 *     u64 s64                            integers                              u64 bytes (B)
 *     x16 x64, address                   shown in hexadecimal                  address buffer
 *     token NAME {a = 0, b = 1}          one of the labels
 *     flags NAME {r = 1, w = 2}          a set of the labels, one bit each
 *     str8 str16 str24 str32 str40 str48 short text in 1 to 6 words, so none in the argument
 * Without "arg:" the argument has no name and is shown as `arg`. The same with the fields one by one:
 *     EDC_EVENT_FIELDS(request_end, (u16, worker), (u64, bytes, B), (flags, how, {r = 1, w = 2}));
 *
 * A text of up to N bytes is posted as N / 8 words: shorter text is padded with NUL, longer text is cut.
 *     EDC_EVENT(open_file, "arg: u16 mode; str24 name; u64 bytes (B)");
 *     edc_data(open_file, mode, EDC_TEXT24(path), bytes);
 *
 * An event posted with another number of words than its class's payload fields need does not compile: in C++ always, in
 * C if the class was declared by EDC_EVENT_FIELDS (C has no way to count the fields of a string).
 *
 * For C11, C++17 and later; needs only libc; Linux on x86-64 and aarch64 (elsewhere the events compile to nothing).
 * Without a recording an event costs one predictable branch; with -DEDC_DISABLE, nothing at all. Safe in threads and in
 * signal handlers. A forked child gets separate rings. Not allowed in the child of vfork() before it execs. An event
 * must have as many words as its class's payload fields need; otherwise it is not posted, but counted. Calls never fail
 * visibly and preserve errno. They do not block, with two exceptions: a program that is loaded may wait for its
 * recorder's answer, and the first event of a forked child for the kernel module. Events that could not be posted are
 * counted, and the trace reports it.
 *
 * Implementation: user_ring.h (memory), edc_card.h (state), edc_post.h (the fast path), edc_rings.h, edc_shared.h and
 * edc_connect.h (the slow paths), edc_fields.h (words of a class), edc_text.h (short texts).
 */
#ifndef MONITOR_EDC_H
#define MONITOR_EDC_H

#include <stdint.h>

#if defined(EDC_DISABLE) || !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__))

#define EDC_EVENT(name, fields) struct edc_no_class_##name
#define EDC_EVENT_FIELDS(name, ...) struct edc_no_class_##name
#ifdef __cplusplus
#define EDC_ACTIVITY(name, fields) __attribute__((unused)) static constexpr ::edc::activity name = {}
#else
#define EDC_ACTIVITY(name, fields) struct edc_no_class_##name
#endif
#define edc(name, arg)                        \
	do {                                  \
		if (0)                        \
			edc_nothing_(0, arg); \
	} while (0)
#define edc_data(name, arg, ...)                           \
	do {                                               \
		if (0)                                     \
			edc_nothing_(0, arg, __VA_ARGS__); \
	} while (0)
static inline void edc_nothing_(int none, ...)
{
	(void)none;
}
#define EDC_TEXT8(text) (text)
#define EDC_TEXT16(text) (text)
#define EDC_TEXT24(text) (text)
#define EDC_TEXT32(text) (text)
#define EDC_TEXT40(text) (text)
#define EDC_TEXT48(text) (text)
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
#include "edc_fields.h"
#include "edc_text.h"

/* Declares an event class, at file scope. The same declaration in several files of a program is one class. */
#ifdef __cplusplus
#define EDC_EVENT(name, fields) EDC_CLASS_(name, fields, edc_payload_words_(fields))
#else
#define EDC_EVENT(name, fields) EDC_CLASS_(name, fields, -1)
#endif

/* The same, with the fields one by one: (KIND, NAME), (KIND, NAME, UNIT OR LABELS) or, first,
 * (arg, KIND, NAME...). */
#define EDC_EVENT_FIELDS(name, ...) EDC_CLASS_(name, EDC_TEXTS_(__VA_ARGS__), EDC_COUNT_WORDS_(__VA_ARGS__))

#define EDC_CLASS_(name, fields, words)                                                         \
	enum { edc_words_of_##name = (words) }; /* -1: unknown */                               \
	EDC_STATIC_ASSERT_(edc_words_of_##name <= EDC_MAX_WORDS,                                \
			   "the event " #name " has more payload words than a token may have"); \
	static struct edc_class edc_class_##name = {#name, fields, 0, 0};                       \
	__attribute__((used, section("edc_classes"))) static struct edc_class *edc_class_at_##name = &edc_class_##name

/* Declares an activity: the classes NAME_begin and NAME_end, and in C++ an object NAME for edc::scope. */
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

/* Statements. */
#define edc(name, arg)                                               \
	do {                                                         \
		EDC_CHECK_WORDS_(name, 0);                           \
		edc_post_(&edc_class_##name, (uint16_t)(arg), 0, 0); \
	} while (0)

#define edc_begin(name, arg)                                               \
	do {                                                               \
		EDC_CHECK_WORDS_(name##_begin, 0);                         \
		edc_boundary_(&edc_class_##name##_begin, (uint16_t)(arg)); \
	} while (0)
#define edc_end(name, arg)                                               \
	do {                                                             \
		EDC_CHECK_WORDS_(name##_end, 0);                         \
		edc_boundary_(&edc_class_##name##_end, (uint16_t)(arg)); \
	} while (0)

/* edc_data(NAME, ARG, WORD...): posts 1 to 7 payload words; EDC_TEXT16(TEXT) is two of them. One is stored after the
 * other, because a text's words are read one after the other. */
#define edc_data(name, arg, ...)                                                                          \
	do {                                                                                              \
		struct edc_text edc_text_ = {0, 0};                                                       \
		uint64_t edc_words_[EDC_PICK_(__VA_ARGS__, 7, 6, 5, 4, 3, 2, 1, 0)];                      \
		EDC_CHECK_WORDS_(name, sizeof edc_words_ / 8);                                            \
		EDC_STORE_(__VA_ARGS__);                                                                  \
		if (!edc_text_.is_unread)                                                                 \
			edc_post_(&edc_class_##name, (uint16_t)(arg), sizeof edc_words_ / 8, edc_words_); \
	} while (0)

#define EDC_CHECK_WORDS_(name, words)                                                        \
	EDC_STATIC_ASSERT_(edc_words_of_##name == -1 || edc_words_of_##name == (int)(words), \
			   "the event " #name " is posted with another number of words than its fields need")

#define EDC_STORE_(...)                                                                                            \
	EDC_PICK_(__VA_ARGS__, EDC_STORE_7_, EDC_STORE_6_, EDC_STORE_5_, EDC_STORE_4_, EDC_STORE_3_, EDC_STORE_2_, \
		  EDC_STORE_1_, 0)                                                                                 \
	(__VA_ARGS__)
#define EDC_PICK_(a, b, c, d, e, f, g, macro, ...) macro
#define EDC_STORE_1_(a) edc_words_[0] = (uint64_t)(a)
#define EDC_STORE_2_(a, b) EDC_STORE_1_(a), edc_words_[1] = (uint64_t)(b)
#define EDC_STORE_3_(a, b, c) EDC_STORE_2_(a, b), edc_words_[2] = (uint64_t)(c)
#define EDC_STORE_4_(a, b, c, d) EDC_STORE_3_(a, b, c), edc_words_[3] = (uint64_t)(d)
#define EDC_STORE_5_(a, b, c, d, e) EDC_STORE_4_(a, b, c, d), edc_words_[4] = (uint64_t)(e)
#define EDC_STORE_6_(a, b, c, d, e, f) EDC_STORE_5_(a, b, c, d, e), edc_words_[5] = (uint64_t)(f)
#define EDC_STORE_7_(a, b, c, d, e, f, g) EDC_STORE_6_(a, b, c, d, e, f), edc_words_[6] = (uint64_t)(g)

#ifdef __cplusplus
namespace edc {
struct activity {
	edc_class *begin, *end;
};
/* Starts an activity when constructed and ends it when destroyed. */
class scope {
public:
	explicit scope(const activity &what, uint16_t arg = 0) : end_(what.end), arg_(arg)
	{
		edc_boundary_(what.begin, arg);
	}
	~scope() { edc_boundary_(end_, arg_); }
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
