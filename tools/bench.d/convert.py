# SPDX-License-Identifier: MIT
"""monitor convert of two long traces on one CPU: events per second and peak memory, which must not grow with the trace.
babeltrace2's `convert` to CTF beside it."""
import os
import shutil

from lib import Result, Spread, run
from read import make_trace, measure

TITLE = "convert: traces in the formats of other tools"
FORMATS = {"perfetto": (), "perfetto --flows": ("--flows",), "lttng": ()}


def remove(path):
	shutil.rmtree(path, ignore_errors=True)
	if os.path.exists(path):
		os.unlink(path)


def bench(context):
	result = Result(TITLE)
	rows, memory, rates = [], {}, {}
	sizes = context.scale([10_000_000, 100_000_000], [20_000, 500_000])
	for size in sizes:
		directory, tokens = make_trace(context, size)
		output = context.path("converted")
		commands = {name: [context.monitor, "convert", directory, "--to", name.split()[0], *options, "-o", output]
		            for name, options in FORMATS.items()}
		if shutil.which("babeltrace2") and size == sizes[0]:
			commands["babeltrace2, to CTF"] = ["babeltrace2", "convert", directory, "-o", "ctf", "-w", output]
		for name, command in commands.items():
			runs = []
			for _ in range(context.rounds_or(3) if name in FORMATS else 1):
				remove(output)
				runs.append(measure(command, context.other_cpu))
			remove(output)
			rate = Spread(tokens / each["seconds"] / 1e6 for each in runs)
			peak = max(each["anonymous"] for each in runs) / 1e6
			rows.append([f"{name}, {tokens:,} events", *rate.cells(2), f"{peak:.1f}"])
			if name in FORMATS:
				rates[name], memory[(name, size)] = rate, peak
		run(["rm", "-rf", directory])
	result.table(["million events per second of CPU time", "min", "median", "max", "MB"], rows)
	for name in FORMATS:
		result.bar(f"{name}, events per second", rates[name].mid, 3, "million", spread=rates[name], at_least=True)
		result.bar(f"{name}, memory of the long trace over that of the short one", memory[(name, sizes[-1])] / memory[(name, sizes[0])], 1.2)
	result.figures = {"rates_million": {name: rate.json() for name, rate in rates.items()},
	                  "memory_mb": {f"{name}, {size}": peak for (name, size), peak in memory.items()}}
	return result
