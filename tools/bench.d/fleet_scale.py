# SPDX-License-Identifier: MIT
"""Many agents at one hub: simulated ones (loads/fleet_agents.cpp), each with a connection by TLS and a certificate of its
own, presence and a clock exchange each second, and 64 KiB of blocks a second. What is lost (nothing may be), what server
and collector need, how long an answer and `monitor fleet status` take, and which limits of descriptors hold. Then, without
blocks, how long it takes until all agents have frozen their events because of a trigger of one of them, or of a signed
command (loads/fleet_snapshots.h). `--agents 1000 --seconds 60` is the size of a large site; the simulation shares the
CPUs with what is measured."""
import json
import os
import shutil
import signal
import statistics
import subprocess
import time

from fleet import MIB, cpu_s, free_port, wait_for
from lib import Result, Skip, need, run, spawn, stop

TITLE = "fleet: many agents at one hub"
KIB_PER_S = 64


def memory_mib(pid):
	"""Now, and at most so far."""
	with open(f"/proc/{pid}/status") as file:
		words = dict(line.split(":", 1) for line in file)
	return [int(words[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM")]


def descriptors(pid):
	with open(f"/proc/{pid}/limits") as file:
		limit = next(line for line in file if line.startswith("Max open files")).split()[3]
	return len(os.listdir(f"/proc/{pid}/fd")), limit


class Fleet:
	def __init__(self, context, agents):
		self.context, port = context, free_port()
		self.port, self.directory, self.run = port, context.path("fleet"), context.path("run")
		names = [f"a{number:05}" for number in range(agents)]
		run([context.monitor, "fleet", "init", "-o", self.directory, "--hub", f"127.0.0.1:{port}", *names])
		self.keys = os.path.join(self.directory, "operator")
		hub = os.path.join(self.directory, "hub")
		self.server = spawn(["nats-server", "-c", "nats.conf"], cwd=hub, stdout=subprocess.DEVNULL, stderr=open(context.path("hub.log"), "w"))
		wait_for(lambda: "Server is ready" in open(context.path("hub.log")).read(), "nats-server")
		log = context.path("collector.log")
		self.collector = spawn([context.monitor, "fleet", "collect", "-o", self.run, "--keys", self.keys], stdout=subprocess.DEVNULL, stderr=open(log, "w"))
		wait_for(lambda: "connected" in open(log).read(), "the collector")

	def status(self):
		"""Hosts that are seen, seconds, CPU seconds."""
		before, begin = os.times(), time.monotonic()
		done = subprocess.run([self.context.monitor, "fleet", "status", "--json", "--keys", self.keys], stdout=subprocess.PIPE, text=True)
		after = os.times()
		seen = sum(row["state"] == "idle" for row in json.loads(done.stdout))
		return seen, time.monotonic() - begin, after.children_user + after.children_system - before.children_user - before.children_system


def snapshots(context, fleet, program, agents, rounds):
	"""Of some agents: figures of each round, by what the snapshots are taken for."""
	return json.loads(run([program, "snapshots", str(fleet.port), os.path.join(fleet.directory, "hosts"), fleet.keys, str(agents), str(rounds)]))


def snapshot_rows(said):
	for cause, label in (("trigger", "trigger of a host"), ("command", "signed command")):
		heard, frozen, told, verified = zip(*said[cause])
		yield [said["agents"], label, *(f"{figure(frozen):.1f}" for figure in (min, statistics.median, max)), f"{statistics.median(heard):.1f}",
		       f"{statistics.median(verified):.0f}", f"{statistics.median(told):.1f}"]


def bench(context):
	need("nats-server")
	agents_program = context.helper("fleet_agents")
	if not os.path.exists(agents_program):
		raise Skip("this build has no monitor fleet (libnats)")
	agents, seconds = context.agents or context.scale(100, 10), context.seconds_or(10, 6)
	result, fleet = Result(f"{TITLE}: {agents} for {seconds:g} s"), Fleet(context, agents)
	idle = {"server": memory_mib(fleet.server.pid)[0], "collector": memory_mib(fleet.collector.pid)[0]}
	simulation = spawn([agents_program, "run", str(fleet.port), os.path.join(fleet.directory, "hosts"), str(agents), str(seconds), str(KIB_PER_S)],
	                   stdout=subprocess.PIPE, text=True)
	simulation.stdout.readline()  # all are connected
	before = {part: cpu_s(process.pid) for part, process in (("server", fleet.server), ("collector", fleet.collector))}
	begin = time.monotonic()
	time.sleep(min(seconds / 2, 3))
	seen, status_s, status_cpu_s = fleet.status()
	files = {"server": descriptors(fleet.server.pid), "collector": descriptors(fleet.collector.pid)}
	said = json.loads(simulation.stdout.read())
	took = time.monotonic() - begin
	used = {part: cpu_s(process.pid) - before[part] for part, process in (("server", fleet.server), ("collector", fleet.collector))}
	memory = {part: memory_mib(process.pid) for part, process in (("server", fleet.server), ("collector", fleet.collector))}
	load = os.getloadavg()[0]
	stop(fleet.collector, signal.SIGTERM)
	asked = [snapshots(context, fleet, agents_program, count, context.rounds_or(20)) for count in sorted({min(agents, 200), agents})]
	stop(fleet.server, signal.SIGTERM)
	if simulation.wait() != 0:
		raise RuntimeError("the simulated agents failed")
	verified = subprocess.run([agents_program, "verify", fleet.run, str(agents), str(said["recorded"])], stdout=subprocess.PIPE, text=True)
	stored = json.loads(verified.stdout)
	mib = said["recorded"] * 4096 / MIB
	shutil.rmtree(fleet.run)
	result.table(["", "CPU s", "CPUs", "CPU ms per MiB", "MiB before", "MiB at most", "KiB more per agent", "descriptors", "limit"],
	             [[part, f"{used[part]:.1f}", f"{used[part] / took:.2f}", f"{used[part] * 1e3 / mib:.2f}", f"{idle[part]:.0f}", f"{memory[part][1]:.0f}",
	               f"{(memory[part][1] - idle[part]) * 1024 / agents:.0f}", *files[part]] for part in ("server", "collector")])
	result.note(f"{mib:,.0f} MiB in {said['seconds']:.1f} s, {mib / said['seconds']:.1f} MiB/s; answers after {said['answer_ms'][0]:.0f} ms (median), "
	            f"{said['answer_ms'][1]:.0f} ms (99 %), {said['answer_ms'][2]:.0f} ms (latest); messages sent again: {said['again']}, asked later: {said['later']}")
	result.note(f"{agents} connections by TLS in {said['connect_s']:.1f} s; {said['presences']} presences, {said['exchanges']} clock exchanges; the simulation "
	            f"itself used {said['cpu_s']:.1f} CPU s, and may open {said['files']} files")
	result.note(f"monitor fleet status: {seen} of {agents} hosts in {status_s:.2f} s (it listens for 2.2 s), {status_cpu_s:.2f} CPU s")
	result.table(["agents", "snapshots because of", "ms to the last frozen: min", "median", "max", "to the last that heard", "us to verify and freeze", "ms to the operator"],
	             [row for each in asked for row in snapshot_rows(each)])
	result.note(f"the load average after the blocks was {load:.1f} on {os.cpu_count()} CPUs; all agents verify with the one thread that simulates them")
	lost = said["recorded"] - stored["found"] + stored["different"]
	result.bar("blocks that are lost or differ", lost, 0, digits=0)
	result.bar("hosts that status does not see", agents - seen, 0, digits=0)
	result.figures = {"agents": said, "stored": stored, "cpu_s": used, "memory_mib": memory, "idle_mib": idle, "seconds": took,
	                  "snapshots": asked, "load": load,
	                  "status": {"seen": seen, "seconds": status_s, "cpu_s": status_cpu_s}, "descriptors": files}
	return result
