#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run of three hosts of which one sent nonsense: every command shows the two others, names the bad one, and ends with 1.
An attack on what is collected from several machines.
"""
import json
import shutil

import e2e

HOSTS = ("web1", "web2", "web3")
COMMANDS = (("report", "--json"), ("check", "--json"), ("info", "--json"), ("stat", "--json"), ("list", "--json"), ("query", "--json"))


def garbage(host):
	(host / "metadata").write_bytes(bytes(range(128, 256)) * 200)


def empty(host):
	(host / "metadata").write_bytes(b"")


def missing(host):
	(host / "metadata").unlink()


def large(host):
	with open(host / "metadata", "a", encoding="ascii") as text:
		text.write("/* x */\n" * 4_500_000)


def without_frequency(host):
	text = (host / "metadata").read_text()
	(host / "metadata").write_text(text.replace("freq = ", "freq = 0; /* ", 1).replace("offset", "*/ offset", 1))



def hosts():
	for host in HOSTS:
		e2e.record(host, "-p", "cmd", "-e", "sched,syscall", command=("true",))
	run = e2e.work / "run"
	e2e.run(e2e.monitor, "merge", "-o", run, *(e2e.work / host for host in HOSTS))
	for damage in (garbage, empty, missing, large, without_frequency):
		bad = e2e.work / "bad"
		shutil.rmtree(bad, ignore_errors=True)
		shutil.copytree(run, bad)
		damage(bad / "web2")
		for verb, *options in COMMANDS:
			query = ["SELECT count(*) AS n FROM events"] if verb == "query" else []
			done = e2e.run(e2e.reader, verb, *options, bad, *query, exit_code=1)
			what = f"{damage.__name__}: {verb}"
			e2e.expect("web2" in (done.stdout if verb == "check" else done.stderr), f"{what}: nothing is said of the bad host: {done.stderr!r}")
			e2e.expect(len(done.stdout) > 5, f"{what}: nothing of the others")
		read = [json.loads(line) for line in e2e.run(e2e.reader, "list", "--json", bad, exit_code=1).stdout.splitlines()]
		whole = sum(len(e2e.Trace(run / host).events()) for host in ("web1", "web3"))
		e2e.equal(f"{damage.__name__}: events of the others", len(read), whole)
	shutil.rmtree(e2e.work / "bad")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(hosts)
