#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A group that has used up its quota is throttled: that time is waiting and not sleep (kubernetes issue 67577, ebpf_exporter
pull 311), beside the kernel's cpu.stat."""
import pathlib
import sys

import e2e

LOOP = """
import os, sys, time
open(sys.argv[1] + "/cgroup.procs", "w").write(str(os.getpid()))
open("/proc/self/comm", "w").write("quota_loop")
end = time.monotonic() + 1.5
while time.monotonic() < end: pass
print("cpu_us=%d" % (time.process_time() * 1e6))
"""


def group_with_quota():
	"""A group that may have a fifth of a CPU, and the name and unit of its time in cpu.stat."""
	for line in open("/proc/mounts", encoding="utf-8"):
		_, where, kind, options, *_ = line.split()
		group = pathlib.Path(where) / "monitor-quota"
		try:
			if kind == "cgroup" and "cpu" in options.split(","):
				group.mkdir()
				(group / "cpu.cfs_period_us").write_text("100000")
				(group / "cpu.cfs_quota_us").write_text("20000")
				return group, "throttled_time", 1e9
			if kind == "cgroup2" and "cpu" in (pathlib.Path(where) / "cgroup.subtree_control").read_text().split():
				group.mkdir()
				(group / "cpu.max").write_text("20000 100000")
				return group, "throttled_usec", 1e6
		except OSError:
			continue
	return e2e.skip("no cpu controller of cgroups is mounted")


def throttled():
	group, name, unit = group_with_quota()
	try:
		trace = e2e.record("quota", command=(sys.executable, "-c", LOOP, group))
		stat = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
	finally:
		group.rmdir()
	kernel = int(stat[name]) / unit
	(row,) = trace.rows(process="quota_loop")
	cpu = e2e.values(trace.output)["cpu_us"] / 1e6
	e2e.expect(abs(row["cpu_ns"] / 1e9 - cpu) < 0.04 * cpu + 0.01, f"CPU time: {row['cpu_ns']} ns, by the process {cpu:.3f} s")
	e2e.expect(row["waiting_ns"] / 1e9 > 0.85 * kernel - 0.05, f"waiting: {row['waiting_ns']} ns, throttled {kernel:.3f} s")
	e2e.expect(row["blocked_ns"] < 0.1e9, f"asleep: {row['blocked_ns']} ns")
	trace.expect_sound()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(throttled)
