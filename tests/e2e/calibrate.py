#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record --calibrate: the probes are really detached in its phases, what is recorded around them says so, and what was
measured is used; what it cannot go with is refused. How near the figure comes is measured by tools/bench virtual."""
import json
import os
import sys
import time

import e2e

# Reads and writes, and some work between them.
LOAD = """
import os, time
r, w = os.pipe()
end = time.monotonic() + 10
while time.monotonic() < end:
	os.write(w, b"x"); os.read(r, 1)
	for _ in range(300): pass
"""
OPTIONS = (("--no-calibration",), ("--user-only",), ("--flight",), ("--statistics", "1s"), ("-p", "cmd"), ("--filter", "cpu == 0"),
           ("--count", "a=cpu == 0"), ("--stacks",), ("--functions", "main"), ("--sample-every", "10ms"))


def probes(pid):
	"""How many links to probes the recorder has."""
	count = 0
	for fd in os.listdir(f"/proc/{pid}/fd"):
		try:
			count += os.readlink(f"/proc/{pid}/fd/{fd}") == "anon_inode:bpf_link"
		except FileNotFoundError:
			pass
	return count


def recorded():
	"""The command runs for 10 s: about as many phases."""
	global TRACE
	e2e.calibrated = True
	recorder = e2e.Recorder("trace", "--calibrate", "-e", "sched,syscall,irq", "--buffer", "64M", command=(sys.executable, "-c", LOAD)).wait_until_recording()
	seen = []
	while recorder.process.poll() is None:
		try:
			seen.append(probes(recorder.process.pid))
		except (FileNotFoundError, PermissionError):
			break
		time.sleep(0.003)
	TRACE = recorder.end(number=None)
	most = max(seen)
	between = seen[seen.index(most):len(seen) - seen[::-1].index(most)]  # not when it starts or ends
	e2e.expect(6 < most and min(between) < most / 2, f"links of the recorder: {between}")


def gaps():
	phases = TRACE.recording()["calibration"]["phases"]
	e2e.expect(phases["number"] >= 1, f"{phases}")
	each = TRACE.summary()["calibration_phases_ns"] / phases["number"] / 1e6
	e2e.expect(8 <= each, f"a phase is {each} ms long, on average")
	e2e.expect(phases["marks"] >= phases["number"], f"{phases}")
	TRACE.expect_true()
	verdicts = {statement["id"]: statement for statement in TRACE.statements}
	e2e.equal("the gaps are known", verdicts["losses_placed"]["verdict"], "ok")
	e2e.equal("of the phases", verdicts["calibration"]["verdict"], "not checked")
	e2e.expect("detached at times" in verdicts["kernel_figures"]["text"], f"{verdicts['kernel_figures']}")
	# The command calls all the time, but nothing of that is seen in the phases.
	pid = TRACE.recording()["command_pid"]
	text = e2e.run(e2e.monitor, "query", TRACE.directory, f"select time_ns from events where name = 'sys_enter' and tid = {pid}", "--csv").stdout
	times = [int(line) for line in text.split()[1:]]
	long = [after - before for before, after in zip(times, times[1:]) if after - before > 7.9e6]
	# The command may have ended in a phase, and calls nothing after it.
	e2e.expect(phases["number"] - 1 <= len(long), f"{len(long)} gaps, {phases['number']} phases")
	e2e.expect(min(long) <= 100e6, f"the shortest gap is {min(long) / 1e6} ms long")  # another program may make one long


def unknown():
	"""Time of the gaps is nobody's."""
	phases = TRACE.recording()["calibration"]["phases"]
	summary, cpus = TRACE.report()["summary"], TRACE.rows("--by", "cpu")
	e2e.equal("lost", summary["lost"], 0)
	e2e.equal("phases", summary["calibration_phases"], phases["number"])
	for row in cpus:
		unknown_ns = row["unknown_percent"] / 100 * summary["wall_ns"]
		e2e.expect(unknown_ns >= 0.9 * summary["calibration_phases_ns"], f"{row}, phases of {summary['calibration_phases_ns']} ns")


def used():
	phases = TRACE.recording()["calibration"]["phases"]
	summary = TRACE.report()["summary"]
	text = e2e.run(e2e.monitor, "report", TRACE.directory).stdout
	e2e.expect("the probes were detached" in text, text[-600:])
	print(phases)
	done = e2e.run(e2e.monitor, "report", "--json", "--virtual", TRACE.directory, exit_code=None)
	if done.returncode:  # another recorder ran, or the loops contradict themselves, and there is nothing else
		print(done.stderr)
		e2e.expect("why_unknown" in phases or "another recording ran" in done.stderr, done.stderr)
	reasons = json.loads(done.stdout)["virtual"]["range"] if not done.returncode else None
	if "why_unknown" in phases:
		e2e.expect(phases["why_unknown"] in text and "median" not in phases, f"{phases}: {text[-600:]}")
		e2e.expect(reasons is None or any(phases["why_unknown"] in reason for reason in reasons), f"{reasons}")
		return
	e2e.expect(0 < phases["low"] <= phases["median"] <= phases["high"], f"{phases}")
	e2e.equal("progress", phases["progress"], "calls that read or wrote")
	e2e.expect(phases["used"] >= 8 and "syscall" in phases["events"], f"{phases}")
	e2e.expect(f"measured in {phases['used']} phases" in text, text[-600:])
	e2e.expect(summary["probes_cpu_ns_low"] <= summary["probes_cpu_ns_calibrated"] <= summary["probes_cpu_ns_high"], f"{summary}")
	e2e.expect(reasons is None or any("while it ran" in reason for reason in reasons), f"{reasons}")


def too_short():
	"""Before the first phase the command has ended."""
	trace = e2e.record("short", "--calibrate", command=("true",))
	e2e.expect("0 phases" in trace.recording()["calibration"]["phases"]["why_unknown"], f"{trace.recording()['calibration']}")
	trace.expect_true()


def refused():
	e2e.calibrated = True
	for options in OPTIONS:
		done = e2e.run(e2e.monitor, "record", "-o", e2e.work / "refused", "--calibrate", *options, "--", "true", exit_code=125)
		e2e.expect("leave it out, or --calibrate" in done.stderr and len(done.stderr.splitlines()) == 1, f"{options}: {done.stderr}")
	done = e2e.run(e2e.monitor, "record", "-o", e2e.work / "refused", "--calibrate", "-d", "1", exit_code=125)
	e2e.expect("add -- CMD" in done.stderr, done.stderr)


e2e.need_recording()
e2e.main(refused, recorded, gaps, unknown, used, too_short)
