#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions of the C library that are chosen at run time, have two versions or several names: bpftrace issue 1904, bcc
issues 3056 and 1371 (only the code that chooses is traced), uftrace issue 1252 (several symbols of one name)."""
import e2e


def counted(trace, process):
	rows = {}
	for row in trace.rows("activities", process=process):
		name = row["activity"].split(" (")[0]
		rows[name] = rows.get(name, 0) + row["count"]
	return rows


def library():
	program = e2e.compiled("indirect_functions.c", "-fno-builtin", "-pthread")
	names = ("strlen", "memcpy", "pthread_cond_signal", "posix_spawn", "write")
	trace = e2e.record("calls", "-p", "cmd", "--functions", ",".join(f"libc.so.6:{name}" for name in names), command=(program,))
	trace.expect_true()
	rows = counted(trace, program.name[:15])
	print("  calls:", rows)
	refused = {line.split(" (")[0].split()[-1] for line in trace.errors.splitlines() if "cannot be followed" in line}
	for name, least in (("strlen", 20000), ("memcpy", 10000)):  # the loader calls them, too
		if name in refused and rows.get(name, 0) < least:
			e2e.leave_out(name, "what this CPU chooses cannot be followed, which is said")
		else:
			e2e.expect(least <= rows.get(name, 0) < least + 1000, f"{name}: {rows.get(name)}, not {least} and some of the loader's")
	for name, count in (("pthread_cond_signal", 5000), ("posix_spawn", 10), ("write", 301)):
		e2e.equal(name, rows.get(name), count)
	e2e.equal("old versions", [name for name in rows if "@" in name], [])


def what_may_be_chosen():
	"""Each by its own name, where it has one; what is not known is said."""
	source, program = e2e.work / "chosen.c", e2e.work / "chosen"
	source.write_text("""
#include <stdio.h>
#include <stdlib.h>
static int fast(int a) { return a + 1; }
static int slow(int a) { return a + 2; }
static int (*choose(void))(int) { return getenv("HOME") ? fast : slow; }
int chosen(int a) __attribute__((ifunc("choose")));
static int (*const table[])(int) = {fast, slow};
static int (*choose_by_table(void))(int) { return table[getenv("HOME") != 0]; }
int unknown(int a) __attribute__((ifunc("choose_by_table")));
int main(int n, char **v) { int sum = 0; for (int i = 0; i < 700; i++) sum += chosen(i); printf("%d %d\\n", sum, unknown(n)); return 0; }
""".replace('getenv("HOME")', "(*(volatile int *)&state)").replace("static int fast", "static int state = 1;\nstatic int fast"))
	e2e.run("gcc", "-O1", source, "-o", program)
	trace = e2e.record("chosen_trace", "-p", "cmd", "--functions", "chosen,unknown", command=(program,))
	rows = {row["activity"]: row["count"] for row in trace.rows("activities")}
	e2e.equal("calls", rows.get("chosen (fast)"), 700)
	e2e.expect(rows.get("chosen (slow)", 0) <= 1, rows)
	e2e.expect("unknown: it is chosen at run time" in trace.errors, trace.errors)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(library, what_may_be_chosen)
