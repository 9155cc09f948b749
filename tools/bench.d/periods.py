# SPDX-License-Identifier: MIT
"""record --statistics: its CPU time at each million events a second, beside a recording of the same load; and whether its
memory and its files stay as small when processes and cgroups come and go."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import time

from lib import Result, Spread, Tasks, run, spawn, stop

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


def loaded(context, result):
	"""CPU time for each event as a share of a CPU at a million events a second, ours and the writer's, in turns."""
	found, bytes_of = {"statistics": [], "trace": []}, {"statistics": [], "trace": []}
	for _ in range(context.rounds_or(5)):
		for what, options in (("statistics", ("--statistics", "1s")), ("trace", ())):
			directory = context.path(what)
			process = recorder(context, directory, "--buffer", "64M", *options)
			before = Tasks(process.pid)
			load = spawn(context.workload("getppid-for", context.load_cpu, context.scale(8, 3)), stdout=subprocess.DEVNULL)
			time.sleep(context.scale(7, 2))
			stop(load)
			time.sleep(0.5)  # all of it is drained
			after = Tasks(process.pid)
			stop(process)
			info = json.loads(run([context.monitor, "info", "--json", directory]))["summary"]
			found[what].append((after.cpu_ns - before.cpu_ns) / info["tokens"] * 1e6 / 1e7)
			bytes_of[what].append(size_of(directory) / (info["wall_ns"] / 1e9) / 1e6)
			shutil.rmtree(directory, ignore_errors=True)
	result.table(["under getppid", "min", "median", "max"],
	             [[f"{what}: % of one CPU at 1M events/s", *Spread(found[what]).cells(2)] for what in found] +
	             [[f"{what}: MB a second", *Spread(bytes_of[what]).cells(3)] for what in found])
	spread = Spread(found["statistics"])
	result.bar("CPU at a million events a second, of one CPU", spread.mid, 5, "%", digits=2, spread=spread)
	return {what: Spread(values).json() for what, values in found.items()}


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


def bench(context):
	result = Result(TITLE)
	result.figures = {"loaded": loaded(context, result), "bounded": bounded(context, result)}
	return result
