# SPDX-License-Identifier: MIT
"""Valid traces that show how types are named in a description: typedef, typealias, tags, scopes; and everything else
that may be written there. Each is a function as in cases_values.py."""
from layout import CLOCK, Event, Packet, Stream, Trace, packet_context, packet_header, plain_header, simple, stamp
from writer import Enum, Float, Int, Many, Str, Struct, Variant, char, i8, i32, i64, u8, u16, u32, u64

C_TYPES = """
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := unsigned short;
typealias integer { size = 32; align = 8; signed = true; } := int;
typealias integer { size = 32; align = 8; signed = false; } := unsigned int;
typealias integer { size = 64; align = 8; signed = true; } := long long;
typealias integer { size = 64; align = 8; signed = false; } := unsigned long long int;
typealias integer { size = 64; align = 8; signed = false; base = hex; } := unsigned long;
typealias integer { size = 8; align = 8; signed = true; encoding = UTF8; } := char;
typealias integer { size = 8; align = 8; signed = true; } := signed char;
typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := float;
typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := double;
typealias integer { size = 5; align = 1; signed = false; } := const unsigned five;
"""


def written(names_and_types, text, prefix=""):
	"""A structure with this text as its description."""
	return Struct(dict(names_and_types), text=f"struct {{ {prefix}{text} }}")


def counted(fields, count=10):
	def value(field, n):
		if isinstance(field, (Int, Enum)):
			bounds = (field.container if isinstance(field, Enum) else field).bounds()
			return bounds[0] + (bounds[1] - bounds[0]) * n // count if n % 2 else n
		if isinstance(field, Float):
			return n / 2
		if isinstance(field, Str):
			return b"text %d" % n
		if isinstance(field, Many):
			return b"abcdefgh"[:field.length] if field.is_text() else [value(field.of, n + k & 7) for k in range(field.length)]
		if isinstance(field, Struct):
			return {name: value(one, n) for name, one in field.fields.items()}
		raise TypeError(field)
	return [{name: value(field, n) for name, field in fields.fields.items()} for n in range(count)]


def type_names_of_c(directory):
	fields = written({"a": u8, "b": u16, "c": i32, "d": u32, "e": i64, "f": u64, "g": u64, "h": Many(char, 4), "i": i8,
	                  "j": Float(32, 8), "k": Float(64, 8), "l": Int(5)},
	                 "uint8_t a; unsigned short b; int c; unsigned int d; long long e; unsigned long long int f; "
	                 "unsigned long g; char h[4]; signed char i; float j; double k; const unsigned five l;")
	return simple(directory, fields, counted(fields), before=C_TYPES)


def typedefs(directory):
	before = C_TYPES + """
typedef integer { size = 24; align = 8; } triple;
typedef uint8_t byte, byte_row[3], byte_square[2][3];
typedef byte octet;
typedef struct { octet a; triple b; } pair;
typedef string text;
typedef enum : uint8_t { off, on } state_t;
typedef char name_t[4];
"""
	byte_row = Many(u8, 3)
	state = Enum(u8, [("off", 0), ("on", 1)])
	fields = written({"a": Int(24), "b": u8, "c": byte_row, "d": Many(byte_row, 2), "e": Struct({"a": u8, "b": Int(24)}),
	                  "f": Str(), "g": state, "h": Many(state, 2), "i": Many(byte_row, 2), "j": Many(char, 4)},
	                 "triple a; octet b; byte_row c; byte_square d; pair e; text f; state_t g; state_t h[2]; "
	                 "byte_row i[2]; name_t j;")
	return simple(directory, fields, counted(fields), before=before)


def typedef_as_length(directory):
	"""The length's type has a name of its own, and so has the sequence's."""
	before = "typealias integer { size = 8; } := uint8_t;\ntypedef uint8_t length_t;\n"
	fields = Struct({"n": u8, "a": Many(u8, "n"), "b": Many(u8, "n")}, text="struct { typedef length_t own_t; own_t n; "
	                "uint8_t a[n]; typedef uint8_t row_t[n]; row_t b; }")
	return simple(directory, fields, [{"n": n, "a": [1] * n, "b": [2] * n} for n in range(6)], before=before)


def typealiases(directory):
	before = C_TYPES + """
typealias uint8_t := my_byte;
typealias my_byte := other_byte;
typealias struct { my_byte a; other_byte b; } := pair_of_bytes;
typealias enum : my_byte { x, y = 3 } := my_enum;
typealias string { encoding = ASCII; } := my_text;
typealias struct tagged { my_byte z; } := tagged_alias;
typealias integer { size = 32; align = 8; base = 16; } := my_byte *;
typealias integer { size = 64; align = 8; base = 16; } := void *;
typealias integer { size = 16; align = 8; } := char * *;
typealias integer { size = 8; align = 8; } := const char *;
"""
	pair, tagged = Struct({"a": u8, "b": u8}), Struct({"z": u8})
	fields = written({"a": u8, "b": u8, "c": pair, "d": Enum(u8, [("x", 0), ("y", 3)]), "e": Str(), "f": tagged,
	                  "g": tagged, "h": u32, "i": u64, "j": u16, "k": u8},
	                 "my_byte a; other_byte b; pair_of_bytes c; my_enum d; my_text e; tagged_alias f; struct tagged g; "
	                 "my_byte * h; void *i; char **j; const char *k;")
	return simple(directory, fields, counted(fields), before=before)


def tags(directory):
	before = C_TYPES + """
struct point { int x; int y; };
enum colour : uint8_t { red, green, blue = 10 ... 20 };
enum : uint8_t { nobody };
variant shape { struct point red; int green; string blue; };
struct box { struct point from, to; enum colour colour; } align(64);
"""
	point = Struct({"x": i32, "y": i32})
	colour = Enum(u8, [("red", 0), ("green", 1), ("blue", 10, 20)])
	shape = Variant("tag", {"red": point, "green": i32, "blue": Str()})
	box = Struct({"from": point, "to": point, "colour": colour}, align=64)
	fields = written({"a": point, "tag": colour, "b": shape, "c": box, "d": Many(point, 2), "e": shape},
	                 "struct point a; enum colour tag; variant shape <tag> b; struct box c; struct point d[2]; "
	                 "variant shape <tag> e;")
	choices = ((0, ("red", {"x": -1, "y": 2})), (1, ("green", 5)), (15, ("blue", b"sky")))
	rows = []
	for n in range(12):
		one = {"x": n, "y": -n}
		tag, value = choices[n % 3]
		rows.append({"a": one, "tag": tag, "b": value, "c": {"from": one, "to": one, "colour": tag}, "d": [one, one],
		             "e": value})
	return simple(directory, fields, rows, before=before)


def several_declarators(directory):
	fields = written({"a": u8, "b": u8, "c": Many(u8, 2), "d": Many(Many(u8, 2), 3), "e": u16},
	                 "integer { size = 8; } a, b, c[2], d[3][2]; integer { size = 16; } e;")
	return simple(directory, fields, counted(fields))


def scopes(directory):
	"""One name in the whole text, in trace, stream, event and structures: the nearest is meant. Events are not within
	their stream's block."""
	inner = Struct({"a": i64, "b": Struct({"a": u16, "c": Struct({"a": u16})}), "d": i64})
	fields = Struct({"a": i32, "inner": inner, "z": i32}, text=(
		"struct { t a; struct { typealias integer { size = 64; signed = true; } := t; t a; "
		"struct { typealias integer { size = 16; } := t; t a; struct { t a; } c; } b; t d; } inner; t z; }"))
	shadowing = Event("shadowing", fields, id=0,
	                  more="\ttypealias integer { size = 32; align = 8; signed = true; } := t;\n")
	root = written({"a": u8, "e": Enum(u8, [("of_root", 1)])}, "t a; enum kind e;")
	other = Event("not_shadowing", root, id=1)
	common = written({"b": u16, "f": Enum(u8, [("of_stream", 1)])}, "t b; enum kind f;")
	stream = Stream(shadowing, other, id=0, event_context=common, more=(
		"\ttypealias integer { size = 16; align = 8; } := t;\n"
		"\ttypedef enum kind : integer { size = 8; } { of_stream = 1 } kind_of_stream;\n"))
	plain = Stream(Event("of_the_root", root), id=1, event_context=root)
	trace = Trace(directory, stream, plain, inside="\ttypealias integer { size = 24; align = 8; } := t;\n", before=(
		"typealias integer { size = 8; align = 8; } := t;\nenum kind : integer { size = 8; } { of_root = 1 };\n"))
	rows = [(shadowing, row) for row in counted(fields)] + [(other, {"a": 200 + n, "e": n % 3}) for n in range(5)]
	trace.write("first", stream, Packet([{"is": event, "time": n, "fields": row, "common": {"b": 60000 + n, "f": n % 3}}
	                                     for n, (event, row) in enumerate(rows)]))
	trace.write("second", plain, Packet([{"is": plain.events[0], "time": 50 * n, "fields": {"a": 250, "e": n % 3},
	                                      "common": {"a": n, "e": 1}} for n in range(5)]))
	return trace


def types_in_every_block(directory):
	"""typedef, typealias and tags inside event, stream and trace blocks, even in structures."""
	fields = written({"a": u16, "b": u8, "c": Enum(u8, [("x", 0), ("y", 1)]), "d": Struct({"k": u8}), "e": u32},
	                 "wide a; narrow b; enum here c; struct there d; shared e;")
	event = Event("an_event", fields, more=(
		"\ttypedef integer { size = 16; } wide;\n\ttypealias integer { size = 8; } := narrow;\n"
		"\ttypedef enum here : narrow { x, y } here_t;\n\ttypealias struct there { narrow k; } := there_t;\n"))
	common = Struct({"v": u8, "w": u32}, text="struct { typedef integer { size = 8; } own; own v; of_stream w; }")
	stream = Stream(event, event_context=common, more="\ttypedef integer { size = 32; align = 8; } of_stream;\n")
	trace = Trace(directory, stream, before="typealias integer { size = 32; align = 8; } := shared;\n")
	trace.write("stream", stream, Packet([{"is": event, "time": n, "fields": row, "common": {"v": n, "w": 2 ** n}}
	                                      for n, row in enumerate(counted(fields))]))
	return trace


def comments_and_blanks(directory):
	fields = written({"a": u8, "b": u8}, "/* one */ integer/**/{size=8/* eight */;}a;// the rest\n\n\t\r\n"
	                 "integer\n{\nsize\n=\n8\n;\n}\n b /*/ still * one **/ ; /* \" */ // ' \n")
	return simple(directory, fields, counted(fields), before="// a line\n/* and\n more // */ \n", after="// the end\n")


def everything_else(directory):
	"""Blocks and attributes that a reader may pass over."""
	before = """
env {
	hostname = "a \\"host\\" \\\\ with\\ttabs \\x41\\101";
	domain = "none";
	number = 42;
	negative = -17;
	hex = 0xFF;
	"quoted" = "value";
};
"""
	after = """
callsite {
	name = "an_event";
	func = "main";
	file = "main.c";
	line = 10;
	ip = 0x40096c;
};
callsite { name = "none of these"; func = "f"; ip = 1; };
"""
	event = Event("an_event", Struct({"a": u8}), more=(
		'\tloglevel = 13;\n\tmodel.emf.uri = "http://example.org/events?a=b#c";\n'))
	stream = Stream(event)
	trace = Trace(directory, stream, before=before, after=after)
	trace.write("stream", stream, Packet([{"is": event, "time": n, "fields": {"a": n}} for n in range(12)]))
	return trace


EVENT_NAMES = ("provider:name", "with blank", "a::b::c", "sys_enter(int, const char *)", "ünïcode", "x" * 300, "-1",
               "{brace}", "a=b; c", "tab\\tin", 'quo\\"te', "back\\\\slash", "<T>", "id = 5;", "per%cent", "1")


def event_names(directory):
	events = [Event(name, Struct({"a": u8}), id=number * 7) for number, name in enumerate(EVENT_NAMES)]
	stream = Stream(*events)
	trace = Trace(directory, stream)
	trace.write("stream", stream, Packet([{"is": event, "time": n, "fields": {"a": n}} for n, event in enumerate(events)]))
	real = {"tab\\tin": "tab\tin", 'quo\\"te': 'quo"te', "back\\\\slash": "back\\slash"}
	trace.log = [(real.get(name, name), context, fields) for name, context, fields in trace.log]
	return trace


def keywords_as_texts(directory):
	"""Names that look like keywords, or like attributes."""
	names = ("id", "name", "size", "value", "fields", "context", "header", "packet", "map", "byte_order",
	         "signed_", "Integer", "freq", "major", "le", "be", "true_", "x0", "__x", "base", "encoding", "none")
	fields = Struct({name: u8 for name in names})
	return simple(directory, fields, [{"fields": row} for row in counted(fields)])


def clock_names(directory):
	clock = ('clock {\n\tname = "quoted";\n\tuuid = "ab6e3a0f-0c2b-4ee5-9a8a-0d6f7f1a4a44";\n'
	         '\tdescription = "A \\"clock\\"";\n\tfreq = 1000000000; precision = 1000;\n'
	         '\toffset = 1351530929945824323; absolute = FALSE;\n};')
	context = packet_context(timestamp_begin=stamp(clock="quoted"), timestamp_end=stamp(clock="quoted"))
	header = plain_header()
	header.fields["timestamp"] = stamp(clock="quoted")
	return simple(directory, Struct({"a": u8}), [{"a": n} for n in range(10)], clock=clock, context=context, header=header)


def clock_by_type_name(directory):
	"""The clock is bound to a named type, as LTTng does."""
	after_clock = CLOCK + "".join(
		f"\ntypealias integer {{ size = {size}; align = {align}; signed = false; map = clock.monotonic.value; }} := {name};"
		for size, align, name in ((64, 8, "stamp_t"), (27, 1, "short_t")))
	time = Int(64, text="stamp_t")
	header = Struct({"id": u8, "timestamp": Int(27, align=1, text="short_t")})
	context = packet_context(timestamp_begin=time, timestamp_end=time)
	return simple(directory, Struct({"a": u8}), [{"a": n} for n in range(10)], clock=after_clock, context=context,
	              header=header)


def named_headers(directory):
	"""Headers that are structures named elsewhere, and attributes by full paths."""
	before = """
struct header_of_packet {
	integer { size = 32; } magic; integer { size = 8; } uuid[16]; integer { size = 32; } stream_id;
};
struct header_of_event { integer { size = 8; } id; integer { size = 24; } timestamp; } align(8);
typealias struct { integer { size = 64; } packet_size; integer { size = 64; } content_size; } := context_of_packet;
"""
	head = packet_header()
	head.text = "struct header_of_packet"
	context = Struct({"packet_size": u64, "content_size": u64}, text="context_of_packet")
	header = Struct({"id": u8, "timestamp": Int(24)}, text="struct header_of_event")
	event = Event("an_event", Struct({"a": u8}))
	stream = Stream(event, context=context, header=header)
	trace = Trace(directory, stream, header=head, before=before)
	trace.write("stream", stream, Packet([{"is": event, "time": n, "fields": {"a": n}} for n in range(20)]))
	return trace
