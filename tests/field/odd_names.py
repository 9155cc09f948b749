#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of processes with the characters that formats use themselves: no name adds a cell, a frame, a line or a tag (Pixie
issue 539: ";" in folded stacks; uftrace issues 183 and 820: JSON; fatrace pull 49)."""
import csv
import io
import re

import e2e

NAMES = [b"a;b;c", b"x y z", b"two\nlines", b'"q",1', b"\xff\xfe\x80", b"", b"</script>", b"--json", b"\x1b[31mred", b"back\\slash",
         "\u00e4\u20ac".encode(), b"tab\tin", b"7"]


def recorded():
	global TRACE, PROCESSES
	program = e2e.compiled("odd_names.c")
	TRACE = e2e.record("names", "-p", "cmd", "--stacks=cpu", command=(program, *(name.hex() for name in NAMES)))
	PROCESSES = [e2e.values(line) for line in TRACE.output.splitlines()]
	e2e.equal("processes", len(PROCESSES), len(NAMES))
	TRACE.expect_true()


def in_json_and_csv():
	rows = {row["pid"]: row for row in TRACE.rows()}
	for name, told in zip(NAMES, PROCESSES):
		row = rows.get(told["pid"], {})
		# An empty name is shown as an unknown one.
		e2e.equal(f"the name {name}", row.get("process"), name.decode(errors="replace") or "?")
		e2e.near(f"CPU time of {name} (us)", row.get("cpu_ns", 0) / 1000, told["cpu_us"], part=0.05, slack=5000)
	table = list(csv.reader(io.StringIO(e2e.run(e2e.reader, "report", "--csv", TRACE.directory).stdout)))
	e2e.equal("cells of the lines", {len(line) for line in table}, {len(table[0])})
	text = e2e.run(e2e.reader, "report", TRACE.directory).stdout
	e2e.expect(not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text), f"control characters in {text!r}")


def selected():
	for name in ("a;b;c", "--json", "7", "x y z"):
		e2e.equal(f"--comm={name}", [row["process"] for row in TRACE.rows(f"--comm={name}")], [name])


def in_folded_stacks():
	lines = e2e.run(e2e.reader, "report", TRACE.directory, "stacks", "--folded").stdout.splitlines()
	e2e.equal("lines without a number", [line for line in lines if not re.fullmatch(r".* \d+", line)], [])
	stacks = [line.rsplit(" ", 1)[0].split(";") for line in lines]
	spinning = [frames for frames in stacks if "spin" in frames]
	e2e.equal("names", len({frames[0] for frames in spinning}), len(NAMES))
	e2e.equal("depths of spin()", len({frames.index("spin") for frames in spinning}), 1)
	converted = e2e.run(e2e.reader, "convert", TRACE.directory, "--to", "folded", "-o", "-").stdout
	e2e.equal("converted", sorted(line.rsplit(" ", 1)[0] for line in converted.splitlines()), sorted(line.rsplit(" ", 1)[0] for line in lines))


def in_a_page():
	e2e.run(e2e.reader, "report", TRACE.directory, "stacks", "-o", e2e.work / "flame.html")
	page = (e2e.work / "flame.html").read_text(encoding="utf-8")
	e2e.equal("ends of scripts", page.count("</script>"), page.count("<script"))


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(recorded, in_json_and_csv, selected, in_folded_stacks, in_a_page)
