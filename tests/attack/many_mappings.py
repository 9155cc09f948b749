#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One user's processes with more mappings than the recorder has room for: the stacks of another user's program are whole
all the same, and the report, `check` and `top --stacks` say whose are not. An attack by many mappings.
"""
import json
import subprocess

import e2e

NOBODY = 65534
PROCESSES, MAPPINGS = 10, 8000


def whole_stacks(trace, pid):
	"""How many samples of a process there are, and how many of them end at the start of their program."""
	lines = e2e.run(e2e.monitor, "report", trace.directory, "stacks", "--by", "cpu", "--folded", "--pid", pid).stdout.splitlines()
	counts = [(line.rsplit(" ", 1)[0], int(line.rsplit(" ", 1)[1])) for line in lines]
	return sum(count for _, count in counts), sum(count for stack, count in counts if "[truncated" not in stack)


def many():
	program = e2e.compiled("many_mappings.c")
	if not e2e.others_may_enter("another user", e2e.work):
		return
	with subprocess.Popen([program, str(PROCESSES), str(MAPPINGS)], user=NOBODY, stdout=subprocess.PIPE, text=True) as hostile:
		try:
			e2e.equal("the processes", hostile.stdout.readline(), "ready\n")
			trace = e2e.record("many", "--stacks=cpu", "-e", "sched", command=(e2e.workload, "spin", 1000))
			refreshes = [json.loads(line) for line in e2e.run(
				e2e.monitor, "top", "--no-calibration", "--stacks=cpu", "--json", "--details", hostile.pid, "-n", 3, "-d", "500ms").stdout.splitlines()]
		finally:
			hostile.kill()
	samples, whole = whole_stacks(trace, trace.recording()["command_pid"])
	e2e.expect(samples > 100 and whole >= samples * 0.9, f"{whole} of {samples} stacks of root's program are whole")
	report = e2e.run(e2e.monitor, "report", trace.directory, "stacks")
	e2e.expect(f"programs of user {NOBODY} had more mappings" in report.stderr, f"the report does not say whose are left out: {report.stderr}")
	e2e.equal("users without room", [each["user"] for each in trace.recording()["stacks"].get("without_room", [])], [NOBODY])
	e2e.expect("stacks_without_room" not in trace.check(), "what anybody can cause is no failure")
	e2e.expect(any(each["id"] == "stacks_without_room" and f"user {NOBODY} " in each["text"] for each in trace.statements), "check does not say it")
	e2e.expect(any(NOBODY in each["details"]["stacks"]["users_without_room"] for each in refreshes), "top does not say it")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(many)
