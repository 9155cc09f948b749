#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""With few file descriptors, or files that may not grow, a recorder and a reader do their work or say why not: nothing dies
of a signal, hangs, or leaves half a trace that passes for a whole one."""
import resource

import e2e


def limited(what, number, *command):
	return e2e.run(*command, exit_code=None, timeout=60, preexec_fn=lambda: resource.setrlimit(what, (number, number)))


def expect_all_or_a_word(name, done, trace):
	e2e.expect(done.returncode in (0, 1, 2, 125), f"{name}: exit code {done.returncode}: {done.stderr[-500:]}")
	e2e.expect("terminate" not in done.stderr, f"{name}: {done.stderr[-500:]}")
	if done.returncode == 0:
		trace.expect_sound()
	else:
		e2e.expect(done.stderr.startswith("monitor: ") or "\nmonitor: " in done.stderr, f"{name} says not why: {done.stderr[-500:]}")
	return done.returncode == 0


def recorders():
	held = {}
	for descriptors in (8, 40, 160):
		for kind, *options in (("plain",), ("stacks", "--stacks"), ("statistics", "--statistics", "1s")):
			trace = e2e.Trace(e2e.work / f"{kind}{descriptors}")
			done = limited(resource.RLIMIT_NOFILE, descriptors, e2e.monitor, "record", "--no-calibration", *options, "-o", trace.directory, "-d", "0.3")
			held[kind, descriptors] = expect_all_or_a_word(f"{kind}, {descriptors} descriptors", done, trace)
	e2e.expect(not held["plain", 8] and held["plain", 160], f"which recorded: {held}")


def readers():
	trace = e2e.record("read", "-p", "cmd", command=("true",))
	for descriptors in (5, 8, 14):
		for name, *more in (("list",), ("check",), ("report",), ("convert", "--to", "perfetto", "-o", e2e.work / "p")):
			done = limited(resource.RLIMIT_NOFILE, descriptors, e2e.reader, name, trace.directory, *more)
			e2e.expect(done.returncode in (0, 1, 2, 127), f"{name}, {descriptors} descriptors: exit code {done.returncode}: {done.stderr[-500:]}")


def short_files():
	for blocks in (0, 100):
		trace = e2e.Trace(e2e.work / f"short{blocks}")
		done = limited(resource.RLIMIT_FSIZE, blocks * 512, e2e.monitor, "record", "--no-calibration", "-o", trace.directory, "--",
		               e2e.workload, "getppid", 20000)
		e2e.expect(not expect_all_or_a_word(f"files of {blocks} blocks", done, trace), f"all is in files of {blocks} blocks")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(recorders, readers, short_files)
