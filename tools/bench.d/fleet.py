# SPDX-License-Identifier: MIT
"""The data path of a fleet: CPU time per MiB at the host, the servers and the collector, batched and one block in a
message, directly and through a relay (a leaf node), beside JetStream (which stores at the server, too) and raw TCP (no
broker, no authentication, no answers: the floor), all on this machine. Every copy is compared."""
import filecmp
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import time

from lib import Result, Skip, Spread, need, run, spawn, stop

TITLE = "fleet: what it costs to bring blocks to a collector"
MIB = 1 << 20
HEADER = struct.Struct("<I16sIQQQQQQQIIII")
UUID = bytes(range(16))


def make_trace(directory, mib, streams=4):
	shutil.rmtree(directory, ignore_errors=True)
	os.makedirs(os.path.join(directory, ".monitor"))
	with open(os.path.join(directory, "metadata"), "w") as file:
		file.write("/* CTF 1.8 */\n")
	with open(os.path.join(directory, ".monitor", "recording.json"), "w") as file:
		json.dump({"version": 1, "state": "complete", "uuid": UUID.hex()}, file)
	body = os.urandom(4000)
	for stream in range(streams):
		with open(os.path.join(directory, f"kernel_cpu{stream}"), "wb") as file:
			for number in range(mib * 256 // streams):
				file.write(HEADER.pack(0xC1FC1FC1, UUID, 0, stream, number, number, 32768, 32768, number, 0, stream, 0, 0, 0) + body)


def cpu_s(pid):
	with open(f"/proc/{pid}/stat") as file:
		words = file.read().rsplit(")", 1)[1].split()
	return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def free_port():
	with socket.socket() as probe:
		probe.bind(("127.0.0.1", 0))
		return probe.getsockname()[1]


def wait_for(condition, what):
	deadline = time.monotonic() + 20
	while not condition():
		if time.monotonic() > deadline:
			raise RuntimeError(f"{what}: not within 20 s")
		time.sleep(0.01)


def expect_same(trace, copy):
	for name in os.listdir(trace):
		if name.startswith("kernel_cpu") and not filecmp.cmp(os.path.join(trace, name), os.path.join(copy, name), shallow=False):
			raise RuntimeError(f"{copy}/{name} differs")


def times_of_children():
	times = os.times()
	return times.children_user + times.children_system


class Path:
	"""A server and a collector that stay, and pushes over them. CPU time of what stays by /proc."""

	def __init__(self, context, name):
		self.context, self.run = context, context.path(f"{name}_run")
		port, leaf_port, relay_port = free_port(), free_port(), free_port()
		self.url, self.relay_url = f"nats://127.0.0.1:{port}", f"nats://127.0.0.1:{relay_port}"
		self.server = self.serve(f"{name}_hub", port, f'leafnodes {{ listen: "127.0.0.1:{leaf_port}" }}')
		self.relay = self.serve(f"{name}_relay", relay_port, f'leafnodes {{ remotes: [ {{ url: "nats-leaf://127.0.0.1:{leaf_port}" }} ] }}')
		log = context.path(f"{name}_log")
		self.collector = spawn([context.monitor, "fleet", "collect", "-o", self.run, "--hub", self.url], stdout=subprocess.DEVNULL, stderr=open(log, "w"))
		wait_for(lambda: "connected" in open(log).read(), "the collector")

	def serve(self, name, port, more):
		return serve(self.context, name, f'listen: "127.0.0.1:{port}"\nmax_payload: 1MB\n{more}\n')

	def push(self, trace, host, mib, how, through_relay=False):
		"""CPU ms per MiB of the four, and MiB per second."""
		pids = {"server": self.server.pid, "relay": self.relay.pid, "collector": self.collector.pid}
		before, children, begin = {part: cpu_s(pid) for part, pid in pids.items()}, times_of_children(), time.monotonic()
		url = self.relay_url if through_relay else self.url
		run([self.context.monitor, "fleet", "push", trace, "--host", host, "--forward", how, "--hub", url], timeout=300)
		seconds = time.monotonic() - begin
		found = {part: (cpu_s(pid) - before[part]) * 1e3 / mib for part, pid in pids.items()}
		found |= {"agent": (times_of_children() - children) * 1e3 / mib, "rate": mib / seconds}
		expect_same(trace, os.path.join(self.run, host))
		shutil.rmtree(os.path.join(self.run, host))
		return found

	def end(self):
		for process in (self.collector, self.relay, self.server):
			stop(process, signal.SIGTERM)


def serve(context, name, configuration):
	path = context.path(f"{name}.conf")
	with open(path, "w") as file:
		file.write(configuration)
	log = context.path(f"{name}.log")
	server = spawn(["nats-server", "-c", path], stdout=subprocess.DEVNULL, stderr=open(log, "w"))
	wait_for(lambda: "Server is ready" in open(log).read(), "nats-server")
	return server


def jetstream(context, number, trace, copy, mib):
	"""The same bytes through a store of the server's own, which acknowledges each message."""
	port, program = free_port(), context.helper("jetstream")
	url, store = f"nats://127.0.0.1:{port}", context.path(f"jetstream{number}")
	server = serve(context, f"jetstream{number}", f'listen: "127.0.0.1:{port}"\nmax_payload: 1MB\njetstream {{ store_dir: "{store}", max_file: 8GB }}\n')
	os.makedirs(copy, exist_ok=True)
	run([program, "create", url])
	before, begin = cpu_s(server.pid), time.monotonic()
	consumer = spawn([program, "consume", url, copy, str(mib * MIB)])
	children = times_of_children()
	run([program, "publish", url, trace], timeout=300)
	agent = times_of_children() - children
	if consumer.wait(timeout=300) != 0:
		raise RuntimeError("the consumer of JetStream failed")
	seconds = time.monotonic() - begin
	collector = times_of_children() - children - agent
	used = cpu_s(server.pid) - before
	stop(server, signal.SIGTERM)
	expect_same(trace, copy)
	shutil.rmtree(copy)
	shutil.rmtree(store)
	return {"agent": agent * 1e3 / mib, "server": used * 1e3 / mib, "collector": collector * 1e3 / mib, "rate": mib / seconds}


def raw_tcp(trace, copy, mib):
	"""sendfile on one side, read and write on the other, and one fdatasync of each file."""
	os.makedirs(copy, exist_ok=True)
	listener = socket.socket()
	listener.bind(("127.0.0.1", 0))
	listener.listen()
	names = sorted(name for name in os.listdir(trace) if name.startswith("kernel_cpu"))
	begin = time.monotonic()
	child = os.fork()
	if child == 0:
		connection, buffer = listener.accept()[0], memoryview(bytearray(256 << 10))
		for name in names:
			left = os.stat(os.path.join(trace, name)).st_size
			fd = os.open(os.path.join(copy, name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
			while left:
				got = connection.recv_into(buffer[:min(left, len(buffer))])
				os.write(fd, buffer[:got])
				left -= got
			os.fdatasync(fd)
		connection.send(b"1")
		os._exit(0)
	own = time.process_time()
	with socket.create_connection(listener.getsockname()) as connection:
		for name in names:
			with open(os.path.join(trace, name), "rb") as file:
				connection.sendfile(file)
		connection.recv(1)
	own = time.process_time() - own
	usage = os.wait4(child, 0)[2]
	seconds = time.monotonic() - begin
	listener.close()
	expect_same(trace, copy)
	shutil.rmtree(copy)
	return {"agent": own * 1e3 / mib, "collector": (usage.ru_utime + usage.ru_stime) * 1e3 / mib, "rate": mib / seconds}


def bench(context):
	need("nats-server")
	if "this build has no" in run(["sh", "-c", f"{context.monitor} fleet 2>&1 || true"]):
		raise Skip("this build has no monitor fleet (libnats)")
	result, mib = Result(TITLE), context.scale(256, 8)
	trace, copy = context.path("trace"), context.path("copy")
	make_trace(trace, mib)
	path = Path(context, "fleet")
	found = {"batch": [], "batch, through a relay": [], "each": [], "JetStream": [], "raw TCP": []}
	for number in range(context.rounds_or(5)):
		found["batch"].append(path.push(trace, f"batch{number}", mib, "batch"))
		found["batch, through a relay"].append(path.push(trace, f"relay{number}", mib, "batch", True))
		found["each"].append(path.push(trace, f"each{number}", mib, "each"))
		found["JetStream"].append(jetstream(context, number, trace, copy, mib))
		found["raw TCP"].append(raw_tcp(trace, copy, mib))
	path.end()
	spreads = {how: {part: Spread(each[part] for each in rounds) for part in rounds[0]} for how, rounds in found.items()}
	for part, title, rows in (("agent", "at the host", found), ("server", "at the hub", list(found)[:4]),
	                          ("relay", "at the relay", ["batch, through a relay"]), ("collector", "at the collector", found)):
		result.table([f"CPU ms per MiB {title}", "min", "median", "max"], [[how, *spreads[how][part].cells(2)] for how in rows])
	result.table(["MiB/s", "min", "median", "max"], [[how, *spreads[how]["rate"].cells(0)] for how in found])
	less = Spread(1 - batch["agent"] / each["agent"] for batch, each in zip(found["batch"], found["each"]))
	result.bar("a batch's CPU time at the host, less than that of a message for each block", less.mid, 0.6, spread=less, at_least=True)
	hub = Spread(batch["server"] / peer["server"] for batch, peer in zip(found["batch"], found["JetStream"]))
	result.bar("CPU time at the hub, of that of JetStream", hub.mid, 1, spread=hub)
	result.figures = {how: {part: spread.json() for part, spread in parts.items()} for how, parts in spreads.items()}
	return result
