#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`monitor check --rules` with the shipped rules: fresh recordings of several workloads keep all of them, and most have
something to judge; a rule that is false fails with its events and exit code 1."""
import json

import e2e

WORKLOADS = [("getppid", 20000), ("forks", 100), ("threads", 20), ("exec_thread", 5), ("mixed", 300), ("pingpong", 500)]


def rules(trace, *options, exit_code=0):
	run = e2e.run(e2e.monitor, "check", str(trace.directory), *options, "--json", exit_code=exit_code)
	return json.loads(run.stdout)


def fresh():
	judged = set()
	for verb, number in WORKLOADS:
		trace = e2e.record("rules_" + verb, "-e", "sched,irq,syscall,block", command=[e2e.workload, verb, str(number)])
		for outcome in rules(trace, "--rules", "kernel", "--rules", "user", exit_code=None):
			if outcome["verdict"] == "ok":
				judged.add(outcome["id"])
			e2e.expect(outcome["verdict"] != "FAILS",
			           f"{verb}: {outcome['text']}\n{json.dumps(outcome['violations'], indent=1)}")
	e2e.expect(len(judged) >= 11, f"only {len(judged)} rules had something to judge: {sorted(judged)}")


def false_rule():
	trace = e2e.record("false_rule", "-e", "sched,syscall", command=[e2e.workload, "getppid", "1000"])
	path = e2e.work / "false.rules"
	path.write_text('rule: nobody asks for its parent\n\tnever: name == "sys_enter" and id == "getppid"\n')
	outcome, = rules(trace, "--rules", str(path), exit_code=1)
	e2e.equal("the verdict", outcome["verdict"], "FAILS")
	e2e.expect(outcome["violated"] >= 1000, f"1000 calls violate the rule {outcome['violated']} times")
	e2e.equal("violations shown", len(outcome["violations"]), 5)
	e2e.equal("the event", outcome["violations"][0]["events"][0]["fields"]["id"], "getppid")
	path.write_text('rule: misspelt\n\tfor: name == "sys_exit"\n\tholds: rett < 1\n')
	run = e2e.run(e2e.monitor, "check", str(trace.directory), "--rules", str(path), exit_code=1)
	e2e.expect("false.rules, line 3: filter, column 1" in run.stderr and "Did you mean ret" in run.stderr, run.stderr)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(fresh, false_rule)
