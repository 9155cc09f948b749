# SPDX-License-Identifier: MIT
"""Traces whose packets are damaged. Every case writes a trace directory some times over and yields, each time, what was
damaged, the events that must be read first, those that may be read as well, and whether a complaint is due."""
import random
import struct

from layout import Event, Packet, Stream, Trace, packet_context, packet_header, plain_header
from writer import Enum, Many, Str, Struct, Variant, u8, u32, u64

# where the fields of the packet header and context of layout.py are
MAGIC_AT, UUID_AT, STREAM_ID_AT, BEGIN_AT, CONTENT_AT, SIZE_AT, EVENTS_AT = 0, 4, 20, 24, 40, 48, 76
PER_PACKET, PACKETS, PADDING = 4, 3, 10
FLIPS = 400


def a_trace(directory, **damage):
	"""Three packets of four events; damage: fields of the second event of the second packet. Returns the layout.Trace,
	its bytes and the places of its packets."""
	tag = Enum(u8, [("number", 0), ("text", 1)])
	event = Event("an_event", Struct({"n": u32, "row": Many(u64, "n"), "tag": tag,
	                                  "v": Variant("tag", {"number": u8, "text": Str()}), "last": Str()}))
	stream = Stream(event, context=packet_context(), header=plain_header())
	trace = Trace(directory, stream, header=packet_header())
	packets = []
	for p in range(PACKETS):
		rows = []
		for n in range(PER_PACKET):
			fields = {"n": n, "row": [p] * n, "tag": n % 2, "v": ("text", b"abc") if n % 2 else ("number", n), "last": b"end"}
			row = {"is": event, "time": 1000 * (p + 1) + n, "fields": fields}
			if (p, n) == (1, 1):
				fields.update({name: value for name, value in damage.items() if name in fields})
				row.update({name: value for name, value in damage.items() if name not in fields})
			rows.append(row)
		packets.append(Packet(rows, padding=PADDING))
	whole = trace.write("stream", stream, *packets)
	starts, at = [], 0
	while at < len(whole):
		starts.append(at)
		at += struct.unpack_from("<Q", whole, at + SIZE_AT)[0] // 8
	return trace, whole, starts


def events_before(trace, packets, more=0):
	count = packets * PER_PACKET + more
	return trace.log[:count], trace.log[count:]


def patched(directory, *places):
	"""The second packet with (place, format, value) overwritten."""
	trace, whole, starts = a_trace(directory)
	bent = bytearray(whole)
	for at, form, value in places:
		struct.pack_into(form, bent, starts[1] + at, value)
	(directory / "stream").write_bytes(bent)
	return trace


def of_second_packet(*places):
	def write(directory):
		trace = patched(directory, *places)
		yield "", *events_before(trace, 1), True
	return write


def of_an_event(least=1, **damage):
	"""The second event of the second packet is wrong: the first is still good."""
	def write(directory):
		trace, _, _ = a_trace(directory, **damage)
		yield "", *events_before(trace, 1, least), True
	return write


def cut_at_every_byte(directory):
	trace, whole, starts = a_trace(directory)
	for size in range(len(whole)):
		(directory / "stream").write_bytes(whole[:size])
		complete = sum(end <= size for end in starts[1:] + [len(whole)])
		first, rest = events_before(trace, complete)
		# of the padding at the end of a packet nothing is needed, but it is missed
		yield f"cut to {size} bytes", first, rest[:PER_PACKET], size not in starts


def cut_description(directory):
	trace, _, _ = a_trace(directory)
	text = (directory / "metadata").read_bytes()
	for size in range(0, len(text), 7):
		(directory / "metadata").write_bytes(text[:size])
		yield f"description cut to {size} bytes", [], trace.log, None


def bits_flipped(directory):
	_, whole, starts = a_trace(directory)
	numbers = random.Random(4711)
	for _ in range(FLIPS):
		bit = numbers.randrange(starts[1] * 8, len(whole) * 8)
		bent = bytearray(whole)
		bent[bit // 8] ^= 1 << bit % 8
		(directory / "stream").write_bytes(bent)
		yield f"bit {bit} flipped", None, None, None


def string_without_end(directory):
	"""The zero of the last string is after the content."""
	trace, whole, starts = a_trace(directory)
	bent = bytearray(whole)
	content = struct.unpack_from("<Q", whole, starts[1] + CONTENT_AT)[0]
	struct.pack_into("<Q", bent, starts[1] + CONTENT_AT, content - 8)
	(directory / "stream").write_bytes(bent)
	yield "", *events_before(trace, 1, 3), True


def string_without_end_in_the_file(directory):
	trace, whole, starts = a_trace(directory)
	bent = bytearray(whole[:starts[2]])
	content = struct.unpack_from("<Q", whole, starts[1] + CONTENT_AT)[0] // 8
	for at, size in ((CONTENT_AT, content * 8), (SIZE_AT, content * 8)):
		struct.pack_into("<Q", bent, starts[1] + at, size)
	bent = bent[:starts[1] + content]
	bent[-1:] = b"x"
	(directory / "stream").write_bytes(bent)
	yield "", *events_before(trace, 1, 3), True


def event_beyond_content(directory):
	"""The content ends inside the header of the second event."""
	trace, whole, starts = a_trace(directory)
	bent = bytearray(whole)
	struct.pack_into("<Q", bent, starts[1] + CONTENT_AT, (EVENTS_AT + 21 + 5) * 8)
	(directory / "stream").write_bytes(bent)
	yield "", *events_before(trace, 1, 1), True


def garbage_behind_the_last_packet(directory):
	trace, whole, _ = a_trace(directory)
	for size in (1, 5, 30, 1000):
		(directory / "stream").write_bytes(whole + b"\x55" * size)
		yield f"{size} bytes of garbage", trace.log, [], True


def nothing_but_garbage(directory):
	_, whole, _ = a_trace(directory)
	for byte in (0, 0x55, 0xff):
		(directory / "stream").write_bytes(bytes([byte]) * len(whole))
		yield f"all bytes {byte}", [], [], True


DAMAGED = {
	"content_beyond_packet": of_second_packet((CONTENT_AT, "<Q", 10 ** 6)),
	"packet_size_0": of_second_packet((SIZE_AT, "<Q", 0)),
	"both_sizes_0": of_second_packet((SIZE_AT, "<Q", 0), (CONTENT_AT, "<Q", 0)),
	"packet_size_8": of_second_packet((SIZE_AT, "<Q", 8), (CONTENT_AT, "<Q", 8)),
	"packet_size_of_no_bytes": of_second_packet((SIZE_AT, "<Q", 3003)),
	"packet_size_beyond_file": of_second_packet((SIZE_AT, "<Q", 10 ** 6)),
	"packet_size_huge": of_second_packet((SIZE_AT, "<Q", 2 ** 64 - 8)),
	"packet_size_huge_and_content": of_second_packet((SIZE_AT, "<Q", 2 ** 64 - 8), (CONTENT_AT, "<Q", 2 ** 64 - 8)),
	"content_size_0": of_second_packet((CONTENT_AT, "<Q", 0)),
	"content_within_header": of_second_packet((CONTENT_AT, "<Q", EVENTS_AT * 8 - 1)),
	"content_huge": of_second_packet((CONTENT_AT, "<Q", 2 ** 64 - 1)),
	"magic_wrong": of_second_packet((MAGIC_AT, "<I", 0xC1FC1FC0)),
	"magic_of_other_order": of_second_packet((MAGIC_AT, ">I", 0xC1FC1FC1)),
	"uuid_wrong": of_second_packet((UUID_AT + 3, "B", 0)),
	"stream_unknown": of_second_packet((STREAM_ID_AT, "<I", 7)),
	"event_unknown": of_an_event(header={"id": 77, "timestamp": 2001}),
	"sequence_beyond_packet": of_an_event(n=1000, row=[]),
	"sequence_huge": of_an_event(n=2 ** 32 - 1, row=[]),
	"sequence_overflowing": of_an_event(n=2 ** 29, row=[]),
	"tag_without_option": of_an_event(tag=7),
	"string_without_end": string_without_end,
	"string_without_end_in_the_file": string_without_end_in_the_file,
	"event_beyond_content": event_beyond_content,
	"garbage_behind_the_last_packet": garbage_behind_the_last_packet,
	"nothing_but_garbage": nothing_but_garbage,
	"cut_at_every_byte": cut_at_every_byte,
	"cut_description": cut_description,
	"bits_flipped": bits_flipped,
}
