#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Segments (record --reset-on, triggers that reset): a load whose page faults from one call of a function to the next are known."""
import os
import shutil
import subprocess
import sys

import e2e

load = e2e.os.path.join(e2e.programs, "segment_load")
PAGES = 3
THREADS, STEPS = 12, 1000
STEP = f"{load}:step"


def segments(trace, *options):
	return trace.report("segments", *options)["rows"]


def record(name, resets, *command):
	return e2e.record(name, "--force", "-m", "faults=page-faults,clock=cpu-clock", "-e", "sched,fault", "--reset-on", resets,
	                  command=command)


def exact():
	"""Many threads in turn on each CPU, so that they are preempted in the probe too: each segment has its own faults."""
	trace = e2e.undisturbed(lambda: record("exact", f"{STEP},{STEP}%return,sched:sched_process_exit", load, THREADS, STEPS),
	                        lambda trace: {row["tid"] for row in trace.rows("--by", "thread", recorded=True)})
	trace.expect_true()
	e2e.equal("lost", trace.summary()["lost"], 0)
	rows = {(row["from"], row["to"]): row for row in segments(trace) if row["recorded"]}
	inside, outside = rows[STEP, f"{STEP}%return"], rows[f"{STEP}%return", STEP]
	e2e.equal("calls", inside["count"], THREADS * STEPS)
	e2e.equal("pauses between calls", outside["count"], THREADS * (STEPS - 1))
	# Nothing else faults there but, rarely, the first touch of a page of code or of the stack.
	extra = inside["faults"] - PAGES * THREADS * STEPS
	e2e.expect(0 <= extra < 100, f"faults in calls: {inside['faults']}, {PAGES * THREADS * STEPS} were made")
	e2e.expect(outside["faults"] < 100, f"faults between calls: {outside['faults']}")
	by_thread = [row for row in segments(trace, "--by", "thread") if (row["from"], row["to"]) == (STEP, f"{STEP}%return")]
	e2e.equal("threads", len(by_thread), THREADS)
	e2e.expect(all(row["count"] == STEPS for row in by_thread), f"calls by thread: {[row['count'] for row in by_thread]}")
	e2e.equal("faults of all threads", sum(row["faults"] for row in by_thread), inside["faults"])
	e2e.expect(any(row["from"] == "sched:sched_process_exit" or row["to"] == "sched:sched_process_exit" for row in segments(trace)),
	           "no segment ends or begins where a process exits")
	listed = e2e.run(e2e.monitor, "list", "--event", "counters_reset", trace.directory).stdout
	e2e.equal("resets in list", listed.count(f"at={STEP}\n"), THREADS * STEPS)
	e2e.need_program("babeltrace2")
	read = e2e.run("babeltrace2", trace.directory).stdout
	e2e.equal("resets in babeltrace2", read.count(f' at = ( "{STEP}" '), THREADS * STEPS)
	resets = next(one for one in trace.recording()["classes"] if one["name"] == "counters_reset")
	print(f"{resets['seen']} resets, {resets['too_deep']} without a slot")


def selected():
	"""Under -p cmd the same program, run by somebody else meanwhile, resets nothing."""
	other = subprocess.Popen([load, "1", "200000"])
	trace = e2e.undisturbed(lambda: e2e.record("selected", "--force", "-m", "faults=page-faults", "-p", "cmd", "--reset-on", STEP,
	                                           command=(load, 1, 500)),
	                        lambda trace: {row["tid"] for row in trace.rows("--by", "thread", recorded=True)})
	other.kill()
	other.wait()
	rows = segments(trace)
	e2e.equal("segments", [(row["from"], row["count"]) for row in rows], [(STEP, 499)])


def by_triggers():
	"""The same load's system calls: a segment begins only where a condition holds, and readings begin none."""
	script = ("import mmap, os\nfor i in range(300):\n\tos.getppid()\n\tos.getpgid(0)\n\tm = mmap.mmap(-1, 4096 * 3)\n"
	          "\tm[0] = m[4096] = m[8192] = 1\n\tos.getsid(0)\n\tos.getpgid(i % 2 * os.getpid())\n")
	trace = e2e.record("by_triggers", "--force", "-m", "faults=page-faults", "-e", "sched,syscall,fault", "-p", "cmd", "--reset-on", "sched_process_exit",
	                   "--trigger", 'begin: name == "sys_enter" and id == "getppid" => reset', "--trigger", 'end: name == "sys_enter" and id == "getsid" => reset, mark',
	                   "--trigger", 'seen: name == "sys_enter" and id == "getpgid" => read', command=(sys.executable, "-c", script))
	trace.expect_true()
	rows = {(row["from"], row["to"]): row for row in segments(trace)}
	e2e.equal("segments", (rows["begin", "end"]["count"], rows["end", "begin"]["count"]), (300, 299))
	# What Python itself touches for the first time between two calls is rare.
	e2e.expect(900 <= rows["begin", "end"]["faults"] < 1000, f"faults from begin to end: {rows['begin', 'end']['faults']}, 900 were made")
	e2e.expect(("end", "sched_process_exit") in rows, f"the event of --reset-on is missing: {list(rows)}")
	fired = {trigger["name"]: trigger["fired"] for trigger in trace.recording()["triggers"]}
	e2e.equal("firings", fired, {"begin": 300, "end": 300, "seen": 600})
	resets = next(one for one in trace.recording()["classes"] if one["name"] == "counters_reset")
	e2e.equal("resets", (resets["seen"] >= 601, resets["too_deep"]), (True, 0))
	readings = sum(one["seen"] for one in trace.recording()["classes"] if one["name"] == "counters")
	e2e.expect(readings >= 1200 + 1, f"{readings} readings for 1200 firings")


def at_functions():
	"""Functions are probed where a thread may be preempted."""
	trace = e2e.undisturbed(lambda: e2e.record("functions", "--force", "-m", "faults=page-faults", "-e", "sched", "-p", "cmd", "--functions", f"{load}:step",
	                                           "--trigger", 'in: name == "function_entry" => reset', "--trigger", 'out: name == "function_exit" => reset',
	                                           command=(load, 4, 500)),
	                        lambda trace: {row["tid"] for row in trace.rows("--by", "thread", recorded=True)})
	trace.expect_true()
	row = next(row for row in segments(trace) if (row["from"], row["to"]) == ("in", "out"))
	e2e.equal("calls", row["count"], 2000)
	e2e.expect(0 <= row["faults"] - PAGES * 2000 < 100, f"faults in calls: {row['faults']}")


def errors():
	# A kernel that does not show its events is believed.
	shown = any(os.path.exists(f"/sys/kernel/{where}/events") for where in ("tracing", "debug/tracing"))
	unknown_category = [(("-m", "software", "--reset-on", "nodir:sched_waking"), "nodir")] * shown
	if not shown:
		print("not tried: an unknown category, for tracefs is not mounted here")
	for options, part in ((("--reset-on", STEP), "-m"), (("-m", "software", "--reset-on", f"{load}:sched_switch"), "cannot attach"), (("-m", "software", "--reset-on", "no_such_event"), "no_such_event"),
	                      (("-m", "software", "--reset-on", f"{load}:no_such"), "no_such"),
	                      (("-m", "software", "--reset-on", "/no/such/file:step"), "/no/such/file"),
	                      (("-m", "software", "--reset-on", f"{load}:"), "function"),
	                      (("-m", "software", "--reset-on", "user:work"), "report DIR activities"),
	                      (("-m", "software", "--ratio-format", "rems16", "--reset-on", STEP), "--ratio-format"),
	                      (("-m", "software", "--reset-on", "sched_waking,sched_wakeup,sys_enter,sys_exit,irq_handler_entry"), "4 "),
	                      (("-m", "software", "--reset-on", "sched:sched_switch"), "report DIR ratios"),
	                      *unknown_category,
	                      (("-m", "software", "--reset-on", "sys_enter,sys_enter"), "twice"),
	                      (("-m", "software", "--reset-on", "sys_enter,"), "empty")):
		done = e2e.run(e2e.monitor, "record", "-o", e2e.work / "refused", *options, "--", "true", exit_code=None)
		shutil.rmtree(e2e.work / "refused", ignore_errors=True)
		e2e.expect(done.returncode == 125 and part in done.stderr, f"{options}: {done.returncode}: {done.stderr}")
	fires = 'name == "sys_enter" => reset'
	for options, part in ((("--trigger", fires), "-m"), (("-m", "software", "--ratio-format", "rems16", "--trigger", fires), "--ratio-format"),
	                      (("-m", "software", "--trigger", "every 1s => read"), "use sample"),
	                      (("-m", "software", "--trigger", 'name == "sys_enter" not followed by name == "sys_exit" within 1s => read'), "use sample"),
	                      (("-m", "software", "--trigger", 'name == "sched_switch" => reset'), "every switch anyway"),
	                      (("-m", "software", "--trigger", fires, "--trigger", 'name == "sys_exit" => stop'), "leave out stop")):
		done = e2e.run(e2e.monitor, "record", "-o", e2e.work / "refused", *options, "--", "true", exit_code=None)
		shutil.rmtree(e2e.work / "refused", ignore_errors=True)
		e2e.expect(done.returncode == 125 and part in done.stderr, f"{options}: {done.returncode}: {done.stderr}")
	plain = e2e.record("plain", "--force", "-m", "software", command=("true",))
	refused = e2e.run(e2e.monitor, "report", plain.directory, "segments", exit_code=1)
	e2e.expect("--reset-on" in refused.stderr, f"a report whose events were not recorded: {refused.stderr}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(exact, selected, by_triggers, at_functions, errors)
