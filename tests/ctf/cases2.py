# SPDX-License-Identifier: MIT
"""Traces in CTF 2 by name: every function of VALID writes one and returns its writer2.Trace. random_trace() writes one
of random field classes with random values."""
import inspect
import random
import sys

from writer2 import (ABSENT, Alias, Array, BitArray, BitMap, Bool, DynamicBlob, DynamicString, Event, Float, Int, NulString,
                     Optional, StaticBlob, StaticString, Stream, Struct, Derived, Trace, VarInt, Variant, compact_header,
                     packet_context, packet_header, plain_header, simple)

ENCODINGS = ["utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"]
OTHER = {"le": "be", "be": "le"}


def integers(directory, order="le"):
	fields = Struct({f"{'s' if signed else 'u'}{size}{'r' if back else ''}": Int(size, signed, order, is_reversed=back)
	                 for size in (1, 3, 5, 8, 13, 16, 27, 32, 59, 64) for signed in (False, True) for back in (False, True)})
	chance = random.Random(1)
	return simple(directory, fields, [fields.random(chance) for _ in range(20)], order=order)


def integers_be(directory):
	return integers(directory, "be")


def both_orders(directory):
	fields = Struct({f"{order}{size}{'r' if back else ''}": kind(size, order=order, align=8, is_reversed=back)
	                 for order in ("le", "be") for size in (8, 16, 24, 40, 64) for back in (False, True)
	                 for kind in (Int, BitArray)})
	chance = random.Random(2)
	return simple(directory, fields, [fields.random(chance) for _ in range(20)])


def booleans(directory):
	fields = Struct({"b1": Bool(1), "b7": Bool(7), "b8": Bool(8, align=8), "b32": Bool(32, align=32, order="be")})
	return simple(directory, fields, [dict.fromkeys(fields.members, 0), {"b1": 1, "b7": 85, "b8": 255, "b32": 1 << 30}])


def bit_maps(directory):
	"""The first is that of the specification's example of flags: a flag holds if any of its bits is set."""
	flags = {"meow": [[1, 3]], "mix": [[2, 7]], "salut": [[9, 10], [12, 12]]}
	fields = Struct({"bm": BitMap(16, flags, order="be", align=8), "all": BitMap(64, {"every": [[0, 63]], "top": [[63, 63]]})})
	rows = [{"bm": value, "all": value << 48} for value in (0, 0xe9ab, 0x1001, 0x0202, 0xffff, 0x8000, 0x8004)]
	return simple(directory, fields, rows)


def reals(directory):
	fields = Struct({f"{order}{size}{'r' if back else ''}": Float(size, order=order, align=8, is_reversed=back)
	                 for size in (16, 32, 64) for order in ("le", "be") for back in (False, True)})
	chance = random.Random(3)
	return simple(directory, fields, [fields.random(chance) for _ in range(20)])


def variable_length(directory):
	fields = Struct({"bit": Int(3), "u": VarInt(), "s": VarInt(True), "named": VarInt(mappings={"few": [[0, 9]], "many": [[10, 1 << 40]]}),
	                 "negative": VarInt(True, mappings={"minus": [[-50, -1]], "none": [[0, 0], [7, 7]]}),
	                 "hex": VarInt(preferred_display_base=16)})
	chance = random.Random(4)
	return simple(directory, fields, [fields.random(chance) for _ in range(60)])


def mappings(directory):
	ranges = {"low": [[0, 3], [9, 9]], "high": [[3, 200]], "\u00e9 x": [[255, 255]], "none": [[1000, 2000]]}
	fields = Struct({"u": Int(8, mappings=ranges), "s": Int(8, True, mappings={"minus": [[-128, -2]], "zero": [[0, 0]]}),
	                 "empty": Int(8, mappings={})})
	return simple(directory, fields, [{"u": u, "s": u - 128, "empty": u} for u in range(0, 256, 3)])


def strings(directory):
	"""Every encoding of every kind of string."""
	fields = {}
	for encoding in ENCODINGS:
		at = encoding.replace("-", "_")
		fields[f"nul_{at}"] = NulString(encoding)
		fields[f"static_{at}"] = StaticString(24, encoding)
		dynamic = DynamicString([f"size_{at}"], encoding)
		fields[f"size_{at}"] = Derived(Int(8, align=8), f"dynamic_{at}", dynamic.size)
		fields[f"dynamic_{at}"] = dynamic
	chance = random.Random(5)
	return simple(directory, Struct(fields), [Struct(fields).random(chance) for _ in range(20)])


def blobs(directory):
	dynamic = DynamicBlob(["size"])
	fields = Struct({"bit": Int(1), "static": StaticBlob(5, media_type="image/png"), "size": Derived(VarInt(), "dynamic", dynamic.size),
	                 "dynamic": dynamic})
	chance = random.Random(6)
	return simple(directory, fields, [fields.random(chance) for _ in range(10)])


def lists(directory):
	counted = Array(Int(5), ["n"])
	inner = Array(Struct({"n": Derived(Int(4), "of", lambda value: len(value)), "of": Array(VarInt(True), ["n"])}), 3)
	fields = Struct({"n": Derived(Int(3), "counted", counted.size), "counted": counted, "bits": Array(BitArray(1), 8, align=8),
	                 "nested": inner, "grid": Array(Array(Int(8, align=8), 2), 3), "none": Array(NulString(), 0),
	                 "texts": Array(NulString("utf-16le"), 2), "aligned": Array(Int(3), 2, align=32), "last": Int(1)})
	chance = random.Random(7)
	return simple(directory, fields, [fields.random(chance) for _ in range(20)])


def optionals(directory):
	"""The values of the specification's selectors: a boolean, and ranges of either kind of integer."""
	fields = Struct({"b": Derived(Bool(8, order="be"), "if_b", lambda value: 0 if value is ABSENT else 85),
	                 "if_b": Optional(["b"], NulString()),
	                 "u": Derived(Int(8), "if_u", lambda value: 32 if value is ABSENT else 33),
	                 "if_u": Optional(["u"], VarInt(), [[33, 55], [200, 255]]),
	                 "s": Derived(Int(8, True), "if_s", lambda value: 18 if value is ABSENT else -23),
	                 "if_s": Optional(["s"], Struct({"x": Int(8, align=8), "y": NulString()}), [[-23, 17]]),
	                 "v": Derived(VarInt(True), "if_v", lambda value: 5 if value is ABSENT else -5),
	                 "if_v": Optional(["v"], Array(Int(16, align=16), 2), [[-9, -1]]), "last": Int(8)})
	chance = random.Random(8)
	return simple(directory, fields, [fields.random(chance) for _ in range(30)])


def optional_elements(directory):
	"""An element of a list may be absent, as may an optional field in an optional field."""
	fields = Struct({"is": Bool(8), "list": Array(Optional(["is"], Int(8)), 3), "within": Optional(["is"], Optional(["is"], Int(8)))})
	rows = [{"is": 1, "list": [1, 2, 3], "within": 4}, {"is": 0, "list": [ABSENT] * 3, "within": ABSENT}]
	return simple(directory, fields, rows)


def variants(directory):
	options = {"small": ([[0, 9], [20, 20]], Int(8)), "text": ([[10, 19]], NulString()), None: ([[100, 200]], Struct({"a": VarInt()}))}
	chosen = {"small": 20, "text": 12, None: 150}
	fields = Struct({"tag": Derived(Int(16), "v", lambda value: chosen[value[0]]), "v": Variant(["tag"], options),
	                 "signed": Derived(VarInt(True), "w", lambda value: -3 if value[0] == "minus" else 3),
	                 "w": Variant(["signed"], {"minus": ([[-9, -1]], Int(8)), "plus": ([[0, 9]], Float(32, align=8))})})
	chance = random.Random(9)
	return simple(directory, fields, [fields.random(chance) for _ in range(30)])


def locations(directory):
	"""Paths up, down, from the origin of each scope, and through the options of a variant."""
	event = Event("event", Struct({
		"n": Int(8, align=8), "down": Struct({"n": Int(8, align=8), "deep": Struct({"here": Array(Int(8, align=8), [None, "n"])})}),
		"in": Array(Int(8, align=8), ["down", "n"]),
		"own": Array(Int(8, align=8), ("event-record-payload", ["down", "n"])),
		"packet": Array(Int(8, align=8), ("packet-context", ["extra"])),
		"common": Array(Int(8, align=8), ("event-record-common-context", ["n"])),
		"specific": Array(Int(8, align=8), ("event-record-specific-context", ["s", "n"])),
		"head": Array(Int(8, align=8), ("event-record-header", ["size"]))}),
		context=Struct({"s": Struct({"n": Int(8, align=8)})}))
	header = Struct({"id": Int(8, align=8, roles=["event-record-class-id"]), "size": Int(8, align=8),
	                 "time": Int(32, align=8, roles=["default-clock-timestamp"])})
	stream = Stream(event, header=header, context=packet_context(extra=Int(8, align=8)), common=Struct({"n": Int(8, align=8)}))
	trace = Trace(directory, stream, indent=2)
	numbers = {1: [7], 2: [8, 9], 3: [1, 2, 3], 4: [4, 4, 4, 4], 5: [5] * 5, 6: [6] * 6}
	trace.write("stream", stream, [{
		"is": event, "time": 100, "header": {"size": 6}, "common": {"n": 4}, "context": {"s": {"n": 5}},
		"fields": {"n": 2, "down": {"n": 3, "deep": {"here": numbers[3]}}, "in": numbers[3],
		           "own": numbers[3], "packet": numbers[1], "common": numbers[4], "specific": numbers[5],
		           "head": numbers[6]}}], extra=1)
	return trace


def option_paths(directory):
	"""A length that is in each option of a variant: that of the chosen one counts."""
	option = Struct({"n": Int(8), "own": Array(Int(8), ["n"])})
	fields = Struct({"tag": Int(8), "v": Variant(["tag"], {
		"a": ([[0, 0]], Struct({"n": Int(8)})), "b": ([[1, 9]], Struct({"x": Int(16), "n": Int(8)}))}),
		"list": Array(Int(8), ["v", "n"]), "w": Variant(["tag"], {"a": ([[0, 0]], option), "b": ([[1, 9]], NulString())})})
	rows = [{"tag": 0, "v": ("a", {"n": 2}), "list": [1, 2], "w": ("a", {"n": 1, "own": [9]})},
	        {"tag": 1, "v": ("b", {"x": 300, "n": 3}), "list": [1, 2, 3], "w": ("b", "text")},
	        {"tag": 0, "v": ("a", {"n": 0}), "list": [], "w": ("a", {"n": 0, "own": []})}]
	return simple(directory, fields, rows)


def names(directory):
	"""Any text is a name, and its first underscore belongs to it."""
	fields = Struct({"_under": Int(8), "two words": Int(8), "a.b": Int(8), "\u00e9\"\\": Int(8), "struct": Int(8), "": Int(8)})
	return simple(directory, fields, [{name: at for at, name in enumerate(fields.members)}])


def aliases(directory):
	byte = Alias("byte", Int(8, mappings={"x": [[7, 7]]}))
	pair = Alias("pair", Struct({"a": byte, "n": byte, "list": Array(byte, ["n"])}))
	fields = Struct({"one": pair, "many": Array(pair, 2)})
	row = {"a": 7, "n": 2, "list": [7, 8]}
	return simple(directory, fields, [{"one": row, "many": [row, {"a": 0, "n": 0, "list": []}]}], aliases=[byte, pair])


def lttng(directory):
	"""What LTTng's kernel tracer describes, with its compact header, and its streams of packets."""
	switch = Event("sched_switch", Struct({
		"prev_comm": StaticString(16), "prev_tid": Int(32, True, align=8), "prev_prio": Int(32, True, align=8),
		"prev_state": Int(64, True, align=8, mappings={"TASK_RUNNING": [[0, 0]], "TASK_INTERRUPTIBLE": [[1, 1]]}),
		"next_comm": StaticString(16), "next_tid": Int(32, True, align=8), "next_prio": Int(32, True, align=8)}), id=2)
	name = Event("open", Struct({"path": NulString(), "flags": Int(32, align=8, preferred_display_base=8)}), id=70000,
	             attributes={"lttng.org,2009": {"log-level": "info"}})
	stream = Stream(switch, name, header=compact_header(), common=Struct({"vtid": Int(32, True, align=8)}))
	trace = Trace(directory, stream, environment={"domain": "kernel", "hostname": "here", "tracer_major": 2, "x": -5}, indent=2)
	# the last packet's first time is far from the one before: in a compact header its low bits have wrapped
	times = [[1 << 40, (1 << 40) + 5, (1 << 40) + (1 << 27) - 1], [(1 << 41) + 7, (1 << 41) + (1 << 26)]]
	packets = []
	for part in times:
		packets.append([])
		for at, time in enumerate(part):
			fields = {"prev_comm": f"a{at}", "prev_tid": 10 + at, "prev_prio": 20, "prev_state": at % 3,
			          "next_comm": "b", "next_tid": -1, "next_prio": 0}
			packets[-1].append({"is": switch, "time": time, "common": {"vtid": 10 + at}, "fields": fields, "extended": at == 1})
		packets[-1].append({"is": name, "time": part[-1] + 3, "common": {"vtid": 1}, "fields": {"path": "/x", "flags": 8}})
	trace.write("channel0_0", stream, *packets, padding=100, cpu_id=1)
	return trace


def times_of_varying_size(directory):
	"""A time may be a variable-length integer: it gives as many low bits of the clock as it has, seven in each byte.
	babeltrace 2.1.1 takes others."""
	event = Event("event", Struct({"x": Int(8)}))
	header = Struct({"id": Int(8, align=8, roles=["event-record-class-id"]), "time": VarInt(roles=["default-clock-timestamp"])})
	stream = Stream(event, header=header)
	trace = Trace(directory, stream)
	trace.write("stream", stream, [{"is": event, "time": time, "fields": {"x": 1}, "header": {"id": 0, "time": low}}
	                               for time, low in ((1000, 1000), (1100, 1100 & 0x7f), (1200, 1200 & 0x7f), (1 << 40, 1 << 40))])
	return trace


def clock_of_no_origin(directory):
	"""Its dates are not known, which is said."""
	return simple(directory, Struct({"x": Int(8)}), [{"x": 5}], clocks=[{"id": "default", "frequency": 1_000_000_000}])


def no_clock(directory):
	event = Event("event", Struct({"x": Int(8)}))
	stream = Stream(event, header=None, context=None, clock=None)
	trace = Trace(directory, stream, header=None, clocks=[])
	trace.write("stream", stream, [{"is": event, "time": 0, "fields": {"x": x}} for x in range(5)])
	return trace


def no_trace_class_fields(directory):
	"""Events without names and fields, of a class that only has a number."""
	event = Event(None, None, id=0)
	stream = Stream(event, header=Struct({"id": Int(8, roles=["event-record-class-id"])}), context=None, clock=None)
	trace = Trace(directory, stream, header=None, clocks=[])
	trace.write("stream", stream, [{"is": event, "time": 0, "header": {"id": 0}}] * 3)
	return trace


def two_streams(directory):
	"""Two data stream classes, in files of their own, with a clock of a frequency that is not nanoseconds."""
	clock = {"id": "default", "frequency": 1000, "origin": "unix-epoch", "offset-from-origin": {"seconds": -7, "cycles": 999},
	         "precision": 3, "accuracy": 4, "namespace": "n", "name": "ticks", "uid": "u", "description": "d"}
	events = [Event(f"event{number}", Struct({"x": VarInt()}), id=number) for number in range(2)]
	streams = [Stream(events[number], id=number + 5) for number in range(2)]
	trace = Trace(directory, *streams, clocks=[clock])
	for number, stream in enumerate(streams):
		packets = [[{"is": events[number], "time": 8000 + packet * 10 + at * 3 + number, "fields": {"x": at}} for at in range(3)]
		           for packet in range(3)]
		trace.write(f"s{number}", stream, *packets, padding=number * 7, cpu_id=number, instance=number)
	return trace


def in_packets_le(directory):
	fields = Struct({"x": Int(8)})
	return simple(directory, fields, [{"x": 5}], packets=["<"], indent=3)


def in_packets_be(directory):
	fields = Struct({"x": Int(8)})
	return simple(directory, fields, [{"x": 5}], packets=[">"], indent=3)


def fixed_fields(directory):
	"""Fields at fixed places, which are read without a walk."""
	fields = Struct({"a": Int(32, align=8), "b": Int(16, True, align=8), "text": StaticString(8), "rev": Int(16, align=8, is_reversed=True),
	                 "half": Float(16, align=8), "truth": Bool(8, align=8), "wide": StaticString(8, "utf-16le")})
	chance = random.Random(11)
	return simple(directory, fields, [fields.random(chance) for _ in range(10)])


VALID = {name: function for name, function in inspect.getmembers(sys.modules[__name__], inspect.isfunction)
         if function.__module__ == __name__ and next(iter(inspect.signature(function).parameters), "") == "directory"}
# What babeltrace 2.1 does not read.


def wide(directory):
	fields = Struct({"a": Int(128, align=8), "b": BitArray(100, align=8, order="le"), "c": Int(72, align=8, order="be")})
	return simple(directory, fields, [{"a": (1 << 127) + 5, "b": (1 << 99) + 3, "c": (1 << 71) + 1}])


def nothing(directory):
	"""Fields of no bytes."""
	fields = Struct({"blob": StaticBlob(0), "text": StaticString(0), "s": Struct({}), "x": Int(8)})
	return simple(directory, fields, [{"blob": b"", "text": "", "s": {}, "x": 1}])


def in_packets_of_version_2(directory):
	fields = Struct({"x": Int(8)})
	return simple(directory, fields, [{"x": 5}], packets=["<", (2, 0)])


def path_down_and_up(directory):
	"""Each null leads to the structure around; babeltrace 2.1 takes two of them for none."""
	fields = Struct({"m": Int(8), "a": Struct({"n": Int(8), "b": Struct({"x": Array(Int(8), [None, None, "m"])})}),
	                 "list": Array(Int(8), ["a", "b", None, "n"])})
	return simple(directory, fields, [{"m": 1, "a": {"n": 2, "b": {"x": [5]}}, "list": [3, 4]}])


BEYOND = {"wide": wide, "in_packets_of_version_2": in_packets_of_version_2, "nothing": nothing, "path_down_and_up": path_down_and_up,
          "times_of_varying_size": VALID.pop("times_of_varying_size"),
          "in_packets_le": VALID.pop("in_packets_le"), "in_packets_be": VALID.pop("in_packets_be"), "reals": VALID.pop("reals"), "fixed_fields": VALID.pop("fixed_fields")}


class Random:
	"""Random field classes. Integers that are not whole bytes are all of the trace's byte order: CTF has no change of
	the order within a byte."""

	def __init__(self, seed):
		self.chance = random.Random(seed)
		self.order = self.chance.choice(["le", "be"])
		self.count = 0

	def name(self):
		self.count += 1
		return f"f{self.count}"

	def bits(self, most=64):
		chance = self.chance
		if chance.random() < 0.5:
			return chance.randint(1, most), {"order": self.order, "align": chance.choice([1, 1, 1, 2, 4, 8, 16]),
			                                 "is_reversed": chance.random() < 0.2}
		return 8 * chance.randint(1, most // 8), {"order": chance.choice(["le", "be"]), "align": chance.choice([8, 8, 16, 32, 64]),
		                                          "is_reversed": chance.random() < 0.2}

	def mapping(self, low, high):
		made = {}
		for _ in range(self.chance.randint(1, 4)):
			ranges = [sorted((self.chance.randint(low, high), self.chance.randint(low, high))) for _ in range(self.chance.randint(1, 2))]
			made[self.chance.choice(["one", "two", "\u00e9", "d e"])] = ranges
		return made

	def integer(self, most=64, signed=None, is_named=True):
		chance, signed = self.chance, self.chance.random() < 0.5 if signed is None else signed
		size, more = self.bits(most)
		if chance.random() < 0.25:
			size = 64
			low, high = (-(1 << 63), (1 << 63) - 1) if signed else (0, (1 << 64) - 1)
			return VarInt(signed, self.mapping(low, high) if is_named and chance.random() < 0.2 else None)
		low, high = (-(1 << size - 1), (1 << size - 1) - 1) if signed else (0, (1 << size) - 1)
		named = self.mapping(low, high) if is_named and chance.random() < 0.2 else None
		return Int(size, signed, mappings=named, preferred_display_base=chance.choice([2, 8, 10, 16]), **more)

	def bit_map(self):
		size, more = self.bits()
		bits = sorted((self.chance.randrange(size), self.chance.randrange(size)))
		return BitMap(size, {"x": [bits], "y z": [[0, 0], [size - 1, size - 1]]}, **more)

	def scalar(self):
		chance = self.chance
		kind = chance.randrange(9)
		if kind < 3:
			return self.integer()
		if kind == 3:
			size, more = self.bits()
			return chance.choice([BitArray, Bool])(size, **more)
		if kind == 4:
			return self.bit_map()
		if kind == 5:
			return Float(chance.choice([32, 64]), order=chance.choice(["le", "be"]), align=chance.choice([8, 32]))
		if kind == 6:
			return NulString(chance.choice(ENCODINGS))
		if kind == 7:
			return StaticString(4 * chance.randint(0, 12), chance.choice(ENCODINGS))
		return StaticBlob(chance.randint(1, 9))

	def length(self):
		return Int(8, order=self.order, align=self.chance.choice([1, 8])) if self.chance.random() < 0.6 else VarInt()

	def told(self, depth):
		"""Members: what tells, and what is told."""
		chance, source, name = self.chance, self.name(), self.name()
		kind = chance.randrange(5)
		if kind < 3:
			made = (DynamicString([source], chance.choice(ENCODINGS)), DynamicBlob([source]),
			        Array(self.any(depth - 1), [source], align=chance.choice([1, 8, 32])))[kind]
			return {source: Derived(self.length(), name, made.size), name: made}
		if kind == 3:
			inner = self.any(depth - 1)
			if chance.random() < 0.3:
				return {source: Derived(Bool(8, align=8), name, lambda value: int(value is not ABSENT)), name: Optional([source], inner)}
			signed = chance.random() < 0.5
			low = -7 if signed else 40
			return {source: Derived(Int(8, signed, align=8) if chance.random() < 0.5 else VarInt(signed), name,
			                     lambda value: 100 if value is ABSENT else low),
			        name: Optional([source], inner, [[low, low + 5], [110, 115]])}
		signed = chance.random() < 0.5
		options, values = {}, {}
		for at in range(chance.randint(1, 4)):
			option = self.name()
			values[option] = at * 10 - (20 if signed else 0)
			options[option] = ([[values[option], values[option] + 9]], self.any(depth - 1))
		return {source: Derived(Int(8, signed, align=8) if chance.random() < 0.5 else VarInt(signed), name, lambda value: values[value[0]]),
		        name: Variant([source], options)}

	def any(self, depth):
		chance = self.chance
		if depth <= 0 or chance.random() < 0.5:
			return self.scalar()
		if chance.random() < 0.3:
			return Array(self.any(depth - 1), chance.randint(0, 4), align=chance.choice([1, 1, 8, 64]))
		return self.structure(depth)

	def structure(self, depth):
		members = {}
		for _ in range(self.chance.randint(1, 5)):
			if depth > 0 and self.chance.random() < 0.4:
				members.update(self.told(depth))
			else:
				members[self.name()] = self.any(depth - 1)
		return Struct(members, align=self.chance.choice([1, 1, 1, 8, 32]))


def random_trace(directory, seed):
	of = Random(seed)
	chance = of.chance
	kinds = [Event(f"e{number}", of.structure(4), id=number, context=of.structure(1) if chance.random() < 0.3 else None)
	         for number in range(3)]
	header = chance.choice([plain_header, compact_header])()
	for member in header.members.values():
		if isinstance(member, Int) and of.order == "be" and member.alignment == 1:
			header = plain_header()  # the compact one is little endian
	common = of.structure(1) if chance.random() < 0.3 else None
	for part in (common, *(kind.payload for kind in kinds), *(kind.context for kind in kinds)):
		if part:  # what comes before may be of the other order and end within a byte
			part.own = part.alignment = max(part.alignment, 8)
	stream = Stream(*kinds, header=header, common=common)
	header.own = header.alignment = max(header.alignment, 8)
	trace = Trace(directory, stream, order=of.order, indent=chance.choice([None, 2]))
	time, packets = 1 << 33, []
	for _ in range(chance.randint(1, 3)):
		packets.append([])
		for _ in range(chance.randint(1, 12)):
			kind, time = chance.choice(kinds), time + chance.randint(0, 1000)
			packets[-1].append({"is": kind, "time": time, "common": common.random(chance) if common else None,
			                    "context": kind.context.random(chance) if kind.context else None,
			                    "fields": kind.payload.random(chance)})
	trace.write("stream", stream, *packets, padding=chance.randint(0, 9))
	return trace
