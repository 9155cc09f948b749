#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record --trigger: each kind fires when it must, as the events of the same trace say, evaluated by `monitor trigger`; a
snapshot has what fired; commands run and signals arrive as the user's, and what was left out is counted."""
import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time

import e2e
from flight import Flight, files

WORK = """
for i in range(3): time.sleep(0.01)
for i in range(23): os.getppid()
time.sleep(0.3)
"""
# Shells and other programs call the same; these are of this name alone.
NAMED = "import ctypes, os, time\nctypes.CDLL(None).prctl(15, b'worker')\n"
OF_WORK = 'thread == "worker" and '
KINDS = f"""# of a program that sleeps and calls
slow: {OF_WORK}name == "sys_enter" and id == "clock_nanosleep"
	then name == "sys_exit" within 200ms per tid => mark
often: {OF_WORK}name == "sys_enter" and id == "getppid" 5 times within 100ms per tid => mark
each: {OF_WORK}name == "sys_enter" and id == "getppid" => mark 'a call'
woken: name == "sched_waking" as w then name == "sched_switch" and next_pid == w.pid within 50us => mark
stuck: {OF_WORK}name == "sys_enter" and id == "clock_nanosleep" not followed by name == "sys_exit" within 100ms
	per tid => mark
begin: at start => mark
tick: every 50ms => mark
"""


def worker():
	"""The work, as a program of a name of its own."""
	path = e2e.work / "worker.py"
	path.write_text(NAMED + WORK)
	return sys.executable, path


def rehearsal(triggers, trace, exit_code=0):
	done = e2e.run(e2e.monitor, "trigger", "--json", triggers, trace.directory, exit_code=exit_code)
	return json.loads(done.stdout)


def agree(trigger):
	"""The recording and its events; a thread that the kernel hides makes others unknown to the latter."""
	e2e.expect(trigger["same"] or "in which thread" in (trigger["lacking"] or ""), f"on the trace: {trigger}")


def firings(trace, name):
	return trace.rows("triggers", trigger=name)


def sleeps(trace):
	"""How long the worker's calls of clock_nanosleep took, in ns: beside others a short sleep may last long."""
	of_sleep = trace.events("--filter", 'thread == "worker" and (name == "sys_enter" or name == "sys_exit")')
	return [after["time_ns"] - before["time_ns"] for before, after in zip(of_sleep, of_sleep[1:])
	        if before["event"] == "sys_enter" and before["fields"]["id"] == "clock_nanosleep"]


def the_kinds():
	file = e2e.work / "kinds.triggers"
	file.write_text(KINDS)
	trace = e2e.record("kinds", "--triggers", file, command=worker())
	trace.expect_sound()
	lengths = sleeps(trace)
	short, long = (sum(length <= 200_000_000 for length in lengths), sum(length > 100_000_000 for length in lengths))
	e2e.expect(len(lengths) == 4 and long >= 1, f"sleeps of 10, 10, 10 and 300 ms took {lengths}")
	e2e.equal("slow", len(firings(trace, "slow")), short)
	e2e.equal("often", len(firings(trace, "often")), 4)
	e2e.equal("each", len(firings(trace, "each")), 23)
	e2e.equal("stuck", len(firings(trace, "stuck")), long)
	e2e.equal("begin", len(firings(trace, "begin")), 1)
	text = e2e.run(e2e.monitor, "report", trace.directory, "triggers", "--from", trace.second_of_start()).stdout
	e2e.expect(re.search(rf"^{e2e.TIME_OF_DAY} +begin ", text, re.M), f"no time of day in {text[:500]}")
	e2e.expect(6 <= len(firings(trace, "tick")) <= 60, f"tick: {len(firings(trace, 'tick'))}")
	e2e.expect(len(firings(trace, "woken")) > 0, "nobody was woken")
	slow = firings(trace, "slow")[0]
	e2e.expect(slow["cause"].startswith("sys_exit ret=0") and 9e6 < slow["since_ns"] < 2e8 and slow["thread"] == "worker",
	           f"slow: {slow}")
	e2e.equal("the key is the thread", int(slow["key"]), slow["tid"])
	stuck = firings(trace, "stuck")[-1]
	e2e.expect(stuck["cause"] is None and 1e8 <= stuck["since_ns"] < 2.5e8 and stuck["tid"] == slow["tid"], f"stuck: {stuck}")
	each = firings(trace, "each")[0]
	e2e.expect(each["cause"].startswith("sys_enter id=getppid"), f"each: {each}")
	for trigger in trace.recording()["triggers"]:
		e2e.equal(f"{trigger['name']}: tokens and count", len(firings(trace, trigger["name"])), trigger["fired"])
	again = rehearsal(file, trace)
	for trigger in again["triggers"]:
		by_clock = trigger["name"] in ("begin", "tick")
		agree(trigger) if not by_clock else e2e.equal(trigger["name"], trigger["same"], None)
	late = [row for row in again["rows"] if row["trigger"] == "stuck"][-1]
	e2e.expect(0 <= stuck["time_ns"] - late["time_ns"] < 1e8, f"stuck was due at {late['time_ns']}, noticed at {stuck['time_ns']}")
	# One that fires at other events is told.
	file.write_text(KINDS.replace("5 times", "4 times"))
	done = rehearsal(file, trace)
	e2e.equal("another trigger of the name", [t["same"] for t in done["triggers"] if t["name"] == "often"], [None])


def a_recording_that_lies():
	"""A token of a firing that the events do not have."""
	trace = e2e.Trace(e2e.work / "kinds").copy("lies")
	file = e2e.work / "kinds.triggers"
	file.write_text(KINDS)
	changed = 0
	for stream in trace.directory.glob("kernel_*"):
		data = bytearray(stream.read_bytes())
		for at in range(0, len(data) - 8, 8):
			token = int.from_bytes(data[at:at + 8], "little")
			cause = int.from_bytes(data[at + 8:at + 12], "little")
			if not changed and at % 4096 >= 96 and token & 0xfff == 432 and token >> 48 < 7 and cause in (320, 322):
				data[at + 16:at + 24] = (12345).to_bytes(8, "little")  # `began`
				changed += 1
		stream.write_bytes(data)
	e2e.equal("changed", changed, 1)
	run = e2e.run(e2e.monitor, "trigger", "--json", file, trace.directory, exit_code=None)
	done = json.loads(run.stdout)
	lacking = done["triggers"][0]["lacking"]
	e2e.equal("exit code", run.returncode, 0 if lacking else 1)
	e2e.expect(any("other events" in (t["difference"] or "") for t in done["triggers"]), f"not noticed: {done['triggers']}")


def what_fires_is_recorded():
	"""The filter keeps nothing of it, and the whole machine is busy: the events that fire are there, each once."""
	with e2e.getppid_on_every_cpu():
		trace = e2e.record("filtered", "--filter", 'name == "cpu_idle"', "-e", "sched,syscall,power",
		                   "--trigger", 'often: name == "sys_enter" and id == "getppid" 50 times within 1s per cpu => mark', "-d", "1")
	trace.expect_sound()
	fired = trace.recording()["triggers"][0]["fired"]
	e2e.expect(fired > 1000, f"fired only {fired} times")
	tokens = len(trace.events("--event", "trigger_fired"))
	lost = sum(c["refused"] + c["too_deep"] for c in trace.recording()["classes"])
	e2e.equal("tokens of firings", tokens, fired) if lost == 0 else e2e.expect(tokens <= fired, "more tokens than firings")
	if lost == 0:
		e2e.equal("events that fired", len(trace.events("--event", "sys_enter")), fired)


@e2e.longer
def a_snapshot_of_what_fired():
	condition = f'{OF_WORK}name == "sys_enter" and id == "clock_nanosleep" not followed by name == "sys_exit" within 100ms per tid'
	flight = Flight("flown", "--flight", "16M", "--trigger", f"stuck: {condition} => snapshot before 500ms after 100ms",
	                "--trigger", f'call: {OF_WORK}name == "sys_enter" and id == "getppid" 23 times within 10s per tid => snapshot before 1s',
	                "--snapshots", "2").wait_until_recording()
	time.sleep(0.7)
	e2e.equal("files before it fires", files(flight.directory), [".monitor/flight.json"])
	e2e.run(*worker())
	flight.process.wait(timeout=30)
	call, stuck = (e2e.Trace(flight.directory / number) for number in ("001", "002"))
	for trace, name in ((call, "call"), (stuck, "stuck")):
		trace.expect_sound()
		e2e.equal("why", trace.recording()["flight"]["why"], f"the trigger {name}")
	first = firings(call, "call")
	e2e.equal("the last call", len(first), 1)
	asked = call.recording()["flight"]["asked"]
	tokens = [e for e in call.events("--event", "trigger_fired")]
	e2e.expect(tokens and "sys_enter id=getppid" in first[0]["cause"], f"{first[:1]}")
	span = stuck.summary()["wall_ns"]
	e2e.expect(5.9e8 <= span < 3e9 and asked > 0, f"of 500 ms before and 100 ms after it spans {span}")
	e2e.equal("stuck", len(firings(stuck, "stuck")), 1)
	slept = stuck.events("--event", "sys_enter", "--filter", 'id == "clock_nanosleep" and thread == "worker"')
	e2e.expect(slept, "the call that did not return is not in the snapshot")
	text = e2e.run(e2e.monitor, "explain", stuck.directory).stdout
	e2e.expect(text.startswith("worker-") and " to the trigger stuck; " in text, f"it explains what fired: {text}")
	e2e.expect("worker in clock_nanosleep" in text, f"the sleep that was too long: {text}")


@e2e.longer
def at_full_speed():
	"""Rings that come round many times a second: the event that fired, and the token of it, are in every snapshot."""
	with e2e.getppid_on_every_cpu():
		flight = Flight("speed", "--flight", "2M", "-e", "sched,syscall", "--trigger",
		                'rare: name == "sys_enter" and id == "getpgid" => snapshot', "--snapshots", "20").wait_until_recording()
		deadline = time.monotonic() + 40
		while flight.process.poll() is None and time.monotonic() < deadline:
			before = flight.snapshots()
			os.getpgid(0)
			for _ in range(100):  # other load may keep the recorder from it for a while
				if flight.snapshots() > before or flight.process.poll() is not None:
					break
				time.sleep(0.01)
		e2e.equal("the flight ended after its last snapshot", flight.process.poll(), 0)
	for number in range(1, 21):
		trace = e2e.Trace(flight.directory / f"{number:03}")
		rows = [row for row in firings(trace, "rare") if row["tid"] == os.getpid()]
		e2e.expect(len(rows) >= 1 and all("id=getpgid" in (row["cause"] or "") for row in rows), f"{number}: {rows}")
		if number % 10 == 0:
			trace.expect_sound()


@e2e.longer
def the_end_by_a_trigger():
	trace = e2e.record("ended", "-e", "sched,syscall", "-d", "60", "--trigger",
	                   f'{OF_WORK}name == "sys_enter" and id == "getppid" => end', command=worker())
	e2e.expect("the trigger trigger1 fired" in trace.errors, trace.errors)
	e2e.equal("reason", trace.recording()["end_reason"], "the trigger trigger1 fired")
	flight = Flight("ended_flight", "--flight", "4M", "-e", "sched,syscall", "--trigger",
	                f'last: {OF_WORK}name == "sys_enter" and id == "getppid" => snapshot after 200ms, end').wait_until_recording()
	e2e.run(*worker())
	flight.process.wait(timeout=30)
	snapshot = e2e.Trace(flight.directory / "001")
	snapshot.expect_sound()
	e2e.expect(snapshot.recording()["flight"]["after_ns"] == 200_000_000, "the end cut it short")


def commands_and_signals():
	user = pwd.getpwnam("nobody" if e2e.others_may_enter("commands and signals of another user", tempfile.gettempdir()) else "root")
	with tempfile.TemporaryDirectory() as name:  # the test's own may be closed to others
		directory = pathlib.Path(name)
		directory.chmod(0o755)
		os.chown(directory, user.pw_uid, user.pw_gid)
		as_a_user(user, directory)


def as_a_user(user, directory):
	script = directory / "calls.py"
	script.write_text(NAMED + "import signal\nn = 0\n"
	                  "def count(*unused):\n\tglobal n\n\tn += 1\nsignal.signal(signal.SIGUSR2, count)\n"
	                  "for i in range(4):\n\tos.getppid()\n\ttime.sleep(0.2)\nprint(f'signals={n} pid={os.getpid()}')\n")
	environment = dict(os.environ, SUDO_UID=str(user.pw_uid), SUDO_GID=str(user.pw_gid))
	trace = directory / "trace"
	done = e2e.run(e2e.monitor, "record", "-o", trace, "--no-calibration", "-p", "cmd", "--trigger",
	               f'call: {OF_WORK}name == "sys_enter" and id == "getppid" => '
	               f'run "(id -u; env; sleep 0.05) > {directory}/ran.$MONITOR_TID; exit 3" 3 per minute, signal SIGUSR2',
	               "--trigger", f'slow: {OF_WORK}name == "sys_enter" and id == "getppid" => run "sleep 0.5"',
	               "--", "/usr/bin/python3", script, env=environment, cwd="/")
	said = e2e.values(done.stdout)
	e2e.equal("signals", said["signals"], 4)
	told = {t["name"]: t for t in json.loads((trace / ".monitor" / "recording.json").read_text())["triggers"]}
	e2e.equal("signals that were sent", told["call"]["signals"], {"sent": 4, "refused": 0})
	runs = [told[name]["runs"] for name in ("call", "slow")]
	e2e.equal("commands started or left out", [r["started"] + r["left_out"] for r in runs], [4, 4])
	e2e.expect(runs[0]["started"] >= 1 and runs[0]["failed"] >= 1, f"{runs}")
	e2e.equal("one at a time: only when the other was left out", runs[1]["started"], 1)
	ran = (directory / f"ran.{said['pid']}").read_text().splitlines()
	e2e.equal("the user", ran[0], str(user.pw_uid))
	for line in ("MONITOR_TRIGGER=call", "MONITOR_EVENT=sys_enter", f"MONITOR_PID={said['pid']}", "MONITOR_FIELD_id=110"
	             if os.uname().machine == "x86_64" else "MONITOR_TRIGGER=call", f"MONITOR_DIRECTORY={trace}"):
		e2e.expect(line in ran, f"the command's environment lacks {line}: {ran}")
	if user.pw_uid == 0:
		return
	# A process of somebody else's.
	other = subprocess.Popen([sys.executable, "-c", "import os, time\nfor i in range(100):\n\tos.getppid()\n\ttime.sleep(0.1)"])
	done = e2e.run(e2e.monitor, "record", "--force", "-o", trace, "--no-calibration", "-d", "0.5", "--trigger",
	               f'call: name == "sys_enter" and id == "getppid" and tid == {other.pid} => signal KILL', env=environment, cwd="/")
	e2e.equal("root's process lives", other.poll(), None)
	other.kill()
	other.wait()
	told = json.loads((trace / ".monitor" / "recording.json").read_text())["triggers"][0]
	e2e.expect(told["signals"]["sent"] == 0 and told["signals"]["refused"] > 0, f"{told}")


def the_name_in_a_command():
	"""A condition on a text does not change what the command sees of it."""
	told = e2e.work / "name"
	e2e.record("named", "-e", "sched", "--trigger", f'x: name == "sched_process_exec" and comm == "sleep" => run "echo $MONITOR_FIELD_comm > {told}"',
	           command=("sleep", "0.5"))
	e2e.equal("the name", told.read_text(), "sleep\n")


@e2e.longer
def the_runner_is_stopped_or_killed():
	"""By whoever may: the recorder goes on, and ends."""
	for signal in ("STOP", "KILL"):
		before = time.monotonic()
		trace = e2e.record("stopped", "--force", "-d", "1.2", "--trigger", f'a: at start => run "kill -{signal} $PPID"',
		                   "--trigger", f'call: {OF_WORK}name == "sys_enter" and id == "getppid" => signal CONT, run "true"',
		                   "--trigger", "b: every 200ms => run 'true'", command=worker())
		e2e.expect(time.monotonic() - before < 10, f"after SIG{signal} of its process the recorder took {time.monotonic() - before:.1f} s")
		told = {t["name"]: t for t in trace.recording()["triggers"]}
		e2e.equal(f"SIG{signal}: signals", told["call"]["signals"], {"sent": 0, "refused": told["call"]["told"]})
		e2e.expect(trace.summary()["recorder_cpu_ns"] < 5e8 if "recorder_cpu_ns" in trace.summary() else True, "it used a CPU")


@e2e.longer
def a_rare_one_beside_a_frequent_one():
	script = "import os\nwhile True:\n\tfor i in range(150): os.getppid()\n\tos.getpgid(0)\n"
	e2e.record("rare", "-e", "sched,syscall", "-d", "30", "--trigger", 'a: name == "sys_enter" and id == "getppid" => run "true"',
	           "--trigger", 'b: name == "sys_enter" and id == "getpgid" => end', command=("timeout", "4", sys.executable, "-c", script),
	           exit_code=None)
	e2e.equal("what ended the recording beside a frequent trigger", e2e.Trace(e2e.work / "rare").recording()["end_reason"], "the trigger b fired")


@e2e.longer
def each_that_is_missing():
	"""Events that come shortly after the one before them was due: none is left out."""
	script = NAMED + "for i in range(40):\n\tos.getppid()\n\ttime.sleep(0.021)\ntime.sleep(0.1)\n"
	trigger = f'm: {OF_WORK}name == "sys_enter" and id == "getppid" not followed by name == "sys_enter" and id == "getpgid" within 20ms per tid => mark'
	trace = e2e.record("missing", "-e", "sched,syscall", "--trigger", trigger, command=(sys.executable, "-c", script))
	e2e.equal("missing", trace.recording()["triggers"][0]["fired"], 40)
	agree(rehearsal(trigger, trace)["triggers"][0])


@e2e.longer
def a_snapshot_that_cannot_be_written():
	flight = Flight("gone", "--flight", "4M", "-e", "sched,syscall", "--trigger",
	                'a: name == "sys_enter" and id == "getppid" => snapshot', "-d", "2.5").wait_until_recording()
	shutil.rmtree(flight.directory)
	with e2e.getppid_on_every_cpu():
		flight.process.wait(timeout=30)
	errors = flight.process.stderr.read()
	e2e.expect(1 <= errors.count("cannot") <= 5, f"{errors.count('cannot')} errors in 2.5 s: {errors[:500]}")


def taken(flight):
	return len(list(flight.directory.glob("[0-9][0-9][0-9]")))


def the_end_of_a_flight_whose_trigger_fires_all_the_time():
	with e2e.getppid_on_every_cpu():
		flight = Flight("hot", "--flight", "4M", "-e", "sched,syscall", "--trigger",
		                'a: name == "sys_enter" and id == "getppid" => snapshot').wait_until_recording()
		flight.wait_for_at_least(2)
		before = taken(flight)
		flight.end()
	e2e.expect(taken(flight) <= before + 2, f"{before} snapshots when it was to end, {taken(flight)} when it ended")
	e2e.Trace(flight.directory / "001").expect_sound()


@e2e.longer
def events_of_programs():
	"""Of threads that move between the rings of the CPUs: in the order of time, as the trace has them."""
	file = e2e.work / "programs.triggers"
	file.write_text("""tenth: name == "step" 10 times within 1s per tid => mark
handled: name == "signalled" then name == "step" within 1s per thread=thread => mark
next: name == "step" and number & 15 == 3 then name == "step" per cpu => mark
alone: name == "signalled" not followed by name == "step" and number > 1000000000 within 100us per cpu => mark
call: name == "sys_enter" and id == "getppid" => mark
never: name == "no_such_event" => mark
""".replace(" per thread=thread", " per tid"))
	user_load = os.path.join(e2e.programs, "user_load")
	trace = e2e.record("programs", "-e", "sched,syscall", "--triggers", file, command=(user_load, "stress", 200000, 20))
	e2e.expect('no event of the kernel has the name "no_such_event"' in trace.errors, trace.errors)
	trace.expect_sound()
	told = {t["name"]: t for t in trace.recording()["triggers"]}
	e2e.equal("lost", trace.recording()["user_card"]["discarded"], 0)
	e2e.equal("each tenth", told["tenth"]["fired"], 4 * 5000)
	done = rehearsal(file, trace)["triggers"]
	for trigger in done:
		agree(trigger)
	fired = {t["name"]: t["firings"] for t in done}
	e2e.expect(all(fired[name] > 10 for name in ("handled", "next", "alone")) and fired["never"] == 0, f"{fired}")
	rows = firings(trace, "next")
	e2e.equal("rows", len(rows), fired["next"])
	e2e.expect(all(row["cause"].startswith("step thread=") and row["cpu"] is not None for row in rows), f"{rows[:2]}")
	# At once, though nothing fills the ring; with the fields.
	ran = e2e.work / "ran"
	e2e.record("at_once", "--force", "-e", "sched", "--trigger", f'posted: name == "posted" and low == 49 => run "env > {ran}", end',
	           command=("sh", "-c", f"sleep 1.5 | exec {user_load} pause 50"), exit_code=None)
	trace = e2e.Trace(e2e.work / "at_once")
	e2e.equal("why it ended", trace.recording()["end_reason"], "the trigger posted fired")
	posted = trace.recording()["triggers"][0]
	e2e.expect(posted["reaction_ns"]["max"] < 5e8, f"the recorder knew late: {posted}")
	told = ran.read_text().splitlines()
	for line in ("MONITOR_EVENT=posted", "MONITOR_FIELD_low=49", "MONITOR_TRIGGER=posted"):
		e2e.expect(line in told, f"the command's environment lacks {line}: {told}")
	# Of a flight recorder.
	flight = Flight("by_program", "--flight", "8M", "-e", "sched", "--snapshots", "1", "--trigger", 'posted: name == "posted" and low == 49 3 times within 60s per tid => snapshot before 5s',
	                command=(user_load, "pause", 50), stdin=subprocess.PIPE).wait_until_recording()
	time.sleep(0.3)
	e2e.equal("snapshots before it fires", flight.snapshots(), 0)
	flight.process.stdin.close()
	flight.process.stdin = None
	flight.end(number=None, exit_code=None)
	snapshot = e2e.Trace(flight.directory / "001")
	snapshot.expect_sound()
	e2e.equal("the event that fired", len(snapshot.events("--filter", 'name == "posted" and low == 49')), 3)
	e2e.expect("posted low=49" in firings(snapshot, "posted")[0]["cause"], f"{firings(snapshot, 'posted')}")


@e2e.longer
def samples_of_all_cpus():
	"""When a trigger fires: what each CPU does then, the one where it fired as part of the firing."""
	first, last = e2e.cpus()[0], e2e.cpus()[-1]
	script = NAMED + "for i in range(60):\n\tos.getpgid(0)\n\ttime.sleep(0.01)\nfor i in range(200): os.getpgid(0)\n"
	loop = subprocess.Popen(["taskset", "-c", str(last), sys.executable, "-c", "while True: pass"])
	try:
		trace = e2e.record("sampled", "--force", "--card", "bpf", "-m", "faults=page-faults", "-e", "sched,syscall", "--trigger",
		                   f'asked: {OF_WORK}name == "sys_enter" and id == "getpgid" => sample', "--trigger", "clock: every 100ms => sample",
		                   command=("taskset", "-c", str(first), sys.executable, "-c", script))
	finally:
		loop.kill()
		loop.wait()
	trace.expect_sound()
	told = {t["name"]: t for t in trace.recording()["triggers"]}
	asked = told["asked"]
	e2e.equal("fired", asked["fired"], 260)
	e2e.equal("samples or the reason", asked["samples"]["taken"] + asked["samples"]["left_out"], asked["told"])
	e2e.expect(asked["samples"]["taken"] >= 40 and told["clock"]["samples"]["taken"] >= 3 and trace.recording()["unsampled"] > 150, f"{told}")
	samples = trace.events("--event", "sample")
	numbers = {}
	for event in samples:
		numbers.setdefault(event["fields"]["number"], []).append(event)
	for number, round_ in numbers.items():
		e2e.equal(f"CPUs in sample {number}", len({e["cpu"] for e in round_}), len(round_))
	e2e.equal("numbers", sorted(numbers), list(range(1, len(numbers) + 1)))
	whole = [r for r in numbers.values() if len(r) == len(e2e.cpus())]
	e2e.expect(len(whole) >= 40, f"{len(whole)} of {len(numbers)} samples are whole")
	fired = {(e["time_ns"], e["cpu"]) for e in trace.events("--event", "trigger_fired") if e["fields"]["trigger"] == "asked"}
	own = sum((e["time_ns"], e["cpu"]) in fired for e in samples)
	e2e.equal("parts of the firings' own CPUs, and none", own + trace.recording()["unsampled"], 260)
	if first != last:
		# Where the recorder asks from, it finds itself; on a busy machine that is often the other CPU.
		recorder = {e["fields"]["pid"] for e in samples if e["comm"] == "monitor"}
		there = [e for r in whole for e in r if e["cpu"] == last and e["fields"]["pid"] not in recorder]
		# As often as it ran there, by its switches; 0.3: of 40 samples, almost four times the scatter.
		ran = sum(row["cpu_percent"] for row in trace.rows("--by", "thread", tid=loop.pid)) / 100
		seen = sum(e["fields"]["pid"] == loop.pid and e["fields"]["doing"] == "user" for e in there)
		e2e.expect(len(there) < 40 or seen > (ran - 0.3) * len(there), f"a loop that runs {ran:.2f} of the time is in {seen} of {len(there)} samples")
		rows = firings(trace, "asked")
		e2e.expect(sum(row["spread_ns"] is not None for row in rows) >= 40, f"{rows[:3]}")
	e2e.expect("samples of all CPUs" in e2e.run(e2e.monitor, "report", trace.directory, "triggers").stdout, "report triggers says nothing of samples")
	answer = json.loads(e2e.run(e2e.monitor, "report", "--json", trace.directory, "samples").stdout)
	e2e.equal("whole samples by report", answer["samples"]["complete"], len(whole))


def a_stack_of_what_fired():
	"""Of events that fire, and of no others of their class."""
	script = NAMED + "for i in range(20):\n\tos.getpgid(0)\n\tos.getsid(0)\n\ttime.sleep(0.005)\n"
	trace = e2e.record("stacks", "--force", "--stacks=exec", "-e", "sched,syscall", "--trigger", f'g: {OF_WORK}name == "sys_enter" and id == "getpgid" => stack',
	                   "--trigger", f'h: {OF_WORK}name == "sys_enter" and id == "getsid" => mark', command=(sys.executable, "-c", script))
	trace.expect_sound()
	at = [event for event in trace.events("--event", "stack_sample") if event["fields"]["at"] == "sys_enter"]
	# Whoever made the call: after a hidden thread, this is known only from the stack, which says whose it is.
	fired = {(e["time_ns"], e["cpu"]) for e in trace.events("--event", "sys_enter", "--filter", 'id == "getpgid"')}
	e2e.equal("stacks", len(at), 20)
	others = [event for event in at if (event["time_ns"], event["cpu"]) not in fired]
	e2e.equal("stacks of other events", others, [])
	e2e.equal("whose they are", len({event["fields"]["pid"] for event in at}), 1)
	e2e.expect(all(int(str(e["fields"]["user_stack"]), 0) for e in at), f"{at[:1]}")
	rows = firings(trace, "g")
	e2e.expect(len(rows) == 20 and all("getpgid" in row["cause"] for row in rows), f"{rows[:2]}")
	e2e.expect(re.search("getpgid", e2e.run(e2e.monitor, "report", trace.directory, "stacks", "--by", "other").stdout), "the program's call is in no stack")


@e2e.longer
def pauses():
	"""Nothing is stored between stop and start; what was seen meanwhile is counted, and no report makes time of it."""
	work = e2e.work / "pausing.py"
	work.write_text(NAMED + "import subprocess\nfor i in range(1000): os.getppid()\n"
	                "child = subprocess.Popen(['sleep', '1.5'])\ntime.sleep(0.3)\nos.getpgid(0)\nfor i in range(500): os.getppid()\ntime.sleep(0.2)\n"
	                "os.getsid(0)\nfor i in range(300): os.getppid()\ntime.sleep(0.2)\nprint(f'self={os.getpid()} child={child.pid}')\n")
	of_any = 'name == "sys_enter" and id == '
	called = OF_WORK + of_any
	for card in ("--card", "bpf"), ():
		trace = e2e.undisturbed(lambda: e2e.record("pausing", "--force", *card, "--trigger", "begin: at start => stop", "--trigger",
		                                           f'on: {called}"getpgid" => start', "--trigger", f'off: {called}"getsid" => stop',
		                                           command=(sys.executable, work)))
		trace.expect_sound()
		said = [s["text"] for s in trace.statements if s["id"] == "pauses"]
		e2e.expect(said and said[0].startswith("2 pauses") and "just as long" in said[0], f"{said}")
		own = int(trace.output.split("self=")[1].split()[0])
		mine = trace.events("--event", "sys_enter", "--filter", f'id == "getppid" and tid == {own}')
		# Until a CPU's ring of nested probes has a token after the pause, who runs there is not known.
		nobodys = [e for e in trace.events("--event", "sys_enter", "--filter", 'id == "getppid"') if e["pid"] is None]
		e2e.expect(len(mine) <= 500 <= len(mine) + len(nobodys), f"calls that are stored: {len(mine)}, of nobody {len(nobodys)}")
		pauses = trace.events("--event", "paused")
		e2e.equal("pauses", len(pauses), 2)
		told = trace.summary()
		e2e.expect(told["pauses"] == 2 and told["paused"] > 1300 and 0.45e9 < told["paused_ns"] < 3e9 and told["lost"] == 0, f"{told}")
		e2e.equal("those of classes", sum(c.get("paused", 0) for c in trace.recording()["classes"]), told["paused"])
		child = int(trace.output.split("child=")[1].split()[0])
		names = [e for e in trace.events("--event", "thread_state") if e["fields"]["pid"] == child]
		e2e.expect(names and any("sleep" in str(e["fields"]["comm"]) for e in names), "the child that was born in the pause has no name")
		for row in trace.report()["cpus"]:
			e2e.expect(row["unknown_percent"] > 15, f"the time of pauses is not unknown: {row}")
	# The recorder's own, and one that lasts to the end; the account of a pause that is not true is noticed.
	trace = e2e.record("paused_by_clock", "--force", "-e", "sched", "-d", "1", "--trigger", "a: at start => stop", "--trigger", "b: every 300ms => start")
	trace.expect_sound()
	e2e.equal("pauses", trace.summary()["pauses"], 1)
	lies = trace.copy("pause_lies")
	file = lies.directory / ".monitor" / "recording.json"
	recording = json.loads(file.read_text())
	recording["pauses"]["ticks"] += 1
	file.write_text(json.dumps(recording))
	recording["triggers"][0]["fired"] += 1
	file.write_text(json.dumps(recording))
	e2e.expect({"pauses", "triggers"} <= lies.check(), "another length of the pauses, or number of firings, is not noticed")
	# What fires in a pause shares blocks; counts have no witness then.
	trace = e2e.record("firing_in_pause", "--force", "-e", "sched,syscall", "--count", f'calls={of_any}"getppid"', "--trigger", "a: at start => stop", "--trigger",
	                   f'm: {of_any}"getppid" => mark', command=(e2e.workload, "getppid", 5000))
	trace.expect_sound()
	e2e.expect(trace.summary()["bytes"] < 1_000_000 and trace.summary()["lost"] == 0, f"5000 firings in a pause take {trace.summary()['bytes']} bytes")
	e2e.equal("firings", len(trace.events("--event", "trigger_fired", "--filter", 'trigger == "m"')), trace.recording()["triggers"][1]["fired"])


def what_cannot_be():
	for trigger, why in (
	    ('name == "sys_enter" => snapshot', "add --flight"),
	    ('name == "sys_enter"', "there is no =>"),
	    ('name == "sched_switch" then name == "nothing" => mark', 'no event of the kernel has the name "nothing"'),
	    ('name == => mark', "column"),
	    ('name == "sys_enter" => start', "no trigger stops"),
	    ('name == "sys_enter" => sample it', "is not something to do"),
	    ('name == "sys_enter" => stack', "add --stacks"),
	    ('name == "sys_enter" => start, stop', "two triggers"),
	    ('name == "sys_enter" then name == "sys_exit" per nothing => mark', "has no number nothing"),
	    ('name == "function_entry" => mark', "--functions")):
		trace = e2e.record("refused", "--trigger", trigger, command=("true",), exit_code=125)
		e2e.expect(why in trace.errors and not (e2e.work / "refused").exists(), f"{trigger}: {trace.errors}")
	for file, why in (("/does/not/exist", "No such file"), (e2e.work, "is not a regular file"), ("/dev/null", "is not a regular file")):
		done = e2e.run(e2e.monitor, "trigger", file, exit_code=None)
		e2e.expect(done.returncode == 1 and why in done.stderr, f"{file}: {done.stderr}")
	binary = e2e.work / "binary"
	binary.write_bytes(bytes(range(256)) * 100)
	done = e2e.run(e2e.monitor, "trigger", binary, exit_code=1)
	e2e.expect(done.stderr.startswith("monitor: ") and done.stderr.count("\n") <= 3, done.stderr)
	done = e2e.run(e2e.monitor, "trigger", "--explain", 'x: name == "sched_switch" and next_pid == 5 => mark')
	e2e.expect("next_pid" in done.stdout and "ns per event" in done.stdout, done.stdout)


e2e.need_recording()
e2e.main(the_kinds, a_recording_that_lies, what_fires_is_recorded, a_snapshot_of_what_fired, at_full_speed, the_end_by_a_trigger,
         commands_and_signals, the_name_in_a_command, the_runner_is_stopped_or_killed, a_rare_one_beside_a_frequent_one, each_that_is_missing,
         a_snapshot_that_cannot_be_written, the_end_of_a_flight_whose_trigger_fires_all_the_time,
         events_of_programs, samples_of_all_cpus, a_stack_of_what_fired, pauses, what_cannot_be)
