#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The user card: programs' own events, in one trace with the kernel's or alone, exact under migration, signals, forks,
crashes. The witness program reads the streams without anything of the project; the same load without the protection
of the restartable sequence must be seen to go wrong."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import e2e

load, broken, witness = (os.path.join(e2e.programs, name) for name in ("user_load", "user_load_broken", "user_witness"))


def posted(trace):
	return sum(int(number) for number in re.findall(r"\b(?:posted|signals)=(\d+)", trace.output))


def record(name, *arguments, options=("--user-only",), exit_code=0, **more):
	trace = e2e.record(name, "--force", *options, command=(load, *arguments), exit_code=exit_code, **more)
	trace.card = trace.recording()["user_card"]
	return trace


def expect_exact(trace, lost=0):
	"""`lost`: how many, beside those posted with wrong words; None: any number."""
	made, found = posted(trace), trace.card["tokens"] + trace.card["discarded"] + trace.card["early"]
	if trace.card["unanswered"]:  # the recorder had no CPU for a fifth of a second: a program cannot count across an exec
		e2e.expect(trace.check() == {"user_unanswered"} and found < made, f"red is {trace.check()}, {found} of {made} found")
		return
	trace.expect_true()
	e2e.equal("taken + discarded + early", found, made)
	e2e.equal("tokens by info", trace.summary()["tokens"] if trace.recording()["card"] == "user" else None,
	          trace.card["tokens"] if trace.recording()["card"] == "user" else None)
	mistaken = sum(int(number) for number in re.findall(r"mistaken=(\d+)", trace.output))
	if lost is not None:
		e2e.equal("events lost", trace.summary()["claimed_lost"], lost + mistaken)


def ids_of(trace):
	return {row["event"]: row["id"] for row in trace.info()["classes"]}


def seen_by_witness(trace, events):
	ids = ids_of(trace)
	said = e2e.run(witness, ids.get("step", 0), ids.get("signalled", 0), trace.directory, events).stdout
	return e2e.values(said)


def stress():
	"""4 threads moved between the CPUs, with signal handlers that post: exact, nothing torn, times sorted."""
	e2e.stressed(one_stress, found=1_000_000, signals=100)


def one_stress():
	events = 8_000_000
	trace = record("stress", "stress", events, 30)
	expect_exact(trace, lost=None)
	seen = seen_by_witness(trace, events)
	e2e.equal("found by the witness", seen["found"] + seen["signals"], trace.card["tokens"])
	for what in ("duplicates", "torn", "backwards"):
		e2e.equal(f"{what} events", seen[what], 0)
	print(f"stress: {trace.card['tokens']} tokens + {trace.card['discarded']} discarded = {posted(trace)} posted, "
	      f"{seen['signals']} by signal handlers")
	return seen


def without_protection():
	"""The same load, broken on purpose, must turn red: else `stress` shows nothing."""
	def shown():
		trace = e2e.record("broken", "--force", "--user-only", command=(broken, "stress", 8_000_000, 30))
		card, seen = trace.recording()["user_card"], seen_by_witness(trace, 8_000_000)
		is_red = (card["damaged"] or seen["torn"] or seen["duplicates"] or seen["backwards"] or
		          card["tokens"] + card["discarded"] + card["early"] != posted(trace))
		return is_red and f"{card['damaged']} damaged blocks, {seen}"

	# One stress in up to five parts: only by chance is a sequence broken off where it matters.
	found = e2e.until_undisturbed(shown, lambda found: not found and "no sequence was broken off where it matters", 5)
	e2e.expect(found, "without its protection the sequence was never broken off where it matters")
	print(f"broken: {found}")


def places():
	"""Every event lies in the stream of the CPU that its thread was pinned to, handlers' events too."""
	trace = record("places", "places", 200_000, 30)
	expect_exact(trace, lost=None)
	events = trace.events("--event", "placed")
	e2e.expect({event["cpu"] for event in events} == set(e2e.cpus()), "not all CPUs were used")
	e2e.equal("misplaced events", sum(event["cpu"] != event["fields"]["cpu"] for event in events), 0)
	print(f"places: {len(events)} events, {e2e.values(trace.output)['signals']} by signal handlers")


def names_and_values():
	trace = record("names", "order", 1000)
	expect_exact(trace)
	events = trace.events("--event", "before,after")
	e2e.equal("events with the right words", len(trace.events("--event", "mistaken")), 1)
	e2e.equal("numbers", [event["fields"]["number"] for event in events], [n // 2 for n in range(2000)])
	refused = e2e.run(e2e.monitor, "report", trace.directory, exit_code=1)
	e2e.expect("report DIR activities" in refused.stderr, f"a report whose events were not recorded: {refused.stderr}")
	names = {event["comm"] for event in events}
	e2e.equal("names", names, {"user_load"})
	e2e.equal("threads", len({event["pid"] for event in events}), 1)
	if shutil.which("babeltrace2"):
		read = e2e.run("babeltrace2", trace.directory)
		e2e.equal("events by babeltrace2", len(re.findall(r" (?:before|after): ", read.stdout)), 2000)
		e2e.equal("babeltrace2's complaints", read.stderr, "")


@e2e.longer
def between_the_kernels_tokens():
	"""A token, a system call, a token: the call's own tokens lie between, within the clock's bound."""
	calls = 100_000
	trace = record("order", "order", calls, options=("-p", "cmd", "-e", "sched,syscall"))
	expect_exact(trace)
	ns = {"before": [], "sys_enter": [], "sys_exit": [], "after": []}
	called = False  # only the command's calls are recorded, it has one thread, and kernel tokens are in order
	for event in trace.events("--event", "before,after,sys_enter,sys_exit"):
		name = event["event"]
		if name == "sys_enter":
			called = event["fields"]["id"] == "getppid"
		if called or name in ("before", "after"):
			ns[name].append(event["time_ns"])
		called = called and name != "sys_exit"
	e2e.equal("calls", {name: len(times) for name, times in ns.items()}, dict.fromkeys(ns, calls))
	bound = trace.summary()["clock_bound_ns"]
	wrong = sum(not (b - bound <= n <= x + bound and x - bound <= a)
	            for b, n, x, a in zip(ns["before"], ns["sys_enter"], ns["sys_exit"], ns["after"]))
	e2e.equal(f"calls whose tokens are out of order by more than {bound} ns", wrong, 0)


def lives():
	"""Forks, vforks, exec, threads, crashes: every event is a token or a counted loss."""
	for name, arguments, code in (("forks", ("forks", 100), 0), ("vfork", ("vfork", 50), 0), ("exec", ("exec", 5), 0),
	                              ("threads", ("threads", 1000), 0), ("crash", ("crash", 12345), 139)):
		trace = record(name, *arguments, exit_code=code)
		expect_exact(trace, lost=None if name == "forks" else 0)


def recorder_is_slow():
	"""Programs that are over before it answers: what they say that they lost is counted, and that others could not say it is
	told: images that were left by exec, what a signal killed, and children that did not run what runs at an end."""
	stop = 'kill -STOP $PPID; for t in /proc/$PPID/task/*/status; do until grep -q "State:.T" $t; do :; done; done'
	for arguments, lost, unanswered in (("order 50", 103, 0), ("exec 3", 100, 2), ("crash 50", 0, 1), ("forks 2", 100, 3)):
		trace = e2e.record("slow", "--force", "--user-only", command=("sh", "-c", f"{stop}; {load} {arguments}; kill -CONT $PPID; sleep 0.1"))
		card = trace.recording()["user_card"]
		e2e.equal(f"{arguments}: tokens, lost, unanswered", (card["tokens"], card["early"], card["unanswered"]), (0, lost, unanswered))
		e2e.equal(f"{arguments}: what check says", trace.check(), {"user_unanswered"} if unanswered else set())


def recorder_goes():
	"""The recorder is killed: the program never notices, and its trace can be read."""
	recorder = e2e.Recorder("killed", "--user-only", command=(load, "pause", 100_000), stdin=subprocess.PIPE)
	recorder.process.stdout.readline()
	recorder.send(signal.SIGKILL)
	recorder.process.stdin.close()  # the program goes on without a recorder
	e2e.equal("what the program says", recorder.process.stdout.readline().strip(), "posted=300000")
	recorder.process.wait()
	trace = e2e.Trace(recorder.directory)
	e2e.expect(trace.check() <= {"complete", "kernel_figures"}, f"red is {trace.check()}")


def without_privilege():
	if not e2e.others_may_enter("without_privilege", "/tmp"):
		return
	public = e2e.pathlib.Path("/tmp") / f"monitor-user-card-{os.getpid()}"
	shutil.rmtree(public, ignore_errors=True)
	public.mkdir(mode=0o777)
	public.chmod(0o777)
	try:
		for program in (e2e.monitor, load):
			shutil.copy(program, public)
		done = e2e.run("setpriv", "--reuid", 65534, "--regid", 65534, "--clear-groups", public / "monitor", "record",
		               "--user-only", "-o", public / "trace", "--", public / "user_load", "order", 500)
		e2e.equal("what the program says", done.stdout.strip(), "posted=1003 mistaken=2")
		trace = e2e.Trace(public / "trace")
		e2e.equal("tokens", trace.recording()["user_card"]["tokens"], 1001)
	finally:
		shutil.rmtree(public, ignore_errors=True)


def everyone():
	"""--user: programs that run already are found, programs that start later find it; a second one goes on without them."""
	running = subprocess.Popen([load, "pause", "1000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
	running.stdout.readline()
	recorder = e2e.Recorder("everyone", "--user", "-e", "sched").wait_until_recording()
	second = e2e.run(e2e.monitor, "record", "--user", "--user-only", "-o", e2e.work / "second", "-d", 1, exit_code=125)
	e2e.expect(f"process {recorder.process.pid} already records" in second.stderr, f"the second recorder's complaint: {second.stderr}")
	second = e2e.record("second", "--user", "-e", "sched", "-d", "0.2")
	e2e.expect(f"process {recorder.process.pid} already records the events of all instrumented programs: this recording does without them" in second.errors,
	           second.errors)
	later = e2e.values(e2e.run(load, "order", 500).stdout)["posted"]
	running.stdin.close()
	said = e2e.values(running.stdout.read())["posted"]
	running.wait()
	trace = recorder.end()
	card = trace.recording()["user_card"]
	e2e.expect(card["processes"] >= 2, f"{card['processes']} processes, not 2 (and what else runs on this machine)")
	e2e.expect(card["tokens"] + card["early"] >= later + said * 2 // 3, f"of {later} + {said} * 2 / 3 events: {card}")
	e2e.expect(card["tokens"] >= later - 2 + said // 3, f"of the running program too little was taken: {card}")


def other_numbers():
	"""In a pid namespace of its own a program is process 1 for itself, and no other process of ours for the trace."""
	inside = ("unshare", "--fork", "--pid")
	if subprocess.run([*inside, "true"], capture_output=True).returncode:
		e2e.leave_out("other_numbers", "no pid namespace can be made here")
		return
	trace = e2e.record("namespace", "--force", "--user-only", command=(*inside, load, "threads", 64))
	pids = {event["pid"] for event in trace.events("--event", "posted")}
	(writer,) = {int(path.name.split("_")[1]) for path in trace.directory.glob("user_*_cpu*")}
	# Threads that the recorder saw alive have the machine's numbers, others their process's; all are 300 and more.
	e2e.expect(pids and min(pids) >= 300, f"who posted: {pids}, which are not process {writer} and its threads")
	e2e.expect(1 not in pids, "a thread of a namespace stands as init")


def libraries():
	"""Shared libraries with the header: one card where the linker merges it, else one more; nothing is lost."""
	source, made = e2e.pathlib.Path(sys.argv[4]), []
	(e2e.work / "script").write_text("{ global: post; local: *; };")
	for name, options in (("plain", ()), ("symbolic", ("-Wl,-Bsymbolic",)),
	                      ("script", (f"-Wl,--version-script={e2e.work / 'script'}",)),
	                      ("hidden", ("-fvisibility=hidden",)), ("cplusplus", ("-x", "c++"))):
		file = e2e.work / f"{name}.so"
		e2e.run("gcc" if name != "cplusplus" else "g++", "-O2", "-shared", "-fPIC", *options,
		        f"-I{source / 'include'}", source / "tests" / "e2e" / "user_library.c", "-o", file)
		made.append(file)
	if "cplusplus.so" in str(made[-1]):
		made.pop()  # its post() has a C++ name; it is built to see that it can be
	trace = record("libraries", "libraries", 1000, *made)
	expect_exact(trace)
	cards = {path.name.rsplit("_cpu", 1)[0] for path in trace.directory.glob("user_*")}
	print(f"libraries: {len(made)} of them, {len(cards)} cards")


@e2e.longer
def many_processes():
	"""2,000 short-lived programs, 64 at a time: all their events, in few streams, which babeltrace2 reads at once."""
	script = ("i=0; while [ $i -lt 2000 ]; do for k in $(seq 64); do "
	          f"{load} order 50 & i=$((i+1)); done; wait; done")
	trace = e2e.record("many", "--force", "--user-only", command=("sh", "-c", script))
	trace.card = trace.recording()["user_card"]
	expect_exact(trace, lost=None)
	streams = [path.name for path in trace.directory.glob("user_*")]
	e2e.expect(trace.card["processes"] >= 2000 and len(streams) <= 64 + len(e2e.cpus()),
	           f"{trace.card['processes']} processes in {len(streams)} streams")
	if shutil.which("babeltrace2"):
		read = e2e.run("babeltrace2", trace.directory, timeout=60)
		found = len(re.findall(r" (?:before|after|mistaken): ", read.stdout))
		e2e.equal("events by babeltrace2", found, trace.card["tokens"])
	threads = {event["pid"] for event in trace.events("--event", "before")}
	e2e.equal("threads by list", len(threads), trace.card["processes"])


def memory():
	"""What a process that posts little costs: its rings' pages, and the recorder's own."""
	def recorder_kib(programs):
		fifo = e2e.work / "fifo"
		fifo.unlink(missing_ok=True)
		os.mkfifo(fifo)
		held = os.open(fifo, os.O_RDWR)
		recorder = e2e.Recorder("memory", "--user-only", command=(
			"sh", "-c", f"for i in $(seq {programs}); do {load} pause 1000 < {fifo} & done; wait"))
		for _ in range(programs):
			recorder.process.stdout.readline()
		time.sleep(0.3)  # the recorder's next look at the rings
		status = e2e.pathlib.Path(f"/proc/{recorder.process.pid}/status").read_text()
		os.close(held)
		recorder.process.communicate()
		return [int(re.search(rf"{name}:\s+(\d+)", status)[1]) for name in ("RssShmem", "RssAnon")]

	few, many = recorder_kib(10), recorder_kib(210)
	rings, own = ((b - a) / 200 for a, b in zip(few, many))
	print(f"memory: {rings:.1f} KiB of rings and {own:.1f} KiB of the recorder's own for each process")
	e2e.expect(rings < 40 and own < 40, f"a process that posts little takes {rings} + {own} KiB")


def hostile():
	"""A hostile process beside an honest one: the recorder goes on, the honest one's data is whole."""
	attacks = f"{sys.executable} -B {sys.argv[4]}/tests/hostile/attacks.py"
	script = (f"{attacks} garbage 1 & {attacks} handshakes,classes 1 & sleep 0.2; "
	          f"{load} order 20000; wait; "
	          f"{load} order 100")
	trace = e2e.record("hostile", "--force", "--user-only", command=("sh", "-c", script))
	e2e.expect("classes refused" in trace.output and "could be truncated" not in trace.output, trace.output)
	red = trace.check()
	e2e.expect(red <= {"user_damage", "user_refused", "user_unanswered", "user_claims", "user_events", "losses"}, f"red is {red}")
	card = trace.recording()["user_card"]
	e2e.expect(card["damaged"] > 0 and card["damage"] and card["classes_refused"] > 5000, f"what the recorder says: {card}")
	honest = [event["fields"]["number"] for event in trace.events("--event", "before,after")]
	e2e.equal("the honest programs' events", honest, [n // 2 for n in range(40000)] + [n // 2 for n in range(200)])
	print(f"hostile: {card['damaged']} damaged blocks ({card['damage']}), {card['classes_refused']} classes refused")


def not_recording():
	e2e.equal("a program that nobody records", e2e.run(load, "order", 1000).stdout.strip(), "posted=2003 mistaken=2")


if __name__ == "__main__":
	e2e.need_recording()
	if os.uname().machine != "x86_64":
		e2e.skip("the user card is for x86-64")
	e2e.main(stress, places, without_protection, names_and_values, between_the_kernels_tokens, lives, recorder_is_slow, recorder_goes,
	         without_privilege, everyone, other_numbers, libraries, many_processes, memory, hostile, not_recording)
