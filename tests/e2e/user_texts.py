#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Providers and short texts of the user card: events of two libraries with the same name, and texts that programs post,
as list, filters, SQL, reports and babeltrace2 show them.

user_texts.py MONITOR PROGRAMS WORK SOURCE_DIRECTORY
"""
import json
import os
import re
import shutil
import sys

import e2e

SOURCE = e2e.pathlib.Path(sys.argv[4])
LOAD, LIBRARIES = (os.path.join(e2e.programs, name) for name in ("text_load", "user_load"))
PATHS = ["", "a", "/etc/passwd", "1234567", "12345678", "123456789", "just-24-bytes-long-text.",
         "cut after its 24th byte,", "caf\u00e9", "\x1b[31m\n\"\\"]  # and one that is not UTF-8
LONG = "a text that fills the forty-eight bytes it may have"[:48]


def texts():
	global TRACE
	TRACE = e2e.record("texts", "--force", "--user-only", command=(LOAD,))
	TRACE.expect_true()
	e2e.equal("tokens", TRACE.recording()["user_card"]["tokens"], e2e.values(TRACE.output)["posted"])
	fields = [event["fields"] for event in TRACE.events("--event", "mylib:open_file")]
	e2e.equal("texts", [each["path"] for each in fields][:len(PATHS)], PATHS)
	e2e.equal("the fields around them", [(each["mode"], each["bytes"]) for each in fields],
	          [(i, 100 + i) for i in range(len(PATHS) + 1)])
	pairs = [(event["fields"]["first"], event["fields"]["second"]) for event in TRACE.events("--event", "mylib:texts")]
	e2e.equal("two texts", pairs, [("left", "right"), ("", LONG)])
	shown = e2e.run(e2e.monitor, "list", TRACE.directory).stdout
	e2e.expect("mylib:open_file mode=2 path=/etc/passwd bytes=102" in shown, f"the listing: {shown}")
	e2e.expect(all(c == "\n" or c.isprintable() for c in shown), f"control characters in {shown!r}")


def selected():
	"""By name, by pattern, by text."""
	def number(*options):
		return len(TRACE.events(*options))

	opened = len(PATHS) + 1
	e2e.equal("--event with a pattern", number("--event", "mylib:*"), 3 * opened + 3)
	e2e.equal("--event with two", number("--event", "mylib:t?ck,mylib:texts"), 3)
	e2e.expect("no event class yourlib:*" in e2e.run(e2e.monitor, "list", TRACE.directory, "--event", "yourlib:*",
	                                                 exit_code=1).stderr.replace('"', ""), "a pattern without a match")
	for expression, found in (('name == "mylib:tick"', 1), ('name ~ "mylib:*"', 3 * opened + 3), ('path == "/etc/passwd"', 1),
	                          ('path == ""', 1), ('path ~ "1234567*"', 3), ('path ~ "cut*,"', 1),
	                          ('path == "\\xff\\xfe no UTF-8"', 1), ('second ~ "*bytes*"', 1), ('path == "abc"', 0)):
		e2e.equal(f"events with {expression}", number("--filter", expression), found)


def by_sql():
	if "left out of this build" in e2e.run(e2e.monitor, "query", "--help", exit_code=None).stdout:
		e2e.leave_out("by_sql", "this build has no SQLite")
		return
	rows = json.loads(e2e.run(e2e.monitor, "query", TRACE.directory, "--json",
	                          'SELECT path, bytes FROM "mylib:open_file" WHERE path >= \'1234567\' AND path < \'2\'').stdout)
	e2e.equal("rows", [(row["path"], row["bytes"]) for row in rows], [("1234567", 103), ("12345678", 104), ("123456789", 105)])


def activities():
	rows = TRACE.rows("activities")
	e2e.equal("activities", [(row["activity"], row["count"]) for row in rows], [("mylib:parse", len(PATHS) + 1)])


def by_babeltrace2():
	if not shutil.which("babeltrace2"):
		e2e.leave_out("by_babeltrace2", "it is not installed")
		return
	read = e2e.run("babeltrace2", TRACE.directory)
	e2e.equal("babeltrace2's complaints", read.stderr, "")
	for line in (r'mylib:open_file: .*\{ mode = 2, path = "/etc/passwd", bytes = 102 \}',
	             r'mylib:open_file: .*\{ mode = 7, path = "cut after its 24th byte,", bytes = 107 \}',
	             r'mylib:texts: .*\{ arg = 1, first = "left", second = "right" \}', "mylib:parse_begin: "):
		e2e.expect(re.search(line, read.stdout), f"babeltrace2 prints no {line}: {read.stdout}")


def two_libraries():
	"""Each has the event `in_library`."""
	made = []
	for provider in ("one", "two"):
		made.append(e2e.work / f"{provider}.so")
		e2e.run("cc", "-O2", "-shared", "-fPIC", f"-DEDC_PROVIDER={provider}", f"-I{SOURCE / 'include'}",
		        SOURCE / "tests" / "e2e" / "user_library.c", "-o", made[-1])
	trace = e2e.record("libraries", "--force", "--user-only", command=(LIBRARIES, "libraries", 100, *made))
	trace.expect_true()
	for provider in ("one", "two"):
		e2e.equal(f"events of {provider}", len(trace.events("--filter", f'name == "{provider}:in_library"')), 100)
	e2e.equal("events of both", len(trace.events("--event", "*:in_library")), 200)


if __name__ == "__main__":
	e2e.need_recording()
	if os.uname().machine != "x86_64":
		e2e.skip("the user card is for x86-64")
	e2e.main(texts, selected, by_sql, activities, by_babeltrace2, two_libraries)
