#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recorded command is sampled although nobody asked for stacks: its functions have their shares, what it did in the
kernel is told apart, other programs are not in it, and CPUs on which it does not run are left alone. Where that is
impossible, the recording says so and goes on. Who asks for something else has what was asked for."""
import math
import os

import e2e

LOAD = os.path.join(e2e.programs, "two_functions")
REFUSED = os.path.join(e2e.programs, "librefused_timer.so")
FUNCTIONS = "three_parts", "one_part"


def record(name, *options, command=("true",), exit_code=0, **more):
	directory = e2e.work / name
	done = e2e.run(e2e.monitor, "record", "-o", directory, "--no-calibration", *options, "--", *command, exit_code=exit_code, **more)
	trace = e2e.Trace(directory, done.stdout)
	trace.errors = done.stderr
	return trace


def interval(hits, samples, z=4):
	"""Wilson's, so wide that one in 10,000 right programs is called wrong."""
	share, weight = hits / samples, z * z / samples
	middle = (share + weight / 2) / (1 + weight)
	half = z * math.sqrt(share * (1 - share) / samples + weight / (4 * samples)) / (1 + weight)
	return middle - half, middle + half


def of_the_command():
	many = "i=0; while [ $i -lt 40 ]; do /bin/true; i=$((i + 1)); done"
	trace = record("shares", command=("sh", "-c", f"{LOAD} 0.4; head -c 500M /dev/zero > /dev/null; {many}"))
	trace.expect_true()
	e2e.equal("files of .monitor with the kernel's functions", (trace.directory / ".monitor/kallsyms").exists(), False)
	stacks = trace.recording()["stacks"]
	e2e.equal("who is sampled", (stacks["timer_hz"], stacks["of_command"]), (99, True))
	e2e.expect(stacks["processes"] < 10, f"processes were told that were not sampled: {stacks['processes']}")
	e2e.expect(stacks["timer_interrupts"] >= stacks["taken_at_timer"] > 0, f"interrupts: {stacks}")
	lines = e2e.run(e2e.monitor, "report", trace.directory, "stacks", "--all", "--folded").stdout.splitlines()
	found = [(frames.split(";"), int(count)) for frames, count in (line.rsplit(" ", 1) for line in lines)]
	e2e.expect({frames[0] for frames, _ in found} <= {"two_functions", "head", "sh", "true"}, f"other programs: {found}")
	samples = [sum(count for frames, count in found if frames[-1] == name) for name in FUNCTIONS]
	three, one = map(float, trace.output.split())
	e2e.expect(samples[0] + samples[1] > 20, f"samples of {three + one} s: {samples}")
	low, high = interval(samples[0], max(sum(samples), 1))
	e2e.expect(low <= three / (three + one) <= high, f"{three / (three + one):.2f} of the time, not {low:.2f} to {high:.2f}: {samples}")
	e2e.expect(any(frames[-2:] == [name, "[kernel]"] or frames[-1] == "[kernel]" for frames, _ in found for name in ("read", "write")
	               if frames[0] == "head"), f"nothing of head was in the kernel: {found}")
	whole = [frames for frames, _ in found if frames[-1] in FUNCTIONS and not frames[1].startswith("[truncated")]
	e2e.expect(whole and all("main" in frames for frames in whole), f"no callers: {found}")
	# The other programs may be sampled where the linker or libc has code without rules.
	early = {frames[1] for frames, _ in found if frames[1].startswith("[truncated") and
	         (frames[0] == "two_functions" or not frames[1].startswith("[truncated: unknown rule in "))}
	e2e.expect(early <= {"[truncated: callers not known yet]"}, f"stacks end early: {early}")


def left_alone():
	"""A command that sleeps: after a second no CPU has the timer any more."""
	recording = record("asleep", command=("sleep", "1.7")).recording()
	seconds = recording["recorder"]["wall_ns"] / 1e9
	share = recording["stacks"]["timer_interrupts"] / (99 * seconds * os.sysconf("SC_NPROCESSORS_ONLN"))
	e2e.expect(0 < share < 0.85, f"{share:.2f} of all that the timers would have interrupted in {seconds:.1f} s")


def first_thread_ends():
	"""The process goes on, and with it what is known of its code."""
	directory = record("leader", command=(e2e.compiled("path_load.c", "-pthread"), 400_000)).directory
	lines = e2e.run(e2e.monitor, "report", directory, "stacks", "--all", "--folded").stdout.splitlines()
	# One sample may lie within exec, before the program is mapped; without its code all of the second thread would be.
	unmapped = sum(int(line.rsplit(" ", 1)[1]) for line in lines if "[not mapped]" in line)
	e2e.expect(lines and unmapped <= 1, f"stacks: {lines}")


def asked_for_something_else():
	for name, options in (("declined", ("--stacks=no",)), ("events", ("-e", "sched"))):
		trace = record(name, *options)
		e2e.equal(f"{name}: the rate", trace.recording().get("stacks", {}).get("timer_hz", 0), 0)
	done = e2e.run(e2e.monitor, "record", "-o", e2e.work / "never", "--stacks=no", "--rate", "99", "--", "true", exit_code=125)
	e2e.expect("--stacks=no takes none" in done.stderr, done.stderr)


def refused():
	environment = {**os.environ, "LD_PRELOAD": REFUSED}
	trace = record("refused", env=environment)
	trace.expect_true()
	e2e.equal("lines about it", trace.errors.count("no stacks of the command: the kernel refuses the timer (Permission denied)"), 1)
	e2e.equal("its rate", trace.recording().get("stacks", {}).get("timer_hz", 0), 0)
	trace = record("never", "--stacks=cpu", exit_code=125, env=environment)
	e2e.expect("cannot open the timer of the stacks" in trace.errors, trace.errors)
	done = e2e.run(e2e.monitor, "record", "-o", e2e.work / "phases", "--calibrate", "--", "true")
	e2e.equal("lines with --calibrate", done.stderr.count("no stacks of the command: with --calibrate"), 1)


e2e.need_recording()
e2e.main(of_the_command, beside=[(left_alone,), (first_thread_ends, asked_for_something_else, refused)])
