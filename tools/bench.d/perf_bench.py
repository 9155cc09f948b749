# SPDX-License-Identifier: MIT
"""Witnesses that are not of this project: `perf bench syscall basic` (getppid) and `perf bench sched pipe` (two processes
on one CPU) untraced, under monitor record, ftrace and perf record of the same tracepoints, interleaved."""
import peers
from lib import BESIDE, Result, Spread, need, run
from rounds import difference, ratio, run_rounds

TITLE = "perf_bench: perf's own benchmarks, traced"


class Load:
	def __init__(self, context, words, operations):
		self.name = " ".join(words)
		self.operations = operations
		self.command = ["taskset", "-c", str(context.load_cpu), "perf", "bench", "-f", "simple", *words, "-l", str(operations)]

	def measure(self):
		"""ns an operation, by perf itself."""
		return {"ns": float(run(self.command)) / self.operations * 1e9}


def traced(context, load, result):
	def recording(context):
		return lambda outcome: peers.recording(context, "", outcome)

	found = {"untraced": peers.untraced, "monitor record": recording(context)}
	if context.beside:
		return found | {f"monitor record{BESIDE}": recording(context.beside)}
	return found | peers.tracers(context, peers.DEFAULT, context.scale(256, 16), result, load.name)


def run_load(context, load, result):
	rounds = run_rounds(context, traced(context, load, result), load.measure, 9)
	ns = {name: [measured[name]["ns"] for measured in rounds] for name in rounds[0]}
	added = {name: [value - base for value, base in zip(values, ns["untraced"])] for name, values in ns.items()}
	rows = [["untraced", *Spread(ns["untraced"]).cells(0), "", ""]]
	for name in ns:
		if name != "untraced":
			against = ratio(added["monitor record"], added[name]).text() if name != "monitor record" else ""
			rows.append([name, *Spread(ns[name]).cells(0), f"{difference(ns[name], ns['untraced']).mid:,.0f}", against])
	result.table([f"{load.name}, ns an operation", "min", "median", "max", "added", "monitor record / it, added (95 %)"], rows)
	peers.note_losses(load.name, {name: run["outcome"] for name, run in rounds[-1].items()}, result)
	result.figures[load.name] = {"rounds": rounds}


def bench(context):
	need("perf", "taskset")
	result = Result(TITLE)
	run_load(context, Load(context, ["syscall", "basic"], context.scale(2_000_000, 20_000)), result)
	run_load(context, Load(context, ["sched", "pipe"], context.scale(200_000, 2_000)), result)
	return result
