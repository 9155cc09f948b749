#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record -e light beside a default recording: what it leaves out is unknown in every answer, not 0; what it has is true."""
import json

import e2e

SOFTIRQS = ["softirq_entry", "softirq_exit", "softirq_raise"]
LOAD = ("sh", "-c", "i=0; while [ $i -lt 20 ]; do sleep 0.01; i=$((i + 1)); done")
SAID = "softirqs were left out"


def text(*command):
	done = e2e.run(e2e.monitor, *command)
	return done.stdout + done.stderr


def recordings():
	global WHOLE, LIGHT
	WHOLE = e2e.record("whole", "-e", "default", command=LOAD)
	LIGHT = e2e.record("light", "-e", "light", command=LOAD)
	for trace, left_out in ((WHOLE, []), (LIGHT, SOFTIRQS)):
		trace.expect_true()
		recording = trace.recording()
		e2e.equal("families", recording["families"], ["sched", "irq", "syscall", "fault", "power", "block"])
		e2e.equal("left out", recording.get("left_out", []), left_out)
		e2e.expect(all((name in recording["programs"]) == (not left_out) for name in SOFTIRQS), f"programs {recording['programs']}")
		events = {row["event"]: row["tokens"] for row in trace.info()["classes"]}
		e2e.expect(bool(events.get("softirq_entry")) == (not left_out), f"{left_out}: {events}")
		e2e.expect(events.get("local_timer_entry", 1) and events["sys_enter"], f"{events}")


def unknown():
	for trace, is_known in ((WHOLE, True), (LIGHT, False)):
		for by in ("process", "cpu"):
			rows = trace.rows("--by", by)
			e2e.expect(rows and all((row["softirq_percent"] is not None) == is_known for row in rows if row["irq_percent"] is not None),
			           f"softirqs by {by}: {[row['softirq_percent'] for row in rows]}")
			e2e.expect(any(row["user_percent"] or row["kernel_percent"] for row in rows), f"no modes: {rows}")
		e2e.equal("the summary's left_out", trace.summary().get("left_out", []), [] if is_known else SOFTIRQS)
		e2e.equal("softirqs of threads", trace.query("SELECT DISTINCT softirq_ns IS NULL AS none FROM threads WHERE cpu_ns > 0"), [{"none": int(not is_known)}])
		sleeps = trace.report("offcpu")["rows"]
		wakers = {row["waker"] for row in sleeps} - {"-"}
		e2e.expect(any(":" not in waker for waker in wakers) == is_known, f"threads that woke others: {wakers}")
		e2e.expect(any(":" in waker for waker in wakers), f"interrupts that woke threads: {wakers}")
		said = {statement["id"]: statement for statement in trace.statements}
		e2e.equal("softirqs of the kernel are compared", "softirqs" in said, is_known)
		e2e.equal("check says it", said.get("left_out", {}).get("verdict"), None if is_known else "not checked")
		for answer in (("report", trace.directory), ("report", trace.directory, "offcpu"), ("info", trace.directory), ("check", trace.directory),
		               ("states", trace.directory, "--tree", "cpu"), ("stat", trace.directory, "--table", "irq"),
		               ("list", trace.directory, "--event", "softirq_entry"), ("query", trace.directory, "SELECT 1")):
			e2e.equal(f"{answer[0]} says it", SAID in text(*answer), not is_known)
	e2e.expect("without softirq_entry, softirq_exit, softirq_raise" in text("info", LIGHT.directory), "info: events")
	e2e.expect(" - " in next(line for line in text("report", LIGHT.directory).splitlines() if line.startswith("* ")), "the command's row has no `-`")


def statistics():
	trace = e2e.record("sums", "-e", "light", "--statistics", "1s", command=LOAD)
	e2e.expect(all(row["softirq_percent"] is None for row in trace.rows()), "statistics")
	e2e.equal("left out", trace.summary()["left_out"], SOFTIRQS)
	e2e.expect(SAID in text("check", trace.directory), "check of statistics")


def differences():
	said = text("diff", WHOLE.directory, LIGHT.directory)
	e2e.expect("different events" in said, said)
	rows = json.loads(e2e.run(e2e.monitor, "diff", "--json", LIGHT.directory, WHOLE.directory).stdout)
	e2e.expect("woken by its own" not in json.dumps(rows), "who woke whom is compared with what is unknown")


def live():
	line = e2e.run(e2e.monitor, "top", "--json", "--no-calibration", "-e", "light", "-d", "200ms", "-n", "1").stdout.splitlines()[0]
	rows = json.loads(line)["rows"]
	e2e.expect(rows and all(row["softirq_percent"] is None for row in rows), f"top: {rows[:2]}")


def choice():
	both = e2e.record("both", "-e", "light,irq,block", command=("true",)).recording()
	e2e.equal("left out of light,irq,block", both.get("left_out"), None)
	e2e.expect("block" in both["families"], f"{both['families']}")
	refused = e2e.run(e2e.monitor, "record", "-o", e2e.work / "refused", "-e", "light", "--count", 'n=name == "softirq_entry"', "--", "true", exit_code=125)
	e2e.expect("which is not recorded whole: add it to -e" in refused.stderr, refused.stderr)


def listed():
	said = e2e.run(e2e.monitor, "record", "-e", "help").stdout
	for word in ("default", "light", "softirq_entry", "block_rq_issue"):
		e2e.expect(word in said, f"-e help: {said}")
	prices = {line.strip() for line in said.splitlines() if line.endswith(" ns") or line.strip().startswith("unknown")}
	e2e.expect("unknown: no loop of a known number of these" in prices and len(prices) > 1, f"-e help: {said}")


e2e.need_recording()
e2e.main(recordings, unknown, statistics, differences, live, choice, listed)
