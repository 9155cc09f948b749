#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A site whose hosts reach the hub through a relay, a leaf node (monitor fleet init --leaf): traces, commands, answers and
clock exchanges pass it, and so does the word that nobody receives; relay and hub may be killed. A relay that lies can send
as the hosts of its site and as nobody else, and hears nothing that is for others."""
import asyncio
import json
import shutil
import signal
import stat
import threading
import types

import e2e
import fleet_lab
import fleet_traces
from fleet_lab import stored_subject
from fleet_traces import Program, expect_all_stored, expect_same, free_port, make_trace, of_this_boot, stored_bytes, wait_for


AS_LEAF = '"server_id":"RELAY","version":"2.9.10","headers":true'  # clients say their language


class Sites(fleet_lab.Fleet):
	"""A fleet whose site paris, with the hosts p1 and p2, has a relay."""

	def __init__(self, name, *hosts, hub_port=None):
		super().__init__(name, *hosts)
		self.leaf_port, self.programs, self.relays = free_port(), [], {}
		self.add_site("paris", "--leaf-port", self.leaf_port, "p1", "p2")
		if hub_port:  # something is between the two
			configuration = self.directory / "hub" / "leafnodes.conf"
			configuration.write_text(configuration.read_text().replace(str(self.leaf_port), str(hub_port)))

	def init(self, *words, exit_code=0):
		return e2e.run(e2e.monitor, "fleet", "init", "-o", self.directory, *words, exit_code=exit_code)

	def add_site(self, site, *words):
		port = free_port()
		self.relays[site] = types.SimpleNamespace(port=port, directory=self.directory, process=None)
		return self.init("--leaf", site, "--relay", f"127.0.0.1:{port}", *words)

	def start_hub(self):
		super().start_hub()
		if self.relays["paris"].process is None:
			self.start_relay("paris")

	def start_relay(self, site):
		relay = self.relays[site]
		relay.process = fleet_lab.Process(self.work / f"relay-{site}.log", "nats-server", "-c", "nats.conf", cwd=self.directory / "leafs" / site)
		self.processes.append(relay.process)
		before = relay.process.text().count("JetStream Not Extended")  # what it says once it is joined
		relay.process.wait_for("Server is ready")
		relay.process.wait_for("Leafnode connection created", times=before + 1)
		return relay.process

	def reload_hub(self):
		times = self.hub.text().count("Reloaded server configuration")
		self.hub.kill(signal.SIGHUP)
		self.hub.wait_for("Reloaded server configuration", times=times + 1)

	def start(self, name, *words):
		program = Program(f"{self.work.name}_{name}", e2e.monitor, "fleet", *words)
		self.programs.append(program)
		return program

	def collector(self, run):
		collector = self.start(f"collector{len(self.programs)}", "collect", "-o", run, "--keys", self.keys)
		wait_for(lambda: "connected" in collector.err.read_text(), "the collector")
		return collector

	def push(self, host, trace, *options):
		return self.start(f"push_{host}_{len(self.programs)}", "push", "--json", "--keys", self.directory / "hosts" / host, *options, trace)

	def leaf(self, site="paris"):
		"""What a relay could say that is another program: the protocol of leaf nodes, with its certificate."""
		keys = self.work / f"keys-{site}"
		keys.mkdir(exist_ok=True)
		for end in ("pem", "key"):
			shutil.copy(self.directory / "leafs" / site / f"leaf.{end}", keys / f"me.{end}")
		return fleet_lab.Client(types.SimpleNamespace(port=self.leaf_port, directory=self.directory), keys, connect=AS_LEAF)

	def __exit__(self, *unused):
		for program in self.programs:
			program.kill()
		super().__exit__(*unused)


def files():
	fleet = Sites("files", "d1")
	relay = fleet.directory / "leafs" / "paris"
	e2e.equal("what a relay gets", sorted(path.name for path in relay.iterdir()),
	          ["ca.pem", "leaf.key", "leaf.pem", "nats.conf", "relay.key", "relay.pem", "users.conf"])
	for name, usage, san in (("relay", "sslserver", "DNS:127.0.0.1"), ("leaf", "sslclient", "DNS:fleet_relay_paris")):
		done = e2e.run("openssl", "verify", "-x509_strict", "-purpose", usage, "-CAfile", fleet.directory / "ca" / "ca.pem", relay / f"{name}.pem")
		text = e2e.run("openssl", "x509", "-in", relay / f"{name}.pem", "-noout", "-text").stdout
		e2e.expect("OK" in done.stdout and san in text, f"{name}: {done.stdout} {text}")
		e2e.equal(f"mode of {name}.key", stat.S_IMODE((relay / f"{name}.key").stat().st_mode), 0o600)
	hub_of = {host: (fleet.directory / "hosts" / host / "hub").read_text().strip() for host in ("d1", "p1")}
	e2e.equal("hubs", hub_of, {"d1": f"tls://127.0.0.1:{fleet.port}", "p1": f"tls://127.0.0.1:{fleet.relays['paris'].port}"})
	e2e.equal("hosts of the operator", (fleet.keys / "hosts").read_text().split(), ["d1", "p1", "p2"])
	before = {path: path.read_bytes() for path in fleet.directory.rglob("*.key")}
	for words, why in ((("--leaf", "paris", "--relay", "x", "p9"), "was, there already"), (("--leaf", "PARIS", "--relay", "x"), "was, there already"),
	                   (("--leaf", "../x", "--relay", "x"), "not the name of a site"), (("--leaf", "rome", "p9"), "--relay is missing"),
	                   (("--leaf", "rome", "--add", "p9"), "there is no site rome"), (("--leaf", "rome", "--relay", "x", "d1"), "is there already"),
	                   (("--leaf", "rome", "--relay", "x", "p9", "p9"), "named twice"), (("--leaf", "rome", "--relay", "x", "--leaf-port", "1"), "port"),
	                   (("--relay", "x", "p9"), "add --leaf"), (("--leaf", "rome", "--relay", "x", "--hub", "y"), "leave out --hub"),
	                   (("--leaf", "rome", "--relay", "nats://x"), "speaks TLS"), (("--remove-leaf", "rome"), "there is no site rome"),
	                   (("--remove-leaf", "paris", "--add", "x"), "stands alone"), (("--add", "p1"), "is there already")):
		done = fleet.init(*words, exit_code=1)
		e2e.expect(why in done.stderr and done.stderr.count("\n") == 1, f"{words}: {done.stderr}")
	e2e.equal("relays", [path.name for path in (fleet.directory / "leafs").iterdir()], ["paris"])
	e2e.equal("keys after all that", {path: path.read_bytes() for path in before}, before)


@e2e.longer
def through():
	"""Blocks, descriptions, answers, commands; a relay and a hub that are killed meanwhile; nobody who receives."""
	run = e2e.work / "through_run"
	traces = {host: make_trace(e2e.work / f"through_{host}", mib) for host, mib in (("p1", 48), ("p2", 4), ("d1", 4))}
	with Sites("through", "d1") as fleet:
		p2 = fleet.push("p2", traces["p2"])
		wait_for(lambda: "no collector is there" in p2.err.read_text(), "the word that nobody receives")
		collector = fleet.collector(run)
		expect_all_stored(p2.end())
		p1, d1 = fleet.push("p1", traces["p1"]), fleet.push("d1", traces["d1"])
		wait_for(lambda: stored_bytes(run, "p1") > 4e6, "the transfer")
		fleet.relays["paris"].process.end(signal.SIGKILL)
		e2e.expect(p1.process.poll() is None, "the relay was killed too late to matter")
		fleet.start_relay("paris")
		wait_for(lambda: stored_bytes(run, "p1") > 8e6, "the transfer")
		fleet.hub.end(signal.SIGKILL)
		e2e.expect(p1.process.poll() is None, "the hub was killed too late to matter")
		fleet.start_hub()
		agent = fleet.agent("p2")  # p1 notices only after 10 s that what was between the two servers is lost
		agent.wait_for("connected to the hub")
		rows = fleet.rows("status", exit_code=1)
		e2e.equal("states", {host: row["state"] for host, row in rows.items()}, {"d1": "no answer", "p1": "no answer", "p2": "idle"})
		done = fleet.rows("record", "--hosts", "p2", "--run", "r", "-d", "0.1", "--user-only", "--no-calibration", "--lead", "100ms")
		e2e.expect(done["p2"]["state"] in ("recording", "ended"), done)
		wait_for(lambda: len(fleet_traces.accounts(run)["p2"]["traces"]) == 2, "the recording")
		for push in (p1, d1):
			expect_all_stored(push.end())
		collector.end(number=signal.SIGTERM)
	for host in ("p1", "d1"):
		expect_same(traces[host], run / host)
	for name in ("metadata", "kernel_cpu0", "kernel_cpu3"):  # the recording has a directory beside them
		e2e.expect((run / "p2" / name).read_bytes() == (traces["p2"] / name).read_bytes(), f"p2/{name} differs")


class Delay:
	"""Bytes pass to the port `to` at once, and come back late."""

	def __init__(self, port, to, seconds):
		self.port, self.to, self.seconds = port, to, seconds
		self.loop = asyncio.new_event_loop()
		self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

	async def pump(self, reader, writer, seconds):
		try:
			while data := await reader.read(1 << 16):
				self.loop.call_later(seconds, writer.write, data)
		except ConnectionError:
			pass
		self.loop.call_later(seconds, writer.close)

	async def join(self, reader, writer):
		other_reader, other_writer = await asyncio.open_connection("127.0.0.1", self.to)
		self.tasks = [self.loop.create_task(self.pump(reader, other_writer, 0)), self.loop.create_task(self.pump(other_reader, writer, self.seconds))]

	def __enter__(self):
		self.thread.start()
		asyncio.run_coroutine_threadsafe(asyncio.start_server(self.join, "127.0.0.1", self.port), self.loop).result(5)
		return self

	def __exit__(self, *unused):
		self.loop.call_soon_threadsafe(self.loop.stop)
		self.thread.join()


def at(clock, ticks):
	"""What a clock's lines say of these ticks, and how far off that may be; None: before the first node and after the last
	one it may be unknown."""
	nodes = clock["nodes"]
	window = sum(node[0] <= ticks for node in nodes)
	i = max(1, min(len(nodes) - 1, window))
	(t0, n0), (t1, n1) = nodes[i - 1], nodes[i]
	return n0 + (ticks - t0) * (n1 - n0) // (t1 - t0), clock["bounds_ns"][window]


def clocks():
	"""The way to the hub takes no time, the way back 20 ms, and only for the relay. Both hosts are this machine, so the
	lines of the two must agree as far as their bounds say, and the bound must be at least half of the delay."""
	run, late_s = e2e.work / "clocks_run", 0.02
	hub_port = free_port()
	fleet = Sites("clocks", "d1", hub_port=hub_port)
	with Delay(fleet.leaf_port, hub_port, late_s), fleet:
		collector = fleet.collector(run)
		pushes = []
		for host in ("p1", "d1"):
			pushes.append(fleet.push(host, of_this_boot(make_trace(e2e.work / f"clocks_{host}", 0.1))))
		for push in pushes:
			expect_all_stored(push.end())
		text = collector.end(number=signal.SIGTERM)
		said = collector.err.read_text()
	e2e.expect("clock of p1: off by" in said and "clock of d1: off by" in said, f"{text}{said}")
	parts = {part["directory"]: part["clock"] for part in json.loads((run / ".monitor" / "collection.json").read_text())["parts"]}
	ticks = [int((run / ".monitor" / "clocks" / host).read_text().splitlines()[line].split()[0]) for host in ("p1", "d1") for line in (1, 4, 7)]
	both = [(at(parts["p1"], tick), at(parts["d1"], tick)) for tick in ticks]
	known = [(p1, d1) for p1, d1 in both if p1[1] is not None and d1[1] is not None]
	e2e.expect(known, f"no time of which both bounds are known: {both}")
	for (p1, p1_bound), (d1, d1_bound) in known:
		e2e.expect(abs(p1 - d1) <= p1_bound + d1_bound, f"{p1 - d1} ns apart, bounds {p1_bound} and {d1_bound}")
		e2e.expect(p1_bound >= late_s * 1e9 / 2, f"bound {p1_bound} ns, but the delay is {late_s} s one way")
		e2e.expect(abs(p1 - d1) > late_s * 1e9 / 4, f"{p1 - d1} ns apart: was anything late?")


def forging_relay():
	with Sites("forging", "d1") as fleet:
		e2e.equal("the relay's exit code", fleet.relays["paris"].process.end(), 1)
		operator, d1 = fleet_lab.Client(fleet, fleet.keys), fleet_lab.Client(fleet, fleet.directory / "hosts" / "d1")
		for subject in ("m.hello.*", "m.answer.*", "m.clock.*", "m.*.*.*.*.*.*.*.*"):
			operator.subscribe(subject)
		operator.flush()
		for subject in ("m.ctl.all", "m.ctl.d1", "_INBOX.d1.x.*"):
			d1.subscribe(subject)
		d1.flush()
		relay = fleet.leaf()
		for subject in (">", "m.>", "m.ctl.*", "_INBOX.>", "m.ctl.p1"):
			relay.send(f"LS+ {subject}\r\n")
		relay.flush()

		def say(subject, text):
			relay.send(f"LMSG {subject} {len(text)}\r\n{text}\r\n")
		for subject in ("m.hello.d1", "m.answer.d1", "m.clock.d1", stored_subject("data", "d1"), stored_subject("file", "d1"), "m.ctl.d1", "m.ctl.all",
		                "_INBOX.d1.x.1", "m.hello.p9", stored_subject("data", "p9"), stored_subject("data", "p1", shard_other("p1")), "m.hello.fleet_operator"):
			say(subject, "forged")
		for subject in ("m.hello.p1", stored_subject("data", "p2")):
			say(subject, "true")
		relay.flush()
		heard = [operator.message() for _ in range(2)]
		e2e.equal("what the hub takes from a relay", heard, [("m.hello.p1", "true"), (stored_subject("data", "p2"), "true")])
		e2e.expect("timed out" in fleet_lab.refused(lambda: operator.message(0.2)), "something else arrives")
		e2e.expect("timed out" in fleet_lab.refused(lambda: d1.message(0.2)), "something forged arrives at another host")
		d1.socket.settimeout(5)
		operator.socket.settimeout(5)
		for subject, text in (("m.ctl.d1", "secret"), ("m.ctl.p1", "yours"), ("m.ctl.all", "to all")):
			operator.publish(subject, text)
		d1.send(f"PUB {stored_subject('data', 'd1')} _INBOX.d1.x.1 1\r\nx\r\n")
		operator.message()
		operator.publish("_INBOX.d1.x.1", "answer")
		e2e.equal("what d1 hears", [d1.message()[1] for _ in range(3)], ["secret", "to all", "answer"])
		relay.send("PING\r\n")
		lines = []
		while not lines or lines[-1] != "PONG":
			lines.append(relay.line())
		e2e.equal("what the relay hears", [line for line in lines if line.startswith("LMSG")], ["LMSG m.ctl.p1 5", "LMSG m.ctl.all 6"])
		relay.send("LS+ m.ctl.d1\r\n")
		e2e.expect("Permissions Violation" in fleet_lab.refused(lambda: relay.expect("never")), "a relay may listen to another's commands")


def said_to_all():
	"""What a host says to all other hosts (m.fired) passes relays both ways; a relay can say it to hosts of the hub for its
	own hosts only."""
	with Sites("said", "d1") as fleet:
		fleet.add_site("rome", "r1")
		fleet.reload_hub()
		fleet.relays["paris"].process.end()  # what it was connected for before does not have the new site's hosts
		for site in ("paris", "rome"):
			fleet.start_relay(site)
		where = {"d1": fleet, "p1": fleet.relays["paris"], "p2": fleet.relays["paris"], "r1": fleet.relays["rome"]}
		clients = {host: fleet_lab.Client(at, fleet.directory / "hosts" / host) for host, at in where.items()}
		operator = fleet_lab.Client(fleet, fleet.keys)
		for client in [*clients.values(), operator]:
			client.subscribe("m.fired.*")
			client.flush()
		heard = {host: set() for host in [*clients, "operator"]}

		def all_heard():
			for host, client in clients.items():
				client.publish(f"m.fired.{host}", host)
			for host, client in [*clients.items(), ("operator", operator)]:
				while not fleet_lab.refused(lambda client=client: heard[host].add(client.message(0.05))):
					pass
			return all({f"m.fired.{other}" for other in clients} <= {subject for subject, _ in each} for each in heard.values())
		for _ in range(20):
			if all_heard():
				break
		e2e.equal("what was said", {host: sorted({subject for subject, _ in each}) for host, each in heard.items()},
		          {host: sorted(f"m.fired.{other}" for other in clients) for host in heard})
		e2e.expect(all(subject == f"m.fired.{text}" for each in heard.values() for subject, text in each), heard)
		fleet.relays["paris"].process.end()
		drain(clients["d1"])
		relay = fleet.leaf()
		for subject in ("m.near.d1", "m.near.r1", "m.fired.d1", "m.afar.d1", "m.near.p1"):
			relay.send(f"LMSG {subject} 1\r\nx\r\n")
		relay.flush()
		e2e.equal("what is heard", clients["d1"].message(), ("m.fired.p1", "x"))
		e2e.expect("timed out" in fleet_lab.refused(lambda: clients["d1"].message(0.2)), "a relay speaks as another's host")


def shard_other(host):
	return (fleet_lab.shard_hash(host) + 1) % 64


def wrong_ports():
	"""Who may connect where."""
	with Sites("ports", "d1") as fleet:
		leafs = types.SimpleNamespace(port=fleet.leaf_port, directory=fleet.directory)
		fleet.leaf().close()
		keys = fleet.work / "keys-paris"
		for where, who, what in ((fleet, keys, "a relay as a client"), (leafs, fleet.directory / "hosts" / "d1", "a host as a relay"),
		                         (leafs, fleet.keys, "the operator as a relay"), (fleet, fleet.directory / "hosts" / "p1", "a site's host at the hub"),
		                         (fleet.relays["paris"], fleet.directory / "hosts" / "d1", "another's host at the relay"),
		                         (fleet.relays["paris"], fleet.keys, "the operator at a relay"), (leafs, None, "nobody")):
			def connect(where=where, who=who):
				fleet_lab.Client(where, who, connect=AS_LEAF if where is leafs else '"version":"1"')
			why = fleet_lab.refused(connect)
			e2e.expect("Authorization Violation" in why or (who is None and why), f"{what}: {why or 'accepted'}")


def added_and_removed():
	with Sites("changes", "d1") as fleet:
		hosts = fleet.directory / "hosts"
		operator, d1, p1 = fleet_lab.Client(fleet, fleet.keys), fleet_lab.Client(fleet, hosts / "d1"), fleet_lab.Client(fleet.relays["paris"], hosts / "p1")
		operator.subscribe("m.hello.*")
		operator.flush()
		made = fleet.init("--leaf", "paris", "--add", "p3")
		e2e.expect("systemctl reload" in made.stdout and "systemctl restart" in made.stdout, made.stdout)
		fleet.add_site("rome", "r1")
		fleet.reload_hub()
		fleet.start_relay("rome")
		fleet.relays["paris"].process.end()
		fleet.start_relay("paris")
		p3, r1 = fleet_lab.Client(fleet.relays["paris"], hosts / "p3"), fleet_lab.Client(fleet.relays["rome"], hosts / "r1")
		for client, host in ((p3, "p3"), (r1, "r1")):
			client.subscribe(f"m.ctl.{host}")
			client.flush()

			def goes_through(client=client, host=host):
				client.publish(f"m.hello.{host}", "x")
				return fleet_lab.refused(lambda: operator.message(0.1)) == ""
			wait_for(goes_through, f"a message of {host}")
			operator.socket.settimeout(5)

			def is_heard(client=client, host=host):
				operator.publish(f"m.ctl.{host}", "y")
				return fleet_lab.refused(lambda: client.message(0.1)) == ""
			wait_for(is_heard, f"a command to {host}")
		d1.flush()  # was not cut off
		e2e.expect(fleet_lab.refused(p1.flush), "p1 is still connected to a relay that was restarted")
		relay = fleet.leaf()
		fleet.init("--remove", "p2")
		made = fleet.init("--remove-leaf", "rome")
		e2e.expect("hosts/r1/hub" in made.stdout, made.stdout)
		fleet.reload_hub()
		e2e.expect(fleet_lab.refused(lambda: fleet.leaf("rome")), "a removed relay: accepted")
		fleet_lab.Client(fleet, hosts / "r1").close()  # is the hub's now
		e2e.equal("the hub of r1", (hosts / "r1" / "hub").read_text().strip(), f"tls://127.0.0.1:{fleet.port}")
		drain(operator)
		r1.publish("m.hello.r1", "from a removed relay")
		r1.flush()
		for subject in ("m.hello.p2", "m.hello.p1"):
			relay.send(f"LMSG {subject} 1\r\nx\r\n")
		relay.flush()
		e2e.equal("what arrives", operator.message(), ("m.hello.p1", "x"))
		e2e.expect("timed out" in fleet_lab.refused(lambda: operator.message(0.2)), "something of who was removed arrives")
		done = fleet.init("--leaf", "rome", "--relay", "x", exit_code=1)
		e2e.expect("was, there already" in done.stderr, done.stderr)


def drain(client):
	while not fleet_lab.refused(lambda: client.message(0.1)):
		pass
	client.socket.settimeout(5)


if __name__ == "__main__":
	fleet_lab.need_agents()
	e2e.main(through, beside=[(files, forging_relay, said_to_all, wrong_ports, added_and_removed, clocks)])
