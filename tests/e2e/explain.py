#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`monitor explain`: of a pipeline whose slowest stage is known, in both forms, as a part and of one thread; a damaged trace is
uncertain first; and what cannot be explained gets a sentence. tests/explain/judge.py has a load for each rule."""
import json
import os
import shutil

import e2e

KEYS = {"user", "call", "fault", "irq", "softirq", "disk", "timer", "network", "one_thread", "waiting_others", "waiting_own",
        "ready_unexplained", "throttled", "wakeup_latency", "handover", "priority_inversion", "process_storm", "call_edges",
        "irq_imbalance", "steal", "memory_reclaim", "measurement", "uncertain", "nothing"}
PACKET = 4096


def explained(directory, *options, exit_code=0):
	return json.loads(e2e.run(e2e.reader, "explain", "--json", directory, *options, exit_code=exit_code).stdout)


def recorded():
	if not (e2e.work / "pipeline").exists():
		trace = e2e.record("pipeline", command=(e2e.compiled("path_load.c", "-pthread"), 40, 500, 3000, 1000),
		                   env={**os.environ, "MONITOR_EXPLAIN": "yes"})
		lines = trace.errors.splitlines()[-2:]
		named = f"monitor explain {trace.directory}"
		e2e.expect(lines[-1].endswith(named) and (lines[-1].startswith("monitor: why it took that long") or lines[0].startswith("monitor: path_load took ")),
		           f"the end of record: {lines}")
	return e2e.work / "pipeline"


def expect_sound(what, answer):
	e2e.equal(f"{what}: members", list(answer), ["elapsed_ns", "bound", "findings", "looked_for"])
	e2e.expect(0 <= answer["bound"] <= 1, f"{what}: bound {answer['bound']}")
	for finding in answer["findings"]:
		e2e.equal(f"{what}: members of a finding", list(finding),
		          ["key", "share", "bound", "confidence", "evidence", "text", "command"])
		e2e.expect(finding["key"] in KEYS and 0 <= finding["share"] <= 1 and 0 <= finding["bound"] <= 1 and
		           finding["confidence"] in ("high", "medium", "low"), f"{what}: {finding}")
	found = {finding["key"] for finding in answer["findings"]}
	e2e.expect(found, f"{what}: nothing is said, not even that")
	e2e.expect(not found & {each["key"] for each in answer["looked_for"]}, f"{what}: found and looked for in vain")
	e2e.expect("nothing" not in found or len(found) == 1, f"{what}: {found}")


def pipeline():
	directory = recorded()
	answer = explained(directory)
	expect_sound("pipeline", answer)
	path = json.loads(e2e.run(e2e.reader, "report", "--json", directory, "critical-path").stdout)
	e2e.equal("elapsed", answer["elapsed_ns"], path["elapsed_ns"])
	ran = sum(row["share"] for row in path["rows"] if row["thread"] == "stage2" and row["what"].startswith("running"))
	by_stage = [finding for finding in answer["findings"] if "stage2" in finding["text"]]
	if ran > 0.15 and not e2e.Trace(directory).disturbed():
		e2e.expect(by_stage and by_stage[0]["key"] in ("one_thread", "user"), f"stage2 ran {ran} of it: {answer['findings']}")
		e2e.expect(not by_stage or by_stage[0]["share"] < ran + 0.01, f"it claims more than stage2 ran, {ran}: {by_stage}")
	text = e2e.run(e2e.reader, "explain", directory).stdout
	e2e.expect(text.startswith("path_load took ") and len(text.splitlines()) <= 25, f"the text: {text}")
	for finding in answer["findings"][:2]:
		e2e.run(e2e.monitor, *finding["command"][1:])


def parts_of_it():
	directory = recorded()
	trace = e2e.Trace(directory)
	(stage3,) = trace.rows("--by", "thread", thread="stage3", recorded=True)
	expect_sound("stage3", explained(directory, "--tid", stage3["tid"]))
	(start,) = trace.events("--event", "sched_process_exec", "--pid", trace.recording()["command_pid"])
	middle = start["time_ns"] / 1e9 + 0.05
	answer = explained(directory, "--from", f"{middle:.9f}", "--to", f"{middle + 0.05:.9f}")
	expect_sound("a part", answer)
	e2e.near("its length", answer["elapsed_ns"], 5e7, 1e-3)


def user_code(answer, thread):
	"""How long it is said to have computed; None: no sentence says it."""
	for finding in answer["findings"]:
		parts = {part["name"]: part["share"] for part in finding["evidence"].get("parts", [])}
		if finding["key"] == "user" and finding["evidence"]["of"] == thread:
			return finding["share"] * answer["elapsed_ns"]
		if finding["key"] == "one_thread" and finding["evidence"]["thread"].startswith(thread) and "in user code" in parts:
			return parts["in user code"] * answer["elapsed_ns"]
	return None


def windows():
	"""The sentences of two windows are about the two parts of one path, also where the command sleeps at the end of the first."""
	directory = recorded()
	trace = e2e.Trace(directory)
	(start,) = trace.events("--event", "sched_process_exec", "--pid", trace.recording()["command_pid"])
	middle = start["time_ns"] / 1e9 + 0.06
	answers = [explained(directory, *part) for part in ((), ("--to", f"{middle:.9f}"), ("--from", f"{middle + 1e-9:.9f}"))]
	for answer in answers:
		expect_sound("a window", answer)
		e2e.expect(not any("had not ended" in finding["text"] for finding in answer["findings"]), f"it sleeps at the end: {answer}")
	e2e.near("their lengths", sum(answer["elapsed_ns"] for answer in answers[1:]), answers[0]["elapsed_ns"], 1e-3)
	unknown = [answer["bound"] * answer["elapsed_ns"] for answer in answers]
	e2e.near("what is not known in two windows", sum(unknown[1:]), unknown[0], 0.02, 1e6)
	times = [user_code(answer, "stage2") for answer in answers]
	if None not in times:
		e2e.near("user code of stage2 in two windows", sum(times[1:]), times[0], 0.02, 1e6)


def requests():
	"""What the slowest request did, at whichever thread it was: the service slept longer."""
	load = os.path.join(e2e.programs, "request_load")
	shell = f"{load} serve 40 | {{ read port; exec {load} ask ${{port#port=}} 40 23; }}"
	directory = e2e.record("requests", command=("sh", "-c", shell)).directory
	answer = explained(directory, "--key", "request", "--slowest", 1)
	e2e.equal("members", list(answer), ["activity", "count", "median_ns", "slow_low_ns", "slow_high_ns", "parts"])
	e2e.equal("requests", (answer["activity"], answer["count"]), ("request", 40))
	e2e.expect(answer["slow_low_ns"] >= 9e8 > answer["median_ns"] >= 1e6, f"one took 900 ms, the others 1 ms: {answer}")
	first = (answer["parts"] or [{}])[0]
	e2e.expect(first.get("key") == "timer" and first["share"] > 0.8 and first["in"] == 1, f"it slept: {answer['parts']}")
	text = e2e.run(e2e.monitor, "explain", directory, "--key", "request", "--slowest", 1).stdout
	e2e.expect(text.startswith("The 1 slowest of 40 requests by request took ") and "requests --key request" in text, text)
	for key, sentence in (("cpu", "not a parameter of a request"), ("nonsense", "nonsense")):
		done = e2e.run(e2e.reader, "explain", directory, "--key", key, exit_code=1)
		e2e.expect(sentence in done.stderr and done.stderr.count("\n") == 1, f"--key {key}: {done.stderr}")


def damaged():
	damaged = e2e.work / "damaged"
	shutil.copytree(recorded(), damaged)
	for stream in damaged.glob("kernel_cpu*"):
		packets = stream.stat().st_size // PACKET
		if "level" not in stream.name and packets > 2:
			with stream.open("r+b") as file:
				for packet in range(packets // 3, 2 * packets // 3):
					file.seek(packet * PACKET)
					file.write(bytes(PACKET))
	answer = explained(damaged, exit_code=1)
	expect_sound("damaged", answer)
	e2e.equal("first of a damaged trace", answer["findings"][0]["key"], "uncertain")


def machine():
	directory = e2e.record("machine", "-d", "0.1").directory
	answer = explained(directory)
	expect_sound("machine", answer)
	e2e.expect("one_thread" not in {finding["key"] for finding in answer["findings"]}, f"a path without a command: {answer}")
	empty = e2e.work / "empty"
	empty.mkdir()
	shutil.copy(directory / "metadata", empty)
	for sentence, *words in (("a path leads over all CPUs", directory, "--cpu", 0), ("nothing to explain", empty),
	                         ("no thread that is selected", directory, "--comm", "nobody"), ("nowhere", e2e.work / "nowhere")):
		done = e2e.run(e2e.reader, "explain", *words, exit_code=None)
		e2e.expect(done.returncode != 0 and sentence in done.stderr and not done.stdout, f"{words}: {done.returncode}, {done.stderr}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(pipeline, parts_of_it, windows, requests, damaged, machine)
