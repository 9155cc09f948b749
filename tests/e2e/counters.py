#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counters (record -m): software and TSC counters against the kernel's own figures and perf stat, hardware ones n/a with
their reason where there is no PMU, sums that balance whatever is lost."""
import os
import re
import shutil
import signal
import sys
import time

import e2e

source = e2e.pathlib.Path(sys.argv[4])
bound = e2e.work / "bound"
tsc = os.path.exists("/sys/bus/event_source/devices/msr/events/tsc")
COUNTERS = "faults=page-faults,clock=cpu-clock,switched=context-switches" + (",tsc=msr/tsc/" if tsc else "")


def build():
	e2e.run("gcc", "-O2", source / "examples" / "bound.c", "-o", bound)


def expect_balance(trace):
	"""check has compared every counter with what the recorder read, and all hold."""
	red = trace.check()
	e2e.expect("counters" not in red, f"counters do not balance: {trace.statements}")
	judged = [statement for statement in trace.statements if statement["id"] == "counters"]
	e2e.expect(judged and all(statement["verdict"] == "ok" or statement["verdict"] == "holds" for statement in judged),
	           f"what check says of counters: {judged}")


def ratios(trace, *options):
	return trace.report("ratios", *options)["rows"]


def total(rows, name):
	return sum(row[name] or 0 for row in rows)


def against_the_kernels_figures():
	"""The faults that were counted in a process are those that its tokens and the kernel tell; CPU time too."""
	trace = e2e.undisturbed(lambda: e2e.record("faults", "--force", "-m", COUNTERS, command=(bound, "fresh", 20)),
	                        lambda trace: {row["pid"] for row in trace.rows(process="bound")})
	expect_balance(trace)
	row, times = next(row for row in ratios(trace) if row["process"] == "bound"), trace.rows(process="bound")[0]
	e2e.expect(times["minor_faults"] > 20 * 4096, f"the load was none: {times}")
	e2e.equal("faults", row["faults"], times["minor_faults"] + times["major_faults"])
	e2e.expect(abs(row["clock"] / times["cpu_ns"] - 1) < 0.02, f"cpu-clock {row['clock']} ns of {times['cpu_ns']} ns")
	e2e.expect(abs(row["switched"] - times["voluntary"] - times["involuntary"]) <= 1, f"switches: {row}, {times}")
	if tsc:
		hz = float(re.search(r"freq = (\d+)", (trace.directory / "metadata").read_text())[1])
		e2e.expect(abs(row["tsc"] / (row["counted_ns"] * hz / 1e9) - 1) < 0.001, f"the TSC, at {hz} Hz: {row}")
	for row in ratios(trace):
		e2e.expect(all(row[f"{name}_counting_percent"] in (100, None) for name in ("faults", "clock", "switched")),
		           f"software counters are always on: {row}")


def against_perf_stat():
	"""perf stat of the whole machine within the recording: what it counts is in our sums."""
	e2e.need_program("perf")
	said = e2e.work / "perf.stat"
	trace = e2e.record("perf", "--force", "-m", COUNTERS, command=(
		"perf", "stat", "-a", "-x,", "-o", said, "-e", "page-faults,context-switches,cpu-clock", "--", bound, "fresh", 100))  # long, beside the start of perf
	expect_balance(trace)
	counted = {line.split(",")[2]: float(line.split(",")[0]) for line in said.read_text().splitlines()
	           if line.count(",") > 3}
	rows = ratios(trace)
	for name, event, unit, tolerance in (("faults", "page-faults", 1, 0.1), ("switched", "context-switches", 1, 1.5),
	                                     ("clock", "cpu-clock", 1e6, 0.5)):
		ours, theirs = total(rows, name), counted[event] * unit
		print(f"{name}: {ours:.0f}, perf stat {theirs:.0f}")
		e2e.expect(theirs * 0.99 <= ours <= theirs * (1 + tolerance) + 3000,
		           f"{name}: {ours}, perf stat counted {theirs} within")


def without_pmu():
	"""Hardware groups on a machine without PMU: a useful report, reasons, exit code 0."""
	if any(os.path.exists(f"/sys/bus/event_source/devices/{name}") for name in ("cpu", "cpu_core", "armv8_pmuv3_0")):
		print("not tried: this machine has a PMU")
		return
	trace = e2e.record("degraded", "--force", "-m", "cpu,cache", command=(bound, "kept", 5))
	expect_balance(trace)
	e2e.expect("no PMU" in trace.errors, f"what record says: {trace.errors}")
	states = {row["name"]: row for row in trace.report("ratios")["measurements"]}
	e2e.equal("IPC", (states["IPC"]["state"], "no PMU" in states["IPC"]["reason"]), ("n/a", True))
	e2e.equal("faults", states["faults"]["state"], "counted")
	e2e.expect(all(row["IPC"] is None for row in ratios(trace)), "what was not counted is shown as a number")
	text = e2e.run(e2e.monitor, "report", trace.directory, "ratios").stdout
	e2e.expect("n/a: " in text and "no PMU" in text, f"the report does not say why: {text}")


def stretches():
	"""--every: the parts add up to the whole, and a thread that runs on has readings of its own."""
	trace = e2e.record("every", "--force", "-m", COUNTERS, "--every", "10ms", command=(bound, "fresh", 40))
	expect_balance(trace)
	whole, parts = ratios(trace), ratios(trace, "--every", "50ms")
	text = e2e.run(e2e.monitor, "report", trace.directory, "ratios", "--every", "50ms", "--from", trace.second_of_start()).stdout
	e2e.expect(re.search(rf"^{e2e.TIME_OF_DAY} ", text, re.M), f"no time of day in {text[:500]}")
	for name in ("faults", "clock"):
		e2e.equal(f"{name} of all parts", total(parts, name), total(whole, name))
	seen = [row for row in parts if row["process"] == "bound" and row["faults"]]
	length = max(row["from_ns"] for row in seen) - min(row["from_ns"] for row in seen)
	# In none of them can it have more than 50 ms of CPU time.
	e2e.expect(len(seen) >= trace.rows(process="bound")[0]["cpu_ns"] / 50e6 * 0.7, f"{len(seen)} of the parts of {length / 1e6:.0f} ms have readings")
	ms = 1_000_000
	listed = {event["time_ns"] // ms for event in trace.events("--event", "counters")}
	told = {row["from_ns"] // ms for row in ratios(trace, "--every", "1ms")}
	elsewhere = {number for number in told - listed if number < max(listed)}  # after them the recorder reads once more
	e2e.expect(len(elsewhere) <= len(told) // 50, f"{len(elsewhere)} of {len(told)} parts are not where `list` has a reading")


def as_ratios():
	"""--ratio-format: a constant ratio comes out within the format's error, what is too small is no 0, and it is small."""
	if not tsc:
		print("not tried: there is no msr/tsc/")
		return
	sizes = {}
	for form, error in (("exact", 1e-3), ("rems32", 1.25 / 8192), ("rems16", 1.25 / 32)):
		trace = e2e.record(form, "--force", "--ratio-format", form, "-e", "sched", "-m",
		                   "share=cpu-clock/msr/tsc/ %,major=major-faults/page-faults %,faults=page-faults",
		                   command=(bound, "fresh", 10))
		e2e.expect("counters" not in trace.check(), f"{form}: {trace.statements}")
		hz = float(re.search(r"freq = (\d+)", (trace.directory / "metadata").read_text())[1])
		row = next(row for row in ratios(trace) if row["process"] == "bound")
		e2e.expect(abs(row["share"] / 100 - 1e9 / hz) < error, f"{form}: {row['share']} %, not {1e11 / hz} %")
		none = {"exact": (0,), "rems32": (0, "< 0.012 %"), "rems16": ("< 3.1 %",)}[form]  # by the partitions' lengths
		e2e.expect(row["major"] in none, f"{form}: a ratio of 0 in 40,960: {row['major']}")
		states = {each["name"]: each for each in trace.report("ratios")["measurements"]}
		e2e.equal(f"{form}: state of a sum", states["faults"]["state"], "counted" if form == "exact" else "n/a")
		classes = {each["name"]: each for each in trace.recording()["classes"]}
		sizes[form] = len(trace.events("--event", "counters" if form == "exact" else "ratios"))
		e2e.expect(("ratios" in classes) == (form != "exact"), f"{form}: {classes.keys()}")
	e2e.expect(all(sizes.values()), f"tokens: {sizes}")
	refused = e2e.run(e2e.monitor, "record", "-o", e2e.work / "refused", "--ratio-format", "rems16", "-m",
	                  "faults=page-faults", "--", "true", exit_code=125)
	e2e.expect("ratios of two events" in refused.stderr, refused.stderr)


@e2e.longer
def behind_losses():
	"""What is counted while tokens are lost is unknown, and nothing is missing."""
	recorder = e2e.Recorder("losses", "-m", COUNTERS, "--buffer", "256K", "-e", "sched,syscall",
	                        command=(e2e.workload, "getppid", 3_000_000)).wait_until_recording()
	time.sleep(0.2)
	recorder.send(signal.SIGSTOP)
	time.sleep(0.7)
	recorder.send(signal.SIGCONT)
	trace = recorder.end(number=None)
	e2e.expect(trace.summary()["lost"] > 10_000, f"the losses were none: {trace.summary()}")
	expect_balance(trace)
	unknown = [row for row in ratios(trace) if row["process"] == "unknown"]
	e2e.expect(unknown and unknown[0]["clock"] > 0.3e9, f"what lies after losses: {unknown}")


def errors():
	for wishes, part in (("cyclse", "unknown group"), ("x=cycles/", "-m"), ("cpu", None), ("x=nothing-at-all", "nothing-at-all")):
		done = e2e.run(e2e.monitor, "record", "-o", e2e.work / "refused", "-m", wishes, "--", "true",
		               exit_code=None)
		if part is None:
			e2e.equal(f"-m {wishes}", done.returncode, 0)
			shutil.rmtree(e2e.work / "refused")
		else:
			e2e.expect(done.returncode == 125 and part in done.stderr, f"-m {wishes}: {done.returncode}: {done.stderr}")
	plain = e2e.record("plain", "--force", command=("true",))
	refused = e2e.run(e2e.monitor, "report", plain.directory, "ratios", exit_code=1)
	e2e.expect("-m" in refused.stderr, f"a report whose events were not recorded: {refused.stderr}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(build, against_the_kernels_figures, against_perf_stat, without_pmu, stretches, as_ratios, behind_losses, errors)
