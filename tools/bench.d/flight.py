# SPDX-License-Identifier: MIT
"""The flight recorder: what an event costs where rings overwrite, beside a recording, in turn in every round; what it takes
while nothing happens; many snapshots in a row under load, each twentieth checked."""
import contextlib
import json
import os
import random
import shutil
import subprocess
import time

import peers
from kernel import Load
from lib import Result, Spread, Tasks, ratios, run, spawn, stop, trace_check

TITLE = "flight: overwriting rings, an idle recorder, snapshots in a row"
NOISE = 1.05  # of the medians of two equal ways in this bench


@contextlib.contextmanager
def flight(context, directory, *options):
	process = spawn(context.record(directory, "--no-calibration", "--flight", *options, command=["sh", "-c", "echo ready; exec cat"]),
		stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) # it reports each snapshot
	peers.ready(process, "monitor record --flight")
	try:
		yield process
	finally:
		process.communicate(timeout=120)


def overwriting(context, result):
	load = Load(context, "W1")
	ways = {
		"recorded": lambda: peers.recording(context, "syscall", {}, more=("--no-calibration",)),
		"in flight": lambda: flight(context, context.path("overwriting"), "--force", "-e", "syscall"),
	}
	added, shuffle = {name: [] for name in ways}, random.Random(1)
	for _ in range(context.rounds_or(11)):
		order = list(ways)
		shuffle.shuffle(order)
		before, measured = load.measure(), {}
		for name in order:
			with ways[name]():
				measured[name] = load.measure()
		base = (before + load.measure()) / 2
		for name, value in measured.items():
			added[name].append((value - base) / load.events_per_unit)
	result.table(["ns added per event", "min", "median", "max"], [[name, *Spread(values).cells()] for name, values in added.items()])
	spread = ratios(added["in flight"], added["recorded"])
	result.bar("in flight / recorded", spread.mid, NOISE, spread=spread)
	return {name: Spread(values).json() for name, values in added.items()}


def idle(context, result):
	def written(pid):
		with open(f"/proc/{pid}/io") as file:
			return int(next(line.split()[1] for line in file if line.startswith("write_bytes")))

	with flight(context, context.path("idle")) as process:
		time.sleep(context.scale(3, 0.2))
		before, bytes_before = Tasks(process.pid), written(process.pid)
		time.sleep(context.scale(20, 0.5))
		after, bytes_after = Tasks(process.pid), written(process.pid)
	share = (after.cpu_ns - before.cpu_ns) / (after.at - before.at) / 1e7
	result.bar("CPU while nothing happens, of one CPU", share, 0.1, "%", digits=3)
	result.bar("bytes written while nothing happens", bytes_after - bytes_before, 0, digits=0)
	return {"cpu_percent": share, "bytes": bytes_after - bytes_before}


def snapshots(context, result):
	count, directory = context.scale(1000, 3), context.path("snapshots")
	held, events, red, checked = [], [], 0, 0
	with flight(context, directory, "4M") as process:
		load = spawn(context.workload("getppid-for", context.load_cpu, context.scale(120, 3)), stdout=subprocess.DEVNULL)
		time.sleep(context.scale(1, 0.2))
		before = time.monotonic()
		for number in range(count):
			reply = json.loads(run([context.monitor, "snapshot", "--json", str(process.pid)]))
			held.append(reply["held_ms"])
			events.append(reply["events"])
			if number % 20 == 0:
				continue
			shutil.rmtree(reply["directory"])
		seconds = time.monotonic() - before
		stop(load)
	for name in sorted(os.listdir(directory)):
		if name[0] == ".":
			continue
		checked += 1
		red += any(s["verdict"] == "FAILS" for found in trace_check(context, os.path.join(directory, name)).values() for s in found)
	result.table([f"{count} snapshots in {seconds:.1f} s, under getppid", "min", "median", "max"],
		[["events", *Spread(events).cells(0)], ["rings held, ms", *Spread(held).cells()]])
	result.bar(f"red by check, of {checked}", red, 0, digits=0)
	return {"snapshots": count, "seconds": seconds, "held_ms": Spread(held).json(), "red": red, "checked": checked}


def bench(context):
	result = Result(TITLE)
	result.figures = {"overwriting": overwriting(context, result), "idle": idle(context, result), "snapshots": snapshots(context, result)}
	return result
