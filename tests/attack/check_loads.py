#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A hundred recordings of ordinary and odd loads, in each way to record those that are oddest: `check` calls none of them false,
and no recorder fails or hangs. What stress-ng does is left out where it is not installed."""
import os
import shutil
import sys

import e2e

SECONDS = "1.2"
KINDS = ("execthread vfork signals rt affinity ptrace futex pipes rename faults segv killed exitgroup leaderexit stopcont restart "
         "timers numbers yield daemon").split()
STRESSED = ("cpu fork vfork clone context switch futex sem pipe sigq timer itimer nanosleep mmap epoll exec pthread yield zombie daemon "
            "ptrace seccomp schedpolicy cyclic sleep mq eventfd kill resched loop rseq membarrier vm hdd udp wait fault brk").split()
WAYS = (("-p", "cmd"), ("--stacks",), ("--statistics", "1s"), ("--count-only", "--statistics", "1s"), ("--states", "thread"),
        ("-m", "software"), ("--sample-every", "3ms"), ("--user",), ("-p", "cmd", "--filter", "ret < 0"))
THREADS = "import threading, time\nfor _ in range(20): threading.Thread(target=lambda: [time.sleep(0.0002) for _ in range(2000)]).start()"


def judged(what, *options, command):
	directory = e2e.work / "trace"
	shutil.rmtree(directory, ignore_errors=True)
	done = e2e.run(e2e.monitor, "record", "--no-calibration", *options, "-o", directory, "--", *command, exit_code=None, timeout=60)
	if not e2e.expect(done.returncode < 125, f"{what} {options}: record: exit code {done.returncode}: {done.stderr[-300:]}"):
		return
	trace = e2e.Trace(directory)
	red = trace.check() - {"clock"}
	said = [statement["text"] for statement in trace.statements
	        if statement["verdict"] == "FAILS" and statement["id"] in red or statement["id"] == "cpu_time_beside_hidden"]
	e2e.expect(not red, f"{what} {options}: check: {said}")


def ordinary():
	make = e2e.work / "Makefile"
	make.write_text(f"all: {' '.join(f'o{number}' for number in range(12))}\no%:\n\tgcc -O1 -w -c -o $@ {os.path.abspath(__file__)[:-3]}.c\n")
	judged("make", command=("make", "-s", "-C", e2e.work, "-j4"))
	judged("forks", command=("bash", "-c", "for i in $(seq 1500); do /bin/true & done; wait"))
	judged("sleep", command=("sleep", "1"))
	judged("dd", command=("dd", "if=/dev/zero", f"of={e2e.work}/zeros", "bs=4k", "count=40000", "conv=fsync"))
	judged("find", command=("find", "/usr", "-name", "x"))
	judged("threads", command=(sys.executable, "-c", THREADS))


def odd():
	program = e2e.compiled("check_loads.c", "-pthread")
	for kind in KINDS:
		judged(kind, command=(program, kind, SECONDS))
	for options in WAYS:
		for kind in ("execthread", "killed", "rename", "vfork"):
			judged(kind, *options, command=(program, kind, SECONDS))


def stressed():
	e2e.need_program("stress-ng")
	for kind in STRESSED:
		judged(f"stress-ng --{kind}", command=("stress-ng", "--quiet", f"--{kind}", "2", "--timeout", "2s", "--temp-path", e2e.work))


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(ordinary, odd, stressed)
