# SPDX-License-Identifier: MIT
"""Traces as `monitor list --json` reads them, and what is different from what another reader says. Imported by the tests
here."""
import json
import re
import struct
import subprocess
import sys
import traceback

from writer import Single

TIMEOUT = 10


class Event:
	"""One event: its time in ns (None: no clock), ticks, CPU, name, context, fields, and which stream it is of."""

	def __init__(self, ns, ticks, cpu, name, context, fields, stream=None):
		self.ns, self.ticks, self.cpu, self.name = ns, ticks, cpu, name
		self.context, self.fields, self.stream = context, fields, stream

	def __repr__(self):
		return (f"{self.ns} ns, ticks {self.ticks}, cpu {self.cpu}, {self.name!r}, context {shown(self.context)}, "
		        f"fields {shown(self.fields)}")


def shown(value):
	text = json.dumps(value)
	return text if len(text) < 700 else text[:700] + " ..."


def integer(text):
	return -0.0 if text == "-0" else int(text)


def run(monitor, directory):
	"""Exit code (negative: a signal, None: still running after the timeout), lines of output and of errors."""
	try:
		done = subprocess.run([monitor, "list", str(directory), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
		                      timeout=TIMEOUT, check=False)
	except subprocess.TimeoutExpired:
		return None, [], ["timeout"]
	return done.returncode, done.stdout.splitlines(), done.stderr.decode("utf-8", "replace").splitlines()


def event_of(line):
	read = json.loads(line, parse_int=integer)
	return Event(read["time_ns"], read["ticks"], read["cpu"], read["event"], read.get("context", {}), read["fields"])


def by_monitor(monitor, directory, may_complain=False):
	"""All events that the monitor prints, and a sentence if it does not print them as it should (None: it does)."""
	code, lines, errors = run(monitor, directory)
	if code != 0 or (errors and not may_complain):
		return [], f"exit code {code}: {' / '.join(errors[:3])}"
	try:
		return [event_of(line) for line in lines], None
	except (ValueError, KeyError, TypeError) as error:
		return [], f"not the JSON that was expected: {error!r}"


def same(theirs, ours):
	if isinstance(theirs, float):
		if isinstance(ours, (str, bool)) or not isinstance(ours, (int, float)):
			return False
		if isinstance(theirs, Single):
			return struct.pack("f", theirs) == struct.pack("f", ours)
		return struct.pack("d", theirs) == struct.pack("d", ours)
	if isinstance(theirs, dict):
		return isinstance(ours, dict) and list(theirs) == list(ours) and all(same(theirs[key], ours[key]) for key in theirs)
	if isinstance(theirs, list):
		return isinstance(ours, list) and len(theirs) == len(ours) and all(map(same, theirs, ours))
	if isinstance(theirs, str):  # how many signs stand for broken bytes is open
		return isinstance(ours, str) and re.sub("\ufffd+", "\ufffd", theirs) == re.sub("\ufffd+", "\ufffd", ours)
	return type(theirs) is type(ours) and theirs == ours


def same_event(theirs, ours):
	return (theirs.name == ours.name and theirs.cpu == ours.cpu and theirs.ticks == ours.ticks
	        and same(theirs.context, ours.context) and same(theirs.fields, ours.fields))


def difference(theirs, ours):
	"""A sentence that tells the first difference, or None. Events of one time are in any order if of several streams."""
	times = [[event.ns - events[0].ns if event.ns is not None else 0 for event in events] for events in (theirs, ours)]
	at = 0  # both round to nanoseconds, each in its own way
	while at < len(theirs):
		end = at + 1
		while end < len(theirs) and times[0][end] == times[0][at]:
			end += 1
		open_ones, several = list(range(at, min(end, len(ours)))), len({event.stream for event in theirs[at:end]}) > 1
		for their in range(at, end):
			fitting = (our for our in (open_ones if several else open_ones[:1])
			           if abs(times[1][our] - times[0][their]) <= 1 and same_event(theirs[their], ours[our]))
			found = next(fitting, None)
			if found is None:
				our = f"{times[1][at]} ns later: {ours[open_ones[0]]!r}" if open_ones else "no more events"
				return f"event {their}\n  babeltrace2: {times[0][at]} ns later: {theirs[their]!r}\n  monitor:     {our}"
			open_ones.remove(found)
		at = end
	if len(ours) > len(theirs):
		return f"{len(ours) - len(theirs)} more events than babeltrace2 reads ({len(theirs)}): {ours[len(theirs)]!r}"
	return None


def run_cases(cases, only=None):
	"""Runs each (name, test) whose name contains `only`; a test returns what is wrong, or None, and a remark. Ends the program."""
	failures = runs = 0
	for name, test in cases:
		if only and only not in name:
			continue
		try:
			wrong, remark = test()
		except Exception:  # the next case may still tell something
			wrong, remark = traceback.format_exc(), ""
		runs += 1
		failures += wrong is not None
		print(f"FAIL {name}: {wrong}" if wrong is not None else f"ok   {name} {remark}", flush=True)
	print(f"{runs} cases, {failures} failed")
	sys.exit(1 if failures else 0)
