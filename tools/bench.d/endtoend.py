# SPDX-License-Identifier: MIT
"""What a user notices: the slow-down of a parallel compile and of a request server under a whole recording, beside
ftrace in memory and perf record -a of the same tracepoints, interleaved."""
import contextlib
import os
import random
import re
import socket
import subprocess
import time

import peers
from lib import Result, Skip, Spread, need, ratios, run, spawn, stop

TITLE = "endtoend: slow-down of a compile and of a server"

# Sources of this project that use fmt and nlohmann-json; they need nothing that the build generates.
SOURCES = ["reading/analyze/recording_info", "answers/report/summary", "answers/check/check", "answers/check/kernel_comparison"]
SMOKE_SOURCES = ["reading/ctf/types"]
FLAGS = "-std=c++20 -O1 -DFMT_HEADER_ONLY=1 -Iuserspace -Iinclude"


class Compile:
	"""SOURCES with two jobs; the measure is its wall time."""

	name = "compile"

	def __init__(self, context):
		need("c++", "xargs")
		self.names = context.scale(SOURCES, SMOKE_SOURCES)
		self.output = context.path("objects")
		os.makedirs(self.output, exist_ok=True)
		self.command = ["sh", "-c", f"printf '%s\\n' {' '.join(self.names)} | xargs -P 2 -I% sh -c "
			f"'c++ {FLAGS} -c userspace/%.cpp -o {self.output}/$(basename %).o'"]

	def measure(self):
		"""Wall seconds, CPU seconds of the compile itself, and the units of work done."""
		before, begin = os.times(), time.monotonic()
		run(self.command)
		after = os.times()
		cpu = after.children_user + after.children_system - before.children_user - before.children_system
		return {"wall": time.monotonic() - begin, "cpu": cpu, "units": len(self.names)}

	def close(self):
		pass


class Server:
	"""nginx with one worker and wrk on the machine's CPUs; the measure is wall time per request."""

	name = "server"

	def __init__(self, context):
		need("nginx", "wrk")
		self.seconds = context.scale(3, 1)
		root = context.path("nginx")
		os.makedirs(root)
		os.chmod(context.work, 0o755)
		with open(f"{root}/index.html", "w") as file:
			file.write("x" * 1024)
		with socket.socket() as free:
			free.bind(("127.0.0.1", 0))
			port = free.getsockname()[1]
		temporary = "".join(f"{kind}_temp_path {root}/{kind}; "
			for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
		with open(f"{root}/nginx.conf", "w") as file:
			file.write(f"""daemon off; worker_processes 1; pid {root}/pid; error_log {root}/error.log;
events {{ worker_connections 256; }}
http {{ access_log off; keepalive_requests 1000000000; {temporary}
	server {{ listen 127.0.0.1:{port}; root {root}; }} }}
""")
		self.nginx = spawn(["nginx", "-p", root, "-c", f"{root}/nginx.conf"], stderr=subprocess.DEVNULL)
		self.url = f"http://127.0.0.1:{port}/index.html"
		for _ in range(50):
			with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
				break
			time.sleep(0.1)
		else:
			raise Skip("nginx does not answer")

	def server_cpu_ns(self):
		children = open(f"/proc/{self.nginx.pid}/task/{self.nginx.pid}/children").read().split()
		return sum(int(open(f"/proc/{pid}/schedstat").read().split()[0]) for pid in children)

	def measure(self):
		before, server_before = os.times(), self.server_cpu_ns()
		said = run(["wrk", "-t", "1", "-c", "16", "-d", str(self.seconds), self.url])
		after = os.times()
		requests = int(re.search(r"(\d+) requests in", said).group(1))
		rate = float(re.search(r"Requests/sec:\s*([\d.]+)", said).group(1))
		cpu = after.children_user + after.children_system - before.children_user - before.children_system
		cpu += (self.server_cpu_ns() - server_before) / 1e9
		return {"wall": 1 / rate, "cpu": cpu / requests, "units": requests}

	def close(self):
		stop(self.nginx)


def run_rounds(context, load, found):
	rounds, last = [], {}
	shuffle = random.Random(2)
	if not context.smoke:
		load.measure()  # the caches are warm for all
	for _ in range(context.rounds_or(9)):
		order = list(found)
		shuffle.shuffle(order)
		measured = {}
		for name in order:
			outcome = {}
			os.sync()  # what the one before wrote is not to hold up this one
			with found[name](outcome):
				measured[name] = load.measure()
			measured[name]["outcome"] = last[name] = outcome
		rounds.append(measured)
	return rounds, last


def slow_downs(rounds, name, what="wall"):
	return [measured[name][what] / measured["untraced"][what] - 1 for measured in rounds]


def cells(spread, scale):
	return [f"{value * scale:.2f}" for value in (spread.low, spread.mid, spread.high)]


def report(load, rounds, last, result):
	wall = Spread([measured["untraced"]["wall"] for measured in rounds])
	unit = ("s", 1) if load.name == "compile" else ("us per request", 1e6)
	rows = [[f"{load.name} untraced, {unit[0]}", *cells(wall, unit[1]), ""]]
	for name in rounds[0]:
		if name != "untraced":
			cpu = Spread(slow_downs(rounds, name, "cpu"))
			rows.append([f"{load.name} {name}, %", *cells(Spread(slow_downs(rounds, name)), 100), f"{cpu.mid * 100:.2f}"])
	result.table(["slow-down (wall time)", "min", "median", "max", "CPU time, median"], rows)
	ours = Spread(slow_downs(rounds, "monitor record"))
	for peer, most in {"perf": 0.3, "trace-cmd": 1}.items():
		if peer in rounds[0]:
			against = ratios(slow_downs(rounds, "monitor record"), slow_downs(rounds, peer))
			result.bar(f"{load.name}: slow-down of monitor record / {peer} record", against.mid, most, spread=against)
	if load.name == "compile":
		percent = Spread([value * 100 for value in ours.values])
		result.bar("compile: slow-down", percent.mid, 2, "%", spread=percent)
	peers.note_losses(load.name, last, result)
	result.figures[load.name] = {"rounds": rounds}


def note_events(load, rounds, result):
	"""How many events a unit of work has, and what each took from the load."""
	tokens, cost = [], []
	for measured in rounds:
		ours, base = measured["monitor record"], measured["untraced"]
		events = ours["outcome"]["tokens"] / (ours["units"] if load.name == "server" else 1)
		tokens.append(events)
		cost.append((ours["cpu"] - base["cpu"]) * 1e9 / events if events else 0)
	tokens, cost = Spread(tokens), Spread(cost)
	unit = "request" if load.name == "server" else "compile"
	result.note(f"{load.name}: {tokens.mid:,.1f} events per {unit}, {cost.mid:.0f} ns of the load's CPU time per "
		f"event ({cost.low:.0f} to {cost.high:.0f})")


def run_load(context, make, result):
	try:
		load = make(context)
	except Skip as skip:
		result.note(f"{make.name}: skipped: {skip}")
		return
	found = {"untraced": peers.untraced, "monitor record": lambda outcome: peers.recording(context, "", outcome)}
	found |= peers.tracers(context, peers.DEFAULT, context.scale(512, 16), result, load.name)
	try:
		rounds, last = run_rounds(context, load, found)
	finally:
		load.close()
	report(load, rounds, last, result)
	note_events(load, rounds, result)


def bench(context):
	result = Result(TITLE)
	for make in (Compile, Server):
		run_load(context, make, result)
	result.note("the peers trace the same tracepoints, but not the completed page faults, which ours records besides")
	return result
