#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A file that is cut short while it is read: every command says so, exits with 1, and prints only what was there.

cut_off.py MONITOR MAKE_GOLDEN EVENTS POET_CHECK PRELOADED WORK_DIRECTORY. PRELOADED (cut_off.c) cuts the file at a
place of the program's, not of time: as soon as it is mapped, and when its events begin to be read.
"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

from layout import Event, Packet, Stream, Trace, packet_context, packet_header, plain_header
from writer import Many, Struct, u8, u32

PAGE = 4096
SENTENCE = "the file could not be read from here on: it was cut off meanwhile, or its disk failed"
WHEN = ("mapped", "read")


def described(directory, per_packet, packets):
	"""Events whose ids, times and values a zero page would have too, but for their number."""
	event = Event("an_event", Struct({"n": u32, "length": u32, "row": Many(u8, "length")}))
	stream = Stream(event, context=packet_context(), header=plain_header())
	trace = Trace(directory, stream, header=packet_header())
	number = iter(range(1, 1 << 20))
	trace.write("stream", stream, *(Packet([{"is": event, "time": 1000 * n, "fields": {"n": n, "length": 40, "row": [7] * 40}}
	                                        for n in (next(number) for _ in range(per_packet))]) for _ in range(packets)))


def no_times(directory):
	"""Without times nothing of an event of zeros is wrong."""
	event = Event("an_event", Struct({"n": u32}))
	stream = Stream(event, context=packet_context(("timestamp_begin", "timestamp_end")), header=None)
	trace = Trace(directory, stream, header=packet_header(), clock="")
	trace.write("stream", stream, Packet([{"is": event, "fields": {"n": n}} for n in range(1, 5000)]))


def pcap(path):
	frame = bytes(range(1, 101))
	path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) +
	                 b"".join(struct.pack("<IIII", 1000, n, 100, 100) + frame for n in range(200)))


def run(preloaded, file, size, when, *command):
	environment = {**os.environ, "LD_PRELOAD": preloaded, "CUT_FILE": str(file), "CUT_TO": str(size), "CUT_WHEN": when}
	return subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30, check=False,
	                      text=True, errors="replace")


class Case:
	"""A trace, a file of it, and the sizes that file is cut to."""

	def __init__(self, trace, file, sizes, commands):
		self.trace, self.file, self.sizes, self.commands = trace, file, sizes, commands
		self.whole = file.read_bytes()

	def wrong(self, monitor, poet_check, preloaded, size, when, name):
		"""None, or what is."""
		self.file.write_bytes(self.whole)
		target = str(self.trace)
		output = self.trace.parent / "merged"
		shutil.rmtree(output, ignore_errors=True)
		verb, *words = name.split()
		command = [poet_check, target] if name == "poet" else [monitor, verb, target, *words]
		command += {"query": ["SELECT time, name, fields FROM events"], "merge": ["-o", str(output)]}.get(name, [])
		if name == "list":
			command.append("--json")
		whole = set(run("", "", 0, "", *command).stdout.splitlines()) if name == "list" else None
		shutil.rmtree(output, ignore_errors=True)
		done = run(preloaded, self.file, size, when, *command)
		said = f"{command} after {self.file.name} was cut to {size} bytes when {when}: exit code {done.returncode}\n{done.stderr[-600:]}"
		if self.file.stat().st_size != size:
			return f"{command}: the file was not cut"
		if name == "poet": # what it says is the unit tests'
			return said if done.returncode < 0 else None
		if done.returncode != 1:
			return said
		if SENTENCE not in done.stderr + done.stdout:
			return "no sentence: " + said + done.stdout[-300:]
		if whole is not None and (more := [line for line in done.stdout.splitlines() if line not in whole]):
			return f"{command} cut to {size}: prints what is not in the trace: {json.dumps(more[:2])}"
		return None


def cases(make_golden, events, work):
	subprocess.run([make_golden, work / "golden", events], check=True)
	own = work / "golden" / "basic"
	readers = ("list", "info", "stat", "report", "query", "check")
	stream = own / "cpu1_level0"
	yield Case(own, stream, (0, PAGE, PAGE + 200), readers)
	described(work / "small", 20, 40)
	yield Case(work / "small", work / "small" / "stream", (0, 5 * PAGE), ("list", "info", "stat", "query", "check", "poet"))
	described(work / "large", 1000, 1)
	yield Case(work / "large", work / "large" / "stream", (PAGE, 5 * PAGE), ("list", "query", "poet"))
	no_times(work / "no_times")
	yield Case(work / "no_times", work / "no_times" / "stream", (2 * PAGE,), ("list", "info"))
	pcap(work / "a.pcap")
	yield Case(work / "a.pcap", work / "a.pcap", (PAGE, 3 * PAGE), ("list", "stat", "merge"))


def main():
	monitor, make_golden, events, poet_check, preloaded, work = sys.argv[1:]
	work = pathlib.Path(work)
	shutil.rmtree(work, ignore_errors=True)
	work.mkdir(parents=True)
	work = work.resolve()
	found, runs = [], 0
	for case in cases(make_golden, events, work):
		for name in case.commands:
			for when in WHEN:
				for size in case.sizes:
					found.append(case.wrong(monitor, poet_check, preloaded, size, when, name))
					runs += 1
	wrong = [sentence for sentence in found if sentence]
	print(*wrong, sep="\n")
	print(f"{runs} runs, {len(wrong)} wrong")
	sys.exit(1 if wrong else 0)


main()
