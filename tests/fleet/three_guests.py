#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Three virtual machines as hosts of a fleet: their clocks really differ. Takes a minute or two and fetches a kernel, so
called by hand, as root:

tests/fleet/three_guests.py MONITOR PROGRAMS WORK
    build/tools/monitor/monitor build/tests/e2e /var/tmp/guests

Each guest (QEMU without KVM, Debian's kernel 6.1) runs `monitor agent`; hub and collector run here, all in a network
namespace of its own, in which nothing but loopback exists. They are recorded together, without the kernel's events,
whose probes take too long to load in a busy emulation. Then
- list, info and check read the run; each clock has a bound; check's clock_loop holds;
- the truth is known from outside: the emulated TSC of a guest is this machine's, less what this one showed when the
  guest was started. It starts paused; this machine's clock is read just before and just after it is told to run, so
  the guest's tick 0 lies between. By the run's lines it must lie there, within the bound, and all guests' clocks must
  have this machine's rate.
Exit code: 0, or 1 if something does not hold, or 77 if it cannot be run.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import e2e
import fleet_lab
from fleet_lab import Process, wait_for

GUESTS = ["g1", "g2", "g3"]
BOOT_S, RECORD_S = 120, 12
LEAD = "10s"  # an emulated guest takes so long to start a recorder
HUB = "10.0.2.2"  # what a guest's network calls the machine that it runs on


def own_network():
	"""This program again, where 10.0.2.2 is this machine; the kernel is fetched before."""
	if "MONITOR_THREE_GUESTS" in os.environ:
		return
	if os.geteuid() != 0:
		e2e.skip("a network namespace and virtual machines' agents need root")
	outside = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
	made = subprocess.run([HERE.parent / "vm" / "network"], stdout=subprocess.PIPE, text=True, env=outside, check=False)
	if made.returncode:
		e2e.skip(f"no kernel with a network card: {made.stdout.strip()}")
	os.environ["MONITOR_THREE_GUESTS"] = made.stdout.strip()
	words = f"ip link set lo up && ip addr add {HUB}/32 dev lo && exec \"$@\""
	os.execvp("unshare", ["unshare", "--net", "sh", "-c", words, "sh", sys.executable, "-B", *sys.argv])


def libraries():
	"""What the monitor is linked with."""
	lines = e2e.run("ldd", e2e.monitor).stdout.splitlines()
	return [path for line in lines for path in re.findall(r"(/\S+) \(", line)]


class Guest:
	"""A virtual machine that is paused until start()."""

	def __init__(self, fleet, name, network, work, frequency_hz):
		self.name, self.qmp = name, work / f"{name}.qmp"
		files = work / name
		files.mkdir()
		(files / "host").write_text(name + "\n")
		modules = (network / "order").read_text().split()
		packed = [files / "host", network / "order", *(network / module for module in modules), work / "monitor", *libraries(),
		          *sorted((fleet.directory / "hosts" / name).iterdir())]
		more = f"-S -qmp unix:{self.qmp},server=on,wait=off -netdev user,id=n -device virtio-net-pci,netdev=n,romfile="
		self.boot = Process(work / f"{name}.boot", "nice", HERE.parent / "vm" / "boot", "--kernel", network / "vmlinuz", "--test",
		                    HERE / "guest.sh", "--smp", "1", "--mem", "512", "--timeout", "400", "--log", work / f"{name}.console",
		                    "--append", f"tsc_early_khz={frequency_hz // 1000}", "--qemu", more, *packed)

	def connect(self):
		def connected():
			self.socket = socket.socket(socket.AF_UNIX)
			try:
				self.socket.connect(str(self.qmp))
				return True
			except OSError:
				return False
		wait_for(connected, f"QEMU of {self.name}", 60)
		self.lines = self.socket.makefile("rw")
		self.lines.readline()
		self.command("qmp_capabilities")

	def command(self, name):
		self.lines.write(json.dumps({"execute": name}) + "\n")
		self.lines.flush()
		while "return" not in json.loads(self.lines.readline() or '{"return": 0}'):
			pass

	def start(self):
		"""Between which times of this machine (CLOCK_MONOTONIC_RAW) its clock starts at 0."""
		before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
		self.command("cont")
		self.started = (before, time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW))

	def end(self):
		with contextlib.suppress(OSError, ValueError):
			self.command("quit")
		self.boot.end(seconds=30)


def tsc_now(program):
	ticks, ns = e2e.run(program).stdout.split()
	return int(ticks), int(ns)


def frequency_of(begin, end):
	return (end[0] - begin[0]) * 10**9 // (end[1] - begin[1])


def lines_at(clock, ticks):
	"""The time by the lines of collection.json, and the bound."""
	nodes, bounds = clock["nodes"], clock["bounds_ns"]
	for number in range(1, len(nodes)):
		(t0, n0), (t1, n1) = nodes[number - 1], nodes[number]
		if t0 <= ticks <= t1:
			return n0 + (n1 - n0) * (ticks - t0) // (t1 - t0), bounds[number]
	raise AssertionError(f"{ticks} is outside of the lines")


def expect_truth(guests, run, frequency_hz):
	"""Of every node with a bound: where the guest's ticks truly are."""
	offset = json.loads((run / ".monitor" / "clocks.json").read_text())["offset_ns"]
	parts = {part["directory"]: part for part in json.loads((run / ".monitor" / "collection.json").read_text())["parts"]}
	for guest in guests:
		clock = parts[guest.name]["clock"]
		earliest, latest = (at + offset for at in guest.started)
		judged, least, most = 0, None, 0
		for ticks, _ in clock["nodes"][1:-1]:
			ns, bound = lines_at(clock, ticks)
			if bound is None:
				continue
			since_start = ticks * 10**9 // frequency_hz
			e2e.expect(earliest + since_start - bound <= ns <= latest + since_start + bound,
			           f"{guest.name}: at {ticks} ticks {ns - since_start - earliest} ns after the earliest start, "
			           f"{latest - earliest} ns wide, bound {bound} ns")
			judged += 1
			least, most = min(bound, least or bound), max(bound, most)
		e2e.expect(judged > 3, f"{guest.name}: only {judged} nodes have a bound")
		print(f"  {guest.name}: {judged} nodes, bounds {least / 1e3:.0f} to {most / 1e3:.0f} us, the truth known within "
		      f"{(latest - earliest) / 1e3:.0f} us; own clock {clock['own_ns']} ns; not witnessed {clock['not_witnessed']}")


def three_guests():
	network, work = pathlib.Path(os.environ["MONITOR_THREE_GUESTS"]), e2e.work
	e2e.run("strip", "-o", work / "monitor", e2e.monitor)
	program = work / "tsc_now"
	e2e.run("cc", "-O2", "-o", program, HERE / "tsc_now.c")
	port = fleet_lab.free_port()
	e2e.run(e2e.monitor, "fleet", "init", "-o", work / "fleet", "--hub", f"{HUB}:{port}", *GUESTS)
	conf = work / "fleet" / "hub" / "nats.conf"
	conf.write_text(conf.read_text().replace(f'listen: "{HUB}:', 'listen: "0.0.0.0:'))
	fleet = type("Keys", (), {"directory": work / "fleet"})
	guests, hub = [], Process(work / "hub.log", "nats-server", "-c", "nats.conf", cwd=work / "fleet" / "hub")
	try:
		hub.wait_for("Server is ready")
		begin = tsc_now(program)
		time.sleep(1)
		frequency_hz = frequency_of(begin, tsc_now(program))  # a guest that measures it is misled by this machine's load
		guests = [Guest(fleet, name, network, work, frequency_hz) for name in GUESTS]
		for guest in guests:
			guest.connect()
		for guest in guests:
			guest.start()
		status = [e2e.monitor, "fleet", "status", "--json", "--keys", work / "fleet" / "operator"]
		started = time.monotonic()
		wait_for(lambda: e2e.run(*status, exit_code=None).returncode == 0, "all guests' agents", BOOT_S)
		print(f"  all agents are there after {time.monotonic() - started:.0f} s")
		run = work / "run"
		done = e2e.run(e2e.monitor, "fleet", "record", "--keys", work / "fleet" / "operator", "--run", "guests", "--user-only", "-d",
		               RECORD_S, "--lead", LEAD, "--no-calibration", "-o", run, timeout=300)
		if done.returncode:
			return
		print("  " + "\n  ".join(done.stderr.strip().splitlines()))
		end = tsc_now(program)
	finally:
		for guest in guests:
			guest.end()
		hub.end()
	e2e.run(e2e.monitor, "list", run)
	text = e2e.run(e2e.monitor, "info", run).stdout
	e2e.expect(text.count("off the common clock by") == 3 and text.count("'s system clock: ") == 3, text)
	statements = {each["id"]: each for each in json.loads(e2e.run(e2e.monitor, "check", "--json", run, exit_code=None).stdout)}
	print("  " + statements["clock_loop"]["text"])
	e2e.equal("clock_loop", statements["clock_loop"]["verdict"], "ok")
	e2e.expect("3 loops" in statements["clock_loop"]["text"], statements["clock_loop"])
	expect_truth(guests, run, frequency_of(begin, end))


if __name__ == "__main__":
	own_network()
	for program in ("qemu-system-x86_64", "busybox", "cpio", "nats-server", "cc", "strip", "openssl"):
		if not shutil.which(program):
			e2e.skip(f"{program} is missing")
	fleet_lab.need_fleet()
	e2e.main(three_guests)
