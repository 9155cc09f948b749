#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every event and every field of golden traces and of all CTF cases is in the tables as `monitor list --json` has it,
also when it is seeked to.

tables.py MONITOR WORK CTF_TESTS GOLDEN_TRACES
"""
import json
import os
import pathlib
import shutil
import sys

MONITOR, WORK, CTF, GOLDEN = (pathlib.Path(argument) for argument in sys.argv[1:5])
sys.path.insert(0, str(CTF))
from asking import ask, end, expect, listed, quoted, signed
from cases import BEYOND, CASES

COMMON = ("time_ns", "ticks", "cpu", "level", "mode", "name", "tid", "thread", "fields", "context")


def rows_of(trace, sql):
	"""1 tells that the trace is damaged, if the query came across it."""
	return ask(MONITOR, trace, sql, exit_codes=(0, 1) if trace.name == "damaged" else (0,))


def row_of(event):
	"""A line of the list as a row of `events`."""
	return {"time_ns": event["time_ns"], "ticks": event["ticks"], "cpu": event["cpu"], "level": event["level"],
	        "mode": event["mode"], "name": event["event"], "tid": event["pid"], "thread": event["comm"],
	        "fields": event["fields"], "context": event.get("context")}


def parsed(row):
	return {**row, "fields": json.loads(row["fields"]), "context": row["context"] and json.loads(row["context"])}


def same(ours, theirs):
	"""Numbers and texts as text: NaN and 1.0 are to equal themselves."""
	return json.dumps(ours, sort_keys=True) == json.dumps(theirs, sort_keys=True)


def flat(value, name):
	"""The fields in a value by their dotted names; a list is one."""
	if isinstance(value, dict):
		for key, inside in value.items():
			yield from flat(inside, f"{name}.{key}" if name else key)
	else:
		yield name, value


TAKEN = {"time_ns", "time", "wall_ns", "ticks", "cpu", "level", "mode", "name", "stream", "tid", "thread", "tgid",
         "filter", "fields", "context"}


def column_of(name, row):
	"""What the row calls it, or None: what every event has keeps its name, and SQL knows no upper and lower case."""
	for wanted in ("context." + name, name, "event." + name):
		if wanted in row and wanted not in TAKEN:
			return wanted
	return None


def equals(value, row, column):
	is_ = row[column]
	if value == "nan":
		return is_ is None
	if isinstance(value, str) and isinstance(is_, int):
		return row.get(column + "_label") == value
	if isinstance(value, list):
		return same(json.loads(is_), value)
	return same(signed(value), is_) or (isinstance(value, (int, float)) and value == is_)


def fields_are_columns(trace, events):
	"""Each table's rows, in order, against the list's events of that name."""
	for table in rows_of(trace, "SELECT DISTINCT name, \"table\" FROM classes"):
		rows = rows_of(trace, f"SELECT *, fields, context FROM {quoted(table['table'])}")
		mine = [event for event in events if event["event"] == table["name"]]
		if not expect(len(rows) == len(mine), f"{trace}: {table}: {len(rows)} rows, {len(mine)} events"):
			continue
		for row, event in zip(rows, mine):
			for name, value in [*flat(event.get("context") or {}, ""), *flat(event["fields"], "")]:
				column = column_of(name, row)
				if column is None:
					expect(value in ([], {}), f"{trace}: {table}: no column for {name}: {list(row)}")
				elif name in event["fields"] and name in (event.get("context") or {}):
					pass  # which of both is which, the other test tells
				else:
					expect(equals(value, row, column), f"{trace}: {table}: {name} is {row[column]!r}, not {value!r}")


def seeks(trace, events):
	"""Ranges of time give the same events as reading all."""
	times = sorted({event["time_ns"] for event in events})
	for first, last in ((0, 1), (1, 3), (3, 4), (1, 1)):
		first, last = times[len(times) * first // 5], times[min(len(times) * last // 5, len(times) - 1)]
		rows = rows_of(trace, f"SELECT {', '.join(COMMON)} FROM events WHERE time_ns BETWEEN {first} AND {last}")
		should = [row_of(event) for event in events if first <= event["time_ns"] <= last]
		expect(same([parsed(row) for row in rows], should), f"{trace}: {first} to {last}: {len(rows)} of {len(should)}")
		[row] = rows_of(trace, "SELECT count(*) AS n FROM events WHERE ticks > "
		            f"{events[len(events) // 2]['ticks']} AND +ticks > 0")
		expect(row["n"] == sum(event["ticks"] > events[len(events) // 2]["ticks"] for event in events),
		       f"{trace}: {row['n']} after the middle")


def compared(trace):
	events = listed(MONITOR, trace)
	rows = rows_of(trace, f"SELECT {', '.join(COMMON)} FROM events")
	expect(same([parsed(row) for row in rows], [row_of(event) for event in events]),
	       f"{trace}: events are not those of the list: {len(rows)} of {len(events)}")
	if max((event["ticks"] for event in events), default=0) < 1 << 63:
		fields_are_columns(trace, events)
		if events:
			seeks(trace, events)
	return len(events)


def main():
	shutil.rmtree(WORK, ignore_errors=True)
	total = 0
	for name in ("basic", "one", "gap", "damaged"):
		total += compared(GOLDEN / name)
	cases = list({**CASES, **BEYOND}.items())
	if "MONITOR_LONGER_TESTS" not in os.environ:
		cases = cases[::3] # the others run with tools/test --all
	for name, write in cases:
		write(WORK / name)
		total += compared(WORK / name)
	expect(total > 1000, f"only {total} events")
	print(f"{total} events of {len(cases) + 4} traces compared")
	end()


main()
