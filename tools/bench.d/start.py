# SPDX-License-Identifier: MIT
"""How long `monitor record` takes to its command's first instruction and in all while many threads exist; and in all
without them around `true`, with and without calibration, beside perf record -a, interleaved."""
import contextlib
import shutil
import subprocess
import time

from lib import Result, Spread, run, spawn

TITLE = "start: time to the command with 5,000 threads on the machine, and of a recording of nothing"
BARS_MS = {"record": 350, "record --no-calibration": 250}


@contextlib.contextmanager
def threads(context, count):
	process = spawn(context.workload("threads", count), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
	try:
		if process.stdout.readline().strip() != "ready":
			raise RuntimeError("the threads did not start")
		yield
	finally:
		process.communicate()


def among_threads(context, result):
	count = context.scale(5000, 200)
	to_command, total = [], []
	with threads(context, count):
		for _ in range(context.rounds_or(15)):
			command = context.record(context.path("trace"), command=context.workload("stamp"))
			before = time.monotonic_ns()
			stamp = int(run(command))
			total.append((time.monotonic_ns() - before) / 1e6)
			to_command.append((stamp - before) / 1e6)
	to_command, total = Spread(to_command), Spread(total)
	result.table(["ms, from exec", "min", "median", "max"],
		[["to the command", *to_command.cells(0)], ["total", *total.cells(0)]])
	result.bar(f"to the command's main() with {count} threads, longest", to_command.high, 1000, "ms", spread=to_command,
		digits=0)
	return {"threads": count, "to_command_ms": to_command.json(), "total_ms": total.json()}


def of_nothing(context, result):
	commands = {
		"record": lambda: context.record(context.path("trace"), command=["true"]),
		"record --no-calibration": lambda: context.record(context.path("trace"), "--no-calibration", command=["true"]),
	}
	if shutil.which("perf"):
		commands["perf record -a"] = lambda: ["perf", "record", "-a", "-o", context.path("perf.data"), "--", "true"]
	else:
		result.note("there is no perf on this machine")
	took = {name: [] for name in commands}
	for _ in range(context.rounds_or(15)):
		for name, make in commands.items():
			command = make()
			before = time.monotonic()
			run(command)
			took[name].append((time.monotonic() - before) * 1e3)
	spreads = {name: Spread(values) for name, values in took.items()}
	result.table(["ms, of `-- true`", "min", "median", "max"], [[name, *spread.cells(0)] for name, spread in spreads.items()])
	for name, most in BARS_MS.items():
		result.bar(f"{name} -- true", spreads[name].mid, most, "ms", spread=spreads[name], digits=0)
	return {name: spread.json() for name, spread in spreads.items()}


def bench(context):
	result = Result(TITLE)
	result.figures = among_threads(context, result)
	result.figures["nothing_ms"] = of_nothing(context, result)
	return result
