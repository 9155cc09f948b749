# SPDX-License-Identifier: MIT
"""Triggers: what events cost that one waits for, and others, beside the same recording without, in turn in every round; how
soon after an event the recorder knows, on an idle machine and a busy one; and that the moment is in each snapshot."""
import json
import os
import random
import shutil
import subprocess
import time

import peers
from flight import flight
from kernel import Load
from lib import Result, Spread, ratios, run, spawn, stop, trace_check

TITLE = "trigger: waiting for events, W1 (getppid); from an event to the recorder"
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
	loads = [spawn(context.workload("getppid-for", cpu, context.scale(120, 3)), stdout=subprocess.DEVNULL)
		for cpu in sorted(os.sched_getaffinity(0)) if busy]
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


def bench(context):
	result = Result(TITLE)
	result.figures = {"costs": costs(context, result), "idle": latencies(context, result, False), "busy": latencies(context, result, True)}
	return result
