#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitor top as text and on a terminal: its rows, keys, sizes, signals, and what it refuses."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import e2e
import terminal as terminals
import tmux
from top_load import end, left_behind, lines, load


def as_text():
	done = e2e.run(e2e.monitor, "top", "--batch", "-n", 2, "-d", "300ms", "--top", 3)
	e2e.equal("refreshes", len(re.findall(r"^\d\d:\d\d:\d\d, 0\.3 s: CPUs [\d.]+ % busy", done.stdout, re.M)), 2)
	e2e.equal("rows and what is left out", len(re.findall(r"^\.\.\. and \d+ more", done.stdout, re.M)), 2)
	e2e.expect(re.search(r"^cost: recorder [\d.]+ %, probes at least [\d.]+ % of one CPU \(loops\)(, without that of another recording .*)?; lost 0$", done.stdout, re.M) or
	           "probes unknown (" in done.stdout, done.stdout[-300:])
	only = lines("-n", 1, "-d", "300ms", "-p", os.getpid())[0]
	e2e.expect({row["process"] for row in only["rows"]} - {"other"} != set() and len(only["rows"]) < 5, f"-p: {only['rows']}")
	cheap = lines("-n", 1, "-d", "300ms", "-e", "sched")[0]
	e2e.equal("calls that were not recorded", (cheap["machine"]["syscalls"], cheap["rows"][0]["syscalls"]), (None, None))


@e2e.longer
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


@e2e.longer
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
	                        (("--batch", "-p", "99999999"), "not a process id"), (("--batch", "--details", "much"), "--details: 'much' is not a process id"),
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
e2e.main(as_text, filtered_rows, on_a_screen, in_tmux, complaints)
