#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profiles of two builds of a program: LLVM pulls 109899 and 95821, FlameGraph issue 173, where what a compiler adds to names makes
functions that did not change gone and new."""
import json
import pathlib

import e2e

UNCHANGED = ("promoted", "cloned", "local", "crate::work", "main::{lambda")


def two_builds():
	source = pathlib.Path(__file__).with_suffix(".c")
	traces = []
	for name, options in (("old", ()), ("new", ("-DSECOND",))):
		folder = e2e.work / f"build-{name}"
		folder.mkdir()
		e2e.run("gcc", "-O1", *options, source, "-o", folder / "program")
		traces.append(e2e.record(name, "-p", "cmd", "--stacks=cpu", command=(folder / "program",)).directory)
	compared = json.loads(e2e.run(e2e.monitor, "diff", "--json", *traces).stdout)
	rows = [row for row in compared["rows"] if row["kind"] == "functions"]
	for name in (*UNCHANGED, "slower"):
		found = [row for row in rows if row["what"].startswith(name)]
		e2e.expect(len(found) == 1 and found[0]["before_ns"] and found[0]["after_ns"], f"{name}, in both: {found}")
	changed = {row["what"]: abs(row["difference_ns"] or 0) for row in rows}
	e2e.equal("what changed most", max(changed, key=changed.get), "slower")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.need_program("gcc")
	e2e.main(two_builds)
