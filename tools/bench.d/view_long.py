# SPDX-License-Identifier: MIT
"""monitor view of a trace that is longer than memory: how soon there is something to see, and all of it, at first and once its
picture was kept; how long the parts take that are read again; how much memory the server takes."""
import json
import os
import shutil
import signal
import struct
import subprocess
import time
import urllib.request

from lib import Result, Spread, run, spawn, stop, trace_info
from read import TOKENS_PER_LOOP

TITLE = "view_long: a trace of 10 GB"
BLOCK = 4096
BEGIN, SEQUENCE = 32, 64  # of timestamp_begin and _end, of packet_seq_num in a block's header (include/monitor/ring.h)


def repeat(source, target, times):
	"""The same events again and again: each time a multiple of 2^32 ticks later, so that tokens, which have the lower 32 bits
	of their times, stay as they are. Where one copy follows the other, the threads that run contradict each other."""
	shutil.rmtree(target, ignore_errors=True)
	shutil.copytree(source, target)
	streams = [name for name in os.listdir(source) if name.startswith("kernel_cpu")]
	ends = []
	for name in streams:
		with open(os.path.join(source, name), "rb") as file:
			header = file.read(64)
			file.seek(-BLOCK, os.SEEK_END)
			ends.append((struct.unpack_from("<Q", header, BEGIN)[0], struct.unpack_from("<Q", file.read(64), BEGIN + 8)[0]))
	apart = ((max(end for _, end in ends) - min(begin for begin, _ in ends) >> 32) + 1) << 32
	for name in streams:
		with open(os.path.join(source, name), "rb") as file:
			data = bytearray(file.read())
		blocks = len(data) // BLOCK
		with open(os.path.join(target, name), "wb") as file:
			for _ in range(times):
				file.write(data)
				for at in range(0, len(data), BLOCK):
					begin, end = struct.unpack_from("<QQ", data, at + BEGIN)
					struct.pack_into("<QQ", data, at + BEGIN, begin + apart, end + apart)
					struct.pack_into("<Q", data, at + SEQUENCE, struct.unpack_from("<Q", data, at + SEQUENCE)[0] + blocks)
	path = os.path.join(target, ".monitor", "recording.json")
	with open(path) as file:
		recording = json.load(file)
	recording["end"]["time"] += (times - 1) * apart
	with open(path, "w") as file:
		json.dump(recording, file)


def ask(address, what):
	with urllib.request.urlopen(address + what) as answer:
		return answer.read()


def look(context, directory, *options):
	"""Seconds until something is seen, until all of it is, and of reading 40 parts again, each of 1,000 bins; memory in MB."""
	began = time.monotonic()
	server = spawn([context.monitor, "view", "--no-browser", *options, directory], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
	address = server.stdout.readline().strip()
	seen = None
	while True:
		about = json.loads(ask(address, "about"))
		if seen is None and about["cpus"]:
			ask(address, f"modes?from=0&to={about['ticks']}&bins=1000")
			seen = time.monotonic() - began
		if "reading" not in about:
			break
		time.sleep(0.02)
	ask(address, f"table?from=0&to={about['ticks']}&by=process&page=1")
	whole = time.monotonic() - began
	parts = []
	for i in range(40):
		level, began = i % 4, time.monotonic()
		bins = about["ticks"] // (about["base_ticks"] << 2 * level)
		at = bins * (i + 1) // 42
		ask(address, f"slices?level={level}&from={at}&to={at + 1000}&lanes=c*")
		parts.append(time.monotonic() - began)
	with open(f"/proc/{server.pid}/status") as status:
		memory = next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
	server.send_signal(signal.SIGINT)
	stop(server)
	return seen, whole, parts, memory


def bench(context):
	result = Result(TITLE)
	short, long = context.path("short"), context.path("long")
	load = context.workload("mixed", context.scale(30_000_000, 300_000) // TOKENS_PER_LOOP)
	run(context.record(short, "--buffer", "1G", command=load))
	size = sum(os.path.getsize(os.path.join(short, name)) for name in os.listdir(short) if name.startswith("kernel_cpu"))
	repeat(short, long, context.scale(10_000_000_000 // size + 1, 3))
	os.environ["XDG_CACHE_HOME"] = context.path("cache")
	tokens = trace_info(context, long)["summary"]["tokens"]
	first = look(context, long)
	again = [look(context, long) for _ in range(context.rounds_or(5))]
	kept = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(os.environ["XDG_CACHE_HOME"]) for name in names)
	seen, whole, parts, memory = (Spread(values) for values in ([a[0] for a in again], [a[1] for a in again], sum((a[2] for a in again), []), [a[3] for a in again]))
	result.table([f"s, {tokens:,} events", "min", "median", "max"], [
		["at first, something to see", "", f"{first[0]:.2f}", ""], ["at first, all of it", "", f"{first[1]:.2f}", ""],
		["kept, something to see", *seen.cells(2)], ["kept, all of it, with the table", *whole.cells(2)], ["a part that is read again", *parts.cells(3)]])
	result.note(f"the kept picture has {kept / 1e6:.1f} MB; memory at first {first[3]:.0f} MB")
	result.bar("something to see, kept", seen.mid, 3, "s", spread=seen)
	result.bar("all of it, kept", whole.mid, 3, "s", spread=whole)
	result.bar("memory of the server", max(memory.high, first[3]), 300, "MB", spread=memory)
	result.figures = {"tokens": tokens, "first_s": first[1], "kept_s": whole.json(), "part_s": parts.json(), "memory_mb": memory.json()}
	shutil.rmtree(long, ignore_errors=True)
	return result
