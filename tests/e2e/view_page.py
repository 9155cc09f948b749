#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of monitor view in a browser: what it shows, and what keys and mouse do."""
import atexit
import functools
import json
import os
import signal
import subprocess
import sys

import browser
import e2e

READY = "globalThis.monitorView?.isReady()"
WINDOW = "[monitorView.lanes.window.from, monitorView.lanes.window.to]"
HOSTILE = [b"</script><b>", b'"><svg onload', b"\xff\xfe\x01\x1b[31m", "\u202eright-to-left".encode()[:15]]


@functools.cache
def record():
	script = f"import ctypes, os, time\nprctl = ctypes.CDLL(None).prctl\nfor name in {HOSTILE!r}:\n\tprctl(15, name)\n\tfor i in range(20000): os.getppid()\n\ttime.sleep(0.01)\n"
	return e2e.record("pictured", "--force", "-e", "sched,syscall,irq,fault", command=(sys.executable, "-c", script))


class Served:
	def __init__(self, trace, *size, second=None, options=(), **look):
		directories = [trace.directory, *([second.directory] if second else [])]
		self.server = subprocess.Popen([e2e.monitor, "view", "--no-browser", *options, *directories], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
		atexit.register(self.server.kill)
		self.address = self.server.stdout.readline().strip()
		self.page = browser.Browser(*size, **look)
		self.page.open(self.address)
		self.page.wait(READY)

	def span(self):
		begin, end = self.page.run(WINDOW)
		return end - begin

	def end(self):
		e2e.equal("what the page complains about", self.page.complaints, [])
		self.page.close()
		self.server.send_signal(signal.SIGINT)
		self.server.wait(20)


def rows(page):
	return page.run("[...document.querySelectorAll('#table tr')].map(row => [...row.children].map(cell => cell.textContent))")[1:]


def what_it_shows():
	trace = record()
	served = Served(trace)
	page = served.page
	text = page.run("document.querySelector('header').textContent")
	summary = trace.summary()
	for part in (f"{summary['tokens']:,} events", f"{summary['lost']} lost", f"clock bound {summary['clock_bound_ns']} ns"):
		e2e.expect(part in text, f"'{part}' is not in the header: {text}")
	ours = [row for row in rows(page) if row[0] == "*"]
	e2e.expect(ours and ours[0][1], f"{ours}")
	e2e.equal("elements made of names", page.run("document.querySelectorAll('b, svg:not(#kiviat, #cases-bars)').length"), 0)
	total = page.run("monitorView.lanes.source.about.ticks")
	e2e.equal("the window at first", page.run(WINDOW), [0, total])
	# Each CPU's strip has something, and so have the lanes.
	e2e.expect(page.run("monitorView.lanes.drawn") > 5, "nothing is drawn")
	page.key("t")
	page.wait(f"{READY} && monitorView.lanes.what === 'threads'")
	e2e.equal("what the lanes' colours mean", page.run("[...document.querySelectorAll('#lanes-legend li')].map(item => item.textContent)"), ["runs", "waits for a CPU"])
	titles = page.run("monitorView.lanes.rows.map(row => row.title)")
	e2e.expect(any("onload" in title for title in titles) or any("right" in title for title in titles), f"{titles}")
	e2e.equal("order of threads", page.run("monitorView.lanes.rows.map(row => row.thread.ran)"),
	          sorted(page.run("monitorView.lanes.rows.map(row => row.thread.ran)"), reverse=True))
	# The command below the table prints the same.
	page.run("monitorView.setWindow(monitorView.lanes.source.about.ticks * 0.5, monitorView.lanes.source.about.ticks)")
	page.wait(f"{READY} && document.querySelector('#as-command').textContent.includes('--from')")
	page.wait(READY)
	command = page.run("document.querySelector('#as-command').textContent")
	e2e.expect(command.startswith(f"monitor report {trace.directory} --from "), command)
	printed = json.loads(e2e.run(e2e.monitor, *command.split()[1:], "--json").stdout)["rows"]
	def text(ns):
		return page.run(f"import(document.querySelector('script[type=module]').src.replace('main.js', 'text.js')).then(text => text.duration({ns}))")
	# The report's JSON has also those that only slept; the page leaves them out, as the report's text does.
	e2e.equal("the first rows", [(row[2], row[3]) for row in rows(page)[:3] if row[3] != text(0)],
	          [(str(row["pid"]), text(row["cpu_ns"])) for row in printed[:3] if row["cpu_ns"]])
	for by, column in (("thread", "tid"), ("cpu", "CPU"), ("process", "pid"), ("sleeps", "waker")):
		page.run(f"[...document.querySelectorAll('#by button')].find(button => button.textContent === '{by}').click()")
		page.wait(f"{READY} && [...document.querySelectorAll('#table th')].some(cell => cell.textContent === '{column}')")
		shown, wide = page.run("(({clientWidth, scrollWidth}) => [clientWidth, scrollWidth])(document.querySelector('#table').parentElement)")
		e2e.expect(shown == wide or shown > 1200, f"of the table by {by}, {wide} wide, {shown} are shown")
	served.end()


@e2e.longer
def keys_and_mouse():
	trace = record()
	served = Served(trace)
	page = served.page
	whole = served.span()
	page.key("w")
	page.key("w")
	e2e.expect(0.48 < served.span() / whole < 0.50, f"w, w: {served.span() / whole}")
	before = page.run(WINDOW)
	page.key("d")
	after = page.run(WINDOW)
	e2e.expect(after[0] > before[0] and abs((after[1] - after[0]) - (before[1] - before[0])) < 2, f"d: {before} to {after}")
	page.key("a")
	page.key("s")
	page.key("0")
	e2e.equal("0", page.run(WINDOW), [0, whole])
	page.wait(READY)
	x, y, width, height = page.place("#lanes")
	left, top = x - width / 2, y - height / 2
	page.drag((left + width * 0.5, top + 30), (left + width * 0.7, top + 30), shift=True)
	e2e.expect(0.1 < served.span() / whole < 0.35, f"shift and drag: {served.span() / whole}")
	span, begin = served.span(), page.run(WINDOW)[0]
	page.drag((left + width * 0.7, top + 30), (left + width * 0.5, top + 30))
	e2e.expect(page.run(WINDOW)[0] > begin and abs(served.span() - span) < 2, "dragging does not move")
	page.mouse("mouseWheel", left + width * 0.5, top + 30, deltaX=0, deltaY=-100)
	page.wait(f"monitorView.lanes.window.to - monitorView.lanes.window.from < {span}")
	page.wait(READY)
	page.mouse("mouseMoved", left + width * 0.6, top + 30)
	e2e.expect(page.run("document.querySelector('#under').textContent").startswith("CPU 0 at "), "nothing is said of what is under the mouse")
	page.wait("location.hash.includes(`from=${Math.round(monitorView.lanes.window.from)}&`)")
	link, there = page.run("location.href"), page.run(WINDOW)
	x, y, width, height = page.place("#overview")
	page.drag((x - width / 4, y), (x + width / 4, y))
	e2e.expect(0.4 < served.span() / whole < 0.6, f"dragging in the overview: {served.span() / whole}")
	for way in ("in another tab", "in the same one"):
		if way == "in another tab":
			page.open("about:blank")
		else:
			page.key("0")
			page.wait(f"{READY} && location.hash.includes('from=0&')")
		page.open(link)
		page.wait(f"{READY} && monitorView.lanes.window.from > 0")
		again = page.run(WINDOW)
		e2e.expect(max(abs(again[i] - there[i]) for i in (0, 1)) <= 1, f"a link leads to {again}, not {there}, {way}")
	page.key("/")
	page.type("no such thread")
	page.key("Escape")
	page.key("t")
	e2e.equal("lanes of nobody", page.run("monitorView.lanes.rows.length"), 0)
	page.key("?")
	e2e.equal("help", page.run("document.querySelector('#help').open"), True)
	page.key("Escape")
	# Frames while zooming in and out. Whether they are smooth is measured by tools/bench view.
	drawn = page.run("(async () => { monitorView.drawTimes.length = 0; for (let i = 0; i < 60; ++i) { await new Promise(requestAnimationFrame); const l = monitorView.lanes, c = l.source.about.ticks / 3; "
	                 "const f = i < 30 ? 0.9 : 1 / 0.9; monitorView.setWindow(c - (c - l.window.from) * f, c + (l.window.to - c) * f); } return monitorView.drawTimes.length; })()")
	e2e.expect(drawn > 30, f"{drawn} frames")
	served.end()


@e2e.longer
def to_the_longest():
	"""From a table's number to its histogram, to the longest of one bar, to that place in the lanes; and lanes of groups."""
	trace = e2e.record("longest", "--force", "-e", "sched,syscall", command=("sh", "-c", "for i in 1 2 3 4; do sleep 0.01; done; sleep 0.2"))
	served = Served(trace)
	page = served.page
	page.key("p")
	page.key("/")
	page.type("sleep")
	page.key("Escape")
	page.wait(f"{READY} && monitorView.lanes.what === 'processes'")
	found = page.run("[...document.querySelectorAll('#table tr')].slice(1).map(row => row.className)")
	e2e.expect(found[0] == "found" and found == sorted(found, reverse=True) and "faded" in found, f"what is found is not above the others: {found}")
	shell = page.run("monitorView.lanes.rows.findIndex(row => row.title.startsWith('sleep '))")
	e2e.expect(page.run("monitorView.lanes.drawn") > 0 and shell >= 0, "no process is drawn")
	x, y, width, height = page.place("#lanes")
	page.click(x, y - height / 2 + 18 + 23 * shell + 10)
	page.wait(f"{READY} && monitorView.lanes.what === 'threads'")
	e2e.expect(all(title.startswith("sleep ") for title in page.run("monitorView.lanes.rows.map(row => row.title)")), "a click on a process does not lead to its threads")
	page.run("[...document.querySelectorAll('#by button')].find(button => button.textContent === 'sleeps').click()")
	page.wait(f"{READY} && [...document.querySelectorAll('#table th')].some(cell => cell.textContent === 'waker')")
	page.run("[...document.querySelectorAll('#table tr')].find(row => [...row.children].some(cell => cell.textContent === 'sleep')).querySelector('td button').click()")
	page.wait(f"{READY} && document.querySelectorAll('#cases-table tr').length > 1")
	e2e.expect(page.run("document.querySelector('#cases-title').textContent").startswith("sleeps of sleep "), "another row's times")
	page.run("[...document.querySelectorAll('#cases-bars rect')].at(-1).dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))")
	page.wait(f"{READY} && !document.querySelector('#cases-all').hidden")
	page.run("document.querySelector('#cases-table td button').click()")
	page.wait(f"{READY} && !document.querySelector('#story').hidden && monitorView.story.rows.length")
	longest = page.run("Math.max(...monitorView.story.rows.filter(row => row.what === 'sleeps').map(row => row.to - row.from)) / monitorView.lanes.span")
	e2e.expect(0.4 < longest < 0.9, f"the longest sleep has {longest} of the window: half of it, unless the recording ends")
	page.key("Escape")
	e2e.equal("closed", page.run("[document.querySelector('#story').hidden, document.querySelector('#cases').hidden]"), [True, True])
	served.end()


def compared():
	"""Two traces below each other, and what changed is what diff says."""
	script = "import os, sys\nfor i in range(int(sys.argv[1])): os.getppid()"
	traces = [e2e.record(name, "--force", "-e", "sched,syscall", command=(sys.executable, "-c", script, times)) for name, times in (("before", 20000), ("after", 80000))]
	served = Served(traces[0], second=traces[1])
	page = served.page
	page.wait(f"{READY} && monitorView.compare", 60)
	e2e.equal("aligned at", page.run("document.querySelector('#align').value"), "command")
	first, second = ("monitorView.lanes", "monitorView.compare.lanes")
	def of_command(lanes):
		return page.run(f"(() => {{ const {{source, window}} = {lanes}; return (Math.min(...source.about.threads.filter(t => t.recorded).map(t => t.first)) - window.from) * source.nsPerTick; }})()")
	e2e.expect(abs(of_command(first) - of_command(second)) < 1000, f"the commands start {of_command(first)} and {of_command(second)} ns into the windows")
	e2e.expect(page.run(f"{second}.drawn") > 5, "nothing is drawn of the second one")
	page.wait(f"{READY} && document.querySelectorAll('#second-table tr').length > 3", 60)
	shown = page.run("[...document.querySelectorAll('#second-table tr')].slice(1).map(row => [...row.children].map(cell => cell.textContent))")
	told = json.loads(e2e.run(e2e.monitor, "diff", traces[0].directory, traces[1].directory, "--json").stdout)["rows"]
	e2e.equal("what changed", [row[:4] for row in shown[:3]], [[row[key] for key in ("kind", "command", "thread", "what")] for row in told if row["leads"]][:3])
	e2e.expect(["calls", "getppid"] in [[row[0], row[3]] for row in shown[:3]], f"{shown[:3]}")
	page.key("w")
	page.wait(f"{READY} && document.querySelectorAll('#second-table tr').length > 1", 60)
	e2e.expect(abs(of_command(first) - of_command(second)) < 1000, "zooming moves the second one elsewhere")
	status, text = page.run("fetch('second/about').then(async answer => [answer.status, (await answer.json()).directory])")
	e2e.expect(status == 200 and text.endswith("after"), f"{status} {text}")
	served.end()


@e2e.longer
def stacks_of_the_window():
	load = "import os\ndef spins():\n\tfor i in range(3000000): pass\nspins()\n"
	trace = e2e.record("stacked", "--force", "-e", "sched", "--stacks", "cpu", command=(sys.executable, "-c", load))
	served = Served(trace)
	page = served.page
	page.run("monitorView.setWindow(0, monitorView.lanes.source.about.ticks)")
	page.wait(READY)
	page.key("f")
	page.wait(f"{READY} && document.querySelector('#stacks-frame').contentDocument?.querySelectorAll('#rows tr').length > 0", 60)
	taken = page.run("JSON.parse(document.querySelector('#stacks-frame').contentDocument.querySelector('#data').textContent).graphs[0]")
	e2e.equal("its kind", taken["by"], "cpu")
	theirs = sum(row["self"] for row in json.loads(e2e.run(e2e.monitor, "report", trace.directory, "stacks", "--all", "--by", "cpu", "--json", "--top", "0").stdout)["rows"])
	e2e.equal("stacks that were taken", taken["total"][0], theirs)
	of_all = page.run("document.querySelector('#stacks-frame').src")
	page.run("monitorView.setWindow(monitorView.lanes.source.about.ticks * 0.5, monitorView.lanes.source.about.ticks)")
	page.wait(f"document.querySelector('#stacks-frame').src !== {json.dumps(of_all)}")
	page.wait(f"{READY} && document.querySelector('#stacks-frame').contentDocument?.querySelectorAll('#rows tr').length > 0", 60)
	part = page.run("JSON.parse(document.querySelector('#stacks-frame').contentDocument.querySelector('#data').textContent).graphs[0].total[0]")
	e2e.expect(0 < part < theirs, f"{part} of {theirs} stacks in the second half")
	page.key("f")
	served.end()


def row_of(page, name):
	"""Searches a thread of the command in the lanes; its place there."""
	page.key("t")
	page.key("/")
	page.type(name)
	page.key("Escape")
	page.wait(f"{READY} && monitorView.lanes.rows.length > 0")
	return page.run(f"monitorView.lanes.rows.findIndex(row => row.thread.name === '{name}' && row.thread.recorded)")


def back_to_the_cause():
	"""A click on a thread tells its story; a click on who woke it, that one's."""
	trace = e2e.record("caused", "--force", "-e", "sched,syscall,irq", command=("sh", "-c", "for i in 1 2 3; do sleep 0.05; done"))
	served = Served(trace)
	page = served.page
	row = row_of(page, "sh")
	tid, number = page.run(f"[monitorView.lanes.rows[{row}].thread.tid, monitorView.lanes.rows[{row}].thread.number]")
	x, y, width, height = page.place("#lanes")
	page.click(x, y - height / 2 + 18 + row * 23 + 10)
	page.wait(f"{READY} && monitorView.story.thread === {number} && monitorView.story.rows.length > 0")
	e2e.expect(page.run("document.querySelector('#story-title').textContent").startswith(f"What sh {tid} did"), "no title")
	cells = page.run("[...document.querySelectorAll('#story-table tr')].map(row => [...row.children].map(cell => cell.textContent))")
	woken = [row for row in cells if row[1] == "sleeps" and row[3] == "wait4"]
	# After a hidden thread it is unknown who runs, and so who wakes.
	e2e.expect(len(woken) >= 3 and all(row[4].startswith(("sleep ", "unknown")) for row in woken), f"{cells}")
	page.run("[...document.querySelectorAll('#story-table button')].find(button => button.textContent.startsWith('sleep ')).click()")
	page.wait(f"{READY} && document.querySelector('#story-title').textContent.startsWith('What sleep ')")
	e2e.expect(any("nanosleep" in row for row in page.run("[...document.querySelectorAll('#story-table td')].map(cell => cell.textContent)")), "sleep does not sleep")
	page.key("Escape")
	e2e.equal("closed", page.run("document.querySelector('#story').hidden"), True)
	served.end()


@e2e.longer
def what_is_copied():
	"""The copied command prints the events that the story shows, of the window and of a marked row; the copied link restores the view."""
	trace = e2e.record("copied it's", "--force", "-e", "sched,syscall", command=("sh", "-c", "for i in 1 2 3 4 5 6; do sleep 0.02; done"))
	served = Served(trace)
	page = served.page
	page.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
	page.call("Emulation.setFocusEmulationEnabled", enabled=True)

	def copied(what):
		page.wait(READY)
		page.run(f"document.querySelector('#story-copy-{what}').scrollIntoView()")
		x, y, _, _ = page.place(f"#story-copy-{what}")
		page.run("document.querySelector('#story-copied').textContent = ''")  # of the one before
		page.click(x, y)
		page.wait("document.querySelector('#story-copied').textContent === 'copied'")
		return page.run("navigator.clipboard.readText()")

	def listed(command):
		begin, _, rest = command.partition(" query ")
		return json.loads(e2e.run("sh", "-c", f"{e2e.monitor} query --json {rest}").stdout) if begin == "monitor" else command

	page.run("(() => { const {ticks} = monitorView.lanes.source.about; monitorView.setWindow(ticks * 0.3, ticks * 0.7); })()")
	row = row_of(page, "sh")
	tid = page.run(f"monitorView.lanes.rows[{row}].thread.tid")
	page.size(1280, 500)
	x, y, _, height = page.place("#lanes")
	page.click(x, y - height / 2 + 18 + row * 23 + 10)
	page.wait(f"{READY} && monitorView.story.rows.length > 0")
	e2e.expect(page.run("document.querySelector('#story').getBoundingClientRect().bottom <= innerHeight + 1"), "the story is below the fold")
	page.size(1280, 900)
	e2e.equal("a slice that is clicked is marked", page.run("document.querySelector('#story-where').textContent"), "in the marked time")
	page.run("document.querySelector('#story-table button[aria-pressed=true]').click()")
	events = listed(copied("query"))
	told = page.run("monitorView.story.rows.filter(row => row.what === 'runs' && row.to < Math.ceil(monitorView.lanes.window.to)).length")
	e2e.equal("switches of a thread that ran", sum(event["name"] == "sched_switch" for event in events), told)
	page.run("[...document.querySelectorAll('#by button')].find(button => button.textContent === 'calls').click()")
	page.wait(f"{READY} && document.querySelector('#table-title').textContent.startsWith('System calls')")
	keys = page.run("[...document.querySelectorAll('#table th')].map(cell => cell.textContent)")
	calls = sum(int(line[keys.index("count")]) for line in rows(page) if line[keys.index("pid")] == str(tid))
	e2e.expect(calls > 5, f"the load has no calls: {rows(page)}")
	e2e.equal("system calls that ended", sum(event["name"] == "sys_exit" for event in events), calls)
	# Of one time that it ran: what it did until it was switched away.
	place = page.run("monitorView.story.rows.findIndex((row, at) => at > 0 && row.what === 'runs' && row.to < monitorView.lanes.window.to)")
	page.run(f"document.querySelectorAll('#story-table tr')[{place + 1}].querySelector('button').click()")
	part = listed(copied("query"))
	ends = page.run(f"[monitorView.story.rows[{place}].from, monitorView.story.rows[{place}].to].map(ticks => monitorView.lanes.source.ns(ticks) / 1e9)")
	e2e.expect(0 < len(part) < len(events) and all(ends[0] - 1e-8 < event["time"] < ends[1] + 1e-8 for event in part), f"from {ends}: {part}")
	e2e.equal("how it ends", [event["name"] for event in part if event["name"] == "sched_switch"], [part[-1]["name"]])
	link, marked = copied("link"), page.run("monitorView.story.marked")
	page.open("about:blank")
	page.open(link)
	page.wait(f"{READY} && monitorView.story.rows.length > 0")
	e2e.equal("the link leads to", page.run("[document.querySelector('#story-title').textContent, monitorView.story.marked, monitorView.lanes.what]"),
	          [f"What sh {tid} did in this window", marked, "threads"])
	served.end()


@e2e.longer
def activities():
	"""Lanes of activities: how often and how long, and the thread of a slice; offered only if there are some."""
	if os.uname().machine != "x86_64":
		return  # the user card is for x86-64
	trace = e2e.record("marked", "--force", "-e", "sched", command=(os.path.join(e2e.programs, "activity_load"), 20, 2))
	served = Served(trace)
	page = served.page
	e2e.equal("offered", page.run("document.querySelector('#lanes-activities').hidden"), False)
	page.key("v")
	page.wait(f"{READY} && monitorView.lanes.drawn > 5")
	names = page.run("monitorView.lanes.rows.map(row => row.activity.name)")
	e2e.equal("lanes", sorted(names), sorted(row["activity"] for row in trace.rows("activities")))
	e2e.expect(page.run("document.querySelector('#lanes-note').textContent").startswith("1 begins without an end, 2 ends without a begin"), "nothing is said of those")
	e2e.expect(page.run("location.hash").find("lanes=activities") > 0 or page.run(f"{READY}"), "it is not in the address")
	spin, job = names.index("spin"), names.index("job")
	# Spins follow each other in one thread; four threads have their jobs at once.
	page.run(f"(async () => {{ const {{source}} = monitorView.lanes, [slices] = await source.slices(0, 0, 2 ** 31, monitorView.lanes.lanes.split(',')[{spin}]); monitorView.setWindow(slices[0] * source.width(0), (slices[0] + slices[1]) * source.width(0)); }})()")
	page.wait(READY)
	x, y, _, height = page.place("#lanes")
	def at(row):
		return y - height / 2 + 18 + row * 23 + 10
	page.mouse("mouseMoved", x, at(spin))
	under = page.run("document.querySelector('#under').textContent")
	e2e.expect(under.startswith("spin of ") and " by activity_load " in under and "in the whole recording 2 times" in under, under)
	page.click(x, at(spin))
	page.wait(f"{READY} && !document.querySelector('#story').hidden && monitorView.story.rows.length > 0")
	e2e.equal("whose spin", page.run("document.querySelector('#story-title').textContent"), f"What activity_load {trace.rows('activities')[0]['pid']} did in this window")
	page.key("Escape")
	page.run(f"(async () => {{ const {{source}} = monitorView.lanes, [slices] = await source.slices(4, 0, 2 ** 31, monitorView.lanes.lanes.split(',')[{job}]); monitorView.setWindow(slices[0] * source.width(4), slices.at(-6) * source.width(4)); }})()")
	page.wait(READY)
	e2e.expect(page.run(f"monitorView.lanes.rows[{job}].parallel") in (2, 3, 4), "the jobs of four threads are not at once")
	page.click(x, at(job))
	page.wait(f"{READY} && monitorView.story.thread !== undefined")
	e2e.expect(page.run(f"monitorView.lanes.rows[{job}].activity.threads.some(place => monitorView.lanes.source.about.threads[place].number === monitorView.story.thread)"), "another thread's story")
	page.key("/")
	page.type("spin")
	page.key("Escape")
	e2e.equal("found", page.run("monitorView.lanes.rows.map(row => row.activity.name)"), ["spin"])
	served.end()
	served = Served(record())
	page = served.page
	page.key("v")
	e2e.equal("of programs that mark none", page.run("[document.querySelector('#lanes-activities').hidden, monitorView.lanes.what]"), [True, "cpus"])
	served.end()


@e2e.longer
def a_written_page():
	"""Opened as a file, on a telephone, in the dark: nothing is fetched, and nothing sticks out."""
	trace = record()
	file = e2e.work / "written.html"
	e2e.run(e2e.monitor, "view", trace.directory, "-o", file)
	page = browser.Browser(390, 844, dark=True)
	page.size(390, 844, mobile=True)
	page.open(f"file://{file}")
	page.wait(READY)
	e2e.expect(page.run("document.scrollingElement.scrollWidth") <= 390, "the page is wider than the screen")
	e2e.equal("an animation, which needs the server, is offered", page.run("!document.querySelector('#scenes-button').hidden"), False)
	e2e.equal("its ground is dark", page.run("getComputedStyle(document.body).backgroundColor"), "rgb(20, 23, 28)")
	e2e.equal("what it fetched", page.run("performance.getEntriesByType('resource').filter(entry => !entry.name.startsWith('data:')).map(entry => entry.name)"), [])
	summary = json.loads(e2e.run(e2e.monitor, "report", "--json", trace.directory).stdout)
	names = page.run("[...document.querySelectorAll('#table tr')].slice(1, 4).map(row => Number(row.children[2].textContent))")
	e2e.equal("the processes that used most", names, [row["pid"] for row in summary["rows"][:3]])
	page.key("w")
	page.wait("document.querySelector('#table-state').textContent.includes('whole recording')")
	page.key("0")
	page.wait(READY)
	e2e.equal("what the page complains about", page.complaints, [])
	page.close()


if __name__ == "__main__":
	e2e.need_recording()
	if browser.why_none():
		e2e.skip(browser.why_none())
	e2e.main(what_it_shows, keys_and_mouse, to_the_longest, compared, stacks_of_the_window, back_to_the_cause, what_is_copied, activities, a_written_page)
