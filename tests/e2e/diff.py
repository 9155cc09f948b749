#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitor diff: a call made more often is named first; the sums are those of `monitor report`; windows, repetitions, what is not
known, and bad input."""
import collections
import itertools
import json
import os
import re
import shutil
import subprocess
import sys

import e2e

e2e.calibrated = True  # else the way into a call is user time


def diff(*arguments, exit_code=0):
	return json.loads(e2e.run(e2e.monitor, "diff", "--json", *arguments, exit_code=exit_code).stdout)


def text_of(*arguments):
	return e2e.run(e2e.monitor, "diff", *arguments).stdout


def refused(sentence, *arguments, exit_code=1):
	done = e2e.run(e2e.monitor, "diff", *arguments, exit_code=exit_code)
	e2e.expect(sentence in done.stderr and done.stderr.count("\n") == 1 and not done.stdout, f"{arguments}: {done.stderr}{done.stdout}")


def find(result, **where):
	return [row for row in result["rows"] if all(row[key] == value for key, value in where.items())]


def getppid(name, calls, *options):
	return e2e.record_workload(name, "getppid", calls, *options)


def a_call_made_more_often_is_first():
	"""Unless other load took the CPU meanwhile: then waiting for it may be longer. Four times as often, because a shared core
	may make a call half as fast."""
	once, more = getppid("once", 80_000), getppid("more", 320_000)
	result = diff(once.directory, more.directory)
	first = next(row for row in result["rows"] if row["what"] != "for a CPU")
	e2e.equal("the first row", (first["kind"], first["command"], first["thread"], first["what"], first["recorded"]), ("calls", "workload", "workload", "getppid", True))
	e2e.equal("its counts", (first["before_count"], first["after_count"]), (80_000, 320_000))
	others = sum(abs(row["difference_ns"]) for row in find(result, leads=True, recorded=True) if row["what"] != "for a CPU" and row["difference_ns"])
	e2e.expect(1.1 < first["ratio"] < 16 and abs(first["difference_ns"]) > others / 10, f"{first} of {others}")
	back = next(row for row in diff(more.directory, once.directory)["rows"] if row["what"] != "for a CPU")
	e2e.equal("the other way round", (back["what"], back["difference_ns"]), ("getppid", -first["difference_ns"]))
	text = text_of(once.directory, more.directory)
	line = next(line for line in text.splitlines() if line.startswith("*") and " getppid " in line)
	e2e.expect("80,000 -> 320,000" in line, line)
	e2e.expect("significance not tested" in text and "4 can test 1 row" in text, text)
	same = diff(once.directory, once.directory)
	e2e.equal("differences of a recording from itself", {row["difference_ns"] for row in same["rows"]}, {0})
	e2e.expect("nothing differs" in text_of(once.directory, once.directory), "of itself")


# Threads, pipes, sleeps, calls with errors, page faults: something in every kind of row.
BUSY = """import os, threading, time
def work():
	for i in range(30):
		os.path.exists("/none")
		sum(range(2000))
		time.sleep(0.001)
threads = [threading.Thread(target=work) for i in range(3)]
for thread in threads:
	thread.start()
for thread in threads:
	thread.join()
for i in range(20):
	os.spawnlp(os.P_WAIT, "true", "true")
"""


# Columns of report, and what the rows of diff call them.
MODES = {"user": "user", "irq": "interrupts", "softirq": "softirqs", "unknown": "unknown"}


def sums_of_diff(rows):
	sums = {}
	for row in rows:
		of = sums.setdefault(row["command"], collections.Counter())
		if row["kind"] == "waits":
			of["waiting" if row["what"] == "for a CPU" else "blocked"] += row["before_ns"]
		else:
			of["cpu"] += row["before_ns"]
			of[row["what"] if row["kind"] == "cpu" else "calls"] += row["before_ns"]
	return sums


def sums_of_report(rows):
	sums = {}
	for row in rows:
		of = sums.setdefault("kworker" if row["command"].startswith("kworker/") else row["command"], collections.Counter())
		for key in ("cpu", "waiting", "blocked"):
			of[key] += row[f"{key}_ns"] or 0
		for mode, what in MODES.items():
			of[what] += (row["cpu_ns"] or 0) * (row[f"{mode}_percent"] or 0) / 100
	return sums


def expect_equal_sums(ours, theirs, keys):
	compared = 0
	for command, of in theirs.items():
		for key in keys if of["cpu"] and not command.endswith(" (hidden)") else ():
			mine = ours.get(command, {}).get(key, 0)
			e2e.expect(abs(mine - of[key]) < 100, f"{key} of {command}: {mine}, report has {of[key]}")
			compared += of[key] > 0
	return compared


def sums_are_those_of_report():
	trace = e2e.record("busy", "--force", command=(sys.executable, "-c", BUSY))
	result = diff(trace.directory, trace.directory, "--by", "cpu,calls,waits", "--top", "0")
	modes = ("cpu", "waiting", *MODES.values())
	by_command = "--by", "command", "--top", "0"
	compared = expect_equal_sums(sums_of_diff(result["rows"]), sums_of_report(trace.rows(*by_command)), modes)
	compared += expect_equal_sums(sums_of_diff(find(result, recorded=True)), sums_of_report(trace.rows(*by_command, "--command")), (*modes, "blocked"))
	e2e.expect(compared > 20, f"only {compared} sums were compared")
	counts = collections.Counter()
	for row in find(result, kind="calls"):
		counts[(row["command"], row["what"])] += row["before_count"] or 0  # a call that does not return has none
	reported = collections.Counter()
	for row in trace.rows("syscalls", "--top", "0"):
		reported[(row["process"], row["call"])] += row["count"]
	e2e.equal("calls", {key: number for key, number in counts.items() if number}, dict(reported))
	# A sleep that the command's own thread ended is not in the ranking: its parent waits for each `true`.
	own = find(result, recorded=True, what="in wait4, woken by its own")
	e2e.expect(len(own) == 1 and own[0]["before_count"] >= 15 and not own[0]["leads"], f"{own}")
	e2e.expect(not find(diff(trace.directory, trace.directory), what="in wait4, woken by its own"), "it is in the default ranking")
	# So is its sleep until the recorder let it go; from then on the time elapses.
	start, window = find(result, what="before it was started"), trace.report()["summary"]["window"]
	elapsed = result["totals"]["elapsed"]["before_ns"]
	e2e.expect(len(start) == 1 and start[0]["recorded"] and not start[0]["leads"], f"{start}")
	e2e.expect(0 < elapsed <= window["end_ns"] - window["begin_ns"] - start[0]["before_ns"] + 1000, f"{elapsed} ns elapsed of {window}, {start}")
	slept = sum(row["before_ns"] for row in find(result, what="in clock_nanosleep", command="python3", recorded=True))
	reported = sum(row["total_ns"] for row in trace.rows("offcpu", "--top", "0", "--command", call="clock_nanosleep"))
	e2e.expect(abs(slept - reported) < 1000 and slept > 60e6, f"slept {slept} ns in all, report has {reported}")


def windows():
	trace = e2e.Trace(e2e.work / "busy")
	whole = trace.report()["summary"]["window"]
	bounds = [whole["begin_ns"] + (whole["end_ns"] - whole["begin_ns"]) * part // 3 for part in (0, 1, 2)]
	first, second = (f"{trace.directory}@{a}ns..{b}ns" for a, b in zip(bounds, bounds[1:]))
	result = diff(first, second, "--by", "cpu,calls", "--top", "0")
	for side, (begin, end) in (("before", bounds[:2]), ("after", bounds[1:])):
		report = trace.rows("--by", "command", "--top", "0", "--from", f"{begin}ns", "--to", f"{end}ns", command="python3")
		ours = sum(row[f"{side}_ns"] for row in find(result, command="python3"))
		e2e.expect(abs(ours - sum(row["cpu_ns"] for row in report)) < 100, f"{side}: {ours}, report has {report}")
	e2e.expect(text_of(f"{trace.directory}@..{bounds[1]}ns", f"{trace.directory}@{bounds[1]}ns.."), "windows with one bound")
	refused("outside of what was recorded", f"{trace.directory}@500s..600s", second)
	refused("ends before it starts", f"{trace.directory}@2s..1s", second)
	refused("is not a time", f"{trace.directory}@x..1s", second)
	refused("a window has two bounds", f"{trace.directory}@..", second)
	refused("a window has two bounds", f"{trace.directory}@1s", second)


@e2e.longer
def a_slower_loop_is_first():
	"""In user mode, with functions: the samples of its stacks say the same."""
	short, long = (e2e.record(name, "--force", "--no-calibration", "--stacks", command=(sys.executable, "-c", f"for i in range({rounds}): pass"))
	               for name, rounds in (("short", 2_000_000), ("long", 8_000_000)))
	result = diff(short.directory, long.directory)
	first = find(result, leads=True, recorded=True, kind="cpu")[0]
	e2e.equal("the first row of CPU time", (first["command"], first["what"]), ("python3", "user"))
	e2e.expect(first["ratio"] > 1.5 and first["difference_ns"] > 50e6, f"{first}")
	functions = find(result, kind="functions", command="python3")
	for side, trace in (("before", short), ("after", long)):
		report = trace.report("stacks", "--by", "cpu", "--comm", "python3")
		ours = sum(row[f"{side}_count"] for row in functions)
		e2e.equal(f"samples {side}", ours, sum(row["self"] for row in report["rows"]))
	e2e.expect("CPU time by function" in text_of(short.directory, long.directory), "no functions in the text")
	e2e.equal("kinds that were not chosen", {row["kind"] for row in diff(short.directory, long.directory, "--by", "functions")["rows"]}, {"functions"})
	for side, trace in (("before", short), ("after", long)):
		counts = collections.Counter()
		for row in find(result, kind="stacks"):
			counts[f"{row['command']};{row['what']}"] += row[f"{side}_count"]
		folded = e2e.run(e2e.monitor, "report", trace.directory, "stacks", "--all", "--by", "cpu", "--folded").stdout
		reported = collections.Counter()
		for stack, count in (line.rsplit(" ", 1) for line in folded.splitlines()):
			reported[re.sub("^kworker/[^;]*", "kworker", stack)] += int(count)
		e2e.equal(f"whole stacks {side}", {stack: count for stack, count in counts.items() if count}, dict(reported))
	without = e2e.work / "once"
	e2e.equal("functions of a recording without stacks", {row["before_ns"] for row in find(diff(without, long.directory), kind="functions")}, {None})
	e2e.equal("its stacks", {(row["before_ns"], row["before_count"]) for row in find(diff(without, long.directory), kind="stacks")}, {(None, None)})


# Sleeps in two functions: one of them as often as it is told.
SLEEPS = """#include <stdlib.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) void loads(int times) { while (times-- > 0) { usleep(3000); __asm__ volatile(""); } }
__attribute__((noinline)) void stores(int times) { while (times-- > 0) { usleep(3000); __asm__ volatile(""); } }
int main(int count, char **words)
{
	struct timespec at, start; /* the recorder learns the program's code meanwhile */
	clock_gettime(CLOCK_MONOTONIC, &start);
	do clock_gettime(CLOCK_MONOTONIC, &at); while ((at.tv_sec - start.tv_sec) * 1e9 + at.tv_nsec - start.tv_nsec < 2e8);
	for (int i = 0; i < 10; ++i) { loads(3); stores(atoi(words[count - 1])); }
	return 0;
}
"""


@e2e.longer
def the_stack_that_sleeps_longer_is_first():
	if not shutil.which("gcc"):
		return e2e.leave_out("whole stacks", "gcc is not installed")
	program = e2e.work / "sleeps"
	subprocess.run(["gcc", "-xc", "-", "-O1", "-o", program], input=SLEEPS, text=True, check=True)
	few, many = (e2e.record(name, "--force", "--no-calibration", "--stacks=cpu,offcpu", command=(program, stores)) for name, stores in (("stores2", 2), ("stores4", 4)))
	result = diff(few.directory, many.directory)
	first = find(result, kind="sleeps")[0]
	frames = first["what"].split(";")
	e2e.expect(first["recorded"] and first["command"] == "sleeps" and frames[0] == "_start" and "stores" in frames and "loads" not in frames, f"{first}")
	e2e.expect(1.5 < first["ratio"] < 3 and first["difference_ns"] > 15 * 3e6, f"{first}")
	# The sums are those of the waits, whichever way they are divided.
	for side in ("before", "after"):
		stacks, waits = (sum(row[f"{side}_ns"] for row in find(result, leads=True, recorded=True, kind=kind) if row["what"] != "for a CPU") for kind in ("sleeps", "waits"))
		e2e.expect(abs(stacks - waits) < 1000 and stacks > 100e6, f"{stacks} ns asleep by stack {side}, {waits} by call")
	text = text_of(few.directory, many.directory)
	line = text[text.index("time asleep by whole stack"):].splitlines()[2]
	e2e.expect(";stores;" in line and "__libc_start" not in line and "..." in line, text)
	csv = e2e.run(e2e.monitor, "diff", "--csv", few.directory, many.directory).stdout
	e2e.expect(first["what"] in csv, f"{csv}")
	e2e.equal("of itself", {row["difference_ns"] for row in diff(few.directory, few.directory, "--by", "stacks,sleeps")["rows"]}, {0})


def activities_without_those_inside():
	load = os.path.join(e2e.programs, "activity_load")
	if not os.path.exists(load):
		return
	few, many = (e2e.record(name, "--force", "--no-calibration", command=(load, naps, 4)) for name, naps in (("few", 10), ("many", 30)))
	result = diff(few.directory, many.directory, "--by", "activities")
	for side, trace in (("before", few), ("after", many)):
		reported = {row["activity"]: (row["exclusive_ns"], row["count"]) for row in trace.rows("activities", "--by", "process", "--top", "0")}
		e2e.equal(f"activities {side}", {row["what"]: (row[f"{side}_ns"], row[f"{side}_count"]) for row in result["rows"]}, reported)
	nap = find(result, what="nap")[0]
	e2e.equal("naps", (nap["before_count"], nap["after_count"]), (10, 30))
	e2e.expect(nap["before_ns"] >= 10 * 2e6 and nap["after_ns"] >= 30 * 2e6, f"{nap}")  # of 2 ms each; they may take longer
	e2e.equal("the difference", nap["difference_ns"], nap["after_ns"] - nap["before_ns"])


def p_by_counting(before, after):
	"""Mann-Whitney's U, pair by pair, in every division."""
	values = before + after
	def distance(chosen):
		rest = [i for i in range(len(values)) if i not in chosen]
		return abs(sum((values[i] > values[j]) + (values[i] == values[j]) / 2 for i in chosen for j in rest) - len(before) * len(after) / 2)
	seen = distance(range(len(before)))
	divisions = list(itertools.combinations(range(len(values)), len(before)))
	return sum(distance(chosen) >= seen for chosen in divisions) / len(divisions)


@e2e.longer
def repetitions():
	"""Four of each side can show one row. Sides that have both runs differ in nothing."""
	names = []
	for number in range(4):
		names += [str(getppid(f"{side}{number}", calls, "--no-calibration").directory) for side, calls in (("a", 20_000), ("b", 40_000))]
	before, after = names[::2], names[1::2]
	for by in ((), ("--by", "calls")):
		result = diff(",".join(before), ",".join(after), *by)
		tested = [row for row in result["rows"] if row["p"] is not None]
		e2e.equal("tested rows", (len(tested), result["tests"]["tested"]), (1, 1))
		e2e.expect(abs(tested[0]["p"] - p_by_counting(tested[0]["before_each_ns"], tested[0]["after_each_ns"])) < 1e-9, f"{tested}")
		if tested[0]["significant"]:
			e2e.equal("the first row", result["rows"][0]["what"], tested[0]["what"])
	row = find(result, what="getppid", recorded=True)[0]
	e2e.equal("medians of counts", (row["before_count"], row["after_count"]), (20_000, 40_000))
	ordered = sorted(row["before_each_ns"])
	e2e.equal("median", row["before_ns"], (ordered[1] + ordered[2]) / 2)
	mixed = before[:2] + after[:2], before[2:] + after[2:]
	if tested[0] is row:  # the calls of no other process have a wider gap
		e2e.expect(abs(row["p"] - 2 / 70) < 1e-9 and row["corrected_p"] == row["p"] and row["significant"], f"{row}")
		e2e.expect("significant below 0.05: 1 row" in text_of(",".join(before), ",".join(after), "--by", "calls"), "text")
		e2e.equal("claims where both sides have both", diff(",".join(mixed[0]), ",".join(mixed[1]), "--by", "calls")["tests"]["significant"], 0)
	fewer = diff(",".join(before[:3]), ",".join(after))
	e2e.equal("with three", (fewer["tests"]["tested"], [row for row in fewer["rows"] if row["p"] is not None]), (0, []))
	refused("is given twice", ",".join([before[0], before[0]]), after[0])
	# One recording by other names is no repetition; windows of it are, if they are not of the same time.
	copy, link = e2e.Trace(before[0]).copy("copy of a0"), e2e.work / "link"
	link.symlink_to(before[0])
	for same in (before[0] + "/", before[0] + "/.", link, copy.directory, f"{before[0]}@10ms.."):
		refused("of the same time of one recording", f"{before[0]},{same}", after[0])
		refused("of the same time of one recording", after[0], f"{after[1]},{before[0]},{same}")
	window = e2e.Trace(before[0]).report()["summary"]["window"]
	one, two = (window["begin_ns"] + (window["end_ns"] - window["begin_ns"]) * part // 3 for part in (1, 2))
	refused("of the same time of one recording", f"{before[0]}@..{two}ns,{copy.directory}@{one}ns..", after[0])
	e2e.equal("windows of one", len(diff(f"{before[0]}@..{one}ns,{copy.directory}@{one}ns..", after[0])["rows"][0]["before_each_ns"]), 2)


def other_names_are_not_matched():
	traces = []
	for name in ("first.sh", "second.sh"):
		script = e2e.work / name
		script.write_text("#!/bin/sh\nsleep 0.01\n")
		script.chmod(0o755)
		traces.append(e2e.record(f"of-{name}", "--force", "--no-calibration", command=(script,)).directory)
	said = "the commands differ: rows are matched by name, so those of first.sh and second.sh are not matched"
	e2e.expect(said in diff(*traces)["notes"], "it does not say that nothing is matched")
	e2e.expect(not any("commands differ" in note for note in diff(traces[0], traces[0])["notes"]), "it says so of one command")


@e2e.longer
def what_is_not_known():
	trace, some = e2e.Trace(e2e.work / "a0"), getppid("some", 20_000, "--no-calibration", "-e", "sched,irq,fault")
	result = diff(trace.directory, some.directory)
	rows = find(result, kind="calls", what="getppid", recorded=True)
	e2e.equal("calls that were not recorded", [(row["before_count"], row["after_ns"], row["difference_ns"], row["leads"]) for row in rows], [(20_000, None, None, False)])
	e2e.equal("the first row", result["rows"][0]["what"] in ("all modes", "for a CPU"), True)
	e2e.equal("user time", [row["after_ns"] for row in find(result, command="workload", what="user", recorded=True)], [None])
	e2e.expect(any("different events" in note for note in result["notes"]), f"{result['notes']}")
	text = text_of(trace.directory, some.directory, "--top", "0")
	e2e.expect("different events" in text and any(line.rstrip().endswith("20,000 -> -") for line in text.splitlines()), text)
	# Killed: what is in no row may have happened.
	killed = trace.copy("killed")
	path = killed.directory / ".monitor" / "recording.json"
	recording = json.loads(path.read_text())
	recording["state"] = "incomplete"
	path.write_text(json.dumps(recording))
	e2e.expect("incomplete" in text_of(trace.directory, killed.directory), "it does not say that the recording is incomplete")
	busy = e2e.work / "busy"
	rows = find(diff(busy, killed.directory, "--by", "calls"), recorded=True, command="python3", what="clock_nanosleep")
	e2e.equal("a call that a killed recording does not have", [row["after_ns"] for row in rows], [None])
	rows = find(diff(busy, trace.directory, "--by", "calls"), recorded=True, command="python3", what="clock_nanosleep")
	e2e.equal("a call that a whole recording does not have", [(row["after_ns"], row["after_count"]) for row in rows], [(0, 0)])
	# Only the command was recorded: others are not compared.
	alone = getppid("alone", 20_000, "--no-calibration", "-p", "cmd")
	result = diff(trace.directory, alone.directory)
	e2e.equal("rows of others", [row for row in result["rows"] if not row["recorded"]], [])
	e2e.expect(find(result, what="getppid") and any("different processes" in note for note in result["notes"]), f"{result['notes']}")


@e2e.longer
def bad_input():
	good = e2e.work / "a0"
	empty = e2e.work / "empty"
	empty.mkdir()
	refused("there is no directory", e2e.work / "none", good)
	refused("has an empty name", f"{good},", good)
	refused("has an empty name", "", good)
	refused("empty", good, empty)
	refused("--by", good, good, "--by", "everything", exit_code=2)
	refused("not a number of rows", good, good, "--top", "-1", exit_code=2)
	refused("AFTER is missing: monitor diff BEFORE AFTER", good, exit_code=2)
	done = subprocess.run([e2e.monitor, "diff", f"{e2e.work}/x\x1b[31m\n", good], capture_output=True, check=False)
	e2e.expect(done.returncode == 1 and b"\x1b" not in done.stderr and done.stderr.count(b"\n") <= 2, f"{done.stderr}")
	counts = e2e.record("counts", "--force", "--no-tokens", "--count", "n=name == \"sys_enter\"", command=("true",))
	refused("has no events (--no-tokens)", good, counts.directory)
	with_comma = e2e.work / "a,b@1s..2s"
	shutil.copytree(good, with_comma)
	e2e.expect("nothing differs" in text_of(with_comma, good), "a directory with a comma")
	# Names of threads are anything.
	script = "import ctypes\nfor name in (b'\\x1b[31m', b'\\xff\\xfe,\"', b'= 1'):\n\tctypes.CDLL(None).prctl(15, name)\n\tfor i in range(20000): pass\n"
	hostile = e2e.record("hostile", "--force", "--no-calibration", command=(sys.executable, "-c", script))
	for option in ("--csv", "--json", "--top=0"):
		output = subprocess.run([e2e.monitor, "diff", option, hostile.directory, good], capture_output=True, check=True).stdout
		e2e.expect(not any(byte < 32 and byte not in (9, 10) for byte in output), f"{option}: {output[:500]}")
	damaged = e2e.Trace(good).copy("damaged")
	stream = max(damaged.directory.glob("kernel_cpu?"), key=lambda path: path.stat().st_size)
	data = bytearray(stream.read_bytes())
	data[4096 * 2:4096 * 2 + 8] = b"\xff" * 8
	stream.write_bytes(data)
	done = e2e.run(e2e.monitor, "diff", good, damaged.directory, exit_code=1)
	e2e.expect("1 packets damaged" in done.stdout and stream.name in done.stderr, f"{done.stdout[:500]}{done.stderr}")


e2e.need_recording()
e2e.main(a_call_made_more_often_is_first, a_slower_loop_is_first, the_stack_that_sleeps_longer_is_first, activities_without_those_inside, sums_are_those_of_report, windows, repetitions, other_names_are_not_matched, what_is_not_known, bad_input)
