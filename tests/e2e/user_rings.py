#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rings of instrumented programs: what a burst may have, what --buffer says, that a program whose ring is half full
wakes the recorder, and that one that lies about its rings costs neither memory nor disk nor any event of the kernel's."""
import array
import mmap
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import e2e

load = os.path.join(e2e.programs, "user_load")
FIRST = ["chrt", "-f", "10"]  # no other load keeps the recorder from its CPU
memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def burst(directory, events, cpus, times, *options, stop=False):
	"""Records bursts of user_load; `stop`: the recorder stands still meanwhile. Returns (posted, taken, lost)."""
	recorder = e2e.Recorder(directory, "--user-only", *options, command=(load, "burst", events, cpus, times),
	                        before=FIRST, stdin=subprocess.PIPE)
	e2e.equal("the load", recorder.process.stdout.readline(), "ready\n")
	if stop:
		recorder.send(signal.SIGSTOP)
	recorder.process.stdin.close()
	posted = e2e.values(recorder.process.stdout.readline())["posted"]
	recorder.send(signal.SIGCONT)
	recorder.process.wait(timeout=60)
	trace = e2e.Trace(directory)
	trace.expect_true()
	card = trace.recording()["user_card"]
	lost = card["discarded"] + card["early"]
	e2e.equal("taken + lost", card["tokens"] + lost, posted)
	return posted, card["tokens"], lost


def million():
	"""A million events on each CPU at once are whole, though nobody takes any; with a smaller --buffer they are not."""
	with tempfile.TemporaryDirectory(dir=memory) as place:
		posted, _, lost = burst(f"{place}/default", 1_000_000, len(e2e.cpus()), 1, stop=True)
		e2e.equal(f"lost of {posted:,} with default buffers", lost, 0)
		posted, _, lost = burst(f"{place}/small", 1_000_000, len(e2e.cpus()), 1, "--buffer", "8M", stop=True)
		e2e.expect(lost > posted / 2, f"only {lost:,} of {posted:,} lost, though --buffer is 8M")


def woken():
	"""Every 10 ms more than the half of a ring: who looks every 40 ms alone loses most of it."""
	def recorded():
		with tempfile.TemporaryDirectory(dir=memory) as place, e2e.Stalls() as stalls:
			posted, _, lost = burst(f"{place}/woken", 400_000, 1, 20, "--buffer", f"{16 * (len(e2e.cpus()) + 1)}M")
		print(f"woken: {lost:,} of {posted:,} lost, CPUs woke at most {stalls.latest * 1000:.1f} ms late")
		return lost, stalls

	lost, _ = e2e.until_undisturbed(recorded, lambda made: made[0] and str(made[1]), 5)
	e2e.equal("lost", lost, 0)


def lie(seconds):
	"""Nothing but new positions, again and again: whatever was taken, each ring is full. As a client."""
	with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
		connection.connect("\0" + os.environ["MONITOR_EDC"])
		texts = b"good\0u64 x\0"
		connection.send(struct.pack("<IIII", 0x45444331, 1, 1, len(texts)) + texts)
		answer, control, _, _ = connection.recvmsg(8192, 64)
	_, rings, area_bytes, ring_bytes, blocks, _ = struct.unpack("<IIQQII", answer[:32])
	shared = mmap.mmap(array.array("i", control[0][2][:4])[0], area_bytes)
	deadline = time.monotonic() + seconds
	while time.monotonic() < deadline:
		for ring in range(rings + 1):
			at = 4096 + ring * ring_bytes
			taken, = struct.unpack_from("<Q", shared, at + 128)  # in blocks, of the shared ring (the last) in words
			full = taken + blocks * 512 if ring == rings else (taken + blocks) * 512
			struct.pack_into("<Q", shared, at, full & ((1 << 40) - 1))
	print("lied")


def liars():
	"""Beside a load of the kernel's at full rate."""
	with tempfile.TemporaryDirectory(dir=memory) as place:
		liar = f"{sys.executable} {__file__} {' '.join(sys.argv[1:4])} lie 1.5"
		recorder = e2e.Recorder(f"{place}/liars", "-e", "sched,syscall", before=FIRST,
		                        command=("sh", "-c", f"for i in 1 2 3 4; do {liar} & done; wait"))
		recorder.wait_until_recording()
		most = 0
		with e2e.getppid_on_every_cpu():
			while recorder.process.poll() is None:
				try:
					status = pathlib.Path(f"/proc/{recorder.process.pid}/status").read_text()
					most = max(most, int(re.search(r"RssAnon:\s+(\d+)", status)[1]))
				except (OSError, TypeError):
					break  # it has ended
				time.sleep(0.05)
		trace = recorder.end()
		e2e.equal("liars", trace.output.count("lied"), 4)
		red = trace.check()
		e2e.expect(red <= {"user_damage", "user_unanswered", "user_events"}, f"red is {red}")
		refused = sum(row["refused"] for row in trace.recording()["classes"])
		written = sum(file.stat().st_size for file in trace.directory.glob("user_*"))
		print(f"liars: {most} KiB of the recorder's own, {written >> 10} KiB of their streams, {refused} kernel events lost")
		e2e.equal("the kernel's events lost", refused, 0)
		e2e.expect(most < 150_000, f"the recorder took {most} KiB")
		e2e.expect(written < 16 << 20, f"the liars' streams have {written} bytes")


if __name__ == "__main__":
	if sys.argv[4:5] == ["lie"]:
		lie(float(sys.argv[5]))
		sys.exit(0)
	e2e.need_recording()
	if os.uname().machine != "x86_64":
		e2e.skip("the fast path of the user card is for x86-64")
	e2e.main(million, woken, liars)
