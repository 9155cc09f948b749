#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What watches for weeks is started again by the same command line, after a reboot, a crash or an upgrade (DDS-Record-Replay pull
228, mknx/smarthome issue 57, MultiAdmin issue 107: it refuses, or removes what it had). It goes on in its directory, and all of it
is one trace, in which nothing is known of the time between. Several that start in one second do not disturb each other."""
import json
import os
import re
import shutil
import signal
import subprocess
import time

import e2e

CALLS = 1000
YEAR = 365 * 24 * 3600


def watched(name, *options, number=signal.SIGINT, exit_code=0, more=()):
	"""Statistics of some three seconds in which a thousand calls are made; the directory is that of the recordings before."""
	arguments = [e2e.monitor, "record", "--no-calibration", "--statistics", "1s", "--keep", "2h", "-o", e2e.work / name, *more]
	program, before = e2e.work / "restarted", len(periods(name))
	if not program.exists():
		shutil.copy(e2e.workload, program)
	recorder = subprocess.Popen([str(word) for word in arguments], stderr=subprocess.PIPE, text=True)
	deadline = time.monotonic() + 60
	while len(periods(name)) == before and recorder.poll() is None and time.monotonic() < deadline:
		time.sleep(0.02)
	e2e.run(program, "getppid", CALLS)
	time.sleep(2.3)  # so that their period is over, also if it is killed
	recorder.send_signal(number)
	errors = recorder.communicate(timeout=60)[1]
	e2e.expect(recorder.returncode in (exit_code, -number), f"{name}: {recorder.returncode} {errors}")
	return errors


def periods(name):
	return sorted(path.name for path in (e2e.work / name).glob("statistics_*"))


def calls(trace):
	return sum(row["count"] for row in trace.rows("syscalls", call="getppid") if row["process"].startswith("restarted"))


def contents(directory):
	return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def of_another_boot(trace, later_s=0):
	"""What it left, as if the machine had been started again since, whose clock showed that much more."""
	recording, description = trace.directory / ".monitor" / "recording.json", trace.directory / "metadata"
	left = json.loads(recording.read_text())
	left["boot_id"] = f"another, {later_s}"
	for when in {"start", "end"} & set(left):
		left[when]["realtime_ns"] += later_s * 10**9
	recording.write_text(json.dumps(left))
	description.write_text(re.sub(r"(offset_s = )(-?\d+)", lambda found: f"{found[1]}{int(found[2]) + later_s}", description.read_text()))
	for path in trace.directory.glob("statistics_*"):
		os.utime(path, (time.time() + later_s,) * 2)


def of_another_group(trace):
	"""A group's number is another one's by now."""
	names = trace.directory / ".monitor" / "names"
	groups = json.loads(names.read_text())
	number = next(iter(groups["cgroups"]))
	groups["cgroups"][number] = "/of/another/boot"
	names.write_text(json.dumps(groups))
	return int(number)


def goes_on():
	watched("week")
	first, trace = periods("week"), e2e.Trace(e2e.work / "week")
	uuid = trace.recording()["uuid"]
	time.sleep(1)
	e2e.expect("goes on" in watched("week", number=signal.SIGKILL), "it does not say that it goes on")
	second = periods("week")
	e2e.expect(set(first) < set(second), f"periods of the first recording: {first}, then {second}")
	trace.expect_true()
	of_another_boot(trace)
	number = of_another_group(trace)
	watched("week")
	e2e.expect(set(second) < set(periods("week")), "periods are gone")
	trace.expect_true()
	e2e.equal("calls", calls(trace), 3 * CALLS)
	e2e.equal("uuid", trace.recording()["uuid"], uuid)
	names = json.loads((trace.directory / ".monitor" / "names").read_text())
	e2e.expect(number in names["ambiguous"] and str(number) not in names["cgroups"], f"the number of two groups has a name: {names}")
	found = trace.summary()["periods"]
	e2e.equal("recordings, periods", (found["recordings"], found["count"]), (3, len(periods("week"))))
	begins = [event["time_ns"] for event in trace.events("--event", "statistics_period")]
	e2e.expect(begins == sorted(set(begins)), f"periods step back: {begins}")
	cpus = trace.report()["cpus"]
	e2e.expect(all(row["unknown_percent"] > 10 for row in cpus), f"the time between two recordings is known: {cpus}")
	watched("another")
	heads = e2e.run(e2e.monitor, "diff", trace.directory, e2e.work / "another").stdout.splitlines()[:2]
	e2e.expect("3 recordings" in heads[0] and "recordings" not in heads[1], f"diff does not say of how many recordings: {heads}")


def wall_times(trace):
	return [row["wall_ns"] / 1e9 for row in trace.query("SELECT wall_ns FROM statistics_period ORDER BY time_ns")]


def clock_set_between_boots():
	"""By a year, ahead and then back. All is kept, times of day are those of then, and shares are of what was recorded."""
	watched("set")
	trace = e2e.Trace(e2e.work / "set")
	for later_s in (-YEAR, YEAR):
		of_another_boot(trace, later_s)
		before, times, now = periods("set"), wall_times(trace), time.time()
		watched("set")
		e2e.expect(set(before) < set(periods("set")), f"periods are gone: {before}, then {periods('set')}")
		after = wall_times(trace)
		# The clock's frequency is known to some 10^-8, which is 0.3 s in a year.
		e2e.expect(all(abs(one - other) < 1 for one, other in zip(times, after)), f"periods that were at {times} are at {after}")
		e2e.expect(all(now < one < now + 60 for one in after[len(times):]), f"periods since {now} are at {after}")
		trace.expect_true()
	(step,) = trace.info()["real_time_steps"]
	e2e.near("the step back (s)", step["by_s"], -YEAR, part=0, slack=60)
	seconds = trace.summary()["wall_ns"] / 1e9
	e2e.expect(seconds < 60, f"{seconds} s were recorded")
	for row in trace.rows()[:3]:
		e2e.near(f"CPU% of {row['process']}", row["cpu_percent"], row["cpu_ns"] / seconds / 1e7, part=0.01)
	e2e.expect(all(row["steal_percent"] is None for row in trace.rows("--by", "cpu")), "the time stolen of the last recording is said of all")


def refused():
	"""What is there stays as it is."""
	watched("kept")
	directory = e2e.work / "kept"
	there = contents(directory)
	for what, code, words in (("other periods", 125, ("--statistics", "2s")), ("numbers only", 125, ("--statistics", "1s", "--count-only")),
	                          ("events", 125, ()), ("no such command", 127, ("--statistics", "1s", "--", "/no/such/command"))):
		done = e2e.run(e2e.monitor, "record", "--no-calibration", "-d", "1", "-o", directory, *words, exit_code=code)
		e2e.expect(contents(directory) == there, f"{what}: it is changed {done.stderr}")
	e2e.run(e2e.monitor, "record", "--no-calibration", "--statistics", "1s", "-d", "1", "-o", directory, "--force")
	e2e.expect(not set(there) & set(periods("kept")), "--force leaves periods")
	e2e.Trace(directory).expect_true()


def numbers_only():
	watched("numbers", more=("--count-only",))
	watched("numbers", more=("--count-only",))
	trace = e2e.Trace(e2e.work / "numbers")
	trace.expect_true()
	e2e.equal("recordings", trace.summary()["periods"]["recordings"], 2)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(goes_on, clock_set_between_boots, refused, numbers_only)
