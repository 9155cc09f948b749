#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Three hubs that are a cluster (monitor fleet init --hub A --hub B --hub C): one of them is killed while blocks flow and
hosts record. Called by hand, as root, a minute:

tests/fleet/hubs.py MONITOR PROGRAMS WORK [NAME...]
    build/tools/monitor/monitor build/tests/e2e /var/tmp/hubs

Exit code: 0, or 1 if something does not hold.
"""
import pathlib
import signal
import socket
import ssl
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import e2e
import fleet_lab
import fleet_traces
from fleet_traces import Program, expect_all_stored, expect_same, free_port, make_trace, stored_bytes, wait_for

HUBS = ("hub", "hub2", "hub3")
PATIENCE_S = 5  # until all hosts are seen again, as Documentation/fleet.md says it


class Cluster(fleet_lab.Fleet):
	"""Hubs at 127.0.0.1 to 127.0.0.3."""

	def __init__(self, name, *hosts):
		self.route_port, self.hubs, self.programs = free_port(), {}, []
		port = free_port()
		super().__init__(name, *hosts, port=port, more=[*(word for i in (2, 3) for word in ("--hub", f"127.0.0.{i}:{port}")),
		                                                "--route-port", self.route_port])

	def start_hub(self):
		for folder in HUBS:
			self.start_one(folder)
		for hub in self.hubs.values():
			wait_for(lambda hub=hub: hub.text().count("Route connection created") >= len(HUBS) - 1, "the cluster")

	def start_one(self, folder):
		before = self.hubs[folder].text().count("Server is ready") if folder in self.hubs else 0
		self.hubs[folder] = fleet_lab.Process(self.work / f"{folder}.log", "nats-server", "-c", "nats.conf", cwd=self.directory / folder)
		self.processes.append(self.hubs[folder])
		self.hubs[folder].wait_for("Server is ready", times=before + 1)

	def start(self, name, *words):
		program = Program(f"{self.work.name}_{name}", e2e.monitor, "fleet", *words)
		self.programs.append(program)
		return program

	def first_hub(self, keys):
		"""The hub that is tried first with these keys."""
		addresses = [address.removeprefix("tls://127.0.0.").split(":")[0] for address in (keys / "hub").read_text().strip().split(",")]
		e2e.equal(f"{keys.name}: hubs", sorted(addresses), ["1", "2", "3"])
		return HUBS[int(addresses[0]) - 1]

	def __exit__(self, *unused):
		for program in self.programs:
			program.kill()
		super().__exit__(*unused)


def streams_of(directory):
	return {path.name: path.read_bytes() for path in pathlib.Path(directory).iterdir() if path.is_file()}


def blocks_flow():
	"""Three hosts, each at another hub, and a collector at the first one: hubs are killed one after the other."""
	hosts = ("p1", "p2", "p3")
	with Cluster("flow", *hosts) as fleet:
		e2e.equal("hubs that are tried first", [fleet.first_hub(fleet.directory / "hosts" / host) for host in hosts], list(HUBS))
		traces = {host: make_trace(e2e.work / f"flow_{host}", 128) for host in hosts}
		run = e2e.work / "flow_run"
		collector = fleet.start("collector", "collect", "-o", run, "--keys", fleet.keys)
		wait_for(lambda: "connected" in collector.err.read_text(), "the collector")
		pushes = {host: fleet.start(f"push_{host}", "push", "--json", "--keys", fleet.directory / "hosts" / host, trace) for host, trace in traces.items()}
		for part, folder in ((0.1, "hub"), (0.3, "hub2")):  # the collector's, and one of those that are left
			wait_for(lambda part=part: stored_bytes(run, "p3") > part * 128e6, "the transfer")
			e2e.expect(pushes["p3"].process.poll() is None, "killed too late to matter")
			fleet.hubs[folder].kill()
			at, before = time.monotonic(), stored_bytes(run, "p3")
			wait_for(lambda before=before: stored_bytes(run, "p3") > before + 4e6 or pushes["p3"].process.poll() is not None, "blocks after it")
			print(f"  {folder} killed: the next blocks were stored {time.monotonic() - at:.2f} s after it")
			if folder == "hub":
				fleet.start_one(folder)
		sums = {host: expect_all_stored(push.end(seconds=120)) for host, push in pushes.items()}
		collector.end(number=signal.SIGTERM)
	for host, trace in traces.items():
		expect_same(trace, run / host)
	print(f"  {sum(each['sent_again'] for each in sums.values())} messages sent again")


def hosts_record():
	"""Agents, each at another hub, record; the operator's hub is killed meanwhile. `status` sees all of them soon after."""
	hosts = ("h1", "h2", "h3", "h4")
	with Cluster("record", *hosts) as fleet:
		agents = {host: fleet.agent(host) for host in hosts}
		for agent in agents.values():
			agent.wait_for("connected to the hub")
		run, marks = fleet.work / "run", fleet.work / "marks"
		command = f"for i in 1 2 3 4 5 6; do {e2e.workload} getppid 20000; date >> {marks}; sleep 0.5; done"
		recorder = fleet_lab.Process(fleet.work / "record.log", e2e.monitor, "fleet", "record", "--keys", fleet.keys, "--run", "r", "-e", "sched,syscall",
		                             "--no-calibration", "--lead", "200ms", "-o", run, "--", "sh", "-c", command)
		fleet.processes.append(recorder)
		wait_for(lambda: marks.exists() and len(marks.read_text().splitlines()) == 2, "two of six loads")
		killed = fleet.first_hub(fleet.keys)
		lost = [host for host in hosts if fleet.first_hub(fleet.directory / "hosts" / host) == killed]
		e2e.expect(0 < len(lost) < len(hosts), lost)
		fleet.hubs[killed].kill()
		at = time.monotonic()

		def all_seen():
			done = fleet.run("status", exit_code=None)
			return done.returncode == 0
		wait_for(all_seen, "all hosts in the status", 30)
		took = time.monotonic() - at
		print(f"  all {len(hosts)} hosts were seen {took:.2f} s after a hub was killed")
		e2e.expect(took < PATIENCE_S, f"{took:.2f} s until all hosts are seen again")
		for host, agent in agents.items():
			e2e.equal(f"{host}: has lost a connection", "is lost" in agent.text(), host in lost)
		e2e.equal("exit code of record", recorder.process.wait(120), 0)
		e2e.expect(f"of {len(hosts)} hosts in" in recorder.text() and "not everything" not in recorder.text(), recorder.text())
		for host in hosts:
			here, there = streams_of(run / host), streams_of(fleet.trace(host, "r").directory)
			e2e.expect(len(there) > 1 and sum(map(len, there.values())) > 1e6, f"{host}: {sorted(there)}")
			e2e.expect(here == there, f"{host}: the run's files are not the host's")
			e2e.Trace(run / host).expect_true()
		fleet.start_one(killed)
		rows = fleet.rows("status")
		e2e.equal("states", {row["state"] for row in rows.values()}, {"idle"})


def none_left():
	"""While no hub is there each of them is named as the reason; the first that comes again will do."""
	with Cluster("none", "h1") as fleet:
		agent = fleet.agent("h1")
		agent.wait_for("connected to the hub")
		for hub in fleet.hubs.values():
			hub.kill()
		for i in (1, 2, 3):
			agent.wait_for(f"the hub 127.0.0.{i}:{fleet.port} cannot be reached")
		time.sleep(2)
		e2e.expect(agent.text().count("cannot be reached") == 3, f"each reason once: {agent.text()}")
		fleet.start_one("hub3")
		agent.wait_for("connected to the hub", times=2, seconds=15)
		e2e.equal("status", {host: row["state"] for host, row in fleet.rows("status").items()}, {"h1": "idle"})


def who_is_a_hub():
	"""A host cannot join the cluster with its own certificate, and a hub's certificate for it is none for clients."""
	with Cluster("join", "h1") as fleet:
		hub = fleet.directory / "hub2"

		def join(certificate, key, port, ca):
			context = ssl.create_default_context(cafile=str(ca))
			context.load_cert_chain(str(certificate), str(key))
			plain = socket.create_connection(("127.0.0.1", port), timeout=5)
			if port == fleet.port:
				plain.recv(65536)  # who connects to the cluster speaks first
			with context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
				connection.sendall(b'CONNECT {"verbose":false,"tls_required":true}\r\nPING\r\n')
				connection.recv(65536)  # what is asked is no word of a cluster: the connection ends, once the certificate is accepted

		def is_refused(*words):
			before = fleet.hubs["hub"].text().count("failed to verify client certificate")
			fleet_lab.refused(lambda: join(*words))
			time.sleep(0.2)
			return fleet.hubs["hub"].text().count("failed to verify client certificate") > before
		routes_ca = hub / "routes-ca.pem"
		for directory, name in ((fleet.directory / "hosts" / "h1", "me"), (fleet.keys, "me"), (hub, "hub")):
			e2e.expect(is_refused(directory / f"{name}.pem", directory / f"{name}.key", fleet.route_port, routes_ca), f"{directory.name}/{name} joins the cluster")
		e2e.expect(not is_refused(hub / "route.pem", hub / "route.key", fleet.route_port, routes_ca), "a hub cannot join")
		e2e.expect(is_refused(hub / "route.pem", hub / "route.key", fleet.port, fleet.directory / "ca" / "ca.pem"),
		           "a hub's certificate for the cluster is accepted as a client's")
		e2e.expect(not (fleet.directory / "hosts" / "h1" / "route.key").exists() and (fleet.directory / "ca" / "routes.key").exists(), "keys of the cluster")


if __name__ == "__main__":
	fleet_lab.need_agents()
	e2e.need_recording()
	every = (who_is_a_hub, none_left, blocks_flow, hosts_record)
	e2e.main(*(test for test in every if test.__name__ in sys.argv[4:] or not sys.argv[4:]))
