#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Page faults that another thread of the program resolves (userfaultfd), as snapshots of virtual machines do: the sleep
is in no system call, and its waker and stack say who ended it (Firecracker issue 2938, bpftrace user-tools pull 23)."""
import re

import e2e


def program():
	made = e2e.compiled("fault_of_another.c", "-pthread")
	if e2e.run(made, exit_code=None).returncode == 77:
		e2e.skip("this kernel has no userfaultfd")
	return made


def in_no_call():
	trace = e2e.record_undisturbed("faults", "-p", "cmd", command=(program(),))
	told = e2e.values(trace.output)
	(thread,) = trace.rows("--by", "thread", thread="toucher")
	slept = [row for row in trace.rows("offcpu", thread="toucher") if row["call"] in (None, "-", "")]
	e2e.equal("sleeps in faults", sum(row["count"] for row in slept), 20)
	asleep = sum(row["total_ns"] for row in slept)
	e2e.expect(20 * 25e6 < asleep < told["touched_ns"], f"asleep: {asleep} ns, the touches took {told['touched_ns']} ns")
	e2e.expect(thread["blocked_ns"] >= asleep, f"{thread}")
	e2e.equal("woken by its other thread", {int(row["waker"].rsplit("-", 1)[1]) for row in slept}, trace.family({told["pid"]}) - {told["pid"]})
	trace.expect_true()


def by_stacks():
	trace = e2e.record("stacks", "-p", "cmd", "--stacks=offcpu,wake", command=(program(),))
	text = e2e.run(e2e.reader, "report", trace.directory, "stacks", "--by", "wait", "--comm", "toucher").stdout
	for part in ("handle_userfault", "woken by", "fill"):
		e2e.expect(re.search(rf"\b{part}\b", text), f"no {part} in {text}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(in_no_call, by_stacks)
