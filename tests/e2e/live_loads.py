#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Not a part of the test run (8 minutes): monitor top's figures under 20 loads are those of reports of the same windows of
the trace: rows by process, sums, counters, and the calls of the load's first process. A load whose program is missing is
left out, and said. By hand: tests/e2e/live_loads.py MONITOR PROGRAMS WORK [LOAD...]"""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import e2e
import live_windows

STRESSED = ("fork", "switch", "pipe", "futex", "mmap", "fault", "timer", "sock", "epoll", "vm")
FILES = "while :; do find /usr/share -name '*.gz' > {work}/found; done"
SERVED = """echo 'daemon off; master_process off; pid {work}/pid; events {{ }}
http {{ access_log off; server {{ listen 127.0.0.1:18089; location / {{ return 200 "text"; }} }} }}' > {work}/nginx.conf
nginx -e {work}/log -c {work}/nginx.conf &
until (: < /dev/tcp/127.0.0.1/18089) 2> /dev/null; do sleep 0.01; done
exec wrk -t 1 -c 8 -d 60 http://127.0.0.1:18089/"""
LOADS = {
	"getppid": ["{programs}/workload", "getppid", "1000000000"],
	"activities": ["{programs}/activity_load", "60000", "200"],
	"stacks": ["{programs}/stack_load", "60"],
	"sqlite3": ["bash", "-c", "while :; do sqlite3 :memory: 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000) select sum(i) from n'; done"],
	"compile": ["bash", "-c", "while :; do echo 'int main(void) {{ return 0; }}' | cc -O2 -x c -o {work}/compiled -; done"],
	"find": ["bash", "-c", FILES],
	"xz": ["bash", "-c", "while :; do head -c 2M /dev/zero | xz -T 2 > {work}/xz; done"],
	"copies": ["bash", "-c", "while :; do dd if=/dev/zero of={work}/copy bs=64k count=200 conv=fsync 2> {work}/dd; done"],
	"python": ["python3", "-c", "import time, threading\nfor _ in range(30): threading.Thread(target=lambda: [time.sleep(0.002) for _ in range(30000)], daemon=True).start()\ntime.sleep(60)"],
	"nginx and wrk": ["bash", "-c", SERVED],
	**{f"stress-ng {name}": ["stress-ng", "--quiet", "--temp-path", "{work}", f"--{name}", "2", "-t", "60"] for name in STRESSED},
}


def compared(name, command):
	directory = e2e.work / "kept"
	trace = e2e.Trace(directory)

	def recorded():
		with open(e2e.work / "log", "w", encoding="utf-8") as log:
			load = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
		try:
			time.sleep(1)
			if not e2e.expect(load.poll() is None, f"{name}: ended: {(e2e.work / 'log').read_text(errors='replace')[-200:]}"):
				return load, None
			done = e2e.run(e2e.monitor, "top", "--json", "--user", "--no-calibration", "--details", load.pid, "-d", "500ms", "-n", 4, "-o", directory, "--force",
			               "--buffer", "128M", "-m", live_windows.COUNTERS)
		finally:
			with contextlib.suppress(ProcessLookupError):  # it has ended
				os.killpg(load.pid, signal.SIGKILL)
			load.wait()
		return load, [json.loads(line) for line in done.stdout.splitlines()]

	load, refreshes = e2e.until_undisturbed(recorded, lambda made: made[1] and live_windows.disturbance(trace), 5)
	if refreshes is None:
		return
	before = e2e.failures
	windows = live_windows.compare("process", refreshes, trace)
	# A trace without activities has no report of them.
	tables = ("calls", "activities") if name == "activities" else ("calls",)
	seen = live_windows.compare_details(refreshes, trace, load.pid, tables)
	events = sum(each["machine"]["events"] for each in refreshes)
	print(f"{name}: {windows} windows, {events} events, {seen['calls']} calls and {seen['activities']} activities of the load's first process, lost {trace.summary()['lost']}, "
	      f"{e2e.failures - before} differences", flush=True)


def all_loads():
	wanted, tried = sys.argv[4:], 0
	for name, command in LOADS.items():
		if wanted and name not in wanted:
			continue
		command = [word.format(programs=e2e.programs, work=e2e.work) for word in command]
		if not all(shutil.which(word) for word in [command[0], *(name.split(" and ") if " and " in name else [])]):
			print(f"{name}: not tried: not installed")
			continue
		compared(name, command)
		tried += 1
	print(f"{tried} loads")


e2e.need_recording()
e2e.main(all_loads)
