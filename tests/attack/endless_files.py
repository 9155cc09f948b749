#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that never end, or never begin: a FIFO without a writer, /proc/kmsg, /dev/zero where a text is read. And a directory
that is swapped for a link while a recording with stacks starts. An error, not a hang.
"""
import os
import subprocess
import time

import e2e


def texts():
	fifo = e2e.work / "fifo"
	os.mkfifo(fifo)
	for path in (fifo, "/proc/kmsg", "/dev/zero", "/dev/tty", e2e.work):
		for command in (("record", "--no-calibration", "-d", "0.1", "-o", e2e.work / "never", "--triggers", path), ("trigger", path),
		                ("record", "--no-calibration", "-d", "0.1", "-o", e2e.work / "never", "--states", path),
		                ("record", "--no-calibration", "-d", "0.1", "-o", e2e.work / "never", "--functions", f"{path}:*")):
			try:
				done = e2e.run(e2e.monitor, *command, exit_code=None, timeout=20)
			except subprocess.TimeoutExpired:
				e2e.expect(False, f"{' '.join(map(str, command))} hangs")
				continue
			e2e.expect(done.returncode in (1, 125) and done.stderr.startswith("monitor: "), f"{command}: {done.returncode} {done.stderr}")


SWAPS = """if True:
	import os, sys, time
	directory, to, end = sys.argv[1], sys.argv[2], time.time() + float(sys.argv[3])
	while time.time() < end:
		try:
			os.rename(directory, f"{directory}.{time.time_ns()}")
			os.symlink(to, directory)
		except OSError:
			pass
		try:
			os.unlink(directory)
		except OSError:
			pass
"""


def swapped():
	public, victim = e2e.work / "public", e2e.work / "victim"
	public.mkdir()
	victim.mkdir()
	os.chmod(public, 0o1777)
	if not e2e.others_may_enter("a directory that its user swaps", public):
		return
	for _ in range(6):
		swapper = subprocess.Popen(["/usr/bin/python3", "-c", SWAPS, public / "trace", victim, "2"], user=65534, group=65534, extra_groups=[])
		recorder = subprocess.Popen([e2e.monitor, "record", "--no-calibration", "--stacks", "-d", "0.2", "-o", public / "trace"],
		                            stderr=subprocess.DEVNULL, env=dict(os.environ, SUDO_UID="65534", SUDO_GID="65534"))
		try:
			recorder.wait(timeout=20)
		except subprocess.TimeoutExpired:
			e2e.expect(False, "the recorder never ends")
			recorder.kill()
			recorder.wait()
		swapper.wait()
		e2e.equal("files in the other directory", list(victim.iterdir()), [])
		time.sleep(0.1)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(texts, swapped)
