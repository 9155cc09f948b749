#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CTF 2: `monitor` reads what was written by the specification, and says in one sentence what is wrong with anything else.

ctf2.py MONITOR WORK_DIRECTORY [--only NAME] [--seeds N]   one line per case; N traces of random field classes
ctf2.py ... --babeltrace                                   babeltrace 2.1 reads the same; skipped where it is older
"""
import argparse
import json
import pathlib
import re
import resource
import shutil
import subprocess
import sys

import printed
from cases2 import BEYOND, VALID, random_trace
from invalid2 import HOSTILE, INVALID, PREAMBLE, text_of
from writer2 import Int, Struct, simple

PLACE = re.compile(r"line \d+, column \d+: ")
DIED = "it died"  # reading.babeltrace()'s words
MAX_MEMORY = 1 << 30  # of hostile descriptions of up to 10 MB


def as_written(who, events, trace):
	rows = [(event.name, event.context, event.fields) for event in events]
	for at, (read, written) in enumerate(zip(rows, trace.log)):
		if not printed.same({"": list(written)}, {"": list(read)}):
			return f"{who} reads event {at} as {printed.shown(read)}, written was {printed.shown(written)}"
	if [event.ticks for event in events] != trace.times:
		return f"{who} reads the times {[event.ticks for event in events]}, written was {trace.times}"
	return None


def by_time(trace):
	"""The order of the traces of one stream is that of their events; several streams are compared by babeltrace 2."""
	return len(trace.streams) == 1


def valid(monitor, directory, write, babeltrace):
	trace = write(directory)
	ours, wrong = printed.by_monitor(monitor, directory, "no_origin" in directory.name)
	if not wrong and by_time(trace):
		wrong = as_written("monitor", ours, trace)
	if not wrong and babeltrace:
		theirs, stopped = babeltrace(directory)
		if stopped == DIED:  # by an assertion or an exception of its own, as 2.1.1 of one in five random traces
			return None, DIED
		wrong = f"babeltrace2 does not read it: {stopped}" if stopped else printed.difference(theirs, ours)
	return wrong, f"{len(ours)} events"


def invalid(monitor, directory, content, due):
	directory.mkdir(parents=True)
	text = content if isinstance(content, bytes) else text_of(PREAMBLE, *content)
	(directory / "metadata").write_bytes(text)
	(directory / "stream").write_bytes(b"")
	code, _, errors = printed.run(monitor, directory)
	said = " / ".join(errors[:3])[:500]
	if due is None:
		return (None if code == 0 else f"exit code {code}: {said}"), ""
	if code != 1 or len(errors) != 1 or not PLACE.search(errors[0]) or due not in errors[0]:
		return f"exit code {code}, not one line with a place that says `{due}`: {said}", ""
	return None, said


def limit_memory():
	resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))


def hostile(monitor, directory, content, due):
	directory.mkdir(parents=True)
	(directory / "metadata").write_bytes(content)
	done = subprocess.run([monitor, "list", directory], capture_output=True, text=True, errors="replace", timeout=60, check=False,
	                      preexec_fn=limit_memory)
	lines = done.stderr.splitlines()
	if due is None:
		return (None if done.returncode == 0 else f"exit code {done.returncode}: {lines[:3]}"), ""
	if done.returncode != 1 or len(lines) != 1 or due not in lines[0]:
		return f"exit code {done.returncode}, not one line that says `{due}`: {[line[:300] for line in lines[:3]]}", ""
	return None, lines[0][:200]


def cut(monitor, directory):
	"""Every prefix of a description is refused in one sentence, or read; every prefix of a stream is read as far as it goes."""
	trace = VALID["lttng"](directory)
	metadata, stream = (directory / "metadata").read_bytes(), (directory / "channel0_0").read_bytes()
	for end in range(1, len(metadata), 211):
		(directory / "metadata").write_bytes(metadata[:end])
		code, _, errors = printed.run(monitor, directory)
		if code not in (0, 1) or (code == 1 and not errors):
			return f"{end} bytes of the description: exit code {code}: {errors[:3]}", ""
	(directory / "metadata").write_bytes(metadata)
	for end in range(1, len(stream), 37):
		(directory / "channel0_0").write_bytes(stream[:end])
		code, lines, errors = printed.run(monitor, directory)
		events = [printed.event_of(line) for line in lines]
		wrong = [at for at, (event, written) in enumerate(zip(events, trace.log))
		         if not printed.same({"": list(written)}, {"": [event.name, event.context, event.fields]})]
		if code not in (0, 1) or wrong or not errors:
			return f"{end} bytes of the stream: exit code {code}, events {wrong}: {errors[:3]}", ""
	return None, ""


def commands(monitor, directory):
	"""All commands answer for a trace as LTTng describes it."""
	VALID["lttng"](directory)
	for command in (["info"], ["info", "--json"], ["check"], ["stat"], ["stat", "--by", "name", "--csv"], ["report"], ["report", "--json"],
	                ["query", "SELECT count(*) FROM events"], ["list", "--filter", 'prev_state == "TASK_INTERRUPTIBLE" or path == "/x"']):
		done = subprocess.run([monitor, command[0], directory, *command[1:]], capture_output=True, text=True, timeout=60, check=False)
		if done.returncode or "Sanitizer" in done.stderr or not done.stdout:
			return f"{command}: exit code {done.returncode}: {done.stderr}{done.stdout}", ""
		if "--json" in command:
			json.loads(done.stdout)
		if command[0] == "list" and len(done.stdout.splitlines()) != 4:
			return f"the filter selects {done.stdout}", ""
	return None, ""


def merged(monitor, directory):
	"""The clock of a trace that is merged is moved in its description, and nothing else in it is changed."""
	fields = Struct({"x": Int(8)})
	for number, name in enumerate("ab"):
		simple(directory / name, fields, [{"x": number}], environment={"hostname": name}, uuid=bytes([number]) * 16, indent=2,
		       clocks=[{"id": "default", "frequency": 1_000_000, "attributes": {"y": {"z": "clock-class"}}}])
	subprocess.run([monitor, "merge", "-o", directory / "both", directory / "a", directory / "b", "--clock", "b=-300us,10ns"],
	               check=True, capture_output=True)
	_, lines, _ = printed.run(monitor, directory / "both")
	events = [printed.event_of(line) for line in lines]
	if [(event.fields["x"], event.ns - events[0].ns) for event in events] != [(1, 0), (0, 300_000)]:
		return f"merged are {events}", ""
	before, after = ((directory / at / "metadata").read_bytes().split(b"\x1e") for at in ("b", "both/b"))
	changed = [json.loads(ours) for theirs, ours in zip(before, after) if theirs != ours]
	offset = {"seconds": -1, "cycles": 999_700}
	return (None if len(before) == len(after) and [one["offset-from-origin"] for one in changed] == [offset] else
	        f"changed are {changed}"), ""


def cases(options, work, babeltrace):
	for name, write in VALID.items():
		yield name, lambda write=write, name=name: valid(options.monitor, work / name, write, babeltrace)
	for seed in range(options.seeds):
		yield f"random_{seed}", lambda seed=seed: valid(options.monitor, work / f"random_{seed}",
		                                                lambda at: random_trace(at, seed), babeltrace)
	if babeltrace:
		return
	for name, write in BEYOND.items():
		yield f"beyond_{name}", lambda write=write, name=name: valid(options.monitor, work / name, write, None)
	for name, content, due in INVALID:
		yield f"invalid_{name}", lambda row=(content, due), name=name: invalid(options.monitor, work / f"invalid_{name}", *row)
	for name, row in HOSTILE.items():
		yield f"hostile_{name}", lambda row=row, name=name: hostile(options.monitor, work / f"hostile_{name}", *row)
	yield "cut", lambda: cut(options.monitor, work / "cut")
	yield "merged", lambda: merged(options.monitor, work / "merged")
	yield "commands", lambda: commands(options.monitor, work / "commands")


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("monitor")
	parser.add_argument("work", type=pathlib.Path)
	parser.add_argument("--only", default="", help="only the cases whose names contain this")
	parser.add_argument("--seeds", type=int, default=10)
	parser.add_argument("--babeltrace", action="store_true")
	options = parser.parse_args()
	babeltrace = None
	if options.babeltrace:
		import reading  # pylint: disable=import-outside-toplevel # skips where there are no bindings
		if tuple(map(int, reading.bt2.__version__.split(".")[:2])) < (2, 1):
			print(f"skipped: babeltrace 2.1 reads CTF 2, this is {reading.bt2.__version__}")
			sys.exit(77)
		babeltrace = reading.babeltrace
	shutil.rmtree(options.work, ignore_errors=True)
	printed.run_cases(cases(options, options.work, babeltrace), options.only)


main()
