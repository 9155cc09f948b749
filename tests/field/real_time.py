#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A thread from which a real-time thread takes the CPU waits as long as the kernel says (bcc pull 1728 and issue 1732). A
recorder may have any policy itself, as under chrt(1) or in a service with CPUSchedulingPolicy=fifo: it starts and calibrates."""
import e2e


def waits():
	program = e2e.compiled("real_time.c")
	if e2e.run(program, exit_code=None).returncode == 77:
		e2e.skip("no real-time class may be used here")
	before = e2e.steal_ns()
	trace = e2e.record("waits", "-p", "cmd", command=(program,))
	stolen = e2e.stolen_ns(before)
	told = {line.split()[0]: e2e.values(line) for line in trace.output.splitlines()}
	e2e.equal("processes", sorted(told), ["fifo", "normal"])
	for name, values in told.items():
		(row,) = trace.rows(pid=values["pid"])
		e2e.equal("name", row["process"], name)
		e2e.near(f"{name}: CPU time (ns)", row["cpu_ns"], values["cpu_ns"], slack=1e7 + stolen)
		e2e.near(f"{name}: waiting (ns)", row["waiting_ns"], values["waited_ns"], part=0.05, slack=2e7 + stolen)
	e2e.expect(told["normal"]["waited_ns"] > 0.25e9, f"nothing took the CPU: {told}")
	trace.expect_true()


def recorder_of_any_policy():
	e2e.need_program("chrt")
	program = e2e.compiled("real_time.c")
	for name, policy in (("fifo", ("-f", "10")), ("rr", ("-r", "10")), ("batch", ("-b", "0"))):
		directory = e2e.work / f"policy-{name}"
		done = e2e.run("timeout", "-s", "KILL", "20", "chrt", *policy, e2e.monitor, "record", "-o", directory, "-p", "cmd", "--",
		               "chrt", "-o", "0", program)
		if done.returncode:
			continue
		trace = e2e.Trace(directory, done.stdout)
		e2e.expect("at least" in done.stderr, f"{name}: nothing was calibrated: {done.stderr}")
		told = {line.split()[0]: e2e.values(line) for line in trace.output.splitlines()}
		e2e.equal(f"{name}: processes", sorted(row["process"] for row in trace.rows() if row["process"] in told), ["fifo", "normal"])
		if name in ("fifo", "rr"):  # the other may have to wait, and lose events
			trace.expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(waits, recorder_of_any_policy)
