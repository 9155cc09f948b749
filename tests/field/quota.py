#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A group that has used up its quota is throttled: that time is not sleep, and does not wait for others (kubernetes issue
67577, ebpf_exporter pull 311), beside the kernel's cpu.stat."""
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


def throttled():
	with e2e.group_with_quota("monitor-quota", 20_000) as (group, throttled_s):
		trace = e2e.record("quota", command=(sys.executable, "-c", LOOP, group))
		kernel = throttled_s()
	(row,) = trace.rows(process="quota_loop")
	cpu = e2e.values(trace.output)["cpu_us"] / 1e6
	e2e.expect(abs(row["cpu_ns"] / 1e9 - cpu) < 0.04 * cpu + 0.01, f"CPU time: {row['cpu_ns']} ns, by the process {cpu:.3f} s")
	of = "waiting_ns" if row["throttled_ns"] is None else "throttled_ns"  # where the kernel does not tell them apart
	e2e.expect(row[of] / 1e9 > 0.85 * kernel - 0.05, f"{of}: {row[of]}, throttled {kernel:.3f} s")
	e2e.expect(row["blocked_ns"] < 0.1e9, f"asleep: {row['blocked_ns']} ns")
	trace.expect_sound()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(throttled)
