#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests that no page of monitor view makes: without its secret, for other hosts (DNS rebinding), by other methods, out of its
directory, with numbers of any size, never ending, thousands at once. None is answered that should not be, the page is still
served afterwards, and memory is bounded."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

import e2e

ALL = 2**64 - 1
NUMBERS = ("0", "1000", "10000000", "4294967295", "-1", str(ALL), "99999999999999999999", "1e308", "NaN", "", "%00", "+1")
QUESTIONS = (
    f"slices?level=%s&from=0&to={ALL}&lanes=c*", f"slices?level=0&from=%s&to={ALL}&lanes=c0", "slices?level=10&from=0&to=%s&lanes=m0", "modes?from=0&to=%s&bins=8192",
    "modes?from=0&to=1000000&bins=%s", f"table?from=%s&to={ALL}&by=thread", "cases?from=0&to=%s&of=calls&min=%s", "flame?from=0&to=%s", f"story?from=0&to={ALL}&thread=%s",
    "scenes?from=0&to=%s&steps=100", f"scenes?from=0&to={ALL}&steps=%s", "slices?level=3&from=0&to=99999&lanes=" + "c0," * 2000 + "%s")


class View:
	def __init__(self, trace):
		self.process = subprocess.Popen([e2e.monitor, "view", "--no-browser", "--no-cache", trace.directory], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
		port, self.secret = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]+)/\n", self.process.stdout.readline()).groups()
		self.port, self.host = int(port), f"127.0.0.1:{port}"

	def connect(self, seconds=30):
		return socket.create_connection(("127.0.0.1", self.port), timeout=seconds)

	def send(self, request):
		"""The whole answer; what there is of it if the server hangs up."""
		with self.connect() as connection:
			answer = b""
			try:
				connection.sendall(request)
				while part := connection.recv(1 << 16):
					answer += part
			except ConnectionError:
				pass
			return answer

	def ask(self, path, host=None, method="GET", more=""):
		return self.send(f"{method} {path} HTTP/1.1\r\nHost: {self.host if host is None else host}\r\nConnection: close\r\n{more}\r\n".encode())

	def about(self, **more):
		return self.ask(f"/{self.secret}/about", **more)

	def peak_mb(self):
		return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text())[1]) >> 10


def status(answer):
	found = re.match(rb"HTTP/1.\d (\d+)", answer)
	return int(found[1]) if found else 0


def expect_status(what, answer, *allowed):
	e2e.expect(status(answer) in allowed, f"{what}: {status(answer)}, not one of {allowed}: {answer[:150]}")


def strangers(view):
	for host in ("evil.example", "127.0.0.1", f"127.0.0.1:{view.port + 1}", f"evil.example:{view.port}", f"127.0.0.1.evil:{view.port}", f"0.0.0.0:{view.port}",
	             f"{view.host}@evil", f"127.1:{view.port}", ""):
		expect_status(f"host {host}", view.about(host=host), 400, 403)
	expect_status("two hosts", view.about(more="Host: evil\r\n"), 400, 403)
	expect_status("no host", view.send(f"GET /{view.secret}/about HTTP/1.0\r\n\r\n".encode()), 400, 403)
	for path in ("/", "/about", f"/{view.secret[:-1]}/about", f"/{view.secret}x/about", f"/{'0' * len(view.secret)}/about", f"//{view.secret}/about"):
		expect_status(f"secret {path}", view.ask(path), 400, 403)
	for method in ("POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE"):
		expect_status(method, view.about(method=method), 0, 400, 403, 405)
	e2e.expect(view.secret not in pathlib.Path(f"/proc/{view.process.pid}/cmdline").read_text(), "the secret is on the command line")


def paths(view):
	for path in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/flame.css/../../etc/passwd", "/.monitor/recording.json"):
		answer = view.ask(f"/{view.secret}{path}")
		expect_status(f"path {path}", answer, 400, 403, 404)
		e2e.expect(b"root:" not in answer, f"{path} leads out of the page")


def numbers(view):
	for question in QUESTIONS:
		for number in NUMBERS:
			expect_status(f"{question[:60]} with {number}", view.ask(f"/{view.secret}/{question.replace('%s', number)}"), 200, 400, 403, 404, 413, 431)


def lengths(view):
	expect_status("a long path", view.ask(f"/{view.secret}/{'a' * 20000}"), 0, 400, 403, 404, 414, 431)
	expect_status("a long header", view.about(more=f"X: {'a' * 20000}\r\n"), 0, 200, 400, 431)
	expect_status("a body", view.send(f"GET /{view.secret}/about HTTP/1.1\r\nHost: {view.host}\r\nContent-Length: 1000000000\r\nConnection: close\r\n\r\n".encode() + bytes(100_000)), 0, 200, 400, 413)
	for garbage in (bytes(100_000), os.urandom(300), b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 100_000):
		view.send(garbage)
	one = f"GET /{view.secret}/about HTTP/1.1\r\nHost: {view.host}\r\n"
	e2e.equal("answers to requests in a row", view.send((f"{one}\r\n" * 200 + f"{one}Connection: close\r\n\r\n").encode()).count(b"HTTP/1.1 200"), 201)


def crowds(view):
	"""Who says little, and who knows the secret and reads nothing."""
	for what, number, request in (("slow strangers", 1000, b"GET /"), ("slow readers", 200, f"GET /{view.secret}/main.js HTTP/1.1\r\nHost: {view.host}\r\n\r\n".encode())):
		held = []
		try:
			for _ in range(number):
				held.append(view.connect(0.5))
				held[-1].send(request)
		except OSError:
			pass  # no more are taken
		expect_status(f"beside {len(held)} {what}", view.about(), 200)
		for connection in held:
			connection.close()


def requests():
	view = View(e2e.record("looked_at", "--no-calibration", "-p", "cmd", "--stacks", command=(e2e.workload, "pingpong", 2000)))
	try:
		expect_status("the page", view.ask(f"/{view.secret}/"), 200)
		deadline = time.monotonic() + 60
		while b"\"reading\":" in view.about() and time.monotonic() < deadline:
			time.sleep(0.05)  # the trace is still being read
		for part in (strangers, paths, numbers, lengths, crowds):
			part(view)
			if not e2e.expect(view.process.poll() is None, f"{part.__name__}: the server died: {view.process.returncode}"):
				return
		expect_status("after all that", view.about(), 200)
		e2e.expect(view.peak_mb() < 1000, f"the server took {view.peak_mb()} MB")
		view.process.send_signal(signal.SIGINT)
		e2e.equal("its end", view.process.wait(30), 0)
	finally:
		view.process.kill()
		view.process.wait()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(requests)
