# SPDX-License-Identifier: MIT
"""What one event costs the traced program, beside floors and peers: CPU time of the load per event, the untraced load
of the same round subtracted. W1: getppid (sys_enter, sys_exit). W2: pipe ping-pong (sched_switch, sched_waking).

empty: programs that do nothing. minimal: they read the clock and store it. ours: the card's own two probes, with default
rings and a reader that frees blocks. rejected: the same of a process that -p leaves out. module: as ours with the kernel
module; where none is loaded the row is left out, and bench `instructions` counts its instructions in a guest, which are
no times. ftrace: in memory. perf, trace-cmd, monitor record: the whole programs."""
import os
import random
import statistics

import peers
from lib import BESIDE, Result, Spread, ratios, run

TITLE = "kernel: ns added per event, against floors and peers"

# The floor of a machine is `minimal`: attaching and reading the clock, which no tracer of this kind goes below. What they
# cost differs by a factor of three between machines, so a ratio to `empty` or to another tracer's memory says little.
BARS = {
	"W1": [("ours", "minimal", 1.17), ("rejected", "minimal", 0.9), ("ours", "ftrace", 0.87), ("monitor record", "perf", 0.5),
		("monitor record", "trace-cmd", 1)],
	"W2": [("ours", "minimal", 1.3), ("ours", "ftrace", 0.62), ("monitor record", "perf", 0.5),
		("monitor record", "trace-cmd", 1)],
}


class Load:
	def __init__(self, context, name):
		self.name = name
		self.pair = "syscall" if name == "W1" else "sched"
		self.events = peers.SYSCALLS if name == "W1" else peers.SWITCHES
		# Events per call (enter, exit), per round trip (two switches, two wakings).
		self.events_per_unit = 2 if name == "W1" else 4
		chunks = context.scale(15, 3)
		units = context.scale(20000 if name == "W1" else 2000, 1000 if name == "W1" else 200)
		verb = "getppid" if name == "W1" else "pingpong"
		self.command = context.workload(verb, context.load_cpu, chunks, units)

	def measure(self):
		"""ns of CPU time per call or round trip: the median of the chunks."""
		return statistics.median(self.chunks())

	def chunks(self):
		return list(map(float, run(self.command).split()))


def make_peers(context, load, result):
	def attach(kind, context=context):
		return lambda outcome: peers.attached(context, kind, load.pair, outcome)

	def recording(context):
		return lambda outcome: peers.recording(context, "syscall" if load.name == "W1" else "sched", outcome)

	found = {kind: attach(kind) for kind in ("empty", "minimal", "ours", "rejected")}
	if why := peers.why_not_attached(context, "module", load.pair):
		result.note(f"{load.name}: without the kernel module: {why}; bench `instructions` counts it in a guest")
	else:
		found["module"] = attach("module")
	if not context.beside:
		found |= peers.tracers(context, load.events, context.scale(128, 8), result, load.name)
	found["monitor record"] = recording(context)
	if context.beside:
		found[f"monitor record{BESIDE}"] = recording(context.beside)
		if os.path.exists(context.beside.helper("attach")):
			found |= {kind + BESIDE: attach(kind, context.beside) for kind in ("ours", "rejected")}
		else:
			result.note("the other build has no probes to attach: run its own tools/bench once")
	return found


def run_rounds(context, load, found):
	added, fastest = {name: [] for name in found}, {name: [] for name in found}
	base, last, disturbed = [], {}, 0
	shuffle = random.Random(1)
	for _ in range(context.rounds_or(15)):
		order = list(found)
		shuffle.shuffle(order)
		before = load.measure()
		measured = {}
		for name in order:
			last[name] = {}
			with found[name](last[name]):
				chunks = load.chunks()
			measured[name] = statistics.median(chunks)
			fastest[name].append(min(chunks) / load.events_per_unit)
		base.append((before + load.measure()) / 2)
		for name, value in measured.items():
			added[name].append((value - base[-1]) / load.events_per_unit)
		disturbed += any(outcome.get("others") for outcome in last.values())
	return base, added, fastest, last, disturbed


def run_load(context, name, result):
	load = Load(context, name)
	base, added, fastest, last, disturbed = run_rounds(context, load, make_peers(context, load, result))
	unit = "call" if name == "W1" else "round trip"
	rows = [[f"{name} untraced, per {unit}", *Spread(base).cells(), "", "", ""]]
	for peer, values in added.items():
		programs = last[peer].get("programs", [])
		against = [f"{ratios(values, added[floor]).mid:.2f}" for floor in ("empty", "minimal")]
		rows.append([f"{name} {peer}", *Spread(values).cells(), *against,
			" ".join(f"{row['instructions']}/{row['jited_bytes']}" for row in programs)])
	result.table(["ns added per event", "min", "median", "max", "/ empty", "/ minimal", "BPF instructions/bytes"],
		rows)
	for above in [peer for peer in added if peer + BESIDE in added]:
		differences = Spread([a - b for a, b in zip(fastest[above], fastest[above + BESIDE])])
		result.note(f"{name} {above}: {ratios(added[above], added[above + BESIDE]).mid:.2f} times what the other build adds; by the "
			f"fastest chunks {differences.mid:+.1f} ns per event ({differences.low:+.1f} to {differences.high:+.1f})")
	for above, below, limit in BARS[name]:
		if below in added:
			spread = ratios(added[above], added[below])
			result.bar(f"{name} {above} / {below}", spread.mid, limit, spread=spread)
	if name == "W2":
		spread = ratios(added["ours"], added["empty"])
		result.note(f"W2 ours / empty: {spread.mid:.2f} ({spread.low:.2f} to {spread.high:.2f})")
	if disturbed:
		result.note(f"{name}: {disturbed} of {len(base)} rounds were disturbed by another recording")
	if last["ours"].get("refused"):
		result.note(f"{name}: {last['ours']['refused']} tokens of the last round were discarded by a full ring")
	peers.note_losses(name, last, result)
	result.figures[name] = {"untraced": Spread(base).json(), "last_round": last,
		**{peer: {**Spread(values).json(), "values": values} for peer, values in added.items()}}


def bench(context):
	result = Result(TITLE)
	for name in ("W1", "W2"):
		run_load(context, name, result)
	result.note("what each row is: tools/bench kernel --help")
	return result
