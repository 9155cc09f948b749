#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""list --filter: the events for which an expression holds are those that Python picks from `list --json`.

fdl.py MONITOR PROGRAMS WORK SOURCE_DIRECTORY
"""
import fnmatch
import json
import math
import pathlib
import re
import sys

import e2e


def fields(event, *names):
	"""The values of these fields, or None if the event does not have all of them."""
	values = [event["fields"].get(name) for name in names]
	return None if None in values else values


def field(name, test):
	"""A predicate: the event has the field, and the test holds for its value."""
	return lambda event: name in event["fields"] and bool(test(event["fields"][name]))


def within(value, *ranges):
	return any(first <= value <= last for first, last in ranges)


def expressions(pid, middle_ns):
	"""Each expression and the same in Python."""
	both = lambda one, other: lambda event: one(event) and other(event)
	named = lambda name: lambda event: event["event"] == name
	return {
		'name == "sys_exit" and ret < 0': both(named("sys_exit"), field("ret", lambda ret: ret < 0)),
		"ret != 0": field("ret", lambda ret: ret != 0),
		"not (ret != 0)": lambda event: event["fields"].get("ret", 0) == 0,
		"ret == -1 or ret == 18446744073709551615": field("ret", lambda ret: ret == -1),
		f"pid in {{1, {pid}, {pid + 1}..{pid + 20}}}": field("pid", lambda value: within(value, (1, 1), (pid, pid + 20))),
		f"tid not in {{{pid}..{pid + 20}}}": lambda event: event["pid"] is not None and not pid <= event["pid"] <= pid + 20,
		'prev_state == "R+" and cpu != 0': both(field("prev_state", lambda state: state == "R+"),
		                                        lambda event: event["cpu"] not in (None, 0)),
		'prev_state in {"S", "D", "I"} and prev_pid != next_pid': both(
			field("prev_state", lambda state: state in ("S", "D", "I")),
			lambda event: event["fields"]["prev_pid"] != event["fields"]["next_pid"]),
		'name ~ "sched_*" and not has(next_pid)': lambda event: event["event"].startswith("sched_") and
			"next_pid" not in event["fields"],
		'thread == "workload" && mode == "kernel"': lambda event: event["comm"] == "workload" and event["mode"] == "kernel",
		'thread ~ "[a-k]*/*" || !has(thread)': lambda event: event["comm"] is None or
			fnmatch.fnmatchcase(event["comm"], "[a-k]*/*"),
		f"time > {middle_ns}ns": lambda event: event["time_ns"] > middle_ns,
		f"time in {{{middle_ns // 2000}us..{middle_ns}ns}}": lambda event: middle_ns // 2000 * 1000 <= event["time_ns"] <= middle_ns,
		"time % 1ms < 10us": lambda event: math.fmod(event["time_ns"], 1_000_000) < 10_000,
		"error_code & 0b110 == 6 and address >> 40 != 0": lambda event: (values := fields(event, "error_code", "address"))
			is not None and values[0] & 6 == 6 and values[1] >> 40 != 0,
		"address > 0x7fffffffffffffff or address % 4096 == 0": field(
			"address", lambda address: address > 0x7fffffffffffffff or address % 4096 == 0),
		'id in {"getppid", "wait4", "clone"}': field("id", lambda name: name in ("getppid", "wait4", "clone")),
		'id ~ "*stat*"': field("id", lambda name: isinstance(name, str) and "stat" in name),
		'comm in {"a".."m", "workload"} or newcomm != ""': lambda event: (
			isinstance(comm := event["fields"].get("comm"), str) and ("a" <= comm <= "m" or comm == "workload")) or
			event["fields"].get("newcomm", "") != "",
		"level > 0 or stream == \"recorder\"": lambda event: event["level"] > 0 or event["cpu"] is None,
		"event.cpu == 0 and has(pid)": both(field("cpu", lambda cpu: cpu == 0), field("pid", lambda pid: True)),
		"ret / (ret - ret) != 1 or not has(ret) and target_cpu + 1 == cpu + 1": lambda event: "ret" not in event["fields"] and
			event["cpu"] is not None and event["fields"].get("target_cpu") == event["cpu"],
	}


def with_what_follows(events):
	"""The events with what the short forms of exits lack: the call that the thread entered or was cloned in, and its name."""
	calls, known = {}, []
	for event in events:
		name, tid, own = event["event"], event["pid"], event["fields"]
		fields = dict(own)
		if name == "sys_exit":
			fields = calls.get(tid, {}) | fields
		elif name == "sched_process_exit" and event["comm"] is not None:
			fields["comm"] = event["comm"]
		known.append(event | {"fields": fields})
		if name == "sys_enter":
			calls[tid] = {"id": own["id"], "abi": own["abi"]}
		elif name == "sys_exit":
			calls.pop(tid, None)
		elif name == "sched_wakeup_new":
			calls[own["pid"]] = calls.get(tid, {})
	return known


def listed(trace, *options):
	return e2e.run(e2e.monitor, "list", "--json", *options, trace.directory).stdout.splitlines()


def compared():
	global TRACE, LINES, EVENTS
	TRACE = e2e.record_workload("trace", "forks", 30)
	LINES = listed(TRACE)
	EVENTS = [json.loads(line) for line in LINES]
	e2e.expect(len(EVENTS) > 1000, f"only {len(EVENTS)} events")
	# Of those within the recorded time: the list of threads may be before it, and longer than all that follows.
	times_ns = [event["time_ns"] for event in EVENTS if event["time_ns"] > 0]
	middle_ns = times_ns[len(times_ns) // 2]
	known = with_what_follows(EVENTS)
	with_matches = 0
	for expression, predicate in expressions(TRACE.values["pid"], middle_ns).items():
		should = [line for line, event in zip(LINES, known) if predicate(event)]
		found = listed(TRACE, "--filter", expression)
		missing, strange = set(should) - set(found), set(found) - set(should)
		e2e.expect(found == should, f"{expression}: {len(found)} events, not {len(should)}; missing {sorted(missing)[:3]}, "
		           f"too many {sorted(strange)[:3]}")
		with_matches += 0 < len(should) < len(LINES)
	e2e.expect(with_matches >= 12, f"only {with_matches} expressions tell events apart")


def with_others():
	"""--filter goes together with the other options, and what is not printed still names threads."""
	pid = TRACE.values["pid"]
	should = [line for line, event in zip(LINES, EVENTS)
	          if event["event"] == "sys_exit" and event["cpu"] == 0 and event["fields"]["ret"] < 0]
	e2e.equal("--event, --cpu and --filter", listed(TRACE, "--event", "sys_exit", "--cpu", 0, "--filter", "ret < 0"), should)
	both = listed(TRACE, "--pid", pid, "--filter", 'name == "sys_enter"')
	e2e.equal("--pid and --filter", both, listed(TRACE, "--pid", pid, "--event", "sys_enter"))
	e2e.expect(both, "no system call of the workload")
	text = e2e.run(e2e.monitor, "list", TRACE.directory, "--filter", "time > 1000000s")
	e2e.expect(text.stdout == "" and "no event" in text.stderr, f"nothing matches, but: {text.stdout}{text.stderr}")


def documented():
	"""Every example of the documentation is an expression that some trace understands: here one of everything."""
	documentation = pathlib.Path(sys.argv[4]) / "Documentation"
	examples = []
	for page in ("filters.md", "man/monitor-list.1"):
		text = (documentation / page).read_text(encoding="utf-8")
		examples += re.findall(r"^ *monitor list \w+ --filter '(.*)'$", text, re.M)
	examples += re.findall(r"--filter '(.*)'$", e2e.run(e2e.monitor, "list", "--help").stdout, re.M)
	e2e.expect(len(examples) >= 11, f"only {len(examples)} examples")
	for example in examples:
		e2e.run(e2e.monitor, "list", TRACE.directory, "--filter", example)


def errors():
	for expression, column, says in ((" ", 2, "empty"), ("ret <", 6, "missing"), ("rett < 0", 1, "Did you mean ret"),
	                                 ('name == "sys_exti"', 9, "Did you mean sys_exit"), ('prev_state == "Q"', 15, "no label"),
	                                 ("time > 5", 8, "unit"), ("1 / 0 == ret", 3, "no value"), ("ret", 1, "not a condition")):
		done = e2e.run(e2e.monitor, "list", TRACE.directory, "--filter", expression, exit_code=1)
		lines = done.stderr.splitlines()
		e2e.expect(done.stdout == "" and len(lines) == 3 and lines[0].startswith(f"monitor: filter, column {column}: ") and
		           says in lines[0] and lines[1] == "  " + expression and lines[2] == " " * (column + 1) + "^",
		           f"{expression!r}: {done.stdout}{done.stderr}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(compared, with_others, documented, errors)
