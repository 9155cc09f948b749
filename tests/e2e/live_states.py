#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record --states: the run lengths that the recorder writes are those that its tokens have, run by run, for shipped trees
and others, with losses too; without tokens they are the answer by themselves.
"""
import json
import os
import shutil
import signal
import time

import e2e

load = os.path.join(e2e.programs, "activity_load")
bursts = ("sh", "-c", "dd if=/dev/zero of=/dev/null bs=1 count=150000 & dd if=/dev/zero of=/dev/null bs=1 count=150000; wait")


def rows(trace, *options):
	return json.loads(e2e.run(e2e.monitor, "states", trace.directory, "--json", *options).stdout)


def by_subject(runs):
	found = {}
	for run in runs:
		who = run.get("cpu", run.get("thread", ""))
		found.setdefault(who, []).append((run["from_ns"], run["number"], run["state"], run["ticks"]))
	return found


def expect_equal(trace, tree, *options):
	"""Every run, and what the options show of them."""
	recorded, computed = by_subject(rows(trace, "--runs", *options)), by_subject(rows(trace, "--tree", tree, "--runs", *options))
	e2e.equal(f"{tree}: subjects", sorted(recorded), sorted(computed))
	for who, runs in computed.items():
		theirs = recorded.get(who, [])
		first = next((i for i, pair in enumerate(zip(theirs, runs)) if pair[0] != pair[1]), min(len(theirs), len(runs)))
		e2e.expect(theirs == runs, f"{tree}: run {first} of {who}: the recorder has {theirs[first:first + 2]}, the tokens {runs[first:first + 2]}")
	return sum(map(len, computed.values()))


def verdict(trace):
	trace.check()
	return [statement["verdict"] for statement in trace.statements if statement["id"] == "states"]


def own_tree(name, text):
	path = e2e.work / f"{name}.tree"
	path.write_text(text)
	return path


@e2e.longer
def recorders_runs_are_those_of_the_tokens():
	own = own_tree("own", 'of thread\nnap: activity == "nap"\n\tasleep: state == "blocked"\njob: outer_activity == "job"\n'
	               'runs: state == "running"\n')
	machine = own_tree("machine", 'of machine\nswitch: name == "sched_switch"\nfull: idle == 0\nhalf: running > 0\nnone: running == 0\n')
	events = own_tree("events", 'of cpu\nopens: name == "sys_enter" and id == "openat"\nenters: name == "sys_enter"\n'
	                  'switches: name == "sched_switch"\nnap: name == "nap_begin"\n')
	for tree, least in (("cpu", 1000), ("thread", 1000), ("request", 1000), (own, 200), (machine, 100), (events, 1000)):
		trace = e2e.record("live", "--force", "--no-calibration", "--states", tree, command=(load, 50, 20))
		runs = expect_equal(trace, tree)
		e2e.expect(runs > least, f"{tree}: only {runs} runs")
		e2e.equal(f"{tree}: check", verdict(trace), ["ok"])
		e2e.equal(f"{tree}: late events", trace.recording()["states"]["late"], 0)
		if tree == "thread":
			as_offline(trace)
			red(trace)


def as_offline(trace):
	"""The same tables, selections and matches."""
	start = rows(trace, "--runs", "--top", "1")[0]["from_ns"]
	middle = ("--from", f"{round(start) + 20_000_000}ns", "--to", f"{round(start) + 60_000_000}ns")
	for options in ((), ("--each",), ("--command", "--each"), ("--comm", "activity_load", "--runs"), middle, ("--runs", *middle),
	                ("--match", "running+ blocked", "--command"), ("--histogram", "--command"), ("--pid", "1"), ("--cgroup", "/")):
		e2e.equal(f"states {options}", rows(trace, *options), rows(trace, "--tree", "thread", *options))
	text = [e2e.run(e2e.monitor, "states", trace.directory, *tree, "--command").stdout for tree in ((), ("--tree", "thread"))]
	e2e.equal("text", *text)


def red(trace):
	"""A run length that the tokens do not have must be seen."""
	wrong = trace.copy("wrong")
	file = wrong.directory / "states"
	data = bytearray(file.read_bytes())
	at = next(at for at in range(96, 4096, 8) if data[at] | (data[at + 1] & 0xF) << 8 == 10)  # the first state_run
	data[at + 12] ^= 1  # ticks
	file.write_bytes(data)
	e2e.equal("what is red", wrong.check(), {"states"})


@e2e.longer
def losses_are_unknown():
	"""Rings that are too small: the recorder learns of a loss before its end is known."""
	for tree in ("cpu", "thread"):
		trace = e2e.until_undisturbed(lambda: e2e.record("lossy", "--force", "--no-calibration", "--buffer", "700K", "--states", tree, command=bursts),
		                              lambda trace: not trace.summary()["lost"] and "no event was lost", 4)
		e2e.expect(trace.summary()["lost"] > 0, "nothing was lost")
		e2e.equal(f"{tree} with losses: check", verdict(trace), ["ok"])
		unknown = [row for row in rows(trace) if row["state"] == "unknown"]
		e2e.expect(unknown[0]["ticks"] > 0, f"{tree}: nothing is unknown: {unknown}")


@e2e.longer
def many_processes():
	"""More programs than get streams of their own: their events are merged by the recorder."""
	many = ("sh", "-c", f"for i in $(seq 80); do {load} 2 0 & done; wait")
	trace = e2e.record("many", "--force", "--no-calibration", "--states", "request", command=many)
	expect_equal(trace, "request")
	e2e.expect(any(path.name.startswith("user_merged") for path in trace.directory.iterdir()), "nothing was merged")


def without_tokens():
	trace = e2e.record("bare", "--force", "--states", "thread", "--no-tokens", command=(load, 50, 20))
	e2e.equal("files", sorted(path.name for path in trace.directory.iterdir()), [".monitor", "metadata", "recorder", "states"])
	e2e.equal("what is red", trace.check(), set())
	e2e.equal("check", verdict(trace), ["not witnessed"])
	found = {row["state"]: row for row in rows(trace, "--command")}
	e2e.expect(found["blocked/sleep"]["runs"] >= 50 and found["running"]["time_ns"] > 0, f"{found}")
	lengths = {sum(run[3] for run in runs) for runs in by_subject(rows(trace, "--runs", "--command")).values()}
	e2e.equal("lengths of the threads' runs", len(lengths), 1)
	wrong = trace.copy("times")
	said = json.loads((wrong.directory / ".monitor" / "recording.json").read_text())
	for begin in (65535, None):
		said["states"]["begin"] = begin
		(wrong.directory / ".monitor" / "recording.json").write_text(json.dumps(said))
		e2e.expect("are damaged" in e2e.run(e2e.monitor, "states", wrong.directory, exit_code=1).stderr, f"begin {begin}")
		e2e.equal(f"what is red with begin {begin}", wrong.check(), {"states"})
	torn = trace.copy("torn")
	with open(torn.directory / "states", "r+b") as file:
		file.seek(2 * 4096 + 64)  # the sequence number of a packet
		file.write(bytes(8))
	e2e.expect("streams" in torn.check(), "a stream that is out of sequence")
	cut = trace.copy("cut")
	with open(cut.directory / "states", "r+b") as file:
		file.truncate(4096)
	e2e.expect("are not in the files of this trace" in e2e.run(e2e.monitor, "states", cut.directory, exit_code=1).stderr, "nothing said of packets that are missing")
	for command, sentence in ((("states", trace.directory, "--tree", "cpu"), "only the run lengths of its tree thread: leave out --tree"),
	                          (("report", trace.directory), "only run lengths of states: use `monitor states DIR`")):
		wrong = e2e.run(e2e.monitor, *command, exit_code=1).stderr
		e2e.expect(sentence in wrong, wrong)
	if shutil.which("babeltrace2"):
		done = e2e.run("babeltrace2", trace.directory)
		e2e.expect('state = ( "blocked/sleep" : container = 8 )' in done.stdout and done.stderr == "", done.stderr[:300])


@e2e.longer
def killed():
	"""What was written can be read; the rest is unknown."""
	recorder = e2e.Recorder("killed", "--force", "--no-calibration", "--states", "thread", "--no-tokens").wait_until_recording()
	with e2e.Load((e2e.workload, "family", 300)):
		time.sleep(1.5)
	recorder.send(signal.SIGKILL)
	trace = recorder.end(number=None, exit_code=-signal.SIGKILL)
	found = {row["state"]: row for row in rows(trace)}
	e2e.expect(found["running"]["time_ns"] > 0 and found["unknown"]["time_ns"] > 0, f"{found}")
	lengths = {sum(run[3] for run in runs) for runs in by_subject(rows(trace, "--runs")).values()}
	e2e.equal("lengths of the threads' runs", len(lengths), 1)


def errors():
	later = own_tree("later", "of cpu\na: time > 1s\n")
	wrong = own_tree("wrong", "of cpu\na: preev_pid == 1\n")
	label = own_tree("label", 'of thread\na: call == "fsynk"\n')
	number = own_tree("number", 'of thread\na: process == "load"\n')
	for options, sentence in (
			(("--states", "cpus"), "unknown tree cpus; expected a file, or one of: cpu, request, thread"),
			(("--states", later), "compares `time`, which cannot be done while recording"),
			(("--states", wrong), 'wrong.tree, line 2: filter, column 1: no event of this trace has a field "preev_pid". Did you mean prev_pid'),
			(("--states", label), 'no label of call is "fsynk". Did you mean fsync?'),
			(("--states", number), "process is a number without labels"),
			(("--states", "cpu", "-e", "syscall", "--user-only", "--", "true"), "mode follows from sched_switch, which this trace lacks"),
			(("--no-tokens",), "--no-tokens leaves only counts, times and states: add --count NAME=EXPRESSION, --time or --states TREE"),
			(("--states", "cpu", "--no-tokens", "-m", "cpu"), "-m records tokens: leave out --no-tokens")):
		done = e2e.run(e2e.monitor, "record", "-o", e2e.work / "none", "-d", "1", *options, exit_code=125)
		e2e.expect(sentence in done.stderr, f"{options}: {done.stderr}")
		e2e.expect(not (e2e.work / "none").exists(), f"{options}: a directory is left")
	trace = e2e.record("plain", "--force", "--no-calibration", command=("true",))
	done = e2e.run(e2e.monitor, "states", trace.directory, exit_code=1)
	e2e.expect("this trace has no run lengths of its own, which record --states writes: name a tree with --tree" in done.stderr, done.stderr)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(recorders_runs_are_those_of_the_tokens, losses_are_unknown, many_processes, without_tokens, killed, errors)
