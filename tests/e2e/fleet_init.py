#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitor fleet init: openssl and a real nats-server take what it writes, and refuse who should be refused: no certificate,
another authority's, a host that was removed, the subject of another host. Keys are secret and never written over."""
import os
import shutil
import signal
import socket
import stat

import e2e
import fleet_lab


def certificate(path):
	return e2e.run("openssl", "x509", "-in", path, "-noout", "-text").stdout


def files():
	fleet = fleet_lab.Fleet("files", "h1", "web.example.org")
	for path in fleet.directory.rglob("*"):
		mode = stat.S_IMODE(path.stat().st_mode)
		secret = path.is_dir() or path.suffix == ".key"
		e2e.equal(f"mode of {path.relative_to(fleet.directory)}", oct(mode), oct(0o700 if path.is_dir() else 0o600 if secret else 0o644))
	e2e.equal("what a host gets", sorted(path.name for path in (fleet.directory / "hosts" / "h1").iterdir()),
	          ["ca.pem", "hub", "me.key", "me.pem", "operator.pub"])
	ca = fleet.directory / "ca" / "ca.pem"
	for path, name, usage in ((fleet.directory / "hosts" / "web.example.org" / "me.pem", "web.example.org", "client"),
	                          (fleet.keys / "me.pem", "fleet_operator", "client"), (fleet.directory / "hub" / "hub.pem", "127.0.0.1", "server")):
		done = e2e.run("openssl", "verify", "-x509_strict", "-purpose", f"ssl{usage}", "-CAfile", ca, path)
		e2e.expect("OK" in done.stdout, f"openssl verify: {done.stdout}{done.stderr}")
		text = certificate(path)
		e2e.expect(f"DNS:{name}" in text and f"TLS Web {usage.capitalize()} Authentication" in text, f"{path}: {text}")
		e2e.expect(("TLS Web Server" in text) != ("TLS Web Client" in text), f"{path} is for both: {text}")
	e2e.expect("CA:TRUE, pathlen:0" in certificate(ca), "the authority's certificate")
	serials = {e2e.run("openssl", "x509", "-in", path, "-noout", "-serial").stdout for path in fleet.directory.rglob("*.pem")}
	e2e.equal("certificates with numbers of their own", len(serials), 5)  # ca, hub, operator, two hosts
	e2e.expect("scp -rp" in fleet.made.stdout and "systemctl enable --now monitor-agent" in fleet.made.stdout, fleet.made.stdout)


def never_over():
	fleet = fleet_lab.Fleet("over", "h1")
	before = {path: path.read_bytes() for path in fleet.directory.rglob("*.key")}
	for words, why in ((("--hub", "x", "h2"), "never written over"), (("--add", "h1"), "is there already"),
	                   (("--add", "H1"), "is there already"), (("--add", "../h2"), "not the name of a host"),
	                   (("--add", "fleet_operator"), "not the name of a host"), (("--add", "all"), "not the name of a host"),
	                   (("--remove", "h9"), "there is no host"), (("--add", "h2", "--hub", "x"), "leave out --hub")):
		done = e2e.run(e2e.monitor, "fleet", "init", "-o", fleet.directory, *words, exit_code=1)
		e2e.expect(why in done.stderr, f"{words}: {done.stderr}")
	e2e.run(e2e.monitor, "fleet", "init", "-o", fleet.directory, "--add", "h2", "--add", "h3")
	e2e.run(e2e.monitor, "fleet", "init", "-o", fleet.directory, "--remove", "h2")
	done = e2e.run(e2e.monitor, "fleet", "init", "-o", fleet.directory, "--add", "h2", exit_code=1)
	e2e.expect("would be accepted again" in done.stderr, done.stderr)
	e2e.equal("hosts of the operator", (fleet.keys / "hosts").read_text().split(), ["h1", "h3"])
	e2e.equal("keys after all that", {path: path.read_bytes() for path in before}, before)
	for words, why in ((("--hub", "nats://127.0.0.1"), "speaks TLS"), ((), "--hub is missing"), (("--hub", "a b"), "names no host"),
	                   (("--hub", "x", "h1", "h1"), "is there already")):
		done = e2e.run(e2e.monitor, "fleet", "init", "-o", fleet.work / "none", *words, exit_code=1)
		e2e.expect(why in done.stderr and not (fleet.work / "none").exists() and not (fleet.work / "none.unfinished").exists(),
		           f"{words}: {done.stderr}")
	(fleet.keys / "operator.key").chmod(0o640)
	done = fleet.run("stop", "--run", "x", exit_code=125)
	e2e.expect("can be read by others" in done.stderr, done.stderr)
	done = e2e.run(e2e.monitor, "fleet", "status", "--keys", fleet.directory / "hosts" / "h1", exit_code=1)
	e2e.expect("has the keys of host h1" in done.stderr, done.stderr)
	done = e2e.run(e2e.monitor, "fleet", "status", exit_code=1, env={k: v for k, v in os.environ.items() if k != "MONITOR_FLEET"})
	e2e.expect("MONITOR_FLEET" in done.stderr, done.stderr)


def who_may_connect():
	with fleet_lab.Fleet("connect", "h1", "h2") as fleet:
		hosts = fleet.directory / "hosts"
		h1 = fleet_lab.Client(fleet, hosts / "h1")
		for keys, ca, what in ((None, None, "without a certificate"), (fleet_lab.foreign_keys(fleet.work), None, "another authority's")):
			e2e.expect(fleet_lab.refused(lambda keys=keys, ca=ca: fleet_lab.Client(fleet, keys, ca)), f"{what}: accepted")
		with socket.create_connection(("127.0.0.1", fleet.port)) as plain:  # without TLS
			plain.settimeout(5)
			plain.recv(4096)
			plain.sendall(b"CONNECT {}\r\nPING\r\n")
			e2e.expect(b"PONG" not in plain.recv(4096), "without TLS: accepted")
		h1.flush()
		h1.close()
		hub_as_client = fleet.work / "hub-as-client"  # the hub's own certificate is no client's
		hub_as_client.mkdir()
		for name, as_name in (("hub.pem", "me.pem"), ("hub.key", "me.key")):
			shutil.copy(fleet.directory / "hub" / name, hub_as_client / as_name)
		e2e.expect(fleet_lab.refused(lambda: fleet_lab.Client(fleet, hub_as_client)), "the hub's certificate: accepted as a client's")


def whose_subjects():
	with fleet_lab.Fleet("subjects", "h1", "web.example.org") as fleet:
		hosts = fleet.directory / "hosts"
		operator = fleet_lab.Client(fleet, fleet.keys)
		for subject in ("m.*.*", "m.*.*.*.*.*.*.*.*"):
			operator.subscribe(subject)
		operator.flush()
		web = fleet_lab.Client(fleet, hosts / "web.example.org")
		for subject in ("m.hello.web_example_org", fleet_lab.stored_subject("data", "web.example.org")):
			web.publish(subject, "x")
			e2e.equal("what arrives", operator.message(), (subject, "x"))
		for subject in ("m.hello.h1", "m.data.h1", "m.fired.h1", fleet_lab.stored_subject("data", "h1"), fleet_lab.stored_subject("data", "web.example.org", 0), "m.ctl.all", "m.ctl.web_example_org", "m.ctl.h1", "x", "_INBOX.h1.1", "m.hello.h1.h1"):
			client = fleet_lab.Client(fleet, hosts / "web.example.org")

			def send(client=client, subject=subject):
				client.publish(subject, "x")
				client.flush()
			e2e.expect("Permissions Violation" in fleet_lab.refused(send), f"{subject}: accepted")
		for subject in ("m.ctl.h1", "m.hello.h1", ">", "m.>", "_INBOX.h1.>", "_INBOX.>", "$SYS.>"):
			client = fleet_lab.Client(fleet, hosts / "web.example.org")

			def listen(client=client, subject=subject):
				client.subscribe(subject)
				client.flush()
			e2e.expect("Permissions Violation" in fleet_lab.refused(listen), f"subscription to {subject}: accepted")
		for subject in ("m.ctl.all", "m.ctl.web_example_org", "m.fired.*", "_INBOX.web_example_org.1"):
			web.subscribe(subject)
		web.flush()
		operator.publish("m.ctl.web_example_org", "y")
		e2e.equal("what arrives", web.message(), ("m.ctl.web_example_org", "y"))

		def as_a_host():
			operator.publish("m.hello.h1", "x")
			operator.flush()
		e2e.expect("Permissions Violation" in fleet_lab.refused(as_a_host), "the operator can send as a host")


def added_and_removed():
	with fleet_lab.Fleet("reload", "h1", "h2") as fleet:
		hosts = fleet.directory / "hosts"
		h1, h2 = (fleet_lab.Client(fleet, hosts / name) for name in ("h1", "h2"))
		made = e2e.run(e2e.monitor, "fleet", "init", "-o", fleet.directory, "--add", "h3")
		e2e.expect("HUP" in made.stdout and "systemctl reload" in made.stdout, made.stdout)
		e2e.expect(fleet_lab.refused(lambda: fleet_lab.Client(fleet, hosts / "h3")), "h3 before the reload: accepted")
		fleet.hub.kill(signal.SIGHUP)
		fleet.hub.wait_for("Reloaded server configuration")
		fleet_lab.Client(fleet, hosts / "h3").close()
		h1.flush()
		h2.flush()
		e2e.run(e2e.monitor, "fleet", "init", "-o", fleet.directory, "--remove", "h2")
		fleet.hub.kill(signal.SIGHUP)
		fleet.hub.wait_for("Reloaded server configuration", times=2)
		e2e.expect(fleet_lab.refused(h2.flush), "h2 was removed: its connection stands")
		e2e.expect(fleet_lab.refused(lambda: fleet_lab.Client(fleet, hosts / "h2")), "h2 was removed: accepted")
		h1.flush()


def cluster():
	"""Several hubs: what each gets; a real nats-server takes it. tests/fleet/hubs.py starts and kills them."""
	fleet = fleet_lab.Fleet("cluster", "h1", "h2", "h3", more=("--hub", "hub2.example.org", "--route-port", 16222))
	own, other = f"tls://127.0.0.1:{fleet.port}", "tls://hub2.example.org:4222"
	orders = {path.parent.name: path.read_text().strip() for path in fleet.directory.glob("*/*/hub")} | {"operator": (fleet.keys / "hub").read_text().strip()}
	e2e.equal("which hub is tried first", orders, {"operator": f"{own},{other}", "h1": f"{own},{other}", "h2": f"{other},{own}", "h3": f"{own},{other}"})
	for folder, name, peer in (("hub", "127.0.0.1", "hub2.example.org"), ("hub2", "hub2.example.org", "127.0.0.1")):
		hub = fleet.directory / folder
		e2e.equal(f"what {folder} gets", sorted(path.name for path in hub.iterdir()),
		          ["ca.pem", "hub.key", "hub.pem", "leafnodes.conf", "nats.conf", "route.key", "route.pem", "routes-ca.pem", "users.conf"])
		e2e.run("nats-server", "-c", "nats.conf", "-t", cwd=hub)
		configuration = (hub / "nats.conf").read_text().split("cluster {")[1]
		e2e.expect(f'routes: ["nats-route://{peer}:16222"]' in configuration and 'ca_file: "routes-ca.pem"' in configuration, configuration)
		for usage in ("sslserver", "sslclient"):
			done = e2e.run("openssl", "verify", "-x509_strict", "-purpose", usage, "-CAfile", hub / "routes-ca.pem", hub / "route.pem")
			e2e.expect("OK" in done.stdout, f"openssl verify: {done.stdout}{done.stderr}")
		e2e.expect(f"DNS:{name}" in certificate(hub / "route.pem") and f"DNS:{name}" in certificate(hub / "hub.pem"), f"names of {folder}")
	for stranger in (fleet.directory / "hosts" / "h1" / "me.pem", fleet.keys / "me.pem", fleet.directory / "hub" / "hub.pem"):
		done = e2e.run("openssl", "verify", "-CAfile", fleet.directory / "hub2" / "routes-ca.pem", stranger, exit_code=None)
		e2e.expect(done.returncode != 0, f"{stranger} is a hub's for the cluster")
	made = e2e.run(e2e.monitor, "fleet", "init", "-o", fleet.directory, "--add", "h4")
	e2e.expect("hub/users.conf" in made.stdout and "hub2/users.conf" in made.stdout, made.stdout)
	e2e.equal("lists of hosts", (fleet.directory / "hub/users.conf").read_text(), (fleet.directory / "hub2/users.conf").read_text())
	e2e.equal("hubs of h4", (fleet.directory / "hosts/h4/hub").read_text().strip(), f"{other},{own}")
	e2e.run(e2e.monitor, "fleet", "init", "-o", fleet.directory, "--leaf", "paris", "--relay", "relay", "p1")
	relay = (fleet.directory / "leafs/paris/nats.conf").read_text()
	e2e.expect('urls: ["tls://127.0.0.1:7422", "tls://hub2.example.org:7422"]' in relay, relay)
	for words, why in ((("--hub", "a", "--hub", "a:1"), "is there twice"), (("--hub", "a", "--route-port", 1), "several hubs"),
	                   (("--hub", "a", "--hub", "b:6222"), "hubs need another one"), (("--route-port", 1), "a new fleet"),
	                   ([word for i in range(9) for word in ("--hub", f"a{i}")], "at most 8")):
		done = e2e.run(e2e.monitor, "fleet", "init", "-o", fleet.work / "none", *words, exit_code=1)
		e2e.expect(why in done.stderr and not (fleet.work / "none").exists(), f"{words}: {done.stderr}")


if __name__ == "__main__":
	fleet_lab.need_fleet()
	e2e.main(files, never_over, cluster, who_may_connect, whose_subjects, added_and_removed)
