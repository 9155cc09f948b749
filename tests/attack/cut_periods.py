#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A file of statistics that was cut at the end of a packet, as a power cut or somebody does: reports and the check say so.
One whose recorder wrote no end marks is not witnessed, and never red for that. An attack on the completeness of files.
"""
import os

import e2e

BLOCK = 4096


def cut(trace, name):
	copy = trace.copy(name)
	file = sorted(copy.directory.glob("statistics_*"))[1]
	blocks = file.stat().st_size // BLOCK
	e2e.expect(blocks > 1, f"{file} has {blocks} packets")
	os.truncate(file, BLOCK * max(blocks // 2, 1))
	return copy, file.name


def unmarked(trace, name):
	"""As a recorder wrote it that knows no end marks."""
	copy = trace.copy(name)
	metadata = copy.directory / "metadata"
	metadata.write_text(metadata.read_text().replace("\tmarked_periods = 1;\n", ""))
	for file in copy.directory.glob("statistics_*"):
		os.truncate(file, file.stat().st_size - BLOCK)
	return copy


def verdict(trace):
	return {statement["verdict"] for statement in trace.statements if statement["id"] == "period_ends"}


def cut_files():
	for name, options in (("sums", ()), ("counts", ("--count-only",))):
		with e2e.Load(("sh", "-c", "while :; do /bin/true; done")):
			trace = e2e.record(name, "--statistics", "1s", "-d", "3.5", *options)
		trace.expect_true()
		e2e.equal(f"{name}: end marks", verdict(trace), {"ok"})
		damaged, file = cut(trace, f"{name}_cut")
		e2e.expect("streams" in damaged.check(), f"{name}: the check of a cut file is green")
		said = e2e.run(e2e.monitor, *(("stat",) if options else ("report",)), damaged.directory, exit_code=1).stderr
		e2e.expect(file in said and "end of the file is missing" in said, f"{name}: {said}")
		before = unmarked(trace, f"{name}_before")
		before.expect_true()
		e2e.equal(f"{name}: without marks", verdict(before), {"not witnessed"})


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(cut_files)
