#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files with holes: what copies a trace copies no holes, and readers pass over all of them, also those after a thousand. An
attack on what reads and copies sparse files.
"""
import os
import shutil

import e2e

BLOCK = 4096


def used(directory):
	return sum(path.stat().st_blocks * 512 for path in directory.rglob("*") if path.is_file())


def copies():
	trace = e2e.record("trace", "-e", "sched", "-d", "0.2").directory
	os.truncate(trace / "kernel_cpu0", 3 << 30)
	before, archive = used(trace), e2e.work / "archive"
	e2e.run(e2e.monitor, "archive", "--archive", archive, "add", trace, "web/a/run1")
	e2e.run(e2e.monitor, "merge", "--copy", "-o", e2e.work / "merged", trace, e2e.record("other", "-e", "sched", "-d", "0.1").directory, exit_code=None)
	for copied in (archive, e2e.work / "merged"):
		e2e.expect(used(copied) < 2 * before + (10 << 20), f"{copied}: {used(copied)} bytes for a trace that takes {before}")
		copies_of = [path for path in copied.rglob("kernel_cpu0") if path.stat().st_size == 3 << 30]
		e2e.equal(f"{copied}: the copy is as long, and as full", [path.read_bytes()[:BLOCK] for path in copies_of], [(trace / "kernel_cpu0").open("rb").read(BLOCK)])
		shutil.rmtree(copied)


def many():
	trace = e2e.record("many", "-e", "sched", "-d", "0.1").directory
	stream = trace / "kernel_cpu0"
	block = stream.read_bytes()[:BLOCK]
	with open(stream, "wb") as file:
		for i in range(1101):
			file.seek(i * 4 * BLOCK)
			file.write(block)
		file.truncate(200 << 30)
	for verb in ("list", "check", "report", "info", "stat"):
		done = e2e.run(e2e.monitor, verb, trace, exit_code=1, timeout=60)
		e2e.expect("the file has a hole" in done.stdout + done.stderr, f"{verb}: {done.stderr[-300:]}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(copies, many)
