# SPDX-License-Identifier: MIT
"""What the samples of a recorded command cost that nobody asked for, beside the same recording without (--stacks=no), one
after the other in each round: the way to the command's first instruction, alone and beside 200 idle processes, CPU, bytes,
the time of 3,000 processes. Whether two functions get the shares that they have, within the interval that is stated."""
import json
import math
import os
import shutil
import time

from lib import Result, Spread, ratios, run, spawn
from stacks import loads

TITLE = "samples of the command: their cost, and what they say"
WITHOUT = "--stacks=no"


def recorded(context, *options, command):
	"""The command's standard output and the recording's own figures. Calibration would take longer than what is measured."""
	trace = context.path("trace")
	output = run(context.record(trace, "--no-calibration", *options, command=command))
	with open(os.path.join(trace, ".monitor/recording.json")) as file:
		recording = json.load(file)
	return output, trace, recording


def to_command_ms(context, *options):
	before = time.monotonic_ns()
	output, _, _ = recorded(context, *options, command=context.workload("stamp"))
	return (int(output) - before) / 1e6


def start(context, result, name):
	took = {"without": [], "with": []}
	for _ in range(context.rounds_or(15)):
		took["without"].append(to_command_ms(context, WITHOUT))
		took["with"].append(to_command_ms(context))
	more = ratios(took["with"], took["without"])
	result.table([f"ms to the command's main(), {name}", "min", "median", "max"],
		[[way, *Spread(values).cells(0)] for way, values in took.items()])
	result.bar(f"start, {name}: with / without", more.mid, 1.1, "x", more)


def size_of(trace):
	return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(trace) for name in names)


def cost(context, result):
	rows = []
	for name, (load, _) in loads(context, context.scale(2.0, 0.2)).items():
		if not shutil.which(name) and name != "cc1plus":
			result.note(f"{name} is not installed")
			continue
		cpu, room, size, share = [], [], [], []
		for _ in range(context.rounds_or(5)):
			_, trace, without = recorded(context, WITHOUT, command=["sh", "-c", load])
			plain = size_of(trace)
			_, trace, recording = recorded(context, command=["sh", "-c", load])
			wall_s, stacks = recording["recorder"]["wall_ns"] / 1e9, recording["stacks"]
			# An interrupt that takes no stack: 13 us were measured on a virtual machine.
			cpu.append((recording["recorder"]["cpu_ns"] - without["recorder"]["cpu_ns"] + stacks["spent_at_timer_ns"] +
				13_000 * stacks["timer_interrupts"]) / 1e6)
			room.append(10 + 0.005 * 1e3 * wall_s * os.cpu_count())
			size.append(size_of(trace))
			share.append(size[-1] / (1.1 * plain + 32_000 + 30_000 * wall_s))
		rows.append([name, *Spread(cpu).cells(1), f"{Spread(room).mid:.1f}", f"{Spread(size).mid / 1e6:.2f}", f"{Spread(share).mid:.2f}"])
		result.bar(f"{name}: CPU of recorder, probes and interrupts / (10 ms + 0.5 % of each CPU)", ratios(cpu, room).mid, 1, "x",
			ratios(cpu, room))
		result.bar(f"{name}: bytes / (1.1 x without + 32 kB + 30 kB/s)", Spread(share).mid, 1, "x", Spread(share))
	result.table(["ms of CPU for the samples of", "min", "median", "max", "at most", "MB", "of the bar"], rows)


def processes(context, result):
	count = context.scale(3000, 100)
	took = {"without": [], "with": []}
	for _ in range(context.rounds_or(9)):
		took["without"].append(float(recorded(context, WITHOUT, command=context.workload("spawn", count))[0]))
		took["with"].append(float(recorded(context, command=context.workload("spawn", count))[0]))
	more = ratios(took["with"], took["without"])
	result.table([f"s for {count} processes", "min", "median", "max"], [[way, *Spread(values).cells(2)] for way, values in took.items()])
	result.bar(f"wall time of {count} processes: with / without", more.mid, 1.03, "x", more)


def interval(hits, samples, z=1.959964):
	"""95 %, by Wilson, as the monitor states it."""
	share, weight = hits / samples, z * z / samples
	middle = (share + weight / 2) / (1 + weight)
	half = z * math.sqrt(share * (1 - share) / samples + weight / (4 * samples)) / (1 + weight)
	return middle - half, middle + half


def shares(context, result):
	runs = context.scale(20, 1)
	rows = []
	for seconds in (0.5, 3):
		within, counts, whole, off = 0, [], [], []
		for _ in range(context.rounds or runs):
			output, trace, recording = recorded(context, command=[context.helper("two_functions"), str(seconds)])
			three, one = map(float, output.split())
			found = json.loads(run([context.monitor, "report", trace, "stacks", "--json", "--top", "0"]))
			samples = {name: sum(row["self"] for row in found["rows"] if row["function"] == name) for name in ("three_parts", "one_part")}
			count, truth = sum(samples.values()), three / (three + one)
			low, high = interval(samples["three_parts"], count)
			within += low <= truth <= high
			counts.append(count / (99 * (three + one)))
			whole.append(100 - found["stacks"]["truncated_percent"])
			off.append(100 * (samples["three_parts"] / count - truth))
		rows.append([f"{seconds} s", f"{Spread(counts).mid:.3f}", f"{Spread(whole).mid:.1f}", f"{Spread(off).mid:+.1f}", f"{within} of {len(off)}"])
		result.bar(f"two functions for {seconds} s: within the interval, of {len(off)}", within, 0.9 * len(off), "", at_least=True, digits=1)
	result.table(["two functions for", "samples / (99 a CPU second)", "whole, %", "off, points", "within"], rows)


def bench(context):
	result = Result(TITLE)
	start(context, result, "alone")
	idle = [spawn(["sleep", "1000"]) for _ in range(context.scale(200, 20))]
	start(context, result, f"beside {len(idle)} idle processes")
	for process in idle:
		process.kill()
		process.wait()
	processes(context, result)
	shares(context, result)
	cost(context, result)
	return result
