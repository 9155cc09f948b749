#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Standard input, output and error are closed, as daemons and cron jobs start programs (bmc/daemonize issue 34, lightning pull
2889: the next files get these numbers, and messages go into them), or both outputs go into a log on a full disk. No message is
within a trace or an export, which are as they are otherwise; an answer that nobody gets is an error, and nothing is aborted."""
import os
import subprocess

import e2e

CLOSED = ((0,), (1,), (2,), (1, 2), (0, 2), (0, 1, 2))
CALLS = 1000


def without(closed, *words):
	"""Runs it with these descriptors closed: (exit code, what it wrote to the others)."""
	streams = {name: subprocess.PIPE if number not in closed else None for number, name in ((1, "stdout"), (2, "stderr"))}
	done = subprocess.run([str(word) for word in words], preexec_fn=lambda: [os.close(number) for number in closed],
	                      stdin=subprocess.DEVNULL if 0 not in closed else None, text=True, timeout=120, check=False, **streams)
	return done.returncode, done.stdout, done.stderr


def contents(path):
	"""Of a file, or of all in a directory, by name."""
	files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
	return {str(file.relative_to(path)): file.read_bytes() for file in files}


def recordings():
	for closed in CLOSED:
		for name, *options in (("plain",), ("stacks", "--stacks"), ("statistics", "--statistics", "1s"), ("flight", "--flight=16M")):
			what = f"{name} without {closed}"
			directory = e2e.work / f"{name}-{''.join(map(str, closed))}"
			exit_code, _, errors = without(closed, e2e.monitor, "record", "--no-calibration", "-o", directory, *options, "--", e2e.workload, "getppid", CALLS)
			e2e.equal(f"{what}: exit code", exit_code, 0) or print(errors)
			e2e.equal(f"{what}: files with messages", [file for file, content in contents(directory).items() if b"monitor: " in content], [])
			if name != "flight":
				e2e.Trace(directory).expect_true()
			if name == "plain":
				rows = e2e.Trace(directory).rows("syscalls", call="getppid", process="workload")
				e2e.equal(f"{what}: calls", sum(row["count"] for row in rows), CALLS)


def the_command():
	"""It gets what the recorder was started with."""
	script = 'for i in 0 1 2; do [ -e /proc/self/fd/$i ] && echo $i; done > "$0"'
	for closed in CLOSED:
		told = e2e.work / "descriptors"
		without(closed, e2e.monitor, "record", "--no-calibration", "--force", "-o", e2e.work / "command", "--", "sh", "-c", script, told)
		e2e.equal(f"descriptors of a command without {closed}", [int(line) for line in told.read_text().split() if int(line) != 1],
		          [number for number in (0, 2) if number not in closed])  # the shell opens 1 for the file


def answers():
	trace = e2e.record("good", "-p", "cmd", "--stacks", command=(e2e.workload, "getppid", CALLS))
	for words in (("report",), ("report", "stacks"), ("list",), ("stat",), ("info",), ("check",), ("query", "SELECT count(*) FROM events"), ("report", "--json")):
		command = (e2e.reader, words[0], trace.directory, *words[1:])
		open_ones = without((), *command)
		for closed in ((0,), (2,), (0, 2)):
			e2e.equal(f"{words} without {closed}", without(closed, *command)[:2], open_ones[:2])
		for closed in ((1,), (0, 1, 2)):
			e2e.equal(f"{words} without {closed}: exit code", without(closed, *command)[0], 1)
		_, _, errors = without((1,), *command)
		e2e.expect("cannot write the output" in errors or "cannot write to file" in errors or "Bad file descriptor" in errors,
		           f"{words} does not say that nobody gets the answer: {errors}")
		with open("/dev/full", "w", encoding="utf-8") as full:
			done = subprocess.run([str(word) for word in command], stdout=full, stderr=full, check=False)
		e2e.equal(f"{words} into a log on a full disk: exit code", done.returncode, 1)


def exports():
	trace = e2e.Trace(e2e.work / "good")
	for name, *words in (("perfetto", "convert", "--to", "perfetto", "-o"), ("lttng", "convert", "--to", "lttng", "-o"), ("folded", "convert", "--to", "folded", "-o"),
	                     ("speedscope", "convert", "--to", "speedscope", "-o"), ("view", "view", "--no-cache", "-o"), ("svg", "report", "--svg"),
	                     ("merge", "merge", "--copy", e2e.record("other", command=("true",)).directory, "-o")):
		made = {}
		for closed in ((), (1, 2), (0, 1, 2)):
			output = e2e.work / f"{name}-{''.join(map(str, closed))}"
			exit_code, _, errors = without(closed, e2e.reader, *words, output, trace.directory)
			if not e2e.equal(f"{name} without {closed}: exit code", exit_code, 0):
				print(errors)
			made[closed] = [(file, len(content)) for file, content in contents(output).items()]
		e2e.expect(made[()], f"{name} makes nothing")
		for closed, files in made.items():
			e2e.equal(f"{name} without {closed}: files", files, made[()])


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(recordings, the_command, answers, exports)
