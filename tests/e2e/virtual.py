#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitor report --virtual on real recordings: what it takes away is what the events cost, sleeps keep their length, and it
refuses with a sentence. What an event costs is given by the test, so that the machine does not matter; how near the
figures come to runs that nobody records is measured by tools/bench virtual."""
import csv
import io
import json

import e2e

FAMILIES = ("syscall", "sched", "fault")
TIMES = ("cpu", "waiting", "blocked")


def calibrate(trace, ns, end=None):
	"""As if the calibration had found this cost, and nobody else had recorded meanwhile, which adds no event to this trace."""
	def found(of):
		return {family: {"low": of, "median": of, "high": of, "off_difference": 0.01, "rounds": 22} for family in FAMILIES}

	path = trace.directory / ".monitor/recording.json"
	recording = json.loads(path.read_text(encoding="utf-8"))
	recording["calibration"] = {"start": found(ns), "end": found(end or ns)}
	recording.pop("other_recorders", None)
	path.write_text(json.dumps(recording), encoding="utf-8")


def virtual(trace):
	return trace.report("--virtual")


def command_row(trace):
	pid = trace.recording()["command_pid"]
	return next(row for row in virtual(trace)["rows"] if row["pid"] == pid)


def complete(make):
	"""A recording that virtual times are of: what is lost or missed has an unknown cost."""
	def incomplete(trace):
		lost, misses = (trace.summary()[what] for what in ("lost", "misses"))
		return (lost or misses) and f"{lost} events were lost and {misses} met a probe that ran"

	return e2e.until_undisturbed(make, incomplete, 5)


def rows():
	global TRACE
	TRACE = complete(lambda: e2e.record_workload("trace", "mixed", 300))
	calibrate(TRACE, 20.0)
	report, plain = virtual(TRACE), {row["pid"]: row for row in TRACE.report()["rows"]}
	recorder = TRACE.recording()["recorder"]["pid"]
	e2e.expect(recorder in plain and recorder not in {row["pid"] for row in report["rows"]}, "the recorder has a row")
	known = 0
	for row in report["rows"]:
		for what in TIMES if row["cpu_ns"] is not None else ():
			low, value, high = (row[f"virtual_{what}_{name}ns"] for name in ("low_", "", "high_"))
			e2e.equal(f"measured {what} of {row['process']}", row[f"{what}_ns"], plain[row["pid"]][f"{what}_ns"])
			if value is not None:
				known += 1
				e2e.expect(low <= value <= high, f"{what} of {row['process']}: {value} is not from {low} to {high}")
		if row["virtual_cpu_ns"] is not None:
			e2e.expect(row["virtual_cpu_ns"] <= row["cpu_ns"], f"{row['process']} has more CPU time without measuring")
	e2e.expect(known > 20, f"only {known} times are known")
	command = report["virtual"]["command"]
	for what in (*TIMES, "elapsed"):
		e2e.expect(command[what]["low_ns"] <= command[what]["virtual_ns"] <= command[what]["high_ns"], f"{what}: {command[what]}")
	e2e.expect(command["elapsed"]["virtual_ns"] < command["elapsed"]["measured_ns"] < report["summary"]["wall_ns"] * 1.01, f"{command}")
	e2e.expect(report["virtual"]["range"], "the range has no reason")


def formats():
	report = virtual(TRACE)["rows"]
	table = list(csv.reader(io.StringIO(e2e.run(e2e.monitor, "report", "--csv", "--virtual", TRACE.directory).stdout)))
	e2e.equal("columns of CSV", table[0], list(report[0]))
	e2e.equal("rows of CSV", len(table) - 1, len(report))
	text = e2e.run(e2e.monitor, "report", TRACE.directory, "--virtual", "--by", "command").stdout
	for word in ("CPU time", ", without measuring ", "range", " to ", "probes%", "virtual: as if nobody had measured"):
		e2e.expect(word in text, f"the text has no {word}")
	for by in ("thread", "command", "cgroup"):
		e2e.expect(TRACE.rows("--virtual", "--by", by), f"no rows by {by}")
	sorted_rows = TRACE.report("--virtual", "--sort", "virtual_cpu_ns")["rows"]
	values = [row["virtual_cpu_ns"] or 0 for row in sorted_rows]
	e2e.equal("sorted", values, sorted(values, reverse=True))


def costs():
	"""A loop of calls pays for its events, at a given cost; a high one is refused."""
	trace = complete(lambda: e2e.record_workload("calls", "getppid", 20000, "-e", "sched,syscall"))
	calls = 2 * trace.values.get("calls", 20000)
	removed = []
	for ns in (1.0, 2.0):
		calibrate(trace, ns)
		row = command_row(trace)
		removed.append(row["cpu_ns"] - row["virtual_cpu_ns"])
	e2e.expect(calls * 1.0 <= removed[0] <= calls * 1.4, f"{calls} events of 1 ns took {removed[0]} ns")
	e2e.expect(abs(removed[1] / removed[0] - 2) < 0.05, f"at twice the cost {removed[1]}, not twice {removed[0]}")
	calibrate(trace, 1e5)
	row = command_row(trace)
	e2e.expect(row["virtual_cpu_ns"] is None and row["overhead_percent"] > 40, f"more than there is: {row}")
	text = e2e.run(e2e.monitor, "report", trace.directory, "--virtual").stdout
	e2e.expect("without measuring unknown" in text and "More than 40 % of the CPU time" in text, text)


def sleeps():
	"""A timer keeps its length, whatever the probes cost."""
	trace = complete(lambda: e2e.record("sleep", "--force", command=("sleep", "0.3")))
	calibrate(trace, 500.0)
	command = virtual(trace)["virtual"]["command"]
	e2e.expect(0.299e9 < command["blocked"]["virtual_ns"] <= command["blocked"]["measured_ns"], f"{command}")
	if command["elapsed"] and command["elapsed"]["virtual_ns"]:
		e2e.expect(command["elapsed"]["virtual_ns"] > 0.3e9, f"{command}")


def refused():
	def expect(trace, sentence, *options, exit_code=1):
		done = e2e.run(e2e.monitor, "report", trace.directory, "--virtual", *options, exit_code=exit_code)
		e2e.expect(sentence in done.stderr and len(done.stderr.strip().splitlines()) <= 2 and not done.stdout, f"{options}: {done.stderr}{done.stdout[:200]}")

	expect(complete(lambda: e2e.record("plain", "--force", command=("true",))), "record without --no-calibration")
	trace = complete(lambda: e2e.record("filtered", "--force", "-p", "cmd", command=("true",)))
	calibrate(trace, 50.0)
	expect(trace, "record without -p")
	trace = TRACE.copy("beside")
	path = trace.directory / ".monitor/recording.json"
	path.write_text(json.dumps(trace.recording() | {"other_recorders": [1]}), encoding="utf-8")
	expect(trace, "another recording ran too")
	trace = TRACE.copy("disagreeing")
	calibrate(trace, 50.0, 90.0)
	expect(trace, "calibrations at the start and at the end differ")
	for options, sentence in ((("--from", "0.001"), "leave out --from"), (("--cpu", "0"), "leave out --from"), (("--by", "cpu"), "leave out --by cpu"),
	                          (("--plot",), "leave out --plot"), (("syscalls",), "needs the report cpu")):
		expect(TRACE, sentence, *options, exit_code=2)
	trace = TRACE.copy("cut")
	stream = next(path for path in sorted(trace.directory.glob("kernel_cpu*")) if path.stat().st_size > 8192)
	data = stream.read_bytes()
	stream.write_bytes(data[:4096] + data[8192:])
	expect(trace, "missing or damaged")


e2e.need_recording()
e2e.main(rows, formats, costs, sleeps, refused)
