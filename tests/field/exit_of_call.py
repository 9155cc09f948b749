#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which openat failed? An expression about the exit of a call, as bpftrace's users write it: 100 of 150 fail with ENOENT.
The exit itself does not say which call it ends, nor a process that exits its name."""
import json

import e2e

FAILED = 'name == "sys_exit" and id == "openat" and ret == -2 and thread == "exit_of_call"'


def ask(command, *words, code=0):
	return e2e.run(e2e.monitor, command, *words, exit_code=code)


def calls():
	trace = e2e.record("calls", command=(e2e.compiled("exit_of_call.c"),))
	right = sum(row["errors"] for row in trace.rows("syscalls", "--comm", "exit_of_call") if row["call"] == "openat")
	e2e.expect(100 <= right <= 102, f"report syscalls: {right} calls of openat failed")
	e2e.equal("list", len(trace.events("--filter", FAILED)), right)
	done = ask("stat", trace.directory, "--filter", FAILED, "--counts", "--json")
	e2e.equal("stat", sum(row["count"] for row in json.loads(done.stdout)), right)
	done = ask("stat", trace.directory, "--filter", 'name == "sys_exit" and ret == -2 and thread == "exit_of_call"',
	           "--by", "id", "--json")
	e2e.equal("stat --by id", sum(row["count"] for row in json.loads(done.stdout) if row["id"] == "openat"), right)
	sql = "SELECT count(*) AS n FROM sys_exit WHERE id_label = 'openat' AND ret = -2 AND thread = 'exit_of_call'"
	e2e.equal("query", json.loads(ask("query", trace.directory, "--json", sql).stdout)[0]["n"], right)
	rules = e2e.work / "failed.rules"
	rules.write_text(f"rule: no openat fails\n\tnever: {FAILED}\n")
	done = ask("check", trace.directory, "--rules", rules, code=1)
	e2e.expect(f"violated {right} times" in done.stdout, f"check --rules: {done.stdout}")
	rules.write_text('rule: nobody reboots\n\tnever: name == "sys_exit" and id == "reboot"\n')  # calls began before the trace did
	(outcome,) = json.loads(ask("check", trace.directory, "--rules", rules, "--json").stdout)
	e2e.expect(outcome["verdict"] == "not checked" and f"; {outcome['undecided']} not judged, as what the event" in outcome["text"], f"{outcome}")
	tree = e2e.work / "failed.tree"
	tree.write_text(f"of machine\nfailed: {FAILED}\n")
	rows = json.loads(ask("states", trace.directory, "--tree", tree, "--json").stdout)
	e2e.equal("states", [row["runs"] for row in rows if row["state"] == "failed"], [right])
	recorded = e2e.record("states", "--states", tree, command=(e2e.work / "exit_of_call",))
	rows = json.loads(ask("states", recorded.directory, "--json").stdout)
	e2e.expect([100 <= row["runs"] <= 102 for row in rows if row["state"] == "failed"] == [True], f"record --states: {rows}")
	done = ask("trigger", FAILED + " => mark", trace.directory, "--json")
	e2e.expect("have no id" in done.stderr, f"trigger on the trace, which judges as a probe does: {done.stderr}")


def filtered():
	"""Where a filter left out calls, nothing says which of them an exit ends."""
	trace = e2e.record("filtered", "--filter", 'id == "close" or name == "sys_exit" and ret == -2',
	                   command=(e2e.compiled("exit_of_call.c"),))
	done = ask("list", trace.directory, "--filter", FAILED)
	e2e.expect("is unknown" in done.stderr, f"list: {done.stderr}")
	tree = e2e.work / "filtered.tree"
	tree.write_text(f"of machine\nfailed: {FAILED}\n")
	rows = {row["state"]: row for row in json.loads(ask("states", trace.directory, "--tree", tree, "--json").stdout)}
	e2e.expect(rows["failed"]["runs"] == 0 and rows["unknown"]["runs"] > 10, f"states: {rows}")
	rules = e2e.work / "filtered.rules"
	rules.write_text(f"rule: no openat fails\n\tnever: {FAILED}\n")
	done = ask("check", trace.directory, "--rules", rules, code=1)
	e2e.expect("neither hold nor fail" in done.stderr, f"check --rules: {done.stderr}")


def processes():
	trace = e2e.record("processes", command=("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done"))
	done = ask("stat", trace.directory, "--filter", 'name == "sched_process_exit" and comm == "true"', "--counts", "--json")
	e2e.equal("exits of processes", sum(row["count"] for row in json.loads(done.stdout)), 10)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(calls, filtered, processes)
