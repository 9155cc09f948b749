#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls of functions of programs that were not built for it: counts exact for every way out of a function."""
import json
import os
import re
import shutil
import subprocess

import e2e

LOAD = os.path.join(e2e.programs, "function_load")
THREADS, ROUNDS = 4, 60
EVERY = "by_*,callee,through,catcher,jumper,recur,empty,last"


def calls(trace, process="function_load"):
	return {row["activity"]: row for row in trace.rows("activities") if row["process"] == process}


def expect_counts(trace, told, names):
	rows = calls(trace)
	e2e.equal("calls", {name: rows[name]["count"] for name in names if name in rows}, {name: told[name] for name in names})
	return rows


def expect_whole(trace):
	trace.expect_true()
	summary = trace.summary()
	e2e.equal("events lost", summary["lost"], 0)


def every_way_out():
	"""Return, tail call, conditional tail call, exception, longjmp, recursion, from four threads; the program survives."""
	trace = e2e.record_undisturbed("every", "--functions", EVERY, command=(LOAD, THREADS, ROUNDS))
	expect_whole(trace)
	told = json.loads(trace.output)
	rows = expect_counts(trace, told, [name for name in told if name not in ("thrown", "taken", "getppid")])
	left = {name: row["left"] for name, row in rows.items() if row["left"]}
	e2e.equal("left by exceptions and jumps", left,
	          {"by_throw": told["thrown"], "through": told["thrown"], "by_longjmp": told["by_longjmp"], "last": 1})  # the thread ends in it
	e2e.equal("unpaired", trace.report("activities")["unpaired"], {"begins": 0, "ends": 0, "left_out": 0})
	recur = rows["recur"]
	e2e.expect(recur["total_ns"] < recur["count"] * recur["mean_ns"], f"levels of a recursion are counted twice: {recur}")
	e2e.expect(rows["catcher"]["total_ns"] > rows["through"]["total_ns"] > rows["by_throw"]["total_ns"], "callers take no longer")
	e2e.expect("uprobes" in trace.errors, trace.errors)
	if shutil.which("babeltrace2"):
		text = e2e.run("babeltrace2", trace.directory).stdout
		for name, ends in (("by_tail", "entry"), ("by_tail", "exit"), ("recur", "entry"), ("recur", "exit")):
			found = len(re.findall(rf'function_{ends}: .*function = \( "{name}" :', text))
			e2e.equal(f"babeltrace2: {ends} of {name}", found, told[name])
	sql = e2e.run(e2e.monitor, "query", "--csv", trace.directory, "SELECT count(*) FROM activities WHERE name = 'recur'").stdout
	e2e.equal("rows of SQL", sql.split()[-1], str(told["recur"]))


def decided_in_the_kernel():
	"""Calls that --filter keeps, --count counts and --time measures, in probes that may be preempted."""
	entry, leave = ('name == "function_%s" and function == "by_tail" and tid > 1' % edge for edge in ("entry", "exit"))
	trace = e2e.record_undisturbed("decided", "--no-calibration", "--functions", "by_*,recur", "--filter", entry, "--count", f"tails={entry}",
	                               "--count", 'all=name == "function_entry"', "--time", f"calls={entry} .. {leave} per tid",
	                               command=(LOAD, THREADS, ROUNDS))
	told = json.loads(trace.output)
	said = json.loads(e2e.run(e2e.monitor, "report", "--json", trace.directory, "counts").stdout)
	counts = {row["name"]: row["count"] for row in said["rows"]}
	e2e.equal("counts", counts, {"tails": told["by_tail"], "all": sum(told[name] for name in told if name.startswith("by_") or name == "recur")})
	e2e.equal("times", (said["times"][0]["number"], said["times"][0]["open"]), (told["by_tail"], 0))
	functions = [event["event"] for event in trace.events() if event["event"].startswith("function_")]
	e2e.equal("kept", functions, ["function_entry"] * told["by_tail"])
	trace.expect_true()


def cost_is_said():
	done = e2e.run(e2e.monitor, "record", "-o", e2e.work / "cost", "--functions", "by_return", "--", LOAD, 1, 5)
	found = re.search(r"1 function with \d uprobes \(a call takes (\d+) to (\d+) ns longer\)", done.stderr)
	if e2e.expect(found, done.stderr):
		measured = e2e.Trace(e2e.work / "cost").recording()["calibration"]["start"]["function"]
		e2e.equal("cost of a call", tuple(f"{2 * measured[end]:.0f}" for end in ("low", "high")), found.groups())


def stripped():
	"""A function without a name is chosen by its address; -p cmd keeps other processes out."""
	symbols = e2e.run("nm", LOAD).stdout
	program = e2e.work / "bare"
	shutil.copy(LOAD, program)
	e2e.run("strip", program)
	places = {name: int(re.search(rf"^([0-9a-f]+) T {name}$", symbols, re.M)[1], 16) for name in ("by_return", "by_tail", "recur")}
	patterns = ",".join(f"bare+{place:#x}" for place in places.values())
	trace = e2e.record_undisturbed("stripped", "-p", "cmd", "--functions", patterns, command=(program, 1, ROUNDS))
	expect_whole(trace)
	told = json.loads(trace.output)
	rows = calls(trace, "bare")
	e2e.equal("calls", {name: rows[f"bare+{place:#x}"]["count"] for name, place in places.items()},
	          {name: told[name] for name in places})


def names_apart():
	"""The names of a stripped program are those of the file that it says they are in; without it, where that was sought is said."""
	program, names = e2e.work / "apart", e2e.work / "apart.debug"
	shutil.copy(LOAD, program)
	e2e.run("objcopy", "--only-keep-debug", program, names)
	e2e.run("strip", program)
	e2e.run("objcopy", f"--add-gnu-debuglink={names}", program)
	record = ("-p", "cmd", "--functions", "by_return,by_tail,recur")
	trace = e2e.record_undisturbed("apart_trace", *record, command=(program, 1, ROUNDS))
	told, rows = json.loads(trace.output), calls(trace, "apart")
	e2e.equal("calls", {name: rows[name]["count"] for name in ("by_return", "by_tail", "recur")},
	          {name: told[name] for name in ("by_return", "by_tail", "recur")})
	for spoil in (lambda: e2e.run("objcopy", "--only-keep-debug", e2e.workload, names), names.unlink):  # another program's; none
		spoil()
		said = e2e.run(e2e.monitor, "record", "-o", e2e.work / "none", *record, "--", program, 1, 1, exit_code=125).stderr
		e2e.expect(str(names) in said and "no such function" in said, f"what is not found is not said: {said}")


def shared_library():
	trace = e2e.record_undisturbed("library", "-p", "cmd", "--functions", "libc.so.6:getppid,by_tail", command=(LOAD, 2, ROUNDS))
	expect_whole(trace)
	expect_counts(trace, json.loads(trace.output), ("getppid", "by_tail"))


def running_process():
	def attached():
		with subprocess.Popen([LOAD, "2", str(ROUNDS), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
			recorder = e2e.Recorder("running", "-p", process.pid, "--functions", "by_*,callee").wait_until_recording()
			told = process.communicate("\n")[0]
		trace = recorder.end()
		trace.pid, trace.told = process.pid, json.loads(told)
		return trace

	trace = e2e.undisturbed(attached, lambda trace: trace.family({trace.pid}))
	expect_whole(trace)
	expect_counts(trace, trace.told, ("by_return", "by_tail", "callee", "by_throw"))


def refused():
	"""What cannot be probed is not, and is told; what matches nothing is an error."""
	trace = e2e.record("left_out", "--functions", "looped,by_return", command=(LOAD, 1, 1))
	e2e.expect("looped: a loop in it begins at its first instruction" in trace.errors, trace.errors)
	script = e2e.work / "script"
	script.write_text("#!/bin/sh\n")
	script.chmod(0o755)
	for patterns, command, sentence in (("no_such", (LOAD,), "has no such function"), ("looped", (LOAD,), "none of these can be probed"),
	                                    ("a", (script,), "has no such function"), ("a,", (LOAD,), "empty"),
	                                    ("/no/file:a", (LOAD,), "there is no file"), ("libnone.so:a", (LOAD,), "there is no file"),
	                                    ("/etc:a", (LOAD,), "is not a file"), ("a", (), "of which program")):
		done = e2e.run(e2e.monitor, "record", "-d", "1", "-o", e2e.work / "refused", "--functions", patterns, *(("--", *command) if command else ()),
		               exit_code=125)
		e2e.expect(sentence in done.stderr and len(done.stderr.splitlines()) == 1, f"{patterns}: {done.stderr}")
	e2e.expect(not (e2e.work / "refused").exists(), "a refused recording leaves a directory")


def listed():
	"""What can be recorded of a program, as record does it."""
	rows = {row["name"]: row for row in json.loads(e2e.run(e2e.monitor, "events", "--json", "--functions", LOAD).stdout)}
	condition = rows["by_condition"]
	e2e.equal("probes of a conditional tail call", (condition["method"], condition["places"]), ("uprobe", 3))
	e2e.expect(0 < condition["ns_per_call"][0] <= condition["ns_per_call"][1], f"a call takes longer: {condition}")
	e2e.equal("looped", (rows["looped"]["method"], "loop" in rows["looped"]["why_not"]), (None, True))
	text = e2e.run(e2e.monitor, "events", "--functions", f"{LOAD}:by_*").stdout
	e2e.equal("names", sorted(line.split()[0] for line in text.splitlines()[1:]),
	          ["by_condition", "by_longjmp", "by_return", "by_tail", "by_throw"])


@e2e.longer
def names_of_cpp():
	"""As the list prints them, with commas; templates by their plain name; and longer than a description may have them."""
	source, program = e2e.work / "names.cpp", e2e.work / "names"
	source.write_text("""#include <map>
#include <string>
template <class T> __attribute__((noinline)) T twice(T x) { asm volatile(""); return x * 2; }
using Long = std::map<std::string, std::map<std::string, std::map<std::string, std::map<std::string, std::string>>>>;
namespace ns {
__attribute__((noinline)) int add(int a, int b) { asm volatile(""); return a + b; }
__attribute__((noinline)) int take(Long a, Long) { asm volatile(""); return (int)a.size(); }
__attribute__((noinline)) int take(Long a, Long, int) { asm volatile(""); return (int)a.size(); }
}
int main() { for (int i = 0; i < 10; i++) ns::add(twice(i), 1); return ns::take({}, {}) + ns::take({}, {}, 1); }
""")
	e2e.run("g++", "-O1", source, "-o", program)
	listed = [row["name"] for row in json.loads(e2e.run(e2e.monitor, "events", "--json", "--functions", f"{program}:ns::add").stdout)]
	e2e.equal("listed", listed, ["ns::add(int, int)"])
	for name, pattern, count in (("comma", listed[0], 10), ("template", "twice", 10), ("arguments", "twice<int>", 10), ("both", "ns::add,twice", 20),
	                             ("long", "ns::take", 2)):
		trace = e2e.record_undisturbed(f"names_{name}", "--functions", pattern, command=(program,))
		expect_whole(trace)
		e2e.equal(f"{name}: calls", sum(row["count"] for row in trace.rows("activities")), count)


@e2e.longer
def budget():
	"""The costliest function is left out while the program runs, and that is said; the others are counted to the end."""
	program = e2e.work / "hot_load"
	e2e.run("gcc", "-O2", os.path.join(os.path.dirname(__file__), "hot_load.c"), "-o", program)
	e2e.calibrated = True
	trace = e2e.record_undisturbed("budget", "--functions", "hot,rare,main", "--budget", "5%", command=(program, 300, 2000))
	e2e.calibrated = False
	whole = trace.report("activities")
	left_out = whole["left_out_by_budget"]
	if not e2e.equal("left out", [function["name"] for function in left_out], ["hot"]):
		return
	expect_whole(trace)
	rows = calls(trace, "hot_load")
	e2e.equal("calls of the others", (rows["rare"]["count"], rows["main"]["count"]), (300, 1))
	e2e.expect(2000 < rows["hot"]["count"] < 600000, f"calls of the one left out: {rows['hot']}")
	e2e.equal("left by exceptions", {name: row["left"] for name, row in rows.items()}, {"hot": 0, "rare": 0, "main": 0})
	e2e.expect(left_out[0]["time_s"] < 3 and left_out[0]["percent"] > 5, f"{left_out}")
	# Its events in the last look's time, of which each call has two; before and after it there are more.
	e2e.expect(left_out[0]["events"] * 0.5 < 2 * rows["hot"]["count"] < left_out[0]["events"] * 10, f"{left_out}, {rows['hot']}")
	text = e2e.run(e2e.monitor, "report", trace.directory, "activities").stdout
	e2e.expect("left out by the budget of 5 %: hot from" in text, text)
	for options, sentence in ((("--budget", "5%"), "needs --functions"), (("--functions", "hot", "--budget", "x"), "share of the CPU time"),
	                          (("--functions", "hot", "--budget", "0"), "share of the CPU time"),
	                          (("--functions", "hot", "--budget", "5", "--no-calibration"), "leave out --no-calibration")):
		done = e2e.run(e2e.monitor, "record", "-o", e2e.work / "no", *options, "--", program, exit_code=125)
		e2e.expect(sentence in done.stderr, f"{options}: {done.stderr}")


def damaged_programs():
	"""Cut and damaged files are refused or searched, and harm nothing."""
	content = open(LOAD, "rb").read()
	program = e2e.work / "damaged"
	for damage in (content[:64], content[:len(content) // 2], content[:-2000], content[:0x28] + b"\xff" * 8 + content[0x30:], b"\x7fELF" + os.urandom(3000)):
		program.write_bytes(damage)
		done = e2e.run(e2e.monitor, "record", "-d", "0.1", "--no-calibration", "-o", e2e.work / "of_damaged", "--force", "--functions", f"{program}:by_*",
		               exit_code=None)
		e2e.expect(done.returncode in (0, 125), f"exit code {done.returncode}: {done.stderr}")


e2e.need_recording()
if not os.path.exists(LOAD):
	e2e.skip("functions are recorded on x86-64 only")
e2e.main(every_way_out, decided_in_the_kernel, cost_is_said, stripped, names_apart, shared_library, running_process, listed, refused, names_of_cpp, budget, damaged_programs)
