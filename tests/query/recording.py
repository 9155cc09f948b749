#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A dozen queries on a fresh recording answer what Python computes from `monitor list --json` and what the reports say.

recording.py MONITOR PROGRAMS WORK E2E_TESTS
"""
import collections
import json
import pathlib
import sys

sys.path.insert(0, sys.argv[4])
import e2e

TRACE = EVENTS = None


def ask(sql, *options):
	return json.loads(e2e.run(e2e.monitor, "query", TRACE.directory, "--json", *options, "--", sql).stdout)


def recorded():
	global TRACE, EVENTS
	TRACE = e2e.record_workload("trace", "forks", 30)
	EVENTS = TRACE.events()
	e2e.expect(len(EVENTS) > 1000, f"only {len(EVENTS)} events")


def counts():
	names = collections.Counter(event["event"] for event in EVENTS)
	e2e.equal("by name", {row["name"]: row["n"] for row in ask("SELECT name, count(*) AS n FROM events GROUP BY name")}, names)
	by_class = collections.Counter()
	for row in ask("SELECT name, count FROM classes WHERE count > 0"):
		by_class[row["name"]] += row["count"]
	e2e.equal("classes", by_class, names)
	threads = collections.Counter((event["pid"], event["comm"]) for event in EVENTS)
	e2e.equal("by thread", {(row["tid"], row["thread"]): row["n"] for row in
	          ask("SELECT tid, thread, count(*) AS n FROM events GROUP BY tid, thread")}, threads)
	cpus = collections.Counter(event["cpu"] for event in EVENTS)
	e2e.equal("by CPU", {row["cpu"]: row["n"] for row in ask("SELECT cpu, count(*) AS n FROM events GROUP BY 1")}, cpus)


def selections():
	times = [event["time_ns"] for event in EVENTS]
	first, last = times[len(times) // 3], times[len(times) // 2]
	window = [event for event in EVENTS if first <= event["time_ns"] <= last]
	rows = ask(f"SELECT time_ns, cpu, tid, thread, fields FROM events WHERE time_ns BETWEEN {first} AND {last}")
	e2e.equal("a window", [(row["time_ns"], row["cpu"], row["tid"], row["thread"], json.loads(row["fields"])) for row in rows],
	          [(event["time_ns"], event["cpu"], event["pid"], event["comm"], event["fields"]) for event in window])
	failed = [event for event in EVENTS if event["event"] == "sys_exit" and event["fields"]["ret"] < 0]
	e2e.equal("failed calls", ask("SELECT ret, count(*) AS n FROM sys_exit WHERE ret < 0 GROUP BY ret ORDER BY ret"),
	          [{"ret": ret, "n": n} for ret, n in sorted(collections.Counter(e["fields"]["ret"] for e in failed).items())])
	e2e.equal("by a filter", ask("SELECT count(*) AS n FROM events('ret < 0 and name == \"sys_exit\"')"), [{"n": len(failed)}])
	e2e.equal("by --filter", ask("SELECT count(*) AS n FROM events", "--filter", 'ret < 0 and name == "sys_exit"'),
	          [{"n": len(failed)}])
	calls = collections.Counter(event["fields"]["id"] for event in EVENTS if event["event"] == "sys_enter")
	e2e.equal("calls", {row["call"]: row["n"] for row in
	          ask("SELECT coalesce(id_label, id) AS call, count(*) AS n FROM sys_enter GROUP BY 1")}, calls)
	workload = [event for event in EVENTS if event["comm"] == "workload" and event["event"].startswith("sched_")]
	e2e.equal("a thread's", ask("SELECT count(*) AS n FROM events WHERE thread = 'workload' AND name GLOB 'sched_*'"),
	          [{"n": len(workload)}])


def joins():
	"""What came within 20 us after each switch away from the workload, by seeks."""
	switches = [event for event in EVENTS if event["event"] == "sched_switch" and event["comm"] == "workload"][:50]
	limit = max(event["time_ns"] for event in switches)
	should = {event["time_ns"]: sum(event["time_ns"] <= other["time_ns"] <= event["time_ns"] + 20000 for other in EVENTS)
	          for event in switches}
	rows = ask("SELECT s.time_ns AS at, count(*) AS n FROM sched_switch s JOIN events e ON e.time_ns BETWEEN s.time_ns AND "
	           f"s.time_ns + 20000 WHERE s.thread = 'workload' AND s.time_ns <= {limit} GROUP BY s.rowid")
	e2e.equal("a join", {row["at"]: row["n"] for row in rows}, should)


def folded():
	"""The tables of folds against the reports of the same."""
	usage = {row["tid"]: row for row in TRACE.rows("--by", "thread") if row["tid"] and row["cpu_ns"]}
	threads = {row["tid"]: row for row in ask("SELECT * FROM threads WHERE cpu_ns > 0")}
	for tid, row in usage.items():
		for key in ("cpu_ns", "waiting_ns", "throttled_ns", "blocked_ns", "voluntary", "syscalls", "minor_faults"):
			e2e.expect(threads[tid][key] == row[key], f"thread {tid}: {key} is {threads[tid][key]}, not {row[key]}")
	reported = collections.Counter()
	for row in TRACE.rows("syscalls"):
		reported[row["call"]] += row["count"]
	asked = {row["name"]: row["n"] for row in
	         ask("SELECT name, count(*) AS n FROM activities WHERE kind = 'syscall' GROUP BY name")}
	e2e.equal("system calls", asked, reported)
	processes = ask(f"SELECT DISTINCT process FROM activities WHERE tgid = {TRACE.values['pid']} AND kind = 'syscall'")
	e2e.expect({"process": "workload"} in processes, f"the workload's activities are of {processes}")
	[row] = ask("SELECT sum(blocked_ns) AS ns FROM threads")
	# of threads that the kernel hides nothing is known of the whole, though some of their waits may have been seen
	[other] = ask("SELECT sum(duration_ns) AS ns FROM activities WHERE kind = 'blocked' AND "
	              "tid NOT IN (SELECT tid FROM threads WHERE blocked_ns IS NULL)")
	e2e.expect(abs(row["ns"] - other["ns"]) <= 1e-3 * row["ns"], f"blocked: {row['ns']} and {other['ns']} ns")
	[row] = ask("SELECT count(*) AS n FROM activities WHERE duration_ns != end_ns - begin_ns AND "
	            "abs(duration_ns - (end_ns - begin_ns)) > 1")
	e2e.equal("durations", row["n"], 0)


def activities():
	"""Each activity of a program by itself, summed up, is the report of them."""
	load = pathlib.Path(e2e.programs, "activity_load")
	if not load.exists():
		return print("not tried: there is no activity_load for this machine")
	global TRACE
	TRACE = e2e.record("activities", "--force", command=(load, 100, 40))
	sums = {row["name"]: row for row in
	        ask("SELECT name, count(*) AS count, max(duration_ns) AS max_ns, sum(duration_ns) AS sum_ns, min(whole) AS whole, "
	            "sum(cpu_ns) AS cpu, sum(blocked_ns) AS blocked FROM activities WHERE kind = 'activity' GROUP BY name")}
	for row in TRACE.rows("activities"):
		mine = sums[row["activity"]]
		e2e.equal(f"{row['activity']}", (mine["count"], mine["max_ns"], mine["whole"]), (row["count"], row["max_ns"], 1))
		mean = mine["sum_ns"] / mine["count"]
		e2e.expect(abs(mean - row["mean_ns"]) <= 2, f"{row['activity']}: the mean is {mean}, not {row['mean_ns']}")
	e2e.equal("all of them", len(sums), len(TRACE.rows("activities")))
	# each nap is of 2 ms; how long it waits for a CPU after that is the machine's load
	e2e.expect(sums["nap"]["blocked"] > 0.9 * sums["nap"]["count"] * 2e6, f"a nap is not blocked: {sums['nap']}")
	e2e.expect(sums["spin"]["cpu"] > 0.1 * sums["spin"]["sum_ns"], f"a spin has no CPU: {sums['spin']}")
	e2e.run(e2e.monitor, "record", "-o", e2e.work / "only", "--user-only", "--", load, 10, 4)
	TRACE = e2e.Trace(e2e.work / "only")
	e2e.equal("of --user-only", ask("SELECT count(*) AS n, count(cpu_ns) AS known FROM activities WHERE name = 'nap'"),
	          [{"n": 10, "known": 0}])


def counted():
	"""Ratios against the report of them, of counters that every machine has."""
	global TRACE
	TRACE = e2e.record_workload("counted", "forks", 10, "-m", "software")
	asked = {(row["name"], row["tid"]): row["value"] for row in ask("SELECT * FROM ratios WHERE tid > 0")}
	e2e.expect(asked, "there are no ratios")
	for row in TRACE.rows("ratios", "--by", "thread"):
		for (name, tid), value in asked.items():
			if tid == row.get("tid") and name in row and isinstance(row[name], (int, float)):
				e2e.expect(abs(value - row[name]) <= 1e-9 * abs(value), f"{name} of {tid}: {value}, not {row[name]}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(recorded, counts, selections, joins, folded, activities, counted)
