#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The user card of programs whose C library has no restartable sequences: the same promises by the shared ring. And
with a recorder of this test's own, which reads that ring itself: one that answers late, when a library was loaded
meanwhile, must not confuse the classes."""
import array
import collections
import mmap
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

import e2e

source = e2e.pathlib.Path(sys.argv[4])
load, witness = (os.path.join(e2e.programs, name) for name in ("user_load", "user_witness"))
without_rseq = {**os.environ, "GLIBC_TUNABLES": "glibc.pthread.rseq=0"}


def record(name, *command, exit_code=0, options=("--user-only",), env=without_rseq):
	trace = e2e.record(name, "--force", *options, command=command, exit_code=exit_code, env=env)
	trace.card = trace.recording()["user_card"]
	trace.expect_true()
	made = sum(map(int, re.findall(r"\b(?:posted|signals)=(\d+)", trace.output)))
	e2e.equal("taken + discarded + early", trace.card["tokens"] + trace.card["discarded"] + trace.card["early"], made)
	return trace


def stress():
	"""4 threads moved between the CPUs, with signal handlers that post into the ring they were posting into."""
	e2e.stressed(one_stress, found=200_000, signals=50)


def one_stress():
	events = 4_000_000
	trace = record("stress", load, "stress", events, 30)
	ids = {row["event"]: row["id"] for row in trace.info()["classes"]}
	seen = e2e.values(e2e.run(witness, ids["step"], ids["signalled"], trace.directory, events).stdout)
	e2e.equal("found by the witness", seen["found"] + seen["signals"], trace.card["tokens"])
	for what in ("duplicates", "torn", "backwards"):
		e2e.equal(f"{what} events", seen[what], 0)
	print(f"stress: {trace.card['tokens']} tokens + {trace.card['discarded']} discarded, {seen['signals']} by handlers")
	return seen


def lives():
	"""Forks, vforks, exec, threads, crashes; each event with the thread that posted it."""
	for verb, number, code, lost in (("forks", 100, 0, None), ("vfork", 50, 0, 0), ("exec", 5, 0, 0),
	                                 ("threads", 1000, 0, 0), ("crash", 12345, 139, 0)):
		trace = record(verb, load, verb, number, exit_code=code)
		if lost is not None:
			e2e.equal(f"events lost by {verb}", trace.summary()["claimed_lost"], lost)
		if verb == "threads":
			threads = collections.Counter(event["pid"] for event in trace.events("--event", "posted"))
			e2e.equal("threads and events of each", (len(threads), set(threads.values())), (1024, {10}))
			e2e.equal("CPUs of events", {event["cpu"] for event in trace.events("--event", "posted")}, {None})


def between_the_kernels_tokens():
	"""Beside the kernel's tokens: on the same clock, by the same thread."""
	trace = record("order", load, "order", 20_000, options=("-p", "cmd", "-e", "sched,syscall"))
	bound, last, inside, calls = trace.summary()["clock_bound_ns"], {}, False, 0
	for event in trace.events("--event", "before,after,sys_enter"):
		if event["event"] == "before":
			inside, last["before"] = True, event["time_ns"]
		elif event["event"] == "sys_enter" and inside and event["fields"].get("id") == "getppid":
			e2e.expect(last["before"] - bound <= event["time_ns"], f"out of order: {event}")
			calls += 1
		elif event["event"] == "after":
			inside = False
	e2e.equal("calls between their events", calls, 20_000)
	e2e.equal("CPUs of the report", [row["cpu"] for row in trace.report("--by", "cpu")["rows"]], e2e.cpus())


def other_c_library():
	"""musl registers no restartable sequences."""
	program = e2e.work / "musl_load"
	if not shutil.which("musl-gcc"):
		e2e.leave_out("musl", "musl-gcc is not installed")
		return
	e2e.run("musl-gcc", "-O2", "-static", "-idirafter", "/usr/include", "-idirafter", "/usr/include/x86_64-linux-gnu",
	        f"-I{source / 'include'}", source / "tests/e2e/user_load.c", "-o", program)
	for verb, number in (("order", 1000), ("threads", 320), ("forks", 20)):
		record(f"musl_{verb}", program, verb, number, env=None)


def recorder_goes():
	"""The recorder is killed: the program never notices."""
	recorder = e2e.Recorder("killed", "--user-only", command=(load, "pause", 100_000), stdin=subprocess.PIPE,
	                        env=without_rseq)
	recorder.process.stdout.readline()
	recorder.send(signal.SIGKILL)
	recorder.process.stdin.close()  # the program goes on without a recorder
	e2e.equal("what the program says", recorder.process.stdout.readline().strip(), "posted=300000")
	recorder.process.wait()


class LateRecorder:
	"""Answers cards as the recorder does (user_ring.h), the first one late; reads what they leave in the shared ring."""
	HELLO, WELCOME = struct.Struct("<IIII"), struct.Struct("<IIQQII")
	BLOCKS, PAGE = 16, 4096

	def __init__(self):
		self.name, self.ids = f"monitor-late-{os.getpid()}", {}
		self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		self.socket.bind("\0" + self.name)
		self.socket.listen(8)
		self.socket.settimeout(10)
		self.ring_bytes = (self.BLOCKS + 1) * self.PAGE
		self.size = self.PAGE + 2 * self.ring_bytes  # one CPU and the shared ring
		self.memory = os.memfd_create("late")
		os.ftruncate(self.memory, self.size)

	def answer(self, late):
		connection, _ = self.socket.accept()
		hello = connection.recv(65536)
		_, request, classes, _ = self.HELLO.unpack_from(hello)
		time.sleep(late)
		texts = hello[self.HELLO.size:].split(b"\0")
		given = []
		for name in texts[0:2 * classes:2]:
			given.append(self.ids.setdefault(name.decode(), 1024 + len(self.ids)))
		packet = self.WELCOME.pack(0x45444331, 1, self.size, self.ring_bytes, self.BLOCKS, classes)
		packet += struct.pack(f"<{classes}H", *given)
		memory = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [self.memory]))] if request == 1 else []
		connection.sendmsg([packet], memory)
		connection.close()

	def events(self, words):
		"""How often each class stands in the shared ring; `words`: the payload words of each by name."""
		shared = mmap.mmap(self.memory, self.size)
		page = self.PAGE + self.ring_bytes
		names = {number: name for name, number in self.ids.items()}
		claimed, = struct.unpack_from("<Q", shared, page)
		found, at = collections.Counter(), 0
		while at < claimed:
			token, = struct.unpack_from("<Q", shared, page + self.PAGE + 8 * (at + 1))
			name = names[token & 0xfff]
			found[name] += 1
			at += 2 + words[name]
		return found


def late_answer():
	"""The answer comes while a library with classes of its own, which uses the program's card, is being loaded."""
	library, program = e2e.work / "library.so", e2e.work / "exporting_load"
	compiler = ("gcc", "-O2", f"-I{source / 'include'}")
	e2e.run(*compiler, "-shared", "-fPIC", source / "tests/e2e/user_library.c", "-o", library)
	e2e.run(*compiler, "-rdynamic", "-pthread", source / "tests/e2e/user_load.c", "-o", program)
	recorder = LateRecorder()
	program = subprocess.Popen([program, "libraries", "100", library], stdout=subprocess.PIPE, text=True,
	                           env={**without_rseq, "MONITOR_EDC": recorder.name})
	recorder.answer(0.3)  # the program waits 0.2 s for it, then loads the library, which waits too
	recorder.answer(0)
	e2e.equal("what the program says", program.communicate()[0].strip(), "posted=200")
	e2e.equal("events by class", recorder.events({"in_library": 1, "posted": 0}), {"in_library": 100, "posted": 100})


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(stress, lives, between_the_kernels_tokens, other_c_library, recorder_goes, late_answer)
