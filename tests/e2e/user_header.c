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
#else
	(void)next;
#endif
#ifdef __cplusplus
	{
		edc::scope one{parse};
		edc::scope two{parse, 7};
	}
#endif
	return 0;
}
