# SPDX-License-Identifier: MIT
"""Runs the benches one after the other and prints what they found. Called by tools/bench, which built everything.
Exit code: 0; 1 if a bench could not do its work (a missed bar is a result, not a failure; --strict makes it one)."""
import argparse
import importlib
import json
import os
import shutil
import sys
import tempfile
import traceback

from lib import Context, Skip, end_all, machine, plain

BENCHES = ["kernel", "match", "flight", "trigger", "live", "periods", "virtual", "view", "convert", "archive", "view_long", "diff", "instructions", "ratio", "user", "endtoend", "perf_bench", "loss", "plan", "sustained", "density", "recorder", "start", "clock",
	"read", "states", "traces", "stacks", "samples", "functions", "memory", "predict", "cost_range", "fleet", "fleet_scale"]

WITH_BESIDE = ("read", "kernel", "endtoend", "perf_bench")


def parse():
	parser = argparse.ArgumentParser(prog="tools/bench", description="Measures what the monitor costs and reaches.",
		epilog="tools/bench NAME --help says what a bench measures.", add_help=False)
	parser.add_argument("-h", "--help", action="store_true", help="this, or what the named benches measure")
	parser.add_argument("names", nargs="*", metavar="NAME", help="of " + ", ".join(BENCHES) + " (default: all)")
	parser.add_argument("--build", help="build directory to use (default: build-bench)")
	parser.add_argument("--beside", metavar="BUILD", help=f"{', '.join(WITH_BESIDE)}: interleaved with another build of the monitor")
	parser.add_argument("--no-build", action="store_true", help="take the monitor that is there, install nothing")
	parser.add_argument("--smoke", action="store_true", help="each bench for a moment, to see that it works")
	parser.add_argument("--rounds", type=int, help="rounds of the interleaved benches")
	parser.add_argument("--seconds", type=float, help="duration of the loads of loss, clock and user")
	parser.add_argument("--agents", type=int, help="simulated agents of fleet_scale (default: 100)")
	parser.add_argument("--json", metavar="FILE", help="write all figures there")
	parser.add_argument("--strict", action="store_true", help="a missed bar makes the exit code 1")
	options = parser.parse_args()
	for name in options.names:
		if name not in BENCHES:
			parser.error(f"there is no bench {name}; there are {', '.join(BENCHES)}")
	if options.help:
		if not options.names:
			parser.print_help()
		for name in options.names:
			print(f"{name}: {importlib.import_module(name).__doc__}")
		sys.exit(0)
	if options.beside and not (options.names and set(options.names) <= set(WITH_BESIDE)):
		parser.error(f"--beside is of {', '.join(WITH_BESIDE)}: name some of them")
	if options.beside and not os.access(os.path.join(options.beside, "tools/monitor/monitor"), os.X_OK):
		parser.error(f"{options.beside} has no tools/monitor/monitor: name a directory in which the monitor was built")
	return options


def run_bench(name, options):
	"""Returns the bench's JSON, and whether it worked."""
	work = tempfile.mkdtemp(prefix=f"monitor-bench-{name}.", dir=os.environ.get("TMPDIR", "/var/tmp"))
	before = machine()
	try:
		result = importlib.import_module(name).bench(Context(options, work))
	except Skip as skip:
		print(f"\n== {name}: skipped: {skip}")
		return {"skipped": str(skip)}, True
	except Exception:
		print(f"\n== {name}: FAILED")
		traceback.print_exc(file=sys.stdout)
		return {"failed": True}, False
	finally:
		end_all()
		shutil.rmtree(work, ignore_errors=True)
	result.print(not options.smoke)
	after = machine()
	steal = after["steal_ticks"] - before["steal_ticks"]
	print(f"  load average {before['load']:.2f} before, {after['load']:.2f} after; steal {steal} ticks", flush=True)
	return {**result.json(), "load_before": before["load"], "load_after": after["load"], "steal_ticks": steal}, True


def main():
	options = parse()
	facts = machine()
	print(f"{facts['cpu']}, {facts['cpus']} CPUs, kernel {facts['kernel']}, load average {facts['load']:.2f}")
	if facts["load"] > 0.5 and not options.smoke:
		print("this machine is not quiet: other programs disturb the figures")
	found, worked = {"machine": facts}, True
	for name in options.names or BENCHES:
		found[name], good = run_bench(name, options)
		worked &= good
	bars = [bar for result in found.values() for bar in result.get("bars", [])]
	if not options.smoke:
		missed = [bar["bar"] for bar in bars if not bar["met"]]
		print(f"\n{len(bars) - len(missed)} of {len(bars)} bars met" + (f"; MISSED: {'; '.join(missed)}" if missed else ""))
		worked &= not (options.strict and missed)
	if options.json:
		with open(options.json, "w") as file:
			json.dump(plain(found), file, indent=1, allow_nan=False)
	return 0 if worked else 1


if __name__ == "__main__":
	sys.exit(main())
