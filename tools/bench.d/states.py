# SPDX-License-Identifier: MIT
"""How fast run lengths are made of events, and a regular expression is searched in them: a bus whose every cycle is
another state, so that a record is a run."""
import random
import struct
import subprocess

from lib import Result, Spread
from read import measure

TITLE = "states: run lengths, and regular expressions over them"
TDL = """trace cycles "cycles of a bus"
the file begins with
	magic text of 4 bytes
end
every record begins with
	passed unsigned 16 bits, in nanoseconds, hidden
	time is passed since the record before
end
record cycle
	kind unsigned 8 bits
	filler of 8 bits
end
"""
TREE = "of machine\na: kind == 1\nb: kind == 2\nc: kind == 3\nd: kind == 4\n"
PATTERNS = ("a (b c)+ d", "(a [^a]*)+", "a .{12} b")


def make_trace(context, records):
	"""Blocks of the same states, each other than the one before it."""
	draw, states = random.Random(1), [1]
	while len(states) < min(1 << 16, records) or states[-1] == states[0]:
		states.append(draw.choice([state for state in (1, 2, 3, 4) if state != states[-1]]))
	block = b"".join(struct.pack("<HBx", 50, state) for state in states)
	path = context.path("cycles.bin")
	with open(path, "wb") as file:
		file.write(b"CYCL")
		for _ in range(max(records // len(states), 1)):
			file.write(block)
	for name, text in (("cycles.tdl", TDL), ("cycles.tree", TREE)):
		with open(context.path(name), "w") as file:
			file.write(text)
	return path, max(records // len(states), 1) * len(states)


def bench(context):
	result = Result(TITLE)
	path, records = make_trace(context, context.scale(10_000_000, 100_000))
	command = [context.monitor, "states", path, "--tdl", context.path("cycles.tdl"), "--tree", context.path("cycles.tree")]
	runs = subprocess.run([*command, "--csv"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[1:]
	if sum(int(line.split(",")[5]) for line in runs) != records:
		raise RuntimeError(f"a record is not a run: {runs}")
	rows, found = [], {}
	for name, options in (("summed", []), ("kept", ["--runs", "--top", "1"]),
	                      *((pattern, ["--match", pattern, "--top", "1"]) for pattern in PATTERNS)):
		all_runs = [measure([*command, *options], context.other_cpu) for _ in range(context.rounds_or(5))]
		seconds = Spread([run["seconds"] for run in all_runs])
		found[name] = {"seconds": seconds.json(), "resident": max(run["resident"] for run in all_runs)}
		found[name]["mid"] = seconds.mid
		rows.append([name, *seconds.cells(2), f"{found[name]['resident'] / 1e6:.0f}"])
	result.table([f"{records:,} run lengths", "CPU seconds with reading the events: min", "median", "max", "peak resident, MB"], rows)
	for pattern in PATTERNS:
		search = max(found[pattern]["mid"] - found["kept"]["mid"], 0)
		result.bar(f"{pattern} over {records:,} run lengths", search, 1, "s")
	result.figures = found
	return result
