# SPDX-License-Identifier: MIT
"""monitor top: its CPU time while nothing happens, beside other programs that show the machine each second; at each million
events a second, beside perf trace -s; its memory while processes come and go. The probes' cost is that of the bench kernel."""
import contextlib
import json
import os
import pty
import re
import shutil
import subprocess
import threading
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
	result.bar("CPU while nothing happens, of one CPU", spread.mid, 0.2, "%", digits=3, spread=spread)
	rows, peers = [["monitor top", *spread.cells(3)]], {}
	for name in ("top -b -d 1", "htop -d 10", "pidstat -u -w 1"):
		if shutil.which(name.split()[0]):
			peers[name] = Spread(each_second(context, name.split()) for _ in range(context.rounds_or(5)))
			rows.append([name, *peers[name].cells(3)])
		else:
			result.note(f"{name} is not installed")
	result.table(["% of one CPU while nothing happens", "min", "median", "max"], rows)
	return {"monitor": spread.json(), **{name: each.json() for name, each in peers.items()}}


def each_second(context, command):
	"""CPU time of a program that shows something each second, in a terminal that somebody reads."""
	reader, terminal = pty.openpty()
	process = spawn(command, stdin=terminal, stdout=terminal, stderr=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm"})
	os.close(terminal)

	def read():
		with contextlib.suppress(OSError):  # the terminal has no writer any more
			while os.read(reader, 65536):
				pass

	reading = threading.Thread(target=read)
	reading.start()
	time.sleep(context.scale(1, 0.2))
	before = Tasks(process.pid)
	time.sleep(context.scale(10, 0.5))
	found = share(before, Tasks(process.pid))
	stop(process)
	reading.join()
	os.close(reader)
	return found


def loaded(context, result):
	"""CPU time of the recorder and the fold for each event, as a share of a CPU at a million events a second."""
	found, rates, peer = [], [], []
	for _ in range(context.rounds_or(5)):
		if shutil.which("perf"):
			peer.append(perf_trace(context))
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
	rows = [["monitor top: % of a CPU per million events a second", *spread.cells(2)], ["million events a second", *Spread(rates).cells(2)]]
	if peer:
		shares, speeds = map(Spread, zip(*peer))
		rows += [["perf trace -s: % of a CPU per million events a second", *shares.cells(2)], ["million events a second", *speeds.cells(2)]]
	result.table(["under getppid", "min", "median", "max"], rows)
	result.bar("CPU at a million events a second, of one CPU", spread.mid, 5, "%", digits=2, spread=spread)
	return {"percent_at_1M": spread.json(), "rate_M": Spread(rates).json(), "perf": peer}


def perf_trace(context):
	"""Of perf's sums of system calls: % of a CPU per million events a second, and the rate. An event it lost is in neither sum,
	so that its share is too low then."""
	process = spawn(["perf", "trace", "-s", "-a", "-o", "/dev/null"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	time.sleep(context.scale(1, 0.5))  # all is attached
	before = Tasks(process.pid)
	load = spawn(context.workload("getppid-for", context.load_cpu, context.scale(4, 1)), stdout=subprocess.PIPE, text=True)
	events = 2 * int(load.communicate()[0])  # entries and exits
	after = Tasks(process.pid)
	stop(process)
	return (after.cpu_ns - before.cpu_ns) / events * 1e6 / 1e7, events / (after.at - before.at) / 1e6


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
