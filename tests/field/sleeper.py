#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Threads that slept when the recording began, or all the time: their sleep is blocked time, and `offcpu` of a selection
shows it (bcc issue 558, ddprof issue 472)."""
import subprocess
import sys
import time

import e2e

WAKES = "import sys, time; sys.stdin.readline(); time.sleep(300)"


def asleep():
	always = subprocess.Popen(["sleep", "300"])
	once = subprocess.Popen([sys.executable, "-S", "-c", WAKES], stdin=subprocess.PIPE, text=True)
	try:
		time.sleep(0.3)
		recording = e2e.Recorder("sleeps").wait_until_recording()
		time.sleep(0.5)
		print("now", file=once.stdin, flush=True)
		time.sleep(0.5)
		trace = recording.end()
	finally:
		for each in (always, once):
			each.kill()
			each.wait()
	window = trace.report()["summary"]["window"]
	width = window["end_ns"] - window["begin_ns"]
	(row,) = trace.rows(pid=always.pid)
	e2e.near("blocked time of what slept all the time", row["blocked_ns"], width, slack=1e7)
	selected = trace.report("offcpu", "--pid", always.pid)["rows"]
	e2e.near("its row in offcpu", sum(row["total_ns"] for row in selected), width, slack=1e7)
	e2e.equal("its row without a selection", [row for row in trace.rows("offcpu") if row["tid"] == always.pid], [])
	parts = [row["total_ns"] for row in trace.rows("offcpu") if row["tid"] == once.pid]
	e2e.near("both parts of what woke once", sum(parts), width, slack=3e7)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(asleep)
