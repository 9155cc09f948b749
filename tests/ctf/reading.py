# SPDX-License-Identifier: MIT
"""Traces as babeltrace 2 and as `monitor list --json` read them, in one form, and what is different. Imported by the
tests here; without babeltrace 2's Python bindings they are skipped."""
import json
import multiprocessing
import os
import re
import struct
import subprocess
import sys

from writer import Single, text_of

SYSTEM_PYTHON = "/usr/bin/python3"

try:
	import bt2
except ImportError:
	# the bindings are the system Python's: perhaps another one runs this
	if os.path.exists(SYSTEM_PYTHON) and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON):
		os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, "-B", *sys.argv])
	print("skipped: babeltrace 2's Python bindings (python3-bt2) are not installed")
	sys.exit(77)

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


def plain(field):
	"""A field of babeltrace's as the JSON that is expected of it."""
	if isinstance(field, bt2._StructureFieldConst):
		return {name: plain(value) for name, value in field.items()}
	if isinstance(field, bt2._VariantFieldConst):
		name = field.cls[list(field.cls)[field.selected_option_index]].name
		return {name: plain(field.selected_option)}
	if isinstance(field, bt2._ArrayFieldConst):
		return [plain(one) for one in field]
	if isinstance(field, bt2._EnumerationFieldConst):
		return "|".join(in_order(field)) or int(field)
	if isinstance(field, bt2._IntegerFieldConst):
		return int(field)
	if isinstance(field, bt2._RealFieldConst):
		value = float(field)
		if value != value:
			return "nan"
		if value in (float("inf"), float("-inf")):
			return "inf" if value > 0 else "-inf"
		return Single(value) if isinstance(field, bt2._SinglePrecisionRealFieldConst) else value
	if isinstance(field, bt2._StringFieldConst):
		# bt2 may append bytes of an earlier event: only len(field) of them belong to this one
		return text_of(str(field).encode("utf-8", "surrogateescape")[:len(field)])
	raise TypeError(type(field))


def in_order(field):
	value = int(field)
	return [label for label, mapping in field.cls.items()
	        if any(one.lower <= value <= one.upper for one in mapping.ranges)]


def babeltrace(directory):
	"""All events that babeltrace 2 reads there, and what stopped it (None: nothing did)."""
	# in a process of its own: it is taken down by its own assertions
	context = multiprocessing.get_context("fork")
	receiver, sender = context.Pipe(False)
	child = context.Process(target=lambda: sender.send(read_all(directory)))
	child.start()
	sender.close()
	try:
		return receiver.recv()
	except EOFError:
		return [], "it died"
	finally:
		child.join()


def read_all(directory):
	component = bt2.AutoSourceComponentSpec(str(directory), params={"force-clock-class-origin-unix-epoch": True})
	events, clocks, stopped = [], set(), None
	try:
		for message in bt2.TraceCollectionMessageIterator(component):
			if not isinstance(message, bt2._EventMessageConst):
				continue
			event, ns, ticks = message.event, None, 0
			clock = event.cls.stream_class.default_clock_class
			if clock is not None:
				clocks.add((clock.frequency, clock.offset.seconds, clock.offset.cycles))
				ns, ticks = message.default_clock_snapshot.ns_from_origin, message.default_clock_snapshot.value
			events.append(Event(ns, ticks, cpu_of(event), event.name or "", *contents(event), stream=event.stream.addr))
	except (bt2._Error, RuntimeError) as error:
		stopped = str(error)
	if len(clocks) > 1:  # ticks of different clocks cannot be compared
		for event in events:
			event.ticks = event.ns or 0
	return events, stopped


def cpu_of(event):
	context = event.packet.context_field if event.cls.stream_class.supports_packets else None
	if context is None or "cpu_id" not in context or not isinstance(context["cpu_id"], bt2._IntegerFieldConst):
		return None
	return int(context["cpu_id"])


def contents(event):
	context = {}
	for part in (event.common_context_field, event.specific_context_field):
		context.update(plain(part) if part is not None else {})
	return context, plain(event.payload_field) if event.payload_field is not None else {}


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
