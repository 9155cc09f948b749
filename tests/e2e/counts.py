#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""System calls, context switches, faults and forks of known workloads: the tokens of exactly that process are as many
as the workload made, as getrusage tells it, as perf stat counts and as bpftrace counts, all in the same run.

A count begins where the kernel begins it: perf's and bpftrace's at the new name that execve gives (task_rename),
getrusage's at the fork; it ends at the system call getrusage, or at the thread's end.
"""
import signal
import subprocess
import time

import e2e

PERF = "context-switches,page-faults,minor-faults,raw_syscalls:sys_enter"
PROBES = """
tracepoint:raw_syscalls:sys_enter /comm == "workload"/ { @calls[pid] = count(); }
tracepoint:sched:sched_switch /comm == "workload"/ { @switches[pid] = count(); }
software:minor-faults:1 /comm == "workload"/ { @faults[pid] = count(); }
interval:ms:100 { printf("ready\\n"); }
"""


class Counts:
	"""What the trace says of one single-threaded process."""

	def __init__(self, events, pid):
		own = [event for event in events if event["pid"] == pid]
		named = [e["ticks"] for e in own if e["event"] == "task_rename" and e["fields"]["newcomm"] == "workload"]
		begin = named[0] if named else 0
		self.calls = [e for e in own if e["event"] == "sys_enter"]
		self.calls_named = sum(e["ticks"] >= begin for e in self.calls)
		self.switches = [e for e in own if e["event"] == "sched_switch"]
		self.switches_named = sum(e["ticks"] >= begin for e in self.switches)
		exit_time = min(e["ticks"] for e in own if e["event"] == "sched_process_exit")
		self.switches_before_exit = sum(begin <= e["ticks"] < exit_time for e in self.switches)
		self.faults = [e for e in own if e["event"] == "minor_fault"]
		self.faults_named = sum(e["ticks"] >= begin for e in self.faults)
		self.major_named = sum(e["event"] == "major_fault" and e["ticks"] >= begin for e in own)
		self.entries = [e for e in own if e["event"] == "page_fault_user"]
		self.wrong_faults = self.kernel_faults = 0
		entry = None
		for event in own:
			if event["event"] in ("page_fault_user", "page_fault_kernel"):
				entry = event["event"]
			elif entry and event["event"] in ("minor_fault", "major_fault"):
				self.kernel_faults += entry == "page_fault_kernel"
				self.wrong_faults += event["fields"]["user"] != (entry == "page_fault_user")
				entry = None
		usage = [e["ticks"] for e in self.calls if e["fields"]["id"] == "getrusage"]
		exits = [e["ticks"] for e in own if e["event"] == "sys_exit" and usage and e["ticks"] > usage[0]]
		self.usage_window = (usage[0], exits[0]) if exits else None

	def called(self, name):
		return sum(e["fields"]["id"] == name for e in self.calls)


def perf_counts(path):
	counts = {}
	for line in path.read_text().splitlines():
		fields = line.split(",")
		if len(fields) > 2 and fields[0].isdigit():
			counts[fields[2]] = int(fields[0])
	return counts


def run_one(verb, number):
	"""Records perf stat of the workload; returns the workload's own figures, the counts by process and the events."""
	output = e2e.work / f"{verb}.perf"
	command = ("perf", "stat", "-x,", "-o", output, "-e", PERF, "--", e2e.workload, verb, number)
	trace = e2e.undisturbed(lambda: e2e.record(verb, "--force", command=command), e2e.tree_of_workload)
	trace.expect_true()
	said = e2e.values(trace.output)
	pids = [said["pid"]] + ([said["child"]] if "child" in said else [])
	events = trace.events("--tid", ",".join(map(str, pids)))
	counts = {pid: Counts(events, pid) for pid in pids}
	compare_with_usage(verb, said, counts[said["pid"]])
	e2e.equal(f"{verb}: faults of the kernel that are completed as the program's, or the reverse", sum(c.wrong_faults for c in counts.values()), 0)
	e2e.expect(sum(c.kernel_faults for c in counts.values()) > 0, f"{verb}: the kernel has no fault")
	if verb != "forks":  # perf's sums include the children
		compare_with_perf(verb, perf_counts(output), counts.values())
	compare_later.extend((verb, pid, counts[pid]) for pid in pids)
	return said, counts, events


def compare_with_usage(verb, said, counts):
	begin, end = counts.usage_window
	kernel = said["nvcsw"] + said["nivcsw"]
	least, most = (sum(e["ticks"] < limit for e in counts.switches) for limit in (begin, end))
	e2e.expect(least <= kernel <= most, f"{verb}: getrusage has {kernel} context switches, the trace {least} to {most}")
	faults = sum(e["ticks"] < begin for e in counts.faults)
	e2e.expect(faults <= said["minflt"], f"{verb}: getrusage has {said['minflt']} minor faults, the trace {faults}")


def compare_with_perf(verb, perf, counts):
	least, most, calls, minor, major = (sum(column) for column in zip(*(
		(c.switches_before_exit, c.switches_named, c.calls_named, c.faults_named, c.major_named) for c in counts)))
	e2e.equal(f"{verb}: system calls (against perf)", calls, perf["raw_syscalls:sys_enter"])
	e2e.equal(f"{verb}: minor faults (against perf)", minor, perf["minor-faults"])
	e2e.equal(f"{verb}: minor and major faults (against perf)", minor + major, perf["page-faults"])
	e2e.expect(least <= perf["context-switches"] <= most,
	           f"{verb}: perf counts {perf['context-switches']} context switches, the trace {least} to {most}")


compare_later = []


def start_bpftrace():
	process = subprocess.Popen(["bpftrace", "-e", PROBES], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
	deadline = time.monotonic() + 20
	while time.monotonic() < deadline:
		line = process.stdout.readline()
		if line == "ready\n":
			time.sleep(0.2)
			return process
		if not line:
			break
	process.kill()
	process.wait()
	print("bpftrace does not work here: not compared with it")
	return None


def compare_with_bpftrace(process):
	process.send_signal(signal.SIGINT)
	text = process.communicate(timeout=20)[0]
	counts = {}
	for line in text.splitlines():
		if line.startswith("@"):
			name, number = line[1:].split(": ")
			counts[name] = int(number)
	for verb, pid, own in compare_later:
		ours = {"calls": own.calls_named, "switches": own.switches_named, "faults": own.faults_named}
		print(f"{verb} {pid}: {ours}")
		for name, is_ in ours.items():
			e2e.equal(f"{verb}: {name} of {pid} (against bpftrace)", is_, counts.get(f"{name}[{pid}]", 0))


def counts():
	process = start_bpftrace()
	said, counts, _ = run_one("getppid", 20000)
	e2e.equal("getppid calls", counts[said["pid"]].called("getppid"), 20000)
	said, counts, events = run_one("pingpong", 2000)
	for pid in counts:
		e2e.equal("writes of one side of the pipes", counts[pid].called("write"), 2000 + (pid == said["pid"]))
		e2e.expect(len(counts[pid].switches) >= 1000, "a ping-pong without context switches")
	priorities = {name: {e["fields"]["prio"] for e in events if e["event"] == name and e["fields"]["pid"] == said["child"]}
	              for name in ("sched_wakeup_new", "sched_waking")}
	e2e.expect(len(priorities["sched_waking"]) == 1 and priorities["sched_waking"] == priorities["sched_wakeup_new"], f"the child's priorities: {priorities}")
	said, counts, events = run_one("forks", 200)
	born = [e["fields"]["pid"] for e in events
	        if e["event"] == "sched_wakeup_new" and e["fields"]["parent_pid"] == said["pid"]]
	e2e.equal("children born", len(set(born)), 200)
	e2e.equal("calls of clone", counts[said["pid"]].called("clone"), 200)
	said, counts, _ = run_one("touch", 5000)
	touched = [e["fields"]["address"] for e in counts[said["pid"]].entries
	           if said["from"] <= e["fields"]["address"] < said["to"]]
	e2e.equal("pages touched", (len(touched), len({address >> 12 for address in touched})), (5000, 5000))
	e2e.expect(len(counts[said["pid"]].faults) >= 5000, "5000 faults, but fewer completions")
	if process:
		compare_with_bpftrace(process)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.need_program("perf")
	e2e.main(counts)
