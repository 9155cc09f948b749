#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the examples of a tutorial: its blocks marked "```sh run", in order, in one temporary directory, with `monitor`
on PATH. A block must end with 0; each "<!-- expect: REGEX -->" after it must match in what it printed. What blocks leave
in the background ends with the last one.
Called by ctest: examples.py MONITOR TUTORIAL"""

import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BLOCK = re.compile(r"^```sh run\n(.*?)^```$(.*?)(?=^```sh run$|\Z)", re.M | re.S)
EXPECT = re.compile(r"^<!-- expect: (.*?) -->$", re.M)


def missing(monitor, blocks):
	"""Why the examples cannot run here, or None."""
	text = "".join(script for script, _ in blocks)
	if "nats-server" in text and not shutil.which("nats-server"):
		return "nats-server is not installed"
	if "monitor fleet" in text and b"this build has no" in subprocess.run([monitor, "fleet"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, check=False).stderr:
		return "this build has no fleet"
	if "monitor agent" in text:
		place = pathlib.Path(tempfile.gettempdir()).resolve()
		closed = [str(directory) for directory in (*reversed(place.parents), place) if not directory.stat().st_mode & 0o001]
		if closed:
			return f"the directory {closed[0]} is closed to others, and one part of an agent is another user"
	if not any(word in text for word in ("monitor record", "monitor agent")):
		return None
	described = subprocess.run([monitor, "record", "--help"], stdout=subprocess.PIPE, check=True).stdout
	if b"left out of this build" in described:
		return "this build reads traces only: the examples record"
	if os.geteuid() != 0:
		return "not root: the examples record"
	if not os.access("/sys/kernel/btf/vmlinux", os.R_OK):
		return "no /sys/kernel/btf/vmlinux: nothing can be recorded here"
	return None


def make_path(monitor, directory):
	"""A directory with `monitor`, and a `sudo` that keeps PATH: the test is root already."""
	os.symlink(os.path.abspath(monitor), os.path.join(directory, "monitor"))
	sudo = os.path.join(directory, "sudo")
	with open(sudo, "w", encoding="utf-8") as file:
		file.write('#!/bin/sh\nexec "$@"\n')
	os.chmod(sudo, 0o755)
	return directory + os.pathsep + os.environ["PATH"]


# A `head` that reads to the end: one that stops early ends what writes to it with SIGPIPE, or does not, by chance.
HEAD = 'head() { command head "$@"; cat > /dev/null; }\n'


LONGEST_S = 300  # ends what hangs; beside other load a block takes many times what it takes alone


def run_block(number, script, after, environment, directory):
	print(f"== block {number}\n{script}", end="", flush=True)
	ran = subprocess.Popen(["bash", "-euo", "pipefail", "-c", HEAD + script], cwd=directory, env=environment, text=True,
			       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
	try:
		output, wrong = ran.communicate(timeout=LONGEST_S)[0], []
	except subprocess.TimeoutExpired:
		os.killpg(ran.pid, signal.SIGKILL)  # what it had started holds the pipe open
		output, wrong = ran.communicate()[0], [f"does not end within {LONGEST_S} s"]
	print(output, flush=True)
	if ran.returncode != 0 and not wrong:
		wrong.append(f"ended with {ran.returncode}")
	wrong += [f"nothing matches {pattern}" for pattern in EXPECT.findall(after) if not re.search(pattern, output, re.M)]
	if wrong:
		show_logs(directory)
	return [f"block {number}: {sentence}" for sentence in wrong]


def show_logs(directory):
	"""What programs in the background said, and this one."""
	for log in sorted(pathlib.Path(directory).glob("*.log")):
		lines = log.read_text(errors="replace").splitlines()
		print(f"== the end of {log.name}", *lines[-15:], sep="\n", flush=True)


def adopt():
	"""From now on this is the parent of what a block leaves behind."""
	ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER


def end_children():
	"""Of children that end theirs are next."""
	for number in (signal.SIGTERM, signal.SIGKILL):
		deadline = time.monotonic() + 5
		while time.monotonic() < deadline:
			with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
				children = [int(word) for word in file.read().split()]
			if not children:
				return
			for child in children:
				os.kill(child, number)
			time.sleep(0.05)
			for child in children:
				os.waitpid(child, os.WNOHANG)


def main(monitor, tutorial):
	with open(tutorial, encoding="utf-8") as file:
		blocks = BLOCK.findall(file.read())
	reason = missing(monitor, blocks)
	if reason:
		print(reason)
		return 77
	errors = [] if blocks else ["there is no block to run"]
	adopt()
	environment = {name: value for name, value in os.environ.items() if not name.startswith("SUDO_")}
	with tempfile.TemporaryDirectory() as tools, tempfile.TemporaryDirectory() as directory:
		environment["PATH"] = make_path(monitor, tools)
		try:
			for number, (script, after) in enumerate(blocks, 1):
				errors += run_block(number, script, after, environment, directory)
				if errors:
					break
		finally:
			end_children()
	print("\n".join(errors))
	return 1 if errors else 0


if __name__ == "__main__":
	sys.exit(main(*sys.argv[1:]))
