// SPDX-License-Identifier: MIT
// The LTTng-UST tracepoints of ust_load.c: every kind of field that LTTng-UST 2.13 has.
// clang-format off
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ust_load

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "ust_load_tp.h"

#if !defined(UST_LOAD_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define UST_LOAD_TP_H

#include <lttng/tracepoint.h>

#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(ust_load, integers, LTTNG_UST_TP_ARGS(int64_t, number),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int8_t, i8, number)
		lttng_ust_field_integer(uint8_t, u8, number)
		lttng_ust_field_integer(int16_t, i16, number * 3)
		lttng_ust_field_integer(uint16_t, u16, number * 3)
		lttng_ust_field_integer(int32_t, i32, -number * 70000)
		lttng_ust_field_integer(uint32_t, u32, number * 70000)
		lttng_ust_field_integer(int64_t, i64, -number * 5000000000)
		lttng_ust_field_integer(uint64_t, u64, -number)
		lttng_ust_field_integer(char, c, 'a' + number % 26)
		lttng_ust_field_integer(unsigned long, unsigned_long, number)
		lttng_ust_field_integer_hex(uint32_t, hex, number)
		lttng_ust_field_integer_hex(void *, pointer, (void *)(uintptr_t)number)
		lttng_ust_field_integer_network(uint16_t, network16, number)
		lttng_ust_field_integer_network(int32_t, network32, -number)
		lttng_ust_field_integer_network_hex(uint64_t, network_hex, number)
		lttng_ust_field_integer_nowrite(int, for_filters_only, number)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(ust_load, integers, LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT)
LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(ust_load, integers, "http://example.com/model?q=ust_load:integers")

LTTNG_UST_TRACEPOINT_EVENT(ust_load, floats, LTTNG_UST_TP_ARGS(double, number),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_float(float, f, number)
		lttng_ust_field_float(double, d, number)
		lttng_ust_field_float_nowrite(double, for_filters_only, number)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(ust_load, floats, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

LTTNG_UST_TRACEPOINT_EVENT(ust_load, texts, LTTNG_UST_TP_ARGS(const char *, text, size_t, size),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(s, text)
		lttng_ust_field_sequence_text(char, sequence, text, size_t, size)
		lttng_ust_field_array_text(char, array, text, 4)
		lttng_ust_field_string_nowrite(for_filters_only, text)
		lttng_ust_field_unused(text)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(ust_load, rows,
	LTTNG_UST_TP_ARGS(const int32_t *, numbers, const uint8_t *, bytes, const uint16_t *, words, unsigned int, count),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_array(int32_t, array, numbers, 3)
		lttng_ust_field_array_hex(int32_t, array_hex, numbers, 2)
		lttng_ust_field_array_network(uint16_t, array_network, words, 2)
		lttng_ust_field_array_network_hex(uint16_t, array_network_hex, words, 1)
		lttng_ust_field_array_nowrite(int32_t, array_for_filters, numbers, 3)
		lttng_ust_field_sequence(int32_t, sequence, numbers, unsigned int, count)
		lttng_ust_field_sequence_hex(uint8_t, bytes, bytes, uint8_t, count)
		lttng_ust_field_sequence_network(uint16_t, network, words, uint16_t, count)
		lttng_ust_field_sequence_network_hex(uint16_t, network_hex, words, uint64_t, count / 2)
		lttng_ust_field_sequence_nowrite(uint16_t, sequence_for_filters, words, uint64_t, count)
	)
)

LTTNG_UST_TRACEPOINT_ENUM(ust_load, kinds,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("none", 0)
		lttng_ust_field_enum_range("few", 1, 3)
		lttng_ust_field_enum_auto("four")
		lttng_ust_field_enum_range("some", 3, 6)
		lttng_ust_field_enum_value("with blank", 8)
		lttng_ust_field_enum_value("2digits", 10)
	)
)
LTTNG_UST_TRACEPOINT_ENUM(ust_load, signed_kinds,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_range("minus", -100, -1)
		lttng_ust_field_enum_value("zero", 0)
		lttng_ust_field_enum_range("plus", 1, 5)
	)
)
LTTNG_UST_TRACEPOINT_EVENT(ust_load, enumerations, LTTNG_UST_TP_ARGS(int, number),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_enum(ust_load, kinds, uint8_t, small, number)
		lttng_ust_field_enum(ust_load, kinds, int, same, number)
		lttng_ust_field_enum(ust_load, signed_kinds, int64_t, is_signed, number - 6)
		lttng_ust_field_enum_nowrite(ust_load, kinds, int, for_filters_only, number)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(ust_load, nothing, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())

LTTNG_UST_TRACEPOINT_EVENT_CLASS(ust_load, of_class, LTTNG_UST_TP_ARGS(int, number),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, _number, number)
		lttng_ust_field_integer(int, event, number)
		lttng_ust_field_integer(int, stream, number)
	)
)
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(ust_load, of_class, ust_load, first_of_class, LTTNG_UST_TP_ARGS(int, number))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(ust_load, of_class, ust_load, second_of_class, LTTNG_UST_TP_ARGS(int, number))
LTTNG_UST_TRACEPOINT_LOGLEVEL(ust_load, second_of_class, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_LINE)

#endif

#include <lttng/tracepoint-event.h>
