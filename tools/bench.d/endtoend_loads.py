# SPDX-License-Identifier: MIT
"""The loads of bench `endtoend`: a compile and a server. What they compile and serve is fixed, so that figures of years
are comparable. measure(): wall seconds and CPU seconds by unit of work, and how many units."""
import contextlib
import os
import re
import resource
import socket
import subprocess
import time

from lib import Skip, need, run, spawn, stop

SOURCE = "tools/bench.d/loads/compiled.cpp"
SERVED_BYTES = 1024


def children_cpu():
	usage = resource.getrusage(resource.RUSAGE_CHILDREN)
	return usage.ru_utime + usage.ru_stime


class Compile:
	"""SOURCE several times, two at a time."""

	name, unit = "compile", "compile"

	def __init__(self, context):
		need("c++", "xargs")
		seeds, output = context.scale("1 2 3 4", "1"), context.path("objects")
		os.makedirs(output, exist_ok=True)
		self.command = ["sh", "-c", f"printf '%s\\n' {seeds} | xargs -P 2 -I% "
			f"c++ -std=c++20 -O1 -DSEED=% -c {SOURCE} -o {output}/%.o"]

	def measure(self):
		before, begin = children_cpu(), time.monotonic()
		run(self.command)
		return {"wall": time.monotonic() - begin, "cpu": children_cpu() - before, "units": 1}

	def close(self):
		pass


class Server:
	"""nginx with one worker on one CPU, wrk on another one. The time of an interrupt is the interrupted thread's, unless
	the kernel accounts it apart (CONFIG_IRQ_TIME_ACCOUNTING): there it is missing in the CPU time."""

	name, unit = "server", "request"

	def __init__(self, context):
		need("nginx", "wrk", "taskset")
		root = context.path("nginx")
		os.makedirs(root)
		os.chmod(context.work, 0o755)
		with open(f"{root}/index.html", "w") as file:
			file.write("x" * SERVED_BYTES)
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
		self.nginx = spawn(["taskset", "-c", str(context.load_cpu), "nginx", "-p", root, "-c", f"{root}/nginx.conf"],
			stderr=subprocess.DEVNULL)
		self.wrk = ["taskset", "-c", str(context.other_cpu), "wrk", "-t", "1", "-c", "16", "-d",
			str(context.scale(2, 1)), f"http://127.0.0.1:{port}/index.html"]
		for _ in range(50):
			with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
				break
			time.sleep(0.1)
		else:
			raise Skip("nginx does not answer")

	def server_cpu(self):
		children = open(f"/proc/{self.nginx.pid}/task/{self.nginx.pid}/children").read().split()
		return sum(int(open(f"/proc/{pid}/schedstat").read().split()[0]) for pid in children) / 1e9

	def measure(self):
		before, server_before = children_cpu(), self.server_cpu()
		said = run(self.wrk)
		cpu = children_cpu() - before + self.server_cpu() - server_before
		requests = int(re.search(r"(\d+) requests in", said).group(1))
		rate = float(re.search(r"Requests/sec:\s*([\d.]+)", said).group(1))
		return {"wall": 1 / rate, "cpu": cpu / requests, "units": requests}

	def close(self):
		stop(self.nginx)
