#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What watches for weeks is started again by the same command line, after a reboot, a crash or an upgrade (DDS-Record-Replay pull
228, mknx/smarthome issue 57, MultiAdmin issue 107: it refuses, or removes what it had). It goes on in its directory, and all of it
is one trace, in which nothing is known of the time between. Several that start in one second do not disturb each other."""
import json
import shutil
import signal
import subprocess
import time

import e2e

CALLS = 1000


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


def of_another_boot(trace):
	"""What it left, as if the machine had been started again since; a group's number is another one's by now."""
	recording, names = (trace.directory / ".monitor" / name for name in ("recording.json", "names"))
	left = json.loads(recording.read_text())
	left["boot_id"] = "another"
	recording.write_text(json.dumps(left))
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
	number = of_another_boot(trace)
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
	e2e.main(goes_on, refused, numbers_only)
