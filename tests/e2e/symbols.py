#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of functions on stacks: what was inlined and its lines, wherever the symbols are (in the file, in another one,
packed in .gnu_debugdata), functions that a program made as it ran, and traces that are read elsewhere."""
import json
import lzma
import os
import pathlib
import platform
import re
import shutil

import e2e

SOURCE = pathlib.Path(__file__).with_name("stack_inlined.cpp").read_text().splitlines()
CHAIN = ["main", "outer", "middle (inlined)", "innermost (inlined)"]
program = e2e.work / "bin" / "inlined"


def line_of(function):
	return 1 + next(i for i, line in enumerate(SOURCE) if line.endswith(f"// line of {function}"))


def stacks(trace, *options, process="inlined", by="cpu"):
	"""[(frames below the process, from the outermost, count)]"""
	done = e2e.run(e2e.monitor, "report", trace, "stacks", "--by", by, "--folded", *options)
	lines = [line.rsplit(" ", 1) for line in done.stdout.splitlines()]
	return [(frames.split(";")[1:], int(count)) for frames, count in lines if frames.split(";")[0] == process], done.stderr


def total(found):
	return sum(count for _, count in found)


def share(found, *chain):
	"""Of the samples: how many have these frames one after another."""
	has = [count for frames, count in found
	       if any(frames[i:i + len(chain)] == list(chain) for i in range(len(frames)))]
	return sum(has) / max(total(found), 1)


def recorded():
	return e2e.work / "inlined.trace"


def inlined_functions():
	"""The innermost loop takes nearly all of the time; the chain to it is the source's."""
	program.parent.mkdir()
	shutil.copy(os.path.join(e2e.programs, "stack_inlined"), program)
	e2e.run(e2e.monitor, "record", "-o", recorded(), "--no-calibration", "--stacks=cpu", "--rate", "499", "--", program, "2")
	found, notes = stacks(recorded())
	e2e.expect(total(found) > 100, f"{total(found)} samples")
	e2e.expect(share(found, *CHAIN) > 0.9, f"{share(found, *CHAIN):.3f} of the samples are in the inlined loop: {found}")
	e2e.expect(not re.search(f"cannot be read|{program} is gone", notes), notes)
	found, _ = stacks(recorded(), "--lines")
	lines = [f"{frame} (stack_inlined.cpp:{line_of(name)})"
	         for frame, name in zip(CHAIN, ("main", "outer", "middle", "innermost"))]
	# the loop's counter is on the line before its body
	lines = [lines[:3] + [lines[3].replace(f":{line_of('innermost')}", f":{line}")] for line in
	         (line_of("innermost"), line_of("innermost") - 1)]
	e2e.expect(sum(share(found, *chain) for chain in lines) > 0.9, f"lines: {found[:5]}")
	rows = json.loads(e2e.run(e2e.monitor, "report", recorded(), "stacks", "--lines", "--json", "--command").stdout)["rows"]
	e2e.expect(rows[0]["line"] in [f"stack_inlined.cpp:{line_of('innermost') - i}" for i in (0, 1)], f"{rows[0]}")


def separate_files():
	"""Debug information by itself; found by its build id, not by another's."""
	debug = e2e.work / "debug"
	build_id = re.search(r"Build ID: (\w+)", e2e.run("readelf", "-n", program).stdout)[1]
	separate = debug / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
	separate.parent.mkdir(parents=True)
	with_all, _ = stacks(recorded())
	e2e.run("objcopy", "--only-keep-debug", program, separate)
	whole = e2e.work / "whole"
	shutil.copy(program, whole)
	e2e.run("strip", program)
	without, _ = stacks(recorded())
	e2e.expect(total(without) == total(with_all) and share(without, CHAIN[1]) == 0, f"names in a stripped file: {without[:3]}")
	unnamed = {frame for frames, _ in without for frame in frames if frame.startswith("inlined+0x")}
	recordable = {row["name"] for row in json.loads(e2e.run(e2e.monitor, "events", "--json", "--functions", program).stdout)}
	e2e.expect(unnamed & recordable and len(unnamed - recordable) <= 1, # a stub of the linker's
	           f"functions without a name: {unnamed}; --functions calls them {recordable}")
	found, _ = stacks(recorded(), "--debug-dir", debug)
	e2e.equal("by build id", sorted(found), sorted(with_all))
	flat = e2e.work / "flat"
	flat.mkdir()
	shutil.copy(separate, flat / "inlined.debug")
	e2e.equal("by name", sorted(stacks(recorded(), "--debug-dir", flat)[0]), sorted(with_all))
	shutil.copy(os.path.join(e2e.programs, "jit_load"), flat / "inlined.debug")
	e2e.equal("another program's", sorted(stacks(recorded(), "--debug-dir", flat)[0]), sorted(without))
	content = separate.read_bytes()
	for damaged in (content[:len(content) // 2], content[:4096] + bytes(len(content) - 4096),
	                content[:len(content) // 3] + os.urandom(len(content) // 3) + content[2 * len(content) // 3:]):
		separate.write_bytes(damaged)
		found, _ = stacks(recorded(), "--debug-dir", debug)
		e2e.equal("samples with damaged debug information", total(found), total(with_all))
	separate.write_bytes(content)
	# symbols as distributions pack them: of functions that .dynsym does not have
	small, packed = e2e.work / "small", e2e.work / "small.xz"
	e2e.run("objcopy", "--only-keep-debug", whole, small)
	e2e.run("objcopy", "--strip-debug", small)
	packed.write_bytes(lzma.compress(small.read_bytes()))
	e2e.run("objcopy", "--add-section", f".gnu_debugdata={packed}", program)
	found, _ = stacks(recorded())
	e2e.expect(share(found, "main", CHAIN[1]) > 0.9, f"names by .gnu_debugdata: {found[:3]}")
	e2e.run("objcopy", "--remove-section", ".gnu_debugdata", program)


@e2e.longer
def same_or_other_file():
	"""Not any file that is at the path by now, or that claims to be the same by its build id."""
	source = e2e.work / "named.c"
	source.write_text("""
#include <stdlib.h>
#include <time.h>
__attribute__((noipa)) void NAME(double s) {
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	do clock_gettime(CLOCK_MONOTONIC, &b); while (b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9 < s);
}
int main(int count, char **words) { NAME(atof(words[1])); return count == 0; }
#ifdef MORE
__attribute__((noipa, used)) int more(int n) { return n * 3; }
#endif
""")
	def build(name, function, *options):
		e2e.run("gcc", "-O1", f"-DNAME={function}", *options, source, "-o", e2e.work / name)
		return e2e.work / name
	unidentified = build("unidentified", "one_name", "-Wl,--build-id=none")
	e2e.run(e2e.monitor, "record", "-o", e2e.work / "no_id", "--no-calibration", "--stacks=cpu", "--", unidentified, "0.4")
	found, _ = stacks(e2e.work / "no_id", process="unidentified")
	e2e.expect(share(found, "one_name") > 0.8, f"named by the file as it was: {found}")
	shutil.move(build("other", "other_name", "-Wl,--build-id=none"), unidentified)
	found, notes = stacks(e2e.work / "no_id", process="unidentified")
	e2e.expect(share(found, "other_name") == 0 and f"{unidentified} is gone or another file" in notes, f"named by another file: {found} {notes}")
	forged = "-Wl,--build-id=0x00112233445566778899aabbccddeeff00112233"
	first, second = build("first_of_id", "first_name", forged), build("second_of_id", "second_name", forged, "-DMORE", "-g")
	e2e.run(e2e.monitor, "record", "-o", e2e.work / "ids", "--no-calibration", "--stacks=cpu", "--", "sh", "-c", f"{first} 0.3; {second} 0.4")
	for name, process in (("first_name", "first_of_id"), ("second_name", "second_of_id")):
		found, _ = stacks(e2e.work / "ids", process=process)
		e2e.expect(share(found, "main", name) > 0.8, f"{process}: {found}")


def maps_of_others():
	"""In /tmp anybody may write a map for any process."""
	program = os.path.join(e2e.programs, "jit_load")
	os.chdir(e2e.work)
	e2e.run(e2e.monitor, "record", "-o", e2e.work / "foreign", "--no-calibration", "--stacks=cpu", "--", program, "map")
	made = pathlib.Path(f"/tmp/perf-{json.loads((e2e.work / 'foreign/.monitor/recording.json').read_text())['command_pid']}.map")
	found, _ = stacks(e2e.work / "foreign", process="jit_load")
	e2e.expect(share(found, "jit_first") > 0.2, f"of our own: {found}")
	os.chown(made, 12345, 12345)
	found, notes = stacks(e2e.work / "foreign", process="jit_load")
	made.unlink()
	e2e.expect(share(found, "jit_first") == 0 and f"{made} belongs to another user" in notes, f"of another user: {found} {notes}")


@e2e.longer
def packed_trace():
	"""After `pack` the trace says the same without the program, its debug information and the kernel's symbols."""
	elsewhere = e2e.work / "elsewhere"
	before = {options: stacks(recorded(), "--debug-dir", e2e.work / "debug", *options)[0] for options in ((), ("--lines",))}
	done = e2e.run(e2e.monitor, "pack", recorded(), "--debug-dir", e2e.work / "debug")
	e2e.expect("addresses are in the trace now" in done.stdout, done.stdout)
	again = (recorded() / ".monitor/frames").read_text()
	e2e.run(e2e.monitor, "pack", recorded())
	e2e.equal("packed again", (recorded() / ".monitor/frames").read_text(), again)
	e2e.expect(not (recorded() / ".monitor/kallsyms").exists(), "the kernel's symbols are still there")
	shutil.copytree(recorded(), elsewhere)
	shutil.rmtree(program.parent)
	shutil.rmtree(e2e.work / "debug")
	for options, found in before.items():
		e2e.equal(f"read elsewhere {options}", sorted(stacks(elsewhere, *options)[0]), sorted(found))
	frames = elsewhere / ".monitor/frames"
	content = frames.read_bytes()
	for damaged in (b"", content[:len(content) // 2], b"[]\n{}\n" * 1000, b'{"file": 1, "at": -1, "frames": [[1, 2]]}\n', os.urandom(5000),
	                b'{"kernel": 1, "frames": [["' + b"a" * 100000 + b'", ""]]}\n'):
		frames.write_bytes(damaged)
		e2e.equal("samples with damaged names", total(stacks(elsewhere)[0]), total(before[()]))
	done = e2e.run(e2e.monitor, "pack", e2e.record("plain", command=("true",)).directory, exit_code=1)
	e2e.expect("record with --stacks" in done.stderr, done.stderr)


@e2e.longer
def functions_made_while_running():
	"""By a map the latest of all times; by a jitdump the one that was there then. Their caller is found."""
	os.chdir(e2e.work)
	for how, names in (("map", ("jit_first", "jit_second(int, <T>)")), ("dump", ("jit_first", "jit_second(int, <T>)"))):
		trace = e2e.record(how, "--stacks=cpu", "--rate", "499", command=(os.path.join(e2e.programs, "jit_load"), how))
		process = trace.info()["recording"] and json.loads((trace.directory / ".monitor/recording.json").read_text())["command_pid"]
		made = pathlib.Path(f"/tmp/perf-{process}.map" if how == "map" else f"jit-{process}.dump")
		found, _ = stacks(trace.directory, process="jit_load")
		for name in names:
			e2e.expect(0.3 < share(found, name) < 0.6, f"{how}: {share(found, name):.3f} of the samples in {name}: {found[:6]}")
		callers = {name: {"right": 0} for name in names}
		for frames, count in found:
			for name in set(names) & set(frames):
				caller = frames[frames.index(name) - 1]
				caller = "right" if "call_for_a_while" in caller else caller
				callers[name][caller] = callers[name].get(caller, 0) + count
		# until the recorder has heard of the process, and of the mapping, the walk ends there: while the first one runs
		early = [callers[names[0]].pop(f"[truncated: {why}]", 0) for why in ("process not known", "address not mapped")]
		# before its frame pointer is set, and after, a function that has no table has no frame
		bare = sum(of.pop(caller) for of in callers.values() for caller in list(of) if caller.startswith("[truncated: unknown rule"))
		right = [of.pop("right") for of in callers.values()]
		e2e.expect(not any(callers.values()) and right[0] > 0 and sum(right) > max(sum(early), 50 * bare),
		           f"{how}: called by {callers}, right {right}, early {early}, without a frame {bare}")
		e2e.run(e2e.monitor, "pack", trace.directory)
		content = made.read_bytes()
		made.unlink()
		e2e.equal(f"{how}: packed", sorted(stacks(trace.directory, process="jit_load")[0]), sorted(found))
		(trace.directory / ".monitor/frames").unlink()
		for other in (content[:len(content) // 2 - 3], os.urandom(1000), b"", content):  # written after the recording's end
			made.write_bytes(other)
			late, _ = stacks(trace.directory, process="jit_load")
			e2e.equal(f"{how}: samples", total(late), total(found))
			e2e.equal(f"{how}: samples named by a younger file", share(late, names[0]), 0)
		made.unlink()


e2e.need_recording()
if platform.machine() != "x86_64":
	e2e.skip("the programs' machine code is for x86-64")
for tool in ("readelf", "objcopy", "strip"):
	e2e.need_program(tool)
e2e.main(inlined_functions, separate_files, packed_trace, functions_made_while_running, same_or_other_file, maps_of_others)
