# SPDX-License-Identifier: MIT
"""Traces, a hub, collectors and pushes for the tests of the fleet's data path. Imported by fleet_data.py and, for longer
series of faults, by tests/fleet/faults.py. Everything is on this machine; hosts are names, see push --host."""
import contextlib
import json
import pathlib
import random
import signal
import socket
import struct
import subprocess
import time
import uuid

import e2e

BLOCK = 4096
HEADER = struct.Struct("<I16sIQQQQQQQIIII")
MAGIC = 0xC1FC1FC1


def need_fleet():
	e2e.need_program("nats-server")
	if "this build has no `monitor fleet`" in e2e.run(e2e.monitor, "fleet", exit_code=None).stderr:
		e2e.skip("this build has no fleet")


given_ports = set()


def free_port():
	"""One that was not given before: whoever got it may not listen yet."""
	while True:
		port = random.randrange(15000, 32000)  # below those that clients get
		if port in given_ports:
			continue
		with socket.socket() as probe, contextlib.suppress(OSError):
			probe.bind(("127.0.0.1", port))
			given_ports.add(port)
			return port


def wait_for(condition, what, seconds=20):
	"""Returns what the condition returned, once that is true."""
	deadline = time.monotonic() + seconds
	while time.monotonic() < deadline:
		if found := condition():
			return found
		time.sleep(0.004)
	raise TimeoutError(f"{what}: not within {seconds} s")


def block(trace, stream, number, seed=0):
	"""A block as the recorder writes it, of recognizable content."""
	header = HEADER.pack(MAGIC, trace, 0, stream, number * 1000, number * 1000 + 999, BLOCK * 8, BLOCK * 8, number, 0, stream, 0, 0, 0)
	return header + random.Random(f"{trace.hex()} {stream} {number} {seed}").randbytes(64) * ((BLOCK - 96) // 64) + bytes((BLOCK - 96) % 64)


def make_trace(directory, mib, streams=4, trace=None, state="complete", seed=0):
	"""A trace directory of that size; what reads events finds none in it."""
	directory = pathlib.Path(directory)
	trace = trace or uuid.uuid4().bytes
	(directory / ".monitor").mkdir(parents=True)
	(directory / "metadata").write_text("/* CTF 1.8 */\n" + "# nothing\n" * 100_000)  # four pieces
	(directory / ".monitor" / "names").write_text("{}\n")
	(directory / ".monitor" / "recording.json").write_text(json.dumps({"version": 1, "state": state, "uuid": str(uuid.UUID(bytes=trace))}))
	for stream in range(streams):
		with open(directory / f"kernel_cpu{stream}", "wb") as file:
			for number in range(int(mib * 256) // streams):
				file.write(block(trace, stream, number, seed))
	return directory


def of_this_boot(directory):
	"""Its clock is that of this machine now, so its push exchanges times with the collector."""
	path = directory / ".monitor" / "recording.json"
	boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
	path.write_text(json.dumps(json.loads(path.read_text()) | {"boot_id": boot}))
	return directory


def files_of(directory):
	return {path.relative_to(directory).as_posix() for path in pathlib.Path(directory).rglob("*") if path.is_file()}


def expect_same(trace, copy):
	"""Every file bit by bit, and no others."""
	trace, copy = pathlib.Path(trace), pathlib.Path(copy)
	if e2e.equal(f"files of {copy}", files_of(copy), files_of(trace)):
		for name in sorted(files_of(trace)):
			e2e.expect((trace / name).read_bytes() == (copy / name).read_bytes(), f"{copy / name} differs from {trace / name}")


def stored_bytes(run, host):
	return sum(path.stat().st_size for path in (run / host).glob("kernel_cpu*")) if (run / host).is_dir() else 0


class Program:
	"""A program in the background; what it prints is in files."""

	def __init__(self, name, *command):
		self.name, self.out, self.err = name, e2e.work / f"{name}.out", e2e.work / f"{name}.err"
		with open(self.out, "wb") as out, open(self.err, "ab") as err:
			self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=err)

	def send(self, number):
		self.process.send_signal(number)

	def kill(self, number=signal.SIGKILL):
		if self.process.poll() is None:
			self.process.send_signal(number)
			self.process.wait()

	def end(self, exit_code=0, number=None, seconds=60):
		if number:
			self.send(number)
		try:
			self.process.wait(seconds)
		except subprocess.TimeoutExpired:
			self.kill()
		e2e.expect(exit_code is None or self.process.returncode == exit_code,
		           f"{self.name}: exit code {self.process.returncode}, not {exit_code}: {self.out.read_text()[-800:]}{self.err.read_text()[-800:]}")
		return self.out.read_text()


class Hub:
	"""A NATS server on this machine, without TLS; `with` ends all that was started through it."""

	def __init__(self, name, before=(), address="127.0.0.1", *options):
		self.name, self.before, self.address, self.options = name, before, address, options
		self.port, self.programs, self.collectors = free_port(), [], 0
		self.url = f"nats://{address}:{self.port}"
		self.start()

	def start(self):
		self.server = Program(f"{self.name}_hub", *self.before, "nats-server", "-a", self.address, "-p", self.port, *self.options)
		wait_for(self.is_up, "nats-server")

	def is_up(self):
		return "Server is ready" in self.server.err.read_text().rsplit("Starting nats-server", 1)[-1]

	def kill(self):
		self.server.kill()

	def collector(self, run, *options):
		self.collectors += 1
		collector = Program(f"{self.name}_collector{self.collectors}", e2e.monitor, "fleet", "collect", "-o", run, "--hub", self.url, *options)
		self.programs.append(collector)
		wait_for(lambda: "connected" in collector.err.read_text() or collector.process.poll() is not None, "the collector")
		return collector

	def push(self, host, *traces, options=(), before=()):
		push = Program(f"{self.name}_push_{host}_{len(self.programs)}", *before, e2e.monitor, "fleet", "push", "--json", "--host", host,
		               "--hub", self.url, *options, *traces)
		self.programs.append(push)
		return push

	def __enter__(self):
		return self

	def __exit__(self, *unused):
		for program in [*self.programs, self.server]:
			if program.process.poll() is None:
				program.kill()


def pushed(text):
	"""The sums over the traces of a push."""
	answer = json.loads(text)
	sums = {name: sum(trace[name] for trace in answer["traces"]) for name in ("blocks", "stored", "conflicts", "refused", "vanished")}
	return sums | {"sent_again": answer["sent_again"]}


def expect_all_stored(text):
	sums = pushed(text)
	e2e.equal("stored", sums["stored"], sums["blocks"])
	e2e.equal("conflicts, refused, vanished", (sums["conflicts"], sums["refused"], sums["vanished"]), (0, 0, 0))
	return sums


def accounts(run):
	"""By host."""
	return {host["host"]: host for host in json.loads((run / ".monitor" / "fleet.json").read_text())["hosts"]}


class Slowed:
	"""A program that runs a twentieth of the time."""

	def __init__(self, program, run_s=0.01, stop_s=0.19):
		import threading
		self.program, self.times, self.ended = program, (run_s, stop_s), threading.Event()
		self.thread = threading.Thread(target=self.slow)

	def slow(self):
		while not self.ended.is_set():
			self.program.send(signal.SIGSTOP)
			self.ended.wait(self.times[1])
			self.program.send(signal.SIGCONT)
			self.ended.wait(self.times[0])

	def __enter__(self):
		self.thread.start()

	def __exit__(self, *unused):
		self.ended.set()
		self.thread.join()
