# SPDX-License-Identifier: MIT
"""Sustained rate: 30 million tokens a second of the kernel and of programs together for a minute, limited by the disk
alone. Loops of getppid on each CPU beside a program whose two threads post so many events in each millisecond that both
make up the rate, or as much as 4/5 of what the disk takes. What the machine cannot post is said and judged as what it is:
nothing that was posted may be lost."""
import os
import shutil
import time

from lib import Result, run, trace_info

TITLE = "sustained: tokens of the kernel and of programs together, to the disk"
TOKENS_PER_S = 30e6
BYTES_PER_TOKEN = 8.2  # with the blocks' headers
TWO_THREADS = 2


def disk_rate(context, seconds):
	"""Bytes per second that a file here takes, written by 1 MiB and synchronised at the end."""
	path, part = context.path("disk"), b"\x5a" * (1 << 20)
	begin, written = time.monotonic(), 0
	handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
	try:
		while time.monotonic() - begin < seconds:
			written += os.write(handle, part)
		os.fsync(handle)
	finally:
		os.close(handle)
		os.unlink(path)
	return written / (time.monotonic() - begin)


def load(context, seconds, user_per_s):
	"""The shell's words for both loads."""
	parts = [" ".join(context.workload("getppid-for", cpu, f"{seconds:g}")) for cpu in sorted(os.sched_getaffinity(0))]
	per_ms = int(user_per_s / 1000 / TWO_THREADS)
	return " & ".join([f"{context.helper('user_load')} paced {seconds:g} {per_ms}", *parts, "wait"])


def measure(context, name, seconds, user_per_s):
	directory = context.path(name)
	run(context.record(directory, "-e", "sched,syscall", command=["sh", "-c", load(context, seconds, user_per_s)]))
	info = trace_info(context, directory)
	shutil.rmtree(directory)
	summary, card = info["summary"], info["recording"]["user_card"]
	wall = summary["wall_ns"] / 1e9
	user = card["tokens"] + card["discarded"] + card["early"]
	return {"seconds": wall, "tokens_per_s": summary["tokens"] / wall, "user_per_s": user / wall,
		"lost": summary["lost"] + summary.get("claimed_lost", 0), "bytes_per_s": summary["bytes"] / wall,
		"recorder_percent": summary["recorder_cpu_ns"] / wall / 1e7}


def bench(context):
	result = Result(TITLE)
	seconds = context.seconds_or(60, 0.5)
	disk = disk_rate(context, context.scale(10, 0.2))
	goal = min(TOKENS_PER_S, 0.8 * disk / BYTES_PER_TOKEN)
	room = shutil.disk_usage(context.work).free / 2
	if goal * BYTES_PER_TOKEN * seconds > room:
		seconds = room / (goal * BYTES_PER_TOKEN)
		result.note(f"{seconds:.0f} s only: a half of what is free on this disk")
	# What the kernel's part is depends on how long the program runs beside it: tried once.
	trial = measure(context, "trial", context.scale(3, 0.3), goal * 0.6)
	kernel = max(trial["tokens_per_s"] - trial["user_per_s"], 0)
	found = measure(context, "sustained", seconds, max(goal - kernel, goal * 0.3))
	result.table(["disk", "goal", "reached", "of programs", "to disk", "recorder", "lost"],
		[[f"{disk / 1e6:,.0f} MB/s", f"{goal / 1e6:.1f} M/s", f"{found['tokens_per_s'] / 1e6:.2f} M/s",
			f"{found['user_per_s'] / 1e6:.2f} M/s", f"{found['bytes_per_s'] / 1e6:.1f} MB/s",
			f"{found['recorder_percent']:.0f} %", f"{found['lost']:,}"]])
	result.bar(f"lost in {found['seconds']:.0f} s", found["lost"], 0, "tokens", digits=0)
	result.bar("reached of the goal", found["tokens_per_s"] / goal, 0.9, at_least=True)
	if goal < TOKENS_PER_S:
		result.note("the disk takes less than 30 million tokens a second need")
	result.figures = {"disk_bytes_per_s": disk, "goal": goal, "trial": trial, **found}
	return result
