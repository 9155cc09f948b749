#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs in containers post events by several threads at once, whose numbers there are equal in both and are others than
the kernel's: each thread has its own activities, none is lost, and a true recording is not called false. The same in the
first namespace."""
import sys

import e2e

INSIDE = "unshare --pid --fork --mount-proc"


def containers():
	program = e2e.compiled("container_threads.c", f"-I{sys.argv[4]}/include", "-pthread")
	for name, command in (("outside", f"{program}; {program}"), ("inside", f"{INSIDE} {program} & {INSIDE} {program} & wait")):
		trace = e2e.record(name, "-p", "cmd", command=("sh", "-c", command))
		trace.expect_true()
		counts = {}
		for row in trace.rows("activities"):
			activity = row["activity"].split(":")[-1]
			counts[activity] = counts.get(activity, 0) + row["count"]
		e2e.equal(f"{name}: activities", counts, {"outer": 1600, "middle": 3200, "inner": 6400})
		e2e.equal(f"{name}: unpaired", trace.report("activities")["unpaired"]["begins"], 0)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(containers)
