# SPDX-License-Identifier: MIT
"""Writes CTF 1.8 packets bit by bit: the types of the format, each of which knows its TSDL text, how a value of it is
laid down and what a reader is to print of that value. Imported by the tests here."""
import struct as packing


class Bits:
	"""The bits of one packet. Little endian fills a byte from its lowest bit, big endian from its highest."""

	def __init__(self, order):
		self.order, self.bits = order, []  # bits: by place in the packet, without the order inside a byte
		self.orders = {}                   # by byte

	def __len__(self):
		return len(self.bits)

	def align(self, bits):
		self.bits += [0] * (-len(self.bits) % bits)

	def unsigned(self, value, size, order=None):
		order = order or self.order
		value &= (1 << size) - 1
		places = range(size) if order == "le" else range(size - 1, -1, -1)
		for byte in range(len(self.bits) // 8, (len(self.bits) + size + 7) // 8):
			if self.orders.setdefault(byte, order) != order:
				raise ValueError("the byte order changes inside a byte")
		self.bits += [value >> place & 1 for place in places]

	def data(self, data):
		for byte in data:
			self.unsigned(byte, 8)

	def to_bytes(self):
		whole = bytearray()
		for at in range(0, len(self.bits), 8):
			bits = self.bits[at:at + 8]
			bits += [0] * (8 - len(bits))
			if self.orders.get(at // 8, self.order) == "le":
				bits.reverse()
			whole.append(int("".join(map(str, bits)), 2))
		return bytes(whole)


def text_of(data):
	return data.split(b"\0")[0].decode("utf-8", "replace")


class Type:
	"""text, if given, stands in the description in place of the one that the type would write itself."""

	suffix = ""

	def __init__(self, align=1, text=None):
		self.alignment, self.text = align, text

	def declare(self, name):
		return f"{self.text or self.tsdl()} {name}{self.suffix};"


class Int(Type):
	def __init__(self, size, signed=False, align=None, order=None, more="", encoding=None, text=None):
		super().__init__(align or (1 if size % 8 else 8), text)
		self.size, self.signed, self.order, self.more, self.encoding = size, signed, order, more, encoding
		self.is_align_written = align is not None

	def tsdl(self):
		words = [f"size = {self.size};"]
		if self.is_align_written:
			words.append(f"align = {self.alignment};")
		if self.signed:
			words.append("signed = true;")
		if self.order:
			words.append(f"byte_order = {self.order};")
		if self.encoding:
			words.append(f"encoding = {self.encoding};")
		return f"integer {{ {' '.join(words + [self.more] if self.more else words)} }}"

	def write(self, bits, value):
		bits.align(self.alignment)
		bits.unsigned(value, self.size, self.order)

	def json(self, value):
		return value

	def bounds(self):
		return (-(1 << self.size - 1), (1 << self.size - 1) - 1) if self.signed else (0, (1 << self.size) - 1)


class Enum(Type):
	"""labels: (label, value) or (label, first, last), in the order of the text."""

	def __init__(self, container, labels, text=None):
		super().__init__(container.alignment, text)
		self.container, self.labels = container, [(row[0], row[1], row[-1]) for row in labels]

	def tsdl(self):
		rows = (f'"{label}" = {first}' + (f" ... {last}" if last != first else "") for label, first, last in self.labels)
		return f"enum : {self.container.text or self.container.tsdl()} {{ {', '.join(rows)} }}"

	def write(self, bits, value):
		self.container.write(bits, value)

	def json(self, value):
		fitting = dict.fromkeys(label for label, first, last in self.labels if first <= value <= last)
		return "|".join(fitting) or value


class Float(Type):
	def __init__(self, size=64, align=None, order=None, text=None):
		super().__init__(align or 8, text)
		self.size, self.order, self.is_align_written = size, order, align is not None

	def tsdl(self):
		words = ["exp_dig = 11; mant_dig = 53;" if self.size == 64 else "exp_dig = 8; mant_dig = 24;"]
		if self.is_align_written:
			words.append(f"align = {self.alignment};")
		if self.order:
			words.append(f"byte_order = {self.order};")
		return f"floating_point {{ {' '.join(words)} }}"

	def write(self, bits, value):
		bits.align(self.alignment)
		raw = packing.pack(">d" if self.size == 64 else ">f", value)
		bits.unsigned(int.from_bytes(raw, "big"), self.size, self.order)

	def json(self, value):
		if value != value:
			return "nan"
		if value in (float("inf"), float("-inf")):
			return "inf" if value > 0 else "-inf"
		return value if self.size == 64 else Single(packing.unpack("f", packing.pack("f", value))[0])


class Single(float):
	"""A number of 32 bits: equal to whatever rounds to it."""


class Str(Type):
	"""Values are bytes without the last zero."""

	def __init__(self, more="", text=None):
		super().__init__(8, text)
		self.more = more

	def tsdl(self):
		return f"string {{ {self.more} }}" if self.more else "string"

	def write(self, bits, value):
		bits.align(8)
		bits.data(value + b"\0")

	def json(self, value):
		return text_of(value)


class Many(Type):
	"""An array with a number as its length, a sequence with the name of its length; of bytes that are text: bytes."""

	def __init__(self, of, length, text=None):
		super().__init__(of.alignment, text)
		self.of, self.length = of, length

	def declare(self, name):
		return self.of.declare(f"{name}[{self.length}]") if not self.text else super().declare(name)

	def is_text(self):
		return isinstance(self.of, Int) and self.of.encoding in ("UTF8", "ASCII") and self.of.size == self.of.alignment == 8

	def write(self, bits, value):
		bits.align(self.alignment)
		if isinstance(self.length, int) and len(value) != self.length:
			raise ValueError(f"{len(value)} values for an array of {self.length}")
		for one in value:
			self.of.write(bits, one)

	def json(self, value):
		return text_of(bytes(value)) if self.is_text() else [self.of.json(one) for one in value]


class Struct(Type):
	"""A dictionary of fields; declarations: typedefs and such that stand before them."""

	def __init__(self, fields, align=1, text=None, declarations=""):
		super().__init__(max([align, *(field.alignment for field in fields.values())]), text)
		self.fields, self.own_alignment, self.declarations = fields, align, declarations

	def tsdl(self):
		rows = "".join(f" {field.declare(name)}" for name, field in self.fields.items())
		return f"struct {{ {self.declarations}{rows} }}" + (f" align({self.own_alignment})" if self.own_alignment > 1 else "")

	def write(self, bits, value):
		bits.align(self.alignment)
		if set(value) != set(self.fields):
			raise ValueError(f"values for {sorted(value)}, fields {sorted(self.fields)}")
		for name, field in self.fields.items():
			field.write(bits, value[name])

	def json(self, value):
		return {name.removeprefix("_"): field.json(value[name]) for name, field in self.fields.items()}


class Variant(Type):
	"""A value is (option, value). The tag must say the same: that is up to the writer of the values."""

	def __init__(self, tag, options, text=None):
		super().__init__(1, text)
		self.tag, self.options = tag, options

	def tsdl(self):
		rows = "".join(f" {option.declare(name)}" for name, option in self.options.items())
		return f"variant <{self.tag}> {{{rows} }}"

	def write(self, bits, value):
		self.options[value[0]].write(bits, value[1])

	def json(self, value):
		return {value[0].removeprefix("_"): self.options[value[0]].json(value[1])}


u8, u16, u32, u64 = (Int(size) for size in (8, 16, 32, 64))
i8, i16, i32, i64 = (Int(size, signed=True) for size in (8, 16, 32, 64))
char = Int(8, encoding="UTF8")
