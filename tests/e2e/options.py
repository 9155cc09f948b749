#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every option of record, list and report does what it says, on one real recording."""
import csv
import datetime
import io
import json
import os
import re
import subprocess

import e2e

COLUMNS = ("cpu_ns", "waiting_ns", "blocked_ns", "voluntary", "involuntary", "migrations", "syscalls", "minor_faults")


def recording():
	global TRACE, EVENTS
	TRACE = e2e.record_workload("trace", "forks", 50, "--note", 'a "note", with ü and\nanother line')
	TRACE.expect_true()
	EVENTS = TRACE.events()
	e2e.equal("note", TRACE.info()["recording"]["note"], 'a "note", with ü and\nanother line')
	text = e2e.run(e2e.monitor, "info", TRACE.directory).stdout
	e2e.expect('a "note", with ü' in text, "info does not show the note")
	e2e.expect("lost 0" in TRACE.errors and "clock bound" in TRACE.errors and ", probes " in TRACE.errors,
	           f"the summary of record: {TRACE.errors}")


def refused(trace):
	misses = trace.directory.exists() and trace.summary()["misses"]
	return misses and f"an interrupt met its own probe, which the kernel refused {misses} times to run again"


@e2e.longer
def families():
	wanted = {"sched": {"sched_switch"}, "syscall": {"sys_enter"}, "fault": {"minor_fault"},
	          "irq": {"local_timer_entry"}, "power": set(), "block": set()}
	for family, events in wanted.items():
		trace = e2e.until_undisturbed(lambda: e2e.record(f"family_{family}", "--force", "-e", family, command=(e2e.workload, "mixed", 100)), refused, 5)
		if not trace.directory.exists():
			continue
		trace.expect_true()
		names = {row["event"] for row in trace.info()["classes"] if row["id"] >= 256 and row["tokens"]}
		e2e.expect("sched_switch" in names, f"-e {family}: no sched_switch, so no token names its thread")
		e2e.expect(events <= names, f"-e {family}: no {events - names}")
		others = {name for other, some in wanted.items() if other not in (family, "sched") for name in some}
		e2e.expect(not names & others, f"-e {family} also recorded {names & others}")


def max_size_and_duration():
	with e2e.Load((e2e.workload, "getppid", 1 << 50)):
		trace = e2e.record("size", "--max-size", "4M", "-d", 20)
		size = sum(path.stat().st_size for path in trace.directory.glob("kernel_*"))
		e2e.expect(4 << 20 <= size < 64 << 20, f"--max-size 4M, and the streams have {size} bytes")
		e2e.expect("--max-size" in trace.recording()["end_reason"], f"end: {trace.recording()['end_reason']}")
	trace = e2e.record("duration", "-d", 0.5, "-e", "power")
	e2e.equal("end of -d 0.5", trace.recording()["end_reason"], "the duration elapsed")
	e2e.expect(0.45e9 < trace.summary()["wall_ns"] < 90e9, f"-d 0.5 took {trace.summary()['wall_ns']} ns")


@e2e.longer
def start():
	"""Its first line: what is recorded, into which directory, and what ends it."""
	for options, command, what, end in (
	        ((), ("true",), "the whole machine", "the command ends"),
	        (("-d", "0.1"), (), "the whole machine", "0.1 s have passed or Ctrl-C"),
	        (("-p", "1", "-d", "0.1", "--max-size", "64M"), (), "process 1 and its descendants",
	         "0.1 s have passed or the trace reaches 67.1 MB or Ctrl-C"),
	        (("-p", "cmd"), ("true",), "the command and its descendants", "the command ends"),
	        (("--user-only",), ("true",), "the command's own events", "the command ends")):
		trace = e2e.record("start", "--force", *options, command=command)
		e2e.equal(f"the first line of record {options}", trace.errors.splitlines()[0],
		          f"monitor: recording {what} into {trace.directory} until {end}")


def force():
	(e2e.work / "size" / "kernel_cpu99").write_text("of another recording")
	trace = e2e.record("size", "--force", "-e", "power", command=("true",))
	e2e.expect(not (trace.directory / "kernel_cpu99").exists(), "--force left a file of the recording before")
	trace.expect_true()


@e2e.longer
def default_directory():
	place = e2e.work / "place"
	place.mkdir()
	e2e.run(e2e.monitor, "record", "-e", "power", "--", "/bin/true", cwd=place)
	names = [path.name for path in place.iterdir()]
	e2e.expect(len(names) == 1 and names[0].endswith("-true"), f"without -o: {names}")
	datetime.datetime.strptime(names[0], "monitor-%Y%m%d-%H%M%S-true")
	words = (e2e.monitor, "record", "--no-calibration", "-e", "power", "--", "/bin/sleep", "0.1")
	together = [subprocess.Popen(words, cwd=place, stderr=subprocess.PIPE, text=True) for _ in range(3)]
	said = [recorder.communicate()[1] for recorder in together]
	e2e.equal("three that start at once", [recorder.returncode for recorder in together], [0] * 3) or print(*said)
	e2e.equal("their directories", len(list(place.glob("monitor-*-sleep*/.monitor/recording.json"))), 3)
	for name in ("deep/er/trace", "deeper/trace/"):
		e2e.run(e2e.monitor, "record", "-e", "power", "-o", f"{e2e.work}/{name}", "--", "/bin/true")
		e2e.expect((e2e.work / name / "metadata").exists(), f"-o {name} makes no trace there")


def list_options():
	middle = EVENTS[len(EVENTS) // 2]["time_ns"]
	for option, where in (("--from", lambda e: e["time_ns"] >= middle), ("--to", lambda e: e["time_ns"] <= middle)):
		should = [event["ticks"] for event in EVENTS if where(event)]
		is_ = [event["ticks"] for event in TRACE.events(option, f"{middle / 1e9:.9f}")]
		e2e.expect(abs(len(is_) - len(should)) <= 3, f"{option}: {len(is_)} events, not {len(should)}")
	pid = TRACE.values["pid"]
	fields = ("pid", "prev_pid", "next_pid", "parent_pid")
	should = [e for e in EVENTS if e["pid"] == pid or any(e["fields"].get(field) == pid for field in fields)]
	e2e.expect(TRACE.events("--tid", pid) == should, "--tid: other events than those that concern the thread")
	e2e.expect(TRACE.events("--cpu", 0) == [e for e in EVENTS if e["cpu"] == 0], "--cpu 0: other events")
	names = ("sched_switch", "sys_exit")
	should = [e for e in EVENTS if e["event"] in names]
	e2e.expect(TRACE.events("--event", ",".join(names)) == should, "--event: other events")
	text = e2e.run(e2e.monitor, "list", TRACE.directory).stdout.splitlines()
	e2e.equal("lines of text", len(text), len(EVENTS))
	e2e.expect(f"workload-{pid}" in "\n".join(text), "the text does not name the process")


def rows_of_csv(*options):
	return list(csv.DictReader(io.StringIO(e2e.run(e2e.monitor, "report", "--csv", "--all", TRACE.directory, *options).stdout)))


def report_options():
	for by in ("process", "thread", "cpu", "command", "cgroup"):
		rows = TRACE.report("--by", by, "--top", 0)["rows"]
		read = rows_of_csv("--by", by)
		e2e.equal(f"--by {by}: columns of CSV", [list(row) for row in read[:1]], [list(row) for row in rows[:1]])
		e2e.equal(f"--by {by}: rows of CSV", len(read), len(rows))
		e2e.run(e2e.monitor, "report", "--by", by, TRACE.directory)
	for column in COLUMNS:
		numbers = [-1 if row[column] is None else row[column] for row in TRACE.report("--sort", column)["rows"]]
		e2e.expect(numbers == sorted(numbers, reverse=True), f"--sort {column}: not sorted: {numbers[:10]}")
	e2e.equal("--top 3", len(TRACE.report("--top", 3)["rows"]), 3)
	for kind in ("syscalls", "offcpu"):
		rows = TRACE.report(kind)["rows"]
		read = rows_of_csv(kind)
		e2e.expect(rows and len(read) == len(rows), f"{kind}: {len(read)} rows in CSV, {len(rows)} in JSON")
	row = [r for r in TRACE.rows("syscalls", pid=TRACE.values["pid"]) if r["call"] == "clone"]
	e2e.equal("clone calls in syscalls", [r["count"] for r in row], [50])
	lines = e2e.run(e2e.monitor, "report", TRACE.directory).stdout.splitlines()
	e2e.expect(any("tokens, lost 0, clock bound" in line and ", probes " in line for line in lines),
	           f"the line under the report: {lines}")
	done = e2e.run(e2e.monitor, "report", "--sort", "beauty", TRACE.directory, exit_code=1)
	e2e.expect("beauty" in done.stderr, f"--sort beauty: {done.stderr}")


def tables_of(*options, columns=None):
	"""The tables of a text: from their heads to the next line without a table."""
	env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
	text = e2e.run(e2e.monitor, "report", TRACE.directory, *options, env=env | ({"COLUMNS": str(columns)} if columns else {})).stdout
	return [part.splitlines() for part in text.split("\n\n")]


def tables_fit():
	"""Eighty columns are enough for a report; without a terminal, and with --wide, it has all columns."""
	for report in ("cpu", "syscalls", "offcpu"):
		whole = tables_of(report)[1]
		e2e.equal(f"{report} --wide", tables_of(report, "--wide", columns=80), tables_of(report))
		for columns in (80, 100, 1000):
			narrow = tables_of(report, columns=columns)[1]
			table = [line for line in narrow if not line.startswith(("--wide adds", "left out", "... and"))]
			e2e.expect(max(map(len, table)) <= columns, f"{report}: lines of {max(map(len, table))} in {columns}: {narrow[:3]}")
			e2e.expect(len(table) > 2, f"{report}: {narrow}")
			titles, all_titles = (re.split("  +", lines[0].strip()) for lines in (table, whole))
			(no_room,) = [line for line in narrow if line.startswith("--wide adds")] or [""]
			missing = re.findall(r"(?:adds|,) ([^,]+)", no_room)
			e2e.expect(set(titles) | set(missing) <= set(all_titles) and not set(titles) & set(missing), f"{report}: {narrow}, of {all_titles}")
			e2e.equal(f"{report}: what has no room in {columns} columns", columns == 1000 and missing, columns == 1000 and [])
	e2e.expect(all(name in tables_of(columns=80)[1][0] for name in ("process", "CPU time", "runnable", "blocked")), f"{tables_of(columns=80)[1][0]}")


def legend_explains():
	"""Each column that has a title has a line."""
	for report in ("cpu", "syscalls", "offcpu"):
		parts = tables_of(report, "--legend", "--top", "1")
		head, legend = parts[1][0], parts[2]
		e2e.expect(legend[0].split() == ["column", "meaning"], f"{report}: {legend}")
		titles = [re.split("  +", line)[0] for line in legend[1:]]
		e2e.equal(f"{report}: the legend's columns", [title for title in titles if title != "*"], re.split("  +", head.strip()))
		e2e.expect(all(len(re.split("  +", line)) == 2 for line in legend), f"{report}: {legend}")


def keys_stay():
	"""--sort takes the titles of columns and the keys of JSON."""
	for options, *names in ((("cpu",), "waiting", "runnable"), (("offcpu",), "transfer", "wake-up to CPU")):
		e2e.equal(f"--sort {names}", *(TRACE.report(*options, "--sort", name)["rows"] for name in names))


def report_names():
	"""The last word may name the report; a directory of such a name is written with its path."""
	should = TRACE.report()
	TRACE.copy("cpu")
	for words in ((TRACE.directory, "cpu"), ("./cpu",), ("./cpu", "cpu")):
		told = json.loads(e2e.run(e2e.monitor, "report", "--json", *words, cwd=e2e.work).stdout)
		e2e.expect(told == should, f"report {words} is not the report cpu")
	e2e.run(e2e.monitor, "report", "cpu", cwd=e2e.work, exit_code=2)
	listed = e2e.run(e2e.monitor, "report", "help").stdout
	for name in ("cpu", "syscalls", "offcpu", "activities", "ratios", "segments", "samples"):
		e2e.expect(name in listed.split(), f"report help does not list {name}: {listed}")
	for says, *words in (*((f"the report {name} has rows of its own: leave out --by", name, "--by", "thread")
	                       for name in ("samples",)),
	                     ("syscalls can be grouped by process or command, not by thread", "syscalls", "--by", "thread"),
	                     ("--by waker needs the report offcpu", "--by", "waker"),
	                     ("segments can be grouped by process, thread or cpu, not by command", "segments", "--by", "command"),
	                     ("--by argument needs the report activities", "ratios", "--by", "argument"),
	                     ("--every needs the report ratios", "--every", "1ms"),
	                     ("--every needs the report ratios", "syscalls", "--every", "1ms")):
		done = e2e.run(e2e.monitor, "report", TRACE.directory, *words, exit_code=2)
		e2e.expect(says in done.stderr, f"report {words}: {done.stderr}")


def machine_readable():
	for command in (("doctor",), ("events",)):
		done = e2e.run(e2e.monitor, *command, "--json", exit_code=None)
		e2e.expect(isinstance(json.loads(done.stdout), list), f"{command} --json is no list")
	e2e.expect(e2e.run(e2e.monitor, "--version").stdout.startswith("monitor "), "--version")


def several_traces():
	"""What is said of each of several recordings is what is said of it alone."""
	second = e2e.record_workload("second", "forks", 50)
	both = [str(trace.directory) for trace in (TRACE, second)]
	told = json.loads(e2e.run(e2e.monitor, "report", "--json", *both).stdout)
	e2e.equal("the traces", [report.pop("trace") for report in told], both)
	e2e.expect(told == [TRACE.report(), second.report()], "a report of two traces is not that of each")
	rows = list(csv.DictReader(io.StringIO(e2e.run(e2e.monitor, "report", "--csv", *both).stdout)))
	e2e.equal("rows of CSV", [sum(row["trace"] == name for row in rows) for name in both],
	          [len(report["rows"]) for report in told])
	listed = {}
	for line in e2e.run(e2e.monitor, "list", "--json", *both).stdout.splitlines():
		event = json.loads(line)
		listed.setdefault(event["host"], []).append((event["event"], event["pid"], event["comm"]))
	alone = [[(event["event"], event["pid"], event["comm"]) for event in trace.events()] for trace in (TRACE, second)]
	e2e.equal("recordings that are listed", len(listed), 2)
	# Events of two CPUs may be of the same ns; then their order is that of ticks, or not.
	e2e.expect([sorted(events, key=repr) for events in listed.values()] == [sorted(events, key=repr) for events in alone], "threads of one recording stand in the other one's list")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(recording, families, max_size_and_duration, start, force, default_directory, list_options, report_options,
	         tables_fit, legend_explains, keys_stay, report_names, machine_readable, several_traces)
