# SPDX-License-Identifier: MIT
"""What the recorder itself takes: at about a million tokens per second, beside a reader that copies as many blocks,
writes them and does nothing else (its floor); and on an idle machine. From the kernel's figures of its threads, not from
its own."""
import os
import time

from lib import Result, Spread, Tasks, busy_share, ratios, run, spawn_recording, stop, trace_info

TITLE = "recorder: its own CPU time and wake-ups"
CALLS_PER_MS = 500  # two tokens each
BLOCK_BYTES = 4096


def watch(context, seconds, command, name):
	"""Records for a while; the window begins once the recording runs."""
	directory = context.path(name)
	process = spawn_recording(context, directory, command)
	time.sleep(context.scale(1, 0.2))
	busy, before = busy_share(), Tasks(process.pid)
	time.sleep(seconds)
	after, busy_percent = Tasks(process.pid), busy() * 100
	stop(process)
	wall = after.at - before.at
	summary = trace_info(context, directory)["summary"]
	return {"cpu_percent": (after.cpu_ns - before.cpu_ns) / wall / 1e7,
		"wakeups_per_s": (after.voluntary - before.voluntary) / wall,
		"tokens_per_s": summary["tokens"] / summary["wall_ns"] * 1e9, "lost": summary["lost"],
		"blocks_per_s": summary["bytes"] / BLOCK_BYTES / summary["wall_ns"] * 1e9,
		"machine_busy_percent": busy_percent,
		"own_figure_percent": summary["recorder_cpu_ns"] / summary["wall_ns"] * 100}


def floor(context, seconds, blocks_per_s):
	"""CPU time, in % of one CPU, to copy and write this many blocks a second."""
	path = context.path("floor")
	cpu_ns, blocks = map(int, run([context.helper("block_copy"), str(context.load_cpu), f"{seconds:g}", str(int(blocks_per_s)), path]).split())
	os.unlink(path)
	return cpu_ns / seconds / 1e7 * blocks_per_s / (blocks / seconds)


def bench(context):
	result = Result(TITLE)
	seconds = context.scale(5, 0.5)
	lasting = seconds + context.scale(4, 1)
	load = context.workload("paced", context.load_cpu, lasting, CALLS_PER_MS)
	paced, floors = [], []
	for _ in range(context.rounds_or(5)):
		paced.append(watch(context, seconds, load, "paced"))
		floors.append(floor(context, seconds, paced[-1]["blocks_per_s"]))
	idle = watch(context, context.scale(10, 0.5), ["sleep", str(context.scale(14, 1.5))], "idle")
	result.table(["load", "tokens/s", "CPU %", "by its own account %", "wake-ups/s", "machine busy %", "lost"],
		[[name, f"{row['tokens_per_s']:,.0f}", f"{row['cpu_percent']:.3f}", f"{row['own_figure_percent']:.3f}",
			f"{row['wakeups_per_s']:.1f}", f"{row['machine_busy_percent']:.1f}", row["lost"]]
			for name, row in [*[("paced", row) for row in paced], ("idle", idle)]])
	per_million = Spread(row["cpu_percent"] / (row["tokens_per_s"] / 1e6) for row in paced)
	above = ratios([row["cpu_percent"] for row in paced], floors)
	result.table(["% of one CPU at a million tokens/s", "min", "median", "max"],
		[["the recorder", *per_million.cells(3)], ["copy and write of its blocks", *Spread(floors).cells(3)]])
	result.bar("CPU per million tokens/s, of one CPU", per_million.mid, 0.45, "%", spread=per_million)
	result.bar("the same as a multiple of its floor", above.mid, 1.25, spread=above)
	result.bar("lost at a million tokens/s", sum(row["lost"] for row in paced), 0, digits=0)
	result.bar("CPU on an idle machine, of one CPU", idle["cpu_percent"], 0.08, "%", digits=3)
	result.bar("wake-ups on an idle machine", idle["wakeups_per_s"], 15, "/s", digits=1)
	if idle["machine_busy_percent"] > 3:
		result.note("the machine was not idle, so the idle figures judge nothing")
	result.figures = {"paced": paced, "floor_percent": floors, "idle": idle}
	return result
