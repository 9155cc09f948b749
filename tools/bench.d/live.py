# SPDX-License-Identifier: MIT
"""monitor top: its CPU time while nothing happens and at each million events a second, beside top of procps; its memory while
processes come and go. The probes' cost is that of the bench kernel."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import time

from lib import Result, Spread, Tasks, spawn, stop

TITLE = "live: monitor top, idle, under load, and while processes come and go"


@contextlib.contextmanager
def top(context, *options):
	process = spawn([context.monitor, "top", "--json", "--no-calibration", *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
	try:
		process.stdout.readline()  # its first figures: all is attached
		yield process
	finally:
		stop(process)


def share(before, after):
	return (after.cpu_ns - before.cpu_ns) / (after.at - before.at) / 1e7


def idle(context, result):
	found = []
	for _ in range(context.rounds_or(5)):
		with top(context) as process:
			before = Tasks(process.pid)
			for _ in range(context.scale(10, 1)):
				process.stdout.readline()
			found.append(share(before, Tasks(process.pid)))
	spread = Spread(found)
	result.bar("CPU while nothing happens, of one CPU", spread.mid, 0.3, "%", digits=3, spread=spread)
	peer = None
	if shutil.which("top"):
		peer = []
		for _ in range(context.rounds_or(5)):
			process = spawn(["top", "-b", "-d", "1"], stdout=subprocess.DEVNULL)
			time.sleep(context.scale(1, 0.2))
			before = Tasks(process.pid)
			time.sleep(context.scale(10, 0.5))
			peer.append(share(before, Tasks(process.pid)))
			stop(process)
		result.table(["% of one CPU while nothing happens", "min", "median", "max"], [["monitor top", *spread.cells(3)], ["top -b -d 1", *Spread(peer).cells(3)]])
	return {"monitor": spread.json(), "top": peer and Spread(peer).json()}


def loaded(context, result):
	"""CPU time of the recorder and the fold for each event, as a share of a CPU at a million events a second."""
	found, rates = [], []
	for _ in range(context.rounds_or(5)):
		with top(context, "--buffer", "64M") as process:
			load = spawn(context.workload("getppid-for", context.load_cpu, context.scale(8, 2)), stdout=subprocess.DEVNULL)
			process.stdout.readline()
			before, events = Tasks(process.pid), 0
			for _ in range(context.scale(4, 1)):
				refresh = json.loads(process.stdout.readline())
				events += refresh["machine"]["events"]
			after = Tasks(process.pid)
			stop(load)
		rates.append(events / (after.at - before.at) / 1e6)
		found.append((after.cpu_ns - before.cpu_ns) / events * 1e6 / 1e7)
	spread = Spread(found)
	result.table(["under getppid", "min", "median", "max"], [["million events a second", *Spread(rates).cells(2)]])
	result.bar("CPU at a million events a second, of one CPU", spread.mid, 5, "%", digits=2, spread=spread)
	return {"percent_at_1M": spread.json(), "rate_M": Spread(rates).json()}


def memory(context, result):
	"""Processes that come and go: what is kept must not grow."""
	def anonymous(process):
		with open(f"/proc/{process.pid}/status") as file:
			return int(re.search(r"RssAnon:\s+(\d+)", file.read())[1]) / 1024

	forks, parts, sizes = context.scale(100_000, 200), 10, []
	process = spawn([context.monitor, "top", "--json", "--no-calibration", "-e", "sched"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	time.sleep(2)  # all is attached
	for _ in range(parts):
		for _ in range(forks // parts):
			os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
		sizes.append(anonymous(process))
	stop(process)
	result.table([f"MB after each tenth of {forks} processes", *map(str, range(1, parts + 1))], [["RssAnon", *(f"{size:.1f}" for size in sizes)]])
	result.bar("growth over the last half", sizes[-1] - sizes[parts // 2 - 1], 4, "MB", digits=2)
	return {"forks": forks, "mb": sizes}


def bench(context):
	result = Result(TITLE)
	result.figures = {"idle": idle(context, result), "loaded": loaded(context, result), "memory": memory(context, result)}
	return result
