#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernel traces with the names and fields that LTTng-modules and perf (`perf data convert --to-ctf`) give them: each
report has an answer that is known here, or says in one sentence what the trace lacks (lttng-analyses; ctf2ctf issue 14).

kernel_traces.py MONITOR WORK_DIRECTORY
"""
import json
import pathlib
import shutil
import subprocess
import sys

from layout import Event, Packet, Stream, Trace
from writer import Int, Str, Struct, i32, i64, u32, u64, u8

REPORTS = ("cpu", "syscalls", "offcpu", "activities", "ratios", "segments", "samples", "stacks", "counts", "triggers")
HEX = Int(64, align=8, more="base = 16;")
LTTNG = {
	"lttng_statedump_process_state": {"tid": i32, "pid": i32, "ppid": i32, "name": Str(), "type": i32},
	"sched_switch": {"prev_comm": Str(), "prev_tid": i32, "prev_prio": i32, "prev_state": i64, "next_comm": Str(),
	                 "next_tid": i32, "next_prio": i32},
	"sched_waking": {"comm": Str(), "tid": i32, "prio": i32, "target_cpu": i32},
	"sched_wakeup_new": {"comm": Str(), "tid": i32, "prio": i32, "target_cpu": i32},
	"sched_process_fork": {"parent_comm": Str(), "parent_tid": i32, "parent_pid": i32, "child_comm": Str(), "child_tid": i32,
	                       "child_pid": i32},
	"sched_process_exec": {"filename": Str(), "tid": i32, "old_tid": i32},
	"syscall_entry_openat": {"dfd": i32, "filename": Str(), "flags": i32}, "syscall_exit_openat": {"ret": i64},
	"syscall_entry_getpid": {}, "syscall_exit_getpid": {"ret": i64},
	"compat_syscall_entry_getpid": {}, "compat_syscall_exit_getpid": {"ret": i64},
	"syscall_entry_unknown": {"id": i32, "args": HEX}, "syscall_exit_unknown": {"id": i32, "ret": i64, "args": HEX},
	"irq_softirq_entry": {"vec": u8}, "irq_softirq_exit": {"vec": u8},
	"x86_irq_vectors_local_timer_entry": {"vector": i32}, "x86_irq_vectors_local_timer_exit": {"vector": i32}}
PERF = {
	"sched:sched_switch": {"prev_comm": Str(), "prev_pid": i32, "prev_prio": i32, "prev_state": i64, "next_comm": Str(),
	                       "next_pid": i32, "next_prio": i32},
	"sched:sched_waking": {"comm": Str(), "pid": i32, "prio": i32, "target_cpu": i32},
	"sched:sched_process_fork": {"parent_comm": Str(), "parent_pid": i32, "child_comm": Str(), "child_pid": i32},
	"sched:sched_process_exec": {"filename": Str(), "pid": i32, "old_pid": i32},
	"syscalls:sys_enter_openat": {"__syscall_nr": i32, "dfd": u64}, "syscalls:sys_exit_openat": {"__syscall_nr": i32, "ret": i64},
	"raw_syscalls:sys_enter": {"id": i64}, "raw_syscalls:sys_exit": {"id": i64, "ret": i64},
	"irq:softirq_entry": {"vec": u32}, "irq:softirq_exit": {"vec": u32}}
PERF_COMMON = {"perf_tid": i32, "perf_pid": i32}
PERF_COMM = {"pid": u32, "tid": u32, "comm": Str()}
work = monitor = None
wrong = 0


def expect(holds, what):
	global wrong
	wrong += not holds
	print(f"{'ok  ' if holds else 'FAIL'} {what}")


def equal(what, found, right):
	expect(found == right, what if found == right else f"{what}: {found!r}, not {right!r}")


def made(name, classes, events, tracer="lttng-modules"):
	"""events: (time, class, field values in the order of the class)"""
	described = {each: Event(each, Struct(fields), id=at) for at, (each, fields) in enumerate(classes.items())}
	stream = Stream(*described.values())
	trace = Trace(work / name, stream, before=f'env {{ domain = "kernel"; tracer_name = "{tracer}"; hostname = "here"; }};\n')
	trace.write("stream", stream, Packet([
		{"is": described[cls], "time": time,
		 "fields": {field: value.encode() if isinstance(value, str) else value for field, value in zip(classes[cls], values)}}
		for time, cls, values in events]))
	return trace.directory


def run(*words):
	return subprocess.run([monitor, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=60)


def rows(directory, *words):
	done = run("report", directory, *words, "--json")
	if done.returncode:
		return done.stderr
	return json.loads(done.stdout)["rows"]


def figures(directory, report, *names):
	found = rows(directory, report)
	return found if isinstance(found, str) else [tuple(row[name] for name in names) for row in found]


def queried(directory, sql):
	return json.loads(run("query", directory, "--json", sql).stdout or "[]")


def each_report_answers(directory, have_rows):
	for report in REPORTS:
		done = run("report", directory, report)
		if report in have_rows:
			expect(done.returncode == 0 and done.stdout, f"{directory.name}: report {report}: {done.stderr}")
		else:
			expect(done.returncode == 1 and len(done.stderr.splitlines()) == 1 and not done.stdout,
			       f"{directory.name}: report {report} says in one sentence: {done.stderr.strip()}")


def lttng():
	def switch(time, prev, tid, state, following, next_tid):
		return time, "sched_switch", (prev, tid, 20, state, following, next_tid, 20)
	directory = made("lttng", LTTNG, [
		(1000, "lttng_statedump_process_state", (100, 100, 1, "parent", 0)),
		(1100, "lttng_statedump_process_state", (102, 100, 1, "worker", 0)),
		switch(2000, "swapper/0", 0, 0, "parent", 100),
		(3000, "syscall_entry_openat", (-100, "/absent", 0)), (4000, "syscall_exit_openat", (-2,)),
		(5000, "sched_process_fork", ("parent", 100, 100, "parent", 101, 101)),
		(6000, "sched_wakeup_new", ("parent", 101, 20, 0)),
		switch(7000, "parent", 100, 1, "parent", 101),
		(8000, "sched_process_exec", ("/usr/bin/a_child_with_a_long_name", 101, 101)),
		(9000, "syscall_entry_getpid", ()), (9500, "syscall_exit_getpid", (101,)),
		(10000, "compat_syscall_entry_getpid", ()), (10400, "compat_syscall_exit_getpid", (101,)),
		(11000, "sched_waking", ("parent", 100, 20, 0)),
		(12000, "x86_irq_vectors_local_timer_entry", (236,)), (12500, "x86_irq_vectors_local_timer_exit", (236,)),
		(13000, "irq_softirq_entry", (1,)), (13300, "irq_softirq_exit", (1,)),
		(14000, "syscall_entry_unknown", (999, 0)), (14200, "syscall_exit_unknown", (999, -38, 0)),
		(20000, "sched_waking", ("worker", 102, 20, 0))])
	found = {row["pid"]: row for row in rows(directory)}
	equal("the exec gives the name, which no switch tells", found[101]["process"], "a_child_with_a_")
	equal("a thread's process from the list", queried(directory, "SELECT tgid FROM threads WHERE tid = 102"), [{"tgid": 100}])
	equal("a new thread waits from its wake-up on", found[101]["waiting_ns"], 1000)
	equal("CPU time", [(found[pid]["cpu_ns"]) for pid in (100, 101)], [5000, 13000])
	equal("system calls", sorted(figures(directory, "syscalls", "pid", "call", "count", "errors", "total_ns")),
	      [(100, "openat", 1, 1, 1000), (101, "999", 1, 1, 200), (101, "getpid", 1, 0, 500), (101, "getpid (compat)", 1, 0, 400)])
	equal("sleeps", figures(directory, "offcpu", "tid", "waker", "count", "total_ns"), [(100, "a_child_with_a_-101", 1, 4000)])
	equal("interrupts", queried(directory, "SELECT irq_ns AS irq, softirq_ns AS softirq FROM threads WHERE tid = 101"),
	      [{"irq": 500, "softirq": 300}])
	listed = [json.loads(line) for line in run("list", directory, "--json").stdout.splitlines()]
	equal("the listing's name after the exec", {line["comm"] for line in listed if line["event"] == "syscall_entry_getpid"},
	      {"a_child_with_a_"})
	each_report_answers(directory, ("cpu", "syscalls", "offcpu"))
	export = run("convert", directory, "--to", "lttng", "-o", work / "again")
	equal("convert", export.returncode, 0)
	equal("system calls of the converted trace", sorted(figures(work / "again", "syscalls", "pid", "call", "count", "total_ns")),
	      [(100, "openat", 1, 1000), (101, "999", 1, 200), (101, "getpid", 1, 500), (101, "getpid (compat)", 1, 400)])


def without_calls():
	names = ("sched_switch", "syscall_entry_getpid")  # only entries
	directory = made("without_calls", {name: LTTNG[name] for name in names}, [
		(2000, "sched_switch", ("swapper/0", 0, 20, 0, "parent", 100, 20)), (3000, "syscall_entry_getpid", ()),
		(7000, "sched_switch", ("parent", 100, 20, 1, "swapper/0", 0, 20))])
	equal("calls are unknown, not 0", figures(directory, "cpu", "process", "cpu_ns", "syscalls"), [("parent", 5000, None)])
	for report, lacks in (("syscalls", "system calls"), ("offcpu", "sched_waking")):
		expect(lacks in str(rows(directory, report)), f"report {report} says that {lacks} are missing")
	each_report_answers(directory, ("cpu",))


def perf():
	classes = {name: {**PERF_COMMON, **fields} for name, fields in PERF.items()}
	begin = 50_000_000_000_000
	def trace(name, *calls):
		chosen = {"perf_comm": PERF_COMM, **{each: fields for each, fields in classes.items() if "sys" not in each or each.startswith(calls)}}
		def switch(time, prev, tid, process, state, following, next_tid):
			return begin + time, "sched:sched_switch", (tid, process, prev, tid, 120, state, following, next_tid, 120)
		def call(time, kind, *values):
			return [(begin + time, kind, (101, 100, *values))] if kind in chosen else []
		return made(name, chosen, [
			(0, "perf_comm", (100, 100, "parent")),  # at the start, without a time
			(0, "perf_comm", (100, 101, "worker")),
			switch(1000, "swapper", 0, 0, 0, "parent", 100),
			(begin + 2000, "sched:sched_process_exec", (100, 100, "./program", 100, 100)),
			switch(3000, "program", 100, 100, 1, "worker", 101),
			*call(4000, "raw_syscalls:sys_enter", 39), *call(4000, "syscalls:sys_enter_openat", 257, 0),
			*call(4500, "raw_syscalls:sys_exit", 39, 101), *call(4500, "syscalls:sys_exit_openat", 257, 3),
			(begin + 5000, "sched:sched_waking", (101, 100, "program", 100, 120, 0)),
			(begin + 6000, "sched:sched_process_fork", (101, 100, "worker", 101, "worker", 102)),
			switch(8000, "worker", 101, 100, 0, "worker", 102),
			switch(9000, "worker", 102, 100, 1, "swapper", 0)], "perf")
	for name, call, *prefixes in (("perf_raw", "39", "raw_syscalls:"), ("perf_named", "openat", "syscalls:"),
	                              ("perf_both", "39", "raw_syscalls:", "syscalls:")):
		directory = trace(name, *prefixes)
		equal(f"{name}: calls", figures(directory, "syscalls", "pid", "call", "count", "total_ns"), [(100, call, 1, 500)])
		equal(f"{name}: what has no time is in no figure",
		      [row["cpu_ns"] for row in rows(directory) if row["pid"] == 100], [8000])
		equal(f"{name}: threads of processes", sorted(figures(directory, "cpu", "process", "pid")), [("program", 100)])
		each_report_answers(directory, ("cpu", "syscalls", "offcpu"))


def main():
	global work, monitor
	monitor, work = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
	shutil.rmtree(work, ignore_errors=True)
	work.mkdir(parents=True)
	for test in (lttng, without_calls, perf):
		try:
			test()
		except Exception as error:  # pylint: disable=broad-except
			expect(False, f"{test.__name__}: {error!r}")
	sys.exit(1 if wrong else 0)


main()
