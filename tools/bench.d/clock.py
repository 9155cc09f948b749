# SPDX-License-Identifier: MIT
"""The clock: the bound that the monitor prints, under load; and, with the recorder stopped for seconds, the true error
against an independent witness that logs TSC and monotonic time side by side."""
import bisect
import json
import re
import signal
import struct
import time

from lib import Result, run, spawn, spawn_recording, stop, trace_check

TITLE = "clock: the printed bound, and the true error beside it"


def printed_bound(context, directory):
	"""ns: at the most, and for 99.9 % of the intervals; as `monitor check` prints them."""
	text = trace_check(context, directory)["clock"][0]["text"]
	found = re.search(r"clock bound at most (\d+) ns, (\d+) ns for 99.9 % of (\d+) intervals, "
		r"the longest (\d+) ms", text)
	if not found:
		raise RuntimeError(f"monitor check says no clock bound: {text}")
	return dict(zip(("max_ns", "usual_ns", "intervals", "max_ms"), map(int, found.groups())))


class Lines:
	"""The probes' time of a monotonic time, by the trace's clock_set events: include/monitor/card.h's arithmetic."""

	def __init__(self, context, directory):
		rows = run([context.monitor, "list", "--event", "clock_set", "--json", directory]).splitlines()
		self.sets = sorted((row["from_ns"], row["base"], row["whole"], row["frac"])
			for row in (json.loads(row)["fields"] for row in rows))
		self.begins = [row[0] for row in self.sets]

	def at(self, ns):
		from_ns, base, whole, frac = self.sets[max(bisect.bisect_right(self.begins, ns) - 1, 0)]
		d = ns - from_ns
		return base + d * whole + ((d >> 16) * frac >> 16) + ((d & 0xFFFF) * frac >> 32)


def true_errors(path, lines):
	"""ns beyond the witness's own doubt (half of its read's width), over all its pairs within the trace's sets."""
	with open(path, "rb") as file:
		pairs = list(struct.iter_unpack("<QQQ", file.read()))
	first, last = pairs[0], pairs[-1]
	ticks_per_ns = (last[0] - first[0]) / (last[2] - first[2])
	errors, widths = [], []
	for before, after, ns in pairs:
		if ns < lines.begins[0]:
			continue
		width = (after - before) / 2
		error = abs(lines.at(ns) - (before + after) / 2)
		errors.append(max(error - width, 0) / ticks_per_ns)
		widths.append(width / ticks_per_ns)
	return errors, sorted(widths)[len(widths) // 2]


def witnessed(context, directory, seconds, load, stopped=0.0):
	"""Records `load` with the witness beside it, the recorder stopped for a while in the middle."""
	log = context.path("clocklog")
	process = spawn_recording(context, directory, load)
	time.sleep(context.scale(1, 0.2))
	witness = spawn(context.workload("clocklog", context.other_cpu, seconds, log))
	if stopped:
		time.sleep((seconds - stopped) / 2)
		process.send_signal(signal.SIGSTOP)
		time.sleep(stopped)
		process.send_signal(signal.SIGCONT)
	witness.wait()
	stop(process)
	errors, doubt = true_errors(log, Lines(context, directory))
	return {**printed_bound(context, directory), "true_ns": max(errors), "pairs": len(errors), "doubt_ns": doubt}


def bench(context):
	result = Result(TITLE)
	seconds = context.seconds_or(60, 0.5)
	stopped = context.scale(5, 0.3)
	paced = context.workload("paced", context.load_cpu, seconds + 3, 500)
	short = context.workload("paced", context.load_cpu, stopped + 4 + context.scale(2, 0), 500)
	found = {
		"under load": witnessed(context, context.path("load"), seconds, paced),
		f"recorder stopped for {stopped:g} s": witnessed(context, context.path("stopped"),
			stopped + context.scale(3, 0.2), short, stopped),
	}
	result.table(["ns", "bound, most", "bound, 99.9 %", "intervals", "longest, ms", "true error", "witness's doubt"],
		[[name, row["max_ns"], row["usual_ns"], row["intervals"], row["max_ms"], f"{row['true_ns']:.1f}",
			f"{row['doubt_ns']:.1f}"] for name, row in found.items()])
	result.bar(f"bound of 99.9 % of intervals over {seconds:g} s under load", found["under load"]["usual_ns"], 200, "ns",
		digits=0)
	for name, row in found.items():
		result.bar(f"{name}: true error / printed bound", row["true_ns"] / max(row["max_ns"], 1), 1, digits=3)
	result.figures = found
	return result
