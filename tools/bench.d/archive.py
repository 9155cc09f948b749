# SPDX-License-Identifier: MIT
"""monitor archive: how long 10,000 measurements take to be listed and searched. The folders were read before, as those of
an archive that is in use; what a first look at a disk takes depends on the disk."""
import json
import os
import subprocess
import time

from lib import Result, Spread, run

TITLE = "archive: 10,000 measurements"
PROJECTS, EXPERIMENTS = 10, 20


def fill(context, archive, count):
	"""Measurements as `add` writes them, of which only the traces are empty."""
	trace = context.path("archived")
	run(context.record(trace, command=["true"]))
	run([context.monitor, "archive", "add", trace, "made/by/add", "--archive", archive])
	with open(os.path.join(archive, "made/by/add/measurement.json")) as file:
		facts = json.load(file)
	for i in range(count - 1):
		folder = os.path.join(archive, f"project {i % PROJECTS}/experiment {i // PROJECTS % EXPERIMENTS}/run {i}")
		os.makedirs(os.path.join(folder, "trace"))
		facts["date"] = f"2026-{1 + i % 12:02}-{1 + i % 28:02}T{i % 24:02}:00:00+0100"
		with open(os.path.join(folder, "measurement.json"), "w") as file:
			json.dump(facts, file)


def bench(context):
	result = Result(TITLE)
	archive, count = context.path("archive"), context.scale(10_000, 100)
	fill(context, archive, count)
	rows = []
	for words, limit in ((["list"], 100), (["find", "date > 2026-11-01"], 100), (["list", "--json"], None), (["list", "project 1"], None)):
		command = [context.monitor, "archive", *words, "--archive", archive]
		taken = []
		for _ in range(context.rounds_or(15) + 1):
			began = time.monotonic()
			subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
			taken.append((time.monotonic() - began) * 1000)
		taken = Spread(taken[1:])
		rows.append([" ".join(words), *taken.cells(0)])
		if limit:
			result.bar(f"{words[0]} {count} measurements", taken.mid, limit, "ms", spread=taken, digits=0)
		result.figures[" ".join(words)] = taken.json()
	result.table([f"ms, {count} measurements", "min", "median", "max"], rows)
	return result
