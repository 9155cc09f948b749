#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What was set for the recorder holds, for it and for its command: reports of BigDataScript (issue 148) and dotnet, whose programs
handle SIGHUP although nohup(1) ignored it, and of WSL (10798). A terminal that goes away does not end a recording under nohup."""
import signal
import subprocess
import time

import e2e

SET = (signal.SIGHUP, signal.SIGPIPE, signal.SIGQUIT)


def surroundings():
	for number in SET:
		signal.signal(number, signal.SIG_IGN)
	signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGWINCH])


def goes_on():
	"""Each is sent SIGHUP when it runs, and ends as it was told to."""
	for name, words, running in (("record", ("record", "-d", "3"), "recorder"), ("statistics", ("record", "--statistics", "1s", "-d", "3"), ""),
	                             ("flight", ("record", "--flight=16M", "-d", "3"), ""), ("top", ("top", "--batch", "-n", "4"), None)):
		directory = e2e.work / name
		where = () if running is None else ("-o", directory)
		process = subprocess.Popen([str(word) for word in (e2e.monitor, *words, "--no-calibration", *where)], preexec_fn=surroundings,
		                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
		if running is None:
			process.stdout.readline()
		else:
			for _ in range(3000):
				if process.poll() is not None or directory.exists() and any(directory.iterdir()):
					break
				time.sleep(0.01)
		process.send_signal(signal.SIGHUP)
		output, errors = process.communicate(timeout=60)
		e2e.expect(process.returncode == 0 and "SIGHUP" not in errors, f"{name}: {process.returncode} {errors}")


def of_the_command():
	read = ("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")
	alone = subprocess.run(read, preexec_fn=surroundings, stdout=subprocess.PIPE, text=True, check=True).stdout
	for name, options in (("plain", ()), ("command", ("-p", "cmd", "--stacks")), ("user", ("--user-only",)), ("flight", ("--flight=16M",))):
		trace = e2e.record(f"of-{name}", *options, command=read, preexec_fn=surroundings)
		e2e.equal(f"{name}: signals of the command", trace.output, alone)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(goes_on, of_the_command)
