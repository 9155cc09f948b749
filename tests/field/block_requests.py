#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests of a disk: as many as the device's own counters say, and those of direct reads and writes are issued by the
program that made them, with their sizes (bcc issues 826, 1077 and 3099)."""
import os
import sys

import e2e

DIRECT = """
import mmap, os, sys
def requests():
	words = open(sys.argv[2]).read().split()
	return int(words[0]) + int(words[4])
start = requests()
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
block = mmap.mmap(-1, 65536)
open("/proc/self/comm", "w").write("direct_io")
os.posix_fallocate(file, 0, 100 * len(block))
os.fsync(file)
for i in range(100):
	os.pwrite(file, block, i * len(block))
for i in range(100):
	os.preadv(file, [block], i * len(block))
os.fsync(file)
print(f"inside={requests() - start}")
"""


def device():
	number = os.stat(e2e.work).st_dev
	found = e2e.pathlib.Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat")
	if not found.exists():
		e2e.skip("the test's directory is on no block device")
	return found.resolve()


def direct():
	stat = device()
	os.sync()
	counts = lambda: sum(int(stat.read_text().split()[at]) for at in (0, 4))
	before = counts()
	trace = e2e.record("requests", "-e", "sched,syscall,block", command=(sys.executable, "-c", DIRECT, e2e.work / "data", stat))
	around = counts() - before
	(issued,) = trace.query("SELECT count(*) AS n, sum(nr_bytes = 65536) AS large, sum(thread = 'direct_io') AS own FROM block_rq_issue")
	# A few may be issued by the kernel's threads for the program.
	e2e.expect(180 <= issued["own"] < 260, f"requests of the program: {issued}, not 200 and a few")
	e2e.expect(issued["large"] >= 200, f"requests of 64 KiB: {issued}")
	e2e.expect(e2e.values(trace.output)["inside"] <= issued["n"] <= around, f"{issued}; the device counts {trace.output} and around {around}")
	number = os.stat(e2e.work).st_dev
	lines = [line for line in e2e.run(e2e.monitor, "list", trace.directory, "--event", "block_rq_issue").stdout.splitlines() if "direct_io" in line]
	operations = [sum(f" op={name} " in line for line in lines) for name in ("read", "write")]
	e2e.expect(all(count >= 80 for count in operations), f"names of operations: {operations} reads and writes; {lines[:2]}")
	disk = f" dev={os.major(number)}:"
	e2e.expect(all(disk in line for line in lines), f"no{disk} in {lines[:2]}")
	rows = e2e.run(e2e.monitor, "stat", trace.directory, "--table", "block", "--csv").stdout
	e2e.expect(f"{os.major(number)}:" in rows and "write" in rows, f"rows of the table block: {rows}")
	trace.expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(direct)
