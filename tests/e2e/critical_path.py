#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`monitor report DIR critical-path`: of a pipeline whose slowest stage is known, of requests to a disk and messages on
loopback, exact sums in every form, a damaged trace, and what has no path."""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys

import e2e

ITEMS = 60
STAGES_US = (500, 3000, 1000)
PACKET = 4096
DIRECT = """
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
block = mmap.mmap(-1, 65536)
os.posix_fallocate(file, 0, 60 * len(block))
os.fsync(file)
for i in range(60):
	os.pwrite(file, block, i * len(block))
"""
PING_PONG = """
import os, socket
server = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
	open("/proc/self/comm", "w").write("ponger")
	peer = server.accept()[0]
	while data := peer.recv(64):
		sum(range(2000))
		peer.send(data)
	os._exit(0)
client = socket.create_connection(server.getsockname())
for i in range(500):
	client.send(b"ping")
	client.recv(64)
"""


def path(directory, *options, exit_code=0):
	return json.loads(e2e.run(e2e.reader, "report", "--json", directory, "critical-path", *options, exit_code=exit_code).stdout)


def recorded(name="pipeline"):
	if not (e2e.work / name).exists():
		e2e.record(name, "--force", command=(e2e.compiled("path_load.c", "-pthread"), ITEMS, *STAGES_US))
	return e2e.work / name


def expect_exact(what, answer):
	rows, links = answer["rows"], answer["links"]
	e2e.equal(f"{what}: sum of the rows", sum(row["time_ns"] for row in rows), answer["elapsed_ns"])
	e2e.near(f"{what}: sum of the shares", sum(row["share"] for row in rows), 1, 1e-6)
	e2e.expect(all(link["time_ns"] >= 0 for link in links), f"{what}: a link of negative length")
	ends = [link["start_ns"] + link["time_ns"] for link in links]
	e2e.equal(f"{what}: links touch", [link["start_ns"] for link in links], [0, *ends[:-1]])
	e2e.equal(f"{what}: the last link's end", ends[-1], answer["elapsed_ns"])


def times(answer):
	return {(row["thread"], row["what"]): row["time_ns"] for row in answer["rows"]}


def share_of(answer, thread):
	return sum(row["share"] for row in answer["rows"] if row["thread"] == thread)


def bottleneck():
	"""The stage that works longest is the path, whoever else ran; what its work is made of sums to what it was told to work."""
	directory = recorded()
	answer = path(directory, "--links")
	expect_exact("critical", answer)
	e2e.expect(share_of(answer, "stage2") > 0.5, f"the slowest stage is {share_of(answer, 'stage2'):.3f} of the path: {answer['rows'][:8]}")
	ran = sum(row["time_ns"] for row in answer["rows"] if row["thread"] == "stage2" and row["what"].startswith("running"))
	told = ITEMS * STAGES_US[1] * 1000
	# Less where others kept stage1 from a CPU, so that stage2 waited for it.
	e2e.expect(0.5 * told < ran < 1.15 * told, f"stage2 ran {ran} ns of the path, and was told to work {told}")
	if not e2e.Trace(directory).disturbed():
		e2e.expect(answer["unknown_ns"] < 0.01 * answer["elapsed_ns"], f"{answer['unknown_ns']} ns are unknown, and nothing was lost")
	bounded = path(directory, "--links", "--bounded")
	expect_exact("bounded", bounded)
	e2e.equal("elapsed", bounded["elapsed_ns"], answer["elapsed_ns"])
	e2e.expect(share_of(bounded, "stage2") > 0.3, f"the command waited for its slowest stage: {bounded['rows'][:8]}")
	by_thread = path(directory, "--by", "thread", "--links")
	expect_exact("by thread", by_thread)
	e2e.expect(any(row["thread"].startswith("stage2-") for row in by_thread["rows"]), "no row of the thread of stage2")


def forms():
	directory = recorded()
	answer = path(directory, "--links")
	text = e2e.run(e2e.monitor, "report", directory, "critical-path").stdout
	e2e.expect("from exec to exit; parts sum exactly;" in text, f"the head: {text[:300]}")
	largest = answer["rows"][0]
	e2e.expect(f"{largest['thread']} {largest['what']}" in text, "the text does not have the largest row")
	read = list(csv.DictReader(io.StringIO(e2e.run(e2e.reader, "report", "--csv", directory, "critical-path").stdout)))
	e2e.equal("rows of CSV", [(row["what"], row["thread"], int(row["time_ns"])) for row in read],
	          [(row["what"], row["thread"], row["time_ns"]) for row in answer["rows"]])
	links = list(csv.DictReader(io.StringIO(e2e.run(e2e.reader, "report", "--csv", directory, "critical-path", "--links").stdout)))
	e2e.equal("links of CSV", [(int(row["start_ns"]), row["what"]) for row in links],
	          [(link["start_ns"], link["what"]) for link in answer["links"]])
	folded = e2e.run(e2e.reader, "report", directory, "critical-path", "--bounded", "--folded").stdout.splitlines()
	e2e.near("folded, in us", sum(int(line.rsplit(" ", 1)[1]) for line in folded), answer["elapsed_ns"] / 1000, 0, len(folded) + 20)
	e2e.expect(any(line.startswith("path_load in wait4;stage") for line in folded), f"no sleep is nested: {folded[:5]}")
	e2e.equal("rows with --top", len(path(directory, "--top", 3)["rows"]), 3)


def calls():
	"""What all calls of one name were made of: as long as the report of calls says, and of stage2's work for who waited for it."""
	directory = recorded()
	answer = path(directory, "--call", "read")
	own = [row for row in e2e.Trace(directory).rows("syscalls", call="read", recorded=True)]
	e2e.equal("calls", answer["count"], sum(row["count"] for row in own))
	e2e.near("their time", answer["elapsed_ns"], sum(row["total_ns"] for row in own), 0, 10 * len(own))
	e2e.equal("sum of the rows", sum(row["time_ns"] for row in answer["rows"]), answer["elapsed_ns"])
	e2e.expect(share_of(answer, "stage2") > 0.5, f"stage3 waited for stage2: {answer['rows'][:5]}")
	done = e2e.run(e2e.monitor, "report", directory, "critical-path", "--activity", "work", exit_code=1)
	e2e.expect("nothing called work" in done.stderr, f"an activity that is none: {done.stderr}")


def parts_of_time():
	"""A thread that is named, and a part of its time."""
	directory = recorded()
	trace = e2e.Trace(directory)
	(stage3,) = trace.rows("--by", "thread", thread="stage3", recorded=True)
	answer = path(directory, "--tid", stage3["tid"], "--links")
	expect_exact("stage3", answer)
	e2e.equal("thread", answer["thread"], f"stage3-{stage3['tid']}")
	e2e.equal("by name", path(directory, "--comm", "stage3")["elapsed_ns"], answer["elapsed_ns"])
	(start,) = trace.events("--event", "sched_process_exec", "--pid", trace.recording()["command_pid"])
	middle = start["time_ns"] / 1e9 + 0.1
	answer = path(directory, "--from", f"{middle:.9f}", "--to", f"{middle + 0.05:.9f}", "--links")
	expect_exact("a part", answer)
	e2e.near("elapsed", answer["elapsed_ns"], 5e7, 1e-3)
	whole, parts = times(path(directory)), [times(path(directory, *part)) for part in
	                                        (("--to", f"{middle:.9f}"), ("--from", f"{middle + 1e-9:.9f}"))]
	for row in whole.keys() | parts[0].keys() | parts[1].keys():
		e2e.near(f"{row} in two parts of the path", sum(part.get(row, 0) for part in parts), whole.get(row, 0), 0, 10)
	e2e.expect(trace.summary()["lost"] == 0 or answer["unknown_ns"] > 0, "a loss without anything unknown")


def first_thread_ends():
	"""A process ends with its last thread."""
	directory = e2e.record("leader", "--force", command=(e2e.compiled("path_load.c", "-pthread"), 100_000)).directory
	for options in ((), ("--bounded",)):
		answer = path(directory, "--links", *options)
		expect_exact(f"last thread, {options}", answer)
		worked = sum(row["time_ns"] for row in answer["rows"] if row["thread"] == "second" and row["what"].startswith("running"))
		e2e.near("what the second thread worked", worked, 1e8, 0.15)


EXEC_BY_THREAD = """
import os, threading
shell = lambda: os.execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done")
thread = threading.Thread(target=shell)
thread.start()
thread.join()
"""


def second_thread_executes():
	"""Who executes a program takes over the process's number: the path is that of the program."""
	directory = e2e.record("executes", "--force", command=(sys.executable, "-c", EXEC_BY_THREAD)).directory
	answer = path(directory, "--links")
	expect_exact("exec by a thread", answer)
	(ran,) = [row for row in e2e.Trace(directory).rows(recorded=True) if row["process"] == "sh"]
	on_path = sum(row["time_ns"] for row in answer["rows"] if row["thread"] == "sh" and row["what"].startswith("running"))
	e2e.near("what sh ran of the path", on_path, ran["cpu_ns"], 0.3)


def disk():
	"""Requests of one thread, one after the other: the device's part is what its events say, and the program's own is not in it."""
	number = os.stat(e2e.work).st_dev
	if not os.path.exists(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}"):
		return e2e.leave_out("requests", "the test's directory is on no block device")
	trace = e2e.record("disk", "--force", command=(sys.executable, "-c", DIRECT, e2e.work / "data"))
	begun, took = {}, {}
	for event in trace.events("--event", "block_io_start,block_rq_complete"):
		fields = event["fields"]
		if event["event"] == "block_io_start" and (event["comm"] or "").startswith("python"):
			begun[fields["dev"], fields["sector"]] = event["time_ns"]
		elif event["event"] == "block_rq_complete" and fields["nr_bytes"] == 65536:
			took[event["time_ns"]] = event["time_ns"] - begun.pop((fields["dev"], fields["sector"]), event["time_ns"])
	e2e.expect(sum(ns > 0 for ns in took.values()) >= 60, f"requests of the program: {took}")
	# Beside other load a request may complete before who submitted it sleeps; a kworker may finish what the device did.
	named = os.path.basename(os.path.realpath(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}"))
	e2e.equal("names of disks", trace.recording()["disk_names"].get(f"{os.major(number)}:{os.minor(number)}"), named)
	sleeps = trace.rows("offcpu", recorded=True)
	slept, asleep = (sum(row["total_ns"] for row in sleeps if row["call"] == call or not call) for call in ("pwrite64", ""))
	device = {}
	for options in ((), ("--bounded",)):
		answer = path(trace.directory, "--links", *options)
		expect_exact(f"disk {options}", answer)
		until = [row for row in answer["rows"] if row["what"].startswith(("blocked: pwrite64 until disk ", "blocked: no call until disk "))]
		device[options] = sum(row["time_ns"] for row in until)
	critical, bounded = device.values()
	e2e.expect(slept / 2 < bounded < 1.05 * asleep, f"{bounded} ns until the disk, of {slept} that it slept for it, and {asleep} in all")
	e2e.expect(0.95 * bounded < critical < 1.15 * sum(took.values()) + asleep, f"{critical} ns of the device, which took {sum(took.values())}")
	e2e.expect(not any("network" in row["what"] for row in answer["rows"]), f"a network: {answer['rows']}")


def loopback():
	"""A sleep for what a thread of this machine sent leads to that thread, and is not the network's."""
	trace = e2e.record("loopback", "--force", command=(sys.executable, "-c", PING_PONG))
	(ponger,) = trace.rows("--by", "thread", thread="ponger", recorded=True)
	for options in ((), ("--bounded",)):
		answer = path(trace.directory, "--links", *options)
		expect_exact(f"loopback {options}", answer)
		claimed = [row for row in answer["rows"] if "network" in row["what"]]
		e2e.equal(f"of the network {options}", claimed, [])
		ran = sum(row["time_ns"] for row in answer["rows"] if row["thread"] == "ponger" and row["what"].startswith("running"))
		e2e.expect(ran > 0.3 * ponger["cpu_ns"], f"{ran} ns of {ponger['cpu_ns']} that ponger ran {options}: {answer['rows'][:8]}")
	raised = trace.query("SELECT vec_label, count(*) AS n FROM softirq_raise GROUP BY 1")
	e2e.expect({row["vec_label"] for row in raised} <= {"NET_RX", "NET_TX"} and sum(row["n"] for row in raised) >= 1000, f"raised: {raised}")


def without_calls():
	"""Where no system calls are recorded, no sleep is in the one of the list at the start."""
	trace = e2e.record("calls", "--force", "-e", "sched,irq", command=("sh", "-c", "sleep 0.2; true"))
	slept = {row["call"] for row in trace.rows("offcpu", thread="sh") if row["total_ns"] > 1e8}
	e2e.equal("the call in which the shell waited", slept, {"-"})


def damaged():
	"""Of a trace with a damaged packet the path is as long, and says what it does not know."""
	directory = recorded()
	damaged = e2e.work / "damaged"
	shutil.copytree(directory, damaged)
	for stream in damaged.glob("kernel_cpu*"):
		packets = stream.stat().st_size // PACKET
		if "level" in stream.name or packets < 3:
			continue
		with stream.open("r+b") as file:
			for packet in range(packets // 3, max(packets // 3 + 1, 2 * packets // 3)):
				file.seek(packet * PACKET)
				file.write(bytes(PACKET))
	answer = path(damaged, "--links", exit_code=None)
	expect_exact("damaged", answer)
	e2e.equal("elapsed", answer["elapsed_ns"], path(directory)["elapsed_ns"])
	lost = sum(row["time_ns"] for row in answer["rows"] if row["what"] == "unknown: events were lost")
	e2e.expect(0 < lost <= answer["unknown_ns"], f"{lost} ns are said to be lost, {answer['unknown_ns']} unknown")


def of_one_process():
	"""A recording of one process without a command is of that one, in both answers."""
	program = subprocess.Popen([sys.executable, "-c", "import time\nwhile True: time.sleep(0.01)"])
	try:
		directory = e2e.record("one", "--force", "-p", program.pid, "-d", 0.3).directory
	finally:
		program.kill()
		program.wait()
	answer = path(directory, "--links")
	expect_exact("of one process", answer)
	e2e.expect(answer["thread"].endswith(f"-{program.pid}"), f"whose path it is: {answer['thread']}")
	text = e2e.run(e2e.monitor, "explain", directory).stdout
	e2e.expect(re.match(rf"\S+-{program.pid}, .* from the start to the end; ", text), f"what is explained: {text[:200]}")


def refused():
	directory = recorded()
	without = e2e.record("without", "--force", "-d", 0.2).directory
	for sentence, *words in (("this recording has no command", without, "critical-path"),
	                         ("is of one recording of one host, and these are 2", directory, without, "critical-path"),
	                         ("a path leads over all CPUs", directory, "critical-path", "--cpu", 0),
	                         ("--links needs the report critical-path", directory, "--links"),
	                         ("leave out --top", directory, "critical-path", "--folded", "--top", 3),
	                         ("name it with --tid", directory, "critical-path", "--comm", "stage*"),
	                         ("nothing in this trace matches|no thread that is selected", directory, "critical-path", "--comm", "nobody")):
		done = e2e.run(e2e.monitor, "report", *words, exit_code=None)
		e2e.expect(done.returncode != 0 and any(part in done.stderr for part in sentence.split("|")) and done.stderr.count("\n") <= 3,
		           f"{words}: {done.returncode}, {done.stderr}")
	refused = e2e.record("faults", "--force", "-e", "fault", command=("true",)).directory
	done = e2e.run(e2e.monitor, "report", refused, "critical-path", exit_code=1)
	e2e.expect("was not recorded" in done.stderr, f"without wake-ups: {done.stderr}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(bottleneck, forms, calls, parts_of_time, first_thread_ends, second_thread_executes, disk, loopback, without_calls, damaged, of_one_process, refused)
