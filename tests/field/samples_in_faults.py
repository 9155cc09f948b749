#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Samples within page faults are the kernel's (perf: of 220 samples 197), also where they are only counted, and without a
calibration user time says what else it includes."""
import sys

import e2e


def kernel_share(samples):
	return 100 * samples["kernel"] / max(samples["kernel"] + samples["user"], 1)


def samples():
	program = e2e.compiled("samples_in_faults.c")
	trace = e2e.record("samples", "-e", "fault", "--sample-every", "2ms", command=(program,))
	told = e2e.values(trace.output)["kernel_percent"]
	rows = trace.rows("samples", process="samples_in_faul")
	found = {"user": sum(row["user"] for row in rows), "kernel": sum(row["kernel"] for row in rows)}
	e2e.expect(found["kernel"] > 100 and abs(kernel_share(found) - told) < 15, f"{found}, by getrusage {told} % in the kernel")
	counted = e2e.record("counts", "-p", "cmd", "--sample-every", "2ms", "--no-tokens", "--count", 'user=doing == "user" and thread == "samples_in_faul"',
	                     "--count", 'kernel=doing == "kernel" and thread == "samples_in_faul"', command=(program,))
	told = e2e.values(counted.output)["kernel_percent"]
	numbers = {row["name"]: row["count"] for row in counted.rows("counts")}
	e2e.expect(numbers["kernel"] > 100 and abs(kernel_share(numbers) - told) < 15, f"counted {numbers}, by getrusage {told} %")


def of_a_trigger():
	program = e2e.compiled("samples_in_faults.c")
	ticks = f"exec {sys.executable} -c 'import os, time\nwhile True:\n\ttime.sleep(0.003)\n\tos.getppid()'"
	trace = e2e.record("triggered", "-e", "fault,syscall", "--trigger", 'name == "sys_enter" and id == "getppid" => sample',
	                   command=("sh", "-c", f"({ticks}) & {program}; kill $!"))
	told = e2e.values(trace.output)["kernel_percent"]
	rows = trace.rows("samples", process="samples_in_faul")
	found = {"user": sum(row["user"] for row in rows), "kernel": sum(row["kernel"] for row in rows)}
	e2e.expect(found["kernel"] > 100 and abs(kernel_share(found) - told) < 15, f"a trigger's samples: {found}, by getrusage {told} % in the kernel")


def calibration():
	trace = e2e.record("uncalibrated", command=("true",))
	e2e.expect(trace.report()["summary"]["user_has_edges"], "nothing says that user time has the edges of calls")
	text = e2e.run(e2e.monitor, "report", trace.directory).stdout
	e2e.expect("user time includes the kernel's path" in text, "the report does not say so")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(samples, of_a_trigger, calibration)
