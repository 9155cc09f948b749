#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording that another program starts, waits for and stops: the library's Recording, without the command."""
import os
import shutil
import signal
import tempfile

import e2e

CALLS = 3000


def driven():
	directory = e2e.work / "trace"
	done = e2e.run(os.path.join(e2e.programs, "driven"), directory, CALLS)
	said = dict(line.split("=", 1) for line in done.stdout.splitlines())
	e2e.equal("why it ended", said["stopped"], "the test has seen enough")
	trace = e2e.Trace(directory)
	trace.expect_true()
	recording = trace.recording()
	e2e.equal("its state", (recording["state"], recording["end_reason"]), ("complete", "the test has seen enough"))
	calls = [event for event in trace.events("--event", "sys_enter", "--tid", said["tid"]) if event["fields"]["id"] == "getppid"]
	e2e.equal("its calls", len(calls), CALLS)


def with_a_command():
	"""Stopped, the recording ends its command too, instead of waiting for it."""
	done = e2e.run(os.path.join(e2e.programs, "driven"), e2e.work / "command", 10, "sleep", 1000)
	e2e.equal("the command's exit code", dict(line.split("=", 1) for line in done.stdout.splitlines())["command"], str(128 + signal.SIGTERM))
	e2e.Trace(e2e.work / "command").expect_true()


def unprivileged():
	"""What cannot start throws, and leaves nothing."""
	if not e2e.others_may_enter("unprivileged", tempfile.gettempdir()):
		return
	with tempfile.TemporaryDirectory() as public:  # the test's own may be closed to others
		os.chmod(public, 0o777)
		directory = os.path.join(public, "nothing")
		program = shutil.copy(os.path.join(e2e.programs, "driven"), public)
		done = e2e.run("setpriv", "--reuid", "65534", "--clear-groups", program, directory, 1, exit_code=1)
		e2e.expect("recording needs root" in done.stderr, f"without root: {done.stderr}")
		e2e.expect(not os.path.exists(directory), "a directory is left")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.need_program("setpriv")
	e2e.main(driven, with_a_command, unprivileged)
