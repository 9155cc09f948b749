#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of the tools that others use, made now: LTTng-UST, perf and barectf. `monitor list` reads of them what
babeltrace 2 reads.

real_tools.py MONITOR WORK_DIRECTORY     the test: one line per trace; exit code 77 (skipped) if there is none
real_tools.py --bt2-only WORK_DIRECTORY  babeltrace 2 alone, with the number of its events
real_tools.py --record N WORK_DIRECTORY [--event EVENT]  only records N events of LTTng-UST into WORK_DIRECTORY/trace, for a
benchmark: of every kind with contexts, or of one kind alone
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import traceback

import reading  # first: it may start another Python

HERE = pathlib.Path(__file__).resolve().parent
EVENTS = 500
WITHIN = "--within-own-mounts"


class Missing(Exception):
	"""A tool is not there, or may not do its work here."""


def run(*command, **options):
	done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
	                      errors="replace", timeout=120, check=False, **options)
	if done.returncode != 0:
		raise RuntimeError(f"{' '.join(map(str, command))}: exit code {done.returncode}: {done.stdout[-1000:]}")
	return done.stdout


def need(*programs):
	for program in programs:
		if not shutil.which(program):
			raise Missing(f"{program} is not installed")


def enter_own_mounts():
	"""Root's LTTng has its sockets in one place: give it a place that nobody else sees."""
	if os.geteuid() != 0:
		return
	if WITHIN not in sys.argv:
		need("unshare")
		for words in (["unshare", "-m"], ["unshare", "-m", "--propagation", "unchanged"]):
			if subprocess.run([*words, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
				os.execvp(words[0], [*words, sys.executable, "-B", *sys.argv, WITHIN])
		raise Missing("no mounts of its own, so root's LTTng would be used")
	os.makedirs("/run/lttng", exist_ok=True)
	for place in ("/run/lttng", "/dev/shm"):
		run("mount", "-t", "tmpfs", "none", place)


class Lttng:
	"""A session daemon of its own, and sessions."""

	def __init__(self, work):
		self.work = work
		self.home = work / "home"
		self.home.mkdir(parents=True)
		self.environment = {**os.environ, "HOME": str(self.home), "LTTNG_HOME": str(self.home),
		                    "LTTNG_UST_REGISTER_TIMEOUT": "-1", "LTTNG_UST_ALLOW_BLOCKING": "1"}
		self.program = work / "ust_load"
		run("cc", "-O2", "-I", HERE, HERE / "ust_load.c", "-o", self.program, "-llttng-ust", "-ldl", "-lpthread", "-lm")

	def call(self, *words):
		return run("lttng", "--no-sessiond", *words, env=self.environment)

	def load(self, events=EVENTS, threads=2):
		run(self.program, events, threads, env=self.environment)

	@contextlib.contextmanager
	def daemon(self):
		with open(self.work / "sessiond.log", "wb") as log:
			process = subprocess.Popen(["lttng-sessiond", "--no-kernel"], env=self.environment, stdout=log, stderr=log)
		try:
			end = time.monotonic() + 30
			while subprocess.run(["lttng", "--no-sessiond", "list"], env=self.environment, stdout=subprocess.DEVNULL,
			                     stderr=subprocess.DEVNULL, check=False).returncode != 0:
				if process.poll() is not None or time.monotonic() > end:
					raise Missing(f"lttng-sessiond does not run: {(self.work / 'sessiond.log').read_text()[-500:]}")
				time.sleep(0.1)
			yield
		finally:
			process.send_signal(signal.SIGTERM)
			process.wait(30)

	@contextlib.contextmanager
	def session(self, name, *channel, create=(), contexts=("vpid", "vtid", "procname"), events="ust_load:*"):
		"""Records; yields the directory of the traces."""
		place = self.work / name
		self.call("create", name, f"--output={place}", *create)
		self.call("enable-channel", "--userspace", "channel", *channel)
		self.call("enable-event", "--userspace", "--channel=channel", events)
		for context in contexts:
			self.call("add-context", "--userspace", "--channel=channel", f"--type={context}")
		self.call("start")
		try:
			yield place
		finally:
			self.call("destroy", name)


def traces_of_lttng(work):
	need("lttng", "lttng-sessiond", "cc")
	if not any(pathlib.Path("/usr/include").glob("**/lttng/tracepoint.h")):
		raise Missing("the headers of LTTng-UST are not installed")
	lttng = Lttng(work)
	with lttng.daemon():
		with lttng.session("per_user") as place:
			lttng.load()
		yield "lttng per user", place
		with lttng.session("per_process", "--buffers-pid") as place:
			lttng.load(threads=1)
			lttng.load(100)
		yield "lttng per process", place
		with lttng.session("contexts", contexts=("vpid", "pthread_id", "ip", "vuid", "cgroup_ns")) as place:
			lttng.load(100)
		yield "lttng more contexts", place
		with lttng.session("bare", contexts=()) as place:
			lttng.load(100)
		yield "lttng no contexts", place
		with lttng.session("rotated") as place:
			for events in (EVENTS, 300, 50):
				lttng.load(events)
				lttng.call("rotate")
		for chunk in sorted((place / "archives").iterdir()):
			yield f"lttng rotated, {chunk.name.rsplit('-', 1)[-1]}", chunk
		yield "lttng rotated, all", place
		with lttng.session("snapshot", create=["--snapshot"]) as place:
			lttng.load()
			lttng.call("snapshot", "record")
			lttng.load(100)
			lttng.call("snapshot", "record")
		for snapshot in sorted(path for path in place.iterdir() if path.is_dir()):
			yield f"lttng snapshot, {snapshot.name.rsplit('-', 1)[-1]}", snapshot
		yield "lttng snapshots, all", place
		with lttng.session("losing", "--subbuf-size=4096", "--num-subbuf=2", "--switch-timer=1000000") as place:
			lttng.load(20 * EVENTS)
		yield "lttng with losses", place
		with lttng.session("files", "--subbuf-size=4096", "--num-subbuf=64", "--tracefile-size=16384") as place:
			lttng.load(5 * EVENTS)
		yield "lttng in many files", place
		with lttng.session("circle", "--subbuf-size=4096", "--num-subbuf=64", "--tracefile-size=8192",
		                   "--tracefile-count=3") as place:
			lttng.load(5 * EVENTS)
		yield "lttng in a circle of files", place
		with lttng.session("overwriting", "--overwrite", "--subbuf-size=4096", "--num-subbuf=4") as place:
			lttng.load(5 * EVENTS)
		yield "lttng overwriting", place


def record(work, events, only):
	"""A large trace without losses."""
	need("lttng", "lttng-sessiond", "cc")
	lttng = Lttng(work)
	chosen = {"events": only, "contexts": ()} if only else {}
	with lttng.daemon(), lttng.session("trace", "--subbuf-size=4M", "--num-subbuf=4", "--blocking-timeout=inf", **chosen):
		lttng.load(events * 8 if only else events, 1)  # one of 8 events in turn is of a kind


def traces_of_perf(work):
	need("perf")
	if "--to-ctf" not in subprocess.run(["perf", "data", "convert", "--help"], stdout=subprocess.PIPE,
	                                    stderr=subprocess.STDOUT, text=True, check=False).stdout:
		raise Missing("this perf does not write CTF")
	work.mkdir(parents=True)
	recordings = {"cpu-clock": ["-e", "cpu-clock"], "software": ["-e", "context-switches,page-faults,task-clock"],
	              "clock": ["-k", "CLOCK_MONOTONIC", "-e", "cpu-clock"], "callchains": ["-g", "-e", "cpu-clock"],
	              "tracepoints": ["-e", "sched:sched_switch,sched:sched_wakeup"],
	              # rare calls, or the trace is as long as its neighbours are busy
	              "machine": ["-a", "-e", "sched:sched_switch", "-e", "raw_syscalls:sys_enter", "--filter", "id & 128"]}
	made = 0
	for name, words in recordings.items():
		data = work / f"{name}.data"
		load = "for i in 1 2 3 4 5; do sleep 0.02; done; dd if=/dev/zero of=/dev/null bs=1M count=400"
		done = subprocess.run(["perf", "record", "-o", data, *words, "--", "sh", "-c", load], stdout=subprocess.PIPE,
		                      stderr=subprocess.STDOUT, text=True, check=False)
		if done.returncode != 0:
			print(f"not made: perf {name}: {done.stdout.strip().splitlines()[:1]}")
			continue
		for kind, more in {"clock": [(" time of day", ["--tod"])]}.get(name, [("", []), (" all", ["--all"])]):
			place = work / (name + kind).replace(" ", "_")
			try:
				run("perf", "data", "convert", "-i", data, f"--to-ctf={place}", "--force", *more)
			except RuntimeError as error:
				print(f"not made: perf {name}{kind}: {str(error)[-200:]!r}")
				continue
			made += 1
			yield f"perf {name}{kind}", place
	if not made:
		raise Missing("perf may record nothing here")


def traces_of_barectf(work):
	need("barectf", "cc")
	work.mkdir(parents=True)
	(work / "trace").mkdir()
	run("barectf", "generate", "--code-dir", work, "--headers-dir", work, "--metadata-dir", work / "trace",
	    HERE / "barectf.yaml")
	run("cc", "-I", work, HERE / "barectf_load.c", work / "barectf.c", "-o", work / "barectf_load")
	run(work / "barectf_load", work / "trace" / "stream", EVENTS)
	yield "barectf", work / "trace"


def compared(monitor, directory):
	"""What is wrong (None: nothing), and a remark."""
	theirs, stopped = reading.babeltrace(directory)
	if stopped:
		return f"babeltrace2 does not read it: {stopped}", ""
	if not monitor:
		return None, f"{len(theirs)} events"
	ours, complaint = reading.by_monitor(monitor, directory, not theirs)  # that there is no event may be said
	complaint = complaint or reading.difference(theirs, ours)
	if not complaint and "machine" in directory.name:
		complaint = usage_differs(monitor, directory, theirs)
	return complaint, f"{len(theirs)} events"


def usage_differs(monitor, directory, events):
	"""The CPU time of `monitor report` against that between the switches. Who ran at the begin or at the end of a CPU's
	events is left out: there one of both knows more."""
	switches = [event for event in events if event.name == "sched:sched_switch"]
	began, took, left_out = {}, {}, set()
	for event in switches:
		tid, since = began.get(event.cpu, (None, 0))
		if tid is None:
			left_out.add(event.fields["prev_pid"])
		else:
			took[tid] = took.get(tid, 0) + event.ns - since
		began[event.cpu] = event.fields["next_pid"], event.ns
	left_out |= {tid for tid, _ in began.values()} | {0}
	said = subprocess.run([monitor, "report", "--by", "thread", "--json", directory], stdout=subprocess.PIPE,
	                      check=True).stdout
	rows = {row["tid"]: row for row in json.loads(said)["rows"]}
	for tid, ns in took.items():
		if tid not in left_out and (tid not in rows or abs(rows[tid]["cpu_ns"] - ns) > 1000):
			return f"thread {tid} ran {ns} ns, the report says {rows.get(tid)}"
	calls = {row["syscalls"] for row in rows.values()}
	if calls != {None}:  # the exits are not in the trace
		return f"system calls cannot be counted, the report says {calls}"
	return None if len(set(took) - left_out) > 3 else f"too few threads ran: {sorted(took)}"


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("monitor", nargs="?")
	parser.add_argument("work")
	parser.add_argument("--only", default="", help="only the traces whose names contain this")
	parser.add_argument("--bt2-only", action="store_true")
	parser.add_argument("--record", type=int, metavar="N")
	parser.add_argument("--event", metavar="EVENT", help="with --record: of this kind alone")
	parser.add_argument(WITHIN, action="store_true", help="as this program calls itself")
	options = parser.parse_args()
	work = pathlib.Path(options.work).resolve()
	monitor = os.path.abspath(options.monitor) if options.monitor and not options.bt2_only else None
	failures = traces = 0
	without_lttng = None
	try:
		enter_own_mounts()
	except Missing as error:
		without_lttng = str(error)
	shutil.rmtree(work, ignore_errors=True)
	if options.record is not None:
		sys.exit(without_lttng or record(work, options.record, options.event))
	for make in (traces_of_lttng, traces_of_perf, traces_of_barectf):
		is_lttng = make is traces_of_lttng
		try:
			if is_lttng and without_lttng:
				raise Missing(without_lttng)
			for name, directory in make(work / make.__name__.rsplit("_", 1)[-1]):
				if options.only not in name:
					continue
				wrong, remark = compared(monitor, directory)
				traces += 1
				failures += wrong is not None
				print(f"FAIL {name}: {wrong}" if wrong is not None else f"ok   {name}: {remark}", flush=True)
		except Missing as missing:
			without_lttng = str(missing) if is_lttng else without_lttng
			print(f"skipped: {missing}", flush=True)
		except Exception:  # the other tools may still tell something
			failures += 1
			print(f"FAIL {make.__name__}: {traceback.format_exc()}", flush=True)
	print(f"{traces} traces, {failures} failures")
	if without_lttng and traces:
		print(f"left out: traces of LTTng ({without_lttng})")
	elif without_lttng:
		print(f"skipped: {without_lttng}")
	sys.exit(1 if failures else 77 if not traces else 0)


main()
