#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record --flight and monitor snapshot: nothing is written before a snapshot; each is a whole trace of its own, with what
happened before it was asked for, at full speed too; what was overwritten is counted; requests that are none are refused."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import e2e

ALMOST_NOTHING = ("-e", "sched,syscall")
MAIN_LOAD = (e2e.workload, "getppid", 1 << 50)


class Flight(e2e.Recorder):
	def wait_until_recording(self):
		"""Until the state of the flight is there. A trigger that fires all the time may have taken snapshots before it is seen."""
		deadline = time.monotonic() + 60
		while time.monotonic() < deadline and self.process.poll() is None:
			if self.state().get("pid") == self.process.pid:
				return self
			time.sleep(0.01)
		self.process.kill()
		raise TimeoutError(f"the flight recorder does not begin: {self.process.communicate()[1]}")

	def state(self):
		try:
			return json.loads((self.directory / ".monitor" / "flight.json").read_text())
		except FileNotFoundError:
			return {}

	def snapshots(self):
		return self.state().get("snapshots", 0)

	def ask(self, *options, exit_code=0):
		done = e2e.run(e2e.monitor, "snapshot", "--json", *options, self.process.pid, exit_code=exit_code)
		if exit_code:
			return done.stderr
		reply = json.loads(done.stdout)
		trace = e2e.Trace(reply["directory"])
		trace.reply = reply
		return trace

	def wait_for_at_least(self, snapshots):
		deadline = time.monotonic() + 30
		while self.snapshots() < snapshots and time.monotonic() < deadline:
			time.sleep(0.01)
		e2e.expect(self.snapshots() >= snapshots, f"only {self.snapshots()} snapshots")

	def wait_for(self, snapshots):
		deadline = time.monotonic() + 30
		while self.snapshots() < snapshots and time.monotonic() < deadline:
			time.sleep(0.01)
		e2e.equal("snapshots", self.snapshots(), snapshots)


def files(directory):
	return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


def written(process):
	text = open(f"/proc/{process.pid}/io", encoding="ascii").read()
	return int(text.split("\nwrite_bytes: ")[1].split()[0])


def statement(trace, name):
	return [s for s in trace.statements if s["id"] == name]


def snapshots_by_hand():
	flight = Flight("by_hand", "--flight", *ALMOST_NOTHING).wait_until_recording()
	before = written(flight.process)
	counted = e2e.run(e2e.workload, "getppid", 3000)
	time.sleep(1)
	e2e.equal("files before a snapshot", files(flight.directory), [".monitor/flight.json"])
	e2e.equal("bytes written before a snapshot", written(flight.process), before)
	first = flight.ask()
	e2e.equal("its directory", os.path.realpath(first.directory), os.path.realpath(flight.directory / "001"))
	first.expect_true()
	calls = e2e.values(counted.stdout)
	made = first.events("--event", "sys_enter", "--filter", f'id == "getppid" and tid == {calls["pid"]}')
	e2e.equal("calls of a program that ended before the snapshot", len(made), 3000)
	told = e2e.run(e2e.monitor, "info", first.directory).stdout
	e2e.expect("reaches" in told and "CPU 0 " in told and "0 tokens were overwritten" in told, told)
	rows = first.rows("syscalls", call="getppid")
	e2e.expect(sum(row["count"] for row in rows) >= 3000, f"report has {rows}")
	e2e.equal("what it says of itself", statement(first, "kernel_figures")[0]["verdict"], "not checked")
	e2e.equal("whole", first.summary()["complete"], True)
	flight.send(signal.SIGUSR1)
	flight.wait_for(2)
	second = e2e.Trace(flight.directory / "002")
	second.expect_true()
	again = second.events("--event", "sys_enter", "--filter", f'id == "getppid" and tid == {calls["pid"]}')
	e2e.equal("the same calls in the next snapshot", [e["wall_ns"] for e in again] if "wall_ns" in again[0] else len(again),
	          [e["wall_ns"] for e in made] if "wall_ns" in made[0] else len(made))
	third = flight.ask("--before", "300ms", "--after", "200ms")
	third.expect_true()
	e2e.expect(0.25 < third.reply["before_s"] < 0.31 and 0.19 < third.reply["after_s"] < 2, f"it has {third.reply}")
	e2e.equal("calls that were too early", [row for row in third.rows("syscalls", call="getppid") if row["pid"] == calls["pid"]], [])
	# a directory is found, too, and the only recorder
	for which in (flight.directory, *(() if others() else ("",))):
		done = e2e.run(e2e.monitor, "snapshot", *((which,) if which else ()))
		e2e.expect("events" in done.stdout and "discarded" in done.stdout, done.stdout)
	if shutil.which("babeltrace2"):
		read = e2e.run("babeltrace2", first.directory)
		e2e.equal("babeltrace2's events", len(read.stdout.splitlines()), len(e2e.run(e2e.monitor, "list", first.directory).stdout.splitlines()))
		e2e.equal("babeltrace2's complaints", read.stderr, "")
	named = [e for e in first.events("--event", "thread_state") if e["fields"]["flags"] & 32]
	e2e.expect(any(e["fields"]["pid"] == flight.process.pid for e in named), "the threads there are, are not listed")
	trace = flight.end()
	e2e.expect("snapshots in" in trace.errors, trace.errors)
	e2e.equal("over", flight.state()["over"], True)


def others():
	lines = open("/proc/net/unix", encoding="ascii").read()
	return lines.count("@monitor-flight-") > 1


@e2e.longer
def at_full_speed():
	"""Rings that come round many times a second: whole snapshots, and the moment itself is in them."""
	flight = Flight("speed", "--flight", "4M", *ALMOST_NOTHING).wait_until_recording()
	with e2e.getppid_on_every_cpu():
		time.sleep(0.5)
		for number in range(4):
			trace = flight.ask()
			red = trace.check()
			e2e.expect(red <= {"misses"} if number else not red, f"snapshot {number}: red is {red}: {trace.statements}")
			blocks = statement(trace, "flight_blocks")[0]
			e2e.expect(blocks["verdict"] == "ok" and " 0 before" not in blocks["text"], blocks)
			e2e.expect(trace.reply["before_s"] > 0.001, trace.reply)
			asked = trace.recording()["flight"]["asked"]
			e2e.expect(trace.recording()["start"]["time"] < asked <= trace.recording()["end"]["time"], "the moment is not in it")
	flight.end()
	# A block that is taken out of its middle, and one that is repeated, are noticed.
	copy = trace.copy("cut")
	ring = max(copy.directory.glob("kernel_cpu?"), key=lambda path: path.stat().st_size)
	data = ring.read_bytes()
	middle = len(data) // 8192 * 4096
	ring.write_bytes(data[:middle] + data[middle + 4096:])
	red = copy.check()
	e2e.expect({"flight_blocks", "conservation"} <= red, f"a missing block: red is {red}")
	# A token that another one replaces, of the same length, in the blocks and in the counts: only the ring's own count is left.
	copy = trace.copy("fewer")
	ring = max(copy.directory.glob("kernel_cpu?"), key=lambda path: path.stat().st_size)
	data = bytearray(ring.read_bytes())
	at = 4096 + 96 + 8  # of the second block: how many tokens were before it
	data[at:at + 8] = (int.from_bytes(data[at:at + 8], "little") + 1).to_bytes(8, "little")
	ring.write_bytes(data)
	e2e.expect("flight_blocks" in copy.check(), "a count that is one too high is not noticed")


@e2e.longer
def a_program_that_took_another_ones_place():
	"""Its name at the start of a snapshot, whose blocks on this CPU no longer have the event that changed it."""
	flight = Flight("replaced", "--flight", "16M", *ALMOST_NOTHING, command=("sh", "-c", "exec sleep 3")).wait_until_recording()
	time.sleep(0.2)
	with e2e.getppid_on_every_cpu():
		time.sleep(0.8)
	snapshot = flight.ask("--before", "300ms")
	sleeping = snapshot.rows("cpu", "--by", "thread", thread="sleep")
	states = [e for e in snapshot.events("--event", "thread_state") if e["fields"]["comm"] == "monitor"]
	children = [e for e in states if e["fields"]["ppid"] == flight.process.pid and e["fields"]["pid"] != flight.process.pid]
	e2e.equal("names of before the exec", [e["fields"]["pid"] for e in children], [])
	e2e.expect(sleeping or any(e["fields"]["comm"] == "sleep" for e in snapshot.events("--event", "thread_state")), "nobody is called sleep")
	flight.end(number=None)


def ends():
	flight = Flight("number", "--flight", "8M", "--snapshots", 2, *ALMOST_NOTHING).wait_until_recording()
	flight.ask()
	flight.ask()
	trace = flight.end(number=None)
	e2e.expect("all of its snapshots were taken" in trace.errors, trace.errors)
	# With its command, whose exit code it has; a snapshot that was to go on longer is cut short.
	flight = Flight("command", "--flight", "8M", *ALMOST_NOTHING, command=("sh", "-c", "sleep 1.5; exit 7")).wait_until_recording()
	asked = subprocess.Popen([e2e.monitor, "snapshot", "--json", "--after", "100s", str(flight.process.pid)],
	                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	flight.end(number=None, exit_code=7)
	output, errors = asked.communicate(timeout=20)
	e2e.expect(asked.returncode == 0, errors)
	e2e.expect(json.loads(output)["after_s"] < 50, output)
	e2e.Trace(flight.directory / "001").expect_true()
	# Killed while it holds its rings: what was written can be read, and says so.
	flight = Flight("killed", "--flight", "8M", *ALMOST_NOTHING).wait_until_recording()
	asked = subprocess.Popen([e2e.monitor, "snapshot", "--after", "100s", str(flight.process.pid)], stderr=subprocess.PIPE, text=True)
	while not (flight.directory / "001" / ".monitor" / "recording.json").exists():
		time.sleep(0.01)
	time.sleep(0.3)
	flight.send(signal.SIGKILL)
	flight.end(number=None, exit_code=-signal.SIGKILL)
	errors = asked.communicate(timeout=20)[1]
	e2e.expect(asked.returncode == 1 and "ended before" in errors, errors)
	killed = e2e.Trace(flight.directory / "001")
	e2e.expect("complete" in killed.check(), "a killed snapshot is complete")
	e2e.run(e2e.monitor, "list", killed.directory)


def asked_at_the_end():
	"""A program that asks as it dies; and signals after the end, which end nothing."""
	command = ("sh", "-c", "kill -USR1 $PPID; exit 3")
	flight = Flight("dying", "--flight", "8M", *ALMOST_NOTHING, command=command)
	flight.end(number=None, exit_code=3)
	e2e.equal("snapshots", flight.snapshots(), 1)
	e2e.Trace(flight.directory / "001").expect_true()
	command = ("sh", "-c", "sleep 0.5; kill -USR1 $PPID; sleep 1; kill -USR1 $PPID; exit 7")
	flight = Flight("late", "--flight", "8M", "--snapshots", 1, *ALMOST_NOTHING, command=command)
	trace = flight.end(number=None, exit_code=7)
	e2e.expect("all of its snapshots were taken; 1 snapshot" in trace.errors, trace.errors)


@e2e.longer
def requests_in_turn():
	"""One that waits for another has the past from before it was made; one whose caller has gone is cut short."""
	flight = Flight("turn", "--flight", "32M", *ALMOST_NOTHING).wait_until_recording()
	first = subprocess.Popen([e2e.monitor, "snapshot", "--after", "4s", str(flight.process.pid)], stdout=subprocess.DEVNULL)
	time.sleep(1)
	counted = e2e.values(e2e.run(e2e.workload, "getppid", 500).stdout)
	trace = flight.ask("--before", "2s")
	first.wait()
	e2e.equal("its directory", trace.directory.name, "002")
	calls = trace.events("--event", "sys_enter", "--filter", f'id == "getppid" and tid == {counted["pid"]}')
	e2e.equal("calls from before the request", len(calls), 500)
	e2e.expect(trace.reply["after_s"] > 0.3, f"it waited, but has {trace.reply}")
	gone = subprocess.Popen([e2e.monitor, "snapshot", "--after", "100s", str(flight.process.pid)])
	time.sleep(0.5)
	gone.kill()
	gone.wait()
	flight.wait_for(3)
	e2e.expect(json.loads((flight.directory / "003/.monitor/recording.json").read_text())["recorder"]["wall_ns"] < 20e9, "it is not cut short")
	flight.end()


def forced():
	"""A directory of snapshots is emptied as a trace is, and never that of a recorder that runs."""
	flight = Flight("forced", "--flight", "8M", *ALMOST_NOTHING).wait_until_recording()
	flight.ask()
	done = e2e.run(e2e.monitor, "record", "--force", "-o", flight.directory, "-d", "0.1", exit_code=125)
	e2e.expect(f"is used by another recorder, process {flight.process.pid}" in done.stderr, done.stderr)
	flight.end()
	for _ in range(3):
		done = e2e.run(e2e.monitor, "record", "--no-calibration", "--force", "--flight", "8M", "-o", flight.directory, "--", "sh", "-c", "kill -USR1 $PPID")
		e2e.equal("what is there", sorted(path.name for path in flight.directory.iterdir()), [".monitor", "001"])


def full_disk():
	"""A snapshot that does not fit is incomplete and says so, and if not even its description fits, nothing of it is left: which of
	the two depends on what the streams take. The flight goes on, and says what it could not write, as its status and at its end."""
	script = f"""mount -t tmpfs -o size=200k none {e2e.work}/small
		{e2e.monitor} record --no-calibration --flight 8M -e sched,syscall -o {e2e.work}/small/flight & recorder=$!
		until [ -s {e2e.work}/small/flight/.monitor/flight.json ]; do sleep 0.05; done
		{e2e.workload} getppid 100000
		{e2e.monitor} snapshot $recorder; echo "first $?"
		{e2e.monitor} snapshot $recorder; echo "next $?"
		{e2e.monitor} snapshot --status $recorder; echo "status $?"
		echo left: $(cd {e2e.work}/small/flight && ls -d 0*/metadata 0*)
		for each in {e2e.work}/small/flight/0*/; do [ ! -d $each ] || {e2e.monitor} check $each | grep -q FAILS; echo "damaged $?"; done
		rm -rf {e2e.work}/small/flight/0*
		mount -o remount,size=100M {e2e.work}/small
		{e2e.monitor} snapshot $recorder; echo "third $?"
		{e2e.monitor} snapshot --status --json $recorder > {e2e.work}/small.status; echo "then $?"
		kill -INT $recorder; wait $recorder; echo "recorder $?"
		{e2e.monitor} check {e2e.work}/small/flight/003 > {e2e.work}/small.check; echo "check $?" """
	(e2e.work / "small").mkdir()
	done = e2e.run(*e2e.own_mounts(), "sh", "-c", script, exit_code=None)
	for wanted in ("first 1", "next 1", "0 snapshots, 2 more could not be written whole; the last one: ", "status 1", "third 0", "then 0",
	               "recorder 125", "check 0"):
		e2e.expect(wanted in done.stdout, f"no '{wanted}': {done.stdout}{done.stderr}")
	e2e.expect("No space left" in done.stderr and "1 snapshot in" in done.stderr, done.stderr)
	(left,) = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("left:")]
	directories = [name for name in left if "/" not in name]
	e2e.equal("what is left on a full disk", left, sorted(directories + [f"{name}/metadata" for name in directories]))
	e2e.expect("damaged 1" not in done.stdout, f"an incomplete snapshot passes its check: {done.stdout}")
	(status,) = [each for each in json.loads((e2e.work / "small.status").read_text()) if each["directory"].endswith("/small/flight")]
	e2e.equal("its status", (status["snapshots"], status["failed"], status["failure"]), (1, 2, ""))


@e2e.longer
def a_stalled_disk():
	"""The rings are held when a snapshot is asked for, not when the disk answers: the past is kept, what has no room is counted."""
	script = f"""truncate -s 100M {e2e.work}/disk && mkfs.ext4 -q {e2e.work}/disk && mkdir {e2e.work}/mounted && mount -o loop {e2e.work}/disk {e2e.work}/mounted || exit 9
		{e2e.monitor} record --no-calibration --flight 8M -e sched,syscall -o {e2e.work}/mounted/flight & recorder=$!
		until [ -s {e2e.work}/mounted/flight/.monitor/flight.json ]; do sleep 0.05; done
		{e2e.workload} getppid 3000
		fsfreeze -f {e2e.work}/mounted || echo "freeze $?"
		(sleep 3; fsfreeze -u {e2e.work}/mounted) &
		{e2e.monitor} snapshot --json $recorder > {e2e.work}/stalled.json & asked=$!
		sleep 0.2
		{e2e.workload} getppid 1000000 > {e2e.work}/meanwhile
		wait $asked; echo "first $?"
		{e2e.monitor} snapshot $recorder; echo "second $?"
		kill -INT $recorder; wait $recorder; echo "recorder $?"
		cp -r {e2e.work}/mounted/flight {e2e.work}/stalled
		umount {e2e.work}/mounted"""
	done = e2e.run(*e2e.own_mounts(), "sh", "-c", script, exit_code=None)
	if done.returncode == 9:
		return e2e.leave_out("a disk that stalls", f"no file system can be mounted from a file: {done.stderr.strip()}")
	for wanted in ("first 0", "second 0", "recorder 0"):
		e2e.expect(wanted in done.stdout, f"no '{wanted}': {done.stdout}{done.stderr}")
	first, second = (e2e.Trace(e2e.work / "stalled" / name) for name in ("001", "002"))
	first.expect_sound()
	second.expect_sound()
	reply = json.loads((e2e.work / "stalled.json").read_text())
	e2e.expect(reply["held_ms"] > 700 and reply["discarded"] > 100_000 and reply["before_s"] > 0, f"it did not stall: {reply}")
	calls = e2e.values(done.stdout)
	made = first.events("--event", "sys_enter", "--filter", f'id == "getppid" and tid == {calls["pid"]}')
	e2e.equal("calls before the stall", len(made), 3000)


@e2e.longer
def events_of_programs():
	"""They are in memory when the snapshot is asked for, also what is in an open block."""
	user_load = os.path.join(e2e.programs, "user_load")
	flight = Flight("programs", "--flight", "8M", "-e", "sched", command=(user_load, "pause", 500),
	                stdin=subprocess.PIPE).wait_until_recording()
	time.sleep(1.5)
	first = flight.ask()
	first.expect_true()
	e2e.equal("events of the program", len(first.events("--filter", "mode == \"user\" and not (name == \"thread\")")), 500)
	flight.process.stdin.close()
	flight.process.stdin = None
	flight.end(number=None)
	# While they post: what is open at the end is not there twice.
	flight = Flight("posting", "--flight", "8M", "-e", "sched", command=(user_load, "stress", 400_000_000, 1000)).wait_until_recording()
	for _ in range(3):
		flight.ask("--before", "50ms").expect_true()
	flight.end(exit_code=130) # interrupted, with its command


def refusals():
	flight = Flight("refusing", "--flight", "8M", *ALMOST_NOTHING).wait_until_recording()
	for options, sentence in ((("--before", "soon"), "not a duration"), (("--after", "0"), "not a duration")):
		done = e2e.run(e2e.monitor, "snapshot", *options, flight.process.pid, exit_code=1)
		e2e.expect(sentence in done.stderr, done.stderr)
	for which, sentence in ((1, "not a flight recorder"), (e2e.work, "no flight recorder that runs has the directory"), ("/nowhere", "does not exist")):
		done = e2e.run(e2e.monitor, "snapshot", which, exit_code=1)
		e2e.expect(sentence in done.stderr, done.stderr)
	names = [line.split()[-1] for line in open("/proc/net/unix", encoding="ascii", errors="replace")]
	address = "\0" + next(name[1:] for name in names if name.startswith(f"@monitor-flight-{flight.process.pid}-"))
	for packet in (b"{", b"[]", b"\xff" * 60000, b'{"before_ns": -1}', b'{"after_ns": 1e300}', b'{"before_ns": "x"}', b"[" * 50000):
		with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as caller:
			caller.settimeout(10)
			caller.connect(address)
			caller.send(packet)
			e2e.expect("not understood" in caller.recv(4096).decode(), packet[:20])
	with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as silent:  # goes without a word
		silent.connect(address)
	if e2e.others_may_enter("a request of another user by monitor", tempfile.gettempdir()):
		with tempfile.TemporaryDirectory() as public:  # the program's own may be closed to others
			os.chmod(public, 0o755)
			other = e2e.run(shutil.copy(e2e.monitor, public), "snapshot", flight.process.pid, user=65534, group=65534, extra_groups=[], exit_code=1)
		e2e.expect("answers root and its own user only" in other.stderr, other.stderr)
	script = f"import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect('\\0' + {address[1:]!r}); s.settimeout(10); s.send(b\'{{}}\'); print(s.recv(4096).decode())"
	if e2e.others_may_enter("a request of another user", "/usr/bin"):
		other = e2e.run("/usr/bin/python3", "-c", script, user=65534, group=65534, extra_groups=[], exit_code=None)
		e2e.expect("answers root and its own user only" in other.stdout, other.stdout + other.stderr)
	flight.ask().expect_true()
	flight.end()
	for options, sentence in ((("--flight", "--stacks"), "--stacks"), (("--flight", "--count", "a=ret < 0"), "--count"),
	                          (("--flight", "--states", "cpu"), "--states"), (("--flight", "1k"), "too small"),
	                          (("--flight", "--max-size", "1M"), "--max-size"), (("--snapshots", 1), "add --flight"),
	                          (("--flight", "8M", "--buffer", "8M"), "--buffer"), (("--flight", "1000T"), "too large")):
		done = e2e.run(e2e.monitor, "record", "-o", e2e.work / "refused", *options, "-d", "1", exit_code=125)
		e2e.expect(sentence in done.stderr, f"{options}: {done.stderr}")
		e2e.expect(not (e2e.work / "refused").exists(), f"{options}: it left a directory")
	done = e2e.run(e2e.monitor, "report", e2e.work / "by_hand", exit_code=1)
	e2e.expect("snapshots of a flight recorder, which overlap" in done.stderr, done.stderr)
	shutil.rmtree(flight.directory / "001")
	done = e2e.run(e2e.monitor, "report", flight.directory, exit_code=1)
	e2e.expect("has no snapshot" in done.stderr, done.stderr)


def another_recording_beside_it():
	"""Both are whole: each has its own probes and rings."""
	flight = Flight("beside", "--flight", "64M", "--user", *ALMOST_NOTHING).wait_until_recording()
	doctor = json.loads(e2e.run(e2e.monitor, "doctor", "--json", exit_code=None).stdout)
	running = [row["value"] for row in doctor if row["id"] == "recordings"]
	e2e.expect(running and re.search(rf"process {flight.process.pid}: (6[4-9]|7[0-9])[.][0-9] MB", running[0]), f"doctor says {running}")
	other = e2e.record("other", "--force", "--user", command=(e2e.workload, "getppid", 2000))
	other.expect_true()
	e2e.expect(f"process {flight.process.pid} already records the events of all instrumented programs: this recording has those of its own"
	           in other.errors, other.errors)
	e2e.expect(flight.process.pid in other.summary()["other_recorders"] and "another recording ran too" in other.errors, other.errors)
	trace = flight.ask()
	trace.expect_true()
	pid = e2e.values(other.output)["pid"]
	calls = f'id == "getppid" and tid == {pid}'
	e2e.equal("calls in the recording", len(other.events("--event", "sys_enter", "--filter", calls)), 2000)
	named = [e for e in trace.events("--event", "task_rename") if e["fields"]["newcomm"] == "monitor-test"]
	e2e.expect(named, "the snapshot does not mark the other's start test")
	e2e.equal("calls in the snapshot", len(trace.events("--event", "sys_enter", "--filter", calls)), 2000)
	flight.end()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(snapshots_by_hand, at_full_speed, a_program_that_took_another_ones_place, ends, asked_at_the_end, requests_in_turn, forced, full_disk, a_stalled_disk, events_of_programs, refusals, another_recording_beside_it)
