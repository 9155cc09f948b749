#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Snapshots of flight recorders on many hosts: by `monitor fleet snapshot`, and of all hosts of a run when a trigger of one
of them fires (record --snapshot-all): who takes one, what it says of its cause, how long it takes until the last host is
frozen; no snapshot causes another one, a host that lies causes no more than the run may have, and who takes no part is told.

fleet_snapshot.py MONITOR PROGRAMS WORK
"""
import json
import re
import subprocess
import sys
import time

import e2e
import fleet_lab
from fleet_lab import wait_for

FLIGHT = ("-e", "sched,syscall", "--no-calibration", "--lead", "200ms", "--flight", "4M", "--snapshots")
ELSEWHERE = ("--trigger", 'fire: thread == "nobody" and name == "sys_enter" and id == "getppid" => snapshot before 300ms')
FIRE = "import ctypes, os, sys\nctypes.CDLL(None).prctl(15, sys.argv[1].encode())\nos.getppid()\n"


def event_of(thread):
	return f'thread == "{thread}" and name == "sys_enter" and id == "getppid"'


def trigger(thread):
	"""Each test has a thread of its own: all record the kernel of this machine."""
	return "--trigger", f"fire: {event_of(thread)} => snapshot before 500ms"


def fire(thread):
	subprocess.run([sys.executable, "-c", FIRE, thread], check=True)


def agents(fleet, *hosts, options=()):
	for host in hosts:
		fleet.agent(host, *options)
	for agent in fleet.processes:
		agent.wait_for("connected to the hub")


def snapshots(fleet, host, run):
	"""Those that are written, and what each says of its cause."""
	made = {}
	for path in sorted(fleet.trace(host, run).directory.glob("[0-9]*/.monitor/recording.json")):
		recording = json.loads(path.read_text())
		if recording["state"] == "complete":
			made[path.parent.parent.name] = recording["flight"]["why"]
	return made


def settled(fleet, hosts, run, number):
	"""The snapshots of each host, once each has this number; a while later none has more."""
	wait_for(lambda: all(len(snapshots(fleet, host, run)) >= number for host in hosts), f"{number} snapshots of each host")
	time.sleep(0.5)
	return {host: snapshots(fleet, host, run) for host in hosts}


@e2e.longer
def all_hosts():
	"""One host has the trigger. Its own snapshot, that of the operator, and those of the others are told apart."""
	others = ("h2", "h3", "h4")
	with fleet_lab.Fleet("all", "h1", *others) as fleet:
		agents(fleet, "h1", *others)
		fleet.run("record", "--hosts", ",".join(others), "--run", "j", *FLIGHT, "3", "--snapshot-all", *ELSEWHERE)
		run = fleet.work / "run"
		follower = fleet_lab.Process(fleet.work / "record.log", e2e.monitor, "fleet", "record", "--keys", fleet.keys, "--hosts", "h1", "--run", "j",
		                             *FLIGHT, "3", "--snapshot-all", *trigger("fire-all"), "-o", run)
		fleet.processes.append(follower)
		follower.wait_for("1 of 1 hosts started")
		fire("fire-all")
		follower.wait_for("the trigger fire of h1 fired (snapshot 001): 3 of 3 other hosts froze")
		made = settled(fleet, ("h1", *others), "j", 1)
		e2e.equal("causes", made, {"h1": {"001": "the trigger fire"}} | {host: {"001": "the trigger fire of host h1 (snapshot 001 there)"} for host in others})
		for host in ("h1", *others):
			recording = e2e.Trace(fleet.trace(host, "j").directory / "001").recording()
			e2e.equal(f"{host}: of the past", recording["flight"]["before_ns"], 500_000_000 if host == "h1" else 300_000_000)
		rows = fleet.rows("snapshot", "--why", "a test")
		e2e.equal("of the operator", {host: (row["state"], row["snapshot"]) for host, row in rows.items()},
		          {host: ("taken", "j/002") for host in ("h1", *others)})
		e2e.expect(all(0 < row["late_ns"] < 60e9 and "events" in row["reason"] for row in rows.values()), rows)
		made = settled(fleet, ("h1", *others), "j", 2)
		e2e.equal("the operator's", {host: each["002"] for host, each in made.items()}, {host: "the operator: a test" for host in made})
		e2e.equal("no further one", {len(each) for each in made.values()}, {2})
		fire("fire-all")
		follower.wait_for("(snapshot 003): 3 of 3 other hosts froze")
		e2e.equal("exit code of record", follower.process.wait(30), 0)
		times = json.loads((run / ".monitor" / "triggers.json").read_text())
		e2e.equal("triggers", [(each["host"], each["snapshot"], each["trigger"], len(each["froze"])) for each in times],
		          [("h1", "001", "fire", 3), ("h1", "003", "fire", 3)])
		for each in times:
			heard, by_clocks = (each[f"last_frozen_{how}_ns"] / 1e6 for how in ("heard", "by_clocks"))
			print(f"  from the trigger to the last of 3 other hosts: {by_clocks:.2f} ms by this machine's clock, {heard:.2f} ms as heard")
			e2e.expect(0 < by_clocks < 2000, each)
		collected(run, ("h1", *others), each["fired"]["realtime_ns"])


def collected(run, hosts, fired_ns):
	"""They have all arrived, are whole traces, and are read; the last ones have what happened before the trigger."""
	accounts = {host["host"]: host for host in json.loads((run / ".monitor" / "fleet.json").read_text())["hosts"]}
	for host in hosts:
		e2e.equal(f"{host}: traces", sorted(trace["directory"] for trace in accounts[host]["traces"]), [f"{host}/{number:03}" for number in (1, 2, 3)])
	for words in (("info",), ("check",), ("list", "--from", "0", "--to", "0")):
		done = e2e.run(e2e.monitor, *words, run, exit_code=None)
		e2e.expect(all(f"{run / host} has 3 snapshots of one flight recorder, which overlap" in done.stderr for host in hosts), f"{words}: {done.stderr}")
	reports = json.loads(e2e.run(e2e.monitor, "report", "--json", run).stdout)
	e2e.equal("each is reported by itself", len(reports), 3 * len(hosts))
	for host in (hosts[0], hosts[-1]):
		trace = e2e.Trace(run / host / "003")
		trace.expect_sound()
		cause = trace.events("--filter", event_of("fire-all"))
		e2e.expect(cause, f"{host}: the event that fired on h1 is missing, though this kernel is that of all hosts")
		e2e.expect(trace.recording()["end"]["realtime_ns"] >= fired_ns, f"{host}: it ended before the trigger")


def at_once():
	"""The trigger fires on all hosts at the same time: each host's own snapshot will do for the others' triggers."""
	with fleet_lab.Fleet("once", "h1", "h2") as fleet:
		agents(fleet, "h1", "h2")
		fleet.run("record", "--run", "o", *FLIGHT, "2", "--snapshot-all", *trigger("fire-once"))
		fire("fire-once")
		made = settled(fleet, ("h1", "h2"), "o", 1)
		e2e.equal("causes", made, {host: {"001": "the trigger fire"} for host in ("h1", "h2")})


def hostile():
	"""A host that says without end that triggers fire."""
	with fleet_lab.Fleet("hostile", "h1", "liar") as fleet:
		agents(fleet, "h1")
		fleet.run("record", "--hosts", "h1", "--run", "open", *FLIGHT, "2", "--snapshot-all")
		fleet.run("record", "--hosts", "h1", "--run", "closed", *FLIGHT, "2")
		liar = fleet_lab.Client(fleet, fleet.directory / "hosts" / "liar")
		news = {"version": 1, "run": "open", "snapshot": 1, "trigger": "x", "time": 1, "realtime_ns": 1, "frozen_time": 1, "frozen_ns": 1}
		for data in (b"", b"\xff", b"{}", b"[" * 3000, json.dumps(news | {"run": "../x"}), json.dumps(news | {"trigger": "x" * 1000}), b"x" * 100_000):
			liar.publish("m.fired.liar", data)
		began, number = time.monotonic(), 0
		while len(snapshots(fleet, "h1", "open")) < 2 and time.monotonic() - began < 60:
			number += 1
			for run in ("open", "closed", "none"):
				liar.publish("m.fired.liar", json.dumps(news | {"run": run, "snapshot": number}))
			time.sleep(0.01)
		took = time.monotonic() - began
		e2e.expect(took > 1, f"two snapshots within {took:.2f} s")
		fleet.processes[0].wait_for("run open has ended with exit code 0")
		causes = snapshots(fleet, "h1", "open").values()
		e2e.expect(len(causes) == 2 and all(re.fullmatch(r"the trigger x of host liar \(snapshot \d{3} there\)", cause) for cause in causes), causes)
		e2e.equal("lines about too many", fleet.processes[0].text().count("host liar says too often that triggers fire"), 1)
		e2e.equal("of the run without", snapshots(fleet, "h1", "closed"), {})

		def as_another():
			liar.publish("m.fired.h1", json.dumps(news))
			liar.flush()
		e2e.expect("Permissions Violation" in fleet_lab.refused(as_another), "a host can send as another one")
		e2e.expect(fleet.processes[0].text().count("\n") < 60, "a host that lies fills the journal")
		e2e.equal("the agent ends", fleet.processes[0].end(), 0)


def not_possible():
	"""Who takes no part, and why no snapshot was taken, is said."""
	fleet = fleet_lab.Fleet("old", "h1", "h2")
	users = fleet.directory / "hub" / "users.conf"
	users.write_text(users.read_text().replace('"m.fired.*", ', ""))
	with fleet:
		agents(fleet, "h1")
		fleet.agent("h2", "--allow", "events,flight,snapshots,no-calibration,user-only,user").wait_for("connected to the hub")
		fleet.processes[0].wait_for("does not let it hear triggers of other hosts")
		done = fleet.run("snapshot", exit_code=125)
		e2e.expect("no flight recorder runs on these hosts" in done.stderr, done.stderr)
		done = fleet.run("record", "--run", "x", *FLIGHT, "2", "--snapshot-all", exit_code=1)
		e2e.expect("2 of 2 hosts started" in done.stderr, done.stderr)
		e2e.expect("h1 takes no part in the snapshots of all hosts: the hub does not let it" in done.stderr, done.stderr)
		e2e.expect("h2 takes no part in the snapshots of all hosts: this host's agent was not started with --allow snapshot-all" in done.stderr,
		           done.stderr)
		rows = fleet.rows("snapshot", "--hosts", "h1")
		e2e.equal("it can be asked all the same", (rows["h1"]["state"], rows["h1"]["snapshot"]), ("taken", "x/001"))
		rows = fleet.rows("snapshot", "--run", "none", exit_code=1)
		e2e.expect(all(row["state"] == "refused" and "no run of this name" in row["reason"] for row in rows.values()), rows)
		fleet.run("record", "--run", "y", "--hosts", "h1", "--user-only")
		rows = fleet.rows("snapshot", "--hosts", "h1", "--run", "y", exit_code=1)
		e2e.expect("not a flight recorder" in rows["h1"]["reason"], rows)
		done = fleet.run("record", "--snapshot-all", exit_code=125)
		e2e.expect("add --flight" in done.stderr, done.stderr)
		done = fleet.run("snapshot", "--run", "y", "--why", "a\nb", exit_code=125)
		e2e.expect("--why: a line" in done.stderr, done.stderr)


if __name__ == "__main__":
	fleet_lab.need_agents()
	e2e.need_recording()
	e2e.main(all_hosts, beside=[(at_once, hostile), (not_possible,)])
