#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Several collectors of one run (monitor fleet collect --shard): each gets from the server what it stores, and nothing of
the others' hosts; what nobody collects stays where it is; together they are one run, on one clock (monitor merge)."""
import json
import shutil
import signal
import urllib.request

import e2e
import fleet_lab
import fleet_traces
from fleet_traces import Hub, expect_all_stored, expect_same, free_port, make_trace, of_this_boot, wait_for

HOSTS = ("web1", "web2", "web3", "web.example.org", "db1", "db2")
MIB = 3


def shard_of(host, count):
	return fleet_lab.shard_hash(host) % count


def sent_to(monitoring, name):
	"""Bytes that the server has sent over connections of this name, by connection."""
	with urllib.request.urlopen(f"http://127.0.0.1:{monitoring}/connz?state=any") as answer:
		return {each["cid"]: each["out_bytes"] for each in json.load(answer)["connections"] if each.get("name") == name}


def divided():
	monitoring, count = free_port(), 2
	runs = [e2e.work / f"run{number}" for number in range(count)]
	traces = {host: of_this_boot(make_trace(e2e.work / f"trace_{host}", MIB)) for host in HOSTS}
	with Hub("divided", (), "127.0.0.1", "-m", monitoring) as hub:
		first = hub.collector(runs[0], "--shard", f"0/{count}")
		pushes = {host: hub.push(host, trace) for host, trace in traces.items()}
		for host, push in pushes.items():
			if shard_of(host, count) == 0:
				expect_all_stored(push.end())
		left = [host for host in HOSTS if shard_of(host, count)]
		for host in left:
			wait_for(lambda host=host: "no collector is there" in pushes[host].err.read_text(), "the word that nobody receives")
			e2e.expect(pushes[host].process.poll() is None, f"{host}: nobody takes it, and it ended")
		e2e.equal("hosts of the first", sorted(fleet_traces.accounts(runs[0])), sorted(set(HOSTS) - set(left)))
		second = hub.collector(runs[1], "--shard", f"1/{count}")
		for host in left:
			expect_all_stored(pushes[host].end())
		e2e.expect(0 < len(left) < len(HOSTS), f"one shard has all hosts: {left}")
		each = sorted(max(0, sent) for sent in sent_to(monitoring, "monitor collector").values())
		sizes = sorted(len(hosts) * MIB * 2**20 for hosts in (left, set(HOSTS) - set(left)))
		for sent, size in zip(each[-2:], sizes):
			e2e.expect(size <= sent < 1.5 * size + 4e6, f"a collector is sent {sent} bytes to store {size}")
		text = second.end(number=signal.SIGTERM) + first.end(number=signal.SIGTERM)
	e2e.expect(all(host in text for host in HOSTS), text)
	for host, trace in traces.items():
		expect_same(trace, runs[shard_of(host, count)] / host)
	together(runs, traces)


def together(runs, traces):
	run = e2e.work / "run"
	done = e2e.run(e2e.monitor, "merge", "-o", run, *runs)
	e2e.expect(f"{len(HOSTS)} hosts of {len(runs)} shards" in done.stdout, done.stdout)
	for host, trace in traces.items():
		expect_same(trace, run / host)
	collection = json.loads((run / ".monitor" / "collection.json").read_text())
	parts = {part["directory"]: part for part in collection["parts"]}
	e2e.equal("parts", sorted(parts), sorted(HOSTS))
	e2e.equal("hosts without a clock", [host for host, part in parts.items() if "clock" not in part], [])
	e2e.equal("hosts in the accounts", sorted(fleet_traces.accounts(run)), sorted(HOSTS))
	again = e2e.work / "again"
	shutil.copytree(runs[0], again)
	for words, why in ((("merge", "-o", e2e.work / "half", runs[0], again), "they are not the shards"),
	                   (("merge", "-o", run, *runs), "is not empty"), (("merge", "-o", e2e.work / "half", *runs, "--clock", "a=1s"), "have one clock"),
	                   (("fleet", "collect", "-o", run, "--hub", "nats://127.0.0.1"), "merge them again"),
	                   (("fleet", "collect", "-o", runs[1], "--hub", "nats://127.0.0.1"), "is shard 1/2 of its run, not 0/1"),
	                   (("fleet", "collect", "-o", e2e.work / "x", "--shard", "0/3", "--hub", "nats://127.0.0.1"), "1, 2, 4"),
	                   (("fleet", "collect", "-o", e2e.work / "x", "--shard", "2/2", "--hub", "nats://127.0.0.1"), "1, 2, 4")):
		done = e2e.run(e2e.monitor, *words, exit_code=1)
		e2e.expect(why in done.stderr and done.stderr.count("\n") == 1, f"{words}: {done.stderr}")
	e2e.expect(not (e2e.work / "half").exists() and not (e2e.work / "x").exists(), "something is left of what was refused")


def part_of_four():
	"""One of four is missing: said, and the exit code tells."""
	runs = [e2e.work / f"four{number}" for number in (0, 2)]
	trace = make_trace(e2e.work / "four_trace", 0.1)
	host = next(host for host in (f"h{i}" for i in range(100)) if shard_of(host, 4) == 2)
	with Hub("four") as hub:
		collectors = [hub.collector(run, "--shard", f"{number}/4") for run, number in zip(runs, (0, 2))]
		expect_all_stored(hub.push(host, trace).end())
		for collector in collectors:
			collector.end(number=signal.SIGTERM)
	done = e2e.run(e2e.monitor, "merge", "-o", e2e.work / "four", *runs, exit_code=1)
	e2e.expect("1/4, 3/4" in done.stderr, done.stderr)
	expect_same(trace, e2e.work / "four" / host)


if __name__ == "__main__":
	fleet_traces.need_fleet()
	e2e.main(divided, part_of_four)
