#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The system's clock is set while it is recorded, as on a board without a battery clock that starts in the past (psutil issue
658, systemd issue 36498, raspberrypi/linux issue 1751): times of day are those that the clock showed, before and after."""
import datetime
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request

import e2e

MARKS = """import os, time
for i in range(60):
	before = time.time_ns()
	try: os.rmdir("/nonexistent")
	except OSError: pass
	print(before, time.time_ns())
	time.sleep(0.05)
"""
HOUR, DAYS = 3600, 300 * 86400


def setting(after_s, by_s):
	"""The environment of programs for which the clock is set."""
	preloaded = e2e.work / "clock_is_set.so"
	if not preloaded.exists():
		e2e.compiled("clock_is_set.c", "-shared", "-fPIC", "-ldl")
		(e2e.work / "clock_is_set").rename(preloaded)
	return dict(os.environ, LD_PRELOAD=str(preloaded), STEP_S=str(by_s), STEP_AT=str(time.monotonic_ns() + int(after_s * 1e9)), TZ="UTC")


def of_events():
	for name, by_s in (("forward", 2 * HOUR), ("back", -2 * HOUR)):
		trace = e2e.record(name, "-p", "cmd", command=(sys.executable, "-c", MARKS), env=setting(2, by_s))
		marks = [tuple(map(int, line.split())) for line in trace.output.splitlines()]
		(step,) = [i for i in range(1, len(marks)) if abs(marks[i][0] - marks[i - 1][0]) > HOUR * 1e9]
		times = [row["wall_ns"] for row in trace.query("SELECT wall_ns FROM sys_enter WHERE id_label = 'rmdir' ORDER BY time_ns")][-60:]
		off = [max(before - at, at - after, 0) for (before, after), at in zip(marks, times)]
		e2e.equal(f"{name}: marks", len(times), 60)
		# It is seen with the next sync event, 0.1 s later at most: two marks.
		e2e.expect(max(off[:step] + off[step + 3:]) < 1e7, f"{name}: off by {max(off[:step])} ns before, {max(off[step + 3:])} ns after")
		said = e2e.run(e2e.reader, "check", trace.directory).stdout
		e2e.expect(re.search(rf"the system's clock was set by \{'+' if by_s > 0 else ''}{by_s}.000 s at", said), said)
		trace.expect_true()
		# The mark 10 after the step by the clock on the wall, and nothing else.
		moment = datetime.datetime.fromtimestamp(times[step + 10] / 1e9, datetime.timezone.utc)
		begin = moment - datetime.timedelta(seconds=0.02)
		found = trace.query("SELECT count(*) n FROM sys_enter WHERE id_label = 'rmdir' AND "
		                    f"wall_ns BETWEEN {int(begin.timestamp() * 1e9)} AND {times[step + 10] + 20_000_000}")
		e2e.equal(f"{name}: found by its time of day", found[0]["n"], 1)


def of_statistics():
	for name, options in (("statistics", ("--statistics", "1s")), ("counted", ("--count-only", "--statistics", "1s"))):
		before = time.time()
		directory = e2e.work / name
		e2e.run(e2e.monitor, "record", *e2e.without_calibration(), *options, "--keep", "1h", "-o", directory, "-d", "6", env=setting(3, DAYS))
		names = sorted(path.name for path in directory.iterdir() if path.name.startswith("statistics_"))
		dates = [datetime.datetime.strptime(name[11:26], "%Y%m%dT%H%M%S").replace(tzinfo=datetime.timezone.utc).timestamp() for name in names]
		late = [date for date in dates if date > before + DAYS - 60]
		e2e.expect(2 <= len(late) <= len(dates) - 2, f"{name}: {names}")  # nothing was removed as if it were a year old
		e2e.expect(all(before - 2 < date < before + 10 for date in dates if date not in late), f"{name}: {names}")
		e2e.run(e2e.reader, *(("stat",) if name == "counted" else ("report",)), directory)
		e2e.run(e2e.reader, "check", directory)
	after = datetime.datetime.fromtimestamp(before + DAYS, datetime.timezone.utc)
	e2e.run(e2e.reader, "report", e2e.work / "statistics", "--from", f"{after - datetime.timedelta(seconds=60):%Y-%m-%d %H:%M:%S}", env=dict(os.environ, TZ="UTC"))


def of_a_killed_recording():
	recorder = e2e.Recorder("killed", "-e", "sched", env=setting(8, 2 * HOUR)).wait_until_recording()
	deadline = time.monotonic() + 20
	while "real_time_steps" not in (recorder.directory / "metadata").read_text() and time.monotonic() < deadline:
		time.sleep(0.1)
	trace = recorder.end(signal.SIGKILL, exit_code=-signal.SIGKILL)
	(step,) = trace.info()["real_time_steps"]
	e2e.near("the step (s)", step["by_s"], 2 * HOUR, part=0, slack=0.01)


def between_lives():
	"""Of statistics that go on in one directory."""
	directory = e2e.work / "lives"
	record = (e2e.monitor, "record", *e2e.without_calibration(), "--statistics", "1s", "--keep", "1h", "-o", directory, "-d", "2.5")
	before = datetime.datetime.now(datetime.timezone.utc)
	e2e.run(*record)
	after = datetime.datetime.now(datetime.timezone.utc)
	e2e.run(*record, env=setting(-1, 1800))
	(step,) = e2e.Trace(directory).info()["real_time_steps"]
	e2e.near("the step (s)", step["by_s"], 1800, part=0, slack=0.01)
	# The first life is where it was, and the second is there, too.
	times = [f"{moment:%Y-%m-%d %H:%M:%S}" for moment in (before, after, after + datetime.timedelta(minutes=30), after + datetime.timedelta(minutes=31))]
	for first, last in (times[:2], times[2:]):
		e2e.run(e2e.reader, "report", directory, "--from", first, "--to", last, env=dict(os.environ, TZ="UTC"))
	e2e.Trace(directory).expect_sound()


def of_what_is_served():
	process = subprocess.Popen([e2e.monitor, "serve", *e2e.without_calibration(), "--metrics", "127.0.0.1:0"], env=setting(1.5, DAYS),
	                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
	try:
		port = re.search(r":(\d+)", process.stdout.readline())[1]
		time.sleep(4)
		with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
			text = answer.read().decode()
		end = float(re.search(r"^monitor_window_end_timestamp_seconds (\S+)", text, re.M)[1])
		e2e.near("the end of the window (s)", end, time.time() + DAYS, part=0, slack=5)
	finally:
		process.terminate()
		process.wait()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(of_events, of_statistics, of_a_killed_recording, between_lives, of_what_is_served)
