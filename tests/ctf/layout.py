# SPDX-License-Identifier: MIT
"""Traces as a whole: their description and their packets, from the types of writer.py. Imported by the tests here."""
import uuid

from writer import Bits, Enum, Int, Struct, Variant, u16, u32, u64

UUID = uuid.UUID("2a6422d0-6cee-11e0-8c08-cb07d7b3a564")
MAGIC = 0xC1FC1FC1
CLOCK = 'clock { name = monotonic; freq = 1000000000; offset_s = 1600000000; offset = 5; };'


def stamp(size=64, align=8, clock="monotonic"):
	"""The type of a time."""
	return Int(size, align=align, more=f"map = clock.{clock}.value;")


def packet_header(*more, **fields):
	return Struct({"magic": u32, "uuid": UuidBytes(), "stream_id": u32, **fields})


class UuidBytes(Int):
	"""uint8_t uuid[16]"""

	suffix = "[16]"

	def __init__(self):
		super().__init__(8)

	def write(self, bits, value):
		bits.align(8)
		for byte in value:
			bits.unsigned(byte, 8)


def packet_context(without=(), **more):
	fields = {"timestamp_begin": stamp(), "timestamp_end": stamp(), "content_size": u64, "packet_size": u64,
	          "packet_seq_num": u64, "events_discarded": u64, "cpu_id": u32, **more}
	return Struct({name: field for name, field in fields.items() if name not in without})


def plain_header():
	return Struct({"id": u16, "timestamp": stamp()})


def compact_header(clock="monotonic"):
	"""LTTng's: 5 bits of number and 27 of time, or all of both."""
	return Struct({
		"id": Enum(Int(5, align=1), [("compact", 0, 30), ("extended", 31)]),
		"v": Variant("id", {
			"compact": Struct({"timestamp": stamp(27, 1, clock)}),
			"extended": Struct({"id": u32, "timestamp": stamp(64, 8, clock)})})}, align=8)


def large_header(clock="monotonic"):
	return Struct({
		"id": Enum(u16, [("compact", 0, 65534), ("extended", 65535)]),
		"v": Variant("id", {
			"compact": Struct({"timestamp": stamp(32, 8, clock)}),
			"extended": Struct({"id": u32, "timestamp": stamp(64, 8, clock)})})}, align=8)


class Event:
	def __init__(self, name, fields, id=0, context=None, more=""):
		self.name, self.fields, self.id, self.context, self.more = name, fields, id, context, more

	def tsdl(self, stream):
		name = "" if self.name is None else f'\tname = "{self.name}";\n'
		number = "" if self.id is None else f"\tid = {self.id};\n"
		home = "" if stream.id is None else f"\tstream_id = {stream.id};\n"
		context = f"\tcontext := {self.context.text or self.context.tsdl()};\n" if self.context else ""
		fields = f"\tfields := {self.fields.text or self.fields.tsdl()};\n" if self.fields else ""
		return f"event {{\n{name}{number}{home}{self.more}{context}{fields}}};\n"


class Stream:
	"""A kind of stream: header, contexts, events. None: there is none."""

	def __init__(self, *events, id=0, context=..., header=..., event_context=None, more=""):
		self.id, self.events, self.event_context, self.more = id, events, event_context, more
		self.context = packet_context() if context is ... else context
		self.header = plain_header() if header is ... else header

	def tsdl(self):
		number = "" if self.id is None else f"\tid = {self.id};\n"
		parts = (("packet.context", self.context), ("event.header", self.header), ("event.context", self.event_context))
		rows = "".join(f"\t{name} := {part.text or part.tsdl()};\n" for name, part in parts if part)
		return f"stream {{\n{number}{self.more}{rows}}};\n" + "".join(event.tsdl(self) for event in self.events)


class Packet:
	"""What is asked of a packet: values of the header and context that are not filled in, bytes after the content."""

	def __init__(self, events, header=None, context=None, padding=0):
		self.events, self.header, self.context, self.padding = events, header or {}, context or {}, padding


class Trace:
	"""A trace directory. log: (name, context, fields) of every event written, as a reader is to print them."""

	def __init__(self, directory, *streams, order="le", header=..., clock=CLOCK, before="", after="", inside="",
	             uuid=UUID):
		self.directory, self.streams, self.order, self.clock = directory, streams, order, clock
		self.header = packet_header() if header is ... else header
		self.before, self.after, self.inside, self.log = before, after, inside, []
		self.uuid = uuid
		self.event_ends = []  # bytes from the start of its packet at which each event of the last packet ends
		directory.mkdir(parents=True, exist_ok=True)
		(directory / "metadata").write_text(self.tsdl())

	def tsdl(self):
		header = f"\tpacket.header := {self.header.text or self.header.tsdl()};\n" if self.header else ""
		return (f'/* CTF 1.8 */\n{self.before}trace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = "{self.uuid}";\n'
		        f"\tbyte_order = {self.order};\n{self.inside}{header}}};\n{self.clock}\n"
		        + "".join(stream.tsdl() for stream in self.streams) + self.after)

	def packet_bytes(self, stream, packet, sizes, number=0):
		bits = Bits(self.order)
		if self.header:
			known = {"magic": MAGIC, "uuid": self.uuid.bytes, "stream_id": stream.id}
			self.header.write(bits, {name: packet.header.get(name, known.get(name, 0)) for name in self.header.fields})
		times = [event["time"] for event in packet.events if "time" in event]
		if stream.context:
			known = {"timestamp_begin": times[0] if times else 0, "timestamp_end": times[-1] if times else 0,
			         "content_size": sizes[0], "packet_size": sizes[1], "packet_seq_num": number}
			values = {name: packet.context.get(name, known.get(name, 0)) for name in stream.context.fields}
			stream.context.write(bits, values)
		self.event_ends = []
		for event in packet.events:
			self.event(bits, stream, event)
			self.event_ends.append((len(bits) + 7) // 8)
		return bits

	def event(self, bits, stream, event):
		"""event: {"is": Event, "time": …, "header": values or None, "common": …, "context": …, "fields": …}"""
		kind = event["is"]
		if stream.header:
			stream.header.write(bits, event.get("header") or self.header_values(stream.header, kind, event))
		for part, name in ((stream.event_context, "common"), (kind.context, "context"), (kind.fields, "fields")):
			if part:
				part.write(bits, event[name])

	@staticmethod
	def header_values(header, kind, event):
		"""The values of a plain, a compact or a large header."""
		if "v" not in header.fields:
			known = {"id": kind.id, "timestamp": event.get("time", 0)}
			return {name: known[name] for name in header.fields}
		extended = 31 if header.fields["id"].container.size == 5 else 65535
		if kind.id < extended and not event.get("extended"):
			return {"id": kind.id, "v": ("compact", {"timestamp": event["time"]})}
		return {"id": extended, "v": ("extended", {"id": kind.id, "timestamp": event["time"]})}

	def write(self, file, stream, *packets):
		"""Writes a file of packets and adds their events to the log."""
		whole = b""
		for number, packet in enumerate(packets):
			content = len(self.packet_bytes(stream, packet, (0, 0), number))
			size = (content + 7) // 8 * 8 + packet.padding * 8
			whole += self.packet_bytes(stream, packet, (content, size), number).to_bytes().ljust(size // 8, b"\xaa")
			self.log += [self.logged(stream, event) for event in packet.events]
		(self.directory / file).write_bytes(whole)
		return whole

	@staticmethod
	def logged(stream, event):
		kind, context = event["is"], {}
		if stream.event_context:
			context.update(stream.event_context.json(event["common"]))
		if kind.context:
			context.update(kind.context.json(event["context"]))
		return kind.name or "", context, kind.fields.json(event["fields"]) if kind.fields else {}


def simple(directory, fields, rows, per_packet=8, step=1000, **options):
	"""A trace of one kind of event with these fields, one event for each row of values."""
	stream_options = {name: options.pop(name) for name in ("context", "header", "event_context") if name in options}
	event = Event("an_event", fields, context=options.pop("event_specific", None))
	stream = Stream(event, **stream_options)
	trace = Trace(directory, stream, **options)
	events = [{"is": event, "time": 1000000 + step * number, **(row if "fields" in row else {"fields": row})}
	          for number, row in enumerate(rows)]
	trace.write("stream", stream, *(Packet(events[at:at + per_packet]) for at in range(0, len(events), per_packet)))
	return trace
