#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings in a folder, and `latest` that links to the newest, as build systems and test harnesses make it: the shell's *
names one recording twice. By a link it is read once, and that is said; a copy is refused, by every way to read it."""
import json
import shutil

import e2e

FILTER = ("--filter", 'name == "sched_process_exec" and comm == "true"')
FIVE_TIMES = ("sh", "-c", "for i in 1 2 3 4 5; do /bin/true; done")


def counted(*directories):
	done = e2e.run(e2e.monitor, "stat", *directories, *FILTER, "--counts", "--json")
	return sum(row["count"] for row in json.loads(done.stdout)), done.stderr


def links():
	runs = [e2e.record(f"run{i}", "-e", "sched", command=FIVE_TIMES).directory for i in (1, 2)]
	link = e2e.work / "run-latest"
	link.symlink_to(runs[1].name)
	e2e.equal("two recordings", counted(*runs), (10, ""))
	for again in (link, runs[1], f"{runs[1]}/"):
		number, says = counted(*runs, again)
		e2e.equal(f"also {again}", number, 10)
		e2e.expect("read once" in says, f"stat with {again} says {says!r}")
	done = e2e.run(e2e.monitor, "merge", "-o", e2e.work / "all", *runs, link)
	e2e.expect("merged once" in done.stderr, f"merge says {done.stderr!r}")
	e2e.equal("merged", counted(e2e.work / "all")[0], 10)


def copies():
	runs = [e2e.work / f"run{i}" for i in (1, 2)]
	copy, other = e2e.work / "copy", e2e.work / "other"
	shutil.copytree(runs[1], copy)
	for words in (("stat", *runs, copy), ("list", *runs, copy), ("merge", "-o", other, *runs, copy), ("check", *runs, copy)):
		done = e2e.run(e2e.monitor, *words, exit_code=1)
		e2e.expect("are one recording and a copy of it" in done.stderr, f"{words[0]} with a copy says {done.stderr!r}")
	e2e.expect(not other.exists(), "merge refused a copy, and left a directory")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(links, copies)
