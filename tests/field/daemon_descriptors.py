#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A daemon closes all that it inherited, the card's connection too, and opens files of its own: uftrace pull 1883. They stay
its own, and all that it posts is in the trace or counted as lost."""
import re
import sys

import e2e


def own_files():
	program = e2e.compiled("daemon_descriptors.c", f"-I{sys.argv[4]}/include")
	for how in ("late", "file", "pair"):
		command = (program, how, e2e.work / "data")
		alone = e2e.run(*command).stdout
		for options in (("--user-only",), ("-p", "cmd")):
			trace = e2e.record(f"{how}{options[0]}", *options, command=command)
			trace.expect_true()
			e2e.equal(f"{how} {options}: what the program says", trace.output, alone)
			posted = len(trace.query("SELECT number FROM step"))
			text = e2e.run(e2e.monitor, "check", trace.directory).stdout
			lost = sum(map(int, re.findall(r"([\d]+) before it had any", text)))
			e2e.equal(f"{how} {options}: events, {posted} recorded and {lost} lost", posted + lost, 102)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(own_files)
