#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A thread that another one renames, through /proc: the name is that of the thread meant, not of the one that wrote it
(openPOWERLINK pull 165, uftrace issue 2024), and no exec, after which stacks would be unknown."""
import e2e


def renamed():
	program = e2e.compiled("renamed_by_another.c", "-pthread")
	trace = e2e.record("renamed", "-p", "cmd", command=(program,))
	told = e2e.values(trace.output)
	threads = {row["tid"]: row for row in trace.rows("--by", "thread", "--pid", told["pid"])}
	e2e.equal("names", (threads[told["pid"]]["thread"], threads[told["tid"]]["thread"]), ("the_main", "t_two"))
	e2e.near("CPU time of the renamed one (ns)", threads[told["tid"]]["cpu_ns"], told["cpu_ns"], slack=1e7)
	e2e.near("CPU time by its last name (ns)", sum(row["cpu_ns"] for row in trace.rows("--comm", "t_two", "--by", "thread")),
	         told["cpu_ns"], slack=1e7)
	names = trace.query(f"SELECT DISTINCT thread FROM sys_enter WHERE tid = {told['tid']} ORDER BY time_ns")
	e2e.equal("names at the time of its calls", {"t_one", "t_two"} - {row["thread"] for row in names}, set())
	trace.expect_true()


def with_stacks():
	program = e2e.compiled("renamed_by_another.c", "-pthread")
	trace = e2e.record("stacks", "-p", "cmd", "--stacks=cpu", command=(program,))
	lines = e2e.run(e2e.reader, "report", trace.directory, "stacks", "--comm", "t_two", "--folded").stdout.splitlines()
	samples = {line: int(line.rsplit(" ", 1)[1]) for line in lines}
	whole = sum(number for line, number in samples.items() if "compute" in line and "truncated" not in line)
	e2e.expect(whole > 20, f"{whole} samples in compute()")
	e2e.near("samples with a whole stack", whole, sum(samples.values()), part=0.15)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(renamed, with_stacks)
