# SPDX-License-Identifier: MIT
"""Compares the refreshes of monitor top with reports of the same windows of the trace that it kept. Used by top.py and
live_loads.py."""
import re

import e2e

COUNTS = ("voluntary", "involuntary", "migrations", "syscalls", "minor_faults", "major_faults")
MEASURED = ("faults", "clock", "switched", "each")
COUNTERS = "faults=page-faults,clock=cpu-clock,switched=context-switches,each=cpu-clock/context-switches"


def seconds(ns):
	return f"{ns // 10**9}.{ns % 10**9:09}"


def disturbance(trace):
	"""After a loss a report no longer knows what slept before it; and what a hidden thread does not tell of its way out is
	taken for the next one's."""
	if lost := trace.summary()["lost"]:
		return f"{lost:,} events were lost"
	return hidden(trace) and (red := trace.check()) and f"beside threads that the kernel hides these do not hold: {', '.join(sorted(red))}"


def options_of(trace):
	"""A function from a refresh to the options of its window: by ticks, and the clock's frequency as the end of the
	recording knows it. A refresh has its times by an earlier estimate, and an event near an edge may be on its other side."""
	hz = int(re.search(r"freq = (\d+)", (trace.directory / "metadata").read_text(errors="replace"))[1])
	first = trace.events("--event", "sched_switch")[0]
	begin = first["ticks"] - first["time_ns"] * hz / 1e9

	def options(each):
		start, end = (round((each[edge] - begin) * 1e9 / hz) for edge in ("begin_ticks", "end_ticks"))
		return ("--from", seconds(start), "--to", seconds(end - 1))
	return options


def compare(by, refreshes, trace):
	"""Returns the number of windows that were compared: whole ones."""
	options, compared = options_of(trace), 0
	for each in refreshes:
		if not e2e.expect(each["whole"] and each["late"] == 0, f"{by}: {each['number']} is not whole"):
			continue
		within = ("--by", by, "--top", 0, *options(each))
		rows, ratios = trace.report(*within)["rows"], trace.report("ratios", *within)["rows"]
		what = f"{by}, refresh {each['number']}"
		if by in ("process", "thread"):
			number = "pid" if by == "process" else "tid"
			same_rows(what, each["rows"], rows, number, hidden(trace))
			same_ratios(what, each, ratios, number, hidden(trace))
		else: # by names, which the trace has as they were at its end
			sums = [[sum(row[name] or 0 for row in of) for name in COUNTS] for of in (each["rows"], rows)]
			e2e.equal(f"{what}: sums of counts", *sums)
		sums = [[sum(row[name] or 0 for row in of) for name in MEASURED[:3]] for of in (each["rows"] + each["ratios"], ratios)]
		e2e.equal(f"{what}: sums of what counters counted", *sums)
		compared += 1
	return compared


def hidden(trace):
	"""Threads that the kernel hides, and their processes: that they are is known late."""
	listed = [event["fields"] for event in trace.events("--event", "thread_state") if event["fields"]["flags"] & 16]
	return {fields[name] for fields in listed for name in ("pid", "tgid")}


def same_rows(what, live, offline, number, left_out):
	def keyed(rows): # numbers are used again
		kept = {}
		for row in rows:
			if row[number] not in left_out and row["cpu_ns"] is not None:
				kept.setdefault(row[number], []).append(row)
		return kept
	live, offline = keyed(live), keyed(offline)
	times, wrong = 0, []
	e2e.equal(f"{what}: rows of one side only", {key: (live | offline)[key] for key in live.keys() ^ offline.keys()}, {})
	for key in live.keys() & offline.keys():
		for a, b in zip(*(sorted(of[key], key=lambda row: row["cpu_ns"]) for of in (live, offline))):
			e2e.equal(f"{what}: counts of {key}", [a[name] for name in COUNTS], [b[name] for name in COUNTS])
			for name in ("cpu_ns", "waiting_ns", "blocked_ns"):
				# The clock's frequency was estimated anew since; and a window's edges are ticks, not nanoseconds.
				if (a[name] is None) != (b[name] is None) or abs((a[name] or 0) - (b[name] or 0)) > 1e-4 * (b[name] or 0) + 100:
					wrong.append((name, key, a[name], b[name]))
				times += 1
	# A sleep that a hidden thread ends has no token of that: until the sleeper runs, it seems to go on.
	waits = [each for each in wrong if each[0] != "cpu_ns"] if left_out else []
	e2e.expect(len(wrong) == len(waits) <= 0.01 * times, f"{what}: {wrong}")


def same_ratios(what, live, offline, number, left_out):
	"""What counters measured: of rows, and of idle time."""
	def keyed(rows):
		of = [row for row in rows if row[number] not in left_out and row["counted_ns"] is not None]
		return {(row[number] or row[number.replace("pid", "process").replace("tid", "thread")]): row for row in of}
	live, offline = keyed(live["rows"] + live["ratios"]), keyed(offline)
	for of in (live, offline):
		if left_out:
			of.pop("unknown", None)
	e2e.equal(f"{what}: rows with ratios", sorted(map(str, live)), sorted(map(str, offline)))
	e2e.expect(any(row["switched"] for row in live.values()), f"{what}: nothing was counted")
	for key in live.keys() & offline.keys():
		e2e.equal(f"{what}: measured of {key}", *([of[key][name] for name in MEASURED] for of in (live, offline)))


def compare_details(refreshes, trace, pid, tables=("activities", "calls")):
	"""Calls and activities of a process, or one of them. Returns how many of each were compared."""
	options, seen = options_of(trace), {"activities": 0, "calls": 0}
	for each in refreshes:
		if not e2e.expect(each["whole"] and each["late"] == 0, f"{each['number']} is not whole"):
			continue
		within = (*options(each), "--top", 0)
		for table, report, name, figures in (
				("activities", "activities", "activity", (("count", "count"), ("total_ns", "total_ns"), ("mean_ns", "mean_ns"), ("longest_ns", "max_ns"))),
				("calls", "syscalls", "call", (("count", "count"), ("failed", "errors"), ("total_ns", "total_ns"), ("longest_ns", "max_ns")))):
			if table not in tables:
				continue
			live = {row[name]: row for row in each["details"][table]}
			offline = {row[name]: row for row in trace.rows(report, *within) if row["pid"] == pid}
			what = f"{table}, refresh {each['number']}"
			e2e.equal(f"{what}: names", sorted(live), sorted(offline))
			for key in live.keys() & offline.keys():
				for ours, theirs in figures: # the clock's frequency was estimated anew since
					a, b = live[key][ours], offline[key][theirs]
					e2e.expect(a == b or (ours.endswith("_ns") and abs(a - b) <= 1e-4 * b + 100), f"{what}: {ours} of {key}: {a}, {b}")
				seen[table] += live[key]["count"]
	return seen
