# SPDX-License-Identifier: MIT
"""What a program's own event costs it, beside reading the clock and LTTng-UST: in a tight loop, amid work, refused by a
full ring, not recorded; and how many can be posted without loss, or with every loss counted.
The loads stay alive and are asked in turn, so that all of a table is measured in every round."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import time

from lib import Result, Skip, Spread, need, ratios, run, spawn, stop, trace_info

TITLE = "user: ns per event of a program's own, against the clock and LTTng-UST"

TIGHT = ["rdtsc", "16", "64"]
WORKS = {"multiply": "multiply-adds", "divide": "divisions"}
AMID = [f"{work}{what}" for work in WORKS for what in ("", "-rdtsc", "-16", "-64")]
EVENTS = {"16": "8 bytes", "64": "16 bytes"}
# ns above a bare rdtsc, the floor: what is done beside it overlaps with it on some machines (0.1 ns on AMD Zen 5) and
# does not on others (4.1 ns, 5.8 with 16 bytes and 6.2 amid multiply-adds on Intel Sapphire Rapids).
ABOVE_RDTSC = {("edc", "16"): 5, ("edc", "64"): 7, ("edc without rseq", "16"): 12, ("edc without rseq", "64"): 14}
AMID_ABOVE_RDTSC = 7
REFUSED_ABOVE_RDTSC = 13
PER_MS = 5000  # of each of two threads
RING = 4 << 20


class Load:
	"""A load that measures what it is asked."""

	def __init__(self, context, command, env=None):
		self.process = spawn([*command, "asked", str(context.load_cpu)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
			stderr=subprocess.PIPE, text=True, env=env)
		self.posted = 0

	def ask(self, chunks, calls, kinds):
		"""ns per call of each kind, the median of the chunks."""
		self.process.stdin.write(f"{chunks} {calls} {' '.join(kinds)}\n")
		self.process.stdin.flush()
		answer = self.process.stdout.readline().split()
		if len(answer) != len(kinds):
			raise RuntimeError(f"the load ended: {self.process.communicate()[1]}")
		self.posted += chunks * calls * sum(kind.endswith(tuple(EVENTS)) for kind in kinds)
		return dict(zip(kinds, map(float, answer)))

	def end(self):
		_, said = self.process.communicate()
		if self.process.returncode != 0:
			raise RuntimeError(f"the load failed: {said}")


class Recorded(Load):
	"""A load with a recorder of its own, which is its parent."""

	def __init__(self, context, name, env=None):
		self.context, self.directory = context, context.path(name)
		command = context.record(self.directory, "--user-only", command=[context.helper("user_load")])
		super().__init__(context, command, env)

	def summary(self):
		self.end()
		return counted(trace_info(self.context, self.directory)["summary"])

	@contextlib.contextmanager
	def stopped_recorder(self):
		self.process.send_signal(signal.SIGSTOP)
		os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)
		try:
			yield
		finally:
			self.process.send_signal(signal.SIGCONT)


class Lttng(Load):
	"""A load traced by LTTng-UST, which drops what finds no room, in buffers that have it."""

	def __init__(self, context):
		self.name = f"monitor-bench-{os.getpid()}"
		self.env = {**os.environ, "LTTNG_HOME": context.path("home")}
		os.makedirs(context.path("home"))
		self.daemon = None
		if not self.answers():
			self.daemon = spawn(["lttng-sessiond", "--no-kernel"], env=self.env, stdout=subprocess.DEVNULL,
				stderr=subprocess.DEVNULL)
			while not self.answers():
				if self.daemon.poll() is not None:
					raise RuntimeError("lttng-sessiond ended at once")
				time.sleep(0.02)
		self.lttng("create", self.name, "--output", context.path("lttng"))
		self.lttng("enable-channel", "-u", "-s", self.name, "--discard", "--subbuf-size", "2M", "--num-subbuf", "4",
			"events")
		self.lttng("enable-event", "-u", "-s", self.name, "-c", "events", "monitor_bench:*")
		self.lttng("start", self.name)
		super().__init__(context, [context.helper("user_lttng")], self.env)

	def answers(self):
		return subprocess.run(["lttng", "--no-sessiond", "list"], env=self.env, capture_output=True).returncode == 0

	def lttng(self, *arguments):
		return run(["lttng", "--no-sessiond", *arguments], env=self.env)

	def lost(self):
		self.end()
		self.lttng("stop", self.name)
		said = run(["lttng", "--no-sessiond", "--mi", "xml", "list", self.name], env=self.env)
		return sum(map(int, re.findall(r"<discarded_events>(\d+)<", said)))

	def close(self):
		subprocess.run(["lttng", "--no-sessiond", "destroy", self.name], env=self.env, capture_output=True)
		if self.daemon:
			stop(self.daemon, signal.SIGTERM)


@contextlib.contextmanager
def lttng_load(context, result):
	"""The peer, or nothing and a note."""
	peer = None
	try:
		need("lttng", "lttng-sessiond")
		if not os.path.exists(context.helper("user_lttng")):
			raise Skip("liblttng-ust-dev is not installed")
		peer = Lttng(context)
	except Skip as skip:
		result.note(f"without LTTng-UST: {skip}")
	try:
		yield peer
	finally:
		if peer:
			peer.close()


def drained(context):
	"""Long enough for the recorder's next look at the rings."""
	time.sleep(context.scale(0.15, 0.02))


def asked_in_turn(context, loads, questions):
	"""For each load and kind, the ns of each round. Before the first round, what touches every page of the rings."""
	found = {}
	warm_up = context.scale(3, 1)
	for number in range(warm_up + context.rounds_or(15)):
		for question in questions:
			for name, load in loads.items():
				for kind, ns in load.ask(*question).items():
					if number >= warm_up:
						found.setdefault((name, kind), []).append(ns)
			drained(context)
	return found


def differences(above, below):
	return Spread([a - b for a, b in zip(above, below)])


def posting(context, result):
	"""In a tight loop, and amid work: bursts that fit the rings, which are drained between them."""
	ours = Recorded(context, "posting")
	shared = Recorded(context, "shared", {**os.environ, "GLIBC_TUNABLES": "glibc.pthread.rseq=0"})
	with lttng_load(context, result) as peer:
		loads = {"edc": ours, "edc without rseq": shared, **({"LTTng-UST": peer} if peer else {})}
		found = asked_in_turn(context, loads, [(context.scale(25, 3), 4000, TIGHT), (15, context.scale(1000, 20), AMID)])
		if peer:
			result.note(f"LTTng-UST lost {peer.lost()} of {peer.posted:,} events")
	for name, load in (("edc", ours), ("edc without rseq", shared)):
		result.bar(f"{name}: lost of {load.posted:,} events in bursts", load.summary()["lost"], 0, digits=0)
	rows = [["a bare rdtsc", *Spread(found["edc", "rdtsc"]).cells(2), ""]]
	for name in loads:
		for kind, size in EVENTS.items():
			against = ratios(found[name, kind], found[name, "rdtsc"])
			rows.append([f"{name}, {size}", *Spread(found[name, kind]).cells(2), f"{against.mid:.3f}"])
			if (name, kind) in ABOVE_RDTSC:
				more = differences(found[name, kind], found[name, "rdtsc"])
				result.bar(f"{name}, {size}, more than rdtsc", more.mid, ABOVE_RDTSC[name, kind], "ns", more)
			else:
				against = ratios(found["edc", kind], found[name, kind])
				result.bar(f"edc / LTTng-UST, {size}", against.mid, 0.2, spread=against, digits=3)
	result.table(["ns per event in a tight loop", "min", "median", "max", "/ rdtsc"], rows)
	result.table(["ns per event amid work", "work", "+ rdtsc", "min", "median", "max"],
		amid_rows(found, loads, result))
	result.figures["posting"] = {f"{name} {kind}": Spread(values).json() for (name, kind), values in found.items()}


def amid_rows(found, loads, result):
	"""What a token costs more than the rdtsc that the same work has in its place."""
	rows = []
	for name in loads:
		for work, called in WORKS.items():
			for kind, size in EVENTS.items():
				more = differences(found[name, f"{work}-{kind}"], found[name, f"{work}-rdtsc"])
				base = Spread(found[name, work]).mid
				clock = differences(found[name, f"{work}-rdtsc"], found[name, work])
				rows.append([f"{name}, {size}, {called}", f"{base:.1f}", f"{clock.mid:.2f}", *more.cells(2)])
				if name == "edc" and kind == "16":  # the token alone; the other sizes stand in the table
					result.bar(f"edc, {size}, amid {called}, more than rdtsc", more.mid, AMID_ABOVE_RDTSC, "ns", more)
	return rows


def full_ring(context, result):
	"""The recorder stands still, the ring is full: every event is discarded and counted."""
	load, found = Recorded(context, "full"), {}
	for number in range(context.rounds_or(15)):
		load.ask(1, 500 * number + 1, ["16"])  # so that the rings are not full at the same block in every round
		drained(context)
		with load.stopped_recorder():
			load.ask(1, RING // 8, ["16"])
			for kind, ns in load.ask(context.scale(25, 3), 1000, TIGHT).items():
				found.setdefault(kind, []).append(ns)
		drained(context)
	summary = load.summary()
	rows = [["a bare rdtsc", *Spread(found["rdtsc"]).cells(2), ""]]
	for kind, size in EVENTS.items():
		against = ratios(found[kind], found["rdtsc"])
		rows.append([f"edc, {size}", *Spread(found[kind]).cells(2), f"{against.mid:.2f}"])
		more = differences(found[kind], found["rdtsc"])
		result.bar(f"edc, {size}, refused, more than rdtsc", more.mid, REFUSED_ABOVE_RDTSC, "ns", more)
	result.table(["ns per event that a full ring refuses", "min", "median", "max", "/ rdtsc"], rows)
	judge_exact(result, "full ring", load.posted, summary)
	result.figures["full"] = {kind: Spread(values).json() for kind, values in found.items()}


def not_recording(context, result):
	"""The program alone, as long as nobody runs `monitor record --user` beside."""
	load = Load(context, ["env", "-u", "MONITOR_EDC", context.helper("user_load")])
	found = asked_in_turn(context, {"off": load}, [(context.scale(25, 3), 4000, ["empty", "16", "64"])])
	load.end()
	rows = [["the empty loop", *Spread(found["off", "empty"]).cells(2)]]
	for kind, size in EVENTS.items():
		more = differences(found["off", kind], found["off", "empty"])
		rows.append([f"edc, {size}", *Spread(found["off", kind]).cells(2)])
		result.bar(f"edc, {size}, not recording, over the empty loop", more.mid, 0.5, "ns", more)
	result.table(["ns per call, not recording", "min", "median", "max"], rows)
	result.figures["not recording"] = {kind: Spread(values).json() for (_, kind), values in found.items()}


def counted(summary):
	"""With what programs say that they lost, which the headline keeps apart."""
	return {**summary, "lost": summary["lost"] + summary.get("claimed_lost", 0)}


def judge_exact(result, name, posted, summary):
	missing = posted - summary["tokens"] - summary["lost"]
	result.note(f"{name}: {summary['tokens']:,} tokens + {summary['lost']:,} lost of {posted:,} posted")
	result.bar(f"{name}: posted, but neither token nor lost", abs(missing), 0, digits=0)


def two_threads(context, result, name, *arguments):
	"""Returns the row of the table, and the summary."""
	directory = context.path("threads")
	command = [context.helper("user_load"), *map(str, arguments)]
	posted = int(run(context.record(directory, "--user-only", command=command)))
	info = trace_info(context, directory)
	shutil.rmtree(directory)
	summary, recorder = counted(info["summary"]), info["recording"]["recorder"]
	seconds = summary["wall_ns"] / 1e9
	judge_exact(result, name, posted, summary)
	result.figures[name] = {"posted": posted, "tokens": summary["tokens"], "lost": summary["lost"], "seconds": seconds}
	return [name, f"{posted / seconds / 1e6:.2f} M/s", f"{summary['tokens'] / seconds / 1e6:.2f} M/s",
		f"{summary['bytes'] / seconds / 1e6:.1f} MB/s", f"{recorder['worst_ring_fill_permille'] / 10:.1f} %",
		f"{summary['lost']:,}"], summary


def throughput(context, result):
	"""Two threads, paced for long, and as fast as they can."""
	rows, seconds = [], context.seconds_or(30, 0.2)
	space = 2 * PER_MS * 1000 * 8 * seconds * 1.2
	if shutil.disk_usage(context.work).free < space:
		result.note(f"sustained: skipped: it needs {space / 1e9:.1f} GB in {context.work}")
	else:
		row, summary = two_threads(context, result, f"paced, {seconds:g} s", "paced", seconds, PER_MS)
		result.bar(f"lost at {2 * PER_MS / 1000:g} M events/s for {seconds:g} s", summary["lost"], 0, digits=0)
		rows.append(row)
	seconds = context.scale(3, 0.1)
	rows.append(two_threads(context, result, f"unpaced, {seconds:g} s", "unpaced", seconds)[0])
	result.table(["two threads", "posted", "recorded", "to disk", "fullest ring", "lost"], rows)


def bench(context):
	result = Result(TITLE)
	for part in (posting, full_ring, not_recording, throughput):
		try:
			part(context, result)
		except Skip as skip:
			result.note(f"{part.__name__}: skipped: {skip}")
	return result
