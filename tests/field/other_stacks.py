#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stacks that a program makes itself: of coroutines (boost.context, swapcontext), of signal handlers, of code that is called on
another one (Rust's stacker, gcc's split stacks). A walk that takes a lower stack for damage ends there; one that reads on where
a coroutine begins invents callers. Functions of assembler have names (opentelemetry-ebpf-profiler pull request 1452)."""
import re

import e2e

OWN = set("main coroutines in_coroutine fibers in_fiber in_signal handler signals above below in_middle called_elsewhere in_made "
          "made_at_run_time on_stack mark [jit]".split())
KNOWN = {("in_coroutine", "mark"), ("main", "signals", "in_signal", "handler", "mark"), ("in_middle", "on_stack", "above", "mark"),
         ("in_middle", "on_stack", "below", "mark"), ("in_made", "mark"), ("in_fiber", "mark")}


def folded(trace, by):
	text = e2e.run(e2e.monitor, "report", trace.directory, "stacks", "--by", by, "--command", "--folded").stdout
	return [(line.rsplit(" ", 1)[0].split(";")[1:], int(line.rsplit(" ", 1)[1])) for line in text.splitlines()]


def on_other_stacks():
	trace = e2e.record("trace", "-p", "cmd", "--stacks=syscall:getppid,cpu", "--rate", 499, command=(e2e.compiled("other_stacks.c", "-pthread"),))
	trace.expect_true()
	seen = {tuple(re.sub(r"\.\w+$", "", frame) for frame in frames if frame in OWN or frame.startswith("[truncated")) for frames, _ in folded(trace, "other")}
	e2e.equal("stacks at mark()", seen, KNOWN)


def names_of_assembler():
	stacks = folded(e2e.Trace(e2e.work / "trace"), "cpu")
	total = sum(count for _, count in stacks)
	of = {name: sum(count for frames, count in stacks if frames[-1] == name) for name in ("no_type", "outer_part")}
	e2e.expect(total > 20 and min(of.values()) > 0.2 * total and sum(of.values()) > 0.8 * total, f"of {total} samples: {of}: {stacks[:4]}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(on_other_stacks, names_of_assembler)
