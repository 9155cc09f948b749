#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is sent to all processes of a recording at once, by Ctrl-C in a terminal or the end of a service (KillMode=control-group of
systemd), and the command goes on. Programs that start afterwards have whole stacks and names, as those of before. Where the process that opens files was killed
another one takes its place, and if that cannot be, the recording says so."""
import os
import pathlib
import shutil
import signal
import time

import e2e

WAITS = 'trap "" INT TERM QUIT HUP; touch {ready}; until [ -e {go} ]; do sleep 0.02; done; {program}'


def children(pid):
	return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until(condition, what):
	deadline = time.monotonic() + 60  # ends what hangs
	while not condition():
		if time.monotonic() > deadline:
			raise TimeoutError(f"{what}: not within a minute")
		time.sleep(0.02)


def stacks(trace):
	"""How many stacks at getppid() were taken, and how many of them are main > outer > inner."""
	text = e2e.run(e2e.monitor, "report", trace.directory, "stacks", "--by", "other", "--folded").stdout
	lines = [line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("late_")]
	whole = [int(count) for frames, count in lines if ";main;outer;inner;" in frames]
	return sum(int(count) for _, count in lines), sum(whole)


def recorded(name, between, exit_code=0):
	"""A program starts after between(recorder), which is called while the command waits."""
	ready, go, program = e2e.work / f"{name}.ready", e2e.work / f"{name}.go", e2e.work / f"late_{name}"
	for file in (ready, go):
		file.unlink(missing_ok=True)
	shutil.copy(e2e.work / "lost_helper", program)
	recorder = e2e.Recorder(name, "--stacks=syscall:getppid", command=("sh", "-c", WAITS.format(ready=ready, go=go, program=program)),
	                        start_new_session=True)
	wait_until(ready.exists, "the command")
	between(recorder)
	go.touch()
	return recorder.end(None, exit_code)


def recorded_in_time(name, between):
	"""The same, until the program's code was read before its calls, as it is unless other load has the recorder's CPU."""
	return e2e.until_undisturbed(lambda: recorded(name, between), lambda trace: e2e.before_its_code(trace, "late_", "other"), 5)


def sent_to_all():
	e2e.compiled("lost_helper.c")
	for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
		trace = recorded_in_time(number.name, lambda recorder, number=number: os.killpg(recorder.process.pid, number))
		e2e.equal(f"{number.name}: stacks, and whole ones", stacks(trace), (300, 300))
		trace.expect_true()


def watching(recorder):
	"""Who watches the process that opens files, its child."""
	(watcher,) = [child for child in children(recorder.process.pid) if children(child) and
	              os.readlink(f"/proc/{child}/exe") == os.readlink(f"/proc/{recorder.process.pid}/exe")]
	return watcher


def killed():
	def server(recorder):
		watcher = watching(recorder)
		for _ in range(3):
			gone = children(watcher)[0]
			os.kill(gone, signal.SIGKILL)
			wait_until(lambda: children(watcher) not in ([], [gone]), "another process that opens files")
	trace = recorded_in_time("server", server)
	e2e.equal("another one opens: stacks, and whole ones", stacks(trace), (300, 300))
	trace.expect_true()


def lost():
	trace = recorded("all", lambda recorder: os.kill(watching(recorder), signal.SIGKILL))
	e2e.equal("none opens: stacks, and whole ones", stacks(trace), (300, 0))
	e2e.expect("stacks_opener" in trace.check(), "check does not say that nobody opened files")
	e2e.expect("process that opens files" in trace.errors, f"the recorder does not say it: {trace.errors}")
	report = e2e.run(e2e.monitor, "report", trace.directory, "stacks")
	e2e.expect("process that opens files" in report.stderr, f"the report does not say it: {report.stderr}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(sent_to_all, killed, lost)
