#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every call and every error of a script with children, pipes and kills, as strace counts them in the same run
(tracee pull 1930: exit_group was missing; sysdig issues 840 and 1422: others were)."""
import re
from collections import Counter

import e2e

SCRIPT = """
ls -R /usr/include/linux > /dev/null
seq 1000 | sort -R | md5sum > /dev/null
cat /nonexistent
(sleep 5 & p=$!; kill -9 $p)
true
"""
# What strace's child does before it executes the shell has strace's process number no more, and is not in its list.
BEFORE_EXEC = 25


def counted(lines):
	"""Calls and failed calls by name."""
	calls, errors, begun = Counter(), Counter(), {}
	for line in lines:
		begin, end = re.match(r"(\d+) +(\w+)\(", line), re.match(r"(\d+) +<\.\.\. (\w+) resumed", line)
		if begin:
			calls[begin[2]] += 1
		if (begin or end) and re.search(r"= -1 E", line):
			errors[(begin or end)[2]] += 1
	return calls, errors


def differences(ours, theirs):
	return {name: (ours[name], theirs[name]) for name in ours.keys() | theirs.keys() if ours[name] != theirs[name]}


def every_call():
	e2e.need_program("strace")
	trace = e2e.record_undisturbed("calls", "-p", "cmd", command=("strace", "-f", "-qq", "-o", e2e.work / "strace.txt", "sh", "-c", SCRIPT))
	calls, errors = counted((e2e.work / "strace.txt").read_text(errors="replace").splitlines())
	ours, our_errors = Counter(), Counter()
	for row in trace.rows("syscalls", "--top", "0"):
		if row["process"] != "strace":
			ours[row["call"]] += row["count"]
			our_errors[row["call"]] += row["errors"]
	# Calls that never return, as exit_group, or a sleep that is killed, are in no row.
	for row in trace.query("SELECT id_label AS call, count(*) AS n FROM sys_enter e JOIN threads t ON t.tid = e.tgid WHERE t.name <> 'strace' GROUP BY 1"):
		ours[row["call"]] = max(ours[row["call"]], row["n"])
	e2e.expect(sum(calls.values()) > 500 and calls["exit_group"] > 5, f"strace saw {calls}")
	wrong = differences(ours, calls)
	e2e.expect(sum(abs(own - theirs) for own, theirs in wrong.values()) <= BEFORE_EXEC, f"calls (monitor, strace): {wrong}")
	wrong = differences(our_errors, errors)
	e2e.expect(sum(abs(own - theirs) for own, theirs in wrong.values()) <= 10, f"errors (monitor, strace): {wrong}")
	trace.expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(every_call)
