# SPDX-License-Identifier: MIT
"""What deciding in the kernel costs: a system call whose two events are recorded, filtered, counted or timed by `monitor
record`, all in turn in every round, beside bpftrace's count() and hist() on the same tracepoints, and empty probes:
attaching alone is the floor, and more than half of what a token costs on some machines."""
import contextlib
import random
import subprocess
import time

import peers
from kernel import Load
from lib import Result, Spread, ratios, spawn, stop

TITLE = "match: ns added per event by filters and counts, W1 (getppid)"


def patterns(count):
	"""Alternatives that cannot be merged, none of which holds."""
	return " or ".join(f'name == "sys_enter" and id == {400 + i} and tid > {i * i + 4000000}' if i % 2 else
		f'name == "sys_exit" and ret == {i + 1000} and tid < -{i * i + 1}'
		for i in range(count))


WAYS = {
	"tokens": (),
	"all kept": ("--filter", 'mode == "kernel"'),
	"rejected as a class": ("--filter", 'name == "cpu_frequency"'),
	"rejected by a pattern": ("--filter", patterns(2)),
	"rejected by 500 patterns": ("--filter", patterns(500)),
	"counted by class": ("--no-tokens", "--count", 'a=name == "sys_enter"', "--count", 'b=name == "sys_exit"'),
	"counted by fields": ("--no-tokens", "--count", 'a=id == "getppid" and tid > 0', "--count", "b=ret > 0 and tid > 0"),
	"counted by one field": ("--no-tokens", "--count", 'a=id == "getppid"', "--count", "b=ret > 0"),
	"timed": ("--no-tokens", "--time", 't=name == "sys_enter" and id == "getppid" .. name == "sys_exit" per tid'),
}


@contextlib.contextmanager
def bpftrace(program):
	peer = spawn(["bpftrace", "-e", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	time.sleep(3)
	try:
		yield
	finally:
		stop(peer)


def bench(context):
	result = Result(TITLE)
	load = Load(context, "W1")

	def ours(more):
		return lambda: peers.recording(context, "syscall,power", {}, more=("--no-calibration", *more))

	found = {name: ours(more) for name, more in WAYS.items()}
	found["empty probes"] = lambda: peers.attached(context, "empty", load.pair, {})
	found["bpftrace count()"] = lambda: bpftrace(
		"tracepoint:raw_syscalls:sys_enter { @a = count(); } tracepoint:raw_syscalls:sys_exit { @b = count(); }")
	found["bpftrace count(), by fields"] = lambda: bpftrace(
		"tracepoint:raw_syscalls:sys_enter /args->id == 110 && tid > 0/ { @a = count(); } "
		"tracepoint:raw_syscalls:sys_exit /args->ret > 0 && tid > 0/ { @b = count(); }")
	found["bpftrace hist()"] = lambda: bpftrace(
		"tracepoint:raw_syscalls:sys_enter /args->id == 110/ { @s[tid] = nsecs; } "
		"tracepoint:raw_syscalls:sys_exit /@s[tid]/ { @t = hist(nsecs - @s[tid]); delete(@s[tid]); }")
	added = {name: [] for name in found}
	shuffle = random.Random(1)
	for _ in range(context.rounds_or(11)):
		order = list(found)
		shuffle.shuffle(order)
		before, measured = load.measure(), {}
		for name in order:
			with found[name]():
				measured[name] = load.measure()
		base = (before + load.measure()) / 2
		for name, value in measured.items():
			added[name].append((value - base) / load.events_per_unit)
	tokens = added["tokens"]
	result.table(["ns added per event", "min", "median", "max", "/ tokens"],
		[[name, *Spread(values).cells(), f"{ratios(values, tokens).mid:.2f}"] for name, values in added.items()])
	for name, below, limit in (("all kept", "tokens", 1.1), ("rejected by 500 patterns", "rejected by a pattern", 2),
		("counted by class", "tokens", 0.8), ("rejected as a class", "tokens", 0.8),
		("counted by class", "bpftrace count()", 1), ("counted by fields", "bpftrace count(), by fields", 1),
		("timed", "bpftrace hist()", 1)):
		spread = ratios(added[name], added[below])
		result.bar(f"{name} / {below}", spread.mid, limit, spread=spread)
	above = lambda name: [value - floor for value, floor in zip(added[name], added["empty probes"])]
	spread = ratios(above("counted by class"), above("tokens"))
	result.bar("counted by class / tokens, both above empty probes", spread.mid, 0.4, spread=spread)
	for name in ("counted by one field", "counted by fields"):
		spread = Spread(above(name))
		result.bar(f"{name}, ns above empty probes", spread.mid, 34, spread=spread)
	result.figures = {name: Spread(values).json() for name, values in added.items()}
	return result
