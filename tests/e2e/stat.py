#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitor stat: counts, distances and activities are those that Python computes from `monitor list --json`, on any
number of threads. On a recording of now, and on CTF traces of others, which need no root.

stat.py MONITOR PROGRAMS WORK SOURCE_DIRECTORY"""
import collections
import csv
import io
import json
import os
import pathlib
import re
import sys

import e2e

# System calls by process and call, from the events alone.
CALLS = ("--start", 'name == "sys_enter"', "--end", 'name == "sys_exit"', "--key", "tid", "--by", "process, id")

SOURCE = pathlib.Path(sys.argv[4]).resolve()
SHAPE = ("mean", "stddev", "min", "p50", "p90", "p99", "max")
trace, events = None, []


def stat(*options, directory=None):
	return e2e.run(e2e.monitor, "stat", directory or trace.directory, *options).stdout


def stat_json(*options, directory=None):
	return json.loads(stat("--json", *options, directory=directory))


def near(what, is_, should, part=0.0, beside=1.0):
	e2e.expect(is_ is not None and abs(is_ - should) <= abs(should) * part + beside, f"{what}: {is_}, not {should}")


def expect_shape(what, row, values, suffix):
	"""values: in nanoseconds, each up to 1 off by rounding."""
	if not values:
		e2e.equal(f"{what} without values", [row[name + suffix] for name in SHAPE], [None] * len(SHAPE))
		return
	values = sorted(values)
	mean = sum(values) / len(values)
	near(f"{what} mean", row["mean" + suffix], mean, 1e-6)
	near(f"{what} stddev", row["stddev" + suffix], (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5, 1e-6)
	near(f"{what} min", row["min" + suffix], values[0])
	near(f"{what} max", row["max" + suffix], values[-1])
	for percent in (50, 90, 99):
		exact = values[(len(values) * percent + 99) // 100 - 1]
		near(f"{what} p{percent}", row[f"p{percent}{suffix}"], exact, 0.008, 2.0)


def distances(chosen):
	return [after["time_ns"] - before["time_ns"] for before, after in zip(chosen, chosen[1:])]


def by(key, chosen=None):
	groups = collections.defaultdict(list)
	for event in events if chosen is None else chosen:
		groups[key(event)].append(event)
	return groups


def recorded():
	global trace, events
	families = "sched,syscall,irq,fault"
	trace = e2e.record("trace", "--force", "-e", families, command=(e2e.workload, "nap", 300))
	window = [trace.recording()[edge]["time"] for edge in ("start", "end")]
	everything = trace.events()
	events = [event for event in everything if window[0] <= event["ticks"] <= window[1]]
	e2e.expect(len(everything) > len(events), "nothing came before the window: it is not tried that this is left out")
	e2e.equal("losses", trace.summary()["lost"], 0)
	size = sum(path.stat().st_size for path in trace.directory.iterdir() if path.is_file())
	print(f"{len(events)} events, {size >> 20} MiB")


def counts_and_distances():
	groups = by(lambda event: event["event"])
	counted = {row["event"]: row["count"] for row in stat_json("--counts")}
	e2e.equal("counts", counted, {name: len(chosen) for name, chosen in groups.items()})
	rows = stat_json()
	e2e.equal("names", {row["event"] for row in rows}, set(groups))
	for row in rows:
		e2e.equal(f"count of {row['event']}", row["count"], len(groups[row["event"]]))
		expect_shape(row["event"], row, distances(groups[row["event"]]), "_between_ns")


def one_window():
	"""Rates are of the time that the report is of; of calls both count the same ones."""
	wall_ns = trace.report()["summary"]["wall_ns"]
	for row in stat_json("--counts"):
		near(f"{row['event']} per second", row["per_second"], row["count"] / wall_ns * 1e9, 1e-6, 0)
	first_ns = min(event["time_ns"] for event in events if event["event"] == "sched_process_exec") # well within
	begin, end = round(first_ns / 1e9, 4), round((first_ns + wall_ns / 2) / 1e9, 4)
	for row in stat_json("--counts", "--from", begin, "--to", end):
		near(f"{row['event']} per second of a part", row["per_second"], row["count"] / (end - begin), 1e-6, 0)


def rows_by_fields():
	groups = by(lambda event: (event["event"], event["cpu"]))
	rows = stat_json("--by", "cpu")
	e2e.equal("rows by cpu", {(row["event"], row["cpu"]): row["count"] for row in rows},
	          {key: len(chosen) for key, chosen in groups.items()})
	for row in rows:
		expect_shape("by cpu", row, distances(groups[row["event"], row["cpu"]]), "_between_ns")
	rows = stat_json("--by", "tid", "--filter", 'name == "sys_enter"')
	calls = by(lambda event: event["pid"], [event for event in events if event["event"] == "sys_enter"])
	e2e.equal("threads", len(rows), len(calls))
	e2e.equal("calls by thread", sorted(row["count"] for row in rows), sorted(map(len, calls.values())))
	processes = stat_json("--by", "process", "--filter", 'name == "sys_enter"')
	e2e.equal("calls by process", sum(row["count"] for row in processes), sum(map(len, calls.values())))


def filters_and_times():
	chosen = [event for event in events if event["event"] == "sys_exit" and event["fields"].get("ret", 0) < 0]
	rows = stat_json("--counts", "--filter", 'name == "sys_exit" and ret < 0')
	e2e.equal("failed calls", [row["count"] for row in rows], [len(chosen)] if chosen else [])
	first, last = events[0]["time_ns"], events[-1]["time_ns"]
	begin, end = (round((first * (4 - part) + last * part) / 4e9, 9) for part in (1, 3))
	inside = [event for event in events if begin * 1e9 <= event["time_ns"] <= end * 1e9]
	rows = stat_json("--counts", "--from", begin, "--to", end)
	e2e.equal("events between", sum(row["count"] for row in rows), len(inside))
	e2e.equal("by the word that `convert` has for it", stat_json("--counts", "--from", begin, "--until", end), rows)
	chosen = [event for event in events if event["event"] in ("sched_switch", "sys_enter", "sys_exit")]
	for more in ((), ("--by", "cpu")):
		rows = stat_json(*(more or ("--counts",)), "--event", "sched_switch,sys_*")
		e2e.equal(f"events by name {more}", sum(row["count"] for row in rows), len(chosen))
	name = os.path.basename(e2e.workload)
	named = [event for event in inside if event["comm"] == name]
	rows = stat_json("--counts", "--from", begin, "--to", end, "--filter", f'thread == "{name}"')
	e2e.equal("events of a thread's name", sum(row["count"] for row in rows), len(named))


def pairs(start, end, start_key, end_key=None):
	"""Durations by key, and what is left, as an activity that does not nest."""
	opened, found, ends, restarted = {}, collections.defaultdict(list), 0, 0
	for event in events:
		if event["event"] == end:
			key = (end_key or start_key)(event)
			begun = opened.pop(key, None) if key is not None else None
			if begun is not None:
				found[key].append((begun, event))
			elif key is not None:
				ends += 1
		if event["event"] == start and start_key(event) is not None:
			restarted += start_key(event) in opened
			opened[start_key(event)] = event
	return found, {"ends": ends, "open": len(opened), "restarted": restarted}


def activity(start, end, start_key, end_key=None, *, row_key, options):
	found, left = pairs(start, end, start_key, end_key)
	answer = stat_json("--start", f'name == "{start}"', "--end", f'name == "{end}"', *options)["activities"][0]
	for reason, count in left.items():
		e2e.equal(f"{start} to {end}: {reason}", answer["unpaired"][reason], count)
	e2e.equal(f"{start} to {end}: rows", {row_key(row) for row in answer["rows"]}, set(found))
	e2e.expect(len(found) > 0, f"there is no pair of {start} and {end}")
	for row in answer["rows"]:
		durations = [end["time_ns"] - start["time_ns"] for start, end in found[row_key(row)]]
		e2e.equal("count", row["count"], len(durations))
		near("total", row["total_ns"], sum(durations), 1e-6, len(durations))
		expect_shape(f"{start} to {end}", row, durations, "_ns")


def activities():
	pid = lambda event: event["pid"]
	field = lambda name: lambda event: event["fields"][name]
	of_thread = lambda name: lambda row: int(row[name].rsplit("-", 1)[1])
	activity("sys_enter", "sys_exit", pid, row_key=of_thread("tid"), options=("--key", "tid", "--by", "tid"))
	activity("sched_waking", "sched_switch", field("pid"), field("next_pid"),
	         row_key=of_thread("pid"), options=("--key", "pid = next_pid", "--by", "pid"))
	activity("softirq_entry", "softirq_exit", lambda event: (event["cpu"], event["fields"]["vec"]),
	         row_key=lambda row: (row["cpu"], row["vec"]), options=("--key", "cpu,vec", "--by", "cpu, vec"))


def tables():
	for name in ("runqueue", "irq", "block"):
		done = e2e.run(e2e.monitor, "stat", trace.directory, "--table", name)
		e2e.expect("how long" in done.stdout.splitlines()[0], f"{name} has no title")
	for name in ("syscalls", "offcpu"):
		done = e2e.run(e2e.monitor, "stat", trace.directory, "--table", name, exit_code=1)
		e2e.expect(f"{name} is a table of states" in done.stderr, f"what is said of states: {done.stderr}")
	here = e2e.work / "here"
	here.mkdir(exist_ok=True)
	(here / "syscalls").write_text("not a table")  # a report's table is the shipped one
	e2e.run(e2e.monitor, "report", trace.directory, "syscalls", cwd=here)
	rows = stat_json(*CALLS)["activities"][0]["rows"]
	counted, reported = collections.Counter(), collections.Counter()
	for row in rows:
		counted[row["process"], row["id"]] += row["count"]
	for row in trace.report("syscalls")["rows"]:
		reported[f"{row['process']}-{row['pid']}", row["call"]] += row["count"]
	name = f"workload-{e2e.values(trace.output)['pid']}"
	of_workload = lambda counts: {call: n for (process, call), n in counts.items() if process == name and call == "nanosleep"}
	naps = [sum(of_workload(counts).values()) for counts in (counted, reported)]
	e2e.expect(min(naps) > 290 and abs(naps[0] - naps[1]) <= 3, f"naps by pairs of events and by report: {naps}")
	# The recorder's own calls lie at the edges of the window, where its thread's state is written.
	total, other = (sum(n for (process, _), n in counts.items() if not process.startswith("monitor-")) for counts in (counted, reported))
	e2e.expect(abs(total - other) <= max(5, other // 50), f"pairs of events have {total} calls, report {other}")


def selected_activities():
	"""A selection leaves out activities, it makes none: an end is not paired with a start before the one that is left out."""
	def runqueue(*options):
		activity = stat_json("--table", "runqueue", *options)["activities"][0]
		return {row["next_pid"]: row for row in activity["rows"]}

	whole = runqueue()
	cpus = [runqueue("--cpu", cpu) for cpu in range(os.cpu_count())]
	for thread, row in whole.items():
		parts = [rows[thread] for rows in cpus if thread in rows]
		for column, combine in (("count", sum), ("total_ns", sum), ("max_ns", max)):
			near(f"{column} of {thread} on all CPUs", combine(part[column] for part in parts), row[column], 0, len(parts))
	e2e.equal("threads on any CPU", set().union(*cpus), set(whole))
	tid = e2e.values(trace.output)["pid"]
	mine = {thread: row for thread, row in whole.items() if thread.endswith(f"-{tid}")}
	e2e.expect(mine, "the workload never waited for a CPU")
	e2e.equal("waits of one thread", runqueue("--tid", tid), mine)
	e2e.equal("waits that a filter selects", runqueue("--filter", f"next_pid == {tid}"), mine)


def hidden_created(trace):
	"""A thread that the kernel hides and that no list has: who ran after it is known by the next packet at the earliest,
	which depends on where a reader began."""
	statements = json.loads(e2e.run(e2e.monitor, "check", "--json", trace.directory, exit_code=None).stdout)
	text = next((said["text"] for said in statements if said["id"] == "thread_creations"), "0 0 0")
	kernel, _, tokens = (int(number) for number in re.findall(r"\d+", text)[:3])
	return kernel > tokens and "the kernel created a thread that it hides"


@e2e.longer
def threads_and_partitions_change_nothing():
	"""Of a trace of several partitions. Who asks for the names of threads has one partition only."""
	def recorded():
		with e2e.getppid_on_every_cpu():
			return e2e.record("big", "--force", "-e", "sched,syscall,irq", "--max-size", "18M", "-d", 30)

	big = e2e.until_undisturbed(recorded, hidden_created, 10)
	e2e.expect(big.info()["summary"]["tokens"] > 1_000_000, "the large trace is not large")
	counted = {row["event"]: row["count"] for row in stat_json("--counts", directory=big.directory)}
	told = collections.Counter()
	for row in big.info()["classes"]:
		told[row["event"]] += row["tokens"]
	window = [big.recording()[edge]["time"] for edge in ("start", "end")]
	for before in (f"ticks < {window[0]}", f"ticks > {window[1]}"):
		sql = f"SELECT name, count(*) AS n FROM events WHERE {before} GROUP BY name"
		for row in json.loads(e2e.run(e2e.monitor, "query", big.directory, "--json", "--", sql).stdout):
			told[row["name"]] -= row["n"]
	e2e.equal("counts and info", counted, {name: count for name, count in told.items() if count})
	# Not by process: others may make more of them than a statistic has rows, and which have none depends on the partitions.
	calls = (*CALLS[:-1], "thread, id")
	one_partition = ("--filter", 'has(thread) or not has(thread)')
	for options in (("--by", "process"), (*calls, "--json", "--histogram"), ("--table", "runqueue"),
	                ("--table", "irq", "--csv"), ("--by", "tid,cpu", "--json")):
		outputs = {stat(*options, "--threads", number, directory=big.directory) for number in (1, 2, 4)}
		outputs.add(stat(*options, *one_partition, directory=big.directory))
		e2e.equal(f"outputs of {options}", len(outputs), 1)


def threads_change_nothing():
	for options in (("--by", "process"), (*CALLS, "--json", "--histogram"), ("--table", "runqueue"),
	                ("--counts", "--csv"), ("--value", "ret", "--by", "thread", "--json", "--histogram")):
		outputs = {stat(*options, "--threads", number) for number in (1, 2, 4)}
		e2e.equal(f"outputs of {options}", len(outputs), 1)


def values():
	rets = by(lambda event: event["event"], [event for event in events if isinstance(event["fields"].get("ret"), int)])
	answer = stat_json("--value", "ret", "--by", "name", "--histogram")
	e2e.equal("rows", {row["name"]: row["count"] for row in answer["rows"]},
	          {name: len(chosen) for name, chosen in rets.items()})
	for row in answer["rows"]:
		numbers = [event["fields"]["ret"] for event in rets[row["name"]]]
		near("total", row["total"], sum(numbers), 1e-15)
		e2e.equal("bounds", (row["min"], row["max"]), (min(numbers), max(numbers)))
		buckets = [histogram["buckets"] for histogram in answer["histograms"] if histogram["row"] == [row["name"]]][0]
		e2e.equal("sum of the histogram", sum(bucket["count"] for bucket in buckets), row["count"])
		for bucket in buckets:
			inside = sum(bucket["first"] <= number <= bucket["last"] for number in numbers)
			e2e.equal(f"bucket {bucket['first']} .. {bucket['last']}", bucket["count"], inside)


def forms():
	rows = list(csv.DictReader(io.StringIO(stat("--table", "irq", "--csv"))))
	e2e.expect({row["activity"] for row in rows} <= {"interrupt", "softirq"} and rows, f"CSV of two activities: {rows}")
	answer = stat_json(*CALLS, "--histogram", "--sort", "count", "--top", 3)["activities"][0]
	e2e.equal("rows with --top 3", len(answer["rows"]), 3)
	counts = [row["count"] for row in answer["rows"]]
	e2e.equal("order", counts, sorted(counts, reverse=True))
	between = stat_json("--histogram")
	for row, histogram in ((row, histogram) for row in between["rows"] for histogram in between["histograms"]
	                       if histogram["row"] == [row["event"]]):
		e2e.equal("histogram of distances", sum(b["count"] for b in histogram["buckets"]), row["count"] - 1)
	lines = stat("--by", "tid", "--top", 0).splitlines()
	e2e.equal("lines of --top 0", len(lines), len(stat_json("--by", "tid")) + 3)
	e2e.expect(lines[-1].startswith("counted from when all probes were attached"), f"it does not say from when it counts: {lines[-1]}")


def errors(directory):
	bad = e2e.work / "bad.table"
	bad.write_text("activity: one\nstrat: x\n", encoding="utf-8")
	for exit_code, options, part in (
		(1, ("--by", "no_such"), "--by: no event of this trace has a field no_such"),
		(1, ("--table", "no_such"), "block, irq, offcpu, runqueue, syscalls"),
		(1, ("--table", bad), "line 2: strat is not a keyword of tables"),
		(1, ("--sort", "no_such"), "no column"),
		(1, ("--start", "name ==", "--end", "cpu == 0"), "--start, --end, start: "),
		(1, ("--start", "cpu == 0", "--end", "cpu == 1", "--key", "cpu = cpu, name"), "not as many names"),
		(1, ("--value", "name"), "--value: name is not a number"),
		(1, ("--from", "x"), "--from"),
		(2, ("--start", "cpu == 0"), "--end"),
		(2, ("--threads", 0), "--threads"),
		(2, ("--table", "irq", "--by", "cpu"), "--by"),
		(2, ("--table", "irq", "--event", "sched_switch"), "--event"),
		(1, ("--event", "no_such"), "no event class no_such"),
		(2, ("--json", "--csv"), "--json"),
	):
		done = e2e.run(e2e.monitor, "stat", directory, *options, exit_code=exit_code)
		e2e.expect(part in done.stderr, f"{options}: {done.stderr!r} does not say {part!r}")
		e2e.expect(done.stderr.startswith("monitor: ") and not done.stdout, f"{options}: {done.stderr!r} {done.stdout!r}")
	e2e.run(e2e.monitor, "stat", e2e.work / "nowhere", exit_code=1)


@e2e.longer
def others():
	"""Every valid trace that tests/ctf writes: the counts are those of `monitor list`."""
	sys.path.insert(0, str(SOURCE / "tests" / "ctf"))
	from cases import CASES
	first = None
	for name, write in CASES.items():
		directory = e2e.work / "ctf" / name
		directory.mkdir(parents=True)
		write(directory)
		listed = [json.loads(line) for line in e2e.run(e2e.monitor, "list", "--json", directory, exit_code=None).stdout.splitlines()]
		done = e2e.run(e2e.monitor, "stat", "--json", directory, exit_code=None)
		e2e.expect(done.returncode in (0, 1) and done.stdout, f"{name}: exit code {done.returncode}: {done.stderr}")
		counted = {row["event"]: row["count"] for row in json.loads(done.stdout or "[]")}
		e2e.equal(f"counts of {name}", counted, dict(collections.Counter(event["event"] for event in listed)))
		first = first or (directory if listed else None)
	print(f"{len(CASES)} traces")
	errors(first)


def errors_of_recording():
	errors(trace.directory)


if __name__ == "__main__":
	if os.geteuid() == 0 and os.path.exists("/sys/kernel/btf/vmlinux") and \
			"reads traces only" not in e2e.run(e2e.monitor, "events", exit_code=None).stderr:
		e2e.main(recorded, counts_and_distances, one_window, rows_by_fields, filters_and_times, activities, tables, selected_activities,
		         threads_change_nothing, threads_and_partitions_change_nothing, values, forms, errors_of_recording, others)
	print("nothing is recorded here: with traces of others alone")
	e2e.main(others)
