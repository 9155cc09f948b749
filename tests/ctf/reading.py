# SPDX-License-Identifier: MIT
"""Traces as babeltrace 2 reads them, in the form of printed.py. Imported by the tests here; without babeltrace 2's
Python bindings they are skipped."""
import multiprocessing
import os
import sys

from printed import TIMEOUT, Event, by_monitor, difference, event_of, run, same, same_event  # for those who compare both
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

def plain(field):
	"""A field of babeltrace's as the JSON that is expected of it."""
	if isinstance(field, bt2._StructureFieldConst):
		return {name: plain(value) for name, value in field.items() if not is_absent(value)}
	if isinstance(field, bt2._OptionFieldConst):
		return plain(field.field) if field.has_field else None
	if isinstance(field, bt2._BoolFieldConst):
		return "true" if field else "false"
	if isinstance(field, bt2._BitArrayFieldConst):
		return flags(field)
	if hasattr(bt2, "_BlobFieldConst") and isinstance(field, bt2._BlobFieldConst):  # from version 2.1
		return list(field.data)
	if isinstance(field, bt2._VariantFieldConst):
		name = option_name(field)
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


def is_absent(field):
	while isinstance(field, bt2._OptionFieldConst) and field.has_field:
		field = field.field
	return isinstance(field, bt2._OptionFieldConst)


def option_name(variant):
	index = variant.selected_option_index
	if not hasattr(variant.cls, "option_at_index"):
		return variant.cls[list(variant.cls)[index]].name
	name = variant.cls.option_at_index(index).name  # from version 2.1, where an option needs none
	return name if name is not None else str(index)


def flags(field):
	"""The names of the bits that are set, and the others in hexadecimal."""
	value = int(field.value_as_integer)
	names, others = [], value
	for label, flag in getattr(field.cls, "items", dict)():
		bits = sum({1 << bit for one in flag.ranges for bit in range(one.lower, one.upper + 1)})
		names += [label] if value & bits else []
		others &= ~bits
	return "|".join(names + ([f"{others:#x}"] if others else [])) if names else value


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
