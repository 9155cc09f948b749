# SPDX-License-Identifier: MIT
"""Loss: none at full speed with default buffers, none over a stalled disk, and exactly counted where it is forced.
Full speed is W1 on one CPU; the recorder runs where the scheduler puts it."""
import contextlib
import fcntl
import os
import signal
import subprocess
import time

from lib import Result, Skip, need, run, spawn_recording, stop, trace_check, trace_info

TITLE = "loss: full speed, a stalled disk, forced losses"
FREEZE, THAW = 0xC0045877, 0xC0045878  # FIFREEZE, FITHAW of linux/fs.h


def figures(context, directory):
	info = trace_info(context, directory)
	summary, recorder = info["summary"], info["recording"]["recorder"]
	seconds = summary["wall_ns"] / 1e9
	return {"tokens": summary["tokens"], "lost": summary["lost"] + summary.get("claimed_lost", 0), "seconds": seconds,
		"tokens_per_s": summary["tokens"] / seconds, "bytes_per_s": summary["bytes"] / seconds,
		"worst_ring_fill": recorder["worst_ring_fill_permille"] / 1000}


def row(name, found):
	return [name, f"{found['tokens']:,}", f"{found['tokens_per_s'] / 1e6:.2f} M/s",
		f"{found['bytes_per_s'] / 1e6:.1f} MB/s", f"{found['worst_ring_fill'] * 100:.1f} %", f"{found['lost']:,}"]


def judge_exact(context, directory, result, name):
	"""seen = tokens + lost in each class, and the streams tell of as many as the rings discarded."""
	check = trace_check(context, directory)
	exact = True
	for key in ("conservation", "losses_placed"):
		exact &= key in check
		for statement in check.get(key, []):
			exact &= statement["verdict"] == "ok"
			result.note(f"{name}: {statement['text']}")
	result.bar(f"{name}: inexact counts", 0 if exact else 1, 0, digits=0)


def full_speed(context, result):
	directory = context.path("full")
	seconds = context.seconds_or(30, 0.3)
	run(context.record(directory, command=context.workload("getppid-for", context.load_cpu, seconds)))
	found = figures(context, directory)
	result.bar(f"lost at full speed for {seconds:g} s", found["lost"], 0, "tokens", digits=0)
	judge_exact(context, directory, result, "full speed")
	return found


@contextlib.contextmanager
def stallable(context):
	"""A directory on a file system of its own that can be frozen: ext4 in a file in memory, so that nothing but the
	freeze stalls it."""
	need("mkfs.ext4", "mount")
	memory, disk = context.path("memory"), context.path("disk")
	os.makedirs(memory)
	os.makedirs(disk)
	mounted = []
	try:
		run(["mount", "-t", "tmpfs", "-o", "size=2g", "nodev", memory])
		mounted.append(memory)
		run(["truncate", "-s", "1800M", f"{memory}/image"])
		run(["mkfs.ext4", "-q", "-F", f"{memory}/image"])
		run(["mount", "-o", "loop", f"{memory}/image", disk])
		mounted.append(disk)
	except RuntimeError as error:
		for place in reversed(mounted):
			run(["umount", place])
		raise Skip(f"no file system to stall: {error}")
	try:
		yield disk
	finally:
		for place in reversed(mounted):
			subprocess.run(["umount", place], check=False)


def stream_sizes(directory):
	return {entry.name: entry.stat().st_size for entry in os.scandir(directory) if entry.is_file()}


def stall(disk, directory, seconds):
	"""Nothing can be written for so long. Returns how long it really was, and whether the files stood still."""
	handle = os.open(disk, os.O_RDONLY)
	try:
		fcntl.ioctl(handle, FREEZE, 0)
		begin = time.monotonic()
		try:
			before = stream_sizes(directory)
			time.sleep(seconds)
			still = stream_sizes(directory) == before
		finally:
			fcntl.ioctl(handle, THAW, 0)
		return time.monotonic() - begin, still
	finally:
		os.close(handle)


def stalled_disk(context, result):
	with stallable(context) as disk:
		directory = f"{disk}/trace"
		load = context.workload("getppid-for", context.load_cpu, context.scale(4, 1))
		process = spawn_recording(context, directory, load)
		time.sleep(context.scale(1, 0.1))
		lasted, still = stall(disk, directory, context.scale(1, 0.1))
		process.wait()
		found = figures(context, directory)
		result.bar(f"lost while the disk stalled for {lasted:.2f} s", found["lost"], 0, "tokens", digits=0)
		result.note("the stream files " + ("stood still" if still else "GREW") + " during the stall; "
			f"at this rate {found['bytes_per_s'] * lasted / (1 << 20):.1f} MiB came in")
		judge_exact(context, directory, result, "stalled disk")
		return found


def tiny_buffers(context, result):
	directory = context.path("tiny")
	load = context.workload("getppid-for", context.load_cpu, context.scale(2, 0.3))
	run(context.record(directory, "--buffer", "256K", command=load))
	found = figures(context, directory)
	result.bar("tiny buffers: tokens lost", found["lost"], 1, at_least=True, digits=0)
	judge_exact(context, directory, result, "tiny buffers")
	return found


def stopped_recorder(context, result):
	directory = context.path("stopped")
	load = context.workload("getppid-for", context.load_cpu, context.scale(5, 1))
	process = spawn_recording(context, directory, load)
	time.sleep(context.scale(1, 0.2))
	process.send_signal(signal.SIGSTOP)
	time.sleep(context.scale(2, 0.3))
	stop(process, signal.SIGCONT)
	found = figures(context, directory)
	if not context.smoke:
		result.bar("recorder stopped for 2 s: tokens lost", found["lost"], 1, at_least=True, digits=0)
	judge_exact(context, directory, result, "stopped recorder")
	return found


def bench(context):
	result = Result(TITLE)
	rows = []
	for name, part in (("full speed", full_speed), ("stalled disk", stalled_disk), ("--buffer 256K", tiny_buffers),
			("recorder stopped", stopped_recorder)):
		try:
			found = part(context, result)
		except Skip as skip:
			result.note(f"{name}: skipped: {skip}")
			continue
		result.figures[name] = found
		rows.append(row(name, found))
	result.table(["W1, all default families", "tokens", "rate", "to disk", "fullest ring", "lost"], rows)
	return result
