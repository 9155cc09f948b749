#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A command of 800 kB with line ends, control characters and empty words: it is kept whole, reaches no terminal as it is,
and stops no command that reads the trace (magic-trace issue 286: 805,614 bytes; sysdig issue 1740, forkstat issue 4)."""
import os
import re

import e2e

WORDS = ["/bin/true", *["x" * 120000] * 7, "new\nline", "\u00e4\u20ac", "--", "-o", "", "a'b\"c", "\x1b[2J"]


def kept_and_read():
	trace = e2e.record("long", "-p", "cmd", command=WORDS)
	e2e.expect(trace.info()["recording"]["command"] == WORDS, "info --json has another command")
	for command in (("info",), ("report",), ("report", "syscalls"), ("check",), ("stat",)):
		done = e2e.run(e2e.reader, command[0], trace.directory, *command[1:])
		e2e.expect(not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.stdout), f"{command}: control characters")
	for format_, to in (("perfetto", "p"), ("lttng", "l")):
		e2e.run(e2e.reader, "convert", trace.directory, "--to", format_, "-o", e2e.work / to)
	archive = {**os.environ, "MONITOR_ARCHIVE": str(e2e.work / "archive")}
	e2e.run(e2e.reader, "archive", "add", trace.directory, "field/long/one", env=archive)
	e2e.expect("field/long" in e2e.run(e2e.reader, "archive", "list", env=archive).stdout, "it is not in the archive's list")
	trace.expect_true()


def a_name_of_its_own():
	"""Without -o the directory has the date and the program as its name, and no more."""
	folder = e2e.work / "folder"
	folder.mkdir()
	e2e.run(e2e.monitor, "record", "--no-calibration", "-p", "cmd", "--", *WORDS[:3], cwd=folder)
	e2e.equal("directories", [re.sub(r"\d{8}-\d{6}", "DATE", name) for name in os.listdir(folder)], ["monitor-DATE-true"])


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(kept_and_read, a_name_of_its_own)
