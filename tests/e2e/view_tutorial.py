#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Documentation/tutorial-view.md is true: its block is run, and then the page is clicked through as its steps say.

    <!-- click: SELECTOR | REGEX -->       the first element with such a text; with "row: REGEX" of a row with such a text
    <!-- shows: SELECTOR | REGEX -->       an element has such a text
    <!-- type: TEXT -->                    into the search field"""
import atexit
import json
import os
import pathlib
import re
import signal
import subprocess

import browser
import e2e

READY = "globalThis.monitorView?.isReady()"
TUTORIAL = pathlib.Path(__file__).resolve().parents[2] / "Documentation" / "tutorial-view.md"
STEP = re.compile(r"^<!-- (click|shows|type): (.*?) -->$", re.M)
# The first element of `selector` with a text like `wanted`.
FIND = """(selector, wanted) => {
	const ofRow = wanted.startsWith('row: '), pattern = new RegExp(ofRow ? wanted.slice(5) : wanted);
	return [...document.querySelectorAll(selector)].find(element => pattern.test((ofRow ? element.closest('tr') : element).textContent));
}"""


def run_block(text):
	"""With `monitor` and a `sudo` on PATH; the test is root already."""
	block = re.search(r"^```sh run\n(.*?)^```$", text, re.M | re.S).group(1)
	os.symlink(os.path.abspath(e2e.monitor), e2e.work / "monitor")
	(e2e.work / "sudo").write_text('#!/bin/sh\nexec "$@"\n')
	os.chmod(e2e.work / "sudo", 0o755)
	subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=e2e.work, check=True, timeout=60,
	               env=os.environ | {"PATH": f"{e2e.work}:{os.environ['PATH']}"})


def to_the_cause():
	text = TUTORIAL.read_text()
	run_block(text)
	server = subprocess.Popen([e2e.monitor, "view", "--no-browser", e2e.work / "stall"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
	atexit.register(server.kill)
	page = browser.Browser()
	page.open(server.stdout.readline().strip())
	page.wait(READY)
	steps = STEP.findall(text)
	e2e.expect(len([kind for kind, _ in steps if kind == "shows"]) >= 5, f"{len(steps)} steps")
	for kind, what in steps:
		if kind == "type":
			page.key("/")
			page.type(what)
			page.key("Escape")
		else:
			selector, wanted = (part.strip() for part in what.split("|", 1))
			found = f"({FIND})({json.dumps(selector)}, {json.dumps(wanted)})"
			try:
				page.wait(f"{READY} && {found} !== undefined", 20)
			except TimeoutError as error:
				told = page.run(f"[...document.querySelectorAll({json.dumps(selector)})].map(element => element.textContent).slice(-30)")
				e2e.expect(False, f"{kind}: {what}: {error}; there are {told}")
			if kind == "click":
				page.run(f"{found}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
		page.wait(READY)
	if os.environ.get("SCREENSHOT"): # of the documentation
		page.screenshot(os.environ["SCREENSHOT"])
	e2e.equal("what the page complains about", page.complaints, [])
	page.close()
	server.send_signal(signal.SIGINT)
	server.wait(20)


e2e.need_recording()
if browser.why_none():
	e2e.skip(browser.why_none())
e2e.main(to_the_cause)
