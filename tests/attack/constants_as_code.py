#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions whose constants look like instructions that leave them: a breakpoint there would change what the program
computes. Recorded or refused, it prints the same; what is recorded is counted exactly; most of libc is."""
import json

import e2e

CALLS = 300
NAMES = ("after_return", "after_call", "in_table", "in_list", "by_switch")


def same_result():
	for options in (("-O2",), ("-O0",), ("-O2", "-fno-pie", "-no-pie"), ("-O2", "-static")):
		program = e2e.compiled("constants_as_code.c", *options)
		alone = e2e.run(program).stdout
		trace = e2e.record("as_code", "--force", "-p", "cmd", "--functions", ",".join(NAMES), command=(program,))
		e2e.equal(f"{options}: printed", trace.output, alone)
		trace.expect_true()
		rows = {row["activity"]: (row["count"], row["left"]) for row in trace.rows("activities")}
		refused = {name for name in NAMES if f"{name}: its code cannot be followed" in trace.errors}
		e2e.equal(f"{options}: refused", refused, {"after_call"})
		e2e.equal(f"{options}: calls", rows, {name: (CALLS, 0) for name in NAMES if name not in refused})


def most_of_libc():
	rows = json.loads(e2e.run(e2e.monitor, "events", "--json", "--functions", "libc.so.6").stdout)
	refused = sum(1 for row in rows if row.get("why_not"))
	print(f"  libc: {refused} of {len(rows)} functions cannot be recorded")
	e2e.expect(len(rows) > 1000 and refused <= len(rows) / 20, f"{refused} of {len(rows)} functions of libc are refused")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(same_result, most_of_libc)
