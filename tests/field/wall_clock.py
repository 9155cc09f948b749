#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times are those of the clock on the wall: each of 40 calls lies between two readings of it by the program, in SQL and in
a converted trace, and --from and --to take times of day of any zone (uftrace issue 1916, dial9 issue 202, strace issue
328, Go issue 69869)."""
import datetime
import os
import re
import shutil
import sys
import time

import e2e

MARKS = """
import os, time
for i in range(40):
	before = time.time_ns()
	try:
		os.rmdir("/nonexistent")
	except OSError:
		pass
	print(before, time.time_ns())
	time.sleep(0.02)
"""
SLACK_NS = 2000


def outside(marks, times):
	return [max(before - at, at - after, 0) for (before, after), at in zip(marks, times)]


def recorded():
	global TRACE, MARKED
	TRACE = e2e.record("marks", "-p", "cmd", command=(sys.executable, "-c", MARKS))
	MARKED = [tuple(map(int, line.split())) for line in TRACE.output.splitlines()]
	times = [row["wall_ns"] for row in TRACE.query("SELECT wall_ns FROM sys_enter WHERE id_label = 'rmdir' ORDER BY time_ns")]
	e2e.equal("calls", len(times), 40)
	e2e.expect(max(outside(MARKED, times)) <= SLACK_NS, f"outside of the readings (ns): {outside(MARKED, times)}")
	TRACE.expect_true()


def listed(zone, *options):
	done = e2e.run(e2e.reader, "list", TRACE.directory, *options, "--event", "sys_enter", "--filter", 'id == "rmdir"', env={**os.environ, "TZ": zone})
	return len(done.stdout.splitlines())


def by_time_of_day():
	middle = MARKED[20][0] / 1e9
	for zone in ("UTC", "Asia/Kolkata", "America/St_Johns"):
		os.environ["TZ"] = zone
		time.tzset()
		first, last = (datetime.datetime.fromtimestamp(at) for at in (middle - 0.0005, MARKED[20][1] / 1e9 + 0.0005))
		e2e.equal(f"calls from {first} to {last} in {zone}", listed(zone, "--from", f"{first:%H:%M:%S.%f}", "--to", f"{last:%H:%M:%S.%f}"), 1)
		later = sum(before / 1e9 >= int(middle) for before, _ in MARKED)
		e2e.equal(f"calls from the second of {first} in {zone}", listed(zone, "--from", f"{datetime.datetime.fromtimestamp(middle):%Y-%m-%d %H:%M:%S}"), later)


def converted():
	if not shutil.which("babeltrace2"):
		e2e.leave_out("converted", "babeltrace2 is not installed")
		return
	e2e.run(e2e.reader, "convert", TRACE.directory, "--to", "lttng", "-o", e2e.work / "lttng")
	seconds = e2e.run("babeltrace2", "--clock-seconds", e2e.work / "lttng").stdout.splitlines()
	times = [int(re.match(r"\[(\d+)", line)[1]) * 10**9 + int(re.match(r"\[\d+\.(\d+)", line)[1]) for line in seconds if "syscall_entry_rmdir" in line]
	e2e.equal("calls by babeltrace2", len(times), 40)
	e2e.expect(max(outside(MARKED, times)) <= SLACK_NS, f"outside of the readings (ns): {outside(MARKED, times)}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(recorded, by_time_of_day, converted)
