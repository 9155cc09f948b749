#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stacks of Go programs reach the start of their goroutines, across the stacks that Go changes to (opentelemetry-ebpf-profiler
issue 1275 and pull requests 1313, 1331, 1452, 1764: they end at systemstack, at morestack and at cgo; a caller is missing where
the callee has no frame). The judge is Go's own profile of the same run."""
import pathlib
import re
import shutil

import e2e

PLAIN = '//go:build !cgo\n\npackage main\n\nfunc more() {}\n'
WITH_C = '''//go:build cgo

package main

/*
extern void goBack(void);
__attribute__((noinline)) static unsigned long c_spin(unsigned long x) {
	for (unsigned long i = 0; i < 300000; i++)
		x = x * 6364136223846793005ul + i;
	return x;
}
__attribute__((noinline)) static void c_there(void) { goBack(); __asm__ volatile(""); }
*/
import "C"
import "time"

//export goBack
func goBack() { sink += hash(sink) }

//go:noinline
func call() {
	for end := time.Now().Add(each); time.Now().Before(end); {
		sink += uint64(C.c_spin(C.ulong(sink)))
	}
}

//go:noinline
func there() {
	for end := time.Now().Add(each); time.Now().Before(end); {
		C.c_there()
	}
}

func more() {
	call()
	there()
}
'''
KINDS = {"plain": (False, ()), "stripped": (False, ("-ldflags=-s -w",)), "cgo": (True, ()), "cgo, stripped": (True, ("-ldflags=-s -w",)),
         "cgo, PIE": (True, ("-buildmode=pie",)), "cgo, lld": (True, ("-ldflags=-linkmode=external -extldflags=-fuse-ld=lld",))}
WORK = ("leaf", "callers", "deep", "clock", "talk")


def built(kind, with_c, options):
	folder = e2e.work / re.sub(r"\W+", "_", kind)
	folder.mkdir()
	shutil.copy(pathlib.Path(__file__).with_suffix(".go"), folder / "main.go")
	(folder / "plain.go").write_text(PLAIN)
	(folder / "with_c.go").write_text(WITH_C)
	(folder / "go.mod").write_text("module load\ngo 1.18\n")
	environment = ("env", f"CGO_ENABLED={int(with_c)}", f"GOCACHE={e2e.work}/cache", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "CC=gcc")
	e2e.run(*environment, "nice", "go", "build", *options, "-o", folder / "load", ".", cwd=folder, timeout=500)
	return folder / "load"


def own_profile(program, profile):
	"""Percent of its samples within each function, as Go itself says."""
	text = e2e.run("go", "tool", "pprof", "-top", "-cum", "-nodecount=1000", program, profile).stdout
	return {name: float(percent) for percent, name in re.findall(r"([\d.]+)%  ([\w.]+)(?: \(inline\))?$", text, re.M)}


def part(stacks, function):
	"""Percent of the samples within it."""
	total = sum(count for _, count in stacks)
	return 100 * sum(count for frames, count in stacks if function in (frame.split(" ")[0] for frame in frames)) / max(total, 1)


def expect_callers(kind, stacks, function, *callers):
	"""The last ones that called it, each once."""
	of = [(frames, count) for frames, count in stacks if function in frames]
	right = sum(count for frames, count in of if frames[:frames.index(function)][-len(callers):] == list(callers))
	e2e.expect(of and right >= 0.95 * sum(count for _, count in of), f"{kind}: {right} samples in {function} are called by {callers}: {of[:3]}")


def like_its_own_profile():
	for kind, (with_c, options) in KINDS.items():
		if with_c and not shutil.which("gcc") or "lld" in kind and not shutil.which("ld.lld"):
			e2e.leave_out(kind, "gcc or ld.lld is not installed")
			continue
		program = built(kind, with_c, options)
		trace = e2e.record(f"{program.parent.name}.trace", "-p", "cmd", "--stacks=cpu", "--rate", 499, command=(program, program.with_suffix(".prof")))
		trace.expect_true()
		lines = [line.rsplit(" ", 1) for line in e2e.run(e2e.monitor, "report", trace.directory, "stacks", "--by", "cpu", "--command",
		                                                 "--folded").stdout.splitlines()]
		stacks = [([re.sub(r"\.abi0$| \(inlined\)$", "", frame) for frame in frames.split(";")[1:]], int(count)) for frames, count in lines]
		total = sum(count for _, count in stacks)
		cut = [(frames, count) for frames, count in stacks if frames[0].startswith("[truncated")]
		missing = sum(count for _, count in cut)
		print(f"{kind}: {total} samples, {missing} cut")
		# Its very start, and a few instructions between two stacks.
		e2e.expect(total > 100 and missing < 0.03 * total, f"{kind}: of {total} samples {missing} are cut: {cut[:9]}")
		own = own_profile(program, program.with_suffix(".prof"))
		for function in WORK + (("call", "there") if with_c else ()):
			e2e.near(f"{kind}: percent of samples within main.{function}", part(stacks, f"main.{function}"), own.get(f"main.{function}", 0), 0, 6)
		if not with_c: # where C comes back to it, too
			expect_callers(kind, stacks, "main.hash", "main.main.func1", "main.leaf")
		expect_callers(kind, stacks, "runtime.newstack", "runtime.morestack")
		deep = [(frames, count) for frames, count in stacks if "main.deep" in frames]
		e2e.expect(deep and part(deep, "main.grow.func1") > 95, f"{kind}: who calls main.deep: {deep[:2]}")
		expect_callers(kind, stacks, "runtime.callers.func1", "runtime.callers", "runtime.systemstack")
		if with_c:
			c_spin = [(frames, count) for frames, count in stacks if any(frame.endswith("c_spin") for frame in frames)]
			e2e.expect(part(c_spin, "main.call") > 95 and part(c_spin, "main.main") > 95, f"{kind}: who calls C: {c_spin[:2]}")
			back = [(frames, count) for frames, count in stacks if "runtime.cgocallback" in frames]
			e2e.expect(part(back, "main.there") > 95 and part(back, "main.main") > 95 and part(back, "runtime.asmcgocall") > 95,
			           f"{kind}: who calls Go from C: {back[:2]}")


def read_by_others():
	"""go tool pprof reads what convert writes, and counts the same."""
	directory = e2e.work / "plain.trace"
	e2e.run(e2e.monitor, "convert", directory, "--to", "pprof", "-o", e2e.work / "profile.gz")
	text = e2e.run("go", "tool", "pprof", "-top", "-cum", "-sample_index=0", "-nodecount=1000", e2e.work / "profile.gz").stdout
	folded = e2e.run(e2e.monitor, "report", directory, "stacks", "--by", "cpu", "--command", "--folded").stdout.splitlines()
	ours = sum(int(line.rsplit(" ", 1)[1]) for line in folded if ";main.leaf" in line)
	theirs = re.search(r"^\s*\S+\s+\S+\s+\S+\s+(\d+)\s+\S+\s+main\.leaf$", text, re.M)
	e2e.equal("samples within main.leaf", int(theirs[1]) if theirs else text[:1000], ours)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.need_program("go")
	e2e.main(like_its_own_profile, read_by_others)
