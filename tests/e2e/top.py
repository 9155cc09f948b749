#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitor top: its figures compared with those of a trace of the same events, what it keeps and leaves."""
import json
import os
import re
import signal
import subprocess

import e2e
import live_windows
from top_load import end, left_behind, lines, load

@e2e.longer
def as_of_the_trace():
	"""Each refresh has what a report of that window of the trace has, for each grouping."""
	directory = e2e.work / "kept"
	for by in ("process", "thread", "command", "cgroup"):
		def recorded():
			other = load(2)
			try:
				return lines("--by", by, "-d", "400ms", "-n", 3, "-o", directory, "--force", "--buffer", "64M", "-m", live_windows.COUNTERS)
			finally:
				end(other)

		trace = e2e.Trace(directory)
		refreshes = e2e.until_undisturbed(recorded, lambda _: live_windows.disturbance(trace), 10)
		trace.expect_true()
		e2e.equal("refreshes", [each["number"] for each in refreshes], [1, 2, 3])
		live_windows.compare(by, refreshes, trace)


def details_as_of_the_trace():
	"""Calls and activities of a process are those that reports of that window of the trace have."""
	directory = e2e.work / "details"
	program = subprocess.Popen([os.path.join(e2e.programs, "activity_load"), "800", "200"], stdout=subprocess.DEVNULL)
	try:
		refreshes = lines("--user", "--details", program.pid, "-d", "400ms", "-n", 4, "-o", directory, "--force", "--buffer", "64M")
	finally:
		program.kill()
		program.wait()
	e2e.expect("activities" in {name for each in refreshes for name in each["details"]}, f"no activities: {refreshes[0]['details']}")
	seen = live_windows.compare_details(refreshes, e2e.Trace(directory), program.pid)
	e2e.expect(seen["activities"] > 100, f"{seen} in the windows")


@e2e.longer
def without_a_trace():
	"""Nothing is left, whatever ends it; the windows follow each other; the times of each CPU are its window."""
	before = set(left_behind())
	other = load(3)
	try:
		refreshes = lines("-d", "300ms", "-n", 5)
	finally:
		end(other)
	for one, following in zip(refreshes, refreshes[1:]):
		e2e.equal("the next window", following["begin_ticks"], one["end_ticks"])
	for each in refreshes:
		e2e.expect(abs(each["end_ns"] - each["begin_ns"] - 300_000_000) <= 2, f"{each['begin_ns']} to {each['end_ns']}")
		for cpu in each["cpus"]:
			known = sum(value for key, value in cpu.items() if key.endswith("_percent") and value is not None)
			e2e.expect(abs(known - 100) < 0.01, f"times of a CPU: {cpu}")
		e2e.equal("CPUs", [cpu["cpu"] for cpu in each["cpus"]][:len(e2e.cpus())], e2e.cpus())
	e2e.expect(sum(row["voluntary"] for each in refreshes for row in each["rows"] if row["process"].startswith("python")) > 100, "the load is not seen")
	for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
		process = subprocess.Popen([e2e.monitor, "top", "--json", "-d", "100ms"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
		process.stdout.readline()
		process.send_signal(number)
		errors = process.communicate(timeout=20)[1]
		e2e.equal(f"exit code and errors after {number.name}", (process.returncode, errors), (0, ""))
	done = e2e.run("sh", "-c", f"'{e2e.monitor}' top --json -d 100ms | head -n 2 > /dev/null", timeout=30)
	e2e.equal("errors when the reader closes the pipe", done.stderr, "")
	e2e.equal("left behind", set(left_behind()) - before, set())


def threads_that_have_ended():
	"""They leave the fold, and memory does not grow."""
	process = subprocess.Popen([e2e.monitor, "top", "--json", "--no-calibration", "-d", "500ms", "-e", "sched"], stdout=subprocess.PIPE, text=True)
	def memory():
		return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{process.pid}/status").read())[1])
	try:
		json.loads(process.stdout.readline())
		forked, sizes, threads = 0, [], []
		while len(sizes) < 8:
			for _ in range(400):
				os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
				forked += 1
			refresh = json.loads(process.stdout.readline())
			threads.append(refresh["machine"]["threads"])
			sizes.append(memory())
	finally:
		process.send_signal(signal.SIGINT)
		process.communicate(timeout=20)
	e2e.expect(max(threads) < min(threads) + 300, f"threads after {forked} have ended: {threads}")
	# Bursts are kept in memory, up to 32 MiB.
	e2e.expect(sizes[-1] - sizes[0] < 32 << 10, f"memory in kB after {forked} threads have ended: {sizes}")


@e2e.longer
def virtual_times():
	"""--virtual: of what has probes in it less than was measured, or unknown in a window with losses; refused where nobody knows."""
	other = load(6)
	try:
		def pace(done):
			"""The machine changed it while it was calibrated."""
			return "" if done.returncode == 0 else done.stderr.strip()

		done = e2e.until_undisturbed(lambda: e2e.run(e2e.monitor, "top", "--json", "--virtual", "-n", 3, "-d", "500ms", exit_code=None), pace, 3)
		e2e.expect(any(says in pace(done) for says in ("the calibration", "no time to calibrate")) or done.returncode == 0, done.stderr)
	finally:
		end(other)
	if done.returncode:
		return e2e.leave_out("virtual times", done.stderr.strip())
	seen = 0
	for refresh in map(json.loads, done.stdout.splitlines()):
		for row in refresh["rows"]:
			value, low, high = (row[f"virtual_cpu_{what}ns"] for what in ("", "low_", "high_"))
			if not refresh["virtual"]["known"]:
				e2e.equal("a window with losses", (value, low, high), (None, None, None))
			elif value is not None:
				e2e.expect(low <= value <= high and value <= row["cpu_ns"], f"{row}")
				seen += value < row["cpu_ns"]
	if all(json.loads(line)["virtual"]["known"] for line in done.stdout.splitlines()):
		e2e.expect(seen > 5, f"{seen} rows without their probes")
	for options, says in ((("--no-calibration",), "leave out --no-calibration"), (("-p", os.getpid()), "--virtual: what was filtered out cost time too"), (("--stacks",), "leave out --stacks")):
		done = e2e.run(e2e.monitor, "top", "--json", "--virtual", "-n", 1, *options, exit_code=None)
		e2e.expect(done.returncode and done.stderr.count("\n") == 1 and says in done.stderr and not done.stdout, f"{options}: {done.returncode} {done.stderr}")


e2e.need_recording()
e2e.main(as_of_the_trace, details_as_of_the_trace, without_a_trace, threads_that_have_ended, virtual_times)
