#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cost of the probes: calibrated at the start and at the end, beside the recording and not in it; and what the summary
makes of the figures. How many nanoseconds they are is nobody's business here."""
import json
import os
import pathlib
import re
import subprocess
import time

import e2e

e2e.calibrated = True


def kept_files():
	return list(pathlib.Path("/run/monitor").glob("calibration-*.json"))


def forget():
	"""What earlier recordings kept: of this one all is measured."""
	for path in kept_files():
		path.unlink(missing_ok=True)


def calibrated():
	"""Both ends have each family, and no event of the calibration is a token or counted."""
	global TRACE
	forget()
	TRACE = e2e.record_workload("trace", "getppid", 5000, "-e", "sched,syscall,fault")
	TRACE.expect_true()  # what was counted is in the streams
	calibration = TRACE.recording()["calibration"]
	e2e.expect("kept" not in calibration, f"nothing was kept: {calibration}")
	for when in ("start", "end"):
		costs = calibration[when]
		missing = {"syscall", "sched", "fault"} - set(costs)
		if when == "end" and "why_not" in costs:
			e2e.expect(TRACE.recording()["attach"] == "tp", f"the end could not be calibrated: {costs}")
			continue
		e2e.expect(not missing, f"not calibrated at the {when}: {missing}")
		for family, cost in costs.items():
			e2e.expect(1 <= cost["rounds"] <= 22, f"{when}: {family} has {cost['rounds']} rounds")
			e2e.expect(cost["low"] <= cost["median"] <= cost["high"], f"{when}: {family}: {cost} is in disorder")
			e2e.expect(cost["off_difference"] >= 0, f"{when}: {family}: {cost}")
	calls = sum(event["fields"]["id"] == "getppid" for event in TRACE.events("--event", "sys_enter"))
	e2e.expect(5000 <= calls < 6000, f"{calls} calls of getppid are in the trace: those of the calibration too")


def again(name, *options):
	trace = e2e.record(name, "--force", "-e", "sched,syscall,fault", *options, command=("true",))
	trace.expect_true()
	return trace, trace.recording()["calibration"]


def keep(low, median, high):
	"""As if an earlier recording had measured this; the file has at least what its preflight found."""
	for path in kept_files():
		kept = json.loads(path.read_text(encoding="utf-8") or "{}")
		kept["costs"] = {family: {"low": low, "median": median, "high": high, "off_difference": 0.01, "rounds": 22}
		                 for family in ("syscall", "sched", "fault")}
		path.write_text(json.dumps(kept), encoding="utf-8")


def keeps():
	"""A recording that finds what an earlier one measured uses it, checks it at the end, and says so."""
	for number in range(6):
		forget()
		again("first")
		keep(0.5, 100.0, 100_000.0)  # contradicted only if the check's own loops without probes differ
		trace, calibration = again(f"again{number}")
		text = e2e.run(e2e.monitor, "report", trace.directory).stdout
		if "kept" not in calibration:
			e2e.equal("the start of a contradicted one", calibration["start"], {})
		elif "why_not" in calibration["end"]:  # other work disturbed the check's loops without probes
			e2e.expect("(loops, kept, not checked)" in text, text[-300:])
		else:
			break
	else:
		e2e.leave_out("a kept calibration that holds", "this machine disturbed six checks")
		return
	e2e.expect("low" in calibration["start"]["syscall"] and 5 <= calibration["end"]["syscall"]["rounds"] < 21, f"{calibration}")
	e2e.expect("(loops, kept, checked at the end)" in text, text[-300:])
	e2e.expect("start_test" not in trace.recording(), "a preflight was made again")


def contradicts():
	"""A false figure is noticed by the check and replaced by what is measured, a damaged file is not used."""
	forget()
	again("first")
	keep(5000.0, 5001.0, 5002.0)
	trace, calibration = again("false")
	e2e.equal("what was kept", (calibration["start"], "kept" in calibration), ({}, False))
	e2e.expect(calibration["end"]["syscall"]["rounds"] > 9 and trace.recording()["cost_ns"]["syscall"] < 2500, f"{calibration}")
	text = e2e.run(e2e.monitor, "report", trace.directory).stdout
	e2e.expect("(loops, at the end only)" in text, text[-300:])
	for damage in ("", "{", "[" * 5000, "{}", '{"key": 7, "costs": {"syscall": []}}'):
		for path in kept_files():
			path.write_text(damage, encoding="utf-8")
		_, calibration = again("damaged")
		e2e.expect("kept" not in calibration and calibration["start"], f"a damaged file is used: {damage[:20]}: {calibration}")


@e2e.longer
def leaves_the_cpu():
	"""On a machine that is busy, too, the kernel's own threads get their turn: a grace period that they end is waited for."""
	busy = [subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"]) for cpu in e2e.cpus() for _ in range(2)]
	try:
		for _ in range(4):
			begin = time.monotonic()
			e2e.record("busy", "--force", "-e", "sched,syscall,fault", command=("true",))
			took = time.monotonic() - begin
			e2e.expect(took < 20, f"a recording of `true` took {took:.1f} s") # 2 s here; the kernel's threads starve for 60 s
	finally:
		for process in busy:
			process.kill()
			process.wait()


def of_options():
	"""What -p rejects and what --reset-on resets has a cost of its own."""
	for options, what in ((("-p", "cmd"), "rejected"), (("-m", "faults=page-faults", "--reset-on", f"{e2e.workload}:main"), "reset")):
		trace = e2e.record(what, "--force", "-e", "sched,syscall", *options, command=("true",))
		cost = trace.recording()["calibration"]["start"].get(what)
		e2e.expect(cost and 5 < cost["median"] < 100_000, f"{what}: {cost}")
	trace = e2e.record("none", "--no-calibration", command=("true",))
	e2e.expect("calibration" not in trace.recording(), "--no-calibration calibrates")
	e2e.expect("probes unknown (it was not calibrated)" in trace.errors, f"without a calibration: {trace.errors}")


def said(start, end, factors=None):
	"""What the summary says of the probes if the calibration had these results, and real code those factors."""
	path = TRACE.directory / ".monitor/recording.json"
	recording = json.loads(path.read_text(encoding="utf-8"))
	families = ("syscall", "sched", "fault")
	recording["calibration"] = {"start": {family: start for family in families}}
	if end:
		recording["calibration"]["end"] = {family: end for family in families}
	if factors:
		recording["calibration"]["factors"] = factors
	path.write_text(json.dumps(recording), encoding="utf-8")
	lines = e2e.run(e2e.monitor, "report", TRACE.directory).stdout.splitlines()
	return "".join(line.partition(", probes ")[2] for line in lines), TRACE.summary()


def judged():
	cost = {"low": 50.0, "median": 55.0, "high": 60.0, "off_difference": 0.01, "rounds": 21}
	text, summary = said(cost, cost)
	e2e.expect(text.startswith("at least ") and text.endswith(" % of one CPU (loops)"), text)
	events = sum(row["seen"] for row in TRACE.recording()["classes"])
	e2e.equal("lower quartile", summary["probes_cpu_ns_low"], events * 50.0)
	e2e.equal("median", summary["probes_cpu_ns_calibrated"], events * 55.0)
	e2e.equal("upper quartile", summary["probes_cpu_ns_high"], events * 60.0)
	e2e.expect("at the start only" in said(cost, None)[0], "without a calibration at the end the summary does not say so")
	for start, end, why in ((cost | {"off_difference": 0.2}, cost, "20 %"), (cost | {"median": -1.0}, cost, "negative"),
	                        (cost, cost | {"low": 80.0, "median": 90.0, "high": 95.0}, "differ")):
		text, summary = said(start, end)
		e2e.expect(text.startswith("at least ") and text.endswith(" (loops)"), f"{why}: {text}")
		e2e.equal(f"the least: {why}", summary["probes_cpu_ns_low"], events * 50.0)
		e2e.expect(summary["probes_cpu_ns_calibrated"] is None and why in summary["probes_unknown"], f"{why}: {summary}")
	text, summary = said(cost, cost, {"other": {"low": 2.0, "high": 3.0}})
	e2e.expect(re.fullmatch(r"[\d.]+ \w+ to [\d.]+ \w+ = [\d.]+ to [\d.]+ % of one CPU", text), text)
	e2e.equal("the range", (summary["probes_cpu_ns_low"], summary["probes_cpu_ns_high"], summary["probes_of_real_code"]),
	          (events * 110.0, events * 165.0, True))
	for impossible in ({"other": {"low": 3.0, "high": 2.0}}, {"other": {"low": -1, "high": 2}}, {"syscall": {"low": 1, "high": 2}}):
		e2e.expect(said(cost, cost, impossible)[0].endswith(" (loops)"), f"{impossible} is used")


@e2e.longer
def of_real_code():
	"""doctor --calibrate measures and keeps; recordings print a range then, with probes like those and no others."""
	directory = pathlib.Path(os.environ["MONITOR_FACTORS"])
	for _ in range(2):
		done = subprocess.run([e2e.monitor, "doctor", "--calibrate", "--quick", "--json"], capture_output=True, text=True, check=False)
		if done.returncode == 0:
			break
		e2e.expect("less else runs" in done.stderr and not directory.exists(), done.stderr)
	else:
		e2e.leave_out("factors of real code", "this machine is too busy to measure them")
		return
	found = json.loads(done.stdout)
	e2e.equal("the file", found["file"], str(directory / "factors.json"))
	e2e.expect({"read small files", "fork", "compute"} <= {load["load"] for load in found["loads"]}, f"{found}")
	for load in found["loads"]:
		e2e.expect(load["rounds"] >= 3 and load["events"] > 100 and load["low_ns"] <= load["measured_ns"] <= load["high_ns"], f"{load}")
	e2e.expect(all(0 < factor["low"] <= factor["high"] for factor in found["factors"].values()), f"{found}")

	def factors_and_note(*options):
		trace, calibration = again("real", *options)
		return calibration.get("factors"), trace.errors

	path = pathlib.Path(found["file"])
	factors, note = factors_and_note()
	e2e.equal("stored in the recording", factors, found["factors"])
	e2e.expect("--calibrate" not in note, note)
	e2e.equal("of probes that filter", factors_and_note("-p", "cmd")[0], None)
	whole = path.read_text(encoding="utf-8")
	path.write_text(whole.replace('"monitor ', '"other '), encoding="utf-8")
	e2e.equal("of another key", (factors_and_note()[0], "doctor" in note), (None, False))
	path.write_text(whole[:100], encoding="utf-8")
	factors, note = factors_and_note()
	e2e.expect(factors is None and note.count("is damaged") == 1, note)
	path.write_text(whole, encoding="utf-8")
	path.chmod(0o606)
	factors, note = factors_and_note()
	e2e.expect(factors is None and note.count("by others") == 1, note)
	path.unlink()


def plan(*arguments, code=0):
	done = subprocess.run([e2e.monitor, "plan", *arguments], capture_output=True, text=True, check=False)
	e2e.equal(f"exit code of plan {' '.join(arguments)}", done.returncode, code)
	return done


def of_a_command():
	"""plan -- CMD: a command that ends runs in pairs, what it prints is dropped; what cannot be tried is one sentence."""
	done = plan("-d", "0.1", "--json", "--", "sh", "-c", "echo said; i=0; while [ $i -lt 300 ]; do i=$((i+1)); cd .; done")
	found = json.loads(done.stdout)
	e2e.expect(found["how"] == "runs" and found["pairs"] >= 3 and found["cpu_ns"] > 0, f"{found}")
	e2e.expect(found["low_percent"] <= found["percent"] <= found["high_percent"], f"{found}")
	e2e.expect("pairs of runs" in done.stderr, done.stderr)
	for arguments, what in ((("-d", "0.1", "--", "/no/such/program"), "cannot run /no/such/program"), (("one", "two"), "-d SECONDS"),
	                        (("--", "/no/such/program"), "cannot run /no/such/program")):
		e2e.expect(what in plan(*arguments, code=1).stderr, f"{arguments}")


@e2e.longer
def of_commands_that_go_on():
	"""One is measured in phases, by whatever advances: reads, forks, its own computing. Of one that sleeps nothing is known."""
	for name, script in (("reads", "while :; do cat /etc/passwd /etc/group; done"), ("forks", "while :; do (:); done"), ("computes", "while :; do :; done")):
		found = json.loads(plan("-d", "3", "--json", "--", "sh", "-c", script).stdout)
		if found["how"] == "loops":
			e2e.leave_out(f"phases of a program that {name}", "it got too little of a CPU")
			continue
		e2e.expect(found["pairs"] > 8 and found["low_percent"] <= found["high_percent"], f"{name}: {found}")
	found = json.loads(plan("-d", "1", "--json", "--", "sleep", "60").stdout)
	e2e.expect(found["how"] == "loops" and found["low_percent"] is None and "CPU time" in found["unknown"], f"{found}")
	text = plan("-d", "1", "-e", "syscall", "-p", "cmd", "--", "sh", "-c", "while :; do cd .; done").stdout
	e2e.expect(re.fullmatch(r"probes ([\d.]+ to [\d.]+ % of CMD's CPU time \(A/B, \d+ pairs(; \d+ in which events were lost left out)?\)|at least [\d.]+ % of CMD's CPU time \(loops(;.*)?\))\n", text), text)


e2e.need_recording()
e2e.main(calibrated, keeps, contradicts, leaves_the_cpu, of_options, judged, of_real_code, of_a_command, of_commands_that_go_on)
