#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record --statistics: its periods beside a trace of another recording of the same time, while it runs and after it,
what is kept of it, and what it cannot answer."""
import json
import os
import re
import signal
import subprocess
import sys
import time

import e2e

COUNTS = ("voluntary", "involuntary", "syscalls", "minor_faults")
# Pipes, sleeps, processes that end, calls that fail.
LOAD = """
import os, time
open("/proc/self/comm", "w").write("statload")
end = time.monotonic() + %f
a, b = os.pipe(), os.pipe()
if os.fork() == 0:
	os.close(a[1])
	while os.read(a[0], 1): os.write(b[1], b"x")
	os._exit(0)
while time.monotonic() < end:
	for _ in range(50): os.write(a[1], b"x"); os.read(b[0], 1)
	if (child := os.fork()) == 0: os._exit(0)
	os.waitpid(child, 0)
	for _ in range(20): os.access("/does/not/exist", os.F_OK)
	time.sleep(0.004)
"""


def load(seconds):
	return subprocess.Popen([sys.executable, "-c", LOAD % seconds])


def started(directory, *options):
	"""A recording of statistics that has begun; its output is not read."""
	process = subprocess.Popen([e2e.monitor, "record", "--statistics", "1s", "-o", directory, "--force", *options], stderr=subprocess.PIPE, text=True)
	said = []
	while not said or (said[-1] and "statistics of " not in said[-1]): # notes may come first
		said.append(process.stderr.readline())
	e2e.expect("statistics of " in said[-1], f"it does not say what it records: {said}")
	return process


def ended(process, number=signal.SIGINT):
	process.send_signal(number)
	return process.communicate(timeout=30)[1]


def files(directory):
	return sorted(name for name in os.listdir(directory) if name.startswith("statistics_"))


def report(directory, *options):
	return json.loads(e2e.run(e2e.monitor, "report", directory, "--json", "--all", "--top", 0, *options).stdout)


def periods(directory):
	return [event["time_ns"] for event in e2e.Trace(directory).events("--event", "statistics_period")]


def sums(rows, *labels, of):
	"""By names: numbers of processes that have ended are not in statistics."""
	all = {}
	for row in rows:
		key = tuple(str(row[label]).removesuffix(" (ended)") for label in labels)
		summed = all.setdefault(key, [0] * len(of))
		for i, name in enumerate(of):
			summed[i] += row[name] or 0
	return all


@e2e.longer
def beside_a_trace():
	"""Another recording has the same events, each a little later or earlier: by command nearly the same figures."""
	statistics, trace = e2e.work / "beside", e2e.work / "trace"
	recorder = started(statistics)
	try:
		other = load(4.5)
		time.sleep(0.3)
		# Its own description and names are read at the end, which is outside of the periods compared.
		e2e.run(e2e.monitor, "record", "-d", 3.6, "--no-calibration", "-o", trace, "--force", "--buffer", "64M")
		other.wait()
		time.sleep(1.1)
	finally:
		ended(recorder)
	e2e.run(e2e.monitor, "check", statistics)
	description = (trace / "metadata").read_text(errors="replace")
	hz = int(re.search(r"freq = (\d+)", description)[1])
	first = e2e.Trace(trace).events("--event", "sched_switch")[0]
	begin = first["ticks"] - first["time_ns"] * hz / 1e9
	edges = [(event["ticks"], event["fields"]["end"]) for event in e2e.Trace(statistics).events("--event", "statistics_period")]
	info = json.loads((trace / ".monitor/recording.json").read_text())
	whole = [(f, t) for f, t in edges if f > info["start"]["time"] and t < info["end"]["time"]]
	if not e2e.expect(len(whole) >= 2, f"periods within the trace: {whole} of {edges}"):
		return
	zero = edges[0][0]
	def window(of_begin, *, hz):
		return [f"{(edge - of_begin) / hz:.9f}" for edge in (whole[0][0], whole[-1][1] - 1)]
	own_hz = int(re.search(r"freq = (\d+)", (statistics / "metadata").read_text(errors="replace"))[1])
	theirs, ours = window(begin, hz=hz), window(zero, hz=own_hz)
	# Of the load alone: what the recorders do is in both, but not the same. Without a call it sleeps now and then, at a
	# page of a file.
	for what, labels, of in (((), ("command",), ("cpu_ns", "waiting_ns", "blocked_ns") + COUNTS),
	                         (("syscalls",), ("process", "call"), ("total_ns", "count", "errors")),
	                         (("offcpu",), ("thread", "call"), ("total_ns", "count"))):
		by = ("--by", "command") if not what else ()
		a, b = (sums(report(directory, *what, *by, "--from", edge[0], "--to", edge[1])["rows"], *labels, of=of)
		        for directory, edge in ((statistics, ours), (trace, theirs)))
		ours_of, theirs_of = ({key: value for key, value in all.items() if key[0] == "statload" and key[1:] != ("-",)} for all in (a, b))
		e2e.equal(f"{what}: rows of the load", sorted(ours_of), sorted(theirs_of))
		e2e.expect(len(ours_of) >= (1 if not what else 2), f"{what}: {sorted(ours_of)}")
		for key in ours_of.keys() & theirs_of.keys():
			for name, x, y in zip(of, ours_of[key], theirs_of[key]):
				# An event at an edge is on either side of it; each is 0.2 us apart in the two recordings, and
				# what both probes take is in one of the times.
				slack = 3 * (len(whole) + 1) if not name.endswith("_ns") else 2_000_000 + 400 * sum(ours_of[key][of.index(n)] for n in of if not n.endswith("_ns"))
				e2e.expect(abs(x - y) <= 0.02 * y + slack, f"{what} {key} {name}: {x}, and in the trace {y}")


def while_it_runs():
	"""It can be read, says that it is running, and what it says then stays true; killed, all but the last period is there."""
	directory = e2e.work / "running"
	began = time.monotonic()
	recorder, other = started(directory), load(3)
	try:
		time.sleep(2.3)
		while len(files(directory)) < 2 and time.monotonic() < began + 20:
			time.sleep(0.05)
		now = report(directory)
		text = e2e.run(e2e.monitor, "report", directory).stdout
		names = files(directory)
		passed = time.monotonic() - began
		checked = e2e.run(e2e.monitor, "check", directory)
		frequencies = json.loads(e2e.run(e2e.monitor, "stat", directory, "--json").stdout)
	finally:
		recorder.send_signal(signal.SIGKILL)
		recorder.communicate()
	other.wait()
	e2e.expect(2 <= len(names) <= passed + 2, f"files after {passed:.1f} s: {names}")
	e2e.expect("this recording is still running or was killed" in text, text[-300:])
	e2e.expect("not checked    what the probes counted is known when the recording has ended" in checked.stdout, checked.stdout)
	e2e.expect(any(row["process"].startswith("statload") for row in now["rows"]), "the load is not seen")
	e2e.expect({"sched_switch", "sys_enter"} <= {row["event"] for row in frequencies}, f"{frequencies}")
	after = report(directory)
	e2e.expect(after["summary"]["periods"]["count"] >= now["summary"]["periods"]["count"] >= 2, f"{now['summary']} {after['summary']}")
	begins = periods(directory)
	lengths = [round((later - earlier) / 1e6) for earlier, later in zip(begins, begins[1:])]
	e2e.expect(0 < lengths[0] <= 1000 and set(lengths[1:]) <= {1000}, f"ms between the starts of periods: {lengths}")
	e2e.expect(all("." not in name for name in names[1:]), f"periods that do not start with a second: {names}")


def sums_hold():
	"""CPUs' times are their periods; threads' CPU times are those of the CPUs; threads that ended are sums by command."""
	directory, gone_soon = e2e.work / "forks", e2e.work / "gone_soon"
	gone_soon.symlink_to("/bin/true")  # a name that no other program has
	recorder = started(directory, "--keep", "1h")
	try:
		for _ in range(600):
			os.waitpid(os.posix_spawn(gone_soon, ["gone_soon"], {}), 0)
		time.sleep(1.2)
	finally:
		text = ended(recorder)
	e2e.expect(re.search(r"[\d,]+ tokens, lost 0", text), text)
	all = report(directory, "--by", "process")
	e2e.expect(max(len(open(directory / name, "rb").read()) for name in files(directory)) < 300_000, "a period is not small")
	for cpu in all["cpus"]:
		known = sum(value for key, value in cpu.items() if key.endswith("_percent") and key != "steal_percent" and value is not None)
		e2e.expect(abs(known - 100) < 0.01, f"times of a CPU: {cpu}")
	window = all["summary"]["wall_ns"]
	user = sum(cpu["user_percent"] for cpu in all["cpus"]) * window / 100
	of_rows = sum((row["user_percent"] or 0) * (row["cpu_ns"] or 0) / 100 for row in all["rows"])
	e2e.expect(abs(user - of_rows) < 1e-6 * window, f"user time of CPUs {user}, of rows {of_rows}")
	gone = [row for row in all["rows"] if row["process"] == "gone_soon (ended)"]
	e2e.expect(gone and all_null(gone, "pid"), f"{gone[:3]}")
	calls = [row for row in report(directory, "syscalls")["rows"] if row["process"] in ("gone_soon", "gone_soon (ended)") and row["call"] == "execve"]
	# One that a period's end met has a row of its own in that period. Of one that a hidden thread interrupted the end may not
	# be known.
	seen = sum(row["count"] for row in calls)
	e2e.expect(seen == 600 or (all["summary"]["hidden_threads"] and 590 <= seen < 600), f"execve of those that ended: {seen}")
	same = e2e.run(e2e.monitor, "diff", f"{directory}@0s..1.1s", f"{directory}@1.2s..1.3s").stdout
	e2e.expect("gone_soon" in same, same[:500])
	rows = json.loads(e2e.run(e2e.monitor, "query", directory, "SELECT count(*) AS n, sum(number) AS events FROM statistics_events WHERE event_id < 32768", "--json").stdout)
	e2e.expect(rows[0]["events"] == all["summary"]["tokens"], f"{rows} {all['summary']['tokens']}")


def all_null(rows, key):
	return all(row[key] is None for row in rows)


def activities_of(directory, *options):
	return {(row["activity"], row["caller"]): row for row in report(directory, "activities", "--by", "caller", *options)["rows"]}


@e2e.longer
def marked_activities():
	"""What a program marks: exact counts, by what it was inside of; in statistics of its command and of everybody."""
	load, naps, spins = os.path.join(e2e.programs, "activity_load"), 500, 20
	expected = {("round", "-"): naps, ("nap", "round"): naps, ("step", "round"): naps, ("spin", "-"): spins, ("recurse", "-"): 1,
	            ("recurse", "recurse"): 9, ("job", "-"): 40}
	of_command, of_all = e2e.work / "marked", e2e.work / "marked_all"
	recorder = started(of_all, "--user")
	try:
		subprocess.run([load, str(naps), str(spins)], stdout=subprocess.DEVNULL, check=True)
		# Its own recorder has the program's events, the other one not.
		e2e.run(e2e.monitor, "record", "--statistics", "1s", "-o", of_command, "--force", "--no-calibration", "--", load, naps, spins)
	finally:
		ended(recorder)
	for directory in (of_command, of_all):
		rows = activities_of(directory)
		e2e.equal("counts by caller", {key: row["count"] for key, row in rows.items()}, expected)
		e2e.equal("unpaired", report(directory, "activities")["unpaired"], {"begins": 1, "ends": 2, "left_out": 0})
		nap, whole = rows["nap", "round"], rows["round", "-"]
		e2e.expect(whole["total_ns"] >= nap["total_ns"] >= naps * 2_000_000 and nap["p50_ns"] >= 2_000_000, f"naps of 2 ms: {nap}")
		e2e.expect(abs(whole["exclusive_ns"] - (whole["total_ns"] - nap["total_ns"] - rows["step", "round"]["total_ns"])) <= 4, f"{whole}")
		e2e.expect(nap["blocked_percent"] * nap["total_ns"] / 100 > 0.9 * naps * 2_000_000 and nap["unknown_percent"] < 2, f"a nap is not asleep: {nap}")
		by_process = report(directory, "activities")["rows"]
		e2e.equal("by process", {row["process"].removesuffix(" (ended)") for row in by_process}, {"activity_load"})
		checked = e2e.run(e2e.monitor, "check", directory).stdout
		for statement in (r"\d+ events of 1 instrumented processes were read, the periods have \d+", r"began in the periods; \d+ ended, 1 have no end, 0 are"):
			e2e.expect(re.search("ok .*" + statement, checked), f"{statement}: {checked}")
		told = json.loads(e2e.run(e2e.monitor, "query", directory, "--json", "SELECT activity_label AS activity, caller_label AS caller, sum(number) AS n FROM "
		                          "statistics_activities GROUP BY 1, 2").stdout)
		e2e.equal("by query", {(row["activity"], row["caller"].replace("none", "-")): row["n"] for row in told}, expected)
		for by in ("thread", "argument"):
			done = e2e.run(e2e.monitor, "report", directory, "activities", "--by", by, exit_code=None)
			e2e.expect(done.returncode != 0 and "have the activities of each process" in done.stderr and done.stderr.count("\n") == 1, done.stderr)
	e2e.expect(len(files(of_command)) > 1, "all are in one period")
	# The naps take more than a second, so more than a period.
	at = periods(of_command)[1] / 1e9 - 0.01
	some = activities_of(of_command, "--from", f"{at:.9f}", "--to", f"{at:.9f}")
	e2e.expect(0 < some["nap", "round"]["count"] < naps, f"naps of one period: {some}")
	changed = e2e.run(e2e.monitor, "diff", of_command, of_all, "--top", 0).stdout
	e2e.expect("by the programs' own activities" in changed and re.search(r"\bnap\b", changed), changed)


def called_functions():
	"""Functions of a process that two recorders probe: the same calls, each with its caller, one a little longer."""
	load = os.path.join(e2e.programs, "function_load")
	with subprocess.Popen([load, "2", "1500", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
		options = ("-p", process.pid, "--functions", "by_*,callee,catcher,through,recur")
		recorder = started(e2e.work / "called", *map(str, options))
		other = e2e.Recorder("calls", "--force", *options).wait_until_recording()
		process.communicate("\n")
	other.end()
	ended(recorder)
	ours, theirs = activities_of(e2e.work / "called"), activities_of(e2e.work / "calls")
	# After a hidden thread it is unknown who calls, until the next token that says so; the two have different ones.
	slack = 30 if report(e2e.work / "called")["summary"]["hidden_threads"] else 0
	for key in ours.keys() | theirs.keys():
		for what in ("count", "left"):
			x, y = (rows[key][what] if key in rows else 0 for rows in (ours, theirs))
			e2e.expect(abs(x - y) <= slack, f"called by whom, how often, left: {key} {what} {x}, in the trace {y}")
	e2e.expect(("through", "catcher") in ours and ("recur", "recur") in ours and ours["by_throw", "through"]["left"] > 0, f"{sorted(ours)}")
	for key in ours.keys() & theirs.keys():
		x, y = ours[key]["total_ns"], theirs[key]["total_ns"]
		e2e.expect(abs(x - y) <= 0.5 * max(x, y) + 5_000_000, f"{key}: {x} ns, in the trace {y}")
	e2e.run(e2e.monitor, "check", e2e.work / "called")


def what_is_kept():
	directory = e2e.work / "kept"
	recorder = started(directory, "--keep", "2s")
	try:
		seen = set()
		for _ in range(45):
			time.sleep(0.1)
			seen.add(len(files(directory)))
	finally:
		ended(recorder)
	e2e.expect(max(seen) <= 4, f"numbers of files: {seen}")
	e2e.expect(len(files(directory)) <= 4, f"{files(directory)}")
	checked = e2e.run(e2e.monitor, "check", directory).stdout
	e2e.expect("periods at the beginning were removed" in checked, checked)
	text = e2e.run(e2e.monitor, "report", directory).stdout
	e2e.expect(re.search(r"of [2345] periods", text), text[-400:])
	# The last two cover what is kept, unless the recording ended with a period.
	names = files(directory)
	if len(names) > 2:
		middle = (directory / names[1]).read_bytes()
		os.unlink(directory / names[1])
		done = e2e.run(e2e.monitor, "check", directory, exit_code=1).stdout
		e2e.expect("a period is missing: 1.000 s" in done, done)
		(directory / names[1]).write_bytes(middle)
	os.unlink(directory / names[-1])
	done = e2e.run(e2e.monitor, "check", directory, exit_code=1).stdout
	e2e.expect(re.search(r"the periods end \d\.\d+ s before the recording did", done), done)


def refusals():
	directory = e2e.work / "kept"
	archive = ("--archive", e2e.work / "archive")
	e2e.run(e2e.monitor, "archive", *archive, "add", directory, "a/b/c")
	told = e2e.run(e2e.monitor, "archive", *archive, "history", "a", "--figure", "count of read", "--json").stdout
	e2e.expect(json.loads(told)[0]["count of read"] is None, f"a figure of calls: {told}")
	for command in (("report", directory, "samples"), ("report", directory, "stacks"), ("view", directory), ("play", directory, "--frame"),
	                ("convert", directory, "--to", "perfetto", "-o", e2e.work / "p"), ("states", directory), ("stat", directory, "--by", "cpu"),
	                ("report", directory, "--cpu", 0)):
		done = e2e.run(e2e.monitor, *command, exit_code=None)
		e2e.expect(done.returncode != 0 and "statistics instead of events" in done.stderr and done.stderr.count("\n") == 1, f"{command}: {done.returncode} {done.stderr}")
	for works in (("report", directory, "cpu"), ("report", directory, "syscalls"), ("report", directory, "offcpu"), ("diff", directory, directory),
	              ("query", directory, "SELECT 1"), ("stat", directory)):  # what the refusal names
		e2e.run(e2e.monitor, *works)
	for options, why in ((("--statistics", "10ms"), "periods are from 1s to 1d"), (("--statistics", "1s", "--keep", "7d"), "at most 10000 periods"),
	                     (("--statistics", "10s", "--keep", "5s"), "shorter than a period"), (("--keep", "5s"), "add --statistics"),
	                     (("--statistics", "1s", "--stacks"), "--stacks records who called whom"), (("--statistics", "1s", "--flight"), "--flight keeps events"),
	                     (("--statistics", "1s", "--user", "--user-only"), "--user-only records none of the kernel's events"),
	                     (("--statistics", "soon"), "not a duration")):
		done = e2e.run(e2e.monitor, "record", *options, "-d", 1, "-o", e2e.work / "never", exit_code=None)
		e2e.expect(done.returncode == 125 and why in done.stderr, f"{options}: {done.returncode} {done.stderr}")
		e2e.expect(not (e2e.work / "never").exists(), f"{options}: something is left")


e2e.need_recording()
e2e.main(beside_a_trace, while_it_runs, sums_hold, marked_activities, called_functions, what_is_kept, refusals)
