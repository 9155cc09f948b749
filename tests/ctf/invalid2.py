# SPDX-License-Identifier: MIT
"""Descriptions that CTF 2 does not allow, or that monitor does not read: (name, fragments or bytes, a part of the one
sentence that is due). Fragments follow the preamble. HOSTILE: bytes that nobody should have to read."""
import json

RS = b"\x1e"
PREAMBLE = {"type": "preamble", "version": 2}


def text_of(*fragments):
	return b"".join(RS + json.dumps(one).encode() for one in fragments)


def field(name=None, **properties):
	"""An event with one field of this class."""
	return [{"type": "data-stream-class"}, {"type": "event-record-class", "payload-field-class": {
		"type": "structure", "member-classes": [{"name": "f", "field-class": properties}]}}]


def members(*classes):
	rows = [{"name": name, "field-class": each} for name, each in classes]
	return [{"type": "data-stream-class"},
	        {"type": "event-record-class", "payload-field-class": {"type": "structure", "member-classes": rows}}]


U8 = {"type": "fixed-length-unsigned-integer", "length": 8, "byte-order": "little-endian"}
S8 = {**U8, "type": "fixed-length-signed-integer"}
B8 = {**U8, "type": "fixed-length-boolean"}
TEXT = {"type": "null-terminated-string"}


def bits(**more):
	return field(**{**U8, **more})


def without(name):
	return field(**{key: value for key, value in U8.items() if key != name})


def path(*steps, **more):
	return {"path": list(steps), **more}


def counted(place):
	return {"type": "dynamic-length-array", "element-field-class": U8, "length-field-location": place}


def optional(place, **more):
	return {"type": "optional", "selector-field-location": place, "field-class": U8, **more}


def variant(place, *options):
	return {"type": "variant", "selector-field-location": place,
	        "options": [{"name": name, "selector-field-ranges": ranges, "field-class": U8} for name, ranges in options]}


def header(*classes, **more):
	return [{"type": "trace-class", "packet-header-field-class": {
		"type": "structure", "member-classes": [{"name": f"m{at}", "field-class": each} for at, each in enumerate(classes)]}, **more}]


def clock(**more):
	return [{"type": "clock-class", "id": "c", "frequency": 1000, **more}]


INVALID = [
	("version_3", text_of({"type": "preamble", "version": 3}), "a version other than CTF 2"),
	("no_version", text_of({"type": "preamble"}), "`version` is missing"),
	("no_preamble", text_of({"type": "trace-class"}), "must begin with a preamble"),
	("nothing", RS, "must begin with a preamble"),
	("two_preambles", [PREAMBLE], "a second preamble"),
	("no_type", [{}], "`type` is missing"),
	("type_unknown", [{"type": "trace"}], "expected one of preamble"),
	("no_object", [5], "expected an object"),
	("no_json", text_of(PREAMBLE) + RS + b'{"type": ', "this is not JSON"),
	("two_values", text_of(PREAMBLE) + RS + b"{} {}", "this is not JSON"),
	("not_utf8", text_of(PREAMBLE) + RS + b'{"type": "\xff"}', "this is not JSON"),
	("member_twice", text_of(PREAMBLE) + RS + b'{"type": "trace-class", "type": "trace-class"}', "twice"),
	("property_unknown", [{"type": "trace-class", "packet-header": {}}], "`packet-header` is not known here"),
	("extension", [{"type": "trace-class", "extensions": {"my.org": {"piano": 1}}}], "the extension my.org piano"),
	("extension_declared", text_of({**PREAMBLE, "extensions": {"my.org": {"piano": {}}}}), "the extension my.org piano"),
	("extension_of_a_field", bits(extensions={"x": {"y": 1}}), "the extension x y"),
	("extensions_text", bits(extensions="x"), "expected an object"),
	("attributes_text", bits(attributes="x"), "expected an object"),
	("uuid_15", text_of({**PREAMBLE, "uuid": [1] * 15}), "a uuid has 16 bytes"),
	("uuid_256", text_of({**PREAMBLE, "uuid": [256] * 16}), "expected an integer from 0 to 255"),
	("second_trace_class", [{"type": "trace-class"}] * 2, "a second trace class"),
	("environment_real", [{"type": "trace-class", "environment": {"a": 1.5}}], "environment.a: expected an integer or a text"),
	("header_no_structure", [{"type": "trace-class", "packet-header-field-class": U8}], "expected a structure"),
	("clock_without_id", [{"type": "clock-class", "frequency": 1}], "`id` is missing"),
	("clock_without_frequency", [{"type": "clock-class", "id": "c"}], "`frequency` is missing"),
	("clock_frequency_0", clock(frequency=0), "expected an integer of at least 1"),
	("clock_cycles", clock(**{"offset-from-origin": {"cycles": 1000}}), "expected an integer from 0 to 999"),
	("clock_seconds", clock(**{"offset-from-origin": {"seconds": 1 << 63}}), "less than 63 bits"),
	("clock_origin", clock(origin="big-bang"), "expected one of unix-epoch"),
	("clock_origin_without_uid", clock(origin={"name": "x"}), "`uid` is missing"),
	("clock_twice", clock() * 2, "two clock classes have this id"),
	("stream_clock_unknown", [{"type": "data-stream-class", "default-clock-class-id": "x"}], "there is no clock class x"),
	("stream_twice", [{"type": "data-stream-class", "id": 3}] * 2, "two data stream classes have the id 3"),
	("event_without_stream", [{"type": "event-record-class"}], "is not described before it"),
	("event_twice", [{"type": "data-stream-class"}] + [{"type": "event-record-class", "id": 4}] * 2, "have the id 4"),
	("alias_unknown", [{"type": "trace-class", "packet-header-field-class": "x"}], "the field class x is not defined before"),
	("alias_twice", [{"type": "field-class-alias", "name": "x", "field-class": U8}] * 2, "is defined twice"),
	("alias_of_itself", [{"type": "field-class-alias", "name": "x", "field-class": {
		"type": "static-length-array", "length": 2, "element-field-class": "x"}}], "the field class x is not defined before"),
	("class_unknown", field(type="integer"), "expected one of fixed-length-bit-array"),
	("length_0", bits(length=0), "expected an integer from 1"),
	("length_negative", bits(length=-1), "expected an integer from 1"),
	("length_real", bits(length=8.0), "expected an integer from 1"),
	("length_4097", bits(length=4097), "more than 4096 bits are not supported"),
	("boolean_65", bits(type="fixed-length-boolean", length=65), "more than 64 bits are not supported"),
	("wide_with_names", bits(length=65, mappings={"a": [[1, 1]]}), "can have no role and no names"),
	("wide_reversed", bits(length=72, **{"bit-order": "last-to-first"}), "in this bit order are not supported"),
	("no_length", without("length"), "`length` is missing"),
	("no_byte_order", without("byte-order"), "`byte-order` is missing"),
	("byte_order", bits(**{"byte-order": "native"}), "expected one of little-endian, big-endian"),
	("bit_order", bits(**{"bit-order": "forward"}), "expected one of first-to-last, last-to-first"),
	("alignment_0", bits(alignment=0), "expected an integer of at least 1"),
	("alignment_6", bits(alignment=6), "must be a power of two"),
	("alignment_8192", bits(alignment=8192), "of more than 4096 bits is not supported"),
	("base_12", bits(**{"preferred-display-base": 12}), "expected 2, 8, 10 or 16"),
	("real_80", bits(type="fixed-length-floating-point-number", length=48), "only floating-point numbers of 16, 32 and 64"),
	("roles_of_signed", field(**{**S8, "roles": []}), "`roles` is not known here"),
	("role_unknown", bits(roles=["king"]), "expected one of packet-magic-number"),
	("role_in_payload", bits(roles=["packet-total-length"]), "has a role, which it cannot have there"),
	("role_in_wrong_scope", header({**U8, "roles": ["packet-total-length"]}), "has a role that it cannot have there"),
	("time_without_clock", [{"type": "data-stream-class", "event-record-header-field-class": {
		"type": "structure", "member-classes": [{"name": "t", "field-class": {**U8, "roles": ["default-clock-timestamp"]}}]}}],
	 "has no default clock"),
	("magic_of_8_bits", header({**U8, "roles": ["packet-magic-number"]}), "must come first and have 32 bits"),
	("magic_second", header(U8, {**U8, "length": 32, "roles": ["packet-magic-number"]}), "must come first and have 32 bits"),
	("uuid_role_of_15", header({"type": "static-length-blob", "length": 15, "roles": ["metadata-stream-uuid"]}), "a uuid has 16 bytes"),
	("blob_role", header({"type": "static-length-blob", "length": 16, "roles": ["data-stream-id"]}), "only have the role"),
	("blob_media_type", field(type="static-length-blob", length=1, **{"media-type": 5}), "expected a text"),
	("mapping_empty", bits(mappings={"a": []}), "mappings.a: expected at least one range"),
	("mapping_one_number", bits(mappings={"a": [[1]]}), "expected the first and the last value"),
	("mapping_backwards", bits(mappings={"a": [[2, 1]]}), "a range runs backwards"),
	("mapping_backwards_signed", field(**{**S8, "mappings": {"a": [[-1, -2]]}}), "a range runs backwards"),
	("mapping_negative", bits(mappings={"a": [[-1, 1]]}), "outside of what the integer can be"),
	("mapping_large", field(**{**S8, "mappings": {"a": [[1, 1 << 63]]}}), "outside of what the integer can be"),
	("mapping_text", bits(mappings={"a": [["1", 2]]}), "expected an integer"),
	("flags_missing", bits(type="fixed-length-bit-map"), "`flags` is missing"),
	("flags_empty", bits(type="fixed-length-bit-map", flags={}), "expected at least one flag"),
	("flag_beyond", bits(type="fixed-length-bit-map", flags={"a": [[8, 9]]}), "numbered from 0 to 7"),
	("encoding", field(type="null-terminated-string", encoding="latin1"), "expected one of utf-8"),
	("string_without_length", field(type="static-length-string"), "`length` is missing"),
	("string_too_large", field(type="static-length-string", length=1 << 62), "expected an integer from 0 to"),
	("array_too_large", field(type="static-length-array", length=1 << 62, **{"element-field-class": U8}), "an array is too large"),
	("array_without_element", field(type="static-length-array", length=1), "`element-field-class` is missing"),
	("member_without_name", field(type="structure", **{"member-classes": [{"field-class": U8}]}), "`name` is missing"),
	("members_of_one_name", members(("a", U8), ("a", U8)), "the name a appears twice"),
	("location_after", members(("list", counted(path("n"))), ("n", U8)), "not an integer before the field"),
	("location_of_itself", members(("list", counted(path("list")))), "not an integer before the field"),
	("location_nowhere", members(("list", counted(path("x", "y")))), "not an integer before the field"),
	("location_to_text", members(("n", TEXT), ("list", counted(path("n")))), "not an integer before the field"),
	("location_to_characters", members(("n", {"type": "static-length-string", "length": 1}), ("list", counted(path("n")))),
	 "not an integer before the field"),
	("location_signed", members(("n", S8), ("list", counted(path("n")))), "not an unsigned integer"),
	("location_boolean", members(("n", B8), ("list", counted(path("n")))), "not an unsigned integer"),
	("location_into_list", members(("l", {"type": "static-length-array", "length": 2, "element-field-class": {
		"type": "structure", "member-classes": [{"name": "n", "field-class": U8}]}}), ("list", counted(path("l", "n")))),
	 "in a list or an optional field"),
	("location_into_optional", members(("b", B8), ("o", optional(path("b"))), ("list", counted(path("o")))),
	 "in a list or an optional field"),
	("location_into_some_options", members(("t", U8), ("v", {**variant(path("t"), ("a", [[0, 1]])), "options": [
		{"selector-field-ranges": [[0, 1]], "field-class": U8}, {"selector-field-ranges": [[2, 3]], "field-class": TEXT}]}),
		("list", counted(path("v")))), "only in some of the options"),
	("location_outside", members(("list", counted(path(None, None, "n")))), "outside of its scope"),
	("location_ends_up", members(("list", counted(path("n", None)))), "expected the names that lead to a field"),
	("location_empty", members(("list", counted(path()))), "expected the names that lead to a field"),
	("location_origin_up", members(("list", counted(path(None, "n", origin="event-record-payload")))), "cannot lead to what is around"),
	("location_origin_unknown", members(("list", counted(path("n", origin="payload")))), "expected one of packet-header"),
	("location_number", members(("list", counted(path(5)))), "expected a text"),
	("optional_of_integer", members(("n", U8), ("o", optional(path("n")))), "is not a boolean, so ranges are needed"),
	("optional_of_boolean", members(("n", B8), ("o", optional(path("n"), **{"selector-field-ranges": [[1, 1]]}))), "is a boolean"),
	("variant_of_boolean", members(("n", B8), ("v", variant(path("n"), ("a", [[1, 1]])))), "is a boolean"),
	("variant_without_options", members(("n", U8), ("v", variant(path("n")))), "a variant has no options"),
	("variant_overlaps", members(("n", U8), ("v", variant(path("n"), ("a", [[1, 5]]), ("b", [[5, 6]])))), "overlap"),
	("variant_overlaps_signed", members(("n", S8), ("v", variant(path("n"), ("a", [[-5, 1]]), ("b", [[0, 6]])))), "overlap"),
	("variant_negative", members(("n", U8), ("v", variant(path("n"), ("a", [[-5, 1]])))), "can never be in one of the ranges"),
	("variant_names", members(("n", U8), ("v", variant(path("n"), ("a", [[1, 1]]), ("a", [[2, 2]])))), "appears twice in a variant"),
]


def doubled(count):
	"""Each alias has two of the one before."""
	yield PREAMBLE
	yield {"type": "field-class-alias", "name": "a0", "field-class": U8}
	for number in range(1, count):
		yield {"type": "field-class-alias", "name": f"a{number}", "field-class": {"type": "structure", "member-classes": [
			{"name": name, "field-class": f"a{number - 1}"} for name in "xy"]}}


def nested(count):
	yield PREAMBLE
	yield {"type": "field-class-alias", "name": "a0", "field-class": U8}
	for number in range(1, count):
		yield {"type": "field-class-alias", "name": f"a{number}", "field-class": {
			"type": "static-length-array", "length": 1, "element-field-class": f"a{number - 1}"}}


BEGIN = text_of(PREAMBLE)
HOSTILE = {
	"deep": (BEGIN + RS + b"[" * 1_000_000, "nested too deeply"),
	"deep_objects": (BEGIN + RS + b'{"a":' * 1_000_000, "nested too deeply"),
	"many_values": (BEGIN + RS + b"[" + b"0," * 4_000_000 + b"0]", "too many values"),
	"doubled": (text_of(*doubled(60)), "too many fields"),
	"nested": (text_of(*nested(20000)), "too many fields"),
	"long_name": (BEGIN + RS + b'{"' + b"a" * 5_000_000 + b'": 1}', "longer than 1023 bytes"),
	"long_number": (BEGIN + RS + b'{"type": ' + b"9" * 1_000_000 + b"}", "a number is too large"),
	"separators": (RS * 10_000_000, "must begin with a preamble"),
	"empty_lines": (BEGIN + RS + b"\n" * 10_000_000, None),
	"foreign": (RS + b'{"name": "package", "version": "1.0.0", "dependencies": {}}', "`type` is missing"),
	"binary": (RS + bytes(range(256)) * 100, "this is not JSON"),
	"overlaps": (text_of(PREAMBLE, *bits(mappings={f"n{at}": [[at, 255 - at]] for at in range(128)})), None),
	"many_overlaps": (text_of(PREAMBLE, *field(type="variable-length-unsigned-integer", mappings={
		f"n{at}": [[at, 1_000_000 - at]] for at in range(30_000)})), "too many ranges overlap"),
}
