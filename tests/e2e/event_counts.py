#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record --count: what is counted in the kernel, and of programs at the drain, is what the same expressions find among
the tokens of the same recording, and what the load says it did. With --no-tokens there is nothing else."""
import json
import os

import e2e

user_load = os.path.join(e2e.programs, "user_load")
expressions = {
    "calls": 'name == "sys_enter" and id == "getuid"', "closed": 'id == "close" and name == "sys_enter"', "failed": "ret < 0",
    "long": "ret > 32767", "switches": 'name == "sched_switch"', "named": 'newcomm ~ "work*" or comm == "workload"',
    "all": "cpu >= 0", "idle": "prev_pid == 0 and cpu == 0", "odd": "ret & 1 == 1 and level == 0",
    "ours": 'thread == "workload" and name == "sys_exit"'}


def options_of(counts):
	return [word for name, expression in counts.items() for word in ("--count", f"{name}={expression}")]


def counts_of(trace):
	return {row["name"]: row["count"] for row in json.loads(e2e.run(e2e.monitor, "report", "--json", trace.directory, "counts").stdout)["rows"]}


def counts_are_those_of_the_tokens():
	trace = e2e.record("both", "--force", *options_of(expressions), command=(e2e.workload, "results", 500))
	trace.expect_true()
	said = [statement for statement in trace.statements if statement["id"] == "counts"]
	e2e.equal("statements of check", len(said), len(expressions))
	e2e.equal("what has no witness", sorted(row["text"].split()[2] for row in said if row["verdict"] == "not witnessed"), ["ours"])
	counts = counts_of(trace)
	e2e.equal("calls", counts["calls"], len(trace.events("--filter", expressions["calls"])))
	e2e.expect(counts["calls"] >= 500 and counts["closed"] >= 500 and counts["failed"] >= 1000, f"counts: {counts}")
	e2e.expect(counts["ours"] >= 2500, f"what a thread of this name did: {counts}")
	e2e.equal("all", counts["all"], sum(row["seen"] for row in trace.recording()["classes"] if row["name"] not in ("counters", "thread_runs")))
	e2e.expect("calls " in trace.errors and "per second" in trace.errors, f"no table at the end: {trace.errors}")
	since, start = trace.recording()["counted"]["since"], trace.recording()["start"]["time"]
	e2e.expect(since < start, f"counted since {since}, but the recording started at {start}")
	# A count that is not what the tokens say must be seen.
	wrong = trace.copy("wrong")
	file = wrong.directory / ".monitor" / "recording.json"
	said = json.loads(file.read_text())
	said["counts"][0]["count"] += 1
	said["counts"][0]["by_cpu"][0] += 1
	file.write_text(json.dumps(said))
	e2e.equal("what is red", wrong.check(), {"counts"})
	# What is no number, or not the sum of its parts, is not shown as one.
	for damage in ("many", 7):
		said["counts"][0]["count"] = damage
		file.write_text(json.dumps(said))
		e2e.equal(f"what is red with {damage}", wrong.check(), {"counts"})
		refused = e2e.run(e2e.monitor, "report", wrong.directory, "counts", exit_code=1).stderr
		e2e.expect("in .monitor/recording.json is damaged, so its numbers are unknown" in refused, refused)


@e2e.longer
def without_tokens():
	trace = e2e.record("bare", "--force", "-p", "cmd", "--no-tokens", "--every", "5ms", *options_of(expressions),
	                   command=(e2e.workload, "results", 20000))
	trace.expect_true()
	counts = counts_of(trace)
	e2e.expect(20000 <= counts["calls"] <= 20005, f"calls: {counts}")
	e2e.expect(20000 <= counts["closed"] <= 20020, f"closed: {counts}")
	e2e.equal("tokens", trace.summary()["tokens"], 0)
	e2e.equal("streams", sorted(path.name for path in trace.directory.iterdir()), [".monitor", "metadata", "recorder"])
	by_time = json.loads(e2e.run(e2e.monitor, "report", "--json", trace.directory, "counts", "--by", "time").stdout)["rows"]
	by_cpu = json.loads(e2e.run(e2e.monitor, "report", "--json", trace.directory, "counts", "--by", "cpu").stdout)["rows"]
	e2e.expect(len(by_time) >= 4, f"intervals: {len(by_time)}")
	for name, count in counts.items():
		e2e.equal(f"{name}, by time", sum(row[name] for row in by_time), count)
		e2e.equal(f"{name}, by CPU", sum(row[name] for row in by_cpu), count)
	done = e2e.run(e2e.monitor, "report", trace.directory, exit_code=1)
	e2e.expect("monitor report DIR counts" in done.stderr, done.stderr)
	rows = e2e.run(e2e.monitor, "query", "--csv", trace.directory, "SELECT max(total) FROM count WHERE count_label = 'calls'").stdout
	e2e.expect(str(counts["calls"]) in rows, f"SQL: {rows}")


def counts_of_what_other_probes_post():
	"""What a thread did is posted by the switch away from it."""
	for tokens in ((), ("--no-tokens",)):
		trace = e2e.record("exits", "--force", "--no-calibration", "-p", "cmd", *tokens, *options_of({"counts": 'name == "thread_counts"', "exits": 'name == "sched_process_exit"'}),
		                   command=("sh", "-c", "for i in 1 2 3 4 5; do /bin/true; done"))
		counts = counts_of(trace)
		e2e.equal(f"{tokens}: threads that ended", counts["counts"], counts["exits"])
		e2e.expect(counts["exits"] >= 5, f"{tokens}: {counts}")


def of_programs():
	counts = {"before": 'name == "before"', "few": "number < 10", "odd": 'name == "after" and low & 1 == 1'}
	for name, environment, verb in (("own", os.environ, "order"), ("shared", {**os.environ, "GLIBC_TUNABLES": "glibc.pthread.rseq=0"}, "order")):
		for tokens in (True, False):
			trace = e2e.record(f"{name}_{tokens}", "--force", "--user-only", *options_of(counts), *(() if tokens else ("--no-tokens",)),
			                   command=(user_load, verb, 1000), env=environment)
			trace.expect_true()
			e2e.equal(f"{name}, tokens {tokens}", counts_of(trace), {"before": 1000, "few": 20, "odd": 500})
			e2e.expect((trace.recording()["user_card"]["tokens"] > 0) == tokens, f"{name}: tokens of programs")
	trace = e2e.record("mixed", "--force", *options_of(counts), command=(user_load, "order", 1000))
	trace.expect_true()
	e2e.equal("beside the kernel's", counts_of(trace), {"before": 1000, "few": 20, "odd": 500})


@e2e.longer
def with_a_filter():
	trace = e2e.record("filtered", "--force", "--filter", 'id == "close"', *options_of(expressions), command=(e2e.workload, "results", 300))
	trace.expect_true()
	counts = counts_of(trace)
	e2e.expect(counts["calls"] >= 300, f"what is filtered is counted: {counts}")
	names = {event["event"] for event in trace.events()}
	e2e.expect("sys_exit" not in names and "sys_enter" in names, f"events: {names}")


def what_it_refuses():
	directory = e2e.work / "refused"
	for options, sentence in ((("--count", "ret < 0"), "give it a name"), (("--count", "a b=ret < 0"), "give it a name"),
	                          (("--count", "a=ret <"), "column"), (("--count", "a=ret + 1 < 0"), "the kernel compares"),
	                          (("--count", "a=ret < 0", "--count", "a=ret > 0"), "two of this name"),
	                          (tuple(word for i in range(65) for word in ("--count", f"c{i}=ret == {i}")), "can be 64 counts"),
	                          (("--count", 'a=thread == "\udcff"'), "not UTF-8"),
	                          (("--no-tokens",), "add --count"), (("--no-tokens", "--count", "a=ret < 0", "--stacks"), "--stacks records tokens"),
	                          (("--no-tokens", "--count", "a=ret < 0", "--filter", "ret < 0"), "leave out --filter"),
	                          (("--count", "a=ret < 0", "--every", "1us"), "every 1ms"),
	                          (("--count", 'a=name == "stack_frames"'), "cannot be counted")):
		done = e2e.run(e2e.monitor, "record", "-o", directory, *options, "--", "true", exit_code=125)
		e2e.expect(sentence in done.stderr, f"{options[:4]}: {done.stderr}")
		e2e.expect(not directory.exists(), f"{options[:4]}: it left {directory}")
	for options, sentence in ((("-e", "sched", "--count", 'a=name == "sys_enter"'), "of the family syscall, which is not recorded"),
	                          (("-e", "sched", "--filter", "ret < 0"), "--filter: its events are of the family syscall")):
		done = e2e.run(e2e.monitor, "record", "-o", directory, *options, "--", "true", exit_code=125)
		e2e.expect(sentence in done.stderr, f"{options[:4]}: {done.stderr}")
	done = e2e.run(e2e.monitor, "record", "-o", directory, "-d", "1", "--count", 'a=name == "sample"', exit_code=125)
	e2e.expect("--sample-every" in done.stderr, done.stderr)
	trace = e2e.record("unsampled", "--force", "--no-calibration", "--count", 'a=doing == "idle"', command=("true",))
	e2e.expect("--sample-every" in trace.errors, trace.errors)
	trace = e2e.record("unprobed", "--force", "--user-only", "--count", 'a=id == "fsync"', command=("true",))
	e2e.expect("leave out --user-only" in trace.errors, trace.errors)
	trace = e2e.record("block", "--force", "--no-tokens", "--count", 'io=name == "block_rq_issue"', command=("true",))
	e2e.equal("families", trace.recording()["programs"], ["block_rq_issue"])
	trace = e2e.record("short", "--force", "--no-tokens", "--count", 'a=name == "sys_exit" and id == "close"', command=("true",))
	e2e.expect("some events of sys_exit have no id" in trace.errors, trace.errors)
	trace = e2e.record("none", "--force", command=("true",))
	e2e.expect("--count NAME=EXPRESSION" in e2e.run(e2e.monitor, "report", trace.directory, "counts", exit_code=1).stderr, "no hint")


e2e.need_recording()
e2e.main(counts_are_those_of_the_tokens, without_tokens, counts_of_what_other_probes_post, of_programs, with_a_filter, what_it_refuses)
