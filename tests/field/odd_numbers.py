#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Numbers of system calls that no table has: strace issue 319 (missing in the summary), lurk issue 77 (number -1)."""
import e2e


def rows():
	trace = e2e.record("calls", "-p", "cmd", command=(e2e.compiled("odd_numbers.c"),))
	calls = {row["call"]: (row["count"], row["errors"]) for row in trace.rows("syscalls", process="odd_numbers")}
	e2e.equal("getpid", calls.get("getpid"), (300, 0))
	e2e.equal("numbers that a token cannot hold", calls.get("no such call"), (500, 500))
	e2e.equal("getpid of x32, which this kernel may not have", calls.get("39 (x32)", (0, 0))[0], 100)
	trace.expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(rows)
