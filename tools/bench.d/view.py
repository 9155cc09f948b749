# SPDX-License-Identifier: MIT
"""monitor view of a long trace in a browser: when there is something to see, when all of it, how smoothly it moves; how much
memory the server takes. Beside it, in the same rounds, how long babeltrace2 takes to read the trace once without printing."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from lib import Result, Skip, Spread, run, spawn, stop, trace_info
from read import TOKENS_PER_LOOP

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
import browser  # noqa: E402

TITLE = "view: a trace of 30 million events in a browser"
# Into a place and out again: each frame asks for another window. Answers with the time between frames, in ms.
MOVE = """(async () => {
	const {lanes, setWindow} = monitorView, {ticks} = lanes.source.about, center = ticks * 0.37, apart = [];
	let last = 0;
	for (let i = 0; i < FRAMES; ++i) {
		const now = await new Promise(requestAnimationFrame);
		if (last)
			apart.push(now - last);
		last = now;
		const factor = i < FRAMES / 2 ? 0.94 : 1 / 0.94, {from, to} = lanes.window;
		setWindow(center - (center - from) * factor, center + (to - center) * factor);
	}
	return JSON.stringify(apart);
})()"""


def make_trace(context):
	directory = context.path("viewed")
	load = context.workload("mixed", context.scale(30_000_000, 300_000) // TOKENS_PER_LOOP)
	run(context.record(directory, "--buffer", "1G", command=load))
	return directory, trace_info(context, directory)["summary"]["tokens"]


def bench(context):
	if browser.why_none():
		raise Skip(browser.why_none())
	result = Result(TITLE)
	directory, tokens = make_trace(context)
	seen, whole, apart, memory, babeltrace = [], [], [], [], []
	for _ in range(context.rounds_or(5)):
		page = browser.Browser()
		began = time.monotonic()
		server = spawn([context.monitor, "view", "--no-browser", directory], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
		page.open(server.stdout.readline().strip())
		page.wait("document.querySelector('#overview')?.style.height", 120)
		seen.append(time.monotonic() - began)
		page.wait("globalThis.monitorView?.isReady()", 120)
		whole.append(time.monotonic() - began)
		apart += json.loads(page.run(MOVE.replace("FRAMES", str(context.scale(300, 30)))))
		with open(f"/proc/{server.pid}/status") as status:
			memory.append(next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")))
		page.close()
		server.send_signal(signal.SIGINT)
		stop(server)
		if shutil.which("babeltrace2"):
			began = time.monotonic()
			run(["babeltrace2", "-o", "dummy", directory])
			babeltrace.append(time.monotonic() - began)
	result.table([f"s, {tokens:,} events", "min", "median", "max"], [
		["something to see", *Spread(seen).cells(2)], ["all of it, with the table", *Spread(whole).cells(2)],
		*([["babeltrace2 reads it once", *Spread(babeltrace).cells(2)]] if babeltrace else [])])
	apart.sort()
	late = apart[int(len(apart) * 0.95)]
	result.table(["ms between frames", "median", "95 %", "max"], [["into a place and out again", *(f"{value:.1f}" for value in (apart[len(apart) // 2], late, apart[-1]))]])
	result.bar("something to see", Spread(seen).mid, 1.5, "s", spread=Spread(seen))
	result.bar("all of it, with the table", Spread(whole).mid, 1.5, "s", spread=Spread(whole))
	result.bar("between frames, median", apart[len(apart) // 2], 16.8, "ms")
	result.bar("between frames, 95 %", late, 25, "ms")
	result.bar("memory of the server", Spread(memory).mid, 300, "MB", spread=Spread(memory))
	result.figures = {"tokens": tokens, "seen_s": Spread(seen).json(), "whole_s": Spread(whole).json(), "frames_ms": Spread(apart).json(), "memory_mb": Spread(memory).json()}
	return result
