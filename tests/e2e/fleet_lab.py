# SPDX-License-Identifier: MIT
"""A fleet on this machine: keys by `monitor fleet init`, a real nats-server, agents, and a client of our own that says to
the hub what a broken or malicious one would. Imported by the tests of the fleet; hosts are names, see --host."""
import base64
import contextlib
import json
import os
import pathlib
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time

import e2e
import fleet_traces
from fleet_traces import free_port, wait_for


def need_fleet():
	e2e.need_program("openssl")
	fleet_traces.need_fleet()


def need_agents():
	need_fleet()
	closed = is_root() and e2e.closed_to_others(tempfile.gettempdir())
	if closed:
		e2e.skip(f"the directory {closed} is closed to others, and one part of an agent of root is another user")


def shard_hash(host):
	"""As userspace/fleet/wire/names.h defines it."""
	number = 0xcbf29ce484222325
	for byte in host.encode():
		number = (number ^ byte) * 0x100000001b3 % 2**64
	for factor in (0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53):
		number = (number ^ number >> 33) * factor % 2**64
	return (number ^ number >> 33) % 64


def stored_subject(kind, host, number=None):
	"""Of what a collector stores; `number`: other bits than the host's."""
	number = shard_hash(host) if number is None else number
	return f"m.{kind}.{'.'.join(str(number >> bit & 1) for bit in range(6))}.{host.replace('.', '_')}"


class Process:
	"""A program in the background; what it prints goes to a file."""

	def __init__(self, log, *command, **more):
		self.log = pathlib.Path(log)
		with open(self.log, "ab") as output:
			self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
			                                stderr=output, **more)
		self.pid = self.process.pid

	def text(self):
		return self.log.read_text(errors="replace")

	def wait_for(self, words, seconds=10, times=1):
		return wait_for(lambda: self.text().count(words) >= times, f"'{words}' in {self.log}", seconds)

	def kill(self, number=signal.SIGKILL):
		if self.process.poll() is None:
			self.process.send_signal(number)

	def end(self, number=signal.SIGTERM, seconds=30):
		"""The exit code."""
		self.kill(number)
		try:
			return self.process.wait(seconds)
		except subprocess.TimeoutExpired:
			self.process.kill()
			self.process.wait()
			e2e.expect(False, f"{self.log.name}: it does not end after {number.name}:\n{self.text()[-1000:]}")
			return None


class Fleet:
	"""Keys and a hub; `with` ends all that runs. `more`: options of `fleet init`."""

	def __init__(self, name, *hosts, port=None, more=()):
		self.work, self.port = e2e.work / name, port or free_port()
		self.work.mkdir(parents=True)
		self.directory = self.work / "fleet"
		self.spools = self.work
		self.keys = self.directory / "operator"
		self.made = e2e.run(e2e.monitor, "fleet", "init", "-o", self.directory, "--hub", f"127.0.0.1:{self.port}", *more, *hosts)
		self.processes = []
		self.hub = None

	def __enter__(self):
		if is_root():  # traces of root's agents belong to another user, who must be let in
			self.spools = pathlib.Path(tempfile.mkdtemp(prefix="monitor-e2e-"))
			self.spools.chmod(0o711)
		self.start_hub()
		return self

	def __exit__(self, *unused):
		for process in reversed(self.processes):
			process.kill(signal.SIGTERM)
		for process in reversed(self.processes):
			process.end(signal.SIGTERM)
		if self.hub:
			self.hub.end()
		if self.spools != self.work:
			shutil.rmtree(self.spools, ignore_errors=True)

	def start_hub(self):
		self.hub = Process(self.work / "hub.log", "nats-server", "-c", "nats.conf", cwd=self.directory / "hub")
		self.hub.wait_for("Server is ready")

	def agent(self, host, *options, before=(), **more):
		agent = Process(self.work / f"{host}.log", *before, e2e.monitor, "agent", "--keys", self.directory / "hosts" / host,
		                "--host", host, "--spool", self.spools / f"spool-{host}", *options, **more)
		self.processes.append(agent)
		return agent

	def run(self, *words, exit_code=0):
		return e2e.run(e2e.monitor, "fleet", *words[:1], "--keys", self.keys, *words[1:], exit_code=exit_code)

	def rows(self, *words, exit_code=0):
		"""By host."""
		done = self.run(*words[:1], "--json", *words[1:], exit_code=exit_code)
		return {row["host"]: row for row in json.loads(done.stdout or "[]")}

	def trace(self, host, run):
		return e2e.Trace(self.spools / f"spool-{host}" / "runs" / run)

	def command(self, **fields):
		"""The text of a control message, right unless the fields say otherwise. None: without this field."""
		now = time.time_ns()
		text = {"version": 1, "kind": "record", "hosts": ["h1"], "nonce": secrets.token_hex(16), "run": "r", "issued_ns": now,
		        "expires_ns": now + 60 * 10**9, "options": {}} | fields
		return json.dumps({key: value for key, value in text.items() if value is not None})

	def sign(self, text, key=None):
		"""An envelope; the signature is openssl's."""
		message, signature = self.work / "to_sign", self.work / "signature"
		message.write_bytes(text.encode())
		e2e.run("openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key or self.keys / "operator.key", "-in", message, "-out",
		        signature)
		return json.dumps({"message": text, "signature": base64.b64encode(signature.read_bytes()).decode()})


class Client:
	"""Speaks the protocol of NATS, with the certificate in a directory of keys (None: without)."""

	def __init__(self, fleet, keys, ca=None, connect='"lang":"test","version":"1"'):
		context = ssl.create_default_context(cafile=str(ca or fleet.directory / "ca" / "ca.pem"))
		if keys:
			context.load_cert_chain(str(keys / "me.pem"), str(keys / "me.key"))
		plain = socket.create_connection(("127.0.0.1", fleet.port), timeout=5)
		self.buffer, self.subscriptions = b"", 0
		self.socket = plain
		self.info = json.loads(self.line().split(" ", 1)[1])
		self.socket = context.wrap_socket(plain, server_hostname="127.0.0.1")
		self.send(f'CONNECT {{"verbose":false,"pedantic":false,"tls_required":true,{connect}}}\r\nPING\r\n')
		self.expect("PONG")

	def send(self, text):
		self.socket.sendall(text.encode() if isinstance(text, str) else text)

	def line(self):
		while b"\r\n" not in self.buffer:
			got = self.socket.recv(65536)
			if not got:
				raise ConnectionError("the hub closed the connection")
			self.buffer += got
		line, self.buffer = self.buffer.split(b"\r\n", 1)
		return line.decode()

	def expect(self, word):
		"""Lines up to the one that starts with this word; an error of the server is raised."""
		while True:
			line = self.line()
			if line.startswith("-ERR"):
				raise PermissionError(line)
			if line == "PING":
				self.send("PONG\r\n")
			if line.startswith(word):
				return line

	def flush(self):
		self.send("PING\r\n")
		self.expect("PONG")

	def publish(self, subject, text):
		data = text.encode() if isinstance(text, str) else text
		self.send(f"PUB {subject} {len(data)}\r\n".encode() + data + b"\r\n")

	def subscribe(self, subject):
		self.subscriptions += 1
		self.send(f"SUB {subject} {self.subscriptions}\r\n")

	def message(self, seconds=5):
		"""The next one: its subject and its text."""
		self.socket.settimeout(seconds)
		words = self.expect("MSG").split()
		size = int(words[-1])
		while len(self.buffer) < size + 2:
			self.buffer += self.socket.recv(65536)
		text, self.buffer = self.buffer[:size], self.buffer[size + 2:]
		return words[1], text.decode()

	def close(self):
		with contextlib.suppress(OSError):
			self.socket.close()


def refused(attempt):
	"""The reason why a connection or a message is refused; "" if it is not."""
	try:
		attempt()
	except (OSError, ssl.SSLError, PermissionError, TimeoutError) as error:
		return str(error) or type(error).__name__
	return ""


def foreign_keys(directory):
	"""The keys of host h1, by an authority that is not the fleet's."""
	stranger = directory / "stranger"
	e2e.run(e2e.monitor, "fleet", "init", "-o", stranger, "--hub", "127.0.0.1", "h1")
	return stranger / "hosts" / "h1"


def children_of(pid):
	text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
	return [int(word) for word in text.split()]


def is_root():
	return os.geteuid() == 0
