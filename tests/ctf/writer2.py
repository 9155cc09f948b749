# SPDX-License-Identifier: MIT
"""Writes CTF 2 bit by bit, from the specification: the field classes, each of which knows its JSON, how a value of it is
laid down and what a reader is to print of that value; and the traces of them. Imported by the tests here."""
import json
import struct as packing

from writer import Bits, Single

RS = b"\x1e"
ORDERS = {"le": "little-endian", "be": "big-endian"}
NATURAL = {"le": "first-to-last", "be": "last-to-first"}
REVERSED = {"le": "last-to-first", "be": "first-to-last"}
ABSENT = object()  # the value of an optional field that is not there


def signed_or_not(value, size, signed):
	value &= (1 << size) - 1
	return value - (1 << size) if signed and value >> size - 1 else value


def named(mappings, value):
	names = [name for name, ranges in mappings.items() if any(first <= value <= last for first, last in ranges)]
	return "|".join(names) or value


class Class:
	"""more: other properties of the field class, as they are written."""

	def __init__(self, align=1, **more):
		self.alignment, self.more = align, {name.replace("_", "-"): value for name, value in more.items()}

	def properties(self):
		return {"type": self.type, **self.more}


class BitArray(Class):
	type = "fixed-length-bit-array"

	def __init__(self, size, order="le", align=1, is_reversed=False, **more):
		super().__init__(align, **more)
		self.size, self.order, self.is_reversed = size, order, is_reversed

	def properties(self):
		own = {"length": self.size, "byte-order": ORDERS[self.order]}
		if self.alignment != 1:
			own["alignment"] = self.alignment
		if self.is_reversed:
			own["bit-order"] = REVERSED[self.order]
		return {**super().properties(), **own}

	def write(self, bits, value):
		bits.align(self.alignment)
		value &= (1 << self.size) - 1
		if self.is_reversed:
			value = int(f"{value:0{self.size}b}"[::-1], 2)
		bits.unsigned(value, self.size, self.order)

	def json(self, value):
		return value if self.size <= 64 else f"{value:#x}"

	def random(self, chance):
		return chance.choice([0, 1, (1 << self.size) - 1, chance.getrandbits(self.size)]) & (1 << self.size) - 1


class Int(BitArray):
	def __init__(self, size, signed=False, order="le", align=1, is_reversed=False, mappings=None, roles=None, **more):
		if mappings is not None:
			more["mappings"] = mappings
		if roles:
			more["roles"] = roles
		super().__init__(size, order, align, is_reversed, **more)
		self.signed, self.mappings = signed, mappings or {}
		self.type = f"fixed-length-{'' if signed else 'un'}signed-integer"

	def json(self, value):
		return named(self.mappings, value) if self.size <= 64 else super().json(value & (1 << self.size) - 1)

	def random(self, chance):
		return signed_or_not(super().random(chance), self.size, self.signed)


class Bool(BitArray):
	type = "fixed-length-boolean"

	def json(self, value):
		return "true" if value else "false"


class BitMap(BitArray):
	type = "fixed-length-bit-map"

	def __init__(self, size, flags, **more):
		super().__init__(size, flags=flags, **more)
		self.flags = {name: sum(1 << bit for bit in range(size) if any(first <= bit <= last for first, last in ranges))
		              for name, ranges in flags.items()}

	def json(self, value):
		names = [name for name, bits in self.flags.items() if value & bits]
		for bits in self.flags.values():
			value &= ~bits if names else -1
		return "|".join(names + ([f"{value:#x}"] if value else [])) if names else value


class Float(BitArray):
	type = "fixed-length-floating-point-number"
	FORMS = {16: ">e", 32: ">f", 64: ">d"}

	def __init__(self, size=64, **more):
		super().__init__(size, **more)

	def write(self, bits, value):
		super().write(bits, int.from_bytes(packing.pack(self.FORMS[self.size], value), "big"))

	def json(self, value):
		if value != value:
			return "nan"
		if value in (float("inf"), float("-inf")):
			return "inf" if value > 0 else "-inf"
		value = packing.unpack(self.FORMS[self.size], packing.pack(self.FORMS[self.size], value))[0]
		return Single(value) if self.size == 32 else value

	def random(self, chance):
		return chance.choice([0.0, -1.5, float("inf"), float("nan"), 2.0 ** -14, 1 / 3, chance.uniform(-9e3, 9e3)])


class VarInt(Class):
	def __init__(self, signed=False, mappings=None, roles=None, **more):
		if mappings is not None:
			more["mappings"] = mappings
		if roles:
			more["roles"] = roles
		super().__init__(8, **more)
		self.signed, self.mappings = signed, mappings or {}
		self.type = f"variable-length-{'' if signed else 'un'}signed-integer"

	def write(self, bits, value, padding=0):
		bits.align(8)
		made = []
		while True:
			made.append(value & 0x7f)
			value >>= 7
			if (value == 0 and not (self.signed and made[-1] & 0x40)) or (self.signed and value == -1 and made[-1] & 0x40):
				break
		made += [0x7f if self.signed and made[-1] & 0x40 else 0] * min(padding, 9 - len(made))
		bits.data([byte | 0x80 for byte in made[:-1]] + made[-1:])

	def json(self, value):
		return named(self.mappings, value)

	def random(self, chance):
		return signed_or_not(chance.choice([0, 63, 64, 127, 128, -1, -64, -65, (1 << 63) - 1, 1 << 63,
		                                    chance.getrandbits(chance.randint(1, 64))]), 64, self.signed)


TEXTS = ["", "a", "two words", "\u00e9\u20ac", "\U0001f600 and \u4e2d", "x" * 40]


class NulString(Class):
	"""Values are texts without a NUL."""
	type = "null-terminated-string"

	def __init__(self, encoding=None, **more):
		if encoding:
			more["encoding"] = encoding
		super().__init__(8, **more)
		self.encoding = encoding or "utf-8"

	def data(self, value):
		return value.encode(self.encoding)

	def write(self, bits, value):
		bits.align(8)
		bits.data(self.data(value) + self.data("\0"))

	def json(self, value):
		return value

	def random(self, chance):
		return chance.choice(TEXTS)


class StaticString(NulString):
	type = "static-length-string"

	def __init__(self, length, encoding=None, **more):
		super().__init__(encoding, length=length, **more)
		self.length = length

	def write(self, bits, value):
		bits.align(8)
		bits.data(self.data(value)[:self.length].ljust(self.length, b"\0"))

	def json(self, value):
		return self.data(value)[:self.length].decode(self.encoding)

	def random(self, chance):
		fitting = [text for text in TEXTS if len(self.data(text)) <= self.length]
		return chance.choice(fitting)


def location(place):
	"""A relative path, or a scope and a path from it: ("packet-header", ["a", "b"])."""
	return {"origin": place[0], "path": place[1]} if isinstance(place, tuple) else {"path": place}


class DynamicString(NulString):
	type = "dynamic-length-string"

	def __init__(self, length, encoding=None, **more):
		super().__init__(encoding, length_field_location=location(length), **more)

	def size(self, value):
		return len(self.data(value))

	def write(self, bits, value):
		bits.align(8)
		bits.data(self.data(value))


class StaticBlob(Class):
	type = "static-length-blob"

	def __init__(self, length, **more):
		super().__init__(8, length=length, **more)
		self.length = length

	def write(self, bits, value):
		bits.align(8)
		bits.data(value)

	def json(self, value):
		return list(value)

	def random(self, chance):
		return chance.randbytes(self.length)


class DynamicBlob(StaticBlob):
	type = "dynamic-length-blob"

	def __init__(self, length, **more):
		Class.__init__(self, 8, length_field_location=location(length), **more)

	def size(self, value):
		return len(value)

	def random(self, chance):
		return chance.randbytes(chance.randint(0, 9))


class Struct(Class):
	type = "structure"

	def __init__(self, members, align=1, **more):
		super().__init__(max([align, *(member.alignment for member in members.values())]), **more)
		self.members, self.own = members, align

	def properties(self):
		rows = [{"name": name, "field-class": member.properties()} for name, member in self.members.items()]
		own = {"member-classes": rows} if rows else {}
		return {**super().properties(), **own, **({"minimum-alignment": self.own} if self.own != 1 else {})}

	def write(self, bits, value):
		bits.align(self.alignment)
		for name, member in self.members.items():
			member.write(bits, value[name])

	def json(self, value):
		return {name: member.json(value[name]) for name, member in self.members.items() if value[name] is not ABSENT}

	def random(self, chance):
		made = {name: member.random(chance) for name, member in self.members.items()}
		for name, member in self.members.items():  # those that follow from another member
			if isinstance(member, Derived):
				made[name] = member.of(made)
		return made


class Derived:
	"""An integer that follows from the value of another member: its size, its option, whether it is there."""

	def __init__(self, integer, member, value):
		self.integer, self.member, self.value, self.alignment = integer, member, value, integer.alignment

	def properties(self):
		return self.integer.properties()

	def write(self, bits, value):
		self.integer.write(bits, value)

	def json(self, value):
		return self.integer.json(value)

	def random(self, chance):
		return None

	def of(self, members):
		return self.value(members[self.member])


class Array(Class):
	"""With a number or a location as its length."""

	def __init__(self, element, length, align=1, **more):
		super().__init__(max(align, element.alignment), **more)
		self.element, self.length, self.own = element, length, align
		self.type = "static-length-array" if isinstance(length, int) else "dynamic-length-array"

	def properties(self):
		length = {"length": self.length} if isinstance(self.length, int) else {"length-field-location": location(self.length)}
		return {**super().properties(), "element-field-class": self.element.properties(), **length,
		        **({"minimum-alignment": self.own} if self.own != 1 else {})}

	def size(self, value):
		return len(value)

	def write(self, bits, value):
		bits.align(self.alignment)
		for one in value:
			self.element.write(bits, one)

	def json(self, value):
		return [None if one is ABSENT else self.element.json(one) for one in value]

	def random(self, chance):
		return [self.element.random(chance) for _ in range(self.length if isinstance(self.length, int) else chance.randint(0, 4))]


class Optional(Class):
	type = "optional"

	def __init__(self, selector, inner, ranges=None, **more):
		if ranges:
			more["selector-field-ranges"] = ranges
		super().__init__(1, selector_field_location=location(selector), **more)
		self.inner = inner

	def properties(self):
		return {**super().properties(), "field-class": self.inner.properties()}

	def write(self, bits, value):
		if value is not ABSENT:
			self.inner.write(bits, value)

	def json(self, value):
		return None if value is ABSENT else self.inner.json(value)

	def random(self, chance):
		return chance.choice([ABSENT, self.inner.random(chance)])


class Variant(Class):
	"""options: name -> (ranges, class). A value is (option, value)."""
	type = "variant"

	def __init__(self, selector, options, **more):
		super().__init__(1, selector_field_location=location(selector), **more)
		self.options = options

	def properties(self):
		rows = [{**({"name": name} if name is not None else {}), "selector-field-ranges": ranges,
		         "field-class": option.properties()} for name, (ranges, option) in self.options.items()]
		return {**super().properties(), "options": rows}

	def write(self, bits, value):
		self.options[value[0]][1].write(bits, value[1])

	def json(self, value):
		name = value[0] if value[0] is not None else str(list(self.options).index(None))
		return {name: self.options[value[0]][1].json(value[1])}

	def random(self, chance):
		name = chance.choice(list(self.options))
		return name, self.options[name][1].random(chance)


class Alias(Class):
	def __init__(self, name, to):
		super().__init__(to.alignment)
		self.name, self.to = name, to

	def properties(self):
		return self.name

	def __getattr__(self, name):
		return getattr(self.to, name)

	def write(self, bits, value):
		self.to.write(bits, value)

	def json(self, value):
		return self.to.json(value)

	def random(self, chance):
		return self.to.random(chance)


MAGIC = 0xC1FC1FC1
UUID = bytes(range(0x20, 0x30))
EPOCH = {"origin": "unix-epoch", "offset-from-origin": {"seconds": 1_600_000_000, "cycles": 5}}


def packet_header():
	return Struct({"magic": Int(32, roles=["packet-magic-number"]),
	               "uuid": StaticBlob(16, roles=["metadata-stream-uuid"]),
	               "stream": Int(32, align=8, roles=["data-stream-class-id"]),
	               "instance": VarInt(roles=["data-stream-id"])})


def packet_context(**more):
	return Struct({"begin": Int(64, align=8, roles=["default-clock-timestamp"]),
	               "end": Int(64, align=8, roles=["packet-end-default-clock-timestamp"]),
	               "content": Int(64, align=8, roles=["packet-content-length"]),
	               "total": Int(64, align=8, roles=["packet-total-length"]),
	               "number": Int(64, align=8, roles=["packet-sequence-number"]),
	               "discarded": Int(64, align=8, roles=["discarded-event-record-counter-snapshot"]),
	               "cpu_id": Int(32, align=8), **more})


def plain_header():
	return Struct({"id": Int(16, align=8, roles=["event-record-class-id"]),
	               "time": Int(64, align=8, roles=["default-clock-timestamp"])})


def compact_header():
	"""LTTng's"""
	time = {"roles": ["default-clock-timestamp"]}
	return Struct({
		"id": Int(5, mappings={"compact": [[0, 30]], "extended": [[31, 31]]}, roles=["event-record-class-id"]),
		"v": Variant(["id"], {
			"compact": ([[0, 30]], Struct({"timestamp": Int(27, **time)})),
			"extended": ([[31, 31]], Struct({"id": Int(32, align=8, roles=["event-record-class-id"]),
			                                 "timestamp": Int(64, align=8, **time)}))})}, align=8)


class Event:
	def __init__(self, name, payload, id=0, context=None, **more):
		self.name, self.payload, self.id, self.context, self.more = name, payload, id, context, more

	def fragment(self, stream):
		made = {"type": "event-record-class", "id": self.id, "data-stream-class-id": stream.id, **self.more}
		if self.name is not None:
			made["name"] = self.name
		if self.context:
			made["specific-context-field-class"] = self.context.properties()
		if self.payload:
			made["payload-field-class"] = self.payload.properties()
		return made


class Stream:
	def __init__(self, *events, id=0, context=..., header=..., common=None, clock="default"):
		self.id, self.events, self.common, self.clock = id, events, common, clock
		self.context = packet_context() if context is ... else context
		self.header = plain_header() if header is ... else header

	def fragment(self):
		made = {"type": "data-stream-class", "id": self.id}
		if self.clock:
			made["default-clock-class-id"] = self.clock
		for name, part in (("packet-context", self.context), ("event-record-header", self.header),
		                   ("event-record-common-context", self.common)):
			if part:
				made[f"{name}-field-class"] = part.properties()
		return made


class Trace:
	"""A trace directory, described by fragments. log: (name, context, fields) of every event, as a reader is to print;
	times: their ticks."""

	def __init__(self, directory, *streams, header=..., clocks=None, environment=None, aliases=(), order="le",
	             indent=None, packets=None, uuid=UUID):
		self.directory, self.streams, self.order, self.log, self.times = directory, streams, order, [], []
		self.header = packet_header() if header is ... else header
		self.clocks = [{"id": "default", "frequency": 1_000_000_000, **EPOCH}] if clocks is None else clocks
		self.environment, self.aliases, self.uuid = environment, aliases, uuid
		directory.mkdir(parents=True, exist_ok=True)
		text = b"".join(RS + json.dumps(one, indent=indent).encode() + b"\n" for one in self.fragments())
		(directory / "metadata").write_bytes(text if packets is None else in_packets(text, *packets))

	def fragments(self):
		yield {"type": "preamble", "version": 2, "uuid": list(self.uuid)}
		for alias in self.aliases:
			yield {"type": "field-class-alias", "name": alias.name, "field-class": alias.to.properties()}
		trace = {"type": "trace-class", "namespace": "example.org", "name": "test", "uid": self.uuid.hex()}
		if self.environment:
			trace["environment"] = self.environment
		if self.header:
			trace["packet-header-field-class"] = self.header.properties()
		yield trace
		for clock in self.clocks:
			yield {"type": "clock-class", **clock}
		for stream in self.streams:
			yield stream.fragment()
			for event in stream.events:
				yield event.fragment(stream)

	def packet(self, stream, events, content, total, number, more):
		bits = Bits(self.order)
		known = {"magic": MAGIC, "uuid": self.uuid, "stream": stream.id, "instance": 0, "content": content, "total": total,
		         "number": number, "discarded": 0, "cpu_id": 0, "begin": events[0]["time"] if events else 0,
		         "end": events[-1]["time"] if events else 0, **more}
		if self.header:
			self.header.write(bits, known)
		if stream.context:
			stream.context.write(bits, known)
		for event in events:
			if stream.header:
				stream.header.write(bits, self.header_values(stream.header, event))
			for part, name in ((stream.common, "common"), (event["is"].context, "context"),
			                   (event["is"].payload, "fields")):
				if part:
					part.write(bits, event[name])
		return bits

	@staticmethod
	def header_values(header, event):
		kind = event["is"]
		if "v" not in header.members:
			return {"id": kind.id, "time": event["time"], **event.get("header", {})}
		if kind.id < 31 and not event.get("extended"):
			return {"id": kind.id, "v": ("compact", {"timestamp": event["time"]})}
		return {"id": 31, "v": ("extended", {"id": kind.id, "timestamp": event["time"]})}

	def write(self, file, stream, *packets, padding=0, **more):
		"""Each packet is a list of events: {"is": Event, "time": …, "common": …, "context": …, "fields": …}"""
		whole = b""
		for number, events in enumerate(packets):
			content = len(self.packet(stream, events, 0, 0, number, more))
			total = (content + 7) // 8 * 8 + padding * 8
			whole += self.packet(stream, events, content, total, number, more).to_bytes().ljust(total // 8, b"\xaa")
			self.times += [event["time"] for event in events]
			for event in events:
				context = stream.common.json(event["common"]) if stream.common else {}
				context.update(event["is"].context.json(event["context"]) if event["is"].context else {})
				self.log.append((event["is"].name or "", context,
				                 event["is"].payload.json(event["fields"]) if event["is"].payload else {}))
		(self.directory / file).write_bytes(whole)


def in_packets(text, order, version=(1, 8)):
	"""A description as tracers stream it: LTTng's packets keep the version of CTF 1."""
	whole = b""
	for at in range(0, len(text), 1000):
		part = text[at:at + 1000]
		bits = (37 + len(part)) * 8
		whole += packing.pack(order + "I16sIIIBBBBB", 0x75D11D57, UUID, 0, bits, bits + 64, 0, 0, 0, *version) + part + bytes(8)
	return whole


def simple(directory, fields, rows, aliases=(), order="le", **options):
	"""A trace with one kind of event, once for each row."""
	event = Event("event", fields)
	stream = Stream(event, **{name: options.pop(name) for name in ("header", "context") if name in options})
	trace = Trace(directory, stream, aliases=aliases, order=order, **options)
	events = [{"is": event, "time": 1000 + 10 * at, "fields": row} for at, row in enumerate(rows)]
	trace.write("stream", stream, events)
	return trace
