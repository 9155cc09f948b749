#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recorder in a container with its own process numbers: a number that a probe gives is another process's there, so no
signal is sent to it, no command is told it, and the trace does not take the recorder for a process of the host."""
import json
import os
import signal
import subprocess

import e2e

INSIDE = ("unshare", "--pid", "--fork", "--mount-proc")


def no_signal():
	done = e2e.run(*INSIDE, e2e.monitor, "record", "--no-calibration", "-d", "1", "-o", e2e.work / "signal", "--trigger",
	               'name == "sys_enter" and id == "getppid" => signal USR1', exit_code=None)
	e2e.equal("exit code", done.returncode, 125)
	e2e.expect("its own process numbers" in done.stderr, done.stderr)


def no_numbers():
	said = e2e.work / "said"
	script = f"env > {said}.new; mv {said}.new {said}"
	recorder = e2e.Recorder("run", "--trigger", f'name == "sys_enter" and id == "getppid" => run "{script}"', before=INSIDE).wait_until_recording()
	e2e.run(e2e.workload, "getppid", 10)
	for _ in range(100):
		if said.exists():
			break
		subprocess.run(["sleep", "0.1"], check=True)
	with open(f"/proc/{recorder.process.pid}/task/{recorder.process.pid}/children", encoding="ascii") as children:
		os.kill(int(children.read().split()[0]), signal.SIGINT)
	trace = recorder.end(number=None)
	environment = dict(line.split("=", 1) for line in said.read_text().splitlines() if "=" in line)
	e2e.equal("event", environment.get("MONITOR_EVENT"), "sys_enter")
	e2e.equal("numbers", {name for name in environment if name in ("MONITOR_PID", "MONITOR_TID")}, set())
	e2e.expect("pid" not in trace.recording()["recorder"], "the trace has a number for the recorder")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(no_signal, no_numbers)
