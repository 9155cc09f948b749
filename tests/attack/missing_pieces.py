#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A finished trace from which somebody takes a file, a block or a period, or puts one there twice or from
elsewhere: check says so of each."""
import shutil

import e2e

BLOCK = 4096


def cut(path, blocks=1):
	path.write_bytes(path.read_bytes()[:-blocks * BLOCK])


def without_middle(path):
	data = path.read_bytes()
	middle = len(data) // BLOCK // 2 * BLOCK
	path.write_bytes(data[:middle] + data[middle + BLOCK:])


def twice_the_middle(path):
	data = path.read_bytes()
	middle = len(data) // BLOCK // 2 * BLOCK
	path.write_bytes(data[:middle + BLOCK] + data[middle:])


def empty(path):
	path.write_bytes(b"")


def remove(path):
	path.unlink()


def expect_noticed(what, trace, change):
	changed = trace.copy("changed")
	change(changed.directory)
	done = e2e.run(e2e.reader, "check", changed.directory, exit_code=None)
	e2e.expect(done.returncode == 1, f"{what}: check exits with {done.returncode}: {done.stdout[:300]}{done.stderr[:300]}")


def expect_said(what, trace, change):
	"""A report does not take what is missing for nothing that happened."""
	changed = trace.copy("changed")
	change(changed.directory)
	done = e2e.run(e2e.reader, "report", changed.directory, exit_code=1)
	e2e.expect("packets that were recorded are missing" in done.stderr and "lost 0" not in done.stdout,
	           f"{what}: {done.stdout[-500:]}{done.stderr[:300]}")


def of_a_recording():
	options = {"whole": (), "selected": ("-p", "cmd"), "stacks": ("-p", "cmd", "--stacks=cpu,offcpu")}
	for name, words in options.items():
		with e2e.getppid_on_every_cpu():
			trace = e2e.record(name, *words, command=(e2e.workload, "getppid", 30000))
		trace.expect_sound()
		for cpu in e2e.cpus():
			file = f"kernel_cpu{cpu}"
			if (trace.directory / file).stat().st_size < 4 * BLOCK:
				continue
			for change in (cut, without_middle, twice_the_middle, empty, remove):
				expect_noticed(f"{name}: {change.__name__} {file}", trace, lambda directory, change=change, file=file: change(directory / file))
		for file in (f"kernel_cpu{e2e.cpus()[0]}", "recorder"):
			for change in (cut, empty, remove):
				expect_said(f"{name}: {change.__name__} {file}", trace, lambda directory, change=change, file=file: change(directory / file))
		expect_noticed(f"{name}: without what the recorder counted", trace, lambda directory: remove(directory / "recorder"))
	whole, selected = e2e.Trace(e2e.work / "whole"), e2e.Trace(e2e.work / "selected")
	first = f"kernel_cpu{e2e.cpus()[0]}"
	expect_noticed("a file of another recording", whole, lambda directory: shutil.copy(selected.directory / first, directory / first))
	expect_noticed("a CPU's file as another's, too", whole, lambda directory: shutil.copy(directory / first, directory / "kernel_cpu77"))


def of_statistics():
	trace = e2e.record("statistics", "--statistics", "1s", "-d", "4.3")
	trace.expect_sound()
	periods = sorted(path.name for path in trace.directory.glob("statistics_2*"))
	e2e.expect(len(periods) >= 4, f"periods: {periods}")
	second = periods[1]
	for what, change in (("a middle period gone", lambda directory: remove(directory / second)),
	                     ("a middle period emptied", lambda directory: empty(directory / second)),
	                     ("a period twice", lambda directory: shutil.copy(directory / second, directory / second.replace("Z", ".500Z")))):
		expect_noticed(what, trace, change)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(of_a_recording, of_statistics)
