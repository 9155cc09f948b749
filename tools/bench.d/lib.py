# SPDX-License-Identifier: MIT
"""What the benches share: their context, figures over rounds, tables, bars. Used by main.py and every bench."""
import copy
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import time


BESIDE = ", other build"  # of a row's name


class Skip(Exception):
	"""This machine cannot run the bench; the text says why."""


class Context:
	"""Where things are and how long to run. `scale(full, smoke)` picks the size of a bench."""

	def __init__(self, options, work):
		self.use(options.build)
		self.work = work
		self.smoke = options.smoke
		self.rounds = options.rounds
		self.seconds = options.seconds
		self.agents = options.agents
		cpus = sorted(os.sched_getaffinity(0))
		self.load_cpu, self.other_cpu = cpus[-1], cpus[0]
		self.beside = None  # the same with another build (--beside)
		if options.beside:
			self.beside = copy.copy(self)
			self.beside.use(options.beside)

	def use(self, build):
		self.monitor = os.path.join(build, "tools/monitor/monitor")
		self.build = build
		self.helpers = os.path.join(build, "bench")

	def scale(self, full, smoke):
		return smoke if self.smoke else full

	def rounds_or(self, full):
		return self.rounds or self.scale(full, 1)

	def seconds_or(self, full, smoke):
		return self.seconds or self.scale(full, smoke)

	def path(self, name):
		return os.path.join(self.work, name)

	def helper(self, name):
		return os.path.join(self.helpers, name)

	def workload(self, *arguments):
		return [self.helper("workload"), *map(str, arguments)]

	def record(self, directory, *options, command=()):
		"""The argument list of a recording into a fresh directory."""
		shutil.rmtree(directory, ignore_errors=True)
		return [self.monitor, "record", "-o", directory, *options, *(["--", *command] if command else [])]


def need(*programs):
	for program in programs:
		if not shutil.which(program):
			raise Skip(f"there is no {program} on this machine")


def run(command, **options):
	"""Runs to the end; returns the standard output. The error text of a failed command is part of the exception."""
	result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
	if result.returncode != 0:
		said = (result.stderr + result.stdout).strip()[-2000:]
		raise RuntimeError(f"{' '.join(command[:4])} ...: exit code {result.returncode}: {said}")
	return result.stdout


STARTED, CLEANUPS = [], []


def at_end(function):
	"""Calls it when the bench is over, whatever happens to it."""
	CLEANUPS.append(function)


def spawn(command, **options):
	"""Starts a process that end_all() ends, whatever happens to the bench."""
	process = subprocess.Popen(command, **options)
	STARTED.append(process)
	return process


def spawn_recording(context, directory, command, *options):
	"""Starts a recording of `command` and waits until it records."""
	process = spawn(context.record(directory, *options, command=command), stdout=subprocess.DEVNULL,
		stderr=subprocess.PIPE, text=True)
	while not os.path.exists(os.path.join(directory, ".monitor/recording.json")):
		if process.poll() is not None:
			raise RuntimeError(f"monitor record ended at once: {process.stderr.read()}")
		time.sleep(0.01)
	return process


def end_all():
	"""What no bench leaves behind: processes, instances, mounts."""
	for process in STARTED:
		if process.poll() is None:
			process.send_signal(signal.SIGCONT)
			stop(process, signal.SIGTERM)
	STARTED.clear()
	while CLEANUPS:
		CLEANUPS.pop()()


def stop(process, number=signal.SIGINT):
	"""Ends a process that we started and waits for it."""
	if process.poll() is None:
		process.send_signal(number)
	try:
		return process.wait(timeout=120)
	except subprocess.TimeoutExpired:
		process.kill()
		return process.wait()


def trace_info(context, directory):
	return json.loads(run([context.monitor, "info", "--json", directory]))


def trace_check(context, directory):
	"""The statements of `monitor check`, a list by id; a failing check is no failing bench."""
	result = subprocess.run([context.monitor, "check", "--json", directory], stdout=subprocess.PIPE, text=True)
	if result.returncode not in (0, 1):
		raise RuntimeError(f"monitor check: exit code {result.returncode}")
	by_id = {}
	for statement in json.loads(result.stdout):
		by_id.setdefault(statement["id"], []).append(statement)
	return by_id


def stream_bytes(directory):
	"""Bytes of the stream files as they lie on disk, headers included, the description not."""
	files = [entry for entry in os.scandir(directory) if entry.is_file()]
	return sum(file.stat().st_size for file in files if file.name != "metadata")


def busy_share():
	"""A function that tells which part of all CPU time was used since the call."""
	def look():
		with open("/proc/stat") as file:
			fields = list(map(int, file.readline().split()[1:9]))
		return sum(fields), fields[3] + fields[4]

	total_before, idle_before = look()

	def since():
		total, idle = look()
		return 1 - (idle - idle_before) / max(total - total_before, 1)

	return since


class Tasks:
	"""CPU time and voluntary switches of all threads of one process, from the kernel."""

	def __init__(self, pid):
		self.cpu_ns = 0
		self.voluntary = 0
		self.at = time.monotonic()
		for task in os.listdir(f"/proc/{pid}/task"):
			with open(f"/proc/{pid}/task/{task}/schedstat") as file:
				self.cpu_ns += int(file.read().split()[0])
			with open(f"/proc/{pid}/task/{task}/status") as file:
				for line in file:
					if line.startswith("voluntary_ctxt_switches"):
						self.voluntary += int(line.split()[1])


class Spread:
	"""Minimum, median, maximum."""

	def __init__(self, values):
		self.values = list(values)
		self.low, self.mid, self.high = min(self.values), statistics.median(self.values), max(self.values)

	def cells(self, digits=1):
		return [f"{value:,.{digits}f}" for value in (self.low, self.mid, self.high)]

	def json(self):
		return {"min": self.low, "median": self.mid, "max": self.high, "rounds": len(self.values)}


def ratios(above, below):
	"""Per round, then summarised: noise that both shared is gone."""
	return Spread([a / b if b > 0 else float("inf") for a, b in zip(above, below)])


class Result:
	"""What one bench found: tables, bars, notes."""

	def __init__(self, title):
		self.title = title
		self.tables, self.bars, self.notes, self.figures = [], [], [], {}

	def table(self, head, rows):
		self.tables.append((head, [[str(cell) for cell in row] for row in rows]))

	def bar(self, text, value, limit, unit="", spread=None, at_least=False, digits=2):
		"""A bar of the issue: `value` must be at most (or at least) `limit`."""
		met = value >= limit if at_least else value <= limit
		self.bars.append({"bar": text, "value": value, "limit": limit, "unit": unit, "met": met, "at_least": at_least,
			"digits": digits, **({"spread": spread.json()} if spread else {})})

	def note(self, text):
		self.notes.append(text)

	def json(self):
		bars = [{key: value for key, value in bar.items() if key != "digits"} for bar in self.bars]
		return {"title": self.title, "figures": self.figures, "bars": bars, "notes": self.notes}

	def print(self, judged):
		print(f"\n== {self.title}")
		for head, rows in self.tables:
			print_table(head, rows)
		for bar in self.bars:
			sign = ">=" if bar["at_least"] else "<="
			spread, digits = bar.get("spread"), bar["digits"]
			bounds = ", " + spread["bounds"] if spread and "bounds" in spread else ""
			around = f" ({spread['min']:.{digits}f} to {spread['max']:.{digits}f}{bounds})" if spread else ""
			verdict = ("met" if bar["met"] else "MISSED") if judged else "not judged"
			print(f"  {verdict:<10} {bar['bar']}: {bar['value']:,.{digits}f}{around} {sign} "
				f"{bar['limit']:g}{' ' + bar['unit'] if bar['unit'] else ''}")
		for note in self.notes:
			print(f"  note: {note}")


def plain(value):
	"""The value as strict JSON has it: infinity, from a ratio to nothing, becomes null."""
	if isinstance(value, dict):
		return {key: plain(item) for key, item in value.items()}
	if isinstance(value, (list, tuple)):
		return [plain(item) for item in value]
	return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(head, rows):
	widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
	for row in [head, *rows]:
		cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
		print("  " + "  ".join(cells).rstrip())


def machine():
	"""What the figures were taken on, and how busy it was."""
	facts = {"kernel": os.uname().release, "cpus": len(os.sched_getaffinity(0)), "load": os.getloadavg()[0]}
	with open("/proc/cpuinfo") as file:
		models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
	facts["cpu"] = models[0] if models else "unknown"
	with open("/proc/stat") as file:
		fields = list(map(int, file.readline().split()[1:9]))
	facts["busy_ticks"], facts["steal_ticks"] = sum(fields) - fields[3] - fields[4], fields[7]
	return facts
