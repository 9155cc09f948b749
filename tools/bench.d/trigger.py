# SPDX-License-Identifier: MIT
"""Triggers: what events cost that one waits for, and others, beside the same recording without, in turn in every round; how
soon after an event the recorder knows, on an idle machine and a busy one; that the moment is in each snapshot; how much of
the past a snapshot lacks because the recorder came later than the event; and how far apart the parts of a sample of all CPUs are."""
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import time

import peers
from flight import flight
from kernel import Load
from lib import Result, Spread, ratios, run, spawn, stop, trace_check

TITLE = "trigger: waiting for events, W1 (getppid); from an event to the recorder"
BLOCK = 4096
RARE = 'rare: name == "sys_enter" and id == "getpgid" => snapshot'
WAYS = {
	"without": (),
	"other classes": ("--trigger", 'name == "sched_process_exec" and pid == 1 => mark'),
	"a field": ("--trigger", 'name == "sys_enter" and id == "getpgid" => mark', "--trigger", 'name == "sys_exit" and ret == -77 => mark'),
	"a sequence": ("--trigger", 'name == "sys_enter" and id == "getppid" then name == "sys_exit" and ret == -77 per tid => mark'),
	"a number in time": ("--trigger", 'name == "sys_enter" and id == "getppid" 61 times within 1ns per tid => mark'),
	"each fires": ("--trigger", 'name == "sys_enter" and id == "getppid" => mark'),
}


def costs(context, result):
	load, shuffle = Load(context, "W1"), random.Random(1)
	added = {name: [] for name in WAYS}
	for _ in range(context.rounds_or(11)):
		order = list(WAYS)
		shuffle.shuffle(order)
		before, measured = load.measure(), {}
		for name in order:
			with peers.recording(context, "syscall", {}, more=("--no-calibration", *WAYS[name])):
				measured[name] = load.measure()
		base = (before + load.measure()) / 2
		for name, value in measured.items():
			added[name].append((value - base) / load.events_per_unit)
	more = {name: [value - without for value, without in zip(values, added["without"])] for name, values in added.items()}
	result.table(["ns added per event", "min", "median", "max", "more than without"],
		[[name, *Spread(values).cells(), f"{Spread(more[name]).mid:.1f}"] for name, values in added.items()])
	spread = ratios(added["other classes"], added["without"])
	result.bar("classes that none waits for / without", spread.mid, 1.1, spread=spread)
	result.bar("an event of a class that one waits for, more than without", Spread(more["a field"]).mid, 35, "ns", digits=1)
	return {name: Spread(values).json() for name, values in added.items()}


def latencies(context, result, busy):
	"""From the event to the recorder's main thread, in ns, one firing at a time; each in its snapshot."""
	count, directory = context.scale(200, 3), context.path("latency")
	loads = loads_of(context, busy)
	told, missing, red = [], 0, 0
	try:
		with flight(context, directory, "8M", "--force", "-e", "sched,syscall", "--trigger", RARE):
			for number in range(1, count + 1):
				os.getpgid(0)
				deadline = time.monotonic() + 20
				while json.loads(open(f"{directory}/.monitor/flight.json").read())["snapshots"] < number and time.monotonic() < deadline:
					time.sleep(0.002)
				snapshot = f"{directory}/{number:03}"
				report = json.loads(run([context.monitor, "report", snapshot, "triggers", "--json"]))
				missing += not any("getpgid" in (row["cause"] or "") for row in report["rows"])
				if number % 20 == 0:
					red += any(s["verdict"] == "FAILS" for found in trace_check(context, snapshot).values() for s in found)
				if number < count:
					shutil.rmtree(snapshot)
			told = report["triggers"][0]
	finally:
		for load in loads:
			stop(load)
	result.table(["busy" if busy else "idle", "median", "99 %", "max"],
		[["us from the event to the recorder", *(f"{told[f'reaction_{which}_ns'] / 1000:.1f}" for which in ("median", "p99", "max"))]])
	result.bar("snapshots without what fired, " + ("busy" if busy else "idle"), missing, 0, digits=0)
	result.bar(f"red by check, of {count // 20}, " + ("busy" if busy else "idle"), red, 0, digits=0)
	return {key: told[key] for key in ("reaction_median_ns", "reaction_p99_ns", "reaction_max_ns", "fired", "told")}


def loads_of(context, busy):
	return [spawn(context.workload("getppid-for", cpu, context.scale(120, 3)), stdout=subprocess.DEVNULL)
		for cpu in sorted(os.sched_getaffinity(0)) if busy]


def blocks_until(directory, time_of_event):
	"""By CPU: how many blocks of its first ring begin before the event, and how long one took on average, in ticks."""
	found = {}
	for file in pathlib.Path(directory).glob("kernel_cpu*"):
		data = file.read_bytes()
		begins = []
		for at in range(0, len(data), BLOCK):
			begin, = struct.unpack_from("<Q", data, at + 32)
			cpu, level = struct.unpack_from("<II", data, at + 80)
			if level == 0:
				begins.append(begin)
		before = [begin for begin in begins if begin <= time_of_event]
		if len(before) > 1:
			found[cpu] = len(before), (before[-1] - before[0]) / (len(before) - 1)
	return found


def freezes(context, result):
	"""While every CPU stores as fast as it can: how many of the oldest blocks a snapshot lacks because the recorder came some time
	after the probe had held the rings. It takes seven eighths of the blocks, counted back from when it looks."""
	count, directory = context.scale(60, 3), context.path("freeze")
	loads, kept, hertz = loads_of(context, True), [], 0
	try:
		with flight(context, directory, "8M", "--force", "-e", "syscall", "--trigger", RARE):
			for number in range(1, count + 1):
				time.sleep(0.6)  # the rings are full again
				os.getpgid(0)
				deadline = time.monotonic() + 20
				while json.loads(open(f"{directory}/.monitor/flight.json").read())["snapshots"] < number and time.monotonic() < deadline:
					time.sleep(0.002)
				snapshot = f"{directory}/{number:03}"
				recording = json.loads(open(f"{snapshot}/.monitor/recording.json").read())
				hertz = int(re.search(r"freq = (\d+)", open(f"{snapshot}/metadata").read()).group(1))
				kept.append(blocks_until(snapshot, recording["flight"]["asked"]))
				shutil.rmtree(snapshot)
	finally:
		for load in loads:
			stop(load)
	most = {cpu: max(found[cpu][0] for found in kept if cpu in found) for cpu in kept[0]}
	missing = sorted(most[cpu] - blocks for found in kept for cpu, (blocks, _) in found.items())
	worst = sorted(max((most[cpu] - blocks) * ticks for cpu, (blocks, ticks) in found.items()) * 1e6 / hertz for found in kept if found)
	at = lambda values, share: values[min(int(len(values) * share), len(values) - 1)]
	result.table(["the past that a snapshot lacks", "median", "99 %", "max"],
		[["blocks of a CPU", *(str(at(missing, share)) for share in (0.5, 0.99, 1))],
		 ["us, of the worst CPU", *(f"{at(worst, share):.1f}" for share in (0.5, 0.99, 1))]])
	return {"blocks": missing, "us": worst, "of": most}


def spreads(context, result, busy):
	"""From the probe's own part of a sample of all CPUs to the last CPU's."""
	directory, loads = context.path("spread"), loads_of(context, busy)
	try:
		script = f"import os, time\nfor i in range({context.scale(400, 5)}):\n\tos.getpgid(0)\n\ttime.sleep(0.011)\n"
		run([context.monitor, "record", "--force", "--no-calibration", "-o", directory, "-e", "sched,syscall", "--trigger",
			'name == "sys_enter" and id == "getpgid" and thread == "python3" => sample', "--", "python3", "-c", script])
	finally:
		for load in loads:
			stop(load)
	rows = json.loads(run([context.monitor, "report", directory, "triggers", "--json"]))["rows"]
	found = sorted(row["spread_ns"] / 1000 for row in rows if row.get("spread_ns") is not None)
	at = lambda share: found[min(int(len(found) * share), len(found) - 1)]
	result.table(["spread of a sample, " + ("busy" if busy else "idle"), "median", "99 %", "max", "whole samples"],
		[["us from the first CPU's part to the last one's", *(f"{at(share):.1f}" for share in (0.5, 0.99, 1)), f"{len(found)} of {len(rows)}"]])
	return {"us": found, "fired": len(rows)}


def bench(context):
	result = Result(TITLE)
	result.figures = {"costs": costs(context, result), "idle": latencies(context, result, False), "busy": latencies(context, result, True),
		"freeze": freezes(context, result), "spread idle": spreads(context, result, False), "spread busy": spreads(context, result, True)}
	return result
