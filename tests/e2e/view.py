#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitor view: the server's answers compared with `monitor report`, who is refused, and the written page."""
import atexit
import base64
import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.parse
import zlib

import e2e


class View:
	"""The server of a trace."""

	def __init__(self, directory, *options):
		self.process = subprocess.Popen([e2e.monitor, "view", "--no-browser", *options, str(directory)], stdout=subprocess.PIPE,
		                                stderr=subprocess.PIPE, text=True)
		atexit.register(self.process.kill)
		self.address = self.process.stdout.readline().strip()
		where = urllib.parse.urlsplit(self.address)
		self.port, self.path = where.port, where.path
		deadline = time.monotonic() + 60
		while "reading" in self.json("about") and time.monotonic() < deadline:
			time.sleep(0.02)

	def get(self, what, host=None, path=None, method="GET"):
		connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
		connection.request(method, (self.path if path is None else path) + what, headers={"Host": host} if host else {})
		response = connection.getresponse()
		return response.status, dict(response.getheaders()), response.read()

	def json(self, what):
		status, _, body = self.get(what)
		e2e.equal(f"status of {what}", status, 200)
		return json.loads(body)

	def slices(self, level, lanes, begin=0, end=2**40):
		status, _, body = self.get(f"slices?level={level}&from={begin}&to={end}&lanes={lanes}")
		e2e.equal(f"status of {lanes} at level {level}", status, 200)
		return split(body)

	def end(self):
		self.process.send_signal(signal.SIGINT)
		errors = self.process.communicate(timeout=20)[1]
		e2e.equal("exit code after Ctrl-C", self.process.returncode, 0)
		return errors


def split(body):
	lanes, at = [], 0
	while at < len(body):
		(number,) = struct.unpack_from("<I", body, at)
		lanes.append([struct.unpack_from("<IIIIQ", body, at + 4 + 24 * i) for i in range(number)])
		at += 4 + 24 * number
	return lanes


def some_trace(name):
	return e2e.record(name, "--force", "-e", "sched,syscall,irq,fault", command=("sh", "-c", "for i in 1 2 3 4 5 6; do ls / > /dev/null; sleep 0.02; done"))


def sums_are_those_of_report():
	trace = some_trace("sums")
	view = View(trace.directory)
	about = view.json("about")
	nanoseconds = 1e9 / about["frequency_hz"]
	rows = {(row["thread"], row["tid"]): row for row in trace.rows("--by", "thread", "--top", "0")}
	shown = {(t["name"] or "?", t["tid"]): t for t in about["threads"] if t["tid"]}
	compared = 0
	for key, row in rows.items():
		if row["cpu_ns"] is None:
			continue  # the kernel hides it
		if key not in shown:
			e2e.equal(f"time of {key}, which has no lane", (row["cpu_ns"], row["waiting_ns"] or 0), (0, 0))
			continue
		e2e.expect(abs(shown[key]["ran"] * nanoseconds - row["cpu_ns"]) <= 1, f"{key} ran {shown[key]['ran'] * nanoseconds} ns, report has {row['cpu_ns']}")
		e2e.expect(abs(shown[key]["waited"] * nanoseconds - (row["waiting_ns"] or 0)) <= 1, f"{key} waited")
		compared += 1
	e2e.expect(compared > 5, f"only {compared} threads were compared")
	numbers = range(len(about["threads"]))
	lanes = ",".join(f"r{i},w{i}" for i in numbers)
	for level in range(about["first_level"], about["levels"]):
		tiles = view.slices(level, lanes)
		e2e.equal(f"time of all threads at level {level}", [sum(s[4] for s in lane) for lane in tiles],
		          [about["threads"][i][kind] for i in numbers for kind in ("ran", "waited")])
		e2e.equal(f"time of all CPUs at level {level}", [sum(s[4] for s in lane) for lane in view.slices(level, "c*")], [cpu["busy"] for cpu in about["cpus"]])
	for by, letter in (("process", "p"), ("command", "m"), ("cgroup", "g")):
		groups = about["groups"][by]
		grouped = sorted(place for group in groups for place in group["threads"])
		if by == "cgroup":  # a thread may have moved, or never run
			e2e.equal("threads in cgroups", sorted(set(grouped)), [i for i in numbers if about["threads"][i]["tid"] and about["threads"][i]["ran"]])
		else:
			e2e.equal(f"threads in groups by {by}", grouped, [i for i in numbers if about["threads"][i]["tid"]])
		for level in (0, about["levels"] // 2):
			tiles = view.slices(level, ",".join(f"{letter}{i}" for i in range(len(groups))))
			e2e.equal(f"time of groups by {by} at level {level}", [sum(s[4] for s in lane) for lane in tiles], [group["ran"] for group in groups])
		e2e.equal(f"time of all groups by {by}", sum(group["ran"] for group in groups), sum(t["ran"] for t in about["threads"] if t["tid"]))
		theirs = {row.get("pid", row.get("command", row.get("cgroup"))): row["cpu_ns"] for row in trace.rows("--by", by, "--top", "0") if row["cpu_ns"]}
		ours = {group["pid"] if by == "process" else group["name"] or "?": group["ran"] * nanoseconds for group in groups if group["ran"]}
		e2e.expect(ours.keys() == theirs.keys() and all(abs(ours[key] - theirs[key]) <= 1 for key in ours), f"by {by}: {ours}, report has {theirs}")
	# A tile has what reaches into it, and no more.
	level = about["first_level"] + 4
	whole = view.slices(level, "c0")[0]
	middle = whole[len(whole) // 2][0]
	e2e.equal("a part of a lane", view.slices(level, "c0", middle, middle + 8)[0], [s for s in whole if s[0] < middle + 8 and s[0] + s[1] > middle])
	kinds = len(about["modes"])
	status, _, body = view.get(f"modes?from=0&to={about['ticks']}&bins=1")
	shares = struct.unpack(f"<{len(body) // 4}f", body)
	cpus = json.loads(e2e.run(e2e.monitor, "report", "--json", trace.directory).stdout)["cpus"]
	for place, cpu in enumerate(cpus):
		of = dict(zip(about["modes"], shares[place * kinds:(place + 1) * kinds]))
		e2e.expect(abs(sum(of.values()) - 1) < 1e-4, f"shares of CPU {place}: {of}")
		for mode, column in (("user", "user_percent"), ("kernel", "kernel_percent"), ("idle", "idle_percent")):
			e2e.expect(abs(100 * of[mode] - cpu[column]) < 0.02, f"{mode} of CPU {place}: {100 * of[mode]}, report has {cpu[column]}")
	# A window's table is that of report --from --to.
	begin, end = about["ticks"] // 4, about["ticks"] // 2
	times = [f"{(about['begin_ns'] + ticks * nanoseconds) / 1e9:.9f}" for ticks in (begin, end)]
	for by in ("process", "thread"):
		table = view.json(f"table?from={begin}&to={end}&by={by}")
		keys = [column["key"] for column in table["columns"]]
		number = "pid" if by == "process" else "tid"
		theirs = json.loads(e2e.run(e2e.monitor, "report", "--json", "--top", "0", "--by", by, "--from", times[0], "--to", times[1], trace.directory).stdout)["rows"]
		theirs = {row[number]: row["cpu_ns"] for row in theirs if row["cpu_ns"]}
		ours = {row[keys.index(number)]: row[keys.index("cpu_ns")] for row in table["rows"] if row[keys.index("cpu_ns")]}
		e2e.expect(len(ours) > 3 and ours.keys() == theirs.keys() and max(abs(ours[n] - theirs[n]) for n in ours) < 10,
		           f"by {by}, from {times[0]} to {times[1]}: {ours}, report has {theirs}")
	for by, report in (("calls", "syscalls"), ("sleeps", "offcpu")):
		table = view.json(f"table?from=0&to={about['ticks']}&by={by}")
		names = [column["key"] for column in table["columns"]]
		theirs = json.loads(e2e.run(e2e.monitor, "report", "--json", "--all", "--top", "0", trace.directory, report).stdout)["rows"]
		e2e.equal(f"rows of {by}", sorted((row[names.index("total_ns")], row[names.index("count")]) for row in table["rows"]),
		          sorted((row["total_ns"], row["count"]) for row in theirs))
	each_time(view, about)
	e2e.equal("activities of programs that mark none", about["activities"]["kinds"], [])
	e2e.equal("its command", about["command"].startswith("sh -c for i in"), True)
	e2e.expect("for you alone" in view.end(), "it does not say whose address it is")


def what_was_counted():
	"""The lines' parts add up to what `report ratios` has, by time and for the whole; other recordings have none."""
	trace = e2e.record("counted", "--force", "-e", "sched", "-m", "faults=page-faults,clock=cpu-clock", "--every", "10ms", command=(
		sys.executable, "-c", "import time\nfor i in range(20):\n\tbytearray(1 << 22)\n\ttime.sleep(0.005)"))
	view = View(trace.directory)
	about = view.json("about")
	e2e.equal("counters", about["has_counters"], True)
	theirs = trace.report("ratios", "--by", "cpu")["rows"]
	lines = view.json(f"lines?from=0&to={about['ticks']}&bins=20")
	keys = [column["key"] for column in lines["columns"]]
	for name in ("faults", "clock"):
		whole = lines["whole"][keys.index(name)]
		e2e.equal(f"{name} of all parts", sum(row[keys.index(name)] or 0 for row in lines["rows"]), whole)
		e2e.equal(name, whole, sum(row[name] for row in theirs))
	e2e.expect(lines["whole"][keys.index("faults")] > 2000, f"the load made no faults: {lines['whole']}")
	numbers = [row[0] for row in lines["rows"]]
	e2e.expect(numbers == sorted(set(numbers)) and numbers[-1] < 20 and len(numbers) > 10, f"parts {numbers}")
	half = view.json(f"lines?from={about['ticks'] // 2}&to={about['ticks']}&bins=4")
	e2e.expect(0 < half["whole"][keys.index("clock")] < lines["whole"][keys.index("clock")], f"{half['whole']}")
	for wrong in ("bins=0", "bins=5000", "bins=-1", ""):
		e2e.equal(f"answer to {wrong}", view.get(f"lines?from=0&to={about['ticks']}&{wrong}")[0], 400)
	view.end()


def of_activities():
	"""Their lanes have the report's times at every level; what has no partner is told."""
	if os.uname().machine != "x86_64":
		return  # the user card is for x86-64
	load = os.path.join(e2e.programs, "activity_load")
	trace = e2e.record("marked", "--force", "-e", "sched", command=(load, 30, 4))
	view = View(trace.directory)
	about = view.json("about")
	nanoseconds = 1e9 / about["frequency_hz"]
	kinds = about["activities"]["kinds"]
	rows = {row["activity"]: row for row in trace.rows("activities")}
	e2e.equal("activities", sorted((kind["name"], kind["pid"], kind["count"]) for kind in kinds), sorted((row["activity"], row["pid"], row["count"]) for row in rows.values()))
	e2e.expect(len(kinds) == 6 and [kind["total"] for kind in kinds] == sorted((kind["total"] for kind in kinds), reverse=True), f"{kinds}")
	report = trace.report("activities")["unpaired"]
	e2e.equal("unpaired", {key: about["activities"][key] for key in report}, report)
	for place, kind in enumerate(kinds):
		row = rows[kind["name"]]
		for key, column in (("total", "total_ns"), ("longest", "max_ns")):
			e2e.expect(abs(kind[key] * nanoseconds - row[column]) <= 1, f"{key} of {kind['name']}: {kind[key] * nanoseconds}, report has {row[column]}")
		sums = [sum(s[4] for s in view.slices(level, f"a{place}")[0]) for level in range(about["levels"])]
		e2e.equal(f"time of {kind['name']} at every level", sums, [kind["total"]] * about["levels"])
		e2e.equal(f"processes of {kind['name']}", {about["threads"][thread]["pid"] for thread in kind["threads"]}, {row["pid"]})
	jobs = next(place for place, kind in enumerate(kinds) if kind["name"] == "job")
	e2e.equal("threads with jobs", len(kinds[jobs]["threads"]), 4)
	deepest = max(s[4] / (s[1] * about["base_ticks"]) for s in view.slices(0, f"a{jobs}")[0] if s[1] > 3)
	e2e.expect(2 <= round(deepest) <= 4, f"4 threads that sleep in jobs at once: {deepest} are open")
	e2e.equal("a lane too many", view.get("slices?level=0&from=0&to=1&lanes=a6")[0], 400)
	view.end()
	page = e2e.work / "marked.html"
	e2e.run(e2e.monitor, "view", trace.directory, "-o", page)
	data = embedded(page.read_text())
	lanes = split(zlib.decompress(base64.b64decode(data["slices"][str(data["about"]["first_level"])])))
	e2e.equal("lanes of the written page", [sum(s[4] for s in lanes[data["lanes"].index(f"a{place}")]) for place in range(6)], [kind["total"] for kind in kinds])


def embedded(text):
	return json.loads(zlib.decompress(base64.b64decode(re.search(r'id="embedded">([^<]*)<', text).group(1))))


def each_time(view, about):
	"""What a row of a table is about, each time: as often, as long, and the longest is where it was."""
	end = about["ticks"]
	nanoseconds = 1e9 / about["frequency_hz"]
	for of, columns in (("calls", ("pid", "call")), ("sleeps", ("tid", "call"))):
		table = view.json(f"table?from=0&to={end}&by={of}")
		keys = [column["key"] for column in table["columns"]]
		rows = [dict(zip(keys, row)) for row in table["rows"]][:3]
		for row in rows:
			same = [other for other in (dict(zip(keys, line)) for line in table["rows"]) if all(other[key] == row[key] for key in columns)]
			asked = f"cases?from=0&to={end}&of={of}" + "".join(f"&{key}={urllib.parse.quote(str(row[key]))}" for key in columns)
			found = view.json(asked)
			e2e.equal(f"how often: {asked}", found["count"], sum(other["count"] for other in same))
			e2e.equal("times in the bars", sum(bar[2] for bar in found["bars"]), found["count"])
			e2e.expect(abs(found["total"] * nanoseconds - sum(other["total_ns"] for other in same)) <= len(same), f"{asked}: {found['total'] * nanoseconds} ns in all, the table has {row}")
			lengths = [one["to"] - one["from"] for one in found["longest"]]
			e2e.expect(lengths == sorted(lengths, reverse=True) and abs(lengths[0] * nanoseconds - max(other["max_ns"] for other in same)) <= 1, f"{asked}: longest {lengths[:3]}, the table has {row}")
			low, high, times = found["bars"][-1]
			part = view.json(f"{asked}&min={low}&max={high}")
			e2e.equal("those of the last bar", (part["count"], part["longest"][0], part["bars"]), (times, found["longest"][0], found["bars"]))
	table = view.json(f"table?from=0&to={end}&by=process")
	keys = [column["key"] for column in table["columns"]]
	for row in [dict(zip(keys, row)) for row in table["rows"] if row[keys.index("waiting_ns")]][:20]:
		found = view.json(f"cases?from=0&to={end}&of=waits&pid={row['pid']}")
		e2e.expect(abs(found["total"] * nanoseconds - row["waiting_ns"]) <= 1, f"waits of {row['pid']}: {found['total'] * nanoseconds} ns, the table has {row['waiting_ns']}")
	e2e.expect(table["threads"]["waiting"] > 0 and table["threads"]["blocked"] > 0, f"{table['threads']}")
	for wrong in ("", "&of=", "&of=threads", "&of=calls&pid=x", "&of=waits&min=-1"):
		e2e.equal(f"answer to cases{wrong}", view.get(f"cases?from=0&to={end}{wrong}")[0], 400)


def who_is_refused():
	trace = some_trace("refused")
	view = View(trace.directory)
	e2e.expect(re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", view.address), view.address)
	status, headers, body = view.get("")
	e2e.equal("the page", (status, body[:15]), (200, b"<!doctype html>"))
	e2e.expect("default-src 'none'" in headers["Content-Security-Policy"] and "unsafe" not in headers["Content-Security-Policy"], f"{headers}")
	for name in re.findall(rb'(?:src|href)="(?!data:)([^"]+)"', body):
		e2e.equal(f"{name}", view.get(name.decode())[0], 200)
	for what, expected in (("nothing", 404), ("table?from=x&to=1&by=process", 400), ("table?from=0&to=1&by=nothing", 400), ("slices?level=99&from=0&to=1&lanes=c0", 400),
	                       ("slices?level=0&from=0&to=1&lanes=c9999", 400), ("modes?from=0&to=1&bins=99999999", 400), ("scenes?from=0&to=9&steps=61", 400), ("scenes?from=9&to=0&steps=1", 400),
	                       ("scenes?from=0&to=9&steps=x", 400), ("scenes?from=18446744073709551614&to=18446744073709551615&steps=1", 400), ("about?%zz", 400), ("../about", 404)):
		e2e.equal(what, view.get(what)[0], expected)
	for bounds in ("from=5&to=5", "from=18446744073709551614&to=18446744073709551615", "from=9&to=3"):
		e2e.equal(bounds, view.get(f"table?{bounds}&by=cpu")[0], 400)
	for path in ("/", "/about", "/" + "0" * 32 + "/", "/" + "0" * 31 + "/", view.path[:-1] + "x/about"):
		status, _, body = view.get("", path=path)
		e2e.equal(f"without the secret: {path}", status, 403)
	for host in ("evil.example", "evil.example:80", f"127.0.0.1.evil.example:{view.port}", "127.0.0.1", ""):
		e2e.equal(f"host {host}", view.get("about", host=host or " ")[0] in (400, 403), True)
	e2e.equal("POST", view.get("about", method="POST")[0], 405)
	# Another address of this machine has no server.
	e2e.equal("the loopback only", listens_elsewhere(view.port), False)
	silent = [socket.create_connection(("127.0.0.1", view.port)) for _ in range(150)]
	for one in silent[::2]:
		one.sendall(b"GET / HTTP/1.1\r\n\r\n")
	slow = socket.create_connection(("127.0.0.1", view.port))
	slow.send(b"GET /")
	for raw in (b"\0" * 1000, b"GET / HTTP/1.1\r\n" + b"A: " + b"b" * 100_000 + b"\r\n\r\n", b"GET " + b"/" * 100_000 + b" HTTP/1.1\r\n\r\n", b"\r\n\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
		with socket.create_connection(("127.0.0.1", view.port)) as broken:
			broken.settimeout(20)
			try:
				broken.sendall(raw)
				e2e.expect(not broken.recv(4096).startswith(b"HTTP/1.1 200"), f"answered: {raw[:20]}")
			except OSError:
				pass
	last = socket.create_connection(("127.0.0.1", view.port))
	e2e.equal("an answer beside all these", view.get("about")[0], 200)
	last.setblocking(False)
	try:
		waits = last.recv(1) != b""
	except BlockingIOError:
		waits = True
	e2e.expect(waits, "silent clients hold up others: the last of them was given up before the answer")
	for one in (*silent, slow, last):
		one.close()
	view.end()


WAITING = """import os, time
there, here = os.pipe(), os.pipe()
if os.fork() == 0:
	for i in range(5):
		os.read(there[0], 1)
		time.sleep(0.5)
		os.write(here[1], b"x")
	os._exit(0)
for i in range(5):
	os.write(there[1], b"x")
	os.read(here[0], 1)
print(f"pid={os.getpid()}")
"""


def a_story():
	"""Who waits for whom: the parent sleeps in read(), its child wakes it; the child itself slept and a timer woke it."""
	trace = e2e.record("story", "--force", "-e", "sched,syscall,irq", command=(sys.executable, "-c", WAITING))
	view = View(trace.directory)
	about = view.json("about")
	nanoseconds = 1e9 / about["frequency_hz"]
	parent = e2e.values(trace.output)["pid"]
	number = {t["tid"]: t["number"] for t in about["threads"]}
	story = view.json(f"story?from=0&to={about['ticks']}&thread={number[parent]}")
	waits = [row for row in story["rows"] if row["what"] == "sleeps" and row["call"] == "read" and (row["to"] - row["from"]) * nanoseconds > 100e6
	         and row["from"] > 0]  # at first it waits for the recorder
	e2e.equal("times that it waited in read", len(waits), 5)
	(child,) = {row["waker_tid"] for row in waits}
	e2e.expect(child not in (parent, None), f"woken by {child}")
	e2e.equal("its number", {row["waker_thread"] for row in waits}, {number[child]})
	cause = view.json(f"story?from={waits[2]['from']}&to={waits[2]['to']}&thread={number[child]}")
	slept = [row for row in cause["rows"] if row["what"] == "sleeps" and row["call"] == "clock_nanosleep"]
	e2e.expect(len(slept) == 1 and slept[0]["waker_tid"] is None and slept[0]["waker"], f"{cause['rows']}")
	e2e.expect(0.4e9 < (slept[0]["to"] - slept[0]["from"]) * nanoseconds < 3e9, f"{slept}")
	# All of it is what report has of this thread.
	row = next(row for row in trace.rows("--by", "thread", "--top", "0") if row["tid"] == parent)
	sums = {what: sum(part["to"] - part["from"] for part in story["rows"] if part["what"] == what) * nanoseconds for what in ("runs", "waits", "sleeps")}
	e2e.expect(story["left_out"] == 0 and abs(sums["runs"] - row["cpu_ns"]) < 1000, f"it ran {sums['runs']} ns, report has {row['cpu_ns']}")
	e2e.expect(abs(sums["waits"] - row["waiting_ns"]) < 1000, f"it waited {sums['waits']} ns, report has {row['waiting_ns']}")
	e2e.expect(abs(sums["sleeps"] - row["blocked_ns"]) < 1000, f"it slept {sums['sleeps']} ns, report has {row['blocked_ns']}")
	e2e.equal("nobody's story", view.json(f"story?from=0&to={about['ticks']}&thread=4194303")["rows"], [])
	e2e.equal("no story", view.get("story?from=0&to=1&thread=x")[0], 400)
	# One that sleeps through the window, and wakes up after it.
	middle = (waits[2]["from"] + waits[2]["to"]) // 2
	asleep = view.json(f"story?from={middle - 1000}&to={middle + 1000}&thread={number[parent]}")["rows"]
	e2e.equal("asleep all the time", [(row["what"], row["call"], row["is_over"], row["to"] - row["from"]) for row in asleep], [("sleeps", "read", False, 2000)])
	view.end()


def listens_elsewhere(port):
	with open("/proc/net/tcp", encoding="ascii") as listing:
		rows = [line.split() for line in listing][1:]
	return any(row[1].endswith(f":{port:04X}") and row[3] == "0A" and row[1][:8] != "0100007F" for row in rows)


def a_written_page():
	"""Whole in itself: its modules are in it, its data says what report says, and no name can break out of it."""
	script = "import ctypes\nprctl = ctypes.CDLL(None).prctl\nfor name in (b'</script><b>', b'\"><svg onload', b'\\xff\\xfe\\x01\\x1b[31m', b'\\xe2\\x80\\xaeright'):\n\tprctl(15, name)\n\tfor i in range(20000): pass\n"
	trace = e2e.record("hostile", "--force", "-e", "sched,syscall", command=(sys.executable, "-c", script))
	page = e2e.work / "page.html"
	done = e2e.run(e2e.monitor, "view", trace.directory, "-o", page)
	e2e.expect("written" in done.stderr, done.stderr)
	text = page.read_text()
	e2e.expect("</script><b>" not in text and "onload" not in text, "a thread's name is in the page as it is")
	e2e.equal("parts that are not in it", re.findall(r'(?:src|href)="(?!data:)[^"]*"', text), [])
	data = embedded(text)
	about = data["about"]
	first = about["first_level"]
	lanes = split(zlib.decompress(base64.b64decode(data["slices"][str(first)])))
	e2e.equal("lanes", len(lanes), len(data["lanes"]))
	e2e.equal("time of the CPUs", [sum(s[4] for s in lane) for lane in lanes[:len(about["cpus"])]], [cpu["busy"] for cpu in about["cpus"]])
	keys = [column["key"] for column in data["tables"]["process"]["columns"]]
	e2e.equal("the table", sum(row[keys.index("cpu_ns")] or 0 for row in data["tables"]["process"]["rows"]), sum(row["cpu_ns"] or 0 for row in trace.rows("--top", "0")))
	modules = [base64.b64decode(part).decode() for part in re.findall(r"data:text/javascript;base64,([A-Za-z0-9+/=]+)", text)]
	e2e.equal("main module", len(modules), 1)
	e2e.equal("imports that are left", re.findall(r"from '(?!data:)[^']*'", modules[0]), [])


def damaged_and_replaced():
	"""What was left out is told, and parts of two recordings are not mixed."""
	trace = some_trace("damaged")
	whole = View(trace.directory)
	copy = trace.copy("damaged_copy")
	stream = max((path for path in copy.directory.glob("kernel_cpu?")), key=lambda path: path.stat().st_size)
	data = bytearray(stream.read_bytes())
	data[4096 * 3:4096 * 3 + 8] = b"\xff" * 8
	stream.write_bytes(data)
	view = View(copy.directory)
	e2e.equal("damaged packets", view.json("about")["problems"], 1)
	view.process.send_signal(signal.SIGINT)
	errors = view.process.communicate(timeout=20)[1]
	e2e.expect(view.process.returncode == 1 and stream.name in errors, f"{view.process.returncode}: {errors}")
	done = e2e.run(e2e.monitor, "view", copy.directory, "-o", e2e.work / "damaged.html", exit_code=1)
	e2e.expect(stream.name in done.stderr, done.stderr)
	recording = trace.copy("nonsense")
	path = recording.directory / ".monitor" / "recording.json"
	for begin, end in ((0, 2**64 - 1), (2**64 - 1, 0), (5, 5)):
		data = json.loads(path.read_text())
		data["start"]["time"], data["end"]["time"] = begin, end
		path.write_text(json.dumps(data))
		done = e2e.run(e2e.monitor, "view", recording.directory, "-o", e2e.work / "nonsense.html", exit_code=1)
		e2e.expect("recording.json damaged?" in done.stderr, f"from {begin} to {end}: {done.stderr}")
	many = trace.copy("many_cpus")
	stream = many.directory / "kernel_cpu0"
	data = bytearray(stream.read_bytes())
	data[80:84] = struct.pack("<I", 8000)
	stream.write_bytes(data)
	e2e.run("sh", "-c", f"ulimit -v 3000000; {e2e.monitor} --memory 2G view {many.directory} -o {e2e.work}/many.html", exit_code=None)
	e2e.expect((e2e.work / "many.html").exists(), "a picture of 8000 CPUs takes too much memory")
	e2e.record("damaged", "--force", "-e", "sched,syscall,irq,fault", command=("sleep", "0.1"))
	status, _, body = whole.get("table?from=0&to=1000&by=process")
	e2e.expect(status == 400 and b"the trace has changed" in body, body)
	whole.end()
	cut = e2e.Trace(e2e.work / "damaged").copy("cut")
	view = View(cut.directory)
	ticks = view.json("about")["ticks"]
	stream = max(cut.directory.glob("kernel_cpu?"), key=lambda path: path.stat().st_size)
	os.truncate(stream, stream.stat().st_size // 8192 * 4096)
	for what in (f"table?from=0&to={ticks}&by=calls", f"cases?from=0&to={ticks}&of=waits", f"story?from=0&to={ticks}&thread=0", f"slices?level=0&from=0&to={1 << 30}&lanes=c*"):
		status, _, body = view.get(what)
		e2e.expect(status == 400 and b"the trace has changed" in body, f"{what}, of a stream that was cut: {status}, {body[:200]}")


def what_cannot_be_shown():
	(e2e.work / "empty").mkdir()
	for arguments, part in ((("/does/not/exist",), "/does/not/exist"), ((e2e.work / "empty",), ""), (("--port", "99999", "x"), "--port")):
		done = e2e.run(e2e.monitor, "view", *arguments, exit_code=None)
		e2e.expect(done.returncode in (1, 2) and part in done.stderr and done.stderr.startswith("monitor: "), f"{arguments}: {done.stderr}")
	trace = some_trace("twice")
	first = View(trace.directory)
	done = e2e.run(e2e.monitor, "view", "--port", first.port, trace.directory, exit_code=1)
	e2e.expect(f"cannot listen on 127.0.0.1:{first.port}" in done.stderr, done.stderr)
	first.end()
	done = e2e.run(e2e.monitor, "view", trace.directory, "-o", "/does/not/exist/page.html", exit_code=1)
	e2e.expect("cannot write" in done.stderr, done.stderr)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(sums_are_those_of_report, of_activities, what_was_counted, a_story, who_is_refused, a_written_page, damaged_and_replaced, what_cannot_be_shown)
