#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A command whose cgroup uses up its quota of CPU time: what of its time is throttled is the same in every answer, and the
kernel's cpu.stat, which `monitor check` compares it with."""
import json
import sys

import e2e

LOOP = """
import os, sys, time
open(sys.argv[1] + "/cgroup.procs", "w").write(str(os.getpid()))
open("/proc/self/comm", "w").write("quota_loop")
end = time.monotonic() + 0.6
while time.monotonic() < end: pass
"""


def answers():
	with e2e.group_with_quota("monitor-e2e-quota", 10_000) as (group, throttled_s):
		trace = e2e.record("quota", command=("taskset", "-c", e2e.cpus()[0], sys.executable, "-c", LOOP, group))
		kernel = throttled_s()
	recorded = trace.recording()
	if "throttled" not in recorded.get("switch_flags", []):
		e2e.skip("this kernel does not show which threads are throttled")
	if kernel == 0:
		e2e.skip("the quota was not used up")
	(row,) = trace.rows(process="quota_loop")
	e2e.expect(row["throttled_ns"] / 1e9 > 0.95 * kernel - 0.1, f"throttled: {row['throttled_ns']} ns, by the kernel {kernel:.3f} s")
	e2e.expect(row["blocked_ns"] < 0.1e9, f"asleep: {row['blocked_ns']} ns")
	trace.expect_sound()
	(said,) = [statement for statement in trace.statements if statement["id"] == "throttled" and group.name in statement["text"]]
	e2e.equal("check compares it", said["verdict"], "ok")
	e2e.equal("in SQL", trace.query(f"SELECT throttled_ns AS ns FROM threads WHERE tid = {row['pid']}"), [{"ns": row["throttled_ns"]}])
	states = json.loads(e2e.run(e2e.reader, "states", "--json", trace.directory, "--tree", "thread", "--pid", row["pid"]).stdout)
	# Where it ran again behind a thread that the kernel hides, the state lasts until its next token.
	(cpu,) = trace.rows("--by", "cpu", cpu=int(e2e.cpus()[0]))
	behind_hidden = (cpu["unknown_percent"] or 0) / 100 * trace.summary()["wall_ns"]
	e2e.near("in states", sum(each["time_ns"] for each in states if each["state"] == "throttled"), row["throttled_ns"], 0, 2 + behind_hidden)
	path = json.loads(e2e.run(e2e.reader, "report", "--json", trace.directory, "critical-path").stdout)
	of_path = sum(part["time_ns"] for part in path["rows"] if part["what"] == "throttled")
	e2e.expect(0.95 * kernel - 0.1 < of_path / 1e9 and of_path <= row["throttled_ns"] + 1000,
	           f"throttled on the path: {of_path} ns, of the thread {row['throttled_ns']} ns")
	text = e2e.run(e2e.monitor, "report", trace.directory).stdout
	e2e.expect("throttled" in text, f"no column: {text[:400]}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(answers)
