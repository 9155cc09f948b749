#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record --filter: what is stored is what `list --filter` shows of a recording of the same without it, and what is not
is counted; of the kernel's events and of programs' own. What cannot be decided is refused before anything is recorded."""
import json
import os

import e2e

# A program's rings: its own streams, merged streams, and the ring that threads without restartable sequences share.
user_load = os.path.join(e2e.programs, "user_load")
without_rseq = {**os.environ, "GLIBC_TUNABLES": "glibc.pthread.rseq=0"}


def calls_of(trace, *options):
	"""The calls that the load makes and their results; how many its start and its end take differs."""
	mine = ("getuid", "close", "lseek", "write", "getpgid")
	return [(event["event"], event["fields"]) for event in trace.events(*options)
	        if event["event"] == "sys_exit" or (event["event"] == "sys_enter" and event["fields"]["id"] in mine)]


@e2e.longer
def calls_are_those_of_the_list():
	options = ("-p", "cmd", "-e", "sched,syscall")
	full = e2e.record_workload("full", "results", 300, *options)
	for expression, expected in (
	    ('id == "close"', 300), ("ret > 32767 and id == \"write\"", 130), ('name == "sys_exit" and ret in {-9, 977 .. 69999}', 500),
	    ('name ~ "sys_*" and id in {"getuid", "write"} and thread == "workload"', 600),
	    ('thread !~ "work*" and ret == -3', 0), ('id & 1 == 1 and abi == "native"', 900), ("ret & 0xf == 7", 300)):
		trace = e2e.record("some", "--force", *options, "--filter", expression, command=(e2e.workload, "results", 300))
		trace.expect_true()
		e2e.equal("the expression in recording.json", trace.recording()["filter"]["expression"], expression)
		listed = calls_of(full, "--filter", expression)
		if "id " in expression:  # a reader derives it for short exits, a probe does not
			listed = [(name, fields) for name, fields in listed if "id" in fields]
		expect_same(expression, calls_of(trace), listed, expected)
		counts = [row for row in trace.recording()["classes"] if row["name"] in ("sys_enter", "sys_exit")]
		e2e.expect(sum(row["filtered"] for row in counts) > 0, f"{expression}: nothing was filtered: {counts}")


def expect_same(expression, kept, listed, at_least):
	e2e.expect(len(kept) >= at_least, f"{expression}: {len(kept)} events were kept, {len(listed)} are listed")
	e2e.expect(abs(len(kept) - len(listed)) <= 20, f"{expression}: {len(kept)} events were kept, {len(listed)} are listed")
	for few in range(40):  # of the load's end: the same from there back
		middle = kept[len(kept) - at_least // 2 - few:len(kept) - few]
		if any(middle == listed[len(listed) - at_least // 2 - other:len(listed) - other] for other in range(40)):
			return
	e2e.expect(not at_least, f"{expression}: what was kept is not what is listed: {kept[-50:-40]} {listed[-50:-40]}")


def user_events():
	for name, verb, number, expression, kept, environment in (
	    ("own", "order", 1000, 'name == "before" and number >= 100 and number < 200', 100, None),
	    ("shared", "order", 1000, 'name == "after" and low & 1 == 1', 500, without_rseq),
	    ("merged", "forks", 100, 'low < 10', None, None),
	    ("none", "order", 500, 'name == "before" and low == 999', 0, None)):
		trace = e2e.record(name, "--force", "--user-only", "--filter", expression, command=(user_load, verb, number),
		                   env=environment or os.environ)
		trace.expect_true()
		card = trace.recording()["user_card"]
		events = trace.events("--filter", expression)
		e2e.equal(f"{name}: events that do not match", len(trace.events()) - len(events) - len(of_recorder(trace)), 0)
		e2e.equal(f"{name}: tokens", card["tokens"], len(events))
		posted = e2e.values(trace.output)["posted"]
		e2e.equal(f"{name}: kept, filtered and lost", card["tokens"] + card["filtered"] + card["discarded"] + card["early"],
		          posted)
		if kept is not None:
			e2e.equal(f"{name}: kept", len(events), kept)
			e2e.equal(f"{name}: filtered, by class", sum(row["filtered"] for row in card["filtered_by_class"]),
			          card["filtered"])
		else:
			e2e.expect(0 < card["tokens"] < card["filtered"], f"{name}: {card['tokens']} kept, {card['filtered']} filtered")


def of_recorder(trace):
	own = ("sync", "clock_set", "thread", "thread_state", "thread_counts", "drain_pass", "block_write")
	return [event for event in trace.events() if event["event"] in own]


def names_of_programs():
	"""A name that no event of the kernel has may be a program's; that is said, and said again if it is not."""
	trace = e2e.record("named", "--force", "--user-only", "--filter", "low == 7", command=(user_load, "order", 20))
	e2e.expect('no event of the kernel has a field "low". It may be' in trace.errors, trace.errors)
	e2e.expect("Nor has" not in trace.errors, trace.errors)
	e2e.equal("events", len(trace.events("--filter", "low == 7")), 2)
	trace = e2e.record("unnamed", "--force", "--user-only", "--filter", "price == 7", command=(user_load, "order", 20))
	e2e.expect('has a field "price". Nor has any' in trace.errors, trace.errors)


def what_it_cannot_decide():
	directory = e2e.work / "refused"
	for expression, sentence in (("ret + 1 == 0", "the kernel compares a value"),
	                             ('thread ~ "*x*"', "a * can only be at the end"),
	                             ('stream ~ "kernel*"', "only the reader knows the streams"),
	                             ('id == "opennat"', "Did you mean openat"), ("id ==", "column"),
	                             (" or ".join(f"(pid == {i} and prio == {i * i + 7})" for i in range(1, 600)), "alternatives")):
		done = e2e.run(e2e.monitor, "record", "-o", directory, "--filter", expression, "--", "true", exit_code=125)
		e2e.expect(sentence in done.stderr, f"{expression}: {done.stderr}")
		e2e.expect(not directory.exists(), f"{expression}: it left {directory}")
		if len(expression) < 100:
			e2e.expect("^" in done.stderr, f"{expression}: no caret: {done.stderr}")
			done = e2e.run(e2e.monitor, "filter", expression, exit_code=1)
			e2e.expect(sentence in done.stderr, f"filter {expression}: {done.stderr}")
	e2e.expect("monitor list DIR --filter 'ret + 1 == 0'" in
	           e2e.run(e2e.monitor, "filter", "ret + 1 == 0", exit_code=1).stderr, "the list that does it is not named")


def reports_say_what_is_missing():
	trace = e2e.record("reports", "--force", "--filter", 'name == "sys_enter" and id == "getppid" and thread == "workload" or name ~ "softirq_*"',
	                   command=(e2e.workload, "getppid", 1000))
	trace.expect_true()
	for report, why in (("syscalls", "sys_enter, sys_exit"), ("offcpu", "sched_waking")):
		done = e2e.run(e2e.monitor, "report", trace.directory, report, exit_code=1)
		e2e.expect(f"--filter left out events of {why}" in done.stderr, f"{report}: {done.stderr}")
	done = e2e.run(e2e.monitor, "report", trace.directory)
	e2e.expect("--filter left out events of" in done.stderr, done.stderr)
	for command in (("states", "--tree", "thread"), ("states", "--tree", "cpu"), ("check", "--rules", "kernel")):
		done = e2e.run(e2e.monitor, command[0], trace.directory, *command[1:], exit_code=1)
		e2e.expect("--filter left out" in done.stderr, f"{command}: {done.stderr}")
	stat = e2e.run(e2e.monitor, "stat", trace.directory)
	e2e.expect("the recording's --filter left out events" in stat.stderr, stat.stderr)
	blocked = e2e.run(e2e.monitor, "query", "--csv", trace.directory, "SELECT count(*) FROM activities WHERE kind = 'blocked'").stdout
	e2e.equal("blocked, without wakings", blocked.split()[-1], "0")
	row = trace.rows(pid=e2e.values(trace.output)["pid"])[0]
	e2e.equal("system calls, of which only some were recorded", row["syscalls"], None)
	e2e.equal("waiting time, without wakings", row["waiting_ns"], None)
	e2e.equal("modes of which only some events were recorded", [row[f"{mode}_percent"] for mode in ("user", "kernel", "irq")], [None] * 3)
	e2e.expect(row["cpu_ns"] > 0, f"the CPU time is known: {row}")
	e2e.equal("calls of getppid", len(trace.events("--filter", f'id == "getppid" and tid == {row["pid"]}')), 1000)
	names = {event["event"] for event in trace.events()}
	e2e.expect({"sched_switch", "softirq_entry", "softirq_exit"} <= names and "sys_exit" not in names, f"events: {names}")


def samples_that_were_left_out():
	trace = e2e.record("samples", "--force", "--no-calibration", "--sample-every", "2ms", "--filter", 'doing == "user"', command=("sleep", "0.2"))
	refused = e2e.run(e2e.monitor, "report", trace.directory, "samples", exit_code=1).stderr
	e2e.expect("left out samples" in refused, refused)
	# What ends blocked times was left out: stacks of these would be an empty table.
	trace = e2e.record("stacks", "--force", "--no-calibration", "--stacks", "--filter", 'name == "sched_switch"', command=("sleep", "0.2"))
	refused = e2e.run(e2e.monitor, "report", trace.directory, "stacks", "--by", "offcpu", exit_code=1).stderr
	e2e.expect("left out events of sched_waking" in refused, refused)


def what_it_would_keep():
	said = json.loads(e2e.run(e2e.monitor, "filter", "--json", "--explain", 'id == "fsync" and thread ~ "db*"').stdout)
	decisions = {(row["name"], row["id"]): row for row in said["classes"]}
	e2e.equal("sys_enter", decisions["sys_enter", 320]["decision"], "part")
	e2e.equal("its values", decisions["sys_enter", 320]["values"], ["id", "thread"])
	e2e.expect(0 < decisions["sys_enter", 320]["cost_ns"] < 10_000, f"cost: {decisions['sys_enter', 320]}")
	e2e.equal("sched_switch", decisions["sched_switch", 256]["decision"], "always")
	e2e.equal("softirq_entry", decisions["softirq_entry", 282]["decision"], "none")
	text = e2e.run(e2e.monitor, "filter", "--explain", 'name ~ "softirq_*" or id == "fsync"').stdout
	e2e.expect("all kept: the expression is true for them:\n  softirq_entry, softirq_exit" in text, text)


e2e.need_recording()
e2e.main(what_it_would_keep, what_it_cannot_decide, calls_are_those_of_the_list, user_events, names_of_programs,
         reports_say_what_is_missing, samples_that_were_left_out)
