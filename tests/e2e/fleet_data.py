#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The data path of a fleet: monitor fleet push and collect over a real nats-server. Whatever is killed, slow or sent
twice, every block is stored bit by bit, and everything is counted. Longer series: tests/fleet/faults.py."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import time
import uuid

import e2e
import fleet_lab
import fleet_traces
from fleet_traces import Hub, Program, expect_all_stored, expect_same, make_trace, pushed, stored_bytes, wait_for


def recorded_hosts():
	"""Two traces of programs, pushed at the same time, are one collection that every reader takes; clocks included."""
	load = os.path.join(e2e.programs, "user_load")
	if os.geteuid() != 0 or not os.path.exists(load):
		e2e.leave_out("recorded traces", "recording needs root" if os.geteuid() else "there is no user_load here")
		return
	traces = [e2e.record(f"recorded{i}", "--user-only", command=(load, "order", 20_000 * i)).directory for i in (1, 2)]
	run = e2e.work / "recorded_run"
	with Hub("recorded") as hub:
		collector = hub.collector(run)
		pushes = [hub.push(host, trace) for host, trace in zip(("web1", "db.example.org"), traces)]
		for push in pushes:
			expect_all_stored(push.end())
		text = collector.end(number=signal.SIGTERM)
	e2e.expect("web1" in text and "db.example.org" in text, text)
	for host, trace in zip(("web1", "db.example.org"), traces):
		expect_same(trace, run / host)
		account = fleet_traces.accounts(run)[host]
		e2e.equal(f"{host}: blocks", account["blocks"], sum(path.stat().st_size for path in trace.iterdir() if path.name != "metadata" and path.is_file()) // 4096)
		e2e.equal(f"{host}: refused", account["refused"], {})
	each, both = [[len(e2e.run(e2e.monitor, "list", "--json", path).stdout.splitlines()) for path in paths] for paths in (traces, [run])]
	e2e.expect(min(each) > 20_000, f"events: {each}")
	e2e.equal("events of the run", both[0], sum(each))
	e2e.run(e2e.monitor, "info", run / "web1")
	collection = json.loads((run / ".monitor" / "collection.json").read_text())
	e2e.equal("parts", sorted(part["directory"] for part in collection["parts"]), ["db.example.org", "web1"])
	for host in ("web1", "db.example.org"):
		expect_clock(run, host)
	for part, trace in zip(collection["parts"], reversed(traces)):
		bound_ns = json.loads(e2e.run(e2e.monitor, "info", "--json", trace).stdout)["summary"]["clock_bound_ns"]
		e2e.expect(part["clock"]["own_ns"] >= bound_ns, f"{part['directory']}: {part['clock']['own_ns']} ns do not contain {bound_ns}")
		e2e.equal(f"{part['directory']}: not witnessed", part["clock"]["not_witnessed"], 0)
	loop = [each for each in json.loads(e2e.run(e2e.monitor, "check", "--json", run, exit_code=None).stdout) if each["id"] == "clock_loop"]
	e2e.expect(len(loop) == 1 and loop[0]["verdict"] in ("ok", "not witnessed"), loop)  # each push lives for a moment
	clocks = json.loads(e2e.run(e2e.monitor, "info", "--json", run).stdout)["clocks"]
	# One machine is both hosts and the collector: what is known of its clock is what the exchanges took.
	e2e.expect(len(clocks) == 2 and all(0 < (clock["max_ns"] or 0) < 10_000_000 for clock in clocks), f"bounds: {clocks}")


def expect_clock(run, host):
	header, *lines = (run / ".monitor" / "clocks" / host).read_text().splitlines()
	words = dict(word.split("=") for word in header.split()[3:])
	e2e.equal("header", header.split()[:3], ["monitor-clock", "1", host])
	e2e.equal("boot", words["boot"], pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip())
	exchanges = [tuple(map(int, line.split())) for line in lines]
	e2e.expect(exchanges and all(t1 < t4 and t2 <= t3 for t1, t2, t3, t4 in exchanges), f"{host}: exchanges {exchanges}")
	e2e.expect(all(a[3] <= b[0] and a[2] <= b[1] for a, b in zip(exchanges, exchanges[1:])), f"{host}: not in order: {exchanges}")
	e2e.expect(abs(exchanges[-1][1] - time.time_ns()) < 60 * 10**9, f"{host}: t2 is not of now: {exchanges[-1]}")


def follows():
	"""A trace that is being recorded is followed to its end."""
	load = os.path.join(e2e.programs, "user_load")
	if os.geteuid() != 0 or not os.path.exists(load):
		return
	run = e2e.work / "followed_run"
	with Hub("followed") as hub:
		hub.collector(run)
		recorder = e2e.Recorder("followed", "--user-only", command=("sh", "-c", f"for i in 1 2 3 4 5; do {load} order 20000; sleep 0.2; done"))
		recorder.wait_until_recording()
		push = hub.push("h", recorder.directory)
		recorder.end(number=None)
		expect_all_stored(push.end())
	expect_same(recorder.directory, run / "h")


@e2e.longer
def hub_killed():
	"""The server is killed twice while two hosts send."""
	run, traces = e2e.work / "hub_run", [make_trace(e2e.work / f"hub_trace{i}", 64) for i in (1, 2)]
	with Hub("killed_hub") as hub:
		hub.collector(run)
		pushes = [hub.push(f"h{i}", trace) for i, trace in enumerate(traces)]
		for part in (0.05, 0.2):
			wait_for(lambda part=part: stored_bytes(run, "h0") > part * 64e6, "the transfer")
			hub.kill()
			e2e.expect(any(push.process.poll() is None for push in pushes), "the server was killed too late to matter")
			time.sleep(0.2)
			hub.start()
		for push in pushes:
			expect_all_stored(push.end())
	for i, trace in enumerate(traces):
		expect_same(trace, run / f"h{i}")


def collector_killed():
	"""The collector is killed while it writes, twice, and goes on where it was."""
	run, trace = e2e.work / "collector_run", make_trace(e2e.work / "collector_trace", 96)
	with Hub("killed_collector") as hub:
		collector = hub.collector(run)
		push = hub.push("h", trace)
		for part in (0.05, 0.2):
			wait_for(lambda part=part: stored_bytes(run, "h") > part * 96e6, "the transfer")
			collector.kill()
			e2e.expect(push.process.poll() is None, "the collector was killed too late to matter")
			time.sleep(0.2)
			collector = hub.collector(run)
		expect_all_stored(push.end())
		collector.end(number=signal.SIGTERM)
	expect_same(trace, run / "h")
	account = fleet_traces.accounts(run)["h"]
	e2e.equal("blocks, conflicts", (account["blocks"], account["conflicts"]), (96 * 256, 0))


def twice_and_contradicting():
	"""The same blocks again change nothing; others for the same place are kept aside, and reported."""
	run, identity = e2e.work / "twice_run", uuid.uuid4().bytes
	trace = make_trace(e2e.work / "twice", 8, trace=identity)
	other = make_trace(e2e.work / "contradicting", 8, trace=identity)
	with open(other / "kernel_cpu1", "r+b") as file:
		for number in (3, 100):
			file.seek(number * 4096)
			file.write(fleet_traces.block(identity, 1, number, seed=1))
	with Hub("twice") as hub:
		collector = hub.collector(run)
		expect_all_stored(hub.push("h", trace).end())
		expect_all_stored(hub.push("h", trace).end())
		sums = pushed(hub.push("h", other).end(exit_code=1))
		e2e.equal("conflicts, stored", (sums["conflicts"], sums["stored"]), (2, 8 * 256 - 2))
		text = collector.end(number=signal.SIGTERM)
	expect_same(trace, run / "h")
	kept = sorted(path.name for path in (run / ".monitor" / "conflicts").iterdir())
	e2e.equal("kept", kept, [f"h-{identity.hex()}-kernel_cpu1-{place}" for place in ("100-2", "3-1")])
	e2e.equal("its content", (run / ".monitor" / "conflicts" / kept[1]).read_bytes(), fleet_traces.block(identity, 1, 3, seed=1))
	account = fleet_traces.accounts(run)["h"]
	e2e.equal("repeated, conflicts", (account["repeated"], account["conflicts"]), (2 * 8 * 256 - 2, 2))
	e2e.expect("2 conflicts" in text, text)
	e2e.expect("differs from the one that was stored before" in collector.err.read_text(), collector.err.read_text())


@e2e.longer
def slow_collector():
	"""One that runs a twentieth of the time: nothing is sent again because of it but a question after each second of silence."""
	run, trace = e2e.work / "slow_run", make_trace(e2e.work / "slow_trace", 32)
	with Hub("slow") as hub:
		began = time.monotonic()
		with fleet_traces.Slowed(hub.collector(run)):
			sums = expect_all_stored(hub.push("h", trace).end())
		seconds = time.monotonic() - began
	e2e.expect(sums["sent_again"] <= seconds, f"{sums['sent_again']} messages were sent again in {seconds:.1f} s")
	expect_same(trace, run / "h")


def nobody_there():
	"""Without a hub, then without a collector, a push waits and says why; in the end all is stored."""
	run, trace = e2e.work / "late_run", make_trace(e2e.work / "late_trace", 4)
	with Hub("late") as hub:
		hub.kill()
		push = hub.push("h", trace)
		wait_for(lambda: "cannot be reached" in push.err.read_text(), "the reason")
		hub.start()
		wait_for(lambda: "no collector is there" in push.err.read_text(), "the reason")
		hub.collector(run)
		expect_all_stored(push.end())
		expect_same(trace, run / "h")
		in_vain = hub.push("h", trace, options=("--run", "other", "--timeout", "2s"))
		other = Program("other_run", e2e.monitor, "fleet", "collect", "-o", run, "--hub", hub.url)
		other.end(exit_code=1)
		e2e.expect("another collector" in other.err.read_text(), other.err.read_text())
		in_vain.end(exit_code=0)  # this collector takes every run


def by_keys():
	"""Over TLS, with what `monitor fleet init` makes. A host's certificate is good for its own name only."""
	if not shutil.which("openssl"):
		return e2e.leave_out("a hub with TLS", "openssl is not installed")
	run, trace = e2e.work / "keys_run", make_trace(e2e.work / "keys_trace", 8)
	with fleet_lab.Fleet("keys", "web1", "web2") as fleet, contextlib.ExitStack() as ended:
		def start(name, *words):
			program = Program(name, e2e.monitor, "fleet", *words)
			ended.callback(program.kill)
			return program
		collector = start("keys_collector", "collect", "-o", run, "--keys", fleet.keys)
		wait_for(lambda: "connected" in collector.err.read_text(), "the collector")
		keys = fleet.directory / "hosts" / "web1"
		expect_all_stored(start("keys_push", "push", "--json", "--keys", keys, trace).end())
		other = start("keys_other", "push", "--json", "--keys", keys, "--host", "web2", "--timeout", "1s", trace)
		e2e.equal("stored as web2", pushed(other.end(exit_code=1))["stored"], 0)
		errors = other.err.read_text()
		e2e.expect("Permissions Violation for Publish" in errors and errors.count("\n") < 10, errors)
		collector.end(number=signal.SIGTERM)
	expect_same(trace, run / "web1")
	e2e.equal("hosts", sorted(fleet_traces.accounts(run)), ["web1"])


def refusals():
	"""What is wrong from the start is said in one sentence."""
	trace = make_trace(e2e.work / "refused_trace", 1)
	for words, part in ((("push", e2e.work, "--hub", "nats://127.0.0.1"), "is not a trace that monitor recorded"),
	                    (("push", trace, "--hub", "nats://192.0.2.1"), "without TLS"),
	                    (("push", trace, "--hub", "hub"), "does not start with tls://"),
	                    (("push", trace, "--hub", "tls://hub"), "--ca"),
	                    (("push", trace), "--keys DIR"),
	                    (("push", trace, "--host", "../x", "--hub", "nats://127.0.0.1"), "not the name of a host"),
	                    (("push", trace, "--run", "a/b", "--hub", "nats://127.0.0.1"), "--run"),
	                    (("collect", "-o", trace, "--hub", "nats://127.0.0.1"), "is not a run of a fleet")):
		done = e2e.run(e2e.monitor, "fleet", *words, exit_code=1)
		e2e.expect(part in done.stderr and done.stderr.count("\n") == 1, f"{words}: {done.stderr}")


if __name__ == "__main__":
	fleet_traces.need_fleet()
	e2e.main(refusals, by_keys, recorded_hosts, follows, nobody_there, beside=[(hub_killed, collector_killed, twice_and_contradicting, slow_collector)])
