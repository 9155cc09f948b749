#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One program recorded in each way there is, with stacks, samples, filters, states, small buffers: what it did is in each
of them what the kernel accounts to it, or its loss is counted."""
import shutil

import e2e

WAYS = {"plain": (), "selected": ("-p", "cmd"), "stacks": ("--stacks=cpu,offcpu,wake",), "states": ("--states", "thread"),
        "samples": ("--sample-every", "3ms"), "counters": ("-m", "software"), "small": ("--buffer", "1M")}
COUNTS = {"writes": 'name == "sys_enter" and id == "write" and thread == "own_counts"', "fsyncs": 'name == "sys_enter" and id == "fsync" and thread == "own_counts"'}


def told(trace):
	(line,) = [line for line in trace.errors.splitlines() if line.startswith("cpu_ns=")]
	return e2e.values(line)


def in_each_way():
	e2e.compiled("own_counts.c")
	for name, options in WAYS.items():
		trace = e2e.record_undisturbed(name, *options, command=(e2e.work / "own_counts",))
		own = told(trace)
		if trace.summary()["lost"]:
			e2e.leave_out(name, "tokens were lost, and counted")
			continue
		(row,) = trace.rows(process="own_counts")
		e2e.near(f"{name}: CPU time", row["cpu_ns"], own["cpu_ns"], slack=2e7)
		# Before and after what the program can count itself lie its start and its end.
		for what, slack in (("voluntary", 5), ("involuntary", 25)):
			e2e.near(f"{name}: {what} switches", row[what], own[what], part=0.05, slack=slack)
		calls = {row["call"]: (row["count"], row["errors"]) for row in trace.rows("syscalls", process="own_counts")}
		e2e.equal(f"{name}: fsyncs and their errors", calls["fsync"], (1000, 1000))
		e2e.equal(f"{name}: writes, with that of the figures", calls["write"], (3002, 0))
		trace.expect_true()


def counted():
	trace = e2e.record("counts", "-p", "cmd", *(word for name, count in COUNTS.items() for word in ("--count", f"{name}={count}")), command=(e2e.work / "own_counts",))
	e2e.equal("counts", {row["name"]: row["count"] for row in trace.rows("counts")}, {"writes": 3002, "fsyncs": 1000})
	trace.expect_true()


def read_by_others():
	trace = e2e.Trace(e2e.work / "selected")
	if not shutil.which("babeltrace2"):
		e2e.leave_out("read_by_others", "babeltrace2 is not installed")
		return
	done = e2e.run("babeltrace2", trace.directory)
	listed = e2e.run(e2e.reader, "list", trace.directory).stdout
	e2e.equal("events by babeltrace2", (done.stderr, len(done.stdout.splitlines())), ("", len(listed.splitlines())))
	e2e.run(e2e.reader, "convert", "--to", "lttng", "-o", e2e.work / "lttng", trace.directory)
	switches = trace.query("SELECT count(*) AS n FROM sched_switch")[0]["n"]
	e2e.near("switches, converted", e2e.run("babeltrace2", e2e.work / "lttng").stdout.count("sched_switch:"), switches, part=0.02, slack=40)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(in_each_way, counted, read_by_others)
