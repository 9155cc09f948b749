#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports of the parts of random partitions of a golden trace add up to the report of the whole, to the tick.
partition.py MONITOR GOLDEN_TRACES PARTITIONS"""
import collections
import json
import pathlib
import random
import subprocess
import sys

MONITOR, GOLDEN, PARTITIONS = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
MODES = ("user", "kernel", "irq", "softirq", "unattributed", "unknown")
COUNTS = ("cpu_ns", "voluntary", "involuntary", "migrations", "syscalls", "minor_faults", "major_faults")


def run(*words):
	done = subprocess.run([MONITOR, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
	if done.returncode:
		sys.exit(f"{words}: {done.stderr}")
	return done.stdout


def figures(trace, *options):
	"""A tick of these traces is a nanosecond."""
	report = json.loads(run("report", trace, "--by", "thread", "--json", "--top", 0, *options))
	part = report["summary"]["window"]
	length = part["end_ns"] - part["begin_ns"]
	sums = collections.Counter({"length": length})
	for row in report["rows"]:
		who = row["thread"], row["tid"]
		for name in COUNTS:
			sums[who, name] += row[name] or 0
		for mode in MODES:
			sums[who, mode] += round((row[f"{mode}_percent"] or 0) * row["cpu_ns"] / 100)
	for cpu in report["cpus"]:
		spent = [round((cpu[f"{name}_percent"] or 0) * length / 100) for name in ("idle", *MODES)]
		if sum(spent) != length:
			sys.exit(f"{trace} {options}: CPU {cpu['cpu']} has {sum(spent)} of {length} ticks")
		for name, ticks in zip(("idle", *MODES), spent):
			sums["CPU", cpu["cpu"], name] += ticks
	return +sums


def seconds(time_ns):
	return f"{time_ns // 10**9}.{time_ns % 10**9:09}"


numbers = random.Random(20)
for name in ("basic", "gap"):
	directory = GOLDEN / name
	whole = figures(directory)
	span = json.loads(run("report", directory, "--json"))["summary"]["window"]
	times = sorted({json.loads(line)["time_ns"] for line in run("list", directory, "--json").splitlines()})
	for _ in range(PARTITIONS):
		inside = [time for time in times if span["begin_ns"] < time <= span["end_ns"]]
		cuts = {numbers.randrange(span["begin_ns"] + 1, span["end_ns"] + 1), *numbers.sample(inside, 2)}
		bounds = [span["begin_ns"], *sorted(cuts), span["end_ns"] + 1]
		parts = collections.Counter()
		for begin, end in zip(bounds, bounds[1:]):
			parts.update(figures(directory, "--from", seconds(begin), "--to", seconds(end - 1)))
		if parts != whole:
			wrong = {key: (parts[key], whole[key]) for key in parts | whole if parts[key] != whole[key]}
			sys.exit(f"{name}, cut at {sorted(cuts)}: {wrong}")
print(f"ok: {len(whole)} figures")
