#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A sleep that a timer ends was not ended by the thread that the timer interrupted (bcc issue 1679)."""
import re

import e2e


def by_the_timer():
	trace = e2e.record("waker", command=(e2e.compiled("interrupt_waker.c"),))
	sleeps = [row for row in trace.rows("offcpu", thread="timed") if row["call"] == "clock_nanosleep"]
	e2e.equal("sleeps", sum(row["count"] for row in sleeps), 100)
	e2e.equal("ended by an interrupt", sum(row["count"] for row in sleeps if re.match("(soft)?irq", row["waker"] or "")), 100)
	e2e.expect(sum(row["total_ns"] for row in sleeps) >= 100 * 4e6, f"asleep for less than 0.4 s: {sleeps}")
	trace.expect_true()


def by_stacks():
	trace = e2e.record("stacks", "-p", "cmd", "--stacks=offcpu,wake", command=(e2e.compiled("interrupt_waker.c"),))
	text = e2e.run(e2e.reader, "report", trace.directory, "stacks", "--by", "wait", "--comm", "timed").stdout
	woken_by = re.findall(r"\[woken by ([^\]]*)\]", text)
	e2e.expect(woken_by and not any("hog" in waker for waker in woken_by), f"woken by {woken_by}: {text}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(by_the_timer, by_stacks)
