# SPDX-License-Identifier: MIT
"""The recorder's resident memory at full speed with default buffers, by what it is for."""
import os
import re
import time

from lib import Result, spawn_recording, stop

TITLE = "memory: the recorder at full speed, default buffers"
MIB = 1 << 20


def mappings(pid):
	"""Resident bytes by kind: rings (maps of the card), program (files), pool and heap (anonymous, stacks too)."""
	sums, kind = {"rings": 0, "program": 0, "pool and heap": 0}, None
	with open(f"/proc/{pid}/smaps") as file:
		for line in file:
			head = re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+\s*(.*)", line)
			if head:
				name = head.group(1).strip()
				kind = "rings" if "bpf" in name else "program" if name.startswith("/") else "pool and heap"
			elif line.startswith("Rss:"):
				sums[kind] += int(line.split()[1]) * 1024
	with open(f"/proc/{pid}/smaps_rollup") as file:
		sums["all resident"] = next(int(line.split()[1]) * 1024 for line in file if line.startswith("Rss:"))
	return sums


def map_memory(pid):
	"""What the kernel holds for the process's BPF maps."""
	total, seen = 0, set()
	for name in os.listdir(f"/proc/{pid}/fdinfo"):
		with open(f"/proc/{pid}/fdinfo/{name}") as file:
			info = dict(re.findall(r"(\w+):\s*(\S+)", file.read()))
		if "map_id" in info and info["map_id"] not in seen:
			seen.add(info["map_id"])
			total += int(info["memlock"])
	return total


def bench(context):
	result = Result(TITLE)
	seconds = context.scale(8, 0.8)
	load = context.workload("getppid-for", context.load_cpu, seconds)
	process = spawn_recording(context, context.path("trace"), load)
	peak = {}
	end = time.monotonic() + seconds * 0.8
	while time.monotonic() < end and process.poll() is None:
		time.sleep(context.scale(0.2, 0.05))
		try:
			sizes = {**mappings(process.pid), "BPF maps, in the kernel": map_memory(process.pid)}
			for kind, size in sizes.items():
				peak[kind] = max(peak.get(kind, 0), size)
		except (OSError, StopIteration):
			break
	stop(process)
	result.table(["largest seen", "MiB"], [[kind, f"{size / MIB:.1f}"] for kind, size in peak.items()])
	# The rings are in the kernel's figure whether the recorder has touched them or not.
	buffers = max(peak["rings"], peak["BPF maps, in the kernel"]) + peak["pool and heap"]
	result.bar("rings, maps, pool and heap", buffers / MIB, 64, "MiB", digits=1)
	result.note(f"the program's own pages, shared with whoever else runs it: {peak['program'] / MIB:.1f} MiB resident")
	result.figures = peak
	return result
