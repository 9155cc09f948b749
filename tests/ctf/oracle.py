#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Any CTF 1.8 trace: `monitor list --json` reads what babeltrace 2 reads, and says what is wrong with a broken one.

oracle.py MONITOR WORK_DIRECTORY [--only NAME]    the test: one line per case
oracle.py --bt2-only WORK_DIRECTORY [--only NAME] the valid cases themselves: babeltrace 2 reads what was written
"""
import argparse
import json
import pathlib
import re
import shutil
import struct
import subprocess

import reading  # first: it may start another Python
from cases import BEYOND, CASES
from damaged import DAMAGED
from invalid import INVALID, MAY_BE_READ, WARNED, WITHOUT_EVENTS
from printed import run_cases

PLACE = re.compile(r"line (\d+), column (\d+)")


def sorted_texts(events):
	return sorted(f"{name} {sorted(context.items())} {sorted(fields.items())}" for name, context, fields in events)


def not_as_written(who, events, traces):
	"""A sentence if these events are not what was written, in whatever order."""
	read = sorted_texts((event.name, event.context, event.fields) for event in events)
	should = sorted_texts(row for trace in (traces if isinstance(traces, list) else [traces]) for row in trace.log)
	if read == should:
		return None
	at = next((at for at, (one, other) in enumerate(zip(read, should)) if one != other), min(len(read), len(should)))
	return f"{who} reads {len(read)} events of {len(should)}: {read[at:at + 1]}, written was {should[at:at + 1]}"


def valid(monitor, directory, write):
	"""What is wrong with this case (None: nothing), and a remark."""
	traces = write(directory)
	theirs, stopped = reading.babeltrace(directory)
	wrong = f"babeltrace2 does not read it: {stopped}" if stopped else not_as_written("babeltrace2", theirs, traces)
	if not wrong and monitor:
		ours, wrong = reading.by_monitor(monitor, directory, len(theirs) == 0)
		wrong = wrong or reading.difference(theirs, ours)
	return wrong, f"{len(theirs)} events"


def beyond(monitor, directory, write):
	traces = write(directory)
	ours, wrong = reading.by_monitor(monitor, directory)
	return wrong or not_as_written("monitor", ours, traces), f"{len(ours)} events"


def invalid(monitor, directory, text, line, column, may_be_read):
	directory.mkdir(parents=True)
	(directory / "metadata").write_text(text)
	(directory / "stream").write_bytes(b"")
	code, _, errors = reading.run(monitor, directory)
	said = " / ".join(errors[:3])[:500]
	if code is None or code < 0:
		return f"exit code {code}: {said}", ""
	if code == 0 and may_be_read:
		return None, "is read"
	places = [PLACE.search(error) for error in errors]
	if code == 0 or len(errors) != 1 or not places[0]:
		return f"exit code {code}, not one line of complaint with a place: {said}", ""
	is_line, is_column = map(int, places[0].groups())
	if (line and is_line != line) or (column and is_column != column):
		return f"told is line {is_line}, column {is_column}, not line {line}, column {column or 'any'}: {said}", ""
	return None, said


def warned(monitor, directory, text, line, column):
	"""It is read, with one line on standard error."""
	directory.mkdir(parents=True)
	(directory / "metadata").write_text(text)
	(directory / "stream").write_bytes(b"")
	code, _, errors = reading.run(monitor, directory)
	places = [PLACE.search(error) for error in errors if "unknown and ignored" in error]
	if code != 0 or len(places) != 1 or tuple(map(int, places[0].groups())) != (line, column):
		return f"exit code {code}, not one warning of line {line}, column {column}: {errors}", ""
	return None, errors[0]


def without_events(monitor, directory, text, files):
	"""Every command says so, and exits with 0."""
	directory.mkdir(parents=True)
	(directory / "metadata").write_text(text)
	for file in files:
		(directory / file).write_bytes(b"")
	for command in (["list"], ["list", "--json"], ["info"], ["info", "--json"], ["stat"], ["stat", "--csv"], ["report"],
	                ["report", "--json"], ["check"], ["query", "SELECT count(*) FROM events"]):
		done = subprocess.run([monitor, command[0], directory, *command[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
		                      text=True, timeout=reading.TIMEOUT, check=False)
		if done.returncode or "is a trace without events" not in done.stderr or ("--json" in command and json.loads(done.stdout or "[]") is None):
			return f"{command}: exit code {done.returncode}, {done.stderr}{done.stdout}", ""
	return None, ""


def packets_of_the_other_order(monitor, directory):
	"""The text's packets are big endian, the trace is not."""
	directory.mkdir(parents=True)
	text = dict((name, text) for name, text, _, _ in WARNED)["attribute_of_event"].encode()
	for order, code_due in ((">", 1), ("<", 0)):
		head = struct.pack(order + "I16sIIIBBBBB", 0x75D11D57, bytes(16), 0, 8 * (37 + len(text)), 8 * (37 + len(text)), 0, 0, 0, 1, 8)
		(directory / "metadata").write_bytes(head + text)
		(directory / "stream").write_bytes(b"")
		code, _, errors = reading.run(monitor, directory)
		if code != code_due or (code and not PLACE.search(errors[0])):
			return f"order {order}: exit code {code}: {errors}", ""
	return None, errors[0]


def damage(monitor, directory, write):
	runs = 0
	for what, first, more, is_complaint_due in write(directory):
		code, lines, errors = reading.run(monitor, directory)
		said = f"{what}: exit code {code}: {' / '.join(errors[:3])[:500]}"
		runs += 1
		if code not in (0, 1) or any("Sanitizer" in error for error in errors):
			return said, ""
		if (code == 1 and not errors) or (is_complaint_due and not errors) or (is_complaint_due is False and code == 1):
			return f"{said}, a complaint {'is' if is_complaint_due else 'is not'} due", ""
		wrong = not_first(lines, first, more) if first is not None else None
		if wrong:
			return f"{said}, {wrong}", ""
	return None, f"{runs} runs"


def not_first(lines, first, more):
	"""A sentence if these lines are not all of the first events and then some of the others, in their order."""
	events = [reading.event_of(line) for line in lines]
	for at, (name, context, fields) in enumerate(first):
		if at >= len(events) or not reading.same({"": [name, context, fields]}, whole(events[at])):
			return f"event {at} is {events[at:at + 1]}, not {name} {json.dumps(fields)}"
	others = iter(more)
	for event in events[len(first):]:
		if not any(reading.same({"": [name, context, fields]}, whole(event)) for name, context, fields in others):
			return f"an event that is none of the trace: {event}"
	return None


def whole(event):
	return {"": [event.name, event.context, event.fields]}


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("monitor", nargs="?")
	parser.add_argument("work")
	parser.add_argument("--only", help="only the cases whose names contain this")
	parser.add_argument("--bt2-only", action="store_true")
	options = parser.parse_args()
	work, monitor = pathlib.Path(options.work), None if options.bt2_only else options.monitor
	shutil.rmtree(work, ignore_errors=True)

	tests = {name: lambda at, write=write: valid(monitor, at, write) for name, write in CASES.items()}
	if monitor:
		tests.update({f"beyond_{name}": lambda at, write=write: beyond(monitor, at, write)
		              for name, write in BEYOND.items()})
		tests.update({f"invalid_{name}": lambda at, text=text, line=line, column=column, free=name in MAY_BE_READ:
		              invalid(monitor, at, text, line, column, free) for name, text, line, column in INVALID})
		tests.update({f"warned_{name}": lambda at, row=row: warned(monitor, at, *row) for name, *row in WARNED})
		tests.update({f"without_events_{name}": lambda at, row=row: without_events(monitor, at, *row)
		              for name, row in WITHOUT_EVENTS.items()})
		tests["invalid_packets_of_the_other_order"] = lambda at: packets_of_the_other_order(monitor, at)
		tests.update({f"damaged_{name}": lambda at, write=write: damage(monitor, at, write)
		              for name, write in DAMAGED.items()})
	run_cases(((name, lambda test=test, name=name: test(work / name)) for name, test in tests.items()), options.only)


main()
