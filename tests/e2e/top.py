#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitor top: its figures compared with those of a trace of the same events, what it keeps and leaves, its screen."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import e2e
import live_windows
import terminal as terminals
import tmux

# What runs besides the test: threads that sleep, wake each other, fork, fault and call.
LOAD = """
import os, threading, time
end = time.monotonic() + %f
def pipes():
	a, b = os.pipe(), os.pipe()
	if os.fork() == 0:
		while os.read(a[0], 1): os.write(b[1], b"x")
		os._exit(0)
	while time.monotonic() < end:
		os.write(a[1], b"x"); os.read(b[0], 1)
		if int(time.monotonic() * 1000) & 3 == 0: time.sleep(0.001)
def sleeps():
	while time.monotonic() < end: time.sleep(0.003)
def forks():
	while time.monotonic() < end:
		if (child := os.fork()) == 0: os._exit(0)
		os.waitpid(child, 0)
		time.sleep(0.002)
def faults():
	while time.monotonic() < end: bytearray(1 << 22); time.sleep(0.001)
threads = [threading.Thread(target=each, daemon=True) for each in (sleeps, faults)]
for thread in threads: thread.start()
if os.fork() == 0:
	pipes(); os._exit(0)
forks()
"""


def load(seconds):
	return subprocess.Popen([sys.executable, "-c", LOAD % seconds], start_new_session=True)


def end(process):
	os.killpg(process.pid, signal.SIGKILL)
	process.wait()


def lines(*options, **more):
	done = e2e.run(e2e.monitor, "top", "--json", "--no-calibration", *options, **more)
	return [json.loads(line) for line in done.stdout.splitlines()]


def left_behind():
	return glob.glob(os.path.join(os.environ.get("TMPDIR", "/tmp"), "monitor-top-*"))


def as_of_the_trace():
	"""Each refresh has what a report of that window of the trace has, for each grouping."""
	directory = e2e.work / "kept"
	for by in ("process", "thread", "command", "cgroup"):
		def recorded():
			other = load(2)
			try:
				return lines("--by", by, "-d", "400ms", "-n", 3, "-o", directory, "--force", "--buffer", "64M", "-m", live_windows.COUNTERS)
			finally:
				end(other)

		trace = e2e.Trace(directory)
		refreshes = e2e.until_undisturbed(recorded, lambda _: live_windows.disturbance(trace), 10)
		trace.expect_true()
		e2e.equal("refreshes", [each["number"] for each in refreshes], [1, 2, 3])
		live_windows.compare(by, refreshes, trace)


def details_as_of_the_trace():
	"""Calls and activities of a process are those that reports of that window of the trace have."""
	directory = e2e.work / "details"
	program = subprocess.Popen([os.path.join(e2e.programs, "activity_load"), "800", "200"], stdout=subprocess.DEVNULL)
	try:
		refreshes = lines("--user", "--details", program.pid, "-d", "400ms", "-n", 4, "-o", directory, "--force", "--buffer", "64M")
	finally:
		program.kill()
		program.wait()
	e2e.expect("activities" in {name for each in refreshes for name in each["details"]}, f"no activities: {refreshes[0]['details']}")
	seen = live_windows.compare_details(refreshes, e2e.Trace(directory), program.pid)
	e2e.expect(seen["activities"] > 100, f"{seen} in the windows")


def without_a_trace():
	"""Nothing is left, whatever ends it; the windows follow each other; the times of each CPU are its window."""
	before = set(left_behind())
	other = load(3)
	try:
		refreshes = lines("-d", "300ms", "-n", 5)
	finally:
		end(other)
	for one, following in zip(refreshes, refreshes[1:]):
		e2e.equal("the next window", following["begin_ticks"], one["end_ticks"])
	for each in refreshes:
		e2e.expect(abs(each["end_ns"] - each["begin_ns"] - 300_000_000) <= 2, f"{each['begin_ns']} to {each['end_ns']}")
		for cpu in each["cpus"]:
			known = sum(value for key, value in cpu.items() if key.endswith("_percent") and value is not None)
			e2e.expect(abs(known - 100) < 0.01, f"times of a CPU: {cpu}")
		e2e.equal("CPUs", [cpu["cpu"] for cpu in each["cpus"]][:len(e2e.cpus())], e2e.cpus())
	e2e.expect(sum(row["voluntary"] for each in refreshes for row in each["rows"] if row["process"].startswith("python")) > 100, "the load is not seen")
	for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
		process = subprocess.Popen([e2e.monitor, "top", "--json", "-d", "100ms"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
		process.stdout.readline()
		process.send_signal(number)
		errors = process.communicate(timeout=20)[1]
		e2e.equal(f"exit code and errors after {number.name}", (process.returncode, errors), (0, ""))
	done = e2e.run("sh", "-c", f"'{e2e.monitor}' top --json -d 100ms | head -n 2 > /dev/null", timeout=30)
	e2e.equal("errors when the reader closes the pipe", done.stderr, "")
	e2e.equal("left behind", set(left_behind()) - before, set())


def threads_that_have_ended():
	"""They leave the fold, and memory does not grow."""
	process = subprocess.Popen([e2e.monitor, "top", "--json", "--no-calibration", "-d", "500ms", "-e", "sched"], stdout=subprocess.PIPE, text=True)
	def memory():
		return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{process.pid}/status").read())[1])
	try:
		json.loads(process.stdout.readline())
		forked, sizes, threads = 0, [], []
		while len(sizes) < 8:
			for _ in range(400):
				os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
				forked += 1
			refresh = json.loads(process.stdout.readline())
			threads.append(refresh["machine"]["threads"])
			sizes.append(memory())
	finally:
		process.send_signal(signal.SIGINT)
		process.communicate(timeout=20)
	e2e.expect(max(threads) < min(threads) + 300, f"threads after {forked} have ended: {threads}")
	# Bursts are kept in memory, up to 32 MiB.
	e2e.expect(sizes[-1] - sizes[0] < 32 << 10, f"memory in kB after {forked} threads have ended: {sizes}")


def as_text():
	done = e2e.run(e2e.monitor, "top", "--batch", "-n", 2, "-d", "300ms", "--top", 3)
	e2e.equal("refreshes", len(re.findall(r"^\d\d:\d\d:\d\d, 0\.3 s: CPUs [\d.]+ % busy", done.stdout, re.M)), 2)
	e2e.equal("rows and what is left out", len(re.findall(r"^\.\.\. and \d+ more", done.stdout, re.M)), 2)
	e2e.expect(re.search(r"^cost: recorder [\d.]+ %, probes ([\d.]+ to|up to) [\d.]+ % of one CPU(, without that of another recording .*)?; lost 0$", done.stdout, re.M) or
	           "probes unknown (" in done.stdout, done.stdout[-300:])
	only = lines("-n", 1, "-d", "300ms", "-p", os.getpid())[0]
	e2e.expect({row["process"] for row in only["rows"]} - {"other"} != set() and len(only["rows"]) < 5, f"-p: {only['rows']}")
	cheap = lines("-n", 1, "-d", "300ms", "-e", "sched")[0]
	e2e.equal("calls that were not recorded", (cheap["machine"]["syscalls"], cheap["rows"][0]["syscalls"]), (None, None))


def filtered_rows():
	"""--rows: what it takes and what it hides are all rows, and each is where it belongs."""
	other = load(4)
	try:
		for what, takes in (("cpu > 0.5", lambda row: row["cpu_percent"] > 0.5),
		                    ('name ~ "python*" and not pid == 0', lambda row: row["process"].startswith("python")),
		                    ("switches >= 20 or faults > 5", lambda row: (row["voluntary"] + row["involuntary"]) / 0.3 >= 20 or
		                                                     (row["minor_faults"] + row["major_faults"]) / 0.3 > 5),
		                    ("has(name)", lambda row: True), ("not has(name)", lambda row: False)):
			each = lines("-n", 1, "-d", "300ms", "--rows", what)[0]
			e2e.expect(all(takes(row) for row in each["rows"]), f"{what}: {each['rows']}")
			e2e.expect((each["rows"] != []) == (what != "not has(name)"), f"{what}: no rows")
			e2e.expect((each["hidden_rows"] > 0) == (what != "has(name)"), f"{what}: {each['hidden_rows']} rows are hidden")
		done = e2e.run(e2e.monitor, "top", "--batch", "-n", 1, "-d", "300ms", "--no-calibration", "--rows", 'name == "no such"')
		e2e.expect(re.search(r"^\.\.\. \d+ rows hidden by the filter$", done.stdout, re.M), done.stdout)
	finally:
		end(other)


def virtual_times():
	"""--virtual: of what has probes in it less than was measured, or unknown in a window with losses; refused where nobody knows."""
	other = load(6)
	try:
		def pace(done):
			"""The machine changed it while it was calibrated."""
			return "" if done.returncode == 0 else done.stderr.strip()

		done = e2e.until_undisturbed(lambda: e2e.run(e2e.monitor, "top", "--json", "--virtual", "-n", 3, "-d", "500ms", exit_code=None), pace, 3)
		e2e.expect(any(says in pace(done) for says in ("the calibration", "no time to calibrate")) or done.returncode == 0, done.stderr)
	finally:
		end(other)
	if done.returncode:
		return e2e.leave_out("virtual times", done.stderr.strip())
	seen = 0
	for refresh in map(json.loads, done.stdout.splitlines()):
		for row in refresh["rows"]:
			value, low, high = (row[f"virtual_cpu_{what}ns"] for what in ("", "low_", "high_"))
			if not refresh["virtual"]["known"]:
				e2e.equal("a window with losses", (value, low, high), (None, None, None))
			elif value is not None:
				e2e.expect(low <= value <= high and value <= row["cpu_ns"], f"{row}")
				seen += value < row["cpu_ns"]
	if all(json.loads(line)["virtual"]["known"] for line in done.stdout.splitlines()):
		e2e.expect(seen > 5, f"{seen} rows without their probes")
	for options, says in ((("--no-calibration",), "leave out --no-calibration"), (("-p", os.getpid()), "--virtual: what was filtered out cost time too"), (("--stacks",), "leave out --stacks")):
		done = e2e.run(e2e.monitor, "top", "--json", "--virtual", "-n", 1, *options, exit_code=None)
		e2e.expect(done.returncode and done.stderr.count("\n") == 1 and says in done.stderr and not done.stdout, f"{options}: {done.returncode} {done.stderr}")


def on_a_screen():
	if not terminals.has_screen():
		return
	other = load(30)
	try:
		screen = terminals.Terminal("top", "-d", "300ms", "--no-calibration", rows=30, columns=110)
		screen.shows(r"^ +PID PROCESS +CPU%")
		screen.shows(r"^ +\d+ python3?[\d.]* +\d+\.\d")
		screen.press("/", "^/_")
		screen.press("pytho", "^/pytho_")
		screen.press("\r", r"rows with 'pytho'")
		screen.press("\r", r"^threads of python[\d.]* \(\d+\)")
		screen.shows(r"^ +TID THREAD.*\n +\d+ py")
		screen.press("\r", r"^Calls of the chosen row")
		screen.press("\x1b", r"^threads of python")
		screen.press("\x1b", r"^ +PID PROCESS")
		screen.press("\x1b", r"^ +PID PROCESS")
		screen.press("\x1bOS", r"^\\_")
		screen.press("cpu >= 0 and name ~ 5", r"^\\cpu >= 0 and name ~ 5_")
		screen.press("\r", r"^column 21: ")
		screen.press("\x7f\"py*\"\r", r'^rows of which cpu >= 0 and name ~ "py\*": \d+ rows? hidden by the filter')
		screen.press("\x1b", r"^ +PID PROCESS")
		screen.press("g", "CGROUP")
		screen.press("u", r"^ +CPU +idle%")
		screen.press("?", "hold still, or go on")
		screen.press("\x1b", r"^CPUs")
		for rows, columns in ((5, 20), (1, 1), (40, 200), (24, 80)):
			screen.set_size(rows, columns)
			time.sleep(0.4)
			screen.read()
		screen.press("p", r"^ +PID PROCESS")
		os.write(screen.master, b"q")
		screen.end("after q", 0)
		for number in (signal.SIGTERM, signal.SIGINT):
			screen = terminals.Terminal("top", "-d", "300ms", "--no-calibration")
			screen.shows(r"^ +PID PROCESS")
			os.kill(screen.process, number)
			screen.end(f"after {number.name}", 0)
	finally:
		end(other)


def in_tmux():
	"""5,000 threads; sizes down to one column while it runs; ended by any signal it leaves the terminal as it was."""
	if not tmux.has_tmux():
		return
	many = subprocess.Popen([sys.executable, "-c", """
import threading, time
threading.stack_size(65536)
for _ in range(5000): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print(flush=True)
time.sleep(60)"""], stdout=subprocess.PIPE)
	many.stdout.readline()
	pane = tmux.Tmux(30, 110)
	before, process, others = e2e.work / "before", e2e.work / "pid", set(left_behind())
	try:
		pane.shows("^ready>")
		state = pane.state()
		for end, code in ((signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGINT, 0), ("q", 0), (signal.SIGKILL, 137)):
			pane.press(f"clear; stty -g > {before}; sh -c 'echo $$ > {process}; exec {e2e.monitor} top --by thread -d 200ms "
			           f"--no-calibration -e sched'; echo ended $?; stty -g | cmp - {before} && echo as before", "Enter")
			pane.shows(r"^[5-9]\d\d\d threads: ")
			if end == signal.SIGTERM:
				pane.press("End")
				pane.shows(r"^ +\d+ .* 0\.0 ")
				for rows, columns in ((30, 1), (2, 40), (50, 200), (24, 80)):
					pane.set_size(rows, columns)
					time.sleep(0.3)
				pane.shows(r"^ +TID THREAD +CPU%")
				e2e.expect(len(pane.text().splitlines()) == 24, "a new size is not taken")
				pane.press("Home", "PageDown")
			if end == "q":
				pane.press("q")
			else:
				os.kill(int(process.read_text()), end)
			pane.shows(f"^ *ended {code}$")
			if end == signal.SIGKILL: # nobody can clean up after it
				e2e.expect(pane.state() != state, "the terminal is as before: say so in monitor-top(1)")
				pane.press(f"stty $(cat {before}); tput rmcup; tput cnorm; tput rmkx; echo restored", "C-j")
				pane.shows("^restored$")  # before that, Enter would not end a line
				pane.press(f"clear; stty -g | cmp - {before} && echo as before", "Enter")
				pane.shows("^as before$")
			else:
				pane.shows("^as before$")
			e2e.equal(f"terminal after {end}", pane.state(), state)
	finally:
		pane.end()
		many.kill()
		many.wait()
		for left in set(left_behind()) - others: # by SIGKILL
			shutil.rmtree(left, ignore_errors=True)


def complaints():
	for arguments, says in ((("--batch", "-d", "1"), "-d: '1' is not a duration"), (("--batch", "-d", "1ms"), "100ms"), ((), "--batch prints the same"),
	                        (("--batch", "-p", "99999999"), "no process id"), (("--batch", "--details", "much"), "--details: 'much' is no process id"),
	                        (("--batch", "-m", "nothing"), "nothing"), (("--batch", "-e", "nothing"), "unknown event family"),
	                        (("--batch", "-n", "0"), "-n"), (("--batch", "--by", "mood"), "--by"), (("--batch", "--buffer", "much"), "--buffer"),
	                        (("--batch", "-o", "/dev/null/x"), "/dev/null/x")):
		done = e2e.run(e2e.monitor, "top", *arguments, exit_code=None, timeout=20)
		e2e.expect(done.returncode and len(done.stderr.splitlines()) == 1 and says in done.stderr and not done.stdout,
		           f"{arguments}: {done.returncode}, {done.stderr!r}, {done.stdout[:200]!r}")
	done = e2e.run(e2e.monitor, "top", "--batch", "--rows", "cpu > 5 and nmae == 3", exit_code=None, timeout=20)
	e2e.expect(done.returncode and done.stderr.startswith("monitor: rows, column 13: a row has no nmae; it has ") and
	           done.stderr.splitlines()[1:] == ["  cpu > 5 and nmae == 3", "              ^"], f"{done.returncode}, {done.stderr}")
	if e2e.others_may_enter("another user", tempfile.gettempdir()):
		with tempfile.TemporaryDirectory() as public:  # the test's own may be closed to others
			os.chmod(public, 0o755)
			done = e2e.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", shutil.copy(e2e.monitor, public), "top", "--batch", "-n", 1, exit_code=None)
		e2e.expect(done.returncode and "needs root" in done.stderr, done.stderr)


e2e.need_recording()
e2e.main(as_of_the_trace, details_as_of_the_trace, without_a_trace, threads_that_have_ended, as_text, filtered_rows, virtual_times, on_a_screen, in_tmux, complaints)
