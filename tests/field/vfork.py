#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""vfork holds the parent until its child executes: that time is the call's, and the parent's sleep in it (Node.js issue
14917, Bun pull 37466, mold issue 1471); each child has its own row and name."""
import e2e


def parents_and_children():
	trace = e2e.record_undisturbed("children", "-p", "cmd", command=(e2e.compiled("vfork.c"),))
	told = e2e.values(trace.output)
	pid = told["pid"]
	calls = {row["call"]: row for row in trace.rows("syscalls", pid=pid)}
	e2e.equal("vforks, spawns, waits", (calls["vfork"]["count"], sum(calls[call]["count"] for call in ("clone", "clone3") if call in calls),
	                                    calls["wait4"]["count"]), (20, 20, 40))
	e2e.near("time in vfork (ns)", calls["vfork"]["total_ns"], told["inside_ns"], slack=2e6)
	sleeps = [row for row in trace.rows("offcpu", tid=pid) if row["call"] == "vfork"]
	e2e.equal("sleeps in vfork", sum(row["count"] for row in sleeps), 20)
	asleep = sum(row["total_ns"] for row in sleeps)
	# Awake, but not yet running, is a part of the call and no sleep.
	e2e.expect(20 * 20e6 < asleep < told["inside_ns"], f"asleep in vfork: {asleep} ns, in it {told['inside_ns']} ns")
	children = [row for row in trace.rows() if row["recorded"] and row["pid"] != pid]
	e2e.equal("children", ({row["process"] for row in children}, len(children)), ({"true"}, 40))
	naps = [row for row in trace.rows("syscalls", call="clock_nanosleep") if row["pid"] != pid]
	e2e.equal("the children's sleeps", sum(row["count"] for row in naps), 20)
	trace.expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(parents_and_children)
