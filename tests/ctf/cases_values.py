# SPDX-License-Identifier: MIT
"""Valid traces that show one kind of field each: numbers, texts, arrays, enumerations, structures, variants. Every case
is a function that writes a trace directory and returns its layout.Trace; cases.py collects them."""
import random

from layout import Packet, Trace, Stream, Event, packet_context, packet_header, plain_header, simple, stamp
from writer import Enum, Float, Int, Many, Str, Struct, Variant, char, i8, i16, i32, u8, u16, u32, u64

OTHER = {"le": "be", "be": "le"}


def some_numbers(kind, count, seed=1):
	low, high = kind.bounds()
	numbers = random.Random(seed * 100 + kind.size)
	return ([low, high, 0, min(1, high), (low + high) // 2] + [numbers.randint(low, high) for _ in range(count)])[:count]


def rows_of(fields, count, seed=1):
	columns = {name: some_numbers(field, count, seed + place) for place, (name, field) in enumerate(fields.items())}
	return [{name: column[row] for name, column in columns.items()} for row in range(count)]


def numbers_of_every_size(directory, order, signed, aligns):
	fields = {f"n{size}": Int(size, signed, aligns(size)) for size in range(1, 65)}
	return simple(directory, Struct(fields), rows_of(fields, 24), order=order)


def integers_packed_le(directory):
	return numbers_of_every_size(directory, "le", False, lambda size: 1)


def integers_packed_be(directory):
	return numbers_of_every_size(directory, "be", False, lambda size: 1)


def integers_packed_signed_le(directory):
	return numbers_of_every_size(directory, "le", True, lambda size: 1)


def integers_packed_signed_be(directory):
	return numbers_of_every_size(directory, "be", True, lambda size: 1)


def odd_align(size):
	return 1 << size * 7 % 8


def integers_odd_align_le(directory):
	return numbers_of_every_size(directory, "le", True, odd_align)


def integers_odd_align_be(directory):
	return numbers_of_every_size(directory, "be", False, odd_align)


def integers_default_align(directory):
	return numbers_of_every_size(directory, "le", False, lambda size: None)


def integers_align_64(directory):
	return numbers_of_every_size(directory, "be", True, lambda size: 64 if size % 3 else 256)


def integers_other_order(directory, order):
	fields = {}
	for size in range(8, 65, 8):
		for signed in (False, True):
			fields[f"same{size}{signed}"] = Int(size, signed)
			fields[f"other{size}{signed}"] = Int(size, signed, order=OTHER[order])
			fields[f"named{size}{signed}"] = Int(size, signed, align=8, order=order)
	for size in (3, 12, 31, 33, 63):  # a byte has one order only
		fields[f"odd{size}"] = Int(size, align=8, order=OTHER[order])
		fields[f"next{size}"] = Int(size, size != 12, align=32)
	return simple(directory, Struct(fields), rows_of(fields, 20), order=order)


def integers_other_order_in_le(directory):
	return integers_other_order(directory, "le")


def integers_other_order_in_be(directory):
	return integers_other_order(directory, "be")


def integers_order_names(directory):
	fields = {name: Int(32, text=f"integer {{ size = 32; byte_order = {name}; }}", order=order)
	          for name, order in (("be", "be"), ("le", "le"), ("network", "be"), ("native", "le"))}
	return simple(directory, Struct(fields), rows_of(fields, 10))


def integers_bases(directory):
	bases = (2, 8, 10, 16, "decimal", "dec", "d", "i", "u", "hexadecimal", "hex", "x", "X", "p", "octal", "oct", "o",
	         "binary", "b")
	fields = {f"base_{base}": Int(16 + 8 * (place % 3), place % 2 == 0, more=f"base = {base};")
	          for place, base in enumerate(bases)}
	return simple(directory, Struct(fields), rows_of(fields, 12))


def integers_attribute_values(directory):
	fields = {
		"a": Int(8, True, text="integer { signed = 1; size = 0x8; }"),
		"b": Int(8, False, text="integer { signed = 0; size = 010; }"),
		"c": Int(8, True, text="integer { signed = TRUE; size = 8; align = 8; }"),
		"d": Int(8, False, text="integer { signed = FALSE; size = 8; encoding = none; }"),
		"e": Int(8, True, text=(
			"integer { size = 8; signed = true; base = 10; byte_order = le; encoding = none; align = 8; }")),
		"f": Int(8, False, text="integer { signed = false; size = 8; encoding = ASCII; }"),
		"g": Int(16, False, align=8, text="integer { size = 16u; align = 8ull; }"),
	}
	return simple(directory, Struct(fields), rows_of(fields, 10))


def characters_alone(directory):
	fields = {"c": char, "d": Int(8, encoding="ASCII"), "e": Int(8, signed=True, encoding="UTF8")}
	return simple(directory, Struct(fields), [{"c": 65, "d": 10, "e": -5}, {"c": 0, "d": 255, "e": 66}] * 5)


TEXTS = (b"", b"a", "Grüße, 世界 \U0001f600".encode(), b'quo"te\\back\n\ttab\x01\x1f\x7f', b"x" * 3000,
         b"%s {}, = [] |", b"\xff\xfe broken \xc3", b"\xed\xa0\x80 surrogate", b"\xf8\x88", b"end")


def strings(directory):
	fields = {"s": Str(), "t": Str("encoding = UTF8;"), "u": Str("encoding = ASCII;"), "n": Int(3), "after": Str()}
	rows = [{"s": text, "t": TEXTS[(place + 3) % 10], "u": b"ascii", "n": place % 8, "after": TEXTS[-place]}
	        for place, text in enumerate(TEXTS)]
	return simple(directory, Struct(fields), rows * 2)


def strings_be(directory):
	fields = {"n": Int(5), "s": Str(), "m": Int(11), "t": Str()}
	return simple(directory, Struct(fields),
	              [{"n": 3, "s": text, "m": 1000, "t": text[::-1][:9]} for text in TEXTS[:6]] * 2, order="be")


def floats(directory, order, align, other=None):
	values = [0.0, -0.0, 1.0, -1.5, 0.1, 1e300, 5e-324, 2.2250738585072014e-308, float("inf"), float("-inf"),
	          float("nan"), 3.141592653589793, 1e21, 1e-7, 123456789012345678.0, 2.0 ** 53 + 2]
	singles = [0.0, -0.0, 1.0, -1.5, 0.1, 3e38, 1e-45, 1.17549435e-38, float("inf"), float("-inf"), float("nan"),
	           3.1415927, 1e21, 1e-7, 16777217.0, 0.3333333]
	fields = {"pad": Int(3), "d": Float(64, align, other), "more": Int(5, align=8), "f": Float(32, align, other)}
	rows = [{"pad": 5, "d": one, "more": 9, "f": two} for one, two in zip(values, singles)]
	return simple(directory, Struct(fields), rows, order=order)


def floats_le(directory):
	return floats(directory, "le", 8)


def floats_be(directory):
	return floats(directory, "be", 8)


def floats_unaligned_le(directory):
	return floats(directory, "le", 1)


def floats_unaligned_be(directory):
	return floats(directory, "be", 1)


def floats_align_64_other_order(directory):
	return floats(directory, "le", 64, "be")


def floats_default_align(directory):
	return floats(directory, "le", None)


def arrays(directory):
	fields = {
		"ints": Many(Int(16, True), 3),
		"bits": Many(Int(3), 5),
		"text": Many(char, 8),
		"ascii": Many(Int(8, encoding="ASCII"), 4),
		"bytes": Many(u8, 4),
		"none": Many(u32, 0),
		"no_text": Many(char, 0),
		"one": Many(Int(1), 1),
		"strings": Many(Str(), 3),
		"floats": Many(Float(32, 8), 2),
		"enums": Many(Enum(u8, [("a", 0), ("b", 1, 5)]), 3),
		"nested": Many(Many(Int(12), 3), 2),
		"deep": Many(Many(Many(Int(7), 2), 3), 2),
		"texts": Many(Many(char, 3), 2),
		"structs": Many(Struct({"a": Int(4), "b": Str()}), 2),
	}
	rows = []
	for n in range(20):
		rows.append({
			"ints": [n, -n, 100 * n], "bits": [n % 8, 1, 7, 0, 3], "text": (b"text %d" % n).ljust(8, b"\0")[:8],
			"ascii": b"abcd" if n % 2 else b"a\0cd", "bytes": [n, 0, 255, 3], "none": [], "no_text": b"", "one": [n % 2],
			"strings": [b"", b"x" * n, b"y"], "floats": [n / 4, -n / 8], "enums": [0, n % 9, 200],
			"nested": [[1, 2, 3], [4, 5, n]], "deep": [[[n, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]],
			"texts": [b"ab\0", b"xyz"], "structs": [{"a": n % 16, "b": b"s"}, {"a": 1, "b": b""}]})
	return simple(directory, Struct(fields), rows)


def text_arrays_unaligned(directory):
	"""Characters that are not aligned by bytes are no text for babeltrace2."""
	fields = {"n": Int(3), "text": Many(Int(8, align=1, encoding="UTF8"), 4), "m": Int(5, align=1), "other": Many(char, 2),
	          "wide": Many(Int(16, encoding="UTF8"), 2), "spread": Many(Int(8, align=16, encoding="UTF8"), 3)}
	rows = [{"n": 5, "text": b"abcd", "m": 3, "other": b"xy", "wide": [65, 66], "spread": b"uvw"}] * 3
	return simple(directory, Struct(fields), rows)


def sequences(directory):
	fields = {
		"n": u16, "ints": Many(Int(16, True), "n"), "m": Int(5), "bits": Many(Int(7), "m"), "text": Many(char, "m"),
		"strings": Many(Str(), "m"), "structs": Many(Struct({"a": Int(4), "b": Str(), "c": u32}), "m"),
		"empty_length": u8, "empty": Many(Int(64, align=64), "empty_length"), "after": Int(1),
		"nested": Many(Many(u8, 2), "m"), "no_text": Many(char, "empty_length"), "floats": Many(Float(64, 8), "m"),
		"long_name_of_length": u64, "bytes": Many(u8, "long_name_of_length"),
		"inner": Struct({"n": u8, "of_inner": Many(u8, "n"), "of_outer": Many(u8, "m")}),
		"rows": Many(Struct({"k": u8, "row": Many(u16, "k"), "of_outer": Many(Int(3), "m")}), "m"),
	}
	rows = []
	for n in range(16):
		m = n % 5
		rows.append({
			"n": n, "ints": [-k for k in range(n)], "m": m, "bits": [k + 1 for k in range(m)], "text": b"ab\0d"[:m],
			"strings": [b"x" * k for k in range(m)], "structs": [{"a": k, "b": b"b" * k, "c": n} for k in range(m)],
			"empty_length": 0, "empty": [], "after": n % 2, "nested": [[k, n] for k in range(m)], "no_text": b"",
			"floats": [k / 2 for k in range(m)], "long_name_of_length": 3 * n, "bytes": list(range(3 * n)),
			"inner": {"n": 2, "of_inner": [7, n], "of_outer": [9] * m},
			"rows": [{"k": k, "row": [k] * k, "of_outer": [k % 8] * m} for k in range(m)]})
	return simple(directory, Struct(fields), rows)


def sequences_be(directory):
	fields = {"n": Int(3), "bits": Many(Int(5), "n"), "text": Many(char, "n"), "words": Many(u32, "n"), "last": Int(1)}
	rows = [{"n": n % 8, "bits": [k for k in range(n % 8)], "text": b"abcdefgh"[:n % 8], "words": [n] * (n % 8), "last": 1}
	        for n in range(20)]
	return simple(directory, Struct(fields), rows, order="be")


def sequence_lengths_elsewhere(directory):
	"""In the packet's header and context, the event's header and context, and in the payload by its full name."""
	paths = {"a": "trace.packet.header.in_header", "b": "stream.packet.context.in_context", "c": "stream.event.header.id",
	         "d": "stream.event.context.in_common", "e": "event.fields.own", "f": "event.fields.inner.own", "g": "inner.own"}
	fields = Struct({"own": u8, "inner": Struct({"own": u8}), **{name: Many(u8, path) for name, path in paths.items()}})
	event = Event("an_event", fields, id=3, context=Struct({"in_event": Int(4)}))
	stream = Stream(event, context=packet_context(in_context=Int(9)), event_context=Struct(
		{"in_common": Int(7), "of_header": Many(u8, "stream.event.header.id")}))
	trace = Trace(directory, stream, header=packet_header(in_header=Int(6)))
	packets = []
	for p in range(3):
		events = []
		for n in range(6):
			lengths = {"a": p + 1, "b": 2 * p, "c": 3, "d": n, "e": 2, "f": n % 4, "g": n % 4}
			events.append({
				"is": event, "time": 1000 * p + n, "common": {"in_common": n, "of_header": [n] * 3},
				"context": {"in_event": n % 3},
				"fields": {"own": 2, "inner": {"own": n % 4}, **{name: [k] * k for name, k in lengths.items()}}})
		packets.append(Packet(events, header={"in_header": p + 1}, context={"in_context": 2 * p}))
	trace.write("stream", stream, *packets)
	return trace


def sequence_in_packet_context(directory):
	stream = Stream(Event("an_event", Struct({"a": u8})), context=packet_context(
		n=u8, names=Many(Str(), "n"), flags=Many(Int(3), "n"), cpu=Struct({"cpu_id": u8})))
	trace = Trace(directory, stream)
	trace.write("stream", stream, *(
		Packet([{"is": stream.events[0], "time": 100 * p + n, "fields": {"a": n}} for n in range(4)],
		       context={"n": p, "names": [b"cpu"] * p, "flags": [5] * p, "cpu": {"cpu_id": 7}, "cpu_id": p})
		for p in range(5)))
	return trace


def enumerations(directory):
	fields = {
		"plain": Enum(u8, [("A", 0), ("B", 1), ("C", 2)]),
		"ranges": Enum(Int(5), [("low", 0, 9), ("mid", 10, 19), ("high", 20, 31)]),
		"negative": Enum(i8, [("minus", -128, -1), ("zero", 0), ("plus", 1, 127)]),
		"overlap": Enum(Int(6), [("wide", 0, 40), ("narrow", 10, 20), ("point", 15), ("other", 30, 63)]),
		"same": Enum(u8, [("again", 1), ("other", 2), ("again", 3, 5), ("other", 3)]),
		"odd": Enum(u16, [("with blank", 0), ("", 1), ("a|b", 2), ('q\\"uote', 3), ("ümlaut", 4), ("1digit", 5)]),
		"wide": Enum(u64, [("max", 2 ** 64 - 1), ("big", 2 ** 63, 2 ** 64 - 2), ("small", 0, 2 ** 63 - 1)]),
		"deep": Enum(Int(64, True), [("min", -2 ** 63), ("less", -2 ** 63 + 1, -1), ("more", 0, 2 ** 63 - 1)]),
	}
	rows = [{"plain": n % 5, "ranges": n % 32, "negative": n * 11 - 128, "overlap": n * 2, "same": n % 7, "odd": n % 7,
	         "wide": 2 ** 64 - 1 - n // 3 * 2 ** 61, "deep": -2 ** 63 + n // 2 * 2 ** 59} for n in range(23)]
	trace = simple(directory, Struct(fields), rows)
	for position, (name, context, values) in enumerate(trace.log):
		if values["odd"] == 'q\\"uote':  # escaped in the description, not in what is read
			trace.log[position] = name, context, {**values, "odd": 'q"uote'}
	return trace


def enumerations_counting(directory):
	"""Values that are not written follow the one before; identifiers, keywords and texts as labels."""
	labels = [("A", 0), ("B", 1), ("C", 10), ("D", 11), ("E", 20, 29), ("F", 30), ("integer", 31), ("G", 32)]
	text = 'enum : integer { size = 8; } { A, B, C = 10, "D", E = 20 ... 29, F, "integer", G, }'
	negative = [("A", -3), ("B", -2), ("C", -1), ("D", 0)]
	fields = {"e": Enum(u8, labels, text=text),
	          "hex": Enum(u8, [("A", 16), ("B", 17, 31), ("C", 8)],
	                      text="enum : integer { size = 8; } { A = 0x10, B = 0x11 ... 0x1F, C = 010 }"),
	          "s": Enum(i16, negative, text="enum : integer { size = 16; signed = true; } { A = -3, B, C, D }")}
	rows = [{"e": n % 40, "hex": n, "s": n % 7 - 4} for n in range(40)]
	return simple(directory, Struct(fields), rows)


def structures(directory):
	inner = Struct({"a": Int(3), "b": Int(9, True), "deep": Struct({"s": Str(), "x": Int(2)}, align=32)})
	fields = {"n": Int(1), "inner": inner, "bit": Int(1), "aligned": Struct({"b": Int(4)}, align=64), "last": Int(7),
	          "empty": Struct({}), "empty_aligned": Struct({}, align=16), "z": Int(2),
	          "a_very_long_field_name_that_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on_": u8}
	rows = [{"n": n % 2, "inner": {"a": n % 8, "b": -n, "deep": {"s": b"s" * n, "x": n % 4}}, "bit": 1, "aligned": {"b": n},
	         "last": 100, "empty": {}, "empty_aligned": {}, "z": 3, list(fields)[-1]: n} for n in range(14)]
	return simple(directory, Struct(fields, align=16), rows)


def structures_be(directory):
	inner = Struct({"a": Int(3), "deep": Struct({"x": Int(2), "y": Int(17)}, align=4)}, align=2)
	rows = [{"n": 1, "inner": {"a": n % 8, "deep": {"x": n % 4, "y": 70000 + n}}, "m": n} for n in range(14)]
	return simple(directory, Struct({"n": Int(1), "inner": inner, "m": Int(4)}), rows, order="be")


TAG = [("one", 0), ("two", 1, 3), ("three", 4), ("_four", 5)]


def options():
	return {"one": Int(13), "two": Str(), "three": Struct({"a": Int(3), "b": Many(u8, 2)}), "_four": Many(Float(64), 1)}


def option_value(n):
	return (("one", n * 100), ("two", b"text"), ("two", b""), ("two", b"three"), ("three", {"a": n % 8, "b": [n, 1]}),
	        ("_four", [n / 2]))[n % 6]


def variants(directory):
	"""With the tag in the same structure and in an outer one. (babeltrace2 takes no path for a tag.)"""
	tag = Enum(Int(3), TAG)
	fields = {"tag": tag, "v": Variant("tag", options()), "inner": Struct({"v": Variant("tag", options())}),
	          "deep": Struct({"deeper": Struct({"bit": Int(1), "v": Variant("tag", options())})}), "bit": Int(1),
	          "row": Many(Variant("tag", options()), 2),
	          "rows": Many(Struct({"tag": tag, "v": Variant("tag", options())}), 3)}
	rows = [{"tag": n % 6, "v": option_value(n), "inner": {"v": option_value(n)}, "bit": 1,
	         "deep": {"deeper": {"bit": 1, "v": option_value(n)}},
	         "row": [option_value(n)] * 2,
	         "rows": [{"tag": (n + k) % 6, "v": option_value(n + k)} for k in range(3)]} for n in range(12)]
	return simple(directory, Struct(fields), rows)


def variants_nested(directory):
	tag, other = Enum(Int(3), TAG), Enum(u8, [("num", 0), ("var", 1, 200)])
	inner = {"num": u16, "var": Variant("tag", options())}
	fields = {"tag": tag, "other": other, "v": Variant("other", inner),
	          "s": Struct({"own": other, "v": Variant("own", {
		          "num": i32, "var": Struct({"tag": tag, "v": Variant("tag", options()), "end": Int(3)})})})}
	rows = [{"tag": n % 6, "other": n % 2, "v": ("var", option_value(n)) if n % 2 else ("num", n),
	         "s": {"own": 1 - n % 2, "v": ("num", -n) if n % 2 else ("var", {
		         "tag": (n + 2) % 6, "v": option_value(n + 2), "end": 5})}} for n in range(18)]
	return simple(directory, Struct(fields), rows)


def variants_signed_tag(directory):
	tag = Enum(i8, [("minus", -100, -1), ("zero", 0), ("plus", 1, 100)])
	fields = {"tag": tag, "v": Variant("tag", {"plus": u8, "minus": Str(), "zero": Struct({})})}
	rows = [{"tag": n, "v": ("zero", {}) if n == 0 else ("plus", n) if n > 0 else ("minus", b"-")} for n in range(-6, 7)]
	return simple(directory, Struct(fields), rows)


def variants_everywhere(directory):
	"""In the packet's header and context, the event's header and context, with their tags next to them."""
	tag, variant = Enum(Int(3), TAG), Variant("tag", options())
	both = Struct({"tag": tag, "v": variant, "bit": Int(1)})
	event = Event("an_event", both, id=2, context=Struct({"tag_e": tag}))
	header = Struct({"tag_c": tag, "c": Variant("tag_c", options()), "id": Int(5), "timestamp": stamp()})
	stream = Stream(event, context=packet_context(tag=tag, own=variant), header=header,
	                event_context=Struct({"tag_d": tag, "d": Variant("tag_d", options())}))
	trace = Trace(directory, stream, header=packet_header(tag=tag, own=variant))
	packets = []
	for p in range(6):
		events = []
		for n in range(6):
			c, d, e = (n + 1) % 6, (n + 2) % 6, (n + 3) % 6
			events.append({
				"is": event, "time": 100 * p + n,
				"header": {"tag_c": c, "c": option_value(c), "id": 2, "timestamp": 100 * p + n},
				"common": {"tag_d": d, "d": option_value(d)}, "context": {"tag_e": e},
				"fields": {"tag": n, "v": option_value(n), "bit": 1}})
		packets.append(Packet(events, header={"tag": p, "own": option_value(p)},
		                      context={"tag": (p + 1) % 6, "own": option_value((p + 1) % 6)}))
	trace.write("stream", stream, *packets)
	return trace


def names_with_underscores(directory):
	fields = {"_a": u8, "__b": u8, "_": u8, "_integer": u16, "_s": Struct({"_x": u8, "y_": Str()}), "_n": u8,
	          "_row": Many(u8, "_n"), "_tag": Enum(u8, [("_p", 0), ("q", 1)]), "_v": Variant("_tag", {"_p": u8, "q": Str()})}
	rows = [{"_a": n, "__b": 2, "_": 3, "_integer": 4, "_s": {"_x": 5, "y_": b"y"}, "_n": n, "_row": [n] * n,
	         "_tag": n % 2, "_v": ("q", b"q") if n % 2 else ("_p", n)} for n in range(8)]
	return simple(directory, Struct(fields), rows)


def no_fields(directory):
	header = plain_header()
	nothing, empty = Event("nothing", None, id=0), Event("empty", Struct({}), id=1)
	full = Event("full", Struct({"a": u8}), id=2)
	stream = Stream(nothing, empty, full, header=header)
	trace = Trace(directory, stream)
	trace.write("stream", stream, Packet([
		{"is": (nothing, empty, full)[n % 3], "time": n, "fields": {"a": n} if n % 3 == 2 else {}} for n in range(15)]))
	return trace
