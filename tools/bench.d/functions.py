# SPDX-License-Identifier: MIT
"""What a recorded call of a function takes longer: with sleds of both compilers, and with uprobes beside bpftrace's, which
count the calls and post nothing. All in turn in every round, beside the same program alone and two reads of the clock."""
import os
import subprocess
import time

from lib import Result, Spread, need, ratios, run, spawn, stop

TITLE = "functions: ns that a call of a recorded function takes longer"

XRAY = ["clang", "-O2", "-fxray-instrument", "-fxray-instruction-threshold=1", "-fnoxray-link-deps"]
NOPS = ["gcc", "-O2", "-fno-pie", "-no-pie", "-pg", "-mfentry", "-mnop-mcount", "-mrecord-mcount", "-minstrument-return=nop5",
	"-mrecord-return"]
PLAIN = ["gcc", "-O2"]
ABOVE_TWO_RDTSC = 40  # ns a pair, patched: two posts of 16 bytes (bench user) and two trampolines
SLED = 5              # ns a call in sleds that nobody patched: a jump and a no-op, or two no-ops


def call_ns(text):
	return tuple(map(float, text.split()))


def bpftrace_ns(program, arguments):
	"""The peer: a uprobe and a uretprobe that count."""
	peer = spawn(["bpftrace", "-e", f"uprobe:{program}:measured {{ @a = count(); }} uretprobe:{program}:measured {{ @b = count(); }}"],
		stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	time.sleep(3)
	try:
		return call_ns(run([program, *arguments]))[0]
	finally:
		stop(peer)


def bench(context):
	need("clang", "gcc", "bpftrace")
	result, programs = Result(TITLE), {}
	for name, compiler in (("plain", PLAIN), ("xray", XRAY), ("nops", NOPS)):
		programs[name] = context.path(f"load_{name}")
		source, compiled = os.path.join(os.path.dirname(__file__), "loads/function_load.c"), context.path(f"load_{name}.o")
		run([*compiler, "-c", source, "-o", compiled])
		# Without -pg, which would have the program write gmon.out where the bench is run.
		run([*(option for option in compiler if not option.startswith(("-pg", "-m"))), compiled, "-o", programs[name]])
	many = [str(context.scale(25, 3)), "4000"]
	few = [str(context.scale(15, 3)), "100"]
	found = {}

	def add(name, ns):
		found.setdefault(name, []).append(ns)

	for _ in range(context.rounds_or(7)):
		for name, program in programs.items():
			ns, clock = call_ns(run([program, *many]))
			add(name, ns)
			add("clock", clock)
			recorded = context.record(context.path("trace"), "--no-calibration", "-e", "sched", "--buffer", "64M", "--functions",
				"measured", command=[program, *(few if name == "plain" else many)])
			add(f"{name} recorded", call_ns(run(recorded))[0])
		add("plain bpftrace", bpftrace_ns(programs["plain"], few))
	names = {"clock": "two bare rdtsc", "plain": "the function alone", "xray": "in unpatched sleds of XRay",
		"nops": "in unpatched nops of gcc", "xray recorded": "XRay, recorded", "nops recorded": "nops, recorded",
		"plain recorded": "uprobes, recorded", "plain bpftrace": "uprobe and uretprobe of bpftrace, counted"}
	result.table(["ns per call", "min", "median", "max"], [[text, *Spread(found[name]).cells()] for name, text in names.items()])
	clock = Spread(found["clock"]).mid
	for name in ("xray", "nops"):
		pair = Spread([a - b - clock for a, b in zip(found[f"{name} recorded"], found[name])])
		result.bar(f"{name}: a recorded call, more than two rdtsc", pair.mid, ABOVE_TWO_RDTSC, "ns", pair)
		sled = Spread([a - b for a, b in zip(found[name], found["plain"])])
		result.bar(f"{name}: a call through its sleds, not recorded", sled.mid, SLED, "ns", sled)
	against = ratios(found["plain recorded"], found["plain bpftrace"])
	result.bar("uprobes: ours / bpftrace's, which post nothing", against.mid, 1.1, spread=against)
	result.figures = {name: Spread(values).json() for name, values in found.items()}
	return result
