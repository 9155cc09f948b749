# SPDX-License-Identifier: MIT
"""Descriptions that are wrong: (name, text, line, column) of each. In the texts below @ stands before the word that is
wrong, ` only somewhere in the line; neither: the place is not looked at, but some place must be told."""

TRACE = "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };"
STREAM = ("stream { id = 0; packet.context := struct { u32 packet_size; u32 content_size; }; "
          "event.header := struct { u16 id; u32 timestamp; }; };")
EVENT = 'event { name = "an_event"; id = 0; stream_id = 0; fields := struct { u8 a; }; };'
TYPES = """/* CTF 1.8 */
typealias integer { size = 8; } := u8;
typealias integer { size = 16; } := u16;
typealias integer { size = 32; } := u32;
typealias integer { size = 8; signed = true; } := i8;
typealias integer { size = 8; encoding = UTF8; } := chr;
clock { name = there; freq = 1000; };
"""


def whole(*parts):
	return TYPES + "\n".join(parts) + "\n"


def fields(text, before=""):
	"""A description of one event with these fields."""
	return whole(TRACE, STREAM, before,
	             f'event {{\n\tname = "an_event";\n\tid = 0;\n\tstream_id = 0;\n\tfields := struct {{\n{text}\n\t}};\n}};')


def root(text):
	return whole(TRACE, STREAM, EVENT, text)


def trace(text):
	return whole(f"trace {{\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n{text}\n}};", STREAM, EVENT)


def nested(depth):
	return "struct { " * depth + "u8 a; " + "} b; " * depth


MARKED = {
	# what is no TSDL
	"no_semicolon": fields("\t@u8 a\n\tu8 b;"),
	"no_name": fields("\tu8 @;"),
	"two_names": fields("\t@u8 a b;"),
	"sign_that_is_none": fields("\tu8 a; @$"),
	"bracket_open": fields("\tu8 a[3@;"),
	"brace_open": whole(TRACE, STREAM, "event { name = \"an_event\""),
	"brace_too_many": root("@};"),
	"text_open": root('env { a = @"text;\n};\n'),
	"comment_open": root("@/* no end"),
	"number_too_big": fields("\tinteger { size = @99999999999999999999999; } a;"),
	"number_that_is_none": fields("\tinteger { size = @0xZ; } a;"),
	"size_without_value": fields("\tinteger { size = @; } a;"),
	"block_unknown": root("@strem { id = 1; };"),
	"binary": TYPES + "@\x01\x02\x03",
	"empty_declaration_of_fields": whole(TRACE, STREAM, 'event { name = "e"; id = 0; stream_id = 0; fields := @; };'),
	"enum_open": fields("\tenum : u8 { a = 1, b = @} e;"),
	"range_open": fields("\tenum : u8 { a = 1 ... @, b } e;"),
	# names of nothing
	"type_unknown": fields("\tu8 a;\n\t@nothing b;"),
	"type_of_words_unknown": fields("\t`unsigned long long a;"),
	"struct_unknown": fields("\t`struct nothing a;"),
	"enum_unknown": fields("\t`enum nothing a;"),
	"variant_unknown": fields("\tenum : u8 { a } tag; \n\t`variant nothing <tag> a;"),
	"type_of_another_scope": fields("\tstruct { typealias integer { size = 8; } := inner_t; inner_t x; } s;\n\t@inner_t y;"),
	"typedef_loop": root("typedef @b a;\ntypedef a b;"),
	"typedef_of_itself": root("typedef @a a;"),
	"struct_of_itself": root("struct a { `struct a x; };"),
	"variant_of_itself": root("variant a { `variant a x; };"),
	"typealias_again": root("`typealias integer { size = 16; } := u8;"),
	"struct_again": root("struct a { u8 x; };\n`struct a { u16 x; };"),
	# numbers
	"size_0": fields("\t`integer { size = 0; } a;"),
	"size_4097": fields("\tinteger { size = @4097; } a;"),
	"size_missing": fields("\t`integer { align = 8; } a;"),
	"size_negative": fields("\t`integer { size = -8; } a;"),
	"align_3": fields("\t`integer { size = 8; align = 3; } a;"),
	"align_0": fields("\t`integer { size = 8; align = 0; } a;"),
	"align_negative": fields("\t`integer { size = 8; align = -8; } a;"),
	"struct_align_3": fields("\t`struct { u8 a; } align(3) s;"),
	"signed_unknown": fields("\t`integer { size = 8; signed = maybe; } a;"),
	"byte_order_unknown": fields("\t`integer { size = 8; byte_order = middle; } a;"),
	"base_unknown": fields("\t`integer { size = 8; base = 7; } a;"),
	"encoding_unknown": fields("\t`integer { size = 8; encoding = EBCDIC; } a;"),
	"string_encoding_unknown": fields("\t`string { encoding = EBCDIC; } a;"),
	"float_of_16_bits": fields("\t`floating_point { exp_dig = 5; mant_dig = 11; align = 8; } a;"),
	"float_of_80_bits": fields("\t`floating_point { exp_dig = 15; mant_dig = 64; } a;"),
	"float_without_mantissa": fields("\t`floating_point { exp_dig = 8; } a;"),
	# clocks
	"map_to_no_clock": fields("\t`integer { size = 8; map = clock.nowhere.value; } a;"),
	"map_to_no_value": fields("\t`integer { size = 8; map = clock.there.offset; } a;"),
	"clock_without_name": root("`clock { freq = 5; };"),
	"clock_again": root("`clock { name = there; freq = 5; };"),
	"clock_of_frequency_0": root("`clock { name = nowhere; freq = 0; };"),
	"clock_uuid_bad": root('`clock { name = nowhere; uuid = "xyz"; };'),
	# lengths and tags
	"length_missing": fields("\tu8 a;\n\t`u8 b[nowhere];"),
	"length_later": fields("\t`u8 b[n];\n\tu8 n;"),
	"length_is_itself": fields("\t`u8 b[b];"),
	"length_is_text": fields("\tstring n;\n\t`u8 b[n];"),
	"length_is_signed": fields("\ti8 n;\n\t`u8 b[n];"),
	"length_is_struct": fields("\tstruct { u8 x; } n;\n\t`u8 b[n];"),
	"length_in_no_scope": fields("\t`u8 b[stream.packet.context.nothing];"),
	"length_in_variant": fields("\tenum : u8 { x } t;\n\tvariant <t> { u8 x; } v;\n\t`u8 b[v.x.y];"),
	"length_negative": fields("\t`u8 a[-1];"),
	"array_too_big": fields("\t`u32 a[0x4000000000000000];"),
	"array_of_arrays_too_big": fields("\t`u8 a[0xffffffff][0xffffffff][0xffffffff];"),
	"tag_missing": fields("\t`variant { u8 a; } v;"),
	"tag_unknown": fields("\t`variant <nowhere> { u8 a; } v;"),
	"tag_later": fields("\t`variant <t> { u8 a; } v;\n\tenum : u8 { a } t;"),
	"tag_is_no_enum": fields("\tu8 t;\n\t`variant <t> { u8 a; } v;"),
	"option_again": fields("\tenum : u8 { a } t;\n\t`variant <t> { u8 a; u16 a; } v;"),
	"variant_without_options": fields("\tenum : u8 { a } t;\n\t`variant <t> { } v;"),
	# enumerations
	"enum_of_text": fields("\t`enum : string { a } e;"),
	"enum_range_backwards": fields("\t`enum : u8 { a = 5 ... 3 } e;"),
	"enum_without_container": fields("\t`enum { a } e;"),
	"label_above": fields("\tenum : u8 { a, @b = 256 } e;"),
	"label_above_signed": fields("\tenum : i8 { @a = 128 } e;"),
	"label_below": fields("\tenum : u8 { @a = -1 } e;"),
	"label_below_signed": fields("\tenum : i8 { a = -128, @b = -129 } e;"),
	"label_after_the_last": fields("\tenum : u8 { a = 255, @b } e;"),
	"label_beyond_64_bits": fields("\tenum : integer { size = 64; } { a = 0xffffffffffffffff, @b } e;"),
	"range_above": fields("\tenum : u8 { @a = 250 ... 256 } e;"),
	"range_below": fields("\tenum : u8 { @a = -3 ... 3 } e;"),
	# reserved words
	**{f"field_named_{word.lower()}": fields(f"\tu8 a;\n\tu8 @{word};") for word in (
		"align", "callsite", "char", "clock", "double", "enum", "env", "event", "float", "int", "long", "short", "signed",
		"stream", "trace", "typealias", "typedef", "unsigned", "void", "_Bool", "_Complex", "_Imaginary")},
	"option_named_event": fields("\tenum : u8 { \"event\" } t;\n\tvariant <t> { u8 @event; } v;"),
	"label_named_int": fields("\tenum : u8 { a, @int } e;"),
	"struct_named_event": root("struct @event { u8 a; };"),
	"enum_named_trace": root("enum @trace : u8 { a };"),
	"variant_named_clock": root("variant @clock { u8 a; };"),
	"typedef_named_env": root("typedef u8 @env;"),
	"typealias_named_stream": root("typealias integer { size = 8; } := @stream;"),
	"typealias_named_unsigned_clock": root("typealias integer { size = 8; } := unsigned @clock;"),
	"type_is_event": fields("\t@event a;"),
	"type_is_align": fields("\t@align a;"),
	# attributes of the wrong kind
	"size_is_text": fields('\tinteger { size = @"8"; } a;'),
	"size_is_word": fields("\tinteger { size = @eight; } a;"),
	"align_is_text": fields('\tinteger { size = 8; align = @"8"; } a;'),
	"signed_is_text": fields('\tinteger { size = 8; signed = @"true"; } a;'),
	"signed_is_2": fields("\tinteger { size = 8; signed = @2; } a;"),
	"byte_order_is_text": fields('\tinteger { size = 8; byte_order = @"le"; } a;'),
	"byte_order_is_number": fields("\tinteger { size = 8; byte_order = @1; } a;"),
	"base_is_text": fields('\tinteger { size = 8; base = @"hex"; } a;'),
	"encoding_is_text": fields('\tinteger { size = 8; encoding = @"UTF8"; } a;'),
	"encoding_of_string_is_number": fields("\tstring { encoding = @8; } a;"),
	"map_is_text": fields('\tinteger { size = 8; map = @"clock.there.value"; } a;'),
	"exponent_is_text": fields('\tfloating_point { exp_dig = @"8"; mant_dig = 24; } a;'),
	"attribute_again": fields("\tinteger { size = 8; @size = 16; } a;"),
	"trace_byte_order_is_text": trace('\tbyte_order = @"le";').replace("byte_order = le;", "", 1),
	"trace_byte_order_network": trace("\tbyte_order = @network;").replace("byte_order = le;", "", 1),
	"trace_major_is_text": trace('\tmajor = @"1";').replace("major = 1;", "", 1),
	"trace_uuid_is_word": trace("\tuuid = @abc;"),
	"stream_id_is_word": whole(TRACE, STREAM.replace("id = 0", "id = @zero", 1), EVENT),
	"event_id_is_string": whole(TRACE, STREAM, EVENT.replace("id = 0", 'id = @"0"', 1)),
	"event_name_is_number": whole(TRACE, STREAM, EVENT.replace('"an_event"', "@5", 1)),
	"event_loglevel_is_text": whole(TRACE, STREAM, EVENT.replace("id = 0;", 'id = 0; loglevel = @"x";', 1)),
	"event_uri_is_number": whole(TRACE, STREAM, EVENT.replace("id = 0;", "id = 0; model.emf.uri = @5;", 1)),
	"clock_frequency_is_text": root('clock { name = x; freq = @"5"; };'),
	"clock_precision_is_text": root('clock { name = x; precision = @"5"; };'),
	"clock_absolute_is_text": root('clock { name = x; absolute = @"TRUE"; };'),
	"clock_absolute_is_5": root("clock { name = x; absolute = @5; };"),
	"clock_description_is_number": root("clock { name = x; description = @5; };"),
	"clock_uuid_is_number": root("clock { name = x; uuid = @5; };"),
	"clock_name_is_number": root("clock { name = @5; };"),
	# lengths and tags that are no fields
	"length_is_keyword": fields("\tu8 a[@int];"),
	"length_is_block": fields("\tu8 a[@event];"),
	"length_is_type": fields("\t`u8 a[u8];"),
	"length_is_string": fields('\tu8 n;\n\tu8 a[@"n"];'),
	"length_is_float": fields("\tfloating_point { exp_dig = 8; mant_dig = 24; } n;\n\t`u8 a[n];"),
	"length_is_wide": fields("\tinteger { size = 72; } n;\n\t`u8 a[n];"),
	"tag_is_keyword": fields("\tenum : u8 { a } t;\n\tvariant <@int> { u8 a; } v;"),
	"tag_is_type": fields("\tenum : u8 { a } t;\n\t`variant <u8> { u8 a; } v;"),
	"tag_is_string": fields('\tenum : u8 { a } t;\n\tvariant <@"t"> { u8 a; } v;'),
	"option_is_string": fields('\tenum : u8 { a } t;\n\tvariant <t> { u8 @"a"; } v;'),
	"field_is_string": fields('\tu8 @"a";'),
	"enum_of_wide": fields("\t`enum : integer { size = 72; } { a } e;"),
	# packet headers
	"magic_not_first": whole("`" + TRACE.replace("u32 magic; u32 stream_id;", "u32 stream_id; u32 magic;"), STREAM, EVENT),
	"uuid_of_15": whole("`" + TRACE.replace("u32 magic;", "u32 magic; u8 uuid[15];"), STREAM, EVENT),
	"streams_without_stream_id": whole(TRACE.replace("u32 stream_id; ", ""), STREAM, "`" + STREAM.replace("id = 0", "id = 1"), EVENT),
	"version_in_comment": "`" + fields("\tu8 a;").replace("CTF 1.8", "CTF 1.7", 1),
	# the same again
	"field_again": fields("\tu8 a;\n\t`u16 a;"),
	"field_again_without_underscore": fields("\tu8 _a;\n\t`u16 _a;"),
	"event_id_again": root('`event { name = "b"; id = 0; stream_id = 0; fields := struct { u8 a; }; };'),
	"stream_id_again": root("`stream { id = 0; event.header := struct { u16 id; }; };"),
	"trace_again": root("`" + TRACE),
	"fields_again": whole(TRACE, STREAM,
	                      'event { name = "e"; id = 0; stream_id = 0;\nfields := struct { u8 a; };',
	                      "`fields := struct { u8 b; }; };"),
	"event_of_no_stream": root('`event { name = "b"; id = 1; stream_id = 9; fields := struct { u8 a; }; };'),
	"event_without_id": root('`event { name = "b"; stream_id = 0; fields := struct { u8 a; }; };'),
	# the whole
	"no_trace_block": whole(STREAM, EVENT),
	"only_comment": "/* CTF 1.8 */\n",
	"trace_without_byte_order": whole(TRACE.replace("byte_order = le; ", ""), STREAM, EVENT),
	"trace_byte_order_native": whole("`" + TRACE.replace("le", "native"), STREAM, EVENT),
	"trace_byte_order_unknown": whole("`" + TRACE.replace("byte_order = le", "byte_order = pdp"), STREAM, EVENT),
	"trace_uuid_bad": trace('\t`uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a56";'),
	"trace_uuid_no_text": trace("\t`uuid = 5;"),
	"version_2_0": whole("`" + TRACE.replace("major = 1; minor = 8", "major = 2; minor = 0"), STREAM, EVENT),
	"version_1_9": whole("`" + TRACE.replace("minor = 8", "minor = 9"), STREAM, EVENT),
	"magic_of_16_bits": whole("`" + TRACE.replace("u32 magic", "u16 magic"), STREAM, EVENT),
	"magic_is_text": whole("`" + TRACE.replace("u32 magic", "string magic"), STREAM, EVENT),
	"header_is_no_struct": whole("`trace { major = 1; minor = 8; byte_order = le; packet.header := u8; };", STREAM, EVENT),
	"fields_are_no_struct": whole(TRACE, STREAM, '`event { name = "e"; id = 0; stream_id = 0; fields := u8; };'),
	"stream_id_is_text": whole("`" + TRACE.replace("u32 stream_id", "string stream_id"), STREAM, EVENT),
	"event_id_is_text": whole(TRACE, "`" + STREAM.replace("u16 id", "string id"), EVENT),
	"packet_size_is_text": whole(TRACE, "`" + STREAM.replace("u32 packet_size", "string packet_size"), EVENT),
	# bombs
	"depth_1000": fields("\t`" + nested(1000)),
	"depth_100000": fields("\t`" + nested(100000)),
	"depth_of_variants": fields("\tenum : u8 { a } t;\n\t`" + "variant <t> { " * 1000 + "u8 a; " + "} a; " * 1000),
	"brackets_5000": fields("\t`u8 a" + "[1]" * 5000 + ";"),
	"pieces_doubling": fields("\ts39 a;", before="typealias struct { u8 a; u8 b; } := s0;\n" + "\n".join(
		f"typealias struct {{ s{n} a; s{n} b; }} := s{n + 1};" for n in range(39))),
}

# Where to stop is the reader's choice: it may also read these.
MAY_BE_READ = {"pieces_doubling", "typealias_again", "trace_again", "variant_without_options",
               "enum_without_container", "only_comment", "clock_again", "clock_of_frequency_0", "version_1_9",
               "trace_without_byte_order", "field_again_without_underscore", "map_to_no_value", "comment_open",
               "depth_1000", "depth_of_variants", "brackets_5000"}


def place(marked):
	"""(text without the mark, line, column), None for what is not marked."""
	for mark in "@`":
		at = marked.find(mark)
		if at >= 0:
			before = marked[:at]
			column = len(before) - before.rfind("\n") if mark == "@" else None
			return marked.replace(mark, "", 1), before.count("\n") + 1, column
	return marked, None, None


INVALID = [(name, *place(marked)) for name, marked in MARKED.items()]


# What CTF 1.8 does not know is left out with a warning: @ stands where.
WARNED = [(name, *place(marked)) for name, marked in {
	"attribute_of_integer": fields("\tinteger { size = 8; @foo = 3; } a;"),
	"attribute_of_float": fields("\tfloating_point { exp_dig = 8; mant_dig = 24; @foo = bar; } a;"),
	"attribute_of_string": fields('\tstring { @foo = "x"; } a;'),
	"attribute_of_event": whole(TRACE, STREAM, EVENT.replace("id = 0;", 'id = 0; @foo.bar = "x";', 1)),
	"attribute_of_stream": whole(TRACE, STREAM.replace("id = 0;", "id = 0; @foo = 1;", 1), EVENT),
	"attribute_of_trace": trace("\t@foo = 1; packet.header := struct { u32 magic; u32 stream_id; };"),
	"attribute_of_clock": root("clock { name = x; @foo = 1; };"),
	"part_of_event": whole(TRACE, STREAM, EVENT.replace("id = 0;", "id = 0; @foo := struct { u8 a; };", 1)),
	"several": fields("\tinteger { size = 8; @foo = 3; bar = 4; } a; integer { size = 8; foo = 3; } b;"),
}.items()]

WITHOUT_EVENTS = {
	"no_stream": (fields("\tu8 a;"), ()),
	"empty_stream": (fields("\tu8 a;"), ("stream",)),
	"no_event_class": (whole(TRACE, STREAM), ()),
}
