#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings in a folder, and `latest` that links to the newest, as build systems and test harnesses make it: the shell's *
names one recording twice. What is read twice is said, by every way to read it."""
import json
import shutil

import e2e

FILTER = ("--filter", 'name == "sched_process_exec" and comm == "true"')
SAYS = "are one recording"


def counted(*directories):
	done = e2e.run(e2e.monitor, "stat", *directories, *FILTER, "--counts", "--json")
	return sum(row["count"] for row in json.loads(done.stdout)), done.stderr


def twice():
	runs = [e2e.record(f"run{i}", "-e", "sched", command=("sh", "-c", "for i in 1 2 3 4 5; do /bin/true; done")).directory
	        for i in (1, 2)]
	link, copy = e2e.work / "run-latest", e2e.work / "copy"
	link.symlink_to(runs[1].name)
	shutil.copytree(runs[1], copy)
	number, says = counted(*runs)
	e2e.expect(number == 10 and SAYS not in says, f"two recordings, each once: {number} execs, {says!r}")
	for other in (link, copy):
		e2e.expect(SAYS in counted(runs[1], other)[1], f"stat of a recording and {other.name} says nothing of it")
		merged = e2e.work / f"all-{other.name}"
		done = e2e.run(e2e.monitor, "merge", "-o", merged, *runs, other)
		e2e.expect(SAYS in done.stderr, f"merge with {other.name} says {done.stderr!r}")
		e2e.expect(SAYS in e2e.run(e2e.monitor, "check", merged).stderr, f"check of what was merged with {other.name} says nothing of it")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(twice)
