/* SPDX-License-Identifier: MIT */
/* All of edc.h in one file that is C and C++; compiled in every way by structure.py, run as it is. */
#include <string.h>

#include <monitor/edc.h>

EDC_EVENT(short_one, "");
EDC_EVENT(long_one, "arg: s16 a; u64 b; s64 c; x64 d; address e; u64 f; u64 g; u64 h (ns)");
EDC_EVENT(labelled, "arg: token state {ok = 0, failed = 1}; flags how {r = 1, w = 2}");
EDC_EVENT_FIELDS(listed, (arg, token, state, {ok = 0, failed = 1}), (u64, bytes, B), (flags, how, {r = 1, w = 2}));
EDC_EVENT_FIELDS(eight, (s16, a), (u64, b), (s64, c), (x64, d), (address, e), (u64, f), (u64, g), (u64, h, ns));
EDC_EVENT_FIELDS(seven, (u64, a), (u64, b), (u64, c), (u64, d), (u64, e), (u64, f), (u64, g));
EDC_EVENT(short_text, "arg: u16 mode; str24 name; u64 bytes (B)");
EDC_EVENT_FIELDS(texts, (u16, mode), (str8, a), (str48, b));
EDC_EVENT_FIELDS(more_texts, (str16, a), (str40, b));
EDC_EVENT_FIELDS(last_texts, (str24, a), (str32, b));
EDC_ACTIVITY(parse, "arg: u16 id");
/* as in two headers */
#define EDC_PROVIDER one
EDC_EVENT(tick_of_one, "");
EDC_EVENT_FIELDS(listed_of_one, (u64, a));
EDC_ACTIVITY(parse_of_one, "");
#undef EDC_PROVIDER
#define EDC_PROVIDER two
EDC_EVENT(tick_of_two, "");
#undef EDC_PROVIDER
#define EDC_PROVIDER
EDC_EVENT(tick_of_none, "");
#undef EDC_PROVIDER
#ifdef __cplusplus
namespace three {
#define EDC_PROVIDER three
EDC_EVENT(short_one, "u64 a");
EDC_ACTIVITY(parse, "");
#undef EDC_PROVIDER
void post()
{
	edc_data(short_one, 1, 2);
	edc::scope one{parse};
}
} // namespace three
#endif
#ifdef WRONG_CLASS
WRONG_CLASS;
#endif

int main(int count, char **arguments)
{
	unsigned char small = 3;
	long negative = -1;
	const char *next = arguments[0];

	edc(short_one, count);
	edc_data(labelled, 1, 3);
	edc_data(long_one, negative, count, negative, small, arguments, 5, 6u, 7ull);
	edc_data(listed, 1, 2, 3);
	edc_data(eight, 1, 2, 3, 4, 5, 6, 7, 8);
	edc_data(seven, 1, 2, 3, 4, 5, 6, 7, 8);
	edc_data(short_text, 1, EDC_TEXT24(next++), count);
	edc_data(texts, 1, EDC_TEXT8("a"), EDC_TEXT48(count > 9 ? NULL : "b"));
	edc_data(more_texts, 1, EDC_TEXT16("a"), EDC_TEXT40("b"));
	edc_data(last_texts, 1, EDC_TEXT24("a"), EDC_TEXT32("b"));
	edc(tick_of_one, 1);
	edc_data(listed_of_one, 1, 2);
	edc_begin(parse_of_one, 1);
	edc_end(parse_of_one, 1);
	edc(tick_of_two, 1);
	edc(tick_of_none, 1);
#ifdef WRONG /* structure.py: none of them compiles */
	WRONG;
#endif
	edc_begin(parse, small);
	edc_end(parse, small);
#if !defined(EDC_DISABLE) && defined(__linux__)
	if (strcmp(edc_class_listed.fields,
		   "arg: token state {ok = 0, failed = 1}; u64 bytes (B); flags how {r = 1, w = 2}"))
		return 1;
	if (strcmp(edc_class_eight.fields, "arg: s16 a; u64 b; s64 c; x64 d; address e; u64 f; u64 g; u64 h (ns)"))
		return 2;
	if (strcmp(edc_class_texts.fields, "arg: u16 mode; str8 a; str48 b") ||
	    edc_payload_words_(edc_class_texts.fields) != 7 || edc_payload_words_(edc_class_short_text.fields) != 4)
		return 3;
	if (next != arguments[0] + 1) /* evaluated once */
		return 4;
	if (strcmp(edc_class_tick_of_one.name, "one:tick_of_one") ||
	    strcmp(edc_class_tick_of_two.name, "two:tick_of_two") ||
	    strcmp(edc_class_listed_of_one.name, "one:listed_of_one") ||
	    strcmp(edc_class_parse_of_one_end.name, "one:parse_of_one_end") ||
	    strcmp(edc_class_tick_of_none.name, "tick_of_none") || strcmp(edc_class_parse_begin.name, "parse_begin"))
		return 5;
#else
	(void)next;
#endif
#ifdef __cplusplus
	{
		edc::scope one{parse};
		edc::scope two{parse, 7};
		three::post();
	}
#endif
	return 0;
}
