#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls that the kernel restarts: a sleep that a stop interrupts goes on as restart_syscall, and that stop is no part of
either (strace issue 322); a read during which signals come is entered again after each of them (coz issue 148)."""
import e2e


def milliseconds(rows):
	return sum(row["total_ns"] for row in rows) / 1e6


def restarted():
	program = e2e.compiled("restarted_calls.c")
	trace = e2e.undisturbed(lambda: e2e.record("calls", "--force", "-p", "cmd", command=(program,)),
	                        lambda trace: {e2e.values(trace.output)[name] for name in ("sleeper", "reader")})
	told = e2e.values(trace.output)
	sleeps = [row for row in trace.rows("syscalls", pid=told["sleeper"]) if row["call"] in ("clock_nanosleep", "restart_syscall")]
	e2e.equal("the sleep, and the rest of it", sorted((row["call"], row["count"]) for row in sleeps),
	          [("clock_nanosleep", 1), ("restart_syscall", 1)])
	e2e.near("time in these (ms)", milliseconds(sleeps), 600 - told["stopped_ms"], slack=40)
	asleep = trace.rows("offcpu", tid=told["sleeper"])
	e2e.near("blocked in all (ms)", milliseconds(asleep), 600, slack=40)
	e2e.near("of which stopped, in no call (ms)", milliseconds(row for row in asleep if row["call"] == "stopped"), told["stopped_ms"], slack=25)
	states = trace.query(f"SELECT count(*) AS n FROM sched_switch WHERE prev_state_label = 'T' AND prev_pid = {told['sleeper']}")
	e2e.expect(states[0]["n"] > 0, "no switch in the state T")
	calls = {row["call"]: row["count"] for row in trace.rows("syscalls", pid=told["reader"])}
	e2e.equal("reads, and returns from the handler", (calls.get("read"), calls.get("rt_sigreturn")), (51, 50))
	trace.expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(restarted)
