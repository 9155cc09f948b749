#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A library that is closed, and another one that comes to its address: what is computed in each has its own name, as plug-ins
are loaded and unloaded (HPCToolkit issue 321, google/sanitizers issue 89)."""
import pathlib

import e2e


def plug_ins():
	program = e2e.compiled("same_address.c", "-ldl")
	libraries = [e2e.work / "a.so", e2e.work / "b.so"]
	for library in libraries:
		e2e.run("gcc", "-O1", "-g", "-shared", "-fPIC", f"-DFUNCTION=spin_in_{library.stem}", pathlib.Path(__file__).with_suffix(".c"), "-o", library)
	trace = e2e.record("trace", "--stacks=cpu", "--rate", "1999", command=(program, *libraries))
	if len(set(trace.output.split())) != 1:
		e2e.skip(f"the libraries came to several addresses: {trace.output.split()}")
	folded = e2e.run(e2e.reader, "report", trace.directory, "stacks", "--command", "--folded").stdout.splitlines()
	samples = {name: sum(int(line.rsplit(" ", 1)[1]) for line in folded if f"spin_in_{name}" in line) for name in "ab"}
	of_all = sum(int(line.rsplit(" ", 1)[1]) for line in folded)
	e2e.near("samples in b for each in a", samples["b"] / max(1, samples["a"]), 2, part=0.1)
	e2e.near("samples with one of both names", sum(samples.values()), of_all, part=0.05)
	trace.expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(plug_ins)
