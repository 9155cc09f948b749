# SPDX-License-Identifier: MIT
"""Threads that compute: only one of them at a time, for the interpreter has one lock."""
import sys
import threading

sys.setswitchinterval(0.002)


def compute():
	total = 0
	for number in range(3_000_000):
		total += number * number


threads = [threading.Thread(target=compute) for _ in range(3)]
for thread in threads:
	thread.start()
for thread in threads:
	thread.join()
