#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitor play: frames compared with the events themselves, and the animation in a pseudo terminal: what a terminal
emulator (pyte) shows, keys, a new size, the ends that leave the terminal as it was, and names made to break it.
"""
import bisect
import functools
import os
import random
import re
import shutil
import signal
import sys
import time

import e2e
import terminal as terminals

SEED = random.randrange(1 << 32)
UTF8 = dict(os.environ, LC_ALL="C.UTF-8")
LETTERS = re.compile("[ -~\u00a1-\u02ff\u0370-\u0482\u048a-\u052f─│┌┐└┘→←↓↑●·…]*")


def frame(directory, *options, env=UTF8, exit_code=0):
	return e2e.run(e2e.monitor, "play", directory, "--frame", *options, env=env, exit_code=exit_code).stdout


def seconds(ns):
	return f"{ns // 10**9}.{ns % 10**9:09}"


class Switches:
	"""Who runs on each CPU, by the switches alone."""

	def __init__(self, trace):
		events = trace.events("--event", "sched_switch")
		listed = trace.events("--event", "thread_state,sched_wakeup_new")
		hidden = {e["fields"]["pid"] for e in listed if e["fields"].get("flags", 0) & 16}
		# What runs where is known of threads that were listed or seen to be created.
		self.known = {e["fields"]["pid"] for e in listed} - hidden | {0}
		command = trace.recording()["command_pid"]
		mine = [e["time_ns"] for e in events if e["pid"] == command]
		self.started, self.ended = mine[0], mine[-1]
		self.times, self.on = {}, {}
		for event in events:
			self.times.setdefault(event["cpu"], []).append(event["time_ns"])
			self.on.setdefault(event["cpu"], []).append(event["fields"]["next_pid"])
		self.all = sorted(event["time_ns"] for event in events)

	def moments(self, count):
		"""Times at least 5 ns from any switch, after each CPU's first one, while the command ran."""
		first, numbers = max(self.started, *(times[0] for times in self.times.values())), random.Random(SEED)
		found = []
		while len(found) < count:
			at = numbers.randrange(first, self.ended)
			near = bisect.bisect(self.all, at)
			if all(abs(at - other) >= 5 for other in self.all[max(near - 1, 0):near + 1]):
				found.append(at)
		return found

	def running(self, cpu, at):
		return self.on[cpu][bisect.bisect_right(self.times[cpu], at) - 1]


def cpus_of(text, columns):
	"""By CPU what a frame says runs there: a thread's number, 0 for idle, None for unknown."""
	past = min(max(columns - 50, 10), 60)
	lines = text.splitlines()
	start = next(i for i, line in enumerate(lines) if line.startswith(" CPU"))
	found = {}
	for line in lines[start + 1:]:
		if not (match := re.match(r" *(\d+) ", line[:5])):
			break
		now = e2e.in_columns(line)[5 + past + 1:][:26].replace("\0", "").strip()
		number = re.search(r" (\d+) ", now + " ")
		found[int(match[1])] = None if now.startswith("?") else 0 if now.startswith("idle") else int(number[1]) if number else now
	return found


@functools.cache
def pingpong():
	return e2e.record("pingpong", "--force", command=(e2e.workload, "pingpong", 3000))


def frames_are_those_of_the_events():
	trace = pingpong()
	switches, compared, busy = Switches(trace), 0, 0
	print(f"seed {SEED}")
	for at in switches.moments(50):
		text = frame(trace.directory, "--at", seconds(at), "--size", "150x60")
		for cpu, is_ in cpus_of(text, 150).items():
			should = switches.running(cpu, at)
			if should not in switches.known:
				continue
			e2e.equal(f"CPU {cpu} at {seconds(at)}", is_, should)
			compared += 1
			busy += should != 0
	e2e.expect(compared >= 50 and busy > 10, f"only {compared} were compared, {busy} of them not idle")
	# The same by SQL, and by the report of a time in which nothing changed.
	at = switches.moments(1)[0]
	text = cpus_of(frame(trace.directory, "--at", seconds(at), "--size", "150x60"), 150)
	for cpu, is_ in text.items():
		asked = e2e.run(e2e.monitor, "query", "--csv", trace.directory,
		                f"SELECT next_pid FROM sched_switch WHERE cpu = {cpu} AND time_ns <= {at} ORDER BY time_ns DESC LIMIT 1",
		                exit_code=None)
		if "left out" in asked.stderr or "no `monitor query`" in asked.stderr:
			break
		if is_ is not None:
			e2e.equal(f"CPU {cpu} at {seconds(at)}, by SQL", is_, int(asked.stdout.split()[1]))
	rows = {row["tid"]: row for row in trace.rows("--by", "thread", "--top", "0", "--from", seconds(at - 1), "--to", seconds(at + 1))}
	for cpu, is_ in text.items():
		e2e.expect(not is_ or rows[is_]["cpu_ns"] > 0, f"report has no time of thread {is_}, which runs on CPU {cpu} at {seconds(at)}")


def frames_include_the_event_at_their_time():
	"""With a time as monitor list prints it, in whole ns of a finer clock."""
	trace = pingpong()
	switches = Switches(trace)
	events = [event for event in trace.events("--event", "sched_switch")
	          if event["time_ns"] >= switches.started and event["fields"]["next_pid"] in switches.known]
	for event in events[:20]:
		text = cpus_of(frame(trace.directory, "--at", seconds(event["time_ns"]), "--size", "150x60"), 150)
		e2e.equal(f"CPU {event['cpu']} at its switch", text[event["cpu"]], event["fields"]["next_pid"])


def messages_are_wake_ups_of_the_trace():
	trace = pingpong()
	wakings = {(event["time_ns"], event["fields"]["pid"]): event["pid"] for event in trace.events("--event", "sched_waking")}
	# A thread that the kernel hides wakes without a token: such a sleep lasts until the sleeper is seen on a CPU.
	runs = trace.events("--event", "sched_switch,thread_runs") if trace.summary()["hidden_threads"] else ()
	seen = {(event["time_ns"], event["fields"]["next_pid" if event["event"] == "sched_switch" else "pid"]) for event in runs}
	checked, by_threads = 0, 0
	for at in Switches(trace).moments(10):
		times = []
		for line in frame(trace.directory, "--at", seconds(at), "--size", "150x60").splitlines():
			if not (match := re.match(r" (\d+)\.(\d{9})  (.*) wakes .* (\d+), which slept ", line)):
				continue
			when = int(match[1]) * 10**9 + int(match[2])
			e2e.expect(when <= at, f"at {at} there is a message of {when}")
			times.append(when)
			if match[3] == "?" and (when, int(match[4])) in seen:
				continue
			if e2e.expect((when, int(match[4])) in wakings, f"no sched_waking of {match[4]} at {when}: {line}"):
				checked += 1
				waker = re.search(r" (\d+)$", match[3])
				if waker:
					by_threads += 1
					e2e.equal(f"the waker of {match[4]} at {when}", int(waker[1]), wakings[when, int(match[4])])
		e2e.equal("the order of messages", times, sorted(times, reverse=True))
	e2e.expect(checked > 30 and by_threads > 10, f"only {checked} wake-ups were found, {by_threads} by threads")


def pipeline():
	"""The shipped layout on the real pipeline, and the arrows' counts."""
	trace = e2e.record("pipeline", "--force", command=("sh", "-c", "timeout 0.3 yes | tr y n | wc -c"))
	ends = [event["time_ns"] for event in trace.events("--event", "sched_switch") if event["comm"] == "tr"]
	at = ends[len(ends) // 2]
	text = frame(trace.directory, "--layout", "pipeline", "--at", seconds(at), "--speed", "1/1000", "--size", "120x30")
	for part in ("┌─producer─", "┌─filter─", "┌─consumer─", "│ yes ", "│ tr ", "│ wc "):
		e2e.expect(part in text, f"no {part} in\n{text}")
	rows = text.splitlines()
	box = next(i for i, row in enumerate(rows) if "┌─producer─" in row)
	right, left = rows[box], rows[box + 3]
	counts = [int(number) for row in (right, left) for number in re.findall(r" (\d+)\+? ", row)]
	begin = at - 60 * 40_000
	names = {"yes": "producer", "tr": "filter", "wc": "consumer"}
	within = [event for event in trace.events("--event", "sched_waking") if begin < event["time_ns"] <= at]
	comms = {event["fields"]["pid"]: event["fields"]["comm"] for event in trace.events("--event", "sched_process_exec")}
	between = sum(event["comm"] in names and comms.get(event["fields"]["pid"]) in names and event["comm"] != comms[event["fields"]["pid"]]
	              and {event["comm"], comms[event["fields"]["pid"]]} != {"yes", "wc"} for event in within)
	e2e.equal("arrows", len(counts), 4)
	# Those that woke a thread that was still going to sleep are not messages.
	e2e.expect(0 < sum(counts) <= between, f"{sum(counts)} wake-ups on arrows, {between} in the trace")
	ascii_text = frame(trace.directory, "--layout", "pipeline", "--at", seconds(at), env=dict(os.environ, LC_ALL="C"))
	e2e.expect(ascii_text.isascii() and "+-producer-" in ascii_text, f"not ASCII:\n{ascii_text}")


def programs_post_messages():
	load = os.path.join(e2e.programs, "activity_load")
	if not os.path.exists(load):
		return
	trace = e2e.record("posted", "--force", command=(load, 20, 0))
	posted = trace.events("--filter", 'mode == "user"')
	at = posted[len(posted) // 2]["time_ns"] + 100
	text = frame(trace.directory, "--at", seconds(at), "--size", "120x40")
	e2e.expect(re.search(r"activity_load \d+ posts ", text), f"no event of the program in\n{text}")


class Terminal(terminals.Terminal):
	def __init__(self, *arguments, **options):
		super().__init__("play", *arguments, **options)

	def time(self):
		return float(re.search(r"([\d.]+) of ", self.screen.display[0])[1])


def in_a_terminal():
	if not terminals.has_screen():
		return
	trace = pingpong()
	at = seconds(Switches(trace).moments(1)[0])
	terminal = Terminal(trace.directory, "--at", at, "--speed", "1/1000")
	terminal.shows(r"q quit$")
	plain = frame(trace.directory, "--at", at, "--speed", "1/1000").splitlines()
	shown = terminal.text().splitlines()
	e2e.equal("the terminal's rows", shown[1:23], (plain + [""] * 24)[1:23])
	before = terminal.time()
	terminal.press(" ", r"speed 1/1000$")
	deadline = time.monotonic() + 5
	while terminal.time() <= before and time.monotonic() < deadline:
		terminal.read()
	e2e.expect(terminal.time() > before, "it does not run")
	terminal.press(" ", "paused$")
	terminal.press("+", "speed 1/500 ")
	terminal.press("--", "speed 1/2000 ")
	before = terminal.time()
	terminal.press(b"\x1b[D" if b"\x1b[?1h" not in terminal.output else b"\x1bOD", f"^(?!.* {before:.9f} of)monitor play")
	e2e.expect(terminal.time() < before, "the left key does not step back")
	terminal.press(f"/{trace.recording()['command_pid']}\r", rf"^> *{trace.recording()['command_pid']} ")
	terminal.press(b"\x1b[H" if b"\x1b[?1h" not in terminal.output else b"\x1bOH", r"^─{0,3}●")
	before = terminal.time()
	terminal.press("n", f"^(?!.* {before:.9f} of)monitor play")
	e2e.expect(terminal.time() > before, "n does not go to the next event")
	terminal.press("?", "the next, the previous event")
	terminal.press("x", "^ threads")
	terminal.set_size(40, 120)
	terminal.shows(r"\A(?:.*\n){39}space run")
	e2e.expect(re.search(r"speed 1/2000  paused$", terminal.screen.display[0].rstrip()) and len(terminal.screen.display[0].rstrip()) == 120,
	           f"the first row after the new size: {terminal.screen.display[0]!r}")
	terminal.set_size(5, 20)
	terminal.shows("^40x10 at least")
	terminal.set_size(24, 80)
	terminal.shows("^ threads")
	os.write(terminal.master, b"q")
	terminal.end("after q", 0)
	e2e.expect(re.search(rb"\x1b\[[0-9;]*3[1-6]m", terminal.output), "there is no colour")


def it_leaves_the_terminal_as_it_was():
	if not terminals.has_screen():
		return
	trace = pingpong()
	for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
		terminal = Terminal(trace.directory)
		terminal.shows("^ threads")
		os.kill(terminal.process, number)
		terminal.end(f"after {number.name}", 128 + number)
	terminal = Terminal(trace.directory)
	terminal.press(" ", "speed 1/100$")
	os.write(terminal.master, b"\x03")
	terminal.end("after Ctrl-C", 130)
	# A second signal ends it when the terminal takes no output, and the loop waits for it.
	terminal = Terminal(trace.directory)
	terminal.shows("^ threads")
	for rows, columns in ((100, 300), (99, 299), (100, 300)):
		terminal.set_size(rows, columns)
		time.sleep(0.3)
	for _ in range(2):
		os.kill(terminal.process, signal.SIGTERM)
		time.sleep(0.3)
	deadline, pid = time.monotonic() + 10, 0
	while not pid and time.monotonic() < deadline:  # two at once are one
		pid, status = os.waitpid(terminal.process, os.WNOHANG)
		if not pid:
			time.sleep(0.3)
			os.kill(terminal.process, signal.SIGTERM)
	if e2e.expect(pid, "it goes on after two signals"):
		e2e.expect(os.waitstatus_to_exitcode(status) in (-signal.SIGTERM, 128 + signal.SIGTERM), f"ended by {status}")
	else:
		os.kill(terminal.process, signal.SIGKILL)
		os.waitpid(terminal.process, 0)
	os.close(terminal.master)
	terminal = Terminal(trace.directory, term="vt100", locale="C")
	terminal.shows("^ threads")
	os.write(terminal.master, b"q")
	e2e.equal("exit code on a vt100", terminal.wait(), 0)
	e2e.expect(not re.search(rb"\x1b\[[0-9;]*3[0-9]m", terminal.output), "colours on a vt100")
	e2e.expect(terminal.output.isascii(), "more than ASCII in the locale C")
	terminal = Terminal(trace.directory, term="no-such-terminal")
	terminal.shows("TERM=no-such-terminal is not known here: set TERM")
	e2e.equal("exit code with an unknown terminal", terminal.wait(), 1)


def hostile_names():
	names = [b"\x1b[2J\x1b[1;1H", b"\xe4\xb8\xad\xe6\x96\x87x", b"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d", b"\xe2\x80\xaeabc", b"e\xcc\x81\xcc\x82", b"\xff\xfe\x9b2J", b"a\nb\tc"]
	script = "import sys, time\nfor name in %r * 30:\n open('/proc/self/comm', 'wb').write(name)\n time.sleep(0.002)\n" % (names,)
	trace = e2e.record("hostile", "--force", command=(sys.executable, "-c", script))
	renames = [event for event in trace.events("--event", "task_rename") if event["fields"]["pid"] == trace.recording()["command_pid"]]
	e2e.expect(len(renames) > 100, f"only {len(renames)} new names")
	(e2e.work / "hostile.layout").write_bytes(b"box: \x1b[2J\xe4\xb8\xad\nprocess: *\n")
	seen = ""
	for event in renames[10:10 + len(names)]:
		for options in ((), ("--layout", e2e.work / "hostile.layout")):
			text = frame(trace.directory, "--at", seconds(event["time_ns"] + 1000), *options)
			seen += text
			for line in text.splitlines():
				e2e.expect(LETTERS.fullmatch(line) and len(line) <= 80, f"the line {line!r}")
	for part in (r"\x1b[2J", r"\u{4e2d}", r"\u{5e9}", r"\u{202e}", r"\xff\xfe", r"a\x0ab"):
		e2e.expect(part in seen, f"no frame has {part}")
	if terminals.has_screen():
		at = seconds(renames[10]["time_ns"] + 1000)
		terminal = Terminal(trace.directory, "--at", at)
		terminal.shows("q quit")
		plain = frame(trace.directory, "--at", at).splitlines()
		e2e.equal("the terminal's rows", terminal.text().splitlines()[1:23], (plain + [""] * 24)[1:23])
		os.write(terminal.master, b"q")
		terminal.end("with hostile names", 0)


def incomplete_and_damaged():
	recorder = e2e.Recorder("killed", "--buffer", "8M").wait_until_recording()
	with e2e.Load((e2e.workload, "getppid", 1 << 50)):
		time.sleep(0.3)
		recorder.send(signal.SIGKILL)
		trace = recorder.end(number=None, exit_code=-signal.SIGKILL)
	end = re.search(r"of ([\d.]+) s", frame(trace.directory, "--size", "150x60"))[1]
	text = frame(trace.directory, "--at", end, "--size", "150x60")
	e2e.expect("(incomplete" in text.splitlines()[0], f"nothing says that it is incomplete:\n{text}")
	e2e.expect(None in cpus_of(text, 150).values() or len(cpus_of(text, 150)) == 1, f"after the end of its stream a CPU is known:\n{text}")
	copy = pingpong().copy("damaged")
	stream = max(copy.directory.glob("kernel_cpu*"), key=lambda path: path.stat().st_size)
	data = bytearray(stream.read_bytes())
	middle = len(data) // 2 // 4096 * 4096
	data[middle:middle + 4096] = bytes(4096)
	stream.write_bytes(data)
	done = e2e.run(e2e.monitor, "play", copy.directory, "--frames", "1000000", "--speed", "10", env=UTF8, exit_code=1)
	e2e.expect("monitor: " in done.stderr and "packet" in done.stderr, f"nothing says that it is damaged: {done.stderr}")


def complaints():
	trace = pingpong()
	empty, foreign = e2e.work / "empty", e2e.work / "foreign"
	empty.mkdir()
	foreign.mkdir()
	(foreign / "metadata").write_text("something else")
	users = e2e.record("users", "--user-only", "--force", command=("true",))
	shipped = e2e.work / "wrong.layout"
	shipped.write_text("box: a\nproces: b\n")
	for arguments, says in (
			((e2e.work / "missing", "--frame"), "missing"), ((empty, "--frame"), "empty"), ((foreign, "--frame"), "foreign"),
			((users.directory, "--frame"), "programs' own events"), ((trace.directory,), "--frame prints a frame as text"),
			((trace.directory, "--frame", "--at", "1e9"), "--at"), ((trace.directory, "--frame", "--at", "99999999"), "ends at"), ((trace.directory, "--frame", "--at", "-0.001"), "starts at 0.000000000 s"),
			((trace.directory, "--frame", "--at", "99999999999999999999"), "--at"), ((trace.directory, "--frame", "--speed", "0"), "1/100"),
			((trace.directory, "--frame", "--speed", "fast"), "1/100"), ((trace.directory, "--frame", "--size", "9x9"), "40x10"),
			((trace.directory, "--frame", "--size", "80x24x"), "80x24"), ((trace.directory, "--frame", "--layout", "none"), "pipeline"),
			((trace.directory, "--frame", "--layout", shipped), "line 2"), ((trace.directory, "--frame", "--layout", e2e.work), "no layout"),
			((trace.directory, trace.directory, "--frame"), "misplaced"), ((trace.directory, "--frames", "0"), "--frames"),
			((trace.directory, "--frames", "99999999999999999999"), "--frames")):
		done = e2e.run(e2e.monitor, "play", *arguments, exit_code=None)
		lines = done.stderr.splitlines()
		e2e.expect(done.returncode in (1, 2) and len(lines) == 1 and lines[0].startswith("monitor: ") and says in lines[0] and not done.stdout,
		           f"{arguments}: {done.returncode}, {done.stderr!r}, {done.stdout[:200]!r}")
	done = e2e.run(e2e.monitor, "play", trace.directory, "--frame", "--layout", "none", exit_code=1, env=dict(UTF8, MONITOR_SHARE=str(empty)))
	e2e.expect(f"no layouts are installed in {empty}/layouts (MONITOR_SHARE)" in done.stderr, done.stderr)
	first = frame(trace.directory)
	e2e.expect(re.search(r" idle|\S \d+ \w", first[first.index("\n CPU "):first.index("\n threads")].split("\n", 2)[2]), f"the first frame knows no CPU:\n{first}")
	frames = e2e.run(e2e.monitor, "play", trace.directory, "--frames", 5, "--speed", "1/100000").stdout.split("\n\n" + "monitor play")
	e2e.equal("frames", len(frames), 5)
	done = e2e.run("sh", "-c", f"'{e2e.monitor}' play '{trace.directory}' --frames 1000000 --speed 1/10000000 | head -c 1000 > /dev/null", timeout=20)
	e2e.equal("errors when the reader closes the pipe", done.stderr, "")


if __name__ == "__main__":
	e2e.need_recording()
	if not shutil.which("tr"):
		e2e.skip("there is no tr")
	e2e.main(frames_are_those_of_the_events, frames_include_the_event_at_their_time, messages_are_wake_ups_of_the_trace, pipeline, programs_post_messages, in_a_terminal,
	         it_leaves_the_terminal_as_it_was, hostile_names, incomplete_and_damaged, complaints)
