# SPDX-License-Identifier: MIT
"""What reading counters costs per context switch: `monitor record` with 0, 1, 2 and 4 counters, beside perf record with
the same events as a group of sched_switch, and perf stat, which reads none at a switch. The load is bench kernel's W2:
a pipe ping-pong on one CPU, two switches a round trip. Two figures: the load's own CPU time, the untraced load of the same
round subtracted, which scatters; and the time of the probe itself, as the kernel takes it (kernel.bpf_stats_enabled),
which decides about the counters."""
import contextlib
import json
import os
import random
import statistics
import subprocess

import peers
from lib import Result, Skip, Spread, need, run, spawn

TITLE = "ratio: ns added per context switch by counters"

# None that the load makes happen: the kernel's own counting is not what is measured.
EVENTS = ["cpu-clock", "page-faults", "major-faults", "alignment-faults"]
TSC = "msr/tsc/"
SWITCHES_PER_UNIT = 2


def counters(number, first=None):
	return ([first] if first else []) + EVENTS[: number - bool(first)]


def recording(context, names):
	"""`monitor record` with these counters, of switches without wake-ups, as perf record has them."""
	options = "block"  # which the load has none of
	if names:
		wishes = ",".join(f"c{i}={name}" for i, name in enumerate(names))
		return lambda outcome: peers.recording(context, options, outcome, more=["-m", wishes])
	return lambda outcome: peers.recording(context, options, outcome)


@contextlib.contextmanager
def perf_stat(context, names):
	need("perf")
	process = spawn(["perf", "stat", "-a", "-x,", "-o", context.path("stat"), "-e", ",".join(names), "--", "sh", "-c",
		"echo ready; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	peers.ready(process, "perf stat")
	try:
		yield
	finally:
		process.communicate(timeout=120)


@contextlib.contextmanager
def perf_record(context, names, outcome):
	"""A sample of the group at each switch."""
	need("perf")
	output = context.path("perf.data")
	process = spawn(["perf", "record", "-a", "-B", "-N", "-c", "1", "-m", "16M", "-o", output, "-e",
		"{sched:sched_switch," + ",".join(names) + "}:S", "--", "sh", "-c", "echo ready; exec cat"],
		stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	peers.ready(process, "perf record")
	try:
		yield
	finally:
		process.communicate(timeout=300)
	outcome["bytes"] = os.path.getsize(output)
	os.remove(output)


def make_kinds(context, result):
	kinds = {"no counters": recording(context, [])}
	for number in (1, 2, 4):
		kinds[f"{number} counters"] = recording(context, counters(number))
	if os.path.exists("/sys/bus/event_source/devices/msr/events/tsc"):
		kinds["1 counter, the TSC"] = recording(context, counters(1, TSC))
		kinds["2 counters, the TSC among them"] = recording(context, counters(2, TSC))
	try:
		need("perf")
		kinds["perf stat, 4"] = lambda outcome: perf_stat(context, counters(4))
		kinds["perf record, 4"] = lambda outcome: perf_record(context, counters(4), outcome)
	except Skip as skip:
		result.note(f"without perf: {skip}")
	return kinds


STATS = "/proc/sys/kernel/bpf_stats_enabled"


@contextlib.contextmanager
def probe_statistics():
	"""The kernel takes the time of every BPF program."""
	with open(STATS) as file:
		before = file.read()
	with open(STATS, "w") as file:
		file.write("1")
	try:
		yield
	finally:
		with open(STATS, "w") as file:
			file.write(before)


def probe_time():
	"""(ns, runs) of the newest probe of sched_switch, or None."""
	programs = json.loads(run(["bpftool", "-j", "prog", "show", "name", "sched_switch"]) or "[]")
	programs = programs if isinstance(programs, list) else [programs]
	newest = max(programs, key=lambda program: program["id"], default=None)
	return newest and (newest.get("run_time_ns", 0), newest.get("run_cnt", 0))


def measure(context):
	command = context.workload("pingpong", context.load_cpu, context.scale(15, 3), context.scale(2000, 200))
	return statistics.median(map(float, run(command).split()))


def ns_per_run(context):
	"""ns of a run of the probe, while the load runs once more."""
	with probe_statistics():
		ns, runs = probe_time()
		measure(context)
		ns_after, runs_after = probe_time()
	return (ns_after - ns) / max(runs_after - runs, 1)


def bench(context):
	result = Result(TITLE)
	kinds = make_kinds(context, result)
	added, base, probes = {kind: [] for kind in kinds}, [], {kind: [] for kind in kinds if "perf" not in kind}
	shuffle = random.Random(1)
	for _ in range(context.rounds_or(15)):
		order = list(kinds)
		shuffle.shuffle(order)
		before, measured = measure(context), {}
		for kind in order:
			with kinds[kind]({}):
				measured[kind] = measure(context)
				if kind in probes:
					probes[kind].append(ns_per_run(context))
		base.append((before + measure(context)) / 2)
		for kind, value in measured.items():
			added[kind].append((value - base[-1]) / SWITCHES_PER_UNIT)
	rows = [["untraced, per round trip", *Spread(base).cells(), ""]]
	plain = added["no counters"]
	for kind, values in added.items():
		more = Spread([value - without for value, without in zip(values, plain)])
		rows.append([kind, *Spread(values).cells(), f"{more.mid:.0f}"])
	result.table(["ns added per switch", "min", "median", "max", "over no counters"], rows)

	result.table(["ns of the probe per switch", "min", "median", "max"],
		[[kind, *Spread(values).cells()] for kind, values in probes.items()])

	def over(kind, other):
		return Spread([a - b for a, b in zip(probes[kind], probes[other])])

	first, second = over("1 counters", "no counters"), over("2 counters", "1 counters")
	result.bar("the first counter", first.mid, 250, "ns", first)
	result.bar("the second counter", second.mid, 120, "ns", second)
	further = Spread([(a - b) / 2 for a, b in zip(probes["4 counters"], probes["2 counters"])])
	result.bar("each of two further counters", further.mid, 120, "ns", further)
	if "1 counter, the TSC" in probes:
		tsc = over("1 counter, the TSC", "no counters")
		result.bar("the first counter, the TSC", tsc.mid, 250, "ns", tsc)
	if "perf record, 4" in added:
		against = Spread([a / b for a, b in zip(added["4 counters"], added["perf record, 4"])])
		result.bar("4 counters / perf record with the same group", against.mid, 0.5, spread=against)
	result.figures["probe"] = {kind: Spread(values).json() for kind, values in probes.items()}
	result.figures["added"] = {kind: Spread(values).json() for kind, values in added.items()}
	return result
