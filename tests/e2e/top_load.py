# SPDX-License-Identifier: MIT
"""What top.py and top_screen.py run besides monitor top, and how they read what it prints."""
import glob
import json
import os
import signal
import subprocess
import sys

import e2e

# What runs besides the test: threads that sleep, wake each other, fork, fault and call.
LOAD = """
import os, threading, time
end = time.monotonic() + %f
def pipes():
	a, b = os.pipe(), os.pipe()
	if os.fork() == 0:
		while os.read(a[0], 1): os.write(b[1], b"x")
		os._exit(0)
	while time.monotonic() < end:
		os.write(a[1], b"x"); os.read(b[0], 1)
		if int(time.monotonic() * 1000) & 3 == 0: time.sleep(0.001)
def sleeps():
	while time.monotonic() < end: time.sleep(0.003)
def forks():
	while time.monotonic() < end:
		if (child := os.fork()) == 0: os._exit(0)
		os.waitpid(child, 0)
		time.sleep(0.002)
def faults():
	while time.monotonic() < end: bytearray(1 << 22); time.sleep(0.001)
threads = [threading.Thread(target=each, daemon=True) for each in (sleeps, faults)]
for thread in threads: thread.start()
if os.fork() == 0:
	pipes(); os._exit(0)
forks()
"""


def load(seconds):
	return subprocess.Popen([sys.executable, "-c", LOAD % seconds], start_new_session=True)


def end(process):
	os.killpg(process.pid, signal.SIGKILL)
	process.wait()


def lines(*options, **more):
	done = e2e.run(e2e.monitor, "top", "--json", "--no-calibration", *options, **more)
	return [json.loads(line) for line in done.stdout.splitlines()]


def left_behind():
	return glob.glob(os.path.join(os.environ.get("TMPDIR", "/tmp"), "monitor-top-*"))
