# SPDX-License-Identifier: MIT
"""The data path of a fleet: CPU time per MiB at the host, the server and the collector, batched and one block in a
message, beside raw TCP (no broker, no authentication, no answers: the floor), all on this machine. Every copy is compared."""
import filecmp
import json
import os
import shutil
import signal
import socket
import struct
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
		port = free_port()
		self.url = f"nats://127.0.0.1:{port}"
		null = open(os.devnull, "w")
		self.server = spawn(["nats-server", "-a", "127.0.0.1", "-p", str(port)], stdout=null, stderr=null)
		log = context.path(f"{name}_log")
		self.collector = spawn([context.monitor, "fleet", "collect", "-o", self.run, "--hub", self.url], stdout=null, stderr=open(log, "w"))
		wait_for(lambda: "connected" in open(log).read(), "the collector")

	def push(self, trace, host, mib, how):
		"""CPU ms per MiB of the three, and MiB per second."""
		before = [cpu_s(self.server.pid), cpu_s(self.collector.pid), times_of_children()]
		begin = time.monotonic()
		run([self.context.monitor, "fleet", "push", trace, "--host", host, "--forward", how, "--hub", self.url], timeout=300)
		seconds = time.monotonic() - begin
		after = [cpu_s(self.server.pid), cpu_s(self.collector.pid), times_of_children()]
		expect_same(trace, os.path.join(self.run, host))
		shutil.rmtree(os.path.join(self.run, host))
		server, collector, agent = ((b - a) * 1e3 / mib for a, b in zip(before, after))
		return {"agent": agent, "server": server, "collector": collector, "rate": mib / seconds}

	def end(self):
		stop(self.collector, signal.SIGTERM)
		stop(self.server, signal.SIGTERM)


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
	return {"agent": own * 1e3 / mib, "server": 0.0, "collector": (usage.ru_utime + usage.ru_stime) * 1e3 / mib, "rate": mib / seconds}


def bench(context):
	need("nats-server")
	if "this build has no" in run(["sh", "-c", f"{context.monitor} fleet 2>&1 || true"]):
		raise Skip("this build has no monitor fleet (libnats)")
	result, mib = Result(TITLE), context.scale(256, 8)
	trace, copy = context.path("trace"), context.path("copy")
	make_trace(trace, mib)
	path, found = Path(context, "fleet"), {"batch": [], "each": [], "raw TCP": []}
	for number in range(context.rounds_or(5)):
		for how in ("batch", "each"):
			found[how].append(path.push(trace, f"{how}{number}", mib, how))
		found["raw TCP"].append(raw_tcp(trace, copy, mib))
	path.end()
	spreads = {how: {part: Spread(each[part] for each in rounds) for part in ("agent", "server", "collector", "rate")}
	           for how, rounds in found.items()}
	for part, title in (("agent", "at the host"), ("server", "at the server"), ("collector", "at the collector")):
		result.table([f"CPU ms per MiB {title}", "min", "median", "max"],
		             [[how, *spreads[how][part].cells(2)] for how in found if part != "server" or how != "raw TCP"])
	result.table(["MiB/s", "min", "median", "max"], [[how, *spreads[how]["rate"].cells(0)] for how in found])
	less = Spread(1 - batch["agent"] / each["agent"] for batch, each in zip(found["batch"], found["each"]))
	result.bar("a batch's CPU time at the host, less than that of a message for each block", less.mid, 0.6, spread=less, at_least=True)
	result.figures = {how: {part: spread.json() for part, spread in parts.items()} for how, parts in spreads.items()}
	return result
