#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Series of faults in the data path of a fleet, each with every block accounted for: minutes, so called by hand, as root:

tests/fleet/faults.py MONITOR PROGRAMS WORK [NAME...]
    build/tools/monitor/monitor build/tests/e2e /var/tmp/faults

What the suite tries once or twice (tests/e2e/fleet_data.py) is tried many times here, and what needs a file system or
a network of its own. Exit code: 0, or 1 if something does not hold.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import e2e
import fleet_lab
import fleet_traces
from fleet_traces import Hub, expect_all_stored, expect_same, make_trace, pushed, stored_bytes, wait_for

KILLS = 20


def clear(*directories):
	for directory in directories:
		shutil.rmtree(directory, ignore_errors=True)


def hub_kills():
	"""The server is killed 20 times, each time while blocks are on their way."""
	trace = make_trace(e2e.work / "hub_trace", 256)
	for number in range(KILLS):
		run = e2e.work / f"hub_run{number}"
		with Hub(f"hub{number}") as hub:
			hub.collector(run)
			push = hub.push("h", trace)
			wait_for(lambda run=run, number=number: stored_bytes(run, "h") > (number + 1) / (KILLS + 2) * 256e6, "the transfer")
			hub.kill()
			e2e.expect(push.process.poll() is None, "killed too late to matter")
			time.sleep(0.1)
			hub.start()
			sums = expect_all_stored(push.end())
		expect_same(trace, run / "h")
		print(f"  kill {number + 1}: {sums['sent_again']} messages sent again")
		clear(run)


def collector_kills():
	"""The collector is killed 20 times within one transfer, and goes on where it was."""
	trace, run = make_trace(e2e.work / "collector_trace", 256), e2e.work / "collector_run"
	with Hub("collectors") as hub:
		collector, push = hub.collector(run), hub.push("h", trace)
		for number in range(KILLS):
			wait_for(lambda number=number: stored_bytes(run, "h") > (number + 1) / (KILLS + 2) * 256e6, "the transfer")
			collector.kill()
			e2e.expect(push.process.poll() is None, "killed too late to matter")
			collector = hub.collector(run)
		sums = expect_all_stored(push.end())
		collector.end(number=signal.SIGTERM)
	expect_same(trace, run / "h")
	account = fleet_traces.accounts(run)["h"]
	e2e.equal("blocks, conflicts", (account["blocks"], account["conflicts"]), (256 * 256, 0))
	print(f"  {sums['sent_again']} messages sent again, {account['repeated']} blocks came twice")


def agent_kills():
	"""The forwarder is killed and started again; the collector takes what comes twice for what it is."""
	trace, run = make_trace(e2e.work / "agent_trace", 256), e2e.work / "agent_run"
	with Hub("agents") as hub:
		collector = hub.collector(run)
		for number in range(8):
			push = hub.push("h", trace)
			wait_for(lambda number=number: stored_bytes(run, "h") > (number + 1) / 10 * 256e6, "the transfer")
			push.kill()
		expect_all_stored(hub.push("h", trace).end())
		collector.end(number=signal.SIGTERM)
	expect_same(trace, run / "h")
	account = fleet_traces.accounts(run)["h"]
	e2e.equal("conflicts, sessions", (account["conflicts"], account["sessions"]), (0, 9))
	print(f"  {account['repeated']} blocks came twice")


def spooled(fleet, name, mib):
	"""A trace in the spool of h1, as if it had been recorded there, and a copy of it that nobody removes."""
	runs = fleet.spools / "spool-h1" / "runs"
	trace, owner = make_trace(fleet.spools / f"made-{name}", mib), runs.stat()
	shutil.copytree(trace, fleet.work / f"original-{name}")
	for path in (trace, *trace.rglob("*")):
		os.chown(path, owner.st_uid, owner.st_gid)
	return trace.rename(runs / name)


def start_agent(fleet, *options):
	"""Its log goes on, so it is its newest connection that is waited for."""
	log = fleet.work / "h1.log"
	before = log.read_text().count("connected to the hub") if log.exists() else 0
	agent = fleet.agent("h1", *options)
	agent.wait_for("connected to the hub", seconds=30, times=before + 1)
	return agent


def kill_agent(agent):
	"""All of it, the privileged process first."""
	parts = fleet_lab.children_of(agent.pid)
	agent.kill()
	for part in parts:
		with contextlib.suppress(ProcessLookupError):  # without the privileged process it ends
			os.kill(part, signal.SIGKILL)
	agent.process.wait()


def start_collector(fleet, run):
	collector = fleet_traces.Program(f"{fleet.work.name}_collector", e2e.monitor, "fleet", "collect", "--keys", fleet.keys, "-o", run)
	wait_for(lambda: "connected" in collector.err.read_text(), "the collector")
	return collector


def nothing_is_left(fleet):
	"""Its status says so twice: a new agent may not have looked yet."""
	wait_for(lambda: all(fleet.rows("status")["h1"]["unsent_blocks"] == 0 and not time.sleep(1) for _ in (1, 2)), "all is stored", 120)


def network_part_kills():
	"""The network process of an agent is killed again and again while blocks flow; the privileged process, which records,
	replaces it, and it goes on where it was."""
	with fleet_lab.Fleet("network_kills", "h1") as fleet:
		run, agent = fleet.work / "run", start_agent(fleet)
		collector, trace = start_collector(fleet, run), spooled(fleet, "r", 256)
		for number in range(5):
			wait_for(lambda number=number: stored_bytes(run, "h1") > (number + 1) / 7 * 256e6, "the transfer", 60)
			(part,) = fleet_lab.children_of(agent.pid)
			os.kill(part, signal.SIGKILL)
			e2e.expect(stored_bytes(run, "h1") < 256 << 20, "killed too late to matter")
			agent.wait_for("connected to the hub", seconds=60, times=number + 2)
		nothing_is_left(fleet)
		collector.end(number=signal.SIGTERM)
		expect_same(trace, run / "h1")
		account = fleet_traces.accounts(run)["h1"]
		e2e.equal("blocks, conflicts, sessions", (account["blocks"], account["conflicts"], account["sessions"]), (256 * 256, 0, 6))
		e2e.equal("the agent was never replaced", agent.process.poll(), None)
		print(f"  {account['repeated']} blocks came twice")


def whole_agent_kills():
	"""Both processes of an agent are killed together, while blocks flow, and at last while it records, too."""
	load = os.path.join(e2e.programs, "user_load")
	if not os.path.exists(load):
		e2e.leave_out("whole_agent_kills", "there is no user_load here")
		return
	with fleet_lab.Fleet("whole_kills", "h1") as fleet:
		run, agent = fleet.work / "run", start_agent(fleet)
		collector, trace = start_collector(fleet, run), spooled(fleet, "r", 256)
		for number in range(8):
			wait_for(lambda number=number: stored_bytes(run, "h1") > (number + 1) / 10 * 256e6, "the transfer", 60)
			kill_agent(agent)
			e2e.expect(stored_bytes(run, "h1") < 256 << 20, "killed too late to matter")
			agent = start_agent(fleet)
		operator = fleet_lab.Process(fleet.work / "record.log", e2e.monitor, "fleet", "record", "--keys", fleet.keys, "--run", "recorded", "--user-only",
		                             "--no-calibration", "--lead", "300ms", "--", "sh", "-c", f"for i in $(seq 40); do {load} order 20000; done")
		fleet.processes.append(operator)
		recorded = fleet.trace("h1", "recorded").directory
		wait_for(lambda: sum(path.stat().st_size for path in recorded.glob("user*")) > 4 << 20, "the recording", 30)
		kill_agent(agent)
		agent = start_agent(fleet)
		time.sleep(4)  # so long nobody knows that the recording is over
		nothing_is_left(fleet)
		collector.end(number=signal.SIGTERM)
		expect_same_but_below(trace, run / "h1")
		identity = uuid.UUID(json.loads((recorded / ".monitor" / "recording.json").read_text())["uuid"]).hex
		expect_same(recorded, run / "h1" / identity)
		blocks = sum(path.stat().st_size for path in recorded.iterdir() if path.is_file() and path.name != "metadata") // fleet_traces.BLOCK
		account = fleet_traces.accounts(run)["h1"]
		e2e.equal("blocks, conflicts", (account["blocks"], account["conflicts"]), (256 * 256 + blocks, 0))
		print(f"  {account['repeated']} blocks came twice; {blocks} of the recording that was cut off")
		operator.end(seconds=60)
		e2e.expect("its agent was started again" in operator.text(), operator.text())


def lost_blocks(fleet):
	return fleet.rows("status")["h1"]["lost_blocks"]


def same_blocks(copy, original):
	"""Blocks of the copy, each of which is the original's or a hole."""
	count = 0
	for path in copy.glob("kernel_cpu*"):
		content, whole = path.read_bytes(), (original / path.name).read_bytes()
		for at in range(0, len(content), fleet_traces.BLOCK):
			block = content[at:at + fleet_traces.BLOCK]
			if block.strip(b"\0"):
				count += 1
				e2e.expect(block == whole[at:at + fleet_traces.BLOCK], f"{path}: block {at // fleet_traces.BLOCK} differs")
	return count


def full_spool():
	"""Its oldest trace is dropped whole and told, also by an agent that was killed meanwhile, and also if a part of it was
	stored before."""
	mib, blocks = 40, 40 * 256
	with fleet_lab.Fleet("full_spool", "h1") as fleet:
		options = ("--spool-max", "100M")
		run, agent = fleet.work / "run", start_agent(fleet, *options)
		runs = fleet.spools / "spool-h1" / "runs"
		for number in range(4):
			spooled(fleet, f"r{number}", mib)
			if number > 1:
				agent.wait_for(f"the recording r{number - 2} was dropped, {blocks} of its blocks")
		e2e.equal("traces in the spool", sorted(path.name for path in runs.iterdir() if path.name[0] != "."), ["r2", "r3"])
		wait_for(lambda: lost_blocks(fleet) == 2 * blocks, f"{2 * blocks} lost blocks in the status")
		kill_agent(agent)
		agent = start_agent(fleet, *options)
		wait_for(lambda: lost_blocks(fleet) == 2 * blocks, "the same after a kill")
		collector = start_collector(fleet, run)
		nothing_is_left(fleet)
		account = fleet_traces.accounts(run)["h1"]
		e2e.equal("stored", (account["blocks"], len(account["traces"])), (2 * blocks, 2))
		for trace in account["traces"]:
			name = next(name for name in ("r2", "r3") if uuid.UUID(json.loads((runs / name / ".monitor/recording.json").read_text())["uuid"]).hex == trace["uuid"].replace("-", ""))
			expect_same_but_below(runs / name, run / trace["directory"])
		agent = too_small_at_once(fleet, agent)
		partly_stored(fleet, collector, run, mib, blocks)
		collector.end(number=signal.SIGTERM)


def expect_same_but_below(trace, copy):
	"""A further trace of a host is below the directory of its first one."""
	for name in fleet_traces.files_of(trace):
		e2e.expect((trace / name).read_bytes() == (copy / name).read_bytes(), f"{copy / name} differs")


def too_small_at_once(fleet, agent):
	"""An agent that starts with a spool above its limit removes what is stored, and loses nothing."""
	before = lost_blocks(fleet)
	kill_agent(agent)
	agent = start_agent(fleet, "--spool-max", "60M")
	runs = fleet.spools / "spool-h1" / "runs"
	wait_for(lambda: sum((runs / name).exists() for name in ("r2", "r3")) == 1, "room")
	e2e.equal("lost", lost_blocks(fleet), before)
	return agent


def partly_stored(fleet, collector, run, mib, blocks):
	before = lost_blocks(fleet)
	with fleet_traces.Slowed(collector):
		spooled(fleet, "part", mib)
		identity = uuid.UUID(json.loads((fleet.work / "original-part/.monitor/recording.json").read_text())["uuid"]).hex
		copy = run / "h1" / identity
		wait_for(lambda: copy.is_dir() and sum(path.stat().st_size for path in copy.glob("kernel_cpu*")) > 1 << 20, "a part of it", 60)
		spooled(fleet, "last", mib)
		wait_for(lambda: "the recording part was dropped" in (fleet.work / "h1.log").read_text(), "the drop", 30)
	nothing_is_left(fleet)
	lost, stored = lost_blocks(fleet) - before, same_blocks(copy, fleet.work / "original-part")
	print(f"  of {blocks} blocks {stored} were stored, {lost} told as not known to be stored")
	e2e.expect(0 < stored < blocks, f"{stored} of {blocks} blocks stored: dropped too early or too late to matter")
	# what was on its way when it was dropped may have arrived
	e2e.expect(blocks <= stored + lost <= blocks + (16 << 20) // fleet_traces.BLOCK, f"{blocks} blocks, {stored} stored, {lost} told")
	recording = copy / ".monitor" / "recording.json"
	e2e.expect(not recording.exists() or json.loads(recording.read_text())["state"] != "complete", "the copy claims to be complete")


def full_disk():
	"""The collector's disk is full: nothing is acknowledged, both say so; with room again all is stored."""
	disk, trace = e2e.work / "disk", make_trace(e2e.work / "disk_trace", 48)
	disk.mkdir()
	e2e.run("mount", "-t", "tmpfs", "-o", "size=24m", "none", disk)
	try:
		with Hub("full") as hub:
			collector, push = hub.collector(disk / "run"), hub.push("h", trace)
			wait_for(lambda: "No space left" in push.err.read_text(), "the forwarder's word")
			e2e.expect("No space left" in collector.err.read_text(), collector.err.read_text())
			time.sleep(3)
			e2e.expect(push.process.poll() is None and collector.process.poll() is None, "one has given up")
			e2e.run("mount", "-o", "remount,size=128m", disk)
			expect_all_stored(push.end())
			collector.end(number=signal.SIGTERM)
			expect_same(trace, disk / "run" / "h")
			e2e.equal("conflicts", fleet_traces.accounts(disk / "run")["h"]["conflicts"], 0)
	finally:
		e2e.run("umount", "-l", disk)


def make_certificates(directory, address):
	"""An authority, the hub's certificate and those of one host and the collector."""
	directory.mkdir()
	def openssl(*words):
		e2e.run("openssl", *words, cwd=directory)
	openssl("req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test", "-days", "2")
	for name, usage, kind in ((address, "serverAuth", "IP"), ("h", "clientAuth", "DNS"), ("collector", "clientAuth", "DNS")):
		openssl("req", "-newkey", "ed25519", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
		(directory / "extensions").write_text(f"subjectAltName={kind}:{name}\nextendedKeyUsage={usage}\n")
		openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", f"{name}.pem", "-days", "2", "-extfile", "extensions")
	stored = fleet_lab.stored_subject("*", "h")
	(directory / "hub.conf").write_text(f"""tls {{ cert_file: "{directory}/{address}.pem", key_file: "{directory}/{address}.key", ca_file: "{directory}/ca.pem", verify_and_map: true }}
authorization {{ users: [
 {{ user: "h", permissions: {{ publish: {{ allow: ["m.*.h", "{stored}"] }}, subscribe: {{ allow: ["_INBOX.h.>"] }} }} }}
 {{ user: "collector", permissions: {{ publish: {{ allow: ["m.ctl.>", "_INBOX.>"] }}, subscribe: {{ allow: ["m.*.*", "m.*.*.*.*.*.*.*.*"] }} }} }}
] }}
""")


def keys(directory, name):
	return "--ca", directory / "ca.pem", "--cert", directory / f"{name}.pem", "--key", directory / f"{name}.key"


def link_down():
	"""Two network namespaces; the link between host and hub is down for 10 s, without a word to either. Over TLS, as
	without it nothing leaves a machine."""
	address, names = "10.77.0.1", (f"fleet-a-{os.getpid()}", f"fleet-h-{os.getpid()}")
	certificates, trace, run = e2e.work / "certificates", make_trace(e2e.work / "link_trace", 256), e2e.work / "link_run"
	make_certificates(certificates, address)
	try:
		for name in names:
			e2e.run("ip", "netns", "add", name)
			e2e.run("ip", "-n", name, "link", "set", "lo", "up")
		e2e.run("ip", "-n", names[0], "link", "add", "v0", "type", "veth", "peer", "name", "v1", "netns", names[1])
		for name, link, own in ((names[0], "v0", "10.77.0.2"), (names[1], "v1", address)):
			e2e.run("ip", "-n", name, "addr", "add", f"{own}/24", "dev", link)
			e2e.run("ip", "-n", name, "link", "set", link, "up")
		there = ("ip", "netns", "exec", names[1])
		hub = Hub("link", there, address, "-c", certificates / "hub.conf")
		hub.url = hub.url.replace("nats://", "tls://")
		with hub:
			collector = fleet_traces.Program("link_collector", *there, e2e.monitor, "fleet", "collect", "-o", run, "--hub", hub.url, *keys(certificates, "collector"))
			hub.programs.append(collector)
			wait_for(lambda: "connected" in collector.err.read_text(), "the collector")
			push = hub.push("h", trace, options=keys(certificates, "h"), before=("ip", "netns", "exec", names[0]))
			wait_for(lambda: stored_bytes(run, "h") > 50e6, "the transfer")
			e2e.run("ip", "-n", names[0], "link", "set", "v0", "down")
			e2e.expect(push.process.poll() is None, "the link went down too late to matter")
			time.sleep(10)
			before = stored_bytes(run, "h")
			e2e.run("ip", "-n", names[0], "link", "set", "v0", "up")
			up = time.monotonic()
			wait_for(lambda: stored_bytes(run, "h") > before or push.process.poll() is not None, "new blocks", 60)
			print(f"  blocks came again {time.monotonic() - up:.1f} s after the link was up")
			expect_all_stored(push.end())
			collector.end(number=signal.SIGTERM)
		expect_same(trace, run / "h")
	finally:
		for name in names:
			subprocess.run(["ip", "netns", "del", name], check=False)


def one_name_twice():
	"""Two hosts of one name: the one that started last is taken, the other is told, and waits until that one is silent."""
	run, traces = e2e.work / "name_run", [make_trace(e2e.work / f"name_trace{i}", 128) for i in (0, 1)]
	with Hub("name") as hub:
		collector, first = hub.collector(run), hub.push("h", traces[0])
		wait_for(lambda: stored_bytes(run, "h") > 10e6, "the transfer")
		second = hub.push("h", traces[1])
		expect_all_stored(second.end())
		e2e.expect("another session of this host" in first.err.read_text(), first.err.read_text())
		e2e.expect(first.process.poll() is None, "the first one has not been refused")
		expect_all_stored(first.end(seconds=90))
		collector.end(number=signal.SIGTERM)
	identities = [uuid.UUID(json.loads((trace / ".monitor" / "recording.json").read_text())["uuid"]).hex for trace in traces]
	expect_same(traces[1], run / "h" / identities[1])
	for name in fleet_traces.files_of(traces[0]):
		e2e.expect((traces[0] / name).read_bytes() == (run / "h" / name).read_bytes(), f"{name} differs")


def slow_collector():
	"""A collector that runs a twentieth of the time, and three hosts: nothing is sent again because of it."""
	run, traces = e2e.work / "slow_run", [make_trace(e2e.work / f"slow_trace{i}", 96) for i in range(3)]
	with Hub("slow") as hub:
		with fleet_traces.Slowed(hub.collector(run)):
			pushes = [hub.push(f"h{i}", trace) for i, trace in enumerate(traces)]
			sums = [expect_all_stored(push.end(seconds=300)) for push in pushes]
	for i, trace in enumerate(traces):
		expect_same(trace, run / f"h{i}")
	print(f"  {sum(each['sent_again'] for each in sums)} messages sent again")


if __name__ == "__main__":
	if os.geteuid() != 0:
		e2e.skip("mounts and network namespaces need root")
	if not os.environ.get("FAULTS_OWN_MOUNTS"):
		os.environ["FAULTS_OWN_MOUNTS"] = "1"
		os.execvp("unshare", [*e2e.own_mounts(), sys.executable, "-B", *sys.argv])
	fleet_traces.need_fleet()
	every = (hub_kills, collector_kills, agent_kills, network_part_kills, whole_agent_kills, full_spool, full_disk, link_down, one_name_twice, slow_collector)
	e2e.main(*(fault for fault in every if fault.__name__ in sys.argv[4:] or not sys.argv[4:]))
