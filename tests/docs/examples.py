#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the examples of a tutorial: its blocks marked "```sh run", in order, in one temporary directory, with `monitor`
on PATH. A block must end with 0; each "<!-- expect: REGEX -->" after it must match in what it printed.
Called by ctest: examples.py MONITOR TUTORIAL"""

import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```sh run\n(.*?)^```$(.*?)(?=^```sh run$|\Z)", re.M | re.S)
EXPECT = re.compile(r"^<!-- expect: (.*?) -->$", re.M)


def missing(monitor, blocks):
	"""Why the examples cannot run here, or None."""
	if not any("monitor record" in script for script, _ in blocks):
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


def run_block(number, script, after, environment, directory):
	print(f"== block {number}\n{script}", end="", flush=True)
	ran = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=directory, env=environment, text=True,
			     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=60)
	print(ran.stdout, flush=True)
	wrong = [f"nothing matches {pattern}" for pattern in EXPECT.findall(after)
		 if not re.search(pattern, ran.stdout, re.M)]
	if ran.returncode != 0:
		wrong.append(f"ended with {ran.returncode}")
	return [f"block {number}: {sentence}" for sentence in wrong]


def main(monitor, tutorial):
	with open(tutorial, encoding="utf-8") as file:
		blocks = BLOCK.findall(file.read())
	reason = missing(monitor, blocks)
	if reason:
		print(reason)
		return 77
	errors = [] if blocks else ["there is no block to run"]
	environment = {name: value for name, value in os.environ.items() if not name.startswith("SUDO_")}
	with tempfile.TemporaryDirectory() as tools, tempfile.TemporaryDirectory() as directory:
		environment["PATH"] = make_path(monitor, tools)
		for number, (script, after) in enumerate(blocks, 1):
			errors += run_block(number, script, after, environment, directory)
			if errors:
				break
	print("\n".join(errors))
	return 1 if errors else 0


if __name__ == "__main__":
	sys.exit(main(*sys.argv[1:]))
