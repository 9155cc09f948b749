# SPDX-License-Identifier: MIT
"""How fast a recording is read on one CPU, and in how much memory, for three lengths; babeltrace2 beside it."""
import os
import shutil
import subprocess
import time

from lib import BESIDE, Result, Spread, ratios, run, spawn, trace_info

TITLE = "read: report and list on one CPU"
TOKENS_PER_LOOP = 560  # of `workload mixed`, both CPUs together; measured roughly, the real number is counted


def measure(command, cpu):
	"""Seconds of CPU time on one CPU (what other programs take from it does not count), the peak of all resident memory
	and of its anonymous part (mapped files are cache). The peak is looked up while it runs: the one that wait() tells
	begins with this driver's own."""
	process = spawn(["taskset", "-c", str(cpu), *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	resident = anonymous = 0
	while True:
		pid, status, usage = os.wait4(process.pid, os.WNOHANG)
		if pid:
			break
		try:
			with open(f"/proc/{process.pid}/status") as file:
				for line in file:
					if line.startswith("RssAnon"):
						anonymous = max(anonymous, int(line.split()[1]) * 1024)
					elif line.startswith("VmHWM"):
						resident = int(line.split()[1]) * 1024
		except OSError:
			pass
		time.sleep(0.005)
	process.returncode = os.waitstatus_to_exitcode(status)
	if process.returncode != 0:
		raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}")
	return {"seconds": usage.ru_utime + usage.ru_stime, "resident": resident, "anonymous": anonymous}


def make_trace(context, tokens):
	directory = context.path(f"trace{tokens}")
	load = context.workload("mixed", max(tokens // TOKENS_PER_LOOP, 1))
	run(context.record(directory, "--buffer", "256M", command=load))
	return directory, trace_info(context, directory)["summary"]["tokens"]


def bench(context):
	result = Result(TITLE)
	sizes = context.scale([1_000_000, 10_000_000, 40_000_000], [20_000, 500_000])
	rounds = context.rounds_or(5)
	rows, found = [], {}
	for size in sizes:
		directory, tokens = make_trace(context, size)
		verbs = {verb: [context.monitor, verb, directory] for verb in ("report", "list")}
		interleaved = dict(verbs)
		if context.beside:
			interleaved |= {verb + BESIDE: [context.beside.monitor, verb, directory] for verb in verbs}
		if shutil.which("babeltrace2") and size == sizes[0]:
			verbs["babeltrace2"] = ["babeltrace2", directory]
			verbs["babeltrace2, not printed"] = ["babeltrace2", "-o", "dummy", directory]
		runs = {verb: [] for verb in interleaved}
		for _ in range(rounds):
			for verb, command in interleaved.items():
				runs[verb].append(measure(command, context.other_cpu))
		runs |= {verb: [measure(command, context.other_cpu)] for verb, command in verbs.items() if verb not in runs}
		for verb, measured in runs.items():
			rate = Spread([tokens / run["seconds"] / 1e6 for run in measured])
			row = {"tokens": tokens, "rate": rate.mid, "resident": max(run["resident"] for run in measured),
				"anonymous": max(run["anonymous"] for run in measured), "rate_spread": rate.json()}
			found[f"{verb} {size}"] = row
			rows.append([verb, f"{tokens:,}", *rate.cells(2), f"{row['resident'] / 1e6:.1f}",
				f"{row['anonymous'] / 1e6:.1f}"])
		if context.beside:
			for verb in ("report", "list"):
				of = ratios(*([run["seconds"] for run in runs[name]] for name in (verb, verb + BESIDE)))
				result.note(f"{verb}, {tokens:,} tokens: {of.mid:.3f} times the CPU time of the other build "
					f"({of.low:.3f} to {of.high:.3f})")
		shutil.rmtree(directory)
	result.table(["to /dev/null", "tokens", "M tokens per CPU second: min", "median", "max", "peak resident, MB",
		"anonymous, MB"], rows)
	judged = sizes[1]
	result.bar(f"report, {judged:,} tokens", found[f"report {judged}"]["rate"], 15, "M/s", at_least=True)
	result.bar(f"list, {judged:,} tokens", found[f"list {judged}"]["rate"], 8, "M/s", at_least=True)
	for verb in ("report", "list"):
		growth = found[f"{verb} {sizes[-1]}"]["resident"] / found[f"{verb} {judged}"]["resident"]
		result.bar(f"{verb}: resident memory, {sizes[-1]:,} / {judged:,} tokens", growth, 1.25)
	result.figures = found
	return result
