#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""speedscope's own page opens what monitor convert wrote, and shows what monitor report has: the profiles with their sums,
the functions with their numbers. The page comes from npm.
"""
import os
import re
import sys

import browser
import e2e
import npm

PACKAGE, SHA256 = "speedscope@1.25.0", "2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03"
NS = {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1}
PROFILES = "[...document.querySelectorAll('tr[title]')].map(row => [...row.children].map(cell => cell.textContent))"
# The list of functions has lines only for those in sight, and room for all.
FUNCTIONS = "[...document.querySelectorAll('table:not(:has(th)) tr:not([title])')].map(row => [...[...row.children].map(cell => cell.textContent), row.lastChild.title])"
LINES = "(list => list ? list.parentElement.parentElement.offsetHeight / list.querySelector('tr').offsetHeight : 0)(document.querySelector('table:not(:has(th)):has(tr:not([title]))'))"
HOSTILE = b"\xff\x1b[2J;\n\"<b>"


class Speedscope:
	def __init__(self, trace):
		self.file = e2e.work / f"{trace.directory.name}.speedscope.json"
		e2e.run(e2e.monitor, "convert", trace.directory, "--to", "speedscope", "-o", self.file)
		self.page = browser.Browser()
		self.page.open(f"file://{PAGE / 'dist/release/index.html'}#view=sandwich")
		self.page.wait("document.querySelectorAll('#file').length")
		self.page.run("window.alert = console.error")  # how the page says what it cannot read
		self.page.call("DOM.enable")
		root = self.page.call("DOM.getDocument")["root"]["nodeId"]
		node = self.page.call("DOM.querySelector", nodeId=root, selector="#file")["nodeId"]
		self.page.call("DOM.setFileInputFiles", nodeId=node, files=[str(self.file)])
		self.page.wait(f"{LINES} > 0", 20)

	def profiles(self):
		"""By name, the sum as a text."""
		return {name: total for _, name, total in self.page.run(PROFILES)}

	def end(self):
		e2e.equal("what the page complains about", self.page.complaints, [])
		self.page.close()


def agrees(text, value, is_time):
	"""Whether a text of the page is this number, as far as its digits say. The times of stacks are rounded, not their sums."""
	if not is_time:
		return text == f"{value:,}"
	if minutes := re.fullmatch(r"(\d+):(\d\d)", text):
		return int(minutes[1]) * 60 + int(minutes[2]) == value // 10**9
	shown = re.fullmatch(r"([\d.]+)(\D+)", text)
	return abs(float(shown[1]) * NS[shown[2]] - value) <= 0.0051 * NS[shown[2]] + 50


def functions_agree(what, lines, rows, is_time):
	"""The lines that the page shows, against those of the report."""
	unit = "_ns" if is_time else ""
	ours = {(row["function"], row["module"] or ""): row for row in rows}
	found = 0
	for total, self_, *name in lines:
		texts = [text.rsplit(" ", 1)[0] for text in (total, self_)]
		row = ours.get(tuple(name))
		if not row:
			continue  # a process, which is no function
		e2e.expect(agrees(texts[0], row["total" + unit], is_time) and agrees(texts[1], row["self" + unit], is_time), f"{what}: {name} has {texts}, not {row}")
		found += 1
	e2e.expect(found > 5, f"{what}: only {found} functions were compared: {lines}")
	e2e.expect(agrees(lines[0][1].rsplit(" ", 1)[0], rows[0]["self" + unit], is_time), f"{what}: the largest is {lines[0]}, not {rows[0]}")


def stacks():
	trace = e2e.record("stacks", "--force", "--stacks=cpu,offcpu,wake", command=(os.path.join(e2e.programs, "stack_load"), "0.5"))
	speedscope = Speedscope(trace)
	page, profiles = speedscope.page, speedscope.profiles()
	e2e.expect(list(profiles)[:3] == ["cpu", "offcpu", "wait"], f"profiles: {profiles}")
	for place, (by, total) in enumerate(profiles.items()):
		report = trace.report("stacks", "--by", by, "--top", "0")
		is_time = "total_ns" in report["stacks"]
		e2e.expect(agrees(total, report["stacks"]["total_ns" if is_time else "total"], is_time), f"sum of {by}: {total}, not {report['stacks']}")
		page.wait(f"document.body.innerText.includes('{by} ({place + 1}/{len(profiles)})')")
		if by in ("cpu", "offcpu"):
			functions_agree(by, page.run(FUNCTIONS), report["rows"], is_time)
			folded = e2e.run(e2e.monitor, "report", trace.directory, "stacks", "--all", "--by", by, "--folded").stdout
			processes = {line.split(";", 1)[0] for line in folded.splitlines()}
			if not is_time:  # what is less than 1 us is not in folded stacks
				e2e.equal(f"functions of {by}", page.run(LINES), len(report["rows"]) + len(processes))
		page.key("n")
	speedscope.end()


def hostile_waits():
	"""Without stacks: what threads waited for. A name is text, whatever is in it."""
	script = f"import ctypes, time\nctypes.CDLL(None).prctl(15, {HOSTILE!r}, 0, 0, 0)\nfor _ in range(20):\n\ttime.sleep(0.02)\n"
	trace = e2e.record("waits", "--force", command=(sys.executable, "-c", script))
	speedscope = Speedscope(trace)
	slept = sum(row["total_ns"] for row in trace.rows("offcpu", "--top", "0", "--pid", str(trace.recording()["command_pid"])))
	lines = speedscope.page.run(FUNCTIONS)
	e2e.expect(any("[2J" in name and "<b>" in name and agrees(total.rsplit(" ", 1)[0], slept, True) for total, _, name, _ in lines),
	           f"the hostile name, or its {slept} ns: {lines}")
	e2e.equal("elements made of names", speedscope.page.run("document.querySelectorAll('b').length"), 0)
	speedscope.end()


e2e.need_recording()
if browser.why_none():
	e2e.skip(browser.why_none())
PAGE = npm.package(PACKAGE, SHA256)
e2e.main(stacks, hostile_waits)
