#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record --statistics --count-only: exactly what a command did, sums over periods that are what the probes and the kernel
counted, what is left of it when it is killed, and what it cannot answer."""
import json
import os
import re
import signal
import subprocess
import time

import e2e

ONLY = "only the numbers of events"


def counts(directory, *options):
	return {row["event"]: row["count"] for row in json.loads(e2e.run(e2e.monitor, "stat", directory, "--json", *options).stdout)}


def started(directory, *options):
	process = subprocess.Popen([e2e.monitor, "record", "--statistics", "1s", "--count-only", "--no-calibration", "-o", directory, "--force", *options], stderr=subprocess.PIPE, text=True)
	line = process.stderr.readline()
	e2e.expect("numbers of events (no times) of the whole machine" in line, f"it does not say what it records: {line}")
	return process


def periods(directory):
	return [(event["time_ns"], event["ticks"], event["fields"]) for event in e2e.Trace(directory).events("--event", "statistics_period")]


def exactly_what_a_command_did():
	"""All that differs between the two runs is the number of calls in the loop."""
	found = []
	for calls in (1000, 101_000):
		trace = e2e.record(f"calls_{calls}", "--force", "--statistics", "1s", "--count-only", "-p", "cmd", "-e", "syscall", command=(e2e.workload, "getppid", calls))
		trace.expect_true()
		found.append(counts(trace.directory))
		e2e.equal("classes", sorted(found[-1]), ["sched_wakeup_new", "sys_enter"])
	e2e.equal("calls of the loop", found[1]["sys_enter"] - found[0]["sys_enter"], 100_000)


def of_the_machine():
	"""Its periods end right after whole seconds; their sum is what the probes counted, which is what the kernel did."""
	directory, killed = e2e.work / "machine", e2e.work / "killed"
	recorder = started(directory)
	other = started(killed, "--keep", "1s", "-e", "sched")
	try:
		busy = subprocess.run([e2e.workload, "pingpong", "3000"], stdout=subprocess.DEVNULL, check=True)
		time.sleep(3.1)
		running = e2e.run(e2e.monitor, "stat", directory).stdout
	finally:
		other.send_signal(signal.SIGKILL)
		other.communicate()
		recorder.send_signal(signal.SIGINT)
		text = recorder.communicate(timeout=30)[1]
	del busy
	e2e.expect(ONLY in running and "sched_switch" in running, f"while it runs: {running}")
	e2e.expect(re.search(r"[\d,]+ events counted, lost 0", text) and ONLY in text, text)
	e2e.equal("other files", sorted(name for name in os.listdir(directory) if not name.startswith("statistics_")), [".monitor", "metadata"])
	trace = e2e.Trace(directory)
	trace.expect_true()
	verdicts = {statement["id"]: statement["verdict"] for statement in trace.statements}
	judged = {"context_switches", "softirqs", "interrupts", "thread_creations", "periods", "losses", "conservation"}
	e2e.expect(judged <= set(verdicts), f"statements: {verdicts}")
	all = counts(directory)
	e2e.expect(all["sched_switch"] >= 6000 and all["sys_enter"] >= 12_000 and "sys_exit" not in all, f"counts: {all}")
	found = periods(directory)
	e2e.expect(len(found) >= 4, f"periods: {found}")
	summed = {}
	for row in json.loads(e2e.run(e2e.monitor, "query", directory, "SELECT event_id, sum(number) AS n FROM statistics_events WHERE event_id < 32768 GROUP BY event_id", "--json").stdout):
		summed[row["event_id"]] = row["n"]
	e2e.equal("the sum over all periods", sum(summed.values()), sum(all.values()))
	ns_per_tick = (found[2][0] - found[1][0]) / (found[2][1] - found[1][1])
	within = [f"{(begin + (fields['end'] - ticks) * ns_per_tick / 2) / 1e9:.9f}" for begin, ticks, fields in found]
	parts = [counts(directory, "--from", time, "--to", time) for time in within]
	for event, number in all.items():
		e2e.equal(f"{event}, period by period", sum(part[event] for part in parts), number)
	info = trace.recording()["statistics"]
	begins = [begin for begin, _, _ in found]
	late = info["max_late_ns"] + 1_000_000  # where a second begins is known to within the clock's bound
	lengths = [later - earlier for earlier, later in zip(begins[1:], begins[2:])]
	e2e.expect(all_near(lengths, 1_000_000_000, late), f"lengths of periods: {lengths}, late {late}")
	e2e.expect(0 < info["max_width_ns"] < 1_000_000_000, f"{info}")
	told = e2e.run(e2e.monitor, "info", directory).stdout
	e2e.expect("--count-only" in told and "after the end of a period" in told, told)
	# A period that is not what it was must be seen.
	wrong = trace.copy("wrong")
	names = sorted(path.name for path in wrong.directory.iterdir() if path.name.startswith("statistics_"))
	(wrong.directory / names[1]).unlink()
	red = wrong.check()
	e2e.expect({"periods", "conservation"} <= red, f"without a period: {red}")
	# What is killed can be read, and older periods went.
	left = sorted(name for name in os.listdir(killed) if name.startswith("statistics_"))
	e2e.expect(1 <= len(left) <= 3, f"kept: {left}")
	e2e.expect(counts(killed)["sched_switch"] > 0, "nothing is left of the one that was killed")
	done = e2e.run(e2e.monitor, "check", killed)
	e2e.expect("still running, or it was killed" in done.stdout, done.stdout)


def all_near(values, what, slack):
	return bool(values) and all(abs(value - what) <= slack for value in values)


def what_it_answers():
	directory = e2e.work / "machine"
	end = json.loads(e2e.run(e2e.monitor, "info", directory, "--json").stdout)["summary"]
	e2e.equal("said in JSON", end["periods"]["counts_only"], True)
	for command in (("report", directory), ("report", directory, "syscalls"), ("report", directory, "offcpu"), ("report", directory, "counts"),
	                ("report", directory, "--virtual"), ("view", directory), ("play", directory, "--frame"), ("states", directory), ("stat", directory, "--by", "cpu"),
	                ("query", directory, "SELECT * FROM threads"), ("diff", directory, e2e.work / "killed", "--by", "waits")):
		done = e2e.run(e2e.monitor, *command, exit_code=None)
		e2e.expect(done.returncode != 0 and ONLY in done.stderr and done.stderr.count("\n") == 1, f"{command}: {done.returncode} {done.stderr}")
	compared = json.loads(e2e.run(e2e.monitor, "diff", directory, e2e.work / "killed", "--json").stdout)
	rows = {row["event"]: row for row in compared["rows"]}
	e2e.expect(rows["sched_switch"]["before_per_second"] > 0 and rows["sched_switch"]["ratio"] > 0, f"{rows}")
	e2e.equal("what was not counted is not 0", rows["sys_enter"]["after_per_second"], None)
	e2e.equal("the order", [row["change_per_second"] is None for row in compared["rows"]], sorted(row["change_per_second"] is None for row in compared["rows"]))
	text = e2e.run(e2e.monitor, "diff", directory, e2e.work / "killed", "--top", 0).stdout
	e2e.expect(re.search(r"^sys_enter +[\d.,]+ ?[kM]? +- +- +-", text, re.M) and "no times are compared" in text, text)
	archive = ("--archive", e2e.work / "archive")
	e2e.run(e2e.monitor, "archive", *archive, "add", directory, "a/b/c")
	told = e2e.run(e2e.monitor, "archive", *archive, "history", "a", "--figure", "cpu of workload", "--json").stdout
	e2e.expect(json.loads(told)[0]["cpu of workload"] is None, f"a figure of times: {told}")


def refusals():
	for options, why in ((("--count-only",), "add --statistics TIME"), (("--statistics", "1s", "--count-only", "--stacks"), "--stacks records"),
	                     (("--statistics", "1s", "--count-only", "-m", "cpu"), "-m reads counters"), (("--statistics", "1s", "--count-only", "--flight"), "--flight keeps events"),
	                     (("--statistics", "1s", "--count-only", "--filter", "cpu == 0"), "--filter"), (("--statistics", "1s", "--count-only", "--buffer", "64M"), "--buffer is of rings"),
	                     (("--statistics", "1s", "--count-only", "--user"), "--user"), (("--statistics", "1s", "--count-only", "--card", "module"), "--card module:")):
		done = e2e.run(e2e.monitor, "record", *options, "-d", 1, "-o", e2e.work / "never", exit_code=None)
		e2e.expect(done.returncode == 125 and why in done.stderr.splitlines()[-1], f"{options}: {done.returncode} {done.stderr}")
		e2e.expect(not (e2e.work / "never").exists(), f"{options}: something is left")


e2e.need_recording()
e2e.main(exactly_what_a_command_did, of_the_machine, what_it_answers, refusals)
