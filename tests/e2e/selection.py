#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A part of a trace: report --from/--to of a load whose times are known, windows that add up to the whole, and that
list, stat and report mean the same events by the same options."""
import collections
import datetime
import json
import random
import re

import e2e

# System calls from the events alone; in few rows, for a busy machine has more processes than stat has rows.
CALLS = ("--start", 'name == "sys_enter"', "--end", 'name == "sys_exit"', "--key", "tid", "--by", "id")

LOAD = f"{e2e.workload} spin 300; sleep 2; {e2e.workload} spin 300"
SUMS = ("cpu_ns", "voluntary", "involuntary", "migrations", "syscalls", "minor_faults", "major_faults")
MODES = ("user", "kernel", "irq", "softirq", "unattributed", "unknown")
trace, execs = None, []


def seconds(time_ns):
	return f"{time_ns // 10**9}.{time_ns % 10**9:09}"


def window(from_ns, to_ns):
	return ("--from", seconds(from_ns), "--to", seconds(to_ns))


def record():
	global trace, execs
	trace = e2e.undisturbed(lambda: e2e.record("load", "--force", command=("sh", "-c", LOAD)),
	                        lambda made: made.family({made.recording()["command_pid"]}))
	trace.expect_true()
	execs = [(e["time_ns"], e["fields"]["comm"], e["fields"]["pid"]) for e in trace.events("--event", "sched_process_exec", "--command")]
	e2e.equal("programs", [name for _, name, _ in execs][-3:], ["workload", "sleep", "workload"])


def zero_of_time():
	"""Time 0 is when all probes were attached: no token of the command's is earlier, and what is has negative times."""
	recording, everything = trace.recording(), trace.events("--to", f"{execs[0][0]}ns")
	start = recording["start"]["time"]
	early = [event for event in everything if event["time_ns"] < 0]
	e2e.expect(any(event["cpu"] is not None for event in early), "no probe posted anything while others were attached")
	e2e.equal("events before time 0", [event["ticks"] for event in early], [event["ticks"] for event in everything if event["ticks"] < start])
	mine = next(event for event in everything if event["pid"] == recording["command_pid"] and event["cpu"] is not None)
	hz = int(re.search(r"freq = (\d+)", (trace.directory / "metadata").read_text(errors="replace"))[1])
	e2e.equal("the command's first token", mine["time_ns"], (mine["ticks"] - start) * 10**9 // hz)
	e2e.expect(mine["time_ns"] >= 0, f"the command's first token is before time 0: {mine}")
	e2e.equal("events before time 0, selected", trace.events("--from", "-3600", "--to", "-1ns"), early)
	e2e.equal("by a filter", trace.events("--filter", "time < 0"), early)
	(row,) = trace.query("SELECT count(*) AS n, min(time_ns) AS first FROM events WHERE time_ns < 0")
	e2e.equal("by SQL", row, {"n": len(early), "first": everything[0]["time_ns"]})
	report = trace.report("--from", "0", "--to", "0.04")["summary"]["window"]
	e2e.equal("a report's first 40 ms", (report["begin_ns"], report["end_ns"] // 10), (0, 4_000_000))
	e2e.equal("the window's start", trace.report()["summary"]["window"]["begin_ns"], 0)
	part = ("--from", "0", "--to", "0.04", "--event", "sched_switch,sys_enter,sys_exit")
	counted = json.loads(e2e.run(e2e.monitor, "stat", "--counts", "--json", trace.directory, *part).stdout)
	e2e.equal("events of the first 40 ms", sum(row["count"] for row in counted), len(trace.events(*part)))


def times_of_day():
	"""Where a range is given by these, or with --clock."""
	recording, first = trace.recording(), execs[-1][0]
	day_ns = recording["start"]["realtime_ns"] + first  # the clocks may have drifted apart since
	shown = datetime.datetime.fromtimestamp(day_ns // 10**9)
	words = ("--from", f"{shown:%Y-%m-%d %H:%M:%S}", "--event", "sched_process_exec", "--tid", execs[-1][2])
	found = e2e.run(e2e.monitor, "list", trace.directory, *words).stdout.splitlines()
	e2e.equal("the same by --clock", e2e.run(e2e.monitor, "list", trace.directory, "--clock", "--from", f"{first}ns", *words[2:]).stdout, found[-1] + "\n")
	e2e.expect(re.match(rf"{e2e.TIME_OF_DAY} +\d", found[-1]), found[-1])
	e2e.expect("wall_ns" not in trace.events(*words)[-1], "a range does not change the members of JSON")
	event = trace.events("--clock", *words)[-1]
	e2e.expect(event["time_ns"] == first and abs(event["wall_ns"] - day_ns) < 10_000_000, f"{event}, at {day_ns}")
	local = datetime.datetime.fromtimestamp(event["wall_ns"] // 10**9)
	e2e.expect(f"{local:%H:%M:%S}.{event['wall_ns'] % 10**9:09} " in found[-1], f"{found[-1]} is not at {event['wall_ns']}")
	text = e2e.run(e2e.monitor, "report", trace.directory, *words[:2]).stdout
	e2e.expect(re.search(rf"rows: from .*{shown:%H:%M:%S}\.\d{{9}} to before .*\d:\d\d\.\d{{9}}$", text, re.M), text)
	text = e2e.run(e2e.monitor, "report", trace.directory, "--from", "0.1").stdout
	e2e.expect("rows: from 0.100000000 s to before " in text, text)


def known_load():
	"""In the middle of the sleep there is no token of the sleeper; during the spin the spinner only computes."""
	(spin_at, _, spinner), (sleep_at, _, sleeper), (again_at, _, _) = execs[-3:]
	middle = (sleep_at + again_at) // 2
	(row,) = trace.rows(*window(middle - 50_000_000, middle + 49_999_999), "--pid", sleeper)
	e2e.expect(abs(row["blocked_ns"] - 100_000_000) <= 2 and row["waiting_ns"] == row["cpu_ns"] == 0,
	           f"100 ms in the middle of a sleep: {row}")
	e2e.equal("the spinner's rows while another sleeps", trace.rows(*window(middle, middle + 1000), "--pid", spinner), [])
	(row,) = trace.rows(*window(spin_at + 50_000_000, spin_at + 249_999_999), "--pid", spinner)
	times = row["cpu_ns"] + row["waiting_ns"]
	e2e.expect(abs(times - 200_000_000) <= 2 and row["blocked_ns"] == 0, f"200 ms of a spin: {row}")
	e2e.expect(row["user_percent"] + row["irq_percent"] + row["softirq_percent"] > 98, f"a spin's modes: {row}")
	# the sleep ends after its middle, and belongs there as a whole
	def sleeps(*options):
		return [row for row in trace.rows("offcpu", *options, "--pid", sleeper) if row["call"].endswith("nanosleep")]

	e2e.equal("sleeps that end before the middle of the sleep", sleeps(*window(sleep_at, middle)), [])
	(row,) = sleeps(*window(middle, again_at))
	e2e.expect(row["count"] == 1 and row["total_ns"] > 1_900_000_000, f"the sleep: {row}")


def by_thread(*options):
	report = trace.report("--by", "thread", *options)
	sums = collections.Counter()
	for row in report["rows"]:
		for name in SUMS:
			sums[row["tid"], row["thread"], name] += row[name] or 0
		for mode in MODES:
			sums[row["tid"], row["thread"], mode] += (row[f"{mode}_percent"] or 0) * (row["cpu_ns"] or 0) / 100
	for cpu in report["cpus"]:
		part = report["summary"]["window"]
		for name in ("idle", *MODES):
			sums["cpu", cpu["cpu"], name] += cpu[f"{name}_percent"] * (part["end_ns"] - part["begin_ns"]) / 100
	for row in trace.rows("syscalls", *options):
		sums["syscalls", row["pid"], row["call"], "count"] += row["count"]
		sums["syscalls", row["pid"], row["call"], "total"] += row["total_ns"]
	for row in trace.rows("offcpu", *options):
		sums["offcpu", row["tid"], row["call"], row["waker"], "count"] += row["count"]
		sums["offcpu", row["tid"], row["call"], row["waker"], "total"] += row["total_ns"]
	activities = json.loads(e2e.run(e2e.monitor, "stat", *CALLS, "--json", trace.directory, *options).stdout)
	for row in activities["activities"][0]["rows"]:
		sums["stat", "count"] += row["count"]
		sums["stat", "total"] += row["total_ns"]
	return sums


def parts_add_up():
	whole, part = by_thread(), trace.report()["summary"]["window"]
	cuts = sorted(random.Random(5).sample(range(part["begin_ns"] + 1, part["end_ns"]), 4))
	bounds = [0, *cuts, part["end_ns"] + 10**9]
	sums = collections.Counter()
	for begin, end in zip(bounds, bounds[1:]):
		sums.update(by_thread(*window(begin, end - 1)))
	differing = {key: (sums[key], whole[key]) for key in whole.keys() | sums.keys()
	             if abs(whole[key] - sums[key]) > 12 + 1e-6 * whole[key] * ("stat" in key)}
	e2e.expect(not differing, f"in parts at {cuts} and as a whole: {differing}")


@e2e.longer
def same_events():
	first, last = execs[-3][0], execs[-1][0]
	options = (("--tid", execs[-3][2]), ("--pid", execs[-2][2]), ("--comm", "work*,sleep"), ("--command",),
	           ("--cpu", e2e.cpus()[0]), ("--cgroup", "/"))
	for option in options:
		words = (*window(first, last), *option)
		listed = collections.Counter(e["event"] for e in trace.events(*words))
		counted = {row["event"]: row["count"] for row in json.loads(
			e2e.run(e2e.monitor, "stat", "--counts", "--json", trace.directory, *words).stdout) if row["count"]}
		e2e.equal(f"{option}: events in list and stat", counted, dict(listed))
		report = trace.report(*words)
		if "--cpu" not in words or not report["summary"]["hidden_threads"]:
			e2e.equal(f"{option}: system calls in list and report",
			          sum(row["syscalls"] or 0 for row in report["rows"]), listed["sys_enter"])
	everyone = trace.events(*window(first, last), "--tid", execs[-3][2], "--filter", 'name == "sys_exit"')
	e2e.expect(all(e["event"] == "sys_exit" and e["pid"] == execs[-3][2] for e in everyone) and everyone, "--filter and --tid")


def groupings_add_up():
	"""However threads are grouped, their figures are the same in all; a hidden one has none, and takes nobody's."""
	def sums(by, *words):
		rows = [row for row in trace.report("--by", by, *words)["rows"] if row["cpu_ns"] is not None]
		keys = ("cpu_ns", "waiting_ns", "blocked_ns", "syscalls", "migrations")
		return {key: sum(row[key] or 0 for row in rows) for key in keys}, len(rows)

	for words in ((), window(execs[1][0], execs[-1][0]), ("--command",)):
		threads, thread_rows = sums("thread", *words)
		e2e.expect(threads["cpu_ns"] and threads["blocked_ns"], f"nothing ran or slept: {threads}")
		for by in ("command", "cgroup"):
			groups, rows = sums(by, *words)
			for key, value in groups.items():
				rounding = thread_rows + rows if key.endswith("_ns") else 0  # each row's times are whole ns
				e2e.expect(abs(value - threads[key]) <= rounding, f"{key} by {by} {words}: {value}, by thread {threads[key]}")


def nothing_selected():
	for command in ("report", "list"):
		for option in (("--pid", "4194303"), ("--comm", "no such name"), ("--cpu", "8000")):
			done = e2e.run(e2e.monitor, command, trace.directory, *option)
			e2e.expect("matches the options" in done.stderr, f"{command} {option}: {done.stderr!r}")


def answers(directory, *words):
	return json.loads(e2e.run(e2e.monitor, "report", directory, "--json", *words).stdout)


def command_by_default():
	"""Sleeps, calls and stacks of a recorded command are its own, in every format; what else there is is said."""
	directory = trace.directory
	for report in ("syscalls", "offcpu"):
		default, of_command, everything = (answers(directory, report, *options) for options in ((), ("--command",), ("--all",)))
		e2e.expect(default["rows"] == of_command["rows"], f"{report}: the default is not --command")
		e2e.equal(f"{report}: whose rows", [each["summary"]["selection"]["of"] for each in (default, of_command, everything)],
		          ["command", "options", "all"])
		selection = default["summary"]["selection"]
		e2e.equal(f"{report}: rows of others", selection["others"], len(everything["rows"]) - len(default["rows"]))
		e2e.equal(f"{report}: their sum", selection["others_total_ns"],
		          sum(row["total_ns"] for row in everything["rows"]) - sum(row["total_ns"] for row in default["rows"]))
		text = e2e.run(e2e.monitor, "report", directory, report).stdout
		e2e.expect(text.count(f"left out: {selection['others']:,} rows of other processes") == 1 and "--all" in text, f"{report}: {text}")
		e2e.expect("left out" not in e2e.run(e2e.monitor, "report", directory, report, "--all").stdout, f"{report} --all leaves out rows")
		csv = e2e.run(e2e.monitor, "report", directory, report, "--csv")
		e2e.equal(f"{report}: rows of CSV", csv.stdout.count("\n") - 1, len(default["rows"]))
		e2e.expect("left out" in csv.stderr, f"{report}: CSV does not say it: {csv.stderr}")
		e2e.expect(answers(directory, report, "--comm", "kworker*", "--top", "0")["summary"]["selection"] == {"of": "options"}, "a chosen name")
		for by in ("process", "command"):
			grouped = answers(directory, report, "--by", by)["rows"]
			for figure in ("total_ns", "count"):
				sums = [sum(row[figure] for row in rows) for rows in (grouped, default["rows"])]
				e2e.expect(abs(sums[0] - sums[1]) <= len(default["rows"]), f"{report} --by {by}: {figure} {sums}")
	wakers = answers(directory, "offcpu", "--by", "waker", "--all")["rows"]
	sums = collections.Counter()
	for row in everything["rows"]:
		sums[row["waker"]] += row["count"]
	e2e.equal("sleeps by waker", {row["waker"]: row["count"] for row in wakers}, dict(sums))


def machine():
	"""Without a command all rows are there; in text the recorder's own and those that nearly only slept come last."""
	recorder = e2e.Recorder("machine", "-d", "0.6")
	whole = recorder.end(number=None)
	own = recorder.process.pid
	report = answers(whole.directory, "syscalls")
	e2e.equal("whose rows", report["summary"]["selection"], {"of": "all"})
	text = e2e.run(e2e.monitor, "report", whole.directory, "syscalls", "--top", "0").stdout
	lines = text.split("\n\n")[1].splitlines()[1:]
	first = next(i for i, line in enumerate(lines) if str(own) in line.split())
	others = [line for line in lines[first:] if line.split()[0] != "monitor"]
	e2e.expect(first > 0 and not others, f"rows of the recorder are before others: {others[:3]}")


def refused():
	def sentence(*words, exit_code):
		text = e2e.run(e2e.monitor, *words, exit_code=exit_code).stderr
		e2e.expect(text.startswith("monitor: ") and text.count("\n") == 1, f"{words}: {text}")
		return text

	for command in ("list", "stat", "report"):
		text = sentence(command, trace.directory, "--from", "1000", exit_code=1)
		e2e.expect("outside of what was recorded" in text, text)
		for time in ("9999-12-31 23:59:59", "2026-02-30 00:00:00", "99999999999-01-01 00:00:00"):
			text = sentence(command, trace.directory, "--from", time, exit_code=1)
			e2e.expect("is not a time" in text, text)
		text = sentence(command, trace.directory, "--from", "5", "--to", "1", exit_code=1)
		e2e.expect("later than" in text, text)
	for command in ("check", "info", "query"):
		for option in ("--from", "--pid", "--cpu", "--command"):
			for words in ((option, "1"), (option, "1", "SELECT 1")):
				e2e.expect(option in sentence(command, trace.directory, *words, exit_code=2), f"{command} {words}")
	for words, part in ((("report", "no-report"), "Did you mean"), (("report", "offcpuu"), "Did you mean offcpu"), (("list", "--pid", "x"), "'x' is not a number"),
	                    (("list", "--pid"), "needs a value"), (("stat", "--event", "x"), "no event class x"), (("list", "--to", "1", "--to", "2"), "once")):
		text = e2e.run(e2e.monitor, words[0], trace.directory, *words[1:], exit_code=None)
		e2e.expect(text.returncode and text.stderr.count("\n") == 1 and (part in text.stderr or "no-report" in words), f"{words}: {text.stderr}")
	sentence("report", trace.directory, "--filter", "cpu == 0", exit_code=2)
	sentence("report", trace.directory, "offcpu", "--cpu", "0", exit_code=2)
	sentence("report", trace.directory, "--by", "cpu", "--pid", "1", exit_code=2)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(record, zero_of_time, times_of_day, known_load, parts_add_up, same_events, groupings_add_up, nothing_selected, command_by_default, machine, refused)
