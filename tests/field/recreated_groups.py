#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A restarted service has a new cgroup of the same path (ebpf_exporter pull 180: two series with the same labels, and the scrape
fails; coroot issue 899, node_exporter issue 2805): one series and one row, with the time of both, and --cgroup means both."""
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.request

import e2e

CALLS, CPU_S = 500, 0.4
LOAD = f"""import os, sys, time
time.sleep(float(sys.argv[1]))
end = time.thread_time() + {CPU_S}
while time.thread_time() < end: pass
for _ in range({CALLS}): os.getppid()
"""


def mounted():
	"""A path of cgroup 2 that is free."""
	for line in pathlib.Path("/proc/mounts").read_text().splitlines():
		if line.split()[2] == "cgroup2":
			return pathlib.Path(line.split()[1]) / f"monitor_test_shop{os.getpid()}"
	e2e.skip("no hierarchy of cgroup 2 is mounted")


@contextlib.contextmanager
def generation(group, sleep_s):
	group.mkdir()
	load = subprocess.Popen([sys.executable, "-S", "-c", LOAD, str(sleep_s)], preexec_fn=lambda: (group / "cgroup.procs").write_text("0"))
	try:
		yield load
	finally:
		load.wait()
		e2e.remove_cgroup(group)


def scraped():
	group = mounted()
	served = subprocess.Popen([e2e.monitor, "serve", "--no-calibration", "--metrics", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
	try:
		port = re.search(r":(\d+)", served.stdout.readline())[1]
		for _ in range(2):
			with generation(group, 3):
				pass
		time.sleep(2.5)
		with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
			samples = [line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if line and not line.startswith("#")]
	finally:
		served.terminate()
		served.wait()
	names = [name for name, _ in samples]
	e2e.equal("series that are there twice", sorted({name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else ()), [])
	seconds = sum(float(value) for name, value in samples if name.startswith("monitor_cpu_seconds_total") and group.name in name)
	e2e.expect(2 * CPU_S <= seconds <= 2 * CPU_S + 0.4, f"{seconds} s of CPU time in the group's path")


def recorded():
	group = mounted()
	for name, options in (("trace", ()), ("statistics", ("--statistics", "1s"))):
		with generation(group, 3):
			recorder = e2e.Recorder(name, *options).wait_until_recording()
		with generation(group, 0.5):
			pass
		trace = recorder.end()
		rows = [row for row in trace.rows("--by", "cgroup") if group.name in str(row["cgroup"])]
		e2e.equal(f"{name}: rows of the path", len(rows), 1)
		seconds = sum(row["cpu_ns"] for row in rows) / 1e9
		e2e.expect(2 * CPU_S <= seconds <= 2 * CPU_S + 0.3, f"{name}: {seconds} s of CPU time")
		for path in (f"/{group.name}", group.name):
			calls = sum(row["count"] for row in trace.report("syscalls", "--cgroup", path)["rows"] if row["call"] == "getppid")
			e2e.equal(f"{name}: calls with --cgroup {path}", calls, 2 * CALLS)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(scraped, recorded)
