# SPDX-License-Identifier: MIT
"""The loads of bench `kernel` in a guest whose clock counts instructions (QEMU -icount): what one event adds, without
the noise of a machine. It decides W2, whose times scatter. The guest is a stock kernel of the VM lab. Other work of
the guest only ever adds, so the least of the passes is the figure. An instruction is not a time: reading the TSC
counts as one, so the ratios to the floors judge nothing here."""
import glob
import os
import shutil
import statistics
import subprocess

from lib import Result, Skip, Spread, need, run

TITLE = "instructions: added per event, counted in a guest"

LIMIT_S = 600
KINDS = ["empty", "minimal", "ours", "module", "ftrace", "perf"]
EVENTS_PER_UNIT = {"W1": 2, "W2": 4}
SWITCHES_PER_TRIP = 2
BARS = {"W1": 0.65, "W2": 0.5}  # ours / ftrace, as in bench `kernel`
MODULE_BARS = {"ftrace": 0.5, "ours": 0.6}


def static_helpers(context):
	"""attach and workload, linked for a guest without libraries."""
	folder = context.path("guest")
	os.makedirs(folder)
	source, build = "tools/bench.d/loads", context.build
	run(["cc", "-std=gnu11", "-O2", "-static", f"{source}/workload.c", "-o", f"{folder}/workload", "-pthread"])
	libraries = [f"{build}/userspace/libmonitor_{name}.a" for name in ("rings", "stacks", "user_card", "pmu", "card", "recorder", "base")]
	libraries += glob.glob(f"{build}/userspace/libcompiled_fmt.a") # not with every version of fmt
	run(["c++", "-std=c++20", "-O2", "-static", "-Iuserspace", "-Iinclude", f"{source}/attach.cpp", "-o",
		f"{folder}/attach", *libraries, "-lbpf", "-lelf", "-lz", "-lpfm", "-pthread"])
	shutil.copy(context.helper("peers.bpf.o"), folder)
	return [os.path.join(folder, name) for name in ("attach", "workload", "peers.bpf.o")]


def kernel():
	for line in run(["tests/vm/kernels"]).splitlines():
		name, version, path = line.split("\t")
		if name == "6.12" and version != "-":
			return version, path
	raise Skip("the VM lab has no kernel 6.12 (see tests/vm/README.md)")


def module(context):
	"""The kernel module, built for that kernel; an empty list if this machine cannot."""
	headers = subprocess.run(["tests/vm/headers", "6.12"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
	if headers.returncode:
		return []
	source = context.path("monitor_edc")
	shutil.copytree("kmod", source)
	shutil.copytree("include", os.path.join(source, "include"))
	run(["make", "-C", headers.stdout.strip(), f"M={source}", "CC=gcc", "modules"])
	return [os.path.join(source, "monitor_edc.ko")]


def boot(context, image, files):
	log = context.path("console")
	done = subprocess.run(["tests/vm/boot", "--kernel", image, "--test", "tools/bench.d/instructions.sh", "--smp", "1",
		"--mem", "1024", "--timeout", str(LIMIT_S), "--log", log, "--qemu", "-icount shift=0,sleep=off", *files],
		stderr=subprocess.PIPE, text=True)
	if done.returncode:
		tail = open(log, errors="replace").read()[-2000:] if os.path.exists(log) else ""
		raise RuntimeError(f"{done.stderr.strip()}\n{tail}")
	return open(log, errors="replace").read()


def counters(context, result):
	"""Of counters at a context switch, in the arm64 guest, whose PMU can be tried."""
	load, log = context.path("workload"), os.path.join(context.build, "vm", "arm64-6.12-default.log")
	try:
		need("qemu-system-aarch64", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++")
	except Skip as skip:
		result.note(f"without counters: {skip}")
		return
	run(["aarch64-linux-gnu-gcc", "-std=gnu11", "-O2", "-static", "tools/bench.d/loads/workload.c", "-o", load, "-pthread"])
	done = subprocess.run(["tests/vm/run", "--build", context.build, "--kernel", "arm64-6.12", "--with-monitor", "--test",
		"tools/bench.d/counters.sh", "--file", load, "--timeout", str(LIMIT_S)], stdout=subprocess.PIPE, text=True)
	if done.returncode == 77:
		result.note(f"without counters: {done.stdout.strip()}")
		return
	if done.returncode:
		raise RuntimeError(done.stdout)
	found = {}
	for line in open(log, errors="replace"):
		if line.startswith("FIGURE "):
			_, number, *chunks = line.split()
			found.setdefault(number, []).append(statistics.median(map(float, chunks)) / SWITCHES_PER_TRIP)
	least = {number: min(values) for number, values in found.items()}
	result.table(["instructions of a switch, arm64", "min", "median", "max", "over no counters"],
		[[f"{number} counters" if number != "untraced" else number, *Spread(values).cells(),
			f"{least[number] - least['0']:+.0f}"] for number, values in found.items()])
	result.note(f"the first counter adds {least['1'] - least['0']:.0f} instructions, the second {least['2'] - least['1']:.0f}, "
		f"each of two more {(least['4'] - least['2']) / 2:.0f}")
	result.figures["counters"] = {number: Spread(values).json() for number, values in found.items()}


def parse(console):
	"""Medians of the chunks of each pass: {(load, kind): [pass, ...]}."""
	found = {}
	for line in console.splitlines():
		if line.startswith("FIGURE "):
			_, load, kind, *numbers = line.split()
			found.setdefault((load, kind), []).append(statistics.median(map(float, numbers)))
	return found


def bench(context):
	need("qemu-system-x86_64", "busybox", "cpio")
	if context.smoke:
		raise Skip("it boots a guest for a minute")
	result = Result(TITLE)
	version, image = kernel()
	driver = module(context)
	found = parse(boot(context, image, static_helpers(context) + driver))
	if not driver:
		result.note("the kernel module: not measured, there are no headers for that kernel here")
	for load in ("W1", "W2"):
		base = min(found[load, "untraced"])
		added = {kind: Spread([(value - base) / EVENTS_PER_UNIT[load] for value in found[load, kind]])
			for kind in KINDS if driver or kind != "module"}
		result.table(["instructions added per event", "min", "median", "max"],
			[[f"{load} {kind}", *spread.cells()] for kind, spread in added.items()])
		ours = added["ours"].low
		result.bar(f"{load} ours / ftrace, instructions", ours / added["ftrace"].low, BARS[load])
		for peer, most in MODULE_BARS.items() if driver else ():
			ratio = added["module"].low / added[peer].low
			result.bar(f"{load} module / {'BPF card' if peer == 'ours' else peer}, instructions", ratio, most)
		result.note(f"{load} ours / empty: {ours / added['empty'].low:.2f}, / minimal: {ours / added['minimal'].low:.2f}")
		result.figures[load] = {"untraced": base, **{kind: spread.json() for kind, spread in added.items()}}
	result.note(f"kernel {version}, one CPU; three passes")
	counters(context, result)
	return result
