#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A process that was in a system call before the recording started and stays in it: its time is the kernel's, as the timer
shows, and not unknown (perf trace and strace show such calls as unfinished)."""
import subprocess
import sys

import e2e

# Calls of some seconds each.
READER = """
import os
source, part = os.open("/dev/urandom", os.O_RDONLY), bytearray(8 << 20)
while True:
	os.readv(source, [part] * 255)
"""


def in_the_kernel():
	with subprocess.Popen([sys.executable, "-c", READER]) as reader:
		try:
			trace = e2e.record("call", "-d", 0.5)
		finally:
			reader.kill()
	rows = trace.rows(pid=reader.pid)
	e2e.expect(len(rows) == 1, "its row")
	for row in rows:
		e2e.expect(row["kernel_percent"] > 80, f"kernel {row['kernel_percent']:.1f} %, unknown {row['unknown_percent']:.1f} %")
	trace.expect_sound()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(in_the_kernel)
