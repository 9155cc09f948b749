#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `monitor info`, `check` and `stat` say of the same traces goes together. summary.py MONITOR GOLDEN_TRACES"""
import csv
import io
import json
import pathlib
import re
import subprocess
import sys

MONITOR, GOLDEN = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*words):
	return subprocess.run([MONITOR, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def expect(holds, what):
	if not holds:
		sys.exit(f"not so: {what}")


def damaged():
	"""Info tells of damage as list does."""
	listed, told = run("list", GOLDEN / "damaged"), run("info", GOLDEN / "damaged")
	expect(told.returncode == listed.returncode == 1 and told.stderr == listed.stderr != "", f"info of damage: {told}")
	expect("lost unknown" in told.stdout, f"losses: {told.stdout}")
	expect(run("info", GOLDEN / "basic").returncode == 0, "what is whole is no error")


def counts():
	"""Of several traces: check counts the recorders' own events, info does not."""
	traces = [GOLDEN / "basic", GOLDEN / "one"]
	checked, info = run("check", *traces), json.loads(run("info", "--json", *traces).stdout)
	found = re.search(r"(\d+) events were read, (\d+) of them the recorders' own", checked.stdout)
	expect(found and int(found[2]) > 0, f"what is counted: {checked.stdout}")
	expect(int(found[1]) - int(found[2]) == info["summary"]["tokens"], f"{found[0]}, info: {info['summary']}")


def digits():
	"""CSV has all digits that JSON has."""
	rows = [run("stat", GOLDEN / "basic", form).stdout for form in ("--csv", "--json")]
	for row, other in zip(csv.DictReader(io.StringIO(rows[0])), json.loads(rows[1]), strict=True):
		for name, value in row.items():
			expect(value == "" and other[name] is None or value == other[name] or float(value) == other[name],
			       f"{name} is {value} in CSV, {other[name]} in JSON")


damaged()
counts()
digits()
print("ok")
