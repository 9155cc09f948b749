# SPDX-License-Identifier: MIT
"""monitor diff: how often it claims a change between recordings of the same load, whether it finds one call doubled, and
how long it takes beside reading both recordings for a report. The sides are recorded in turns."""
import json
import time

from lib import Result, Spread, run

TITLE = "diff: 20 comparisons of the same load with itself, and with one call doubled"
EACH = 5  # repetitions of a side, as many as can test a few rows


def record(context, name, calls):
	directory = context.path(name)
	run(context.record(directory, command=context.workload("getppid", context.load_cpu, 1, calls)))
	return directory


def compare(context, before, after, *options):
	return json.loads(run([context.monitor, "diff", "--json", *options, ",".join(before), ",".join(after)]))


def seconds_of(command):
	began = time.monotonic()
	run(command)
	return time.monotonic() - began


def bench(context):
	result = Result(TITLE)
	comparisons, calls = context.rounds_or(20), context.scale(100_000, 10_000)
	claims, first, found, took, reported = [], 0, 0, [], []
	for _ in range(comparisons):
		sides = {"a": [], "b": [], "twice": []}
		for number in range(EACH):
			for side, recordings in sides.items():
				recordings.append(record(context, f"{side}{number}", calls * (2 if side == "twice" else 1)))
		same = compare(context, sides["a"], sides["b"])
		claims.append(same["tests"]["significant"])
		row = compare(context, sides["a"], sides["twice"])["rows"][0]
		first += row["what"] == "getppid"
		found += row["what"] == "getppid" and row["significant"]
		pair = sides["a"][0], sides["twice"][0]
		took.append(seconds_of([context.monitor, "diff", *pair]))
		reported.append(sum(seconds_of([context.monitor, "report", directory]) for directory in pair))
	wrong = sum(number > 0 for number in claims)
	result.table([f"of {comparisons} comparisons, {EACH} recordings of each side", "number"], [
		["the same load: a change was claimed", wrong], ["a call doubled: it is the first row", first], ["and significant", found]])
	result.table(["s", "min", "median", "max"], [["monitor diff of two", *Spread(took).cells(3)], ["monitor report of both", *Spread(reported).cells(3)]])
	result.bar("the same load: claims", wrong, max(comparisons / 20, 1), digits=0)
	result.bar("a call doubled: first", first, comparisons, at_least=True, digits=0)
	result.bar("diff over both reports, time", Spread(took).mid / Spread(reported).mid, 1.5)
	result.figures = {"claims": claims, "first": first, "significant": found, "diff_s": Spread(took).json(), "reports_s": Spread(reported).json()}
	return result
