#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record --functions of functions that are left by exceptions and longjmp, call themselves, call in their tail, run on other
stacks, in threads and before fork: each call has its entry, or is counted as lost, and the program does what it did."""
import e2e


def each_call():
	program = e2e.compiled("odd_functions.cpp", "-pthread", "-O0", compiler="g++")
	alone = e2e.run(program).stdout
	trace = e2e.record("functions", "-p", "cmd", "-e", "sched", "--functions", "f_*", command=(program,))
	told = e2e.values(trace.output)
	e2e.equal("calls with and without the recorder", told, e2e.values(alone))
	e2e.equal("lost", trace.summary()["lost"], 0)
	entries = {row["name"]: row["n"] for row in trace.query("SELECT function_label AS name, count(*) AS n FROM function_entry GROUP BY 1")}
	e2e.equal("entries", entries, told)
	trace.expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(each_call)
