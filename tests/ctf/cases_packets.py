# SPDX-License-Identifier: MIT
"""Valid traces that differ in their packets: headers, clocks, wraps of time, counters of losses, paddings, files and
directories. Each is a function as in cases_values.py."""
import struct
import uuid

from layout import (CLOCK, MAGIC, UUID, Event, Packet, Stream, Trace, UuidBytes, compact_header, large_header,
                    packet_context, plain_header, simple, stamp)
from writer import Enum, Int, Many, Str, Struct, char, i32, u8, u16, u32, u64

ONE = Struct({"a": u8})
NUMBERS = [{"a": number} for number in range(30)]


def timed(event, times, **more):
	return [{"is": event, "time": time, "fields": {"a": number % 256}, **more} for number, time in enumerate(times)]


def wrapped(directory, header, times, clock=CLOCK, order="le", per_packet=8, context=...):
	"""One event of ONE at each of these times."""
	event = Event("an_event", ONE)
	stream = Stream(event, header=header, context=context)
	trace = Trace(directory, stream, clock=clock, order=order)
	events = timed(event, times)
	trace.write("stream", stream, *(Packet(events[at:at + per_packet]) for at in range(0, len(events), per_packet)))
	return trace


def clock_10_ghz(directory):
	clock = "clock { name = monotonic; freq = 10000000000; offset_s = 5; offset = 7; };"
	return simple(directory, ONE, NUMBERS, step=13, clock=clock)


def clock_odd_frequency(directory):
	clock = "clock { name = monotonic; freq = 2399999999; precision = 3; offset_s = 1500000000; offset = 2399999998; };"
	return simple(directory, ONE, NUMBERS, step=123456789, clock=clock)


def clock_slow(directory):
	return simple(directory, ONE, NUMBERS, step=7, clock="clock { name = monotonic; freq = 3; offset_s = 1; offset = 10; };")


def clock_negative_offset(directory):
	clock = "clock { name = monotonic; freq = 1000000; offset_s = -7200; offset = 999999; };"
	return simple(directory, ONE, NUMBERS, step=777777, clock=clock)


def clock_defaults(directory):
	return simple(directory, ONE, NUMBERS, clock="clock { name = monotonic; freq = 1000000000; };")


def clock_offset_beyond_a_second(directory):
	clock = "clock { name = monotonic; freq = 1000; offset_s = 3; offset = 123456789; };"
	return simple(directory, ONE, NUMBERS, clock=clock)


def no_clock(directory):
	context = packet_context(without=("timestamp_begin", "timestamp_end"))
	return simple(directory, ONE, NUMBERS, clock="", header=Struct({"id": u16}), context=context)


def no_clock_but_timestamps(directory):
	"""Numbers that are called timestamp, of no clock."""
	context = packet_context(timestamp_begin=u64, timestamp_end=u64)
	return simple(directory, ONE, NUMBERS, clock="", header=Struct({"id": u16, "timestamp": u64}), context=context)


def no_packet_times(directory):
	context = packet_context(without=("timestamp_begin", "timestamp_end"))
	return simple(directory, ONE, NUMBERS, context=context)


def no_packet_times_but_wraps(directory):
	context = packet_context(without=("timestamp_begin", "timestamp_end"))
	header = Struct({"id": u8, "timestamp": stamp(8)})
	return wrapped(directory, header, range(3, 3000, 97), context=context)


def two_clocks(directory):
	clock = ("clock { name = one; freq = 1000000000; offset_s = 100; };\n"
	         "clock { name = two; freq = 1000; offset_s = 100; offset = 3; };")
	streams = []
	for number, name in enumerate(("one", "two")):
		time = stamp(clock=name)
		streams.append(Stream(Event(f"of_{name}", ONE), id=number, header=Struct({"id": u16, "timestamp": time}),
		                      context=packet_context(timestamp_begin=time, timestamp_end=time)))
	trace = Trace(directory, *streams, clock=clock)
	trace.write("one", streams[0], Packet(timed(streams[0].events[0], range(500000, 20000000, 1700000))))
	trace.write("two", streams[1], Packet(timed(streams[1].events[0], range(1, 20, 2))))
	return trace


def wrap_8_bits(directory):
	return wrapped(directory, Struct({"id": u8, "timestamp": stamp(8)}), [2 ** 40 + n * 251 for n in range(40)])


def wrap_8_bits_exactly(directory):
	"""Equal low bits: no time has passed, as a reader must take it."""
	return wrapped(directory, Struct({"id": u8, "timestamp": stamp(8)}), [1000, 1000, 1001, 1255, 1256, 1256 + 255])


def wrap_27_bits(directory):
	times = [2 ** 50 + 2 ** 27 - 5, 2 ** 50 + 2 ** 27 - 1, 2 ** 50 + 2 ** 27, 2 ** 50 + 2 ** 28 - 1, 2 ** 50 + 2 ** 28 + 3]
	return wrapped(directory, compact_header(), times)


def wrap_32_bits_be(directory):
	times = [2 ** 32 * 9 - 1, 2 ** 32 * 9, 2 ** 32 * 10 - 1, 2 ** 32 * 10 + 5, 2 ** 32 * 11]
	return wrapped(directory, Struct({"id": u8, "timestamp": stamp(32)}), times, order="be")


def time_of_1_bit(directory):
	return wrapped(directory, Struct({"id": Int(7), "timestamp": stamp(1, 1)}), range(100, 130))


def time_of_full_64_bits(directory):
	times = [2 ** 63 - 20 + n for n in range(10)]
	return wrapped(directory, plain_header(), times, clock="clock { name = monotonic; freq = 100000000000; };")


def lttng(directory, header, order):
	"""Numbers that fit the short form, that do not, and a short one in the long form."""
	events = [Event(f"lttng_ust:event_{number}", ONE, id=number, more="\tloglevel = 13;\n") for number in
	          (0, 1, 29, 30, 31, 32, 1000, 65534, 65535, 65536)]
	common = Struct({"_vpid": i32, "_vtid": i32, "_procname": Many(char, 17)})
	stream = Stream(*events, header=header, event_context=common)
	trace = Trace(directory, stream, order=order)
	packets, time = [], 2 ** 45 + 12345
	for _ in range(4):
		rows = []
		for n in range(15):
			event = events[n % len(events)]
			extended = event.id >= (31 if header.fields["id"].container.size == 5 else 65535) or n == 11
			time += 2 ** 33 if extended else 2 ** 25 + n
			rows.append({"is": event, "time": time, "extended": extended, "fields": {"a": n},
			             "common": {"_vpid": 100, "_vtid": -n, "_procname": b"a name".ljust(17, b"\0")}})
		packets.append(Packet(rows, padding=100, context={"cpu_id": 3}))
	trace.write("channel0_3", stream, *packets)
	return trace


def lttng_compact(directory):
	return lttng(directory, compact_header(), "le")


def lttng_compact_be(directory):
	return lttng(directory, compact_header(), "be")


def lttng_large(directory):
	return lttng(directory, large_header(), "le")


def lttng_large_be(directory):
	return lttng(directory, large_header(), "be")


def several_streams(directory):
	"""Equal numbers of events in streams with different headers and contexts, in several files each."""
	streams = []
	for number in (0, 1, 7, 300):
		common = Struct({f"common_{number}": u16}) if number % 2 else None
		events = [Event(f"{kind}_of_{number}", ONE, id=kind) for kind in (0, 1, 2)]
		header = (plain_header(), compact_header(), large_header(), Struct({"timestamp": stamp(16), "id": Int(3)}))
		streams.append(Stream(*events, id=number, event_context=common, header=header[len(streams)]))
	trace = Trace(directory, *streams)
	for place, stream in enumerate(streams):
		for cpu in range(3):
			rows = [{"is": stream.events[n % 3], "time": 10 ** 6 + 1000 * n + 10 * place + cpu, "fields": {"a": n},
			         "common": {f"common_{stream.id}": n}} for n in range(12)]
			trace.write(f"stream{stream.id}_{cpu}", stream, *(
				Packet(rows[at:at + 5], context={"cpu_id": cpu}) for at in range(0, 12, 5)))
	return trace


def equal_times(directory):
	streams = [Stream(Event(f"event_of_{number}", ONE), id=number) for number in range(3)]
	trace = Trace(directory, *streams)
	for stream in streams:
		trace.write(f"stream{stream.id}", stream, Packet(timed(stream.events[0], [1000, 1000, 1000, 1500, 1500, 2000])))
	return trace


def no_packet_header(directory):
	event = Event("an_event", ONE)
	stream = Stream(event, id=None)
	trace = Trace(directory, stream, header=None)
	trace.write("stream", stream, Packet(timed(event, range(0, 100, 5))), Packet(timed(event, range(100, 200, 20))))
	return trace


def no_stream_ids(directory):
	"""The only kind of stream and of event need no number."""
	event = Event("an_event", ONE, id=None)
	stream = Stream(event, id=None, header=Struct({"timestamp": stamp()}))
	trace = Trace(directory, stream, header=Struct({"magic": u32, "uuid": UuidBytes()}))
	trace.write("stream", stream, Packet(timed(event, range(0, 100, 5))), Packet(timed(event, range(100, 200, 20))))
	return trace


def packets_with_magic_only(directory):
	event = Event("an_event", ONE, id=3)
	stream = Stream(event, id=None)
	trace = Trace(directory, stream, header=Struct({"magic": u32}))
	trace.write("stream", stream, Packet(timed(event, range(0, 100, 5))), Packet(timed(event, range(100, 200, 20))))
	return trace


def packet_header_in_odd_order(directory):
	"""stream_id before the uuid, of 8 bits; more fields between."""
	header = Struct({"magic": u32, "stream_id": u8, "more": Str(), "uuid": UuidBytes(), "stream_instance_id": u64})
	event = Event("an_event", ONE)
	stream = Stream(Event("other", ONE), id=4), Stream(event, id=5)
	trace = Trace(directory, *stream, header=header)
	packets = [Packet(timed(event, range(at, at + 50, 5)), header={"more": b"x" * (at // 50), "stream_instance_id": 9})
	           for at in (0, 50, 100)]
	trace.write("stream", stream[1], *packets)
	return trace


def no_packet_context(directory):
	"""A file is one packet then."""
	event = Event("an_event", ONE)
	stream = Stream(event, context=None)
	trace = Trace(directory, stream)
	trace.write("one", stream, Packet(timed(event, range(0, 100, 5))))
	trace.write("two", stream, Packet(timed(event, range(2, 100, 7))))
	return trace


def no_event_header(directory):
	event = Event("an_event", ONE, id=None)
	stream = Stream(event, header=None)
	trace = Trace(directory, stream)
	trace.write("stream", stream, Packet(timed(event, range(10))), Packet(timed(event, range(20, 30))))
	return trace


def nothing_but_events(directory):
	"""No packet header, no packet context, no event header, no clock."""
	event = Event("an_event", Struct({"n": Int(12), "s": Str()}), id=None)
	stream = Stream(event, id=None, header=None, context=None)
	trace = Trace(directory, stream, header=None, clock="")
	rows = [{"is": event, "fields": {"n": n, "s": b"s" * n}} for n in range(20)]
	trace.write("stream", stream, Packet(rows))
	return trace


def packet_size_only(directory):
	context = packet_context(without=("content_size",))
	return simple(directory, ONE, NUMBERS, context=context)


def content_size_only(directory):
	"""A file is one packet then: content and size are the same."""
	context = packet_context(without=("packet_size",))
	return simple(directory, ONE, NUMBERS, context=context, per_packet=100)


def small_sizes(directory):
	context = Struct({"content_size": u16, "packet_size": Int(17), "timestamp_begin": stamp(32), "cpu_id": Int(3)})
	return simple(directory, ONE, NUMBERS, context=context)


def paddings(directory):
	event = Event("an_event", ONE)
	stream = Stream(event)
	trace = Trace(directory, stream)
	trace.write("stream", stream, *(Packet(timed(event, range(100 * p, 100 * p + 5)), padding=pad)
	                                for p, pad in enumerate((0, 1, 7, 4096, 3, 100000))))
	return trace


def content_ends_inside_a_byte(directory):
	event = Event("an_event", Struct({"a": Int(3)}), id=None)
	stream = Stream(event, header=Struct({"timestamp": stamp(9, 1)}))
	trace = Trace(directory, stream)
	trace.write("stream", stream, *(Packet([{"is": event, "time": 50 * p + n, "fields": {"a": n % 8}} for n in range(count)])
	                                for p, count in enumerate((1, 2, 3, 5, 8, 13))))
	return trace


def empty_packets(directory):
	event = Event("an_event", ONE)
	stream = Stream(event)
	trace = Trace(directory, stream)
	times = {"timestamp_begin": 500, "timestamp_end": 500}
	trace.write("stream", stream, Packet([], context={"timestamp_begin": 0, "timestamp_end": 0}),
	            Packet(timed(event, range(100, 105)), padding=9), Packet([], context=times), Packet([], context=times),
	            Packet(timed(event, range(600, 605))), Packet([], context={"timestamp_begin": 900, "timestamp_end": 1000}))
	trace.write("nothing", stream, Packet([], context={"timestamp_begin": 50, "timestamp_end": 60}))
	return trace


def only_empty_packets(directory):
	stream = Stream(Event("an_event", ONE))
	trace = Trace(directory, stream)
	trace.write("stream", stream, Packet([]), Packet([]))
	return trace


def empty_files(directory):
	trace = simple(directory, ONE, NUMBERS)
	(directory / "empty").write_bytes(b"")
	(directory / "another").write_bytes(b"")
	return trace


def losses(directory, size):
	"""Counters of lost events that grow, wrap and stay; missing numbers of packets."""
	context = packet_context(events_discarded=Int(size))
	event = Event("an_event", ONE)
	stream = Stream(event, context=context)
	trace = Trace(directory, stream)
	top = 2 ** size
	for cpu, counts in enumerate(((0, 0, 5, 5, 1000, 1001), (7, 7, 8, 9, 9, 100), (top - 10, top - 3, top - 3, 4, 4, 20))):
		packets = []
		for number, count in enumerate(counts):
			packets.append(Packet(timed(event, range(1000 * number + cpu, 1000 * number + 900, 100)),
			                      context={"events_discarded": count % top, "cpu_id": cpu,
			                               "packet_seq_num": (0, 1, 2, 5, 6, 900)[number] + cpu}))
		trace.write(f"stream_{cpu}", stream, *packets)
	return trace


def losses_of_32_bits(directory):
	return losses(directory, 32)


def losses_of_64_bits(directory):
	return losses(directory, 64)


def losses_of_8_bits(directory):
	return losses(directory, 8)


def packetised(directory, order):
	"""The description in packets, as LTTng writes it."""
	trace = simple(directory, Struct({"a": u8, "b": u32}), [{"a": n, "b": 3 ** n} for n in range(12)], order=order)
	text = (directory / "metadata").read_bytes()
	whole, mark = b"", "<" if order == "le" else ">"
	for at in range(0, len(text), 333):
		part, padding = text[at:at + 333], at % 50
		whole += struct.pack(mark + "I16sIIIBBBBB", 0x75D11D57, UUID.bytes, 0, (37 + len(part)) * 8,
		                     (37 + len(part) + padding) * 8, 0, 0, 0, 1, 8) + part + b"\0" * padding
	(directory / "metadata").write_bytes(whole)
	return trace


def packetised_description_le(directory):
	return packetised(directory, "le")


def packetised_description_be(directory):
	return packetised(directory, "be")


def trace_within(directory, place, clock, kind, times):
	stream = Stream(Event(f"event_of_{kind}", ONE))
	trace = Trace(directory / place, stream, clock=clock, uuid=uuid.uuid5(UUID, place))
	trace.write("channel0_0", stream, Packet(timed(stream.events[0], times)))
	(directory / place / "index").mkdir()
	(directory / place / "index" / "channel0_0.idx").write_bytes(struct.pack(">IIII", MAGIC, 1, 1, 0) + b"\xff" * 100)
	return trace


def nested_traces(directory):
	"""Traces in directories below, with clocks that began at different times."""
	one = "clock { name = monotonic; freq = 1000000000; offset_s = 1000; };"
	two = "clock { name = monotonic; freq = 1000000000; offset_s = 999; offset = 5; };"
	return [trace_within(directory, "kernel", one, "kernel", range(10 ** 6, 10 ** 7, 10 ** 6)),
	        trace_within(directory, "ust/uid/0/64-bit", two, "ust", range(10 ** 9 + 500000, 10 ** 9 + 10 ** 7, 700000)),
	        trace_within(directory, "ust/uid/1000/64-bit", two, "user", range(10 ** 9 + 1, 10 ** 9 + 10 ** 7, 900000))]


def nested_traces_of_one_clock(directory):
	return [trace_within(directory, place, CLOCK, place[:1], range(start, start + 5000, 250))
	        for place, start in (("a/x", 100), ("a/y", 140), ("b", 2000))]


def index_directory(directory):
	trace = simple(directory, ONE, NUMBERS)
	(directory / "index").mkdir()
	(directory / "index" / "stream.idx").write_bytes(b"\xc1\xfc\x1f\xc1" + b"\0" * 300)
	(directory / ".hidden").write_bytes(b"not a stream")
	return trace


def barectf(directory):
	"""The layout that barectf 3 writes by default."""
	before = 'env { domain = "bare"; tracer_name = "barectf"; tracer_major = 3; };\n'
	clock = 'clock { name = "default"; freq = 1000000; offset_s = 12; offset = 500; absolute = true; };'
	time = Int(64, align=8, more="map = clock.default.value;")
	header = Struct({"magic": Int(32, align=8), "uuid": UuidBytes(), "stream_id": Int(64, align=8)}, align=8)
	context = Struct({"packet_size": Int(64, align=8), "content_size": Int(64, align=8), "timestamp_begin": time,
	                  "timestamp_end": time, "events_discarded": Int(64, align=8)}, align=8)
	event_header = Struct({"id": Int(64, align=8), "timestamp": time}, align=8)
	fields = Struct({"n": Int(32, align=8), "s": Str(), "f": Enum(Int(8, align=8), [("a", 0), ("b", 1, 9)])}, align=8)
	stream = Stream(Event("an_event", fields), context=context, header=event_header)
	trace = Trace(directory, stream, header=header, clock=clock, before=before)
	trace.write("stream", stream, *(Packet([
		{"is": stream.events[0], "time": 100 * p + n, "fields": {"n": n, "s": b"s", "f": n}} for n in range(6)], padding=50)
		for p in range(4)))
	return trace
