#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the system may refuse: descriptors, memory, the growth of files. A sentence, an exit code, and a trace that is
marked incomplete or none at all; never a recorder that waits for ever or is killed.
"""
import json

import e2e

FAILED = 125
SECONDS = 30  # a recording that does not end


def limited(name, limit, *options, command=("true",)):
	return e2e.run("prlimit", limit, e2e.monitor, "record", "-o", e2e.work / name, *options, "--", *command,
	               exit_code=None, timeout=SECONDS)


def expect_refused(done, name, says):
	"""The last sentences name what is missing; what is left says that it is incomplete."""
	lines = done.stderr.splitlines()
	e2e.equal(f"{name}: exit code", done.returncode, FAILED)
	e2e.expect(lines and lines[0].startswith("monitor: "), f"{name}: {done.stderr!r}")
	e2e.expect(says in done.stderr, f"{name}: {done.stderr!r} does not say '{says}'")
	if (e2e.work / name).exists():
		said = json.loads((e2e.work / name / ".monitor/recording.json").read_text())
		e2e.equal(f"{name}: state", said["state"], "incomplete")


def files_that_may_not_grow():
	done = limited("file_size", "--fsize=100000", command=(e2e.workload, "getppid", 200000))
	expect_refused(done, "file_size", "File too large")
	trace = e2e.Trace(e2e.work / "file_size")
	red = trace.check()
	e2e.expect("complete" in red and "streams" not in red, f"red is {sorted(red)}")
	e2e.expect(trace.summary()["tokens"] > 1000, "nothing can be read")


def descriptors():
	"""From one to enough (a program with libraries needs a fourth one to start): a sentence each time, then a recording."""
	for number in (4, 5, 6, 7, 8, 10, 12, 16, 24, 48):
		done = limited(f"files_{number}", f"--nofile={number}", "--user-only")
		if done.returncode == 0:
			break
		expect_refused(done, f"files_{number}", "Too many open files")
	e2e.equal("with enough descriptors", done.returncode, 0)


def least_memory():
	"""The address space in MiB in which the program starts at all: its own size and that of its libraries."""
	for megabytes in range(24, 400, 4):
		if not e2e.run("prlimit", f"--as={megabytes << 20}", e2e.monitor, "--version", exit_code=None).returncode:
			return megabytes
	raise AssertionError("it does not start within 400 MiB")


def memory():
	least = least_memory()
	for megabytes in (least, 80, 160):
		name = f"memory_{megabytes}"
		done = limited(name, f"--as={megabytes << 20}")
		if done.returncode:
			expect_refused(done, name, "monitor: ")
	e2e.equal("with little memory", limited("little", f"--as={least << 20}").returncode, FAILED)


def command_is_as_it_was():
	done = e2e.record("signals", "--user-only", command=("grep", "SigIgn", "/proc/self/status"))
	e2e.equal("signals that the command ignores", done.output.split()[1].strip("0"), "")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.need_program("prlimit")
	e2e.main(files_that_may_not_grow, descriptors, memory, command_is_as_it_was)
