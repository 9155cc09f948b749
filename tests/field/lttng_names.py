#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording that is converted to LTTng's form has the same processes by name, waits and system calls when it is read
again: names come from sched_process_exec and sched_process_fork, calls from syscall_entry_* (ctf2ctf issue 14,
lttng-analyses)."""
import collections

import e2e

PROGRAM = "i=0; while [ $i -lt 20 ]; do /bin/true; i=$((i+1)); done; seq 100000 | tail -n 1"


def names_and_calls():
	trace = e2e.record("recorded", command=("sh", "-c", PROGRAM))
	e2e.run(e2e.monitor, "convert", trace.directory, "--to", "lttng", "-o", e2e.work / "lttng")
	export = e2e.Trace(e2e.work / "lttng")
	own = {row["pid"] for row in trace.rows(recorded=True)}
	names = lambda of: collections.Counter(row["process"] for row in of.rows() if row["pid"] in own and row["process"] in ("true", "seq", "tail"))
	e2e.equal("processes by name", names(export), names(trace))
	e2e.expect(names(export)["true"] == 20, f"execs of true: {names(export)}")
	kids = {row["pid"] for row in trace.rows(process="true", recorded=True)}
	waited = lambda of: sum(row["waiting_ns"] or 0 for row in of.rows() if row["pid"] in kids)
	e2e.near("what the children waited for a CPU", waited(export), waited(trace), 0.1, 100_000)
	calls = lambda of: collections.Counter({(row["pid"], row["call"]): row["count"] for row in of.rows("syscalls") if row["pid"] in kids})
	e2e.expect(calls(trace), "the children made no call")
	e2e.equal("calls of the children", calls(export), calls(trace))


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(names_and_calls)
