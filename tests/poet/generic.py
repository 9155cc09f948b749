#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""POET reads the traces of tests/ctf: all ways of reading one agree, and give what `monitor list --json` prints.
Called by ctest: described.py POET_CHECK MONITOR WORK_DIRECTORY"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ctf"))
from cases import BEYOND, CASES  # after its place

KEYS = ("time_ns", "ticks", "cpu", "level", "mode", "event")


def leaves(value, name=""):
	"""The fields below a structure, with their names dotted."""
	if not isinstance(value, dict):
		return {name: value}
	return {dotted: leaf for key, below in value.items()
	        for dotted, leaf in leaves(below, f"{name}.{key}" if name else key).items()}


def is_number_of(parts, text):
	"""Of more than 64 bits: its bytes or its bits, from either end."""
	return any(sum(part << size * at for at, part in enumerate(order)) == int(text, 16)
	           for order in (parts, parts[::-1]) for size in (1, 8))


def same(poet, listed):
	if isinstance(listed, str) and listed.startswith("0x") and isinstance(poet, list):
		return is_number_of(poet, listed)
	if isinstance(listed, list):  # elements that are no values are null, and numbers in lists have no labels
		return isinstance(poet, list) and len(poet) == len(listed) and all(
			one is None and isinstance(other, (dict, list, str)) or isinstance(one, int) and isinstance(other, str)
			or same(one, other) for one, other in zip(poet, listed))
	if isinstance(listed, str) and isinstance(poet, str):  # how many signs stand for broken bytes is open
		return re.sub("\ufffd+", "\ufffd", poet) == re.sub("\ufffd+", "\ufffd", listed)
	if isinstance(poet, float) and isinstance(listed, int):  # 2.0 is printed as 2
		return poet == listed
	return type(poet) is type(listed) and poet == listed


def difference(poet, listed):
	for key in KEYS:
		if poet[key] != listed[key]:
			return f"{key} is {poet[key]!r} in POET and {listed[key]!r} in the list"
	fields = leaves(listed["fields"])
	for name, value in leaves(listed.get("context", {})).items():
		fields[f"context.{name}" if name in fields else name] = value
	if sorted(fields) != sorted(poet["fields"]):
		return f"the fields are {sorted(poet['fields'])} in POET and {sorted(fields)} in the list"
	for name, value in fields.items():
		if not same(poet["fields"][name], value):
			return f"{name} is {poet['fields'][name]!r} in POET and {value!r} in the list"
	return None


def lines_of(*command):
	ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
	if ran.returncode != 0:
		raise ValueError(f"{command[0]} ended with {ran.returncode}: {ran.stderr}")
	return [json.loads(line) for line in ran.stdout.splitlines()]


def wrong(poet_check, monitor, directory):
	try:
		listed, poet = lines_of(monitor, "list", "--json", directory), lines_of(poet_check, directory)
	except ValueError as error:
		return str(error)
	if len(listed) != len(poet):
		return f"POET reads {len(poet)} events, the list has {len(listed)}"
	for number, (one, other) in enumerate(zip(poet, listed)):
		if sentence := difference(one, other):
			return f"event {number}: {sentence}"
	return None


def main(poet_check, monitor, work):
	shutil.rmtree(work, ignore_errors=True)
	failed = 0
	for name, write in {**CASES, **BEYOND}.items():
		directory = pathlib.Path(work) / name
		write(directory)
		if sentence := wrong(poet_check, monitor, str(directory)):
			print(f"FAILED {name}: {sentence}")
			failed += 1
	print(f"{len(CASES) + len(BEYOND)} traces, {failed} failed")
	return 1 if failed else 0


if __name__ == "__main__":
	sys.exit(main(*sys.argv[1:]))
