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
import view

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
		self.trace = e2e.record(name, "-e", "sched,syscall", command=("true",)).directory
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


def bounded(trace, megabytes, verb, *options):
	"""With what the program has before it reads anything."""
	most, errors, code = peak(e2e.monitor, "--memory", f"{megabytes}M", verb, *options, trace)
	e2e.expect(most < megabytes + 20, f"{verb} takes {most:.0f} MB of {megabytes}")
	return errors, code


def threads():
	forged = Forged("threads")
	forged.stream(0, "sched_switch", ((i * 100, [pair(i + 1, i + 2)]) for i in range(900_000)))
	for megabytes in (60, 200):
		for verb, *options in (("report",), ("report", "--by", "thread", "--top", "0"), ("check",), ("states", "--tree", "thread"), ("stat",), ("info",),
		                       ("view", "--no-cache", "-o", e2e.work / "view.html"), ("convert", "--to", "perfetto", "-o", e2e.work / "perfetto"),
		                       ("play", "--frame")):
			errors, code = bounded(forged.trace, megabytes, verb, *options)
			e2e.expect(code in (0, 1), f"{verb}: exit code {code}: {errors}")
			if verb in ("report", "states", "view"):
				e2e.expect("--memory" in errors, f"{verb}: what is left out is not said: {errors}")
				e2e.equal(f"{verb}: exit code", code, 1)
	e2e.expect("left out" in e2e.run(e2e.monitor, "--memory", "200M", "report", forged.trace, exit_code=1).stderr, "nothing is left out")
	shutil.rmtree(forged.trace)


METADATA = """/* CTF 1.8 */
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; signed = true; } := int64_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; uint32_t stream_id; }; };
env { hostname = "forged"; domain = "kernel"; tracer_name = "lttng-modules"; tracer_major = 2; tracer_minor = 13; };
clock { name = monotonic; freq = 1000000000; offset = 0; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time_t;
stream {
	id = 0;
	event.header := struct { uint16_t id; time_t timestamp; };
	packet.context := struct { time_t timestamp_begin; time_t timestamp_end; uint64_t content_size; uint64_t packet_size; uint32_t cpu_id; };
};
event {
	name = "sched_switch"; id = 1; stream_id = 0;
	fields := struct { int32_t _prev_tid; int32_t _prev_prio; int64_t _prev_state; int32_t _next_tid; int32_t _next_prio; };
};
"""


def one_packet():
	"""All of a stream in one packet of another tracer."""
	trace = e2e.work / "packet"
	trace.mkdir()
	(trace / "metadata").write_text(METADATA)
	number, event = 900_000, struct.Struct("<HQiiqii")
	bits = (8 + 36 + number * event.size) * 8
	with open(trace / "channel0_0", "wb") as file:
		file.write(struct.pack("<IIQQQQI", 0xC1FC1FC1, 0, 1000, 1000 + number * 100, bits, bits, 0))
		for i in range(number):
			file.write(event.pack(1, 1000 + i * 100, i + 1, 20, 0, i + 2, 20))
	errors, code = bounded(trace, 60, "report")
	e2e.equal("exit code", code, 1)
	e2e.expect("--memory" in errors, f"it is not said: {errors}")


def cpus():
	forged = Forged("cpus")
	for cpu in (0, 1, 8191, 65535, 1 << 20, (1 << 31) - 1, (1 << 32) - 2):
		forged.stream(cpu, "sched_switch", [(i * 1000, [pair(1000 + i % 2, 1001 - i % 2)]) for i in range(20)])
	for verb, *options in (("report",), ("check",), ("report", "--virtual"), ("view", "--no-cache", "-o", e2e.work / "view.html")):
		bounded(forged.trace, 200, verb, *options)
	e2e.expect("has a number that none has" in e2e.run(e2e.monitor, "report", forged.trace, exit_code=1).stderr, "nothing is said of them")


def many_cpus():
	"""As many as a kernel may have: the picture has all of them, within the memory that a command takes by itself."""
	number = 8000
	forged = Forged("many_cpus")
	for cpu in range(number):
		forged.stream(cpu, "sched_switch", [(i * 1000, [pair(1000 + i % 2, 1001 - i % 2)]) for i in range(4)])
	page = e2e.work / "cpus.html"
	most, errors, code = peak(e2e.monitor, "view", "--no-cache", "-o", page, forged.trace)
	e2e.expect(code in (0, 1) and "written" in errors and "--memory" not in errors, f"exit code {code}: {errors}")
	e2e.expect(most < 400, f"{most:.0f} MB")
	e2e.equal("CPUs in the page", len(view.embedded(page.read_text())["about"]["cpus"]), number)
	shutil.rmtree(forged.trace)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(threads, one_packet, cpus, many_cpus)
