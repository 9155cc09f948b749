# SPDX-License-Identifier: MIT
"""record --statistics: its CPU time at each million events a second, beside a recording of the same load; and whether its
memory and its files stay as small when processes and cgroups come and go; what counting only costs a system call, beside
a token and an empty probe."""
import contextlib
import json
import os
import re
import random
import shutil
import subprocess
import time

import peers
from kernel import Load
from lib import Result, Spread, Tasks, machine, ratios, run, spawn, stop

TITLE = "statistics: sums instead of a trace, under load and while processes and cgroups come and go"


def recorder(context, directory, *options):
	shutil.rmtree(directory, ignore_errors=True)
	process = spawn([context.monitor, "record", "-o", directory, "--no-calibration", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	deadline = time.monotonic() + 20
	while not os.path.exists(os.path.join(directory, "metadata")) and time.monotonic() < deadline:
		time.sleep(0.05)
	time.sleep(1)
	return process


def size_of(directory):
	return sum(os.path.getsize(os.path.join(directory, name)) for name in os.listdir(directory))


def loaded(context, result, name, load, *options):
	"""CPU time for each event as a share of a CPU at a million events a second, ours and the writer's, in turns."""
	found, bytes_of = {"statistics": [], "trace": []}, {"statistics": [], "trace": []}
	for _ in range(context.rounds_or(5)):
		for what, sums in (("statistics", ("--statistics", "1s")), ("trace", ())):
			directory = context.path(what)
			process = recorder(context, directory, "--buffer", "64M", *options, *sums)
			before = Tasks(process.pid)
			running = spawn(load, stdout=subprocess.DEVNULL)
			time.sleep(context.scale(7, 2))
			stop(running)
			time.sleep(0.5)  # all of it is drained
			after = Tasks(process.pid)
			stop(process)
			info = json.loads(run([context.monitor, "info", "--json", directory]))["summary"]
			found[what].append((after.cpu_ns - before.cpu_ns) / info["tokens"] * 1e6 / 1e7)
			bytes_of[what].append(size_of(directory) / (info["wall_ns"] / 1e9) / 1e6)
			shutil.rmtree(directory, ignore_errors=True)
	result.table([f"under {name}", "min", "median", "max"],
	             [[f"{what}: % of one CPU at 1M events/s", *Spread(found[what]).cells(2)] for what in found] +
	             [[f"{what}: MB a second", *Spread(bytes_of[what]).cells(3)] for what in found])
	return {what: Spread(values) for what, values in found.items()}


def all_loaded(context, result):
	seconds, of_program = context.scale(8, 3), context.helper("user_load")
	kernel = loaded(context, result, "getppid", context.workload("getppid-for", context.load_cpu, seconds))
	spread = kernel["statistics"]
	result.bar("CPU at a million events a second, of one CPU", spread.mid, 5, "%", digits=2, spread=spread)
	program = {what: loaded(context, result, f"{what} of a program", [of_program, load, str(seconds), "250"], "--user", "-e", "sched")
		for what, load in (("events", "paced"), ("activities", "activities"))}
	return {name: {what: spread.json() for what, spread in each.items()} for name, each in ({"getppid": kernel} | program).items()}


@contextlib.contextmanager
def hierarchy():
	"""A cgroup to make others in; None: there is no cgroup2 or no right to."""
	mounts = [line.split() for line in open("/proc/mounts")]
	root = next((fields[1] for fields in mounts if fields[2] == "cgroup2"), None)
	path = root and os.path.join(root, f"monitor-bench-{os.getpid()}")
	try:
		if path:
			os.mkdir(path)
		yield path
	except PermissionError:
		yield None
	finally:
		if path and os.path.isdir(path):
			os.rmdir(path)


def run_in(cgroup):
	"""A process that lives and ends in a cgroup of its own, which is removed then."""
	os.mkdir(cgroup)
	pid = os.fork()
	if pid == 0:
		try:
			with open(os.path.join(cgroup, "cgroup.procs"), "w") as file:
				file.write("0")
			os.execv("/bin/true", ["true"])
		finally:
			os._exit(1)
	os.waitpid(pid, 0)
	os.rmdir(cgroup)


def bounded(context, result):
	def anonymous(process):
		with open(f"/proc/{process.pid}/status") as file:
			return int(re.search(r"RssAnon:\s+(\d+)", file.read())[1]) / 1024

	def newest_period(directory):
		names = sorted(name for name in os.listdir(directory) if name.startswith("statistics_"))
		return os.path.getsize(os.path.join(directory, names[-1])) / 1e3 if names else 0

	directory = context.path("bounded")
	forks, groups, parts = context.scale(100_000, 300), context.scale(10_000, 30), 10
	sizes, periods = [], []
	process = recorder(context, directory, "--statistics", "1s", "--keep", "10s", "-e", "sched")
	with hierarchy() as parent:
		for part in range(parts):
			for _ in range(forks // parts):
				os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
			for number in range(groups // parts if parent else 0):
				run_in(os.path.join(parent, f"g{part}-{number}"))
			sizes.append(anonymous(process))
			periods.append(newest_period(directory))
	stop(process)
	shutil.rmtree(directory, ignore_errors=True)
	what = f"after each tenth of {forks} processes" + (f" and {groups} cgroups" if parent else "; no cgroups could be made")
	result.table([what, *map(str, range(1, parts + 1))],
	             [["RssAnon, MB", *(f"{size:.1f}" for size in sizes)], ["a period, kB", *(f"{size:.0f}" for size in periods)]])
	result.bar("growth of memory over the last half", sizes[-1] - sizes[parts // 2 - 1], 8, "MB", digits=2)
	result.bar("the largest period over the smallest, last half", max(periods[parts // 2:]) / max(min(periods[parts // 2:]), 1), 2, digits=2)
	return {"forks": forks, "cgroups": groups if parent else 0, "mb": sizes, "period_kb": periods}


def counted(context, result):
	"""ns added per system call (two tokens, or one that is counted) and per round trip (four of either), in turns in every
	round."""
	figures = {}
	for name, families in (("W1", "syscall"), ("W2", "sched")):
		load = Load(context, name)
		found = {"empty probes": lambda: peers.attached(context, "empty", load.pair, {})}
		for what, options in (("tokens", ()), ("count-only", ("--statistics", "10s", "--count-only"))):
			found[what] = lambda options=options: peers.recording(context, families, {}, more=("--no-calibration", *options))
		added = {what: [] for what in found}
		shuffle = random.Random(1)
		for _ in range(context.rounds_or(9)):
			order = list(found)
			shuffle.shuffle(order)
			before, measured = load.measure(), {}
			for what in order:
				with found[what]():
					measured[what] = load.measure()
			base = (before + load.measure()) / 2
			for what, value in measured.items():
				added[what].append(value - base)
		tokens, empty = added["tokens"], added["empty probes"]
		result.table([f"{name}: ns added per {'system call' if name == 'W1' else 'round trip'}", "min", "median", "max", "/ tokens", "/ empty probes"],
		             [[what, *Spread(values).cells(), *(f"{ratios(values, floor).mid:.2f}" for floor in (tokens, empty))] for what, values in added.items()])
		spread = ratios(added["count-only"], tokens)
		result.bar(f"{name} count-only / tokens", spread.mid, 0.4, spread=spread)
		# A system call has two tokens, or one probe that counts.
		share = 0.5 if name == "W1" else 1
		above = ratios([value - share * floor for value, floor in zip(added["count-only"], empty)], [value - floor for value, floor in zip(tokens, empty)])
		result.note(f"{name} count-only / tokens, both above empty probes of their number: {above.mid:.2f} ({above.low:.2f} to {above.high:.2f})")
		figures[name] = {what: Spread(values).json() for what, values in added.items()}
	result.note(f"count-only was measured on {machine()['cpu']}; what attaching a probe costs differs between machines by a factor of three")
	return figures


def bench(context):
	result = Result(TITLE)
	result.figures = {"loaded": all_loaded(context, result), "bounded": bounded(context, result), "counted": counted(context, result)}
	return result
