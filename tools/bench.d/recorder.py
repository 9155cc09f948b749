# SPDX-License-Identifier: MIT
"""What the recorder itself takes: at about a million tokens per second, and on an idle machine. From the kernel's
figures of its threads, not from its own."""
import time

from lib import Result, Tasks, busy_share, spawn_recording, stop, trace_info

TITLE = "recorder: its own CPU time and wake-ups"
CALLS_PER_MS = 500  # two tokens each


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
		"machine_busy_percent": busy_percent,
		"own_figure_percent": summary["recorder_cpu_ns"] / summary["wall_ns"] * 100}


def bench(context):
	result = Result(TITLE)
	seconds = context.scale(10, 0.5)
	lasting = seconds + context.scale(4, 1)
	paced = context.workload("paced", context.load_cpu, lasting, CALLS_PER_MS)
	found = {
		"paced": watch(context, seconds, paced, "paced"),
		"idle": watch(context, seconds, ["sleep", str(lasting)], "idle"),
	}
	result.table(["load", "tokens/s", "CPU %", "by its own account %", "wake-ups/s", "machine busy %", "lost"],
		[[name, f"{row['tokens_per_s']:,.0f}", f"{row['cpu_percent']:.3f}", f"{row['own_figure_percent']:.3f}",
			f"{row['wakeups_per_s']:.1f}", f"{row['machine_busy_percent']:.1f}", row["lost"]]
			for name, row in found.items()])
	paced = found["paced"]
	result.bar("CPU per million tokens/s, of one CPU", paced["cpu_percent"] / (paced["tokens_per_s"] / 1e6), 3, "%")
	result.bar("CPU on an idle machine, of one CPU", found["idle"]["cpu_percent"], 0.1, "%", digits=3)
	result.bar("wake-ups on an idle machine", found["idle"]["wakeups_per_s"], 50, "/s", digits=1)
	if found["idle"]["machine_busy_percent"] > 3:
		result.note("the machine was not idle, so the idle figures judge nothing")
	result.figures = found
	return result
