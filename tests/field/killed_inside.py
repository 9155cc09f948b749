#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Threads that end inside a call, by exit_group, SIGKILL or a fault, and so never return from it (tracee pulls 1930 and
4557, sysdig issue 1422): their sleep is in the row of that call, and the rules about the kernel hold."""
import e2e


def ended_inside():
	trace = e2e.record_undisturbed("ended", "-p", "cmd", command=(e2e.compiled("killed_inside.c", "-pthread"),))
	told = e2e.values(trace.output)
	threads = {row["tid"] for row in trace.rows("--by", "thread", "--pid", told["many"])}
	e2e.equal("threads", len(threads), 61)
	asleep = [row for row in trace.rows("offcpu") if row["tid"] in threads - {told["many"]}]
	sleeps = {call: sum(row["count"] for row in asleep if row["call"] == call) for call in ("read", "futex")}
	e2e.equal("threads that slept in", sleeps, {"read": 30, "futex": 30})
	whole = sum(row["total_ns"] for row in asleep) / 60e9
	# Other load delays the threads' start.
	e2e.expect(0.5 < whole < 1.5, f"each slept {whole:.3f} s")
	killed = trace.rows("offcpu", tid=told["killed"])
	e2e.equal("the killed one's last sleep", [row["call"] for row in killed if row["total_ns"] > 2e8], ["clock_nanosleep"])
	e2e.equal("the faulty one", [row["process"] for row in trace.rows(pid=told["faulty"])], ["faulty"])
	trace.expect_true()
	e2e.run(e2e.reader, "check", trace.directory, "--rules", "kernel")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(ended_inside)
