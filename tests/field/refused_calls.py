#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls that a seccomp filter refuses have an exit and no entry: curt issue 44."""
import json

import e2e

MADE = {"getppid": (1000, 1000), "getuid": (1000, 0), "uname": (100, 50), "sched_yield": (10, 0)}


def recorded(name, *options):
	return e2e.record(name, "-p", "cmd", *options, command=(e2e.compiled("refused_calls.c"),))


def expect_rows(what, rows):
	found = {row["call"]: row for row in rows if row["process"].startswith("refused_calls")}  # (ended)
	e2e.equal(what, {call: (found[call]["count"], found[call]["errors"]) for call in MADE if call in found}, MADE)
	e2e.expect(found["getppid"]["total_ns"] is None and found["getppid"]["mean_ns"] is None,
	           f"{what}: nobody knows how long a refused call took: {found['getppid']}")
	e2e.expect(found["uname"]["mean_ns"] and abs(found["uname"]["total_ns"] - 50 * found["uname"]["mean_ns"]) <= 100,
	           f"{what}: the mean is of those that were not refused: {found['uname']}")


def events():
	trace = recorded("trace")
	expect_rows("report syscalls", trace.rows("syscalls", "--top", "0"))
	rows = json.loads(e2e.run(e2e.reader, "query", "--json", trace.directory,
	                          "SELECT name, count(*) AS n, sum(result < 0) AS errors, count(duration_ns) AS timed FROM activities "
	                          "WHERE kind = 'syscall' AND process = 'refused_calls' GROUP BY name").stdout)
	e2e.equal("SQL", {row["name"]: (row["n"], row["errors"]) for row in rows if row["name"] in MADE}, MADE)
	e2e.equal("SQL, with a duration", {row["name"]: row["timed"] for row in rows if row["name"] in ("getppid", "uname")},
	          {"getppid": 0, "uname": 50})
	calls = sum(row["count"] for row in trace.rows("syscalls", "--top", "0") if row["process"] == "refused_calls")
	usage = [row for row in trace.rows() if row["process"] == "refused_calls"][0]["syscalls"]
	e2e.expect(usage - calls in (0, 1), f"{usage} calls of the process, {calls} in the rows of its calls: exit_group has no exit")
	listed = trace.events("--filter", 'name == "sys_exit" and id == "getppid" and ret == -1')
	e2e.equal("exits of getppid, which have the number of the call", len(listed), 1000)
	trace.expect_true()


def statistics():
	expect_rows("statistics", recorded("statistics", "--statistics", "1s").rows("syscalls", "--top", "0"))


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(events, statistics)
