/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The fields of a user event at compile time: how many payload words a class has, from its text (C++) or from the list
 * of EDC_EVENT_FIELDS (C and C++), and that list as text. Included by edc.h.
 */
#ifndef MONITOR_EDC_FIELDS_H
#define MONITOR_EDC_FIELDS_H

#ifdef __cplusplus
#define EDC_STATIC_ASSERT_ static_assert
#else
#define EDC_STATIC_ASSERT_ _Static_assert
#endif

/* EDC_EVENT_FIELDS: the text of each field. The argument is the first one, or there is none. */
#define EDC_TEXTS_(...)                                                                                     \
	EDC_PICK_FIELDS_(__VA_ARGS__, EDC_TEXTS_8_, EDC_TEXTS_7_, EDC_TEXTS_6_, EDC_TEXTS_5_, EDC_TEXTS_4_, \
			 EDC_TEXTS_3_, EDC_TEXTS_2_, EDC_TEXTS_1_, 0)                                       \
	(__VA_ARGS__)
#define EDC_PICK_FIELDS_(a, b, c, d, e, f, g, h, macro, ...) macro
#define EDC_TEXTS_1_(a) EDC_TEXT_ a
#define EDC_TEXTS_2_(a, b) EDC_TEXTS_1_(a) "; " EDC_TEXT_ b
#define EDC_TEXTS_3_(a, b, c) EDC_TEXTS_2_(a, b) "; " EDC_TEXT_ c
#define EDC_TEXTS_4_(a, b, c, d) EDC_TEXTS_3_(a, b, c) "; " EDC_TEXT_ d
#define EDC_TEXTS_5_(a, b, c, d, e) EDC_TEXTS_4_(a, b, c, d) "; " EDC_TEXT_ e
#define EDC_TEXTS_6_(a, b, c, d, e, f) EDC_TEXTS_5_(a, b, c, d, e) "; " EDC_TEXT_ f
#define EDC_TEXTS_7_(a, b, c, d, e, f, g) EDC_TEXTS_6_(a, b, c, d, e, f) "; " EDC_TEXT_ g
#define EDC_TEXTS_8_(a, b, c, d, e, f, g, h) EDC_TEXTS_7_(a, b, c, d, e, f, g) "; " EDC_TEXT_ h

/* (KIND, ...): by its kind. `arg` stands before the argument's, which integers of 16 bits need not: they can be no
 * other. */
#define EDC_TEXT_(kind, ...) EDC_TEXT_##kind(__VA_ARGS__)
#define EDC_TEXT_arg(kind, ...) "arg: " EDC_TEXT_OF_##kind(__VA_ARGS__)
#define EDC_TEXT_u16(...) EDC_TEXT_arg(u16, __VA_ARGS__)
#define EDC_TEXT_s16(...) EDC_TEXT_arg(s16, __VA_ARGS__)
#define EDC_TEXT_x16(...) EDC_TEXT_arg(x16, __VA_ARGS__)
#define EDC_TEXT_u64(...) EDC_WITH_UNIT_(u64, __VA_ARGS__)
#define EDC_TEXT_s64(...) EDC_WITH_UNIT_(s64, __VA_ARGS__)
#define EDC_TEXT_x64(...) EDC_WITH_UNIT_(x64, __VA_ARGS__)
#define EDC_TEXT_address(...) EDC_WITH_UNIT_(address, __VA_ARGS__)
#define EDC_TEXT_token(name, ...) "token " #name " " #__VA_ARGS__
#define EDC_TEXT_flags(name, ...) "flags " #name " " #__VA_ARGS__
#define EDC_TEXT_OF_u16(...) EDC_WITH_UNIT_(u16, __VA_ARGS__)
#define EDC_TEXT_OF_s16(...) EDC_WITH_UNIT_(s16, __VA_ARGS__)
#define EDC_TEXT_OF_x16(...) EDC_WITH_UNIT_(x16, __VA_ARGS__)
#define EDC_TEXT_OF_token(...) EDC_TEXT_token(__VA_ARGS__)
#define EDC_TEXT_OF_flags(...) EDC_TEXT_flags(__VA_ARGS__)

#define EDC_WITH_UNIT_(kind, ...) EDC_PICK_UNIT_(__VA_ARGS__, EDC_UNIT_, EDC_NO_UNIT_, 0)(kind, __VA_ARGS__)
#define EDC_PICK_UNIT_(name, unit, macro, ...) macro
#define EDC_UNIT_(kind, name, unit) #kind " " #name " (" #unit ")"
#define EDC_NO_UNIT_(kind, name) #kind " " #name

/* EDC_EVENT_FIELDS: how many of its fields are payload. */
#define EDC_COUNTS_(...) (EDC_PICK_FIELDS_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0) - (EDC_FIRST_(__VA_ARGS__, 0)))
#define EDC_FIRST_(first, ...) EDC_IS_ARGUMENT_ first
#define EDC_IS_ARGUMENT_(kind, ...) EDC_IS_ARGUMENT_##kind
#define EDC_IS_ARGUMENT_arg 1
#define EDC_IS_ARGUMENT_u16 1
#define EDC_IS_ARGUMENT_s16 1
#define EDC_IS_ARGUMENT_x16 1
#define EDC_IS_ARGUMENT_u64 0
#define EDC_IS_ARGUMENT_s64 0
#define EDC_IS_ARGUMENT_x64 0
#define EDC_IS_ARGUMENT_address 0
#define EDC_IS_ARGUMENT_token 0
#define EDC_IS_ARGUMENT_flags 0

#ifdef __cplusplus
/* Payload fields in a class's text: those between semicolons, without the argument's and empty ones. */
constexpr int edc_payload_fields_(const char *text)
{
	int count = 0;
	while (*text) {
		while (*text == ' ' || *text == '\t' || *text == '\n' || *text == ';')
			++text;
		if (!*text)
			break;
		if (!(text[0] == 'a' && text[1] == 'r' && text[2] == 'g' && (text[3] == ':' || text[3] == ' ')))
			++count;
		while (*text && *text != ';')
			++text;
	}
	return count;
}
#endif

#endif
