#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a hub that lies can do to an agent: nothing. A client with the operator's certificate, which a broken or malicious
hub stands for, sends unsigned, replayed, expired, wrongly targeted, malformed and gigantic commands, and names that would
lead elsewhere: each is refused and logged, nothing is recorded, and the agent still does what the operator signs."""
import json
import os
import time

import e2e
import fleet_lab

SECOND = 10**9


def names_of(runs):
	return {name for name in os.listdir(runs) if not name.startswith(".")}


class Attack:
	"""One agent, and a client that says anything to it."""

	def __init__(self, fleet):
		self.fleet = fleet
		self.agent = fleet.agent("h1")
		self.agent.wait_for("connected to the hub")
		self.client = fleet_lab.Client(fleet, fleet.keys)
		self.client.subscribe("m.answer.h1")
		self.client.flush()
		self.runs = fleet.spools / "spool-h1" / "runs"

	def send(self, data, subject="m.ctl.h1"):
		self.client.publish(subject, data)

	def answer(self):
		return json.loads(self.client.message()[1])

	def expect_refused(self, what, data, why, nonce="", subject="m.ctl.h1"):
		self.send(data, subject)
		answer = self.answer()
		e2e.expect(answer["kind"] == "refused" and why in answer["reason"], f"{what}: {answer}")
		e2e.equal(f"{what}: nonce", answer["nonce"], nonce)
		e2e.expect(why in self.agent.text(), f"{what}: not in the log")

	def refuse_text(self, what, why, key=None, **fields):
		text = self.fleet.command(**fields)
		nonce = json.loads(text).get("nonce", "")
		known = "lacks a field" not in why and "name of its run" not in why and key is None
		self.expect_refused(what, self.fleet.sign(text, key), why, nonce if known else "")

	def obeys(self, run):
		"""It does what it should, and only that."""
		before = names_of(self.runs)
		self.send(self.fleet.sign(self.fleet.command(run=run, options={"user-only": True, "duration": 0.1})))
		kinds = [self.answer()["kind"] for _ in range(3)]
		e2e.equal(f"answers to {run}", kinds, ["accepted", "started", "ended"])
		e2e.equal("runs", names_of(self.runs) - before, {run})


def unsigned(attack):
	fleet = attack.fleet
	text = fleet.command()
	attack.expect_refused("unsigned", text, "it is not signed")
	attack.expect_refused("no signature", json.dumps({"message": text, "signature": ""}), "not the operator's")
	envelope = json.loads(fleet.sign(text))
	changed = dict(envelope, message=text.replace('"run": "r"', '"run": "s"'))
	attack.expect_refused("changed", json.dumps(changed), "not the operator's")
	stranger = fleet.work / "stranger.key"
	e2e.run("openssl", "genpkey", "-algorithm", "ed25519", "-out", stranger)
	attack.refuse_text("another operator's", "not the operator's", key=stranger)
	attack.obeys("signed")


def replayed(attack):
	"""Also after the agent was started again."""
	envelope = attack.fleet.sign(attack.fleet.command(kind="stop", run="none"))
	nonce = json.loads(json.loads(envelope)["message"])["nonce"]
	attack.expect_refused("the first time", envelope, "no run of this name", nonce)
	attack.expect_refused("replayed", envelope, "obeyed before", nonce)
	attack.expect_refused("replayed to all", envelope, "obeyed before", nonce, "m.ctl.all")
	attack.agent.end()
	attack.agent = attack.fleet.agent("h1")
	attack.agent.wait_for("connected to the hub", times=2)
	attack.expect_refused("replayed after a restart", envelope, "obeyed before", nonce)
	attack.obeys("replayed")


def expired(attack):
	now = time.time_ns()
	attack.refuse_text("expired", "expired", issued_ns=now - 61 * SECOND, expires_ns=now - SECOND)
	attack.refuse_text("from the future", "in the future", issued_ns=now + 40 * SECOND, expires_ns=now + 60 * SECOND)
	attack.refuse_text("valid for long", "an hour at most", issued_ns=now, expires_ns=now + 3601 * SECOND)
	attack.refuse_text("valid for no time", "an hour at most", issued_ns=now, expires_ns=now - SECOND)
	attack.refuse_text("a start in a year", "10 minutes", start_ns=now + 365 * 86400 * SECOND)


def wrongly_targeted(attack):
	"""What is for others is neither obeyed nor answered: the first answer is to what comes after it."""
	for hosts in (["h2"], []):
		for subject in ("m.ctl.h1", "m.ctl.all"):
			attack.send(attack.fleet.sign(attack.fleet.command(hosts=hosts)), subject)
	attack.refuse_text("for a pattern", "lacks a field", hosts=["h*"])
	attack.refuse_text("for all", "lacks a field", hosts=["all"])


def paths(attack):
	outside = attack.fleet.work / "outside"
	for run in ("../../outside", str(outside), "..", ".", "a/../../b", "-o", ".hidden", "x\0y", "x\ny", "x" * 65, "$(touch x)"):
		attack.refuse_text(f"run {run!r}", "name of its run", run=run)
	for options in ({"output": str(outside)}, {"force": True}, {"-o": str(outside)}, {"triggers": "/etc/passwd"}, {"states": "/etc/passwd"},
	                {"command": "x"}, {"filter=x --output": str(outside)}):
		attack.refuse_text(f"options {options}", "hosts are not asked for", options=options)
	for options, why in (({"events": f"sched -o {outside}"}, "characters"), ({"note": "a\nb"}, "characters"),
	                     ({"trigger": ["tid == 1 => run 'touch outside'"]}, "word run"), ({"trigger": ["tid == 1 => signal KILL"]}, "word signal"),
	                     ({"flight": "64G"}, "1 GiB"), ({"flight": "64M"}, "--snapshots"),
	                     ({"flight": "64M", "snapshots": 1000}, "--spool-max"), ({"duration": 1e300}, "not a number"), ({"max-size": 1 << 49}, "--spool-max")):
		attack.refuse_text(f"options {options}", why, options=options)
	attack.refuse_text("a command", "runs no commands", options={"user-only": True}, command=["touch", str(outside)])
	e2e.expect(not outside.exists(), "something was written outside")
	attack.obeys("paths")


def malformed(attack):
	attack.send(b"")  # not even handed over
	for data in (b"\0", b"{", b"[]", b"null", b"\xff\xfe", b'{"message":1,"signature":2}', b'{"message":"","signature":""}',
	             b"[" * 100_000, b'{"message":"' + b"\\u0000" * 10_000 + b'","signature":"AAAA"}', os.urandom(1000)):
		attack.expect_refused(repr(data[:40]), data, "")
	for text in ("null", "[]", "{}", '{"version":2}', '{"version":1e400}', "[" * 50_000, '{"version":1,"kind":[]}'):
		attack.expect_refused(f"signed {text[:40]}", attack.fleet.sign(text), "")
	attack.refuse_text("no kind", "lacks a field", kind=None)
	attack.refuse_text("of a later version", "not of version 1", version=2)
	attack.refuse_text("an unknown kind", "no command 'format'", kind="format")
	attack.refuse_text("too many hosts", "lacks a field", hosts=["h1"] * 1025)


def gigantic(attack):
	attack.expect_refused("as large as can be", b"x" * (128 << 10), "it is not signed")
	attack.expect_refused("too large", b"x" * ((128 << 10) + 1), "at most 131072 are read")
	attack.expect_refused("far too large", b"x" * 900_000, "at most 131072 are read")
	for _ in range(300):
		attack.send(b"x" * 100_000)
	text = attack.fleet.command(kind="format")
	attack.send(attack.fleet.sign(text))
	while attack.answer()["nonce"] != json.loads(text)["nonce"]:
		pass  # until all before it are answered


def drained(attack, test):
	"""Runs a test on a client that has seen all answers to what was sent before."""
	attack.client.close()
	attack.client = fleet_lab.Client(attack.fleet, attack.fleet.keys)
	attack.client.subscribe("m.answer.h1")
	attack.client.flush()
	test(attack)


def attacks():
	with fleet_lab.Fleet("attacks", "h1", "h2") as fleet:
		attack = Attack(fleet)
		for test in (unsigned, replayed, expired, wrongly_targeted, paths, malformed, gigantic):
			start = time.monotonic()
			drained(attack, test)
			print(f"  {test.__name__} {time.monotonic() - start:.1f} s")
		fleet_lab.wait_for(lambda: "refused" in attack.agent.text(), "refusals")
		time.sleep(1.1)  # more refusals than are logged one by one
		drained(attack, lambda attack: attack.obeys("last"))
		e2e.equal("runs", names_of(attack.runs), {"signed", "replayed", "paths", "last"})
		rows = fleet.rows("status", exit_code=1)
		e2e.expect(rows["h1"]["refused"] > 20, rows)
		e2e.equal("exit code", attack.agent.end(), 0)
		for word in ("Traceback", "terminate", "Sanitizer", "is started again"):
			e2e.expect(word not in attack.agent.text(), f"{word} in the log of the agent")


if __name__ == "__main__":
	fleet_lab.need_agents()
	e2e.main(attacks)
