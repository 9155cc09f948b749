# SPDX-License-Identifier: MIT
"""What a user notices of a recording of the whole machine, beside ftrace in memory and perf record -a of the same
tracepoints, interleaved: the slow-down of a parallel compile, and the CPU time that a request to a server takes more.

The added CPU time is that of nginx and wrk by request, less that of the untraced run of the same round: how many events a
request has cancels out in the ratios. `minimal` are probes on all tracepoints of a default recording that read the clock and
store it, `ours` is the card with a reader that only frees blocks, `count-only` is `monitor record --count-only`. rounds.py
says how the 95 % bounds are found."""
import statistics

import peers
from endtoend_loads import Compile, Server
from lib import BESIDE, Result, Skip, Spread, ratios
from rounds import difference, ratio, run_rounds

TITLE = "endtoend: slow-down of a compile, and what a request to a server costs"
OURS = ("ours", "monitor record")
MOST = {"minimal": 1.2, "ftrace": 1.05}  # times the added CPU time of these
MOST_SLOW_DOWN = {"perf": 0.3, "trace-cmd": 1}  # the same of wall time
MOST_POINTS = 1  # of wall time above ftrace
LEAST_BELOW_NS = 6  # an event, below the other build


def traced(context, load, result):
	"""Who traces, by name."""
	def recording(context, *more):
		return lambda outcome: peers.recording(context, "", outcome, more=more)

	def attach(kind, context=context):
		return lambda outcome: peers.attached(context, kind, "default", outcome)

	found = {"untraced": peers.untraced, "monitor record": recording(context)}
	if load.name == "server":
		found |= {"minimal": attach("minimal"), "ours": attach("ours"),
			"count-only": recording(context, "--statistics", "60s", "--count-only")}
	if context.beside:
		found[f"monitor record{BESIDE}"] = recording(context.beside)
		why = peers.why_not_attached(context.beside, "ours", "default")
		if why:
			result.note(f"{load.name}: without the other build's own probes: {why}")
		elif load.name == "server":
			found[f"ours{BESIDE}"] = attach("ours", context.beside)
		return found
	return found | peers.tracers(context, peers.DEFAULT, context.scale(512, 16), result, load.name)


def slow_downs(rounds, name):
	return [measured[name]["wall"] / measured["untraced"]["wall"] - 1 for measured in rounds]


def added_ns(rounds, name):
	return [(measured[name]["cpu"] - measured["untraced"]["cpu"]) * 1e9 for measured in rounds]


def events_by_unit(rounds):
	"""Of the card's own counts, the median."""
	counts = []
	for measured in rounds:
		run = measured.get("ours", measured["monitor record"])
		counts.append(run["outcome"].get("seen", run["outcome"].get("tokens")) / run["units"])
	return statistics.median(counts)


def report_compile(rounds, result):
	wall = Spread([measured["untraced"]["wall"] for measured in rounds])
	rows = [["compile untraced, s", *wall.cells(2), ""]]
	for name in rounds[0]:
		if name != "untraced":
			percent = Spread([value * 100 for value in slow_downs(rounds, name)])
			cpu = statistics.median(measured[name]["cpu"] / measured["untraced"]["cpu"] - 1 for measured in rounds)
			rows.append([f"compile {name}, %", *percent.cells(2), f"{cpu * 100:.2f}"])
	result.table(["slow-down (wall time)", "min", "median", "max", "CPU time, median"], rows)
	percent = Spread([value * 100 for value in slow_downs(rounds, "monitor record")])
	result.bar("compile: slow-down", percent.mid, 2, "%", spread=percent)


def report_server(rounds, result):
	events = events_by_unit(rounds)
	names = [name for name in rounds[0] if name != "untraced"]
	added = {name: added_ns(rounds, name) for name in names}
	floors = [floor for floor in MOST if floor in added]
	against = {(name, floor): ratio(added[name], added[floor]) for name in names for floor in floors if name != floor}
	base = Spread([measured["untraced"]["cpu"] * 1e9 for measured in rounds])
	rows = [["untraced, in all", *base.cells(0), *[""] * (len(floors) + 2)]]
	for name in names:
		spread, wall = Spread(added[name]), Spread(slow_downs(rounds, name))
		rows.append([name, *spread.cells(0), f"{spread.mid / events:.1f}",
			*[against[name, floor].text() if name != floor else "" for floor in floors], f"{wall.mid * 100:.1f}"])
	result.table(["server, added CPU time, ns a request", "min", "median", "max", "an event",
		*[f"/ {floor} (95 %)" for floor in floors], "wall time, %"], rows)
	for name in OURS:
		for floor in floors:
			bound = against[name, floor]
			goal = ", goal 1.15" if floor == "minimal" else ""
			result.bar(f"server: {name} / {floor}, added CPU time{goal}", bound.mid, MOST[floor], spread=bound)
		if name + BESIDE in added:
			below = difference([value / events for value in added[name + BESIDE]], [value / events for value in added[name]])
			result.bar(f"server: {name}, below the other build, an event", below.mid, LEAST_BELOW_NS, "ns", spread=below,
				at_least=True, digits=1)
	if "ftrace" in added:
		points = difference(*([value * 100 for value in slow_downs(rounds, name)] for name in ("monitor record", "ftrace")))
		result.bar("server: wall time of monitor record above ftrace's", points.mid, MOST_POINTS, "points", spread=points)
	result.note(f"server: {events:.1f} events a request")


def report_peers(load, rounds, result):
	for peer, most in MOST_SLOW_DOWN.items():
		if peer in rounds[0]:
			against = ratios(slow_downs(rounds, "monitor record"), slow_downs(rounds, peer))
			result.bar(f"{load.name}: slow-down of monitor record / {peer} record", against.mid, most, spread=against)
	peers.note_losses(load.name, {name: run["outcome"] for name, run in rounds[-1].items()}, result)
	others = sum(any(run["outcome"].get("others") for run in measured.values()) for measured in rounds)
	if others:
		result.note(f"{load.name}: {others} of {len(rounds)} rounds were disturbed by another recording")


def run_load(context, make, result):
	try:
		load = make(context)
	except Skip as skip:
		result.note(f"{make.name}: skipped: {skip}")
		return
	try:
		if not context.smoke:
			load.measure()  # the caches are warm for all
		found = traced(context, load, result)
		rounds = run_rounds(context, found, load.measure, 9 if load.name == "compile" else 25)
	finally:
		load.close()
	if load.name == "compile":
		report_compile(rounds, result)
	else:
		report_server(rounds, result)
	report_peers(load, rounds, result)
	result.figures[load.name] = {"rounds": rounds}


def bench(context):
	result = Result(TITLE)
	for make in (Compile, Server):
		run_load(context, make, result)
	if context.load_cpu == context.other_cpu:
		result.note("nginx and wrk share the one CPU there is")
	result.note("the peers trace the same tracepoints, but not the completed page faults, which ours records besides")
	return result
