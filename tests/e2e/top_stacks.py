#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitor top --stacks: the stacks of each window, by name and count, are those that a report of that window of the
trace has, of a program that runs already and of one that is started meanwhile. As text, and on a screen."""
import json
import os
import re
import subprocess

import e2e
import live_windows
import terminal as terminals

LOAD = os.path.join(e2e.programs, "stack_load")


def top(*options, **more):
	return e2e.run(e2e.monitor, "top", "--no-calibration", *options, **more)


def live(refresh, by):
	"""{frames from the outermost: count, or ns}"""
	kind = refresh["details"]["stacks"]["by"][by]
	return {tuple(frame.replace(";", ":") for frame in stack["frames"]): stack.get("count", stack.get("ns")) for stack in kind["stacks"]}


def offline(trace, window, by, pid):
	"""The same; times in us, without those of none."""
	lines = e2e.run(e2e.monitor, "report", trace.directory, "stacks", "--by", by, "--folded", "--pid", pid, *window).stdout.splitlines()
	stacks = {}
	for frames, value in (line.rsplit(" ", 1) for line in lines):
		key = tuple(frames.split(";")[1:])
		stacks[key] = stacks.get(key, 0) + int(value)
	return stacks


def same(refreshes, trace, pid, kinds):
	options, seen = live_windows.options_of(trace), dict.fromkeys(kinds, 0)
	for each in refreshes:
		what = f"refresh {each['number']} of {pid}"
		if not e2e.expect(each["whole"] and each["late"] == 0, f"{what} is not whole"):
			continue
		stacks = each["details"]["stacks"]
		e2e.equal(f"{what}: named, and kinds", (stacks["named"], stacks["unnamed_frames"], stacks["descriptions_left_out"], sorted(stacks["by"])),
		          (True, 0, 0, sorted(kinds)))
		for by in kinds:
			ours, theirs = live(each, by), offline(trace, options(each), by, pid)
			total = stacks["by"][by].get("total", stacks["by"][by].get("total_ns"))
			e2e.equal(f"{what}: the sum of {by}", sum(ours.values()) + stacks["by"][by]["other"], total)
			seen[by] += len(ours)
			if by in ("offcpu", "wait"):
				ours = {frames: ns for frames, ns in ours.items() if ns >= 1000}
				theirs = {frames: us for frames, us in theirs.items() if frames in ours or us > 2}
				e2e.equal(f"{what}: stacks of {by}", sorted(ours), sorted(theirs))
				for frames in ours.keys() & theirs.keys(): # the clock's frequency was estimated anew since
					e2e.expect(abs(ours[frames] / 1000 - theirs[frames]) <= 1 + 1e-4 * theirs[frames],
					           f"{what}: {by} at {frames}: {ours[frames]} ns, {theirs[frames]} us")
			else:
				differ = {frames: (ours.get(frames), theirs.get(frames)) for frames in ours.keys() | theirs.keys() if ours.get(frames) != theirs.get(frames)}
				e2e.equal(f"{what}: stacks of {by} that differ", differ, {})
	return seen


@e2e.longer
def as_of_the_trace():
	directory = e2e.work / "kept"
	program = subprocess.Popen([LOAD, "30"])
	try:
		done = top("--stacks=cpu,offcpu,wake,fault", "--json", "--details", program.pid, "-d", "400ms", "-n", 4, "-o", directory, "--force", "--buffer", "64M")
	finally:
		program.kill()
		program.wait()
	refreshes = [json.loads(line) for line in done.stdout.splitlines()]
	seen = same(refreshes, e2e.Trace(directory), program.pid, ("cpu", "offcpu", "wait", "fault", "other"))
	e2e.expect(seen["cpu"] > 8 and seen["offcpu"] >= 4 and seen["wait"] >= 4, f"stacks in all windows: {seen}")
	functions = {frame for each in refreshes for stack in live(each, "cpu") for frame in stack}
	e2e.expect({"burn_inner", "burn", "main"} <= functions, f"functions: {sorted(functions)}")
	e2e.expect(any("rest" in stack for each in refreshes for stack in live(each, "offcpu")), "no sleep in rest()")


def of_what_is_started():
	"""It executes a program, forks and ends while its stacks are taken."""
	directory = e2e.work / "started"
	program = subprocess.Popen(["sh", "-c", f"read line; exec {LOAD} 1"], stdin=subprocess.PIPE, text=True)
	shown = subprocess.Popen([e2e.monitor, "top", "--no-calibration", "--stacks", "--json", "--details", str(program.pid), "-d", "300ms",
	                          "-n", "8", "-o", directory, "--force", "--buffer", "64M"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
	try:
		refreshes = [json.loads(shown.stdout.readline())]
		program.communicate("\n", timeout=20)
		refreshes += [json.loads(line) for line in shown.communicate(timeout=60)[0].splitlines()]
	finally:
		for process in (program, shown):
			process.kill()
			process.wait()
	e2e.equal("refreshes", [each["number"] for each in refreshes], list(range(1, 9)))
	seen = same(refreshes, e2e.Trace(directory), program.pid, ("cpu", "offcpu"))
	e2e.expect(seen["cpu"] > 8 and seen["offcpu"] >= 2, f"stacks in all windows: {seen}")
	e2e.expect(any("burn_inner" in stack for each in refreshes for stack in live(each, "cpu")), "nothing of what it executed is named")


@e2e.longer
def as_text():
	program = subprocess.Popen([LOAD, "30"])
	try:
		text = top("--stacks", "--batch", "--details", program.pid, "-d", "300ms", "-n", 2, "--top", 5).stdout
		e2e.expect(re.search(rf"^Stacks on the CPU: \d+ samples of process {program.pid}$", text, re.M), text)
		e2e.expect(re.search(r"^ *\d+\.\d +\d+ +burn_inner.* < burn < main < ", text, re.M), text)
		e2e.expect(re.search(rf"^Stacks asleep: [\d.]+ ms of process {program.pid}$", text, re.M), text)
		e2e.expect(re.search(r"^ *\d+\.\d +[\d.]+ [mu]s +.* < rest < main < ", text, re.M), text)
		if terminals.has_screen():
			on_a_screen()
	finally:
		program.kill()
		program.wait()


def on_a_screen():
	screen = terminals.Terminal("top", "--stacks", "-d", "300ms", "--no-calibration", rows=40, columns=140)
	screen.shows(r"s stacks, \? help")
	screen.press("/", "^/_")
	screen.press("stack_load\r", r"rows with 'stack_load'")
	screen.press("s", r"^Stacks on the CPU: \d+ samples")
	screen.shows(r"burn_inner.* < burn < main < ")
	screen.shows(r"^Stacks asleep: [\d.]+ ms")
	screen.shows(r" < \.\.\. < .*rest < main < ")
	screen.press("d", r"^Calls of the chosen row")
	screen.press("\r", r"^threads of stack_load")
	screen.press("s", r"^Stacks on the CPU: \d+ samples")
	screen.press("\x1b", r"^threads of stack_load")
	os.write(screen.master, b"q")
	screen.end("after q", 0)
	screen = terminals.Terminal("top", "-d", "300ms", "--no-calibration", rows=40, columns=160)
	screen.shows(r"; \? help")
	screen.press("s", r"^No stacks are taken: monitor top --stacks")
	os.write(screen.master, b"q")
	screen.end("after q", 0)


def complaints():
	for arguments, says in ((("--stacks=cpus",), "--stacks: 'cpus' is not one of cpu, offcpu"), (("--stacks=offcpu", "--rate", "99"), "add --stacks=cpu"),
	                        (("--stacks-on", "nothing"), "no event class nothing"), (("--stacks", "--card", "module"), "module")):
		done = e2e.run(e2e.monitor, "top", "--batch", *arguments, exit_code=None, timeout=20)
		e2e.expect(done.returncode and len(done.stderr.splitlines()) == 1 and says in done.stderr and not done.stdout,
		           f"{arguments}: {done.returncode}, {done.stderr!r}, {done.stdout[:200]!r}")


e2e.need_recording()
e2e.main(as_of_the_trace, of_what_is_started, as_text, complaints)
