#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions of programs that were built with sleds: a preloaded library posts their calls, and the counts are exact.

patched_functions.py MONITOR PROGRAMS WORK LIBRARY
"""
import json
import os
import re
import shutil
import subprocess
import sys

import e2e

LIBRARY = os.path.abspath(sys.argv[4])
XRAY, NOPS, STATIC = (os.path.join(e2e.programs, f"function_load_{variant}") for variant in ("xray", "nops", "static"))
THREADS, ROUNDS = 4, 500
PATCHED = ("by_return", "by_tail", "callee", "by_throw", "through", "catcher", "by_longjmp", "jumper", "recur")
EVERY = "by_*,callee,through,catcher,jumper,recur,empty,last"


def rows(trace, **wanted):
	return {row["activity"]: row for row in trace.rows("activities")
	        if all(row[key] == value for key, value in wanted.items())}


def counts(trace, names, **wanted):
	found = rows(trace, **wanted)
	return {name: found[name]["count"] if name in found else 0 for name in names}


def methods(trace):
	return {function["name"]: function["method"] for function in trace.recording()["functions"]["chosen"]}


def whole(trace):
	trace.expect_true()
	e2e.equal("events lost", trace.summary()["lost"], 0)


def every_way_out():
	"""As with probes, which functions without sleds still have in the same recording."""
	for program in (XRAY, NOPS):
		name = os.path.basename(program)
		trace = e2e.record_undisturbed(name, "--functions", EVERY, "--buffer", "64M", command=(program, THREADS, ROUNDS))
		whole(trace)
		told = json.loads(trace.output)
		methods_expected = {name: "patch" for name in (*PATCHED, "last")} | {"by_condition": "uprobe", "empty": "uprobe"}
		e2e.equal(f"{name}: methods", methods(trace), methods_expected)
		names = (*PATCHED, "by_condition", "empty")
		e2e.equal(f"{name}: calls", counts(trace, names), {function: told[function] for function in names})
		left = {function: row["left"] for function, row in rows(trace).items() if row["left"]}
		e2e.equal(f"{name}: left by exceptions and jumps", left,
		          {"by_throw": told["thrown"], "through": told["thrown"], "by_longjmp": told["by_longjmp"], "last": 1})
		e2e.equal(f"{name}: unpaired", trace.report("activities")["unpaired"], {"begins": 0, "ends": 0, "left_out": 0})
		e2e.expect("10 functions patched in the command's processes, 2 functions with" in trace.errors, trace.errors)
		if shutil.which("babeltrace2"):
			text = e2e.run("babeltrace2", trace.directory).stdout
			for end in ("entry", "exit"):
				found = len(re.findall(rf'monitor:function_{end}: .*function = \( "by_tail" :', text))
				e2e.equal(f"babeltrace2: {end} of by_tail", found, told["by_tail"])


def processes():
	"""Forked children are patched, too, and tell it on rings of their own; those of vfork() run as their parent, untold."""
	for program in (XRAY, NOPS):
		trace = e2e.record(f"family_{os.path.basename(program)}", "--functions", "by_return", command=(program, 1, 10, "family"))
		whole(trace)
		told = json.loads(trace.output)["by_return"]
		e2e.equal("calls by process", sorted(row["count"] for row in trace.rows("activities")), [3, told])
	trace = e2e.record("two", "--functions", f"{XRAY}:by_return,{NOPS}:by_return",
	                   command=("sh", "-c", f"{XRAY} 1 5; {NOPS} 1 7; {XRAY} 1 9"))
	whole(trace)
	e2e.equal("calls by process", sorted(row["count"] for row in trace.rows("activities")), [5, 7, 9])
	e2e.equal("programs", sorted(row["process"][:15] for row in trace.rows("activities")),
	          ["function_load_n", "function_load_x", "function_load_x"])


def shared_library():
	"""A library's functions are patched wherever the command's processes load it."""
	source, library, program = (e2e.work / name for name in ("library.c", "libsled.so", "user"))
	source.write_text("int counted(int x) { volatile int y = x; return y + 1; }\n")
	e2e.run("clang", "-O2", "-fPIC", "-shared", "-fxray-instrument", "-fxray-instruction-threshold=1", "-fnoxray-link-deps", source,
	        "-o", library)
	source.write_text("int counted(int); int main(void) { int s = 0; for (int i = 0; i < 100; i++) s += counted(i); return !s; }\n")
	e2e.run("gcc", source, library, "-o", program)
	trace = e2e.record_undisturbed("library", "--functions", f"{library}:counted", command=(program,))
	whole(trace)
	e2e.equal("methods", methods(trace), {"counted": "patch"})
	e2e.equal("calls", counts(trace, ["counted"]), {"counted": 100})


def probed_all_the_same():
	"""What cannot be preloaded into, or runs already, is probed."""
	def recorded(name, *options, command):
		trace = e2e.record_undisturbed(name, *options, command=command)
		whole(trace)
		e2e.equal(f"{name}: method", methods(trace), {"by_return": "uprobe"})
		return trace

	trace = recorded("static", "--functions", "by_return", command=(STATIC, 1, 20))
	e2e.equal("static: calls", counts(trace, ["by_return"])["by_return"], json.loads(trace.output)["by_return"])
	privileged = e2e.work / "privileged"
	shutil.copy(XRAY, privileged)
	privileged.chmod(0o4755)
	trace = recorded("setuid", "--functions", "by_return", command=(privileged, 1, 20))
	e2e.equal("setuid: calls", counts(trace, ["by_return"])["by_return"], json.loads(trace.output)["by_return"])
	with subprocess.Popen([XRAY, "1", "20", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
		recorder = e2e.Recorder("running", "-p", process.pid, "--functions", "by_return").wait_until_recording()
		told = json.loads(process.communicate("\n")[0])
	trace = recorder.end()
	e2e.equal("running: method", methods(trace), {"by_return": "uprobe"})
	e2e.equal("running: calls", counts(trace, ["by_return"])["by_return"], told["by_return"])


def replaced_and_damaged():
	"""A file that is not the one that was searched, and sleds with other code, are not patched; the program runs."""
	program = e2e.work / "program"
	shutil.copy(XRAY, program)
	script = f"cp {NOPS} {program}.new; mv {program}.new {program}; {program} 1 5"
	trace = e2e.record("replaced", "--functions", f"{program}:by_return", command=("sh", "-c", script))
	e2e.equal("replaced: calls", json.loads(trace.output)["by_return"], 5)
	e2e.equal("replaced: rows", trace.rows("activities"), [])
	e2e.equal("replaced: said", trace.report("activities")["patches"]["never_patched"], ["by_return"])
	e2e.expect("patched in no process, as none that inherited LD_PRELOAD started with their files: by_return" in
	           e2e.run(e2e.monitor, "report", trace.directory, "activities").stdout, "a function without calls is not said")
	content = bytearray(open(XRAY, "rb").read())
	place = int(re.search(r"^([0-9a-f]+) T by_return$", e2e.run("nm", XRAY).stdout, re.M)[1], 16)
	segment = re.search(r"LOAD +0x([0-9a-f]+) 0x([0-9a-f]+) .* R E ", e2e.run("readelf", "-lW", XRAY).stdout)
	at = place - int(segment[2], 16) + int(segment[1], 16)
	e2e.equal("the sled's code", content[at:at + 2], b"\xeb\x09")
	content[at:at + 3] = b"\x90\xeb\x08"  # the same, in other instructions
	# In the file that was searched, which looks as it did then.
	damaged = e2e.work / "damaged_program"
	damaged.write_bytes(content)
	shutil.copy2(XRAY, program)
	script = f"cat {damaged} > {program}; touch -r {XRAY} {program}; {program} 1 5"
	trace = e2e.record("damaged", "--functions", f"{program}:by_return", command=("sh", "-c", script))
	e2e.equal("damaged: calls", json.loads(trace.output)["by_return"], 5)
	patched = [json.loads(line)["fields"] for line in
	           e2e.run(e2e.monitor, "list", "--json", "--event", "monitor:functions_patched", trace.directory).stdout.splitlines()]
	e2e.equal("damaged: sleds refused", [(event["functions"], event["refused_sleds"]) for event in patched], [(0, 3)])
	e2e.equal("damaged: said", (trace.report("activities")["patches"]["refused_sleds"], trace.rows("activities")), (3, []))


@e2e.longer
def hard_programs():
	"""Programs that unwind in signal handlers, leave them by a jump, overwrite their environment, allow no new code, replace
	functions of libc, or load no library as glibc does run as ever, and are recorded where that is possible."""
	here = os.path.dirname(__file__)
	xray = ("clang", "-O2", "-fasynchronous-unwind-tables", "-fxray-instrument", "-fxray-instruction-threshold=1", "-fnoxray-link-deps")
	nops = ("gcc", "-O2", "-fno-pie", "-no-pie", "-pg", "-mfentry", "-mnop-mcount", "-mrecord-mcount", "-minstrument-return=nop5",
	        "-mrecord-return")
	for name, compiler, more in (("xray", xray, ()), ("nops", nops, ()), ("own_open", xray, ("-DOWN_OPEN",))):
		program = e2e.work / f"hard_{name}"
		e2e.run(*compiler, *more, os.path.join(here, "hard_load.c"), "-o", program)
		for way in ("plain",) if more else ("unwind", "leave", "title", "no_new_code", "plain"):
			trace = e2e.record(f"{name}_{way}", "-e", "sched", "--functions", "called", "--buffer", "64M", command=(program, way))
			found = rows(trace).get("called", {}).get("count", 0) if way in ("unwind", "plain") else \
				sum(row["count"] for row in trace.rows("activities"))
			told = int(trace.output.split()[-1])
			if way == "no_new_code" and "unknown" not in trace.output:
				e2e.equal(f"{name} {way}: calls told and recorded", (told, found), (10, 0))
			elif way == "leave":
				e2e.equal(f"{name} {way}: calls of the parent", told, 0)
			elif way == "unwind":
				lost = trace.recording()["user_card"]["discarded"]
				e2e.expect(found == told or (lost and found < told), f"{name} {way}: {found} of {told} calls")
			else:
				e2e.equal(f"{name} {way}: calls", found, told)
	source = os.path.join(here, "hot_load.c")
	for name, compiler in (("musl", ("musl-gcc",)), ("asan", ("gcc", "-fsanitize=address")), ("tsan", ("clang", "-fsanitize=thread"))):
		other = e2e.work / name
		built = shutil.which(compiler[0]) and \
			subprocess.run([*compiler, "-O1", source, "-o", str(other)], stderr=subprocess.DEVNULL, check=False).returncode == 0
		if not built or subprocess.run([other], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
			e2e.leave_out(f"a program of {' '.join(compiler)}", "it cannot be built or run here")
			continue
		trace = e2e.record(f"beside_{name}", "-e", "sched", "--functions", f"{XRAY}:by_return",
		                   command=("sh", "-c", f"{XRAY} 1 5 > /dev/null; {other} 3"))
		e2e.equal(f"{name}: it runs", trace.output.split(), ["3"])
		e2e.equal(f"{name}: calls of the other", counts(trace, ["by_return"]), {"by_return": 5})


def hostile_sleds():
	"""Sleds that do not begin an instruction, or do not end in their function, are none."""
	source, program = e2e.work / "hostile.s", e2e.work / "hostile"
	source.write_text("""	.text
	.globl in_the_middle, too_long, main
	.type in_the_middle, @function
in_the_middle: .byte 0xb8, 0xeb, 0x09, 0, 0
	mov $1, %eax
	mov $1, %eax
	mov $1, %eax
.Lr1:	ret
	.byte 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0
	.size in_the_middle, . - in_the_middle
	.type too_long, @function
too_long: .byte 0xeb, 0x09, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0
.Lr2:	ret
	.size too_long, . - too_long
	.type main, @function
main:	push %rbp
	call in_the_middle
	call too_long
	xor %eax, %eax
	pop %rbp
	ret
	.size main, . - main
	.section xray_instr_map, "a", @progbits
	.macro sled at, function, kind
0:	.quad \\at - 0b, \\function - 0b - 8
	.byte \\kind, 1, 2
	.zero 13
	.endm
	sled in_the_middle + 1, in_the_middle, 0
	sled .Lr1, in_the_middle, 1
	sled too_long, too_long, 0
	sled .Lr2, too_long, 1
	.section .note.GNU-stack, "", @progbits
""")
	e2e.run("gcc", source, "-o", program)
	listed = {row["name"]: row["method"] for row in json.loads(e2e.run(e2e.monitor, "events", "--json", "--functions", program).stdout)}
	e2e.equal("methods", (listed["in_the_middle"], listed["too_long"]), ("uprobe", "uprobe"))
	trace = e2e.record_undisturbed("of_hostile", "--functions", "in_the_middle,too_long", command=(program,))
	e2e.equal("calls", counts(trace, ("in_the_middle", "too_long")), {"in_the_middle": 1, "too_long": 1})


@e2e.longer
def budget():
	"""The costliest is left out in the running process, and that is said; the others are counted to the end."""
	program = e2e.work / "hot_load"
	e2e.run("clang", "-O2", "-fxray-instrument", "-fxray-instruction-threshold=1", "-fnoxray-link-deps",
	        os.path.join(os.path.dirname(__file__), "hot_load.c"), "-o", program)
	e2e.calibrated = True
	rounds, calls = 1200, 3000  # about 5 million events a second, so that a ring of 8 MiB lasts longer than a late recorder
	trace = e2e.record("budget", "--functions", "hot,rare,main", "--budget", "2%", command=(program, rounds, calls))
	e2e.calibrated = False
	whole(trace)
	e2e.equal("events lost in the program", trace.summary()["claimed_lost"], 0)
	left_out = trace.report("activities")["left_out_by_budget"]
	if not e2e.equal("left out", [function["name"] for function in left_out], ["hot"]):
		return
	found = rows(trace)
	e2e.equal("calls of the others", (found["rare"]["count"], found["main"]["count"]), (rounds, 1))
	e2e.expect(10000 < found["hot"]["count"] < rounds * calls, f"calls of the one left out: {found['hot']}")
	e2e.equal("left by exceptions", {name: row["left"] for name, row in found.items()}, {"hot": 0, "rare": 0, "main": 0})
	e2e.expect(left_out[0]["percent"] > 2 and left_out[0]["events"] > 10000, f"{left_out}")


def cost_is_said():
	"""Beforehand, per call, and afterwards, of all."""
	done = e2e.run(e2e.monitor, "record", "-o", e2e.work / "cost", "--functions", "by_return", "--", XRAY, 1, 1000)
	found = re.search(r"1 function patched in the command's processes \(a call takes (\d+) to (\d+) ns longer\)", done.stderr)
	if not e2e.expect(found, done.stderr):
		return
	low, high = (float(ns) for ns in found.groups())
	e2e.expect(5 < low <= high < 5000, f"a call takes {low} to {high} ns longer")  # two reads of the clock; a system call
	patches = e2e.Trace(e2e.work / "cost").report("activities")["patches"]
	e2e.equal("events", patches["events"], 2000)
	listed = json.loads(e2e.run(e2e.monitor, "events", "--json", "--functions", f"{XRAY}:by_return").stdout)
	e2e.equal("listed", [(row["method"], row["places"]) for row in listed], [("patch", 3)])
	e2e.expect(5 < listed[0]["ns_per_call"][0] <= listed[0]["ns_per_call"][1] < 5000, f"listed: {listed}")
	e2e.expect(2000 * low / 2 - 1000 <= patches["events_ns"] <= 2000 * high / 2 + 1000, f"{patches} is not within {low} to {high} ns a call")


def library_keeps_registers():
	"""No vector register is used, and nothing of another library but what the constructors call."""
	code = e2e.run("objdump", "-d", "--no-show-raw-insn", LIBRARY).stdout
	e2e.expect("<monitor_post_entry>" in code or "<monitor_called_at_entry>" in code, "objdump shows no code")
	e2e.equal("vector instructions", re.findall(r".*%(?:[xyz]mm|st|mm|k)\d*.*", code), [])
	undefined = {line.split()[-1].split("@")[0] for line in e2e.run("nm", "-D", LIBRARY).stdout.splitlines() if " U " in line}
	# When vfork() fails. Not open() and the like, which programs replace.
	e2e.equal("called of others", undefined, {"__errno_location"})
	exported = {line.split()[-1] for line in e2e.run("nm", "-D", "--defined-only", LIBRARY).stdout.splitlines() if " T " in line}
	e2e.equal("functions that programs see", exported, {"vfork"})


e2e.need_recording()
if not os.path.exists(XRAY):
	e2e.skip("clang++ or g++ is not installed")
e2e.main(library_keeps_registers, every_way_out, processes, shared_library, probed_all_the_same, replaced_and_damaged, cost_is_said, budget, hard_programs, hostile_sleds)
