#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of a few megabytes that name a million threads, or CPUs with numbers up to 2^32: a reader takes no more memory
than it may, and says what it leaves out. An attack by forged numbers.
"""
import os
import re
import shutil
import struct
import subprocess
import time

import e2e

HEAD = struct.Struct("<I16sIQQQQQQQIIII")
BLOCK, HEAD_BYTES = 4096, 96


def peak(*command):
	"""The most memory of a command and its helpers together, in MB, and its output."""
	process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
	most = 0
	while process.poll() is None:
		pages = 0
		for pid in filter(str.isdigit, os.listdir("/proc")):
			try:
				with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
					words = file.read().rsplit(")", 1)[1].split()
				with open(f"/proc/{pid}/statm", encoding="ascii") as file:
					resident, of_files = map(int, file.read().split()[1:3])
			except (OSError, IndexError, ValueError):
				continue
			pages += resident - of_files if int(words[3]) == process.pid else 0
		most = max(most, pages * os.sysconf("SC_PAGESIZE") / 1e6)
		time.sleep(0.02)
	return most, process.stderr.read(), process.returncode


class Forged:
	"""Streams that nobody recorded, in the description of a trace."""

	def __init__(self, name):
		self.trace = e2e.record(name, "-e", "sched", command=("true",)).directory
		head = HEAD.unpack((self.trace / "kernel_cpu0").read_bytes()[:HEAD_BYTES])
		self.magic, self.uuid, self.instance, self.time = head[0], head[1], head[3], head[4]
		for stream in self.trace.glob("kernel_cpu*"):
			stream.unlink()
		text = (self.trace / "metadata").read_text()
		self.ids = {found[0]: int(found[1]) for found in re.findall(r'name = "?([\w:]+)"?;\s*id = (\d+)', text)}

	def stream(self, cpu, name, records):
		"""`records`: (ticks after the start, payload words of an event of this name)."""
		with open(self.trace / f"kernel_cpu{cpu}", "wb") as file:
			words, begin, sequence = [], 0, 0

			def write(end):
				nonlocal sequence
				head = HEAD.pack(self.magic, self.uuid, 0, self.instance, self.time + begin, self.time + end, (HEAD_BYTES + 8 * len(words)) * 8,
				                 BLOCK * 8, sequence, 0, cpu, 0, 1, 0)
				file.write((head + struct.pack(f"<{len(words)}Q", *words)).ljust(BLOCK, b"\0"))
				sequence += 1
				words.clear()

			last = 0
			for ticks, payload in records:
				if words and HEAD_BYTES + 8 * (len(words) + 1 + len(payload)) > BLOCK:
					write(last)
				if not words:
					begin = ticks
				words += [self.ids[name] | ((self.time + ticks) & 0xffffffff) << 12 | 1 << 44, *payload]
				last = ticks
			write(last)


def pair(low, high):
	return (low & 0xffffffff) | (high & 0xffffffff) << 32


def bounded(forged, verb, *options):
	most, errors, code = peak(e2e.monitor, "--memory", "200M", verb, *options, forged.trace)
	e2e.expect(most < 400, f"{verb} takes {most:.0f} MB")
	return errors, code


def threads():
	forged = Forged("threads")
	forged.stream(0, "sched_switch", ((i * 100, [pair(i + 1, i + 2)]) for i in range(900_000)))
	for verb, *options in (("report",), ("check",), ("states", "--tree", "thread"), ("view", "--no-cache", "-o", e2e.work / "view.html")):
		errors, code = bounded(forged, verb, *options)
		e2e.expect("left out" in errors or verb == "check", f"{verb}: {errors}")
		e2e.equal(f"{verb}: exit code", code, 1)
	e2e.expect("--memory" in e2e.run(e2e.monitor, "--memory", "200M", "report", forged.trace, exit_code=1).stderr, "it does not say how to raise it")
	shutil.rmtree(forged.trace)


def cpus():
	forged = Forged("cpus")
	for cpu in (0, 1, 65535, 1 << 20, (1 << 31) - 1, (1 << 32) - 2):
		forged.stream(cpu, "sched_switch", [(i * 1000, [pair(1000 + i % 2, 1001 - i % 2)]) for i in range(20)])
	for verb, *options in (("report",), ("check",), ("report", "--virtual"), ("view", "--no-cache", "-o", e2e.work / "view.html")):
		bounded(forged, verb, *options)
	e2e.expect("has a number that none has" in e2e.run(e2e.monitor, "report", forged.trace, exit_code=1).stderr, "nothing is said of them")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(threads, cpus)
