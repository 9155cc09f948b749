#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A service that goes on is recorded again, after recordings that ended, that were killed, and by which it was started: users of
magic-trace (pull 130) and uftrace (pull 1883) found that what was traced once cannot be traced again. And a program that may
lock little memory still can."""
import os
import signal
import subprocess
import sys
import time

import e2e


SECONDS = 0.3


def compiled():
	return e2e.compiled("recorded_again.c", f"-I{sys.argv[4]}/include", "-pthread")


def expect_beats(name, trace, threads, losing=False):
	"""From each thread some, and none is missing between its first and its last."""
	trace.expect_true()
	rows = trace.query("SELECT tid, count(*) n, min(number) first, max(number) last, min(time_ns) start, max(time_ns) end FROM beat GROUP BY tid")
	e2e.expect(len(rows) == threads or (losing and rows), f"{name}: {len(rows)} threads of {threads}") # what is lost may be all of one
	seconds = (max(row["end"] for row in rows) - min(row["start"] for row in rows)) / 1e9
	e2e.expect(seconds > SECONDS / 2, f"{name}: the card was on for {seconds} s of {SECONDS}")
	for row in rows:
		e2e.expect(row["n"] > 10, f"{name}: {row}")
		if not losing:
			e2e.equal(f"{name}: events of thread {row['tid']}", row["n"], row["last"] - row["first"] + 1)


def again():
	program = compiled()
	for threads, nap_us in ((4, 1000), (4, 0)):
		service = subprocess.Popen([program, str(threads), str(nap_us)])
		try:
			for number in range(4):
				name = f"{threads}-{nap_us}-{number}"
				if number == 2:
					recorder = e2e.Recorder(name, "--user").wait_until_recording()
					time.sleep(0.5)
					recorder.process.kill()
					recorder.process.communicate()
				else:
					expect_beats(name, e2e.record(name, "--user", "-d", SECONDS), threads, losing=not nap_us)
			e2e.expect(service.poll() is None, f"the service of {threads} threads ended: {service.poll()}")
		finally:
			service.kill()
			service.wait()


def started_by_a_recording():
	program = compiled()
	first = e2e.record("first", "--user-only", command=("sh", "-c", f"{program} 2 1000 > {e2e.work}/out 2>&1 & echo pid=$!; sleep 0.5"))
	pid = e2e.values(first.output)["pid"]
	try:
		expect_beats("first", first, 2)
		expect_beats("second", e2e.record("second", "--user", "-d", SECONDS), 2)
	finally:
		os.kill(pid, signal.SIGKILL)


def one_that_is_being_recorded():
	"""Another recorder takes none of its programs."""
	program = compiled()
	private = e2e.Recorder("private", "-p", "cmd", command=(program, "1", "1000")).wait_until_recording()
	time.sleep(0.2)
	other = e2e.record("other", "--user", "-d", SECONDS)
	e2e.equal("events in another's recording", len(other.query("SELECT name FROM events WHERE name = 'beat'")), 0)
	expect_beats("private", private.end(exit_code=130), 1)


def locked_memory():
	program = compiled()
	limits = ("setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", "prlimit", "--memlock=8388608:8388608", program)
	for how in ("lock", "lock-later"):
		alone = e2e.run(*limits, how).stdout
		trace = e2e.record(how, "--user-only", command=("sh", "-c", " ".join(map(str, (*limits, how))) + "; sleep 0.5"))
		trace.expect_true()
		e2e.equal(f"{how}: what the program says", trace.output, alone)
		e2e.expect(len(trace.query("SELECT number FROM beat")) > 150, f"{how}: events")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(again, started_by_a_recording, one_that_is_being_recorded, locked_memory)
