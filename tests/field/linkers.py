#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events and stacks of a program do not depend on what linked it: -flto lost what only assembler names, ld.lld's --gc-sections
what only the linker names, and its layout, in which pages of the file are mapped twice, the way from an address to a function."""
import pathlib
import shutil
import sys

import e2e

KERNEL_HEADERS = ("-idirafter", "/usr/include", "-idirafter", "/usr/include/x86_64-linux-gnu")
LLD = "-fuse-ld=lld"
KINDS = {
    "gcc": ("gcc", "-O2"), "static": ("gcc", "-O2", "-static"), "static-pie": ("gcc", "-O2", "-static-pie"),
    "gcc -flto": ("gcc", "-O2", "-flto"), "gcc --gc-sections": ("gcc", "-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"),
    "gold": ("gcc", "-O2", "-fuse-ld=gold", "-Wl,--gc-sections"), "lld": ("clang", "-O2", LLD), "gcc with lld": ("gcc", "-O2", LLD),
    "lld --gc-sections": ("clang", "-O2", "-ffunction-sections", LLD, "-Wl,--gc-sections", "-Wl,--icf=all"),
    "clang -flto": ("clang", "-O2", "-flto", LLD), "clang -flto=thin": ("clang", "-O2", "-flto=thin", LLD, "-Wl,--gc-sections"),
    "lld, huge pages": ("clang", "-O2", LLD, "-Wl,-z,max-page-size=2097152"), "musl": ("musl-gcc", "-O2", *KERNEL_HEADERS),
    "musl -static": ("musl-gcc", "-O2", "-static", *KERNEL_HEADERS)}


def programs():
	"""What could be linked here, by its kind."""
	source = pathlib.Path(__file__).with_suffix(".c")
	for kind, (compiler, *options) in KINDS.items():
		if not shutil.which(compiler) or LLD in options and not shutil.which("ld.lld"):
			e2e.leave_out(kind, f"{compiler if shutil.which('ld.lld') else 'ld.lld'} is not installed")
			continue
		program = e2e.work / kind.replace(" ", "_").replace(",", "")
		e2e.run(compiler, "-std=gnu11", "-g", f"-I{sys.argv[4]}/include", *options, source, "-o", program, "-pthread")
		yield kind, program


def events_and_stacks():
	for kind, program in programs():
		trace = e2e.record(f"{program.name}.trace", "-p", "cmd", "--stacks=cpu", command=(program, 300_000))
		trace.expect_true()
		places = [row["place"] for row in trace.query("SELECT place FROM mark ORDER BY time_ns")]
		e2e.equal(f"{kind}: places of events", places, [1, 2, 3])
		e2e.equal(f"{kind}: activities", [(row["activity"], row["count"]) for row in trace.rows("activities")], [("job", 1)])
		if "musl" in kind or "static" in kind:
			continue # what they are started by has other frames
		folded = e2e.run(e2e.monitor, "report", trace.directory, "stacks", "--command", "--folded").stdout
		stacks = [line.rsplit(" ", 1) for line in folded.splitlines() if ";hot " in line + " "]
		total = sum(int(count) for _, count in stacks)
		whole = sum(int(count) for frames, count in stacks if ";outer;hot" in frames and "main" in frames)
		# The first may come before the program's tables are read.
		e2e.expect(total > 4 and whole >= 0.9 * total, f"{kind}: {whole} of {total} stacks in hot() reach main:\n{folded[:600]}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(events_and_stacks)
