#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions on fibers, which change from one stack to another within a thread: each call ends by its own exit, in whatever
order they do, and what was taken for left by an exception before that was known is counted (uftrace and other tracers with one
stack per thread mix up such calls)."""
import e2e

FIBERS, CALLS = 8, 20


def fibers():
	program = e2e.compiled("fibers.c", "-O1")
	trace = e2e.record("switched", "-p", "cmd", "--functions", "part", command=(program,))
	told = e2e.values(trace.output)
	report = trace.report("activities")
	(row,) = report["rows"]
	e2e.expect(row["count"] - row["left"] >= FIBERS * CALLS - FIBERS, f"calls with a time of their own: {row}")
	e2e.expect(row["left"] <= FIBERS and report["unpaired"]["ends"] <= FIBERS, f"calls that were taken for left: {row}, {report['unpaired']}")
	e2e.near("the longest", row["max_ns"], told["longest_ns"], 0.05)
	text = e2e.run(e2e.monitor, "report", trace.directory, "activities").stdout
	e2e.expect(not row["left"] or "their threads have several stacks" in text, f"not said: {text}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(fibers)
