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
