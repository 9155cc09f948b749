#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls that an exception left and that no other call follows: uftrace issues 1366 and 1548 (exceptions, missing exits)."""
import e2e


def counts():
	program = e2e.compiled("thrown_last.cpp", "-pthread", compiler="g++")
	trace = e2e.record("thrown", "--functions", f"{program}:work", command=(program,))
	told = e2e.values(trace.output)
	rows = trace.rows("activities")
	e2e.equal("rows", [row["activity"] for row in rows], ["work"])
	e2e.equal("calls", sum(row["count"] for row in rows), told["calls"])
	e2e.equal("left by an exception", sum(row["left"] for row in rows), told["left"])


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(counts)
