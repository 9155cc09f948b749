#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exec by a thread that is not the first one: it takes the process's number, the others end, and time, calls and stacks
go on in one process (tracee issue 3478, reprozip issue 110, reverie issue 15)."""
import e2e


def executed_by_a_thread():
	program = e2e.compiled("thread_exec.c", "-pthread")
	for name, options in (("calls", ("-p", "cmd")), ("stacks", ("-p", "cmd", "--stacks=cpu"))):
		trace = e2e.record_undisturbed(name, *options, command=(program,))
		told = e2e.values(trace.output)
		rows = trace.rows(pid=told["pid"])
		e2e.equal(f"{name}: rows", [row["process"] for row in rows], ["thread_exec"])
		# The clock of the process counts what all of its threads used, before and after.
		e2e.near(f"{name}: CPU time (ns)", rows[0]["cpu_ns"], told["cpu_ns"], slack=1e7)
		(calls,) = trace.rows("syscalls", pid=told["pid"], call="getppid")
		e2e.equal(f"{name}: calls before and after", calls["count"], 300)
		trace.expect_true()
	lines = e2e.run(e2e.reader, "report", trace.directory, "stacks", "--comm", "thread_exec", "--folded").stdout.splitlines()
	samples = {line: int(line.rsplit(" ", 1)[1]) for line in lines}
	e2e.expect(sum(samples.values()) > 20, f"samples: {samples}")
	e2e.near("samples in compute()", sum(number for line, number in samples.items() if ";compute" in line), sum(samples.values()), part=0.15)


def beside_what_is_selected():
	"""Each of its switches is in the trace, and so must be the number that they go on with."""
	program = e2e.compiled("thread_exec.c", "-pthread")
	for number in range(5):
		recorder = e2e.Recorder(f"beside-{number}", "-p", "cmd", command=("sleep", "60")).wait_until_recording()
		told = e2e.values(e2e.run(program).stdout)
		trace = recorder.end(exit_code=130)
		execs = [row["pid"] for row in trace.query("SELECT pid FROM sched_process_exec WHERE pid <> old_pid")]
		e2e.equal("execs that took another number", execs, [told["pid"]])
		trace.expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(executed_by_a_thread, beside_what_is_selected)
