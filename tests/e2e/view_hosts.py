#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitor view RUN: a page for each host of a collection, which lead to each other at the same time."""
import json
import re
import subprocess
import types

import browser
import e2e
import view_page

BASE_NS, LATER_NS, MS = 1_700_000_000_000_000_000, 50_000_000, 1_000_000
MIDDLE = (100, 200)  # ms of db1's trace between which its clock is slower by 1e-4, and less is known of it


def recorded(name):
	return e2e.record(f"run/{name}", "--force", "-e", "sched", command=("sleep", "0.4")).directory


def clock_of(directory, points, bounds):
	"""Lines through these points: ms since the recording's start, and ns since the epoch."""
	hz = int(re.search(r"freq = (\d+)", (directory / "metadata").read_text(errors="replace"))[1])
	start = json.loads((directory / ".monitor" / "recording.json").read_text())["start"]["time"]
	return {"nodes": [[start + round(hz * ms / 1000), ns] for ms, ns in points], "bounds_ns": bounds}


def collection(web_bound):
	"""Two recordings, of which the clocks say that the second one began a bit after the first."""
	run = e2e.work / "run"
	hosts = {name: run / name for name in ("db1", "web1")}
	if not run.exists():
		run.mkdir()
		hosts = {name: recorded(name) for name in hosts}
		(run / ".monitor").mkdir()
	db = [(MIDDLE[0], BASE_NS + MIDDLE[0] * MS), (MIDDLE[1], BASE_NS + MIDDLE[1] * MS + 10_000)]
	web = [(0, BASE_NS + LATER_NS), (1000, BASE_NS + LATER_NS + 1000 * MS)]
	parts = [{"directory": "db1", "clock": clock_of(hosts["db1"], db, [1_000, 80_000, 2_000])},
	         {"directory": "web1", "clock": clock_of(hosts["web1"], web, [None, web_bound, None])}]
	(run / ".monitor" / "collection.json").write_text(json.dumps({"version": 1, "parts": parts}))
	return run


def click(page, name):
	page.run(f"[...document.querySelectorAll('#hosts button')].find(button => button.textContent === '{name}').click()")


def note(page):
	return page.run("document.querySelector('#hosts-note').textContent")


def window_ns(page):
	return page.run("[monitorView.lanes.window.from, monitorView.lanes.window.to].map(ticks => monitorView.lanes.source.ns(ticks))")


def to_host(page, name):
	click(page, name)
	page.wait(f"globalThis.monitorView?.lanes.source.about.hosts[monitorView.lanes.source.about.host_number].name === '{name}' && {view_page.READY}")


def show(page, begin_ms, end_ms):
	"""A window of this host's trace."""
	page.run(f"(ticks => monitorView.setWindow(ticks({begin_ms}), ticks({end_ms})))(ms => (ms * 1e6 - monitorView.lanes.source.beginNs) / monitorView.lanes.source.nsPerTick)")
	page.wait(f"{view_page.READY} && location.hash.includes('from=')")


@e2e.longer
def at_the_same_time():
	run = collection(40_000)
	served = view_page.Served(types.SimpleNamespace(directory=run))
	page = served.page
	e2e.equal("hosts", page.run("[...document.querySelectorAll('#hosts button')].map(button => button.textContent)"), ["db1", "web1"])
	e2e.expect(served.address != page.run("location.href") and page.run("location.pathname").endswith("/0/"), page.run("location.href"))
	page.key("t")
	show(page, 120, 140)
	before = window_ns(page)
	to_host(page, "web1")
	for here, there in zip(before, window_ns(page)):
		# Three ticks, of which each is less than a nanosecond.
		e2e.expect(abs(here + (here - MIDDLE[0] * MS) / 1e4 - LATER_NS - there) < 3, f"{here} ns of db1 are {there} ns of web1")
	e2e.equal("what the lanes show", page.run("monitorView.lanes.what"), "threads")
	e2e.expect("at most 120" in note(page), note(page))  # 80 us and 40 us
	to_host(page, "db1")
	for here, there in zip(before, window_ns(page)):
		e2e.expect(abs(here - there) < 3, f"{here} ns of db1 and back are {there} ns")
	# The worst line of those in the window counts, although those beside it are better.
	show(page, 60, 240)
	to_host(page, "web1")
	e2e.expect("at most 120" in note(page), note(page))
	to_host(page, "db1")
	show(page, 210, 240)
	to_host(page, "web1")
	e2e.expect("at most 42" in note(page), note(page))
	to_host(page, "db1")
	# Before the other one was recorded.
	show(page, 10, 30)
	to_host(page, "web1")
	e2e.expect("was not recorded at that time" in note(page), note(page))
	e2e.equal("its window", page.run(view_page.WINDOW), [0, page.run("monitorView.lanes.source.about.ticks")])
	served.end()


def with_an_unknown_bound():
	"""Of either of the two: then it is not known how far apart both windows are."""
	served = view_page.Served(types.SimpleNamespace(directory=collection(None)))
	page = served.page
	for name in ("web1", "db1"):
		show(page, 210, 240)
		to_host(page, name)
		e2e.expect("unknown" in note(page), note(page))
	served.end()


def without_clocks():
	"""Pages of hosts whose clocks are not related still lead to each other, to all of the recording."""
	run = e2e.work / "run"
	(run / ".monitor" / "collection.json").write_text(json.dumps({"version": 1, "parts": []}))
	served = view_page.Served(types.SimpleNamespace(directory=run))
	page = served.page
	to_host(page, "web1")
	e2e.equal("its window", page.run(view_page.WINDOW), [0, page.run("monitorView.lanes.source.about.ticks")])
	status = page.run("fetch('ticks?from_ns=0&to_ns=1').then(response => response.text())")
	e2e.expect("unknown" in status, status)
	for path in ("../2/", "../x", "../0"):
		e2e.equal(path, page.run(f"fetch('{path}').then(response => response.status)"), 404)
	page.complaints.clear()  # of these
	served.end()


def what_has_no_picture():
	run = e2e.work / "run"
	for option in (("-o", e2e.work / "page.html"), ("--layout", "pipeline")):
		refused = e2e.run(e2e.monitor, "view", *option, run, exit_code=1)
		e2e.expect("several hosts" in refused.stderr and str(run / "db1") in refused.stderr, refused.stderr)
	(run / "web1" / "metadata").write_text("nothing")
	server = subprocess.Popen([e2e.monitor, "view", "--no-browser", run], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	server.stdout.readline()
	server.terminate()
	said = server.communicate(timeout=20)[1]
	e2e.expect("web1 is left out" in said, said)


e2e.need_recording()
if browser.why_none():
	e2e.skip(browser.why_none())
e2e.main(at_the_same_time, with_an_unknown_bound, without_clocks, what_has_no_picture)
