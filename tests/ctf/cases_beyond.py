# SPDX-License-Identifier: MIT
"""Valid traces that babeltrace 2.0 cannot read, or of which it hides something: what was written is compared instead.
Each is a function as in cases_values.py."""
from cases_values import TAG, option_value, options
from layout import Event, Packet, Stream, Trace, packet_context, packet_header, simple, stamp
from writer import Enum, Int, Many, Struct, Variant, u8, u16


def clock_without_frequency(directory):
	"""It is 1 GHz. babeltrace2 divides by zero."""
	return simple(directory, Struct({"a": u8}), [{"a": n} for n in range(10)], clock="clock { name = monotonic; };")


def clock_in_event_context(directory):
	"""The time is in the event's context, not in a header. babeltrace2 does not show a field with a time."""
	rows = [{"fields": {"a": n}, "common": {"at": 5000 + 10 * n}, "time": 5000 + 10 * n} for n in range(20)]
	return simple(directory, Struct({"a": u8}), rows, header=Struct({"id": u16}), event_context=Struct({"at": stamp(32)}))


def lengths_in_event_context(directory):
	"""An event's own context refers to itself and to the stream's. babeltrace2 fails an assertion."""
	event = Event("an_event", Struct({"a": Many(u8, "event.context.n")}), context=Struct(
		{"n": u8, "own": Many(u8, "n"), "common": Many(u8, "stream.event.context.m")}))
	rows = [{"common": {"m": n % 4}, "context": {"n": n, "own": [n] * n, "common": [7] * (n % 4)}, "fields": {"a": [1] * n}}
	        for n in range(10)]
	stream = Stream(event, event_context=Struct({"m": u8}))
	trace = Trace(directory, stream)
	trace.write("stream", stream, Packet([{"is": event, "time": n, **row} for n, row in enumerate(rows)]))
	return trace


def lengths_in_earlier_scopes(directory):
	"""Names without a path that are found in an earlier part of the event. babeltrace2 looks into the same part only."""
	of_common = Many(u8, "in_common")
	fields = {"a": of_common, "b": Many(u8, "in_event"), "c": Struct({"in_common": u8, "d": of_common})}
	event = Event("an_event", Struct(fields), context=Struct({"in_event": u8}))
	stream = Stream(event, event_context=Struct({"in_common": u8}))
	trace = Trace(directory, stream)
	trace.write("stream", stream, Packet([
		{"is": event, "time": n, "common": {"in_common": n}, "context": {"in_event": n % 3}, "fields": {
			"a": [n] * n, "b": [9] * (n % 3), "c": {"in_common": 2, "d": [8, n]}}} for n in range(12)]))
	return trace


def variant_tags_elsewhere(directory):
	"""Tags by their path, in every part before the payload and in an inner structure. babeltrace2 takes no path."""
	tag = Enum(Int(3), TAG)
	paths = {"a": "trace.packet.header.tag_a", "b": "stream.packet.context.tag_b", "c": "stream.event.header.tag_c",
	         "d": "stream.event.context.tag_d", "e": "event.context.tag_e", "f": "event.fields.inner.tag_f",
	         "g": "inner.tag_f"}
	fields = {"inner": Struct({"tag_f": tag}), **{name: Variant(path, options()) for name, path in paths.items()}}
	event = Event("an_event", Struct(fields), id=2, context=Struct({"tag_e": tag}))
	header = Struct({"tag_c": tag, "id": Int(5), "timestamp": stamp()})
	stream = Stream(event, context=packet_context(tag_b=tag), header=header, event_context=Struct(
		{"tag_d": tag, "a": Variant("trace.packet.header.tag_a", options())}))
	trace = Trace(directory, stream, header=packet_header(tag_a=tag))
	packets = []
	for p in range(6):
		events = []
		for n in range(6):
			c, d, e = (n + 1) % 6, (n + 2) % 6, (n + 3) % 6
			values = dict(zip("abcdefg", map(option_value, (p, (p + 1) % 6, c, d, e, n, n))))
			events.append({
				"is": event, "time": 100 * p + n, "header": {"tag_c": c, "id": 2, "timestamp": 100 * p + n},
				"common": {"tag_d": d, "a": option_value(p)}, "context": {"tag_e": e},
				"fields": {"inner": {"tag_f": n}, **values}})
		packets.append(Packet(events, header={"tag_a": p}, context={"tag_b": (p + 1) % 6}))
	trace.write("stream", stream, *packets)
	return trace


class Wide(Int):
	"""An integer of more than 64 bits. babeltrace2 has none."""

	def json(self, value):
		return f"0x{value & (1 << self.size) - 1:x}"


def integers_above_64_bits(directory):
	fields = {"before": Int(3), "a": Wide(65), "b": Wide(128, align=8), "c": Wide(72, align=8, signed=True), "d": Wide(4096), "e": u8}
	values = (0, 1, (1 << 64) - 1, 1 << 64, 0x0123456789abcdef0123456789abcdef, -1)
	rows = [{"before": n % 8, "a": value & (1 << 65) - 1, "b": value, "c": value & (1 << 72) - 1 if n % 2 else -1, "d": value << 3900 | value, "e": 7}
	        for n, value in enumerate(values)]
	return simple(directory, Struct(fields), rows)


def integers_above_64_bits_big_endian(directory):
	return simple(directory, Struct({"a": Wide(128, align=8), "b": Int(5), "c": Wide(99), "d": Many(Wide(80, align=8), 2)}),
	              [{"a": 1 << n | n, "b": n % 32, "c": 3 << n, "d": [n, 1 << n % 80]} for n in range(0, 96, 5)], order="be")


def options_without_labels(directory):
	"""They are never chosen. babeltrace2 refuses them."""
	tag = Enum(u8, [("a", 0), ("b", 1)])
	fields = Struct({"t": tag, "v": Variant("t", {"a": u8, "b": u16, "c": Struct({"x": u16}), "d": u8})})
	return simple(directory, fields, [{"t": n % 2, "v": (("a", "b")[n % 2], n)} for n in range(12)])


def labels_without_options(directory):
	"""No event may have one of these."""
	tag = Enum(u8, [("a", 0), ("b", 1), ("c", 2, 255)])
	fields = Struct({"t": tag, "v": Variant("t", {"a": u8, "b": u16})})
	return simple(directory, fields, [{"t": n % 2, "v": (("a", "b")[n % 2], n)} for n in range(12)])


def struct_without_a_field(directory):
	"""A struct that only is declared, in a struct. babeltrace2 takes it outside of structs only."""
	fields = Struct({"a": u8, "b": Struct({"x": u8, "y": u16}, align=16)},
	                text="struct { struct inner { integer { size = 8; } x; integer { size = 16; } y; } align(16); "
	                     "integer { size = 8; } a; enum kind : integer { size = 8; } { one }; struct inner b; }")
	return simple(directory, fields, [{"a": n, "b": {"x": n, "y": 2 * n}} for n in range(8)])
