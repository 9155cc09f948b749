# SPDX-License-Identifier: MIT
"""How long `monitor record` takes to its command's first instruction, and in all, while many threads exist."""
import subprocess
import time

from lib import Result, Spread, run, spawn

TITLE = "start: time to the command with 5,000 threads on the machine"


def bench(context):
	result = Result(TITLE)
	count = context.scale(5000, 200)
	threads = spawn(context.workload("threads", count), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
	try:
		if threads.stdout.readline().strip() != "ready":
			raise RuntimeError("the threads did not start")
		to_command, total = [], []
		for _ in range(context.rounds_or(15)):
			command = context.record(context.path("trace"), command=context.workload("stamp"))
			before = time.monotonic_ns()
			stamp = int(run(command))
			total.append((time.monotonic_ns() - before) / 1e6)
			to_command.append((stamp - before) / 1e6)
	finally:
		threads.communicate()
	to_command, total = Spread(to_command), Spread(total)
	result.table(["ms, from exec", "min", "median", "max"],
		[["to the command", *to_command.cells(0)], ["total", *total.cells(0)]])
	result.bar(f"to the command's main() with {count} threads, longest", to_command.high, 1000, "ms", spread=to_command,
		digits=0)
	result.figures = {"threads": count, "to_command_ms": to_command.json(), "total_ms": total.json()}
	return result
