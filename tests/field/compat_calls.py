#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A 64-bit program that also makes 32-bit calls, whose numbers mean others: strace issue 103, traceloop issue 25."""
import json
import re

import e2e

MADE = {"getppid": 300, "20 (compat)": 1000, "224 (compat)": 700, "162 (compat)": 1}


def recorded(name, *options):
	return e2e.record(name, "-p", "cmd", *options, command=(e2e.compiled("compat_calls.c"),))


def expect_calls(what, calls):
	e2e.equal(what, {call: count for call, count in calls.items() if call in MADE}, MADE)
	e2e.expect("writev" not in calls and "sync" not in calls, f"{what}: calls of the other ABI: {calls}")


def by_call(rows):
	return {row["call"]: row["count"] for row in rows if row["process"].startswith("compat_calls")}  # (ended)


def asleep(trace):
	rows = [row for row in trace.rows("offcpu") if row["thread"].startswith("compat_calls") and row["call"] == "162 (compat)"]
	e2e.expect(len(rows) == 1 and rows[0]["total_ns"] >= 20_000_000, f"asleep in a 32-bit nanosleep: {rows}")


def query(trace, sql):
	return json.loads(e2e.run(e2e.reader, "query", "--json", trace.directory, sql).stdout)


def events():
	trace = recorded("trace")
	expect_calls("report syscalls", by_call(trace.rows("syscalls", "--top", "0")))
	asleep(trace)
	rows = query(trace, "SELECT name, count(*) AS n FROM activities WHERE kind = 'syscall' AND process = 'compat_calls' GROUP BY name")
	expect_calls("SQL", {row["name"]: row["n"] for row in rows})
	e2e.equal("entries that were recorded", len(trace.events("--filter", 'name == "sys_enter" and abi == "compat"')), 1701)
	trace.expect_true()
	lttng = e2e.work / "lttng"
	e2e.run(e2e.monitor, "convert", trace.directory, "--to", "lttng", "-o", lttng)
	events = e2e.Trace(lttng).events()
	ids = [event["fields"]["id"] for event in events if event["event"] == "compat_syscall_entry_unknown"]
	e2e.equal("converted to LTTng", {number: ids.count(number) for number in set(ids)}, {20: 1000, 224: 700, 162: 1})


def statistics():
	trace = recorded("statistics", "--statistics", "1s")
	expect_calls("statistics", by_call(trace.rows("syscalls", "--top", "0")))
	asleep(trace)


def stacks():
	trace = recorded("stacks", "--stacks", "syscall:writev")
	taken = [event for event in trace.events("--event", "stack_sample") if event["fields"]["at"] == "sys_enter"]
	written = [event for event in trace.events("--filter", 'name == "sys_enter" and id == "writev" and abi == "native"')]
	e2e.expect(len(taken) <= len(written), f"{len(taken)} stacks at writev, which was called {len(written)} times")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(events, statistics, stacks)
