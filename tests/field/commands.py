#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is recorded when a command is a script, a directory or absent, dies, reads its input, or leaves a daemon behind; and
what -p says to numbers of no process (bcc issue 2873, bpftrace issue 1462, perf -p of what has ended)."""
import sys

import e2e


def exit_codes():
	script = e2e.work / "script"
	script.write_text("echo from a script; exit 5\n")
	script.chmod(0o755)
	for name, command, exit_code in (("no_interpreter", (script,), 5), ("killed", ("sh", "-c", "kill -9 $$"), 137),
	                                 ("absent", ("/nonexistent/x",), 127), ("directory", (e2e.work,), 126)):
		trace = e2e.record(name, "-e", "sched", command=command, exit_code=exit_code)
		e2e.equal(f"{name}: a trace is there", trace.directory.exists(), exit_code not in (126, 127))
	e2e.equal("the script's words", e2e.record("script_again", "-e", "sched", command=(script,), exit_code=5).output, "from a script\n")
	e2e.equal("standard input", e2e.record("input", "-e", "sched", command=("cat",), input="through\n").output, "through\n")


def no_process():
	ended = e2e.subprocess.Popen(["true"])
	ended.wait()
	for number in (ended.pid, 0, -1):
		trace = e2e.record("none", f"--pid={number}", "-d", "0.3", exit_code=None)
		e2e.expect("traceback" not in trace.errors.lower() and trace.errors and not trace.directory.exists(), f"-p {number}: {trace.errors}")


def by_name():
	"""-p NAME: all processes that have it now, and their numbers are printed."""
	copy = e2e.work / "called_so_in_this_test"  # the kernel keeps 15 characters
	e2e.shutil.copy("/bin/sleep", copy)
	both = [e2e.subprocess.Popen([copy, "30"]) for _ in range(2)]
	try:
		trace = e2e.record("by_name", "-e", "sched", "-p", copy.name, "-d", "0.3")
		numbers = ", ".join(map(str, sorted(process.pid for process in both)))
		e2e.expect(f"-p {copy.name}: processes {numbers}" in trace.errors, trace.errors)
		selected = {event["fields"]["pid"] for event in trace.events("--event", "thread_state")}
		e2e.expect({process.pid for process in both} <= selected, f"the processes are in no list of the recording: {sorted(selected)}")
	finally:
		for process in both:
			process.kill()
			process.wait()
	trace = e2e.record("by_no_name", "-p", "no-such-name", "-d", "0.3", exit_code=125)
	e2e.expect("no process that runs has this name" in trace.errors and not trace.directory.exists(), trace.errors)


def orphans():
	"""Their parent ends before them: they are the command's descendants all the same."""
	loop = "import time\nwhile time.process_time() < 0.3: pass"
	ended = e2e.work / "ended"
	orphan = f"setsid sh -c '{sys.executable} -S -c \"{loop}\"; touch {ended}'"
	trace = e2e.record("orphans", "-p", "cmd", command=("sh", "-c", f"({orphan} &); until [ -e {ended} ]; do sleep 0.1; done"))
	loops = [row for row in trace.rows(recorded=True) if row["process"].startswith("python") and row["cpu_ns"] > 0.29e9]
	e2e.equal("orphans that are marked as of the command", len(loops), 1)
	trace.expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(exit_codes, no_process, by_name, orphans)
