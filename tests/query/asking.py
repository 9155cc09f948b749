# SPDX-License-Identifier: MIT
"""What the tests of queries share: ask the monitor, and the same of `monitor list --json` in Python."""
import json
import subprocess
import sys

failures = 0


def expect(holds, sentence):
	global failures
	if not holds:
		failures += 1
		print(f"FAILED: {sentence[:3000]}")
	return bool(holds)


def run(*command, **more):
	return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
	                      check=False, **more)


def ask(monitor, trace, sql, *options, exit_codes=(0,)):
	"""The rows of the answer, as dicts."""
	done = run(monitor, "query", trace, "--json", *options, "--", sql)
	if not expect(done.returncode in exit_codes, f"{trace}: {sql}: exit code {done.returncode}: {done.stderr.decode()}"):
		return []
	return json.loads(done.stdout)


def listed(monitor, trace, *options):
	"""All events of `monitor list --json`."""
	lines = run(monitor, "list", "--json", *options, trace).stdout.decode().splitlines()
	return [json.loads(line) for line in lines]


def quoted(name):
	return '"' + name.replace('"', '""') + '"'


def signed(value):
	"""An integer as SQL has it."""
	return value - (1 << 64) if isinstance(value, int) and value >= 1 << 63 else value


def end():
	print("all holds" if not failures else f"{failures} do not hold")
	sys.exit(1 if failures else 0)
