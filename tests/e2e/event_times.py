#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record --time: what is timed in the kernel is what the pairs of the same recording's tokens are, to the tick, and what
`monitor stat` finds; with --no-tokens there is nothing else."""
import json

import e2e

times = {
    "call": 'name == "sys_enter" and id == "getuid" .. name == "sys_exit" per tid', "gap": 'name == "sys_enter" .. name == "sys_enter" per tid',
    "wakeup": 'name == "sched_waking" .. name == "sched_switch" per pid = next_pid', "irq": 'name == "softirq_entry" .. name == "softirq_exit" per cpu',
    "failing": 'ret < 0 .. ret in {0..7} per thread', "fault": 'name == "page_fault_user" and error_code & 2 == 2 .. name == "minor_fault" per tid'}


def options_of(chosen):
	return [word for name, what in chosen.items() for word in ("--time", f"{name}={what}")]


def times_of(trace, *more):
	return {row["name"]: row for row in json.loads(e2e.run(e2e.monitor, "report", "--json", trace.directory, "counts", *more).stdout)["times"]}


def statements_of(trace):
	trace.check()
	return {row["text"].split()[2].rstrip(":"): row for row in trace.statements if row["id"] == "times"}


def times_are_those_of_the_tokens():
	trace = e2e.undisturbed(lambda: e2e.record("both", "--force", *options_of(times), command=(e2e.workload, "results", 500)))
	trace.expect_true()
	said = statements_of(trace)
	e2e.equal("statements of check", sorted(said), sorted(times))
	unwitnessed = {name for name, row in said.items() if row["verdict"] == "not witnessed"}
	if unwitnessed - {"wakeup", "gap", "fault"} and trace.hidden():
		e2e.leave_out("times of the tokens", "in no recording did the threads that the kernel hides stay away from those that are timed")
		return
	# Of an idle thread, which every CPU has, the order of its events may be unknown.
	e2e.equal("what holds", {name for name, row in said.items() if row["verdict"] != "ok"} - {"wakeup", "gap", "fault"}, set())
	found = times_of(trace)
	of_all = len(trace.events("--filter", 'name == "sys_enter" and id == "getuid"'))  # shells make that call, too
	e2e.expect(500 <= found["call"]["number"] <= of_all, f"of {of_all} calls: {found['call']}")
	e2e.equal("percentiles in order", sorted(found["call"][f"{p}_ns"] for p in ("min", "p50", "p90", "p99", "max")),
	          [found["call"][f"{p}_ns"] for p in ("min", "p50", "p90", "p99", "max")])
	for name, row in found.items():
		e2e.equal(f"{name}: histogram", sum(bucket["number"] for bucket in row["histogram"]), row["number"])
	stat = json.loads(e2e.run(e2e.monitor, "stat", "--json", "--start", found["call"]["start"], "--end", found["call"]["end"], "--key", "tid",
	                          "--filter", "time >= 0s", trace.directory).stdout)
	row = stat["activities"][0]["rows"][0]
	# stat's window is the command's, and its percentiles are within 0.8 %.
	e2e.expect(500 <= row["count"] <= found["call"]["number"], f"stat: {row}")
	e2e.expect(row["p50_ns"] * 0.9 <= found["call"]["p50_ns"] <= row["p50_ns"] * 1.15, f"p50 of stat {row['p50_ns']}, of the kernel {found['call']['p50_ns']}")
	e2e.expect("call " in trace.errors and "without a start" in trace.errors, f"no table at the end: {trace.errors}")
	# A figure that is not what the tokens say must be seen.
	for what, value in (("total", 1), ("longest", 1), ("number", 1), ("ends", 1)):
		wrong = trace.copy("wrong")
		file = wrong.directory / ".monitor" / "recording.json"
		said = json.loads(file.read_text())
		said["times"][0][what] += value
		file.write_text(json.dumps(said))
		e2e.equal(f"what is red with another {what}", wrong.check(), {"times"})
	said["times"][0]["ends"] = None
	file.write_text(json.dumps(said))
	e2e.equal("what is red without a number", wrong.check(), {"times"})


def without_tokens():
	trace = e2e.record("bare", "--force", "-p", "cmd", "--no-tokens", "--every", "5ms", "--count", 'calls=id == "getuid" and name == "sys_enter"', *options_of(times),
	                   command=(e2e.workload, "results", 20000))
	trace.expect_true()
	found = times_of(trace)
	e2e.expect(20000 <= found["call"]["number"] <= 20005, f"calls: {found['call']}")
	e2e.equal("tokens", trace.summary()["tokens"], 0)
	by_time = json.loads(e2e.run(e2e.monitor, "report", "--json", trace.directory, "counts", "--by", "time").stdout)["rows"]
	by_cpu = json.loads(e2e.run(e2e.monitor, "report", "--json", trace.directory, "counts", "--by", "cpu").stdout)["times"]
	e2e.expect(len(by_time) >= 4, f"intervals: {len(by_time)}")
	for name in times:
		e2e.equal(f"{name}, by time", sum(row[name] for row in by_time), found[name]["number"])
		e2e.equal(f"{name}, by CPU", sum(row[name] for row in by_cpu), found[name]["number"])
	rows = e2e.run(e2e.monitor, "query", "--csv", trace.directory, "SELECT max(number), max(total) FROM timed WHERE timed_label = 'call'").stdout
	e2e.expect(str(found["call"]["number"]) in rows, f"SQL: {rows}")
	text = e2e.run(e2e.monitor, "report", trace.directory, "counts").stdout
	e2e.expect("calls" in text and "p99" in text and "at most 12.5 % too high" in text, text)


def with_a_filter_and_stacks():
	trace = e2e.record("filtered", "--force", "--stacks", "--filter", 'id == "close"', "--time", "call=" + times["call"], command=(e2e.workload, "results", 300))
	trace.expect_true()
	e2e.expect(times_of(trace)["call"]["number"] >= 300, "what is filtered is timed")


@e2e.longer
def more_starts_than_there_is_room_for():
	# Each address is a key that no end has.
	trace = e2e.record("full", "--force", "--time", 'open=name == "page_fault_user" .. name == "sched_process_exit" per address = pid',
	                   command=("sh", "-c", "i=0; while [ $i -lt 12 ]; do head -c 3M /dev/zero | sort -z > /dev/null; i=$((i + 1)); done"))
	row = times_of(trace)["open"]
	e2e.expect(row["starts_without_room"] > 0 and row["open"] <= 4096, f"{row}")
	e2e.expect("no room" in trace.errors, trace.errors)
	e2e.equal("what has no witness", statements_of(trace)["open"]["verdict"], "not witnessed")


def what_it_refuses():
	directory = e2e.work / "refused"
	for options, sentence in ((("--time", "ret < 0 .. ret > 0"), "give it a name"), (("--time", "a=ret < 0"), "then .."), (("--time", "a= .. ret > 0"), "then .."),
	                          (("--time", "a=ret < .. ret > 0"), "--time a, start, column"), (("--time", "a=ret < 0 .. ret + 1 > 0"), "--time a, end"),
	                          (("--time", "a=ret < 0 .. ret > 0 per"), "after `per` follows a key"), (("--time", "a=ret < 0 .. ret > 0 per a b"), "after `per` follows"),
	                          (("--time", "a=ret < 0 .. ret > 0 per nr_bytes"), "has no number nr_bytes"), (("--time", "a=ret < 0 .. ret > 0 per comm"), "has no number comm"),
	                          (("--time", "a=ret < 0 .. ret > 0", "--time", "a=ret < 0 .. ret > 0"), "two of this name"),
	                          (tuple(word for i in range(17) for word in ("--time", f"c{i}=ret == {i} .. ret == 5")), "can be 16 times"),
	                          (("--no-tokens",), "add --count"), (("--user-only", "--time", "a=ret < 0 .. ret > 0"), "leave out --user-only"),
	                          (("-e", "sched", "--time", "a=ret < 0 .. ret > 0"), "of the family syscall, which is not recorded"),
	                          (("--time", 'a=name == "stack_end" .. ret > 0'), "no event of the kernel starts it")):
		done = e2e.run(e2e.monitor, "record", "-o", directory, *options, "--", "true", exit_code=125)
		e2e.expect(sentence in done.stderr, f"{options[:4]}: {done.stderr}")
		e2e.expect(not directory.exists(), f"{options[:4]}: it left {directory}")


e2e.need_recording()
e2e.main(times_are_those_of_the_tokens, without_tokens, with_a_filter_and_stacks, more_starts_than_there_is_room_for, what_it_refuses)
