#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events from every place that a program has, in programs of every kind: none is lost, and the program ends as it does alone
(async-profiler issue 1317, crystal issue 17186: musl and static programs; uftrace issue 1054: processes made by clone; LTTng-UST's
users: events of short threads and of the end). What a forked child posts before it has rings of its own is counted as lost."""
import pathlib
import re
import shutil
import sys

import e2e

KERNEL_HEADERS = ("-idirafter", "/usr/include", "-idirafter", "/usr/include/x86_64-linux-gnu")
KINDS = {
    "gcc": ("gcc",), "static": ("gcc", "-static"), "static-pie": ("gcc", "-static-pie"), "clang": ("clang", "-O3"),
    "address": ("gcc", "-fsanitize=address"), "undefined": ("gcc", "-fsanitize=undefined"),
    "thread": ("gcc", "-fsanitize=thread", "-fPIE", "-pie"), "musl": ("musl-gcc", *KERNEL_HEADERS), "musl-static": ("musl-gcc", "-static", *KERNEL_HEADERS)}
THREADS = 400


def every_place():
	source = pathlib.Path(__file__).with_suffix(".c")
	for kind, (compiler, *options) in KINDS.items():
		if not shutil.which(compiler):
			e2e.leave_out(kind, f"{compiler} is not installed")
			continue
		program = e2e.work / kind
		e2e.run(compiler, "-std=gnu11", "-O1", "-g", "-w", f"-I{sys.argv[4]}/include", *options, source, "-o", program, "-pthread")
		alone = e2e.run(program, THREADS, exit_code=None)
		trace = e2e.record(f"{kind}.trace", "--user-only", command=(program, THREADS), exit_code=alone.returncode)
		if alone.returncode:
			e2e.leave_out(kind, f"the program alone ends with {alone.returncode}")
			continue
		found = {row["place"]: row["n"] for row in trace.query("SELECT place, count(*) AS n FROM mark GROUP BY place")}
		e2e.equal(f"{kind}: before main, at exit, in a destructor, of threads that end, in signals", [found.get(place) for place in range(1, 6)], [1, 1, 1, THREADS, 100])
		jobs = [row for row in trace.rows("activities", "--by", "thread") if row["activity"] == "job"]
		e2e.equal(f"{kind}: threads with an activity, and activities", (len(jobs), sum(row["count"] for row in jobs)), (THREADS, THREADS))
		lost = sum(map(int, re.findall(r"own count (\d+)", trace.errors)))
		e2e.expect(found.get(6, 0) + lost >= 200, f"{kind}: of 200 events of children {found.get(6, 0)}, said to be lost: {lost}")
		trace.expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(every_place)
