#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The animation in the page of monitor view: its scenes are those of monitor play, and what keys and the scrubber do."""
import re
import shutil

import browser
import e2e
import play
import view_page

SCENE = "!document.querySelector('#scenes').hidden && document.querySelector('#scenes-state').textContent === '' && monitorView.scenes.shown"
# By CPU what is drawn: who is in its box, and who in its run queue, by name.
DRAWN = """(() => {
	const {stage, shown} = monitorView.scenes, tokens = [...stage.tokens.values()];
	return shown.cpus.map(({cpu, what, waiting}, number) => {
		const box = stage.cpuAt(number), inside = ({to}) => to.x === box.x && to.y === box.y;
		return {cpu, what, waiting, runs: tokens.filter(token => token.kind === 'running' && inside(token)).map(({tid}) => tid),
			queue: tokens.filter(token => token.kind === 'ready' && token.cpu === cpu).sort((a, b) => a.to.x - b.to.x).map(({thread}) => thread.name)};
	});
})()"""
TIME = "monitorView.scenes.shown?.time"


def ticks_of(page, ns):
	return page.run(f"Math.round(({ns} - monitorView.lanes.source.beginNs) / monitorView.lanes.source.nsPerTick)")


def seek(page, ticks):
	page.run(f"(() => {{ const slider = document.querySelector('#scenes-at'); slider.value = {ticks}; slider.dispatchEvent(new Event('input')); }})()")
	page.wait(f"{SCENE} && {TIME} === {ticks}")


def queues_of(text):
	"""By CPU the last column of a frame that is 150 columns wide."""
	lines = text.splitlines()
	start = next(i for i, line in enumerate(lines) if line.startswith(" CPU"))
	return {int(line[:5]): e2e.in_columns(line)[93:].replace("\0", "").strip() for line in lines[start + 1:] if re.match(r" *\d+ ", line[:5])}


def compare(page, trace, ns, exit_code=0):
	"""The scene that is drawn with the frame of monitor play at this time. Returns how many CPUs had a thread, and how
	many waited."""
	text = play.frame(trace.directory, "--at", play.seconds(ns), "--size", "150x60", exit_code=exit_code)
	runs, queues, busy, waiting = play.cpus_of(text, 150), queues_of(text), 0, 0
	for drawn in page.run(DRAWN):
		is_ = drawn["runs"][0] if drawn["runs"] else None if drawn["what"] == "unknown" else 0
		e2e.equal(f"CPU {drawn['cpu']} at {play.seconds(ns)}", is_, runs[drawn["cpu"]])
		queue = e2e.without_marks(" ".join(drawn["queue"][:3]))
		e2e.equal(f"the run queue of CPU {drawn['cpu']} at {play.seconds(ns)}",
		          f"{drawn['waiting']}: {queue} ..." if drawn["waiting"] > 3 else queue, queues[drawn["cpu"]])
		busy += bool(is_)
		waiting += drawn["waiting"]
	return busy, waiting


@e2e.longer
def scenes_are_those_of_play():
	trace = e2e.record("queues", "--force", command=("sh", "-c", f"for i in 1 2 3 4 5; do {e2e.workload} pingpong 3000 & done; wait"))
	switches = play.Switches(trace)
	print(f"seed {play.SEED}")
	served = view_page.Served(trace)
	page = served.page
	page.key("P")
	page.wait(SCENE)
	first = page.run("fetch('scenes?from=0&to=1&steps=1').then(answer => answer.json())")[0]
	e2e.equal("where it begins", page.run(TIME), first.get("known_from", 0))
	seek(page, 0)
	e2e.equal("whether it says that what runs is not known at the start", "what runs is first known at" in page.run("document.querySelector('#scenes-note').textContent"),
	          "known_from" in first)
	busy = waiting = 0
	for at in switches.moments(10):
		seek(page, ticks_of(page, at))
		counts = compare(page, trace, at)
		busy, waiting = busy + counts[0], waiting + counts[1]
		x = page.run("monitorView.lanes.x(monitorView.scenes.shown.time)")
		page.wait(f"Math.abs(document.querySelector('#moment').getBoundingClientRect().x - document.querySelector('#lanes').getBoundingClientRect().x - {x}) < 1.5")
		command = page.run("document.querySelector('#scenes-command').textContent")
		e2e.expect(abs(float(command.split()[-1]) * 1e9 - at) < 2, f"{command}, not {at}")
	e2e.expect(busy > 5 and waiting > 5, f"{busy} CPUs were busy, {waiting} threads waited")
	# The scrubber itself, and scenes that were asked for ahead.
	x, y, width, height = page.place("#scenes-at")
	page.click(x, y)
	total = page.run("monitorView.lanes.source.about.ticks")
	page.wait(f"{SCENE} && Math.abs({TIME} / {total} - 0.5) < 0.05")
	for _ in range(3):
		page.key("-")
		page.wait(SCENE)
	for key, expected in (*((".", 1),) * 5, *((",", -1),) * 8):
		before, step = page.run(f"[{TIME}, monitorView.scenes.step]")
		page.key(key)
		page.wait(f"{SCENE} && {TIME} === {before + expected * step}")
	one = page.run(f"fetch(`scenes?from=${{{TIME}}}&to=${{{TIME} + monitorView.scenes.step}}&steps=1`).then(answer => answer.json())")[0]
	e2e.equal("the same scene alone", page.run("monitorView.scenes.shown"), one)
	served.end()


def unknown_is_hatched():
	"""Where events were lost, and never elsewhere."""
	trace = play.pingpong().copy("damaged")
	stream = max(trace.directory.glob("kernel_cpu*"), key=lambda path: path.stat().st_size)
	data = bytearray(stream.read_bytes())
	begin, end = (len(data) * part // 10 // 4096 * 4096 for part in (4, 6))
	data[begin:end] = bytes(end - begin)
	stream.write_bytes(data)
	# Where among the switches of its CPU the loss is, however short that is within the recording.
	switches = play.Switches(play.pingpong()).times[int(re.search(r"\d+", stream.name)[0])]
	served = view_page.Served(trace)
	page = served.page
	around = [ticks_of(page, switches[len(switches) * part // 20]) for part in (7, 13)]
	page.key("P")
	page.wait(SCENE)
	# Asked for as another page, for of one the newest request counts.
	lost = page.run("(async () => { const source = Object.create(monitorView.lanes.source, {page: {value: 77}}), [begin, end] = %s, found = []; for (let i = 0; i < 10; ++i) "
	                "found.push(...(await source.scenes(Math.floor(begin + (end - begin) * i / 10), Math.floor(begin + (end - begin) * (i + 1) / 10), 60)).filter(({cpus}) => cpus.some(({lost}) => lost)).map(({time}) => time)); return found; })()" % around)
	if not e2e.expect(len(lost) > 10, f"{len(lost)} moments of 600 are in the loss"):
		return
	seek(page, lost[len(lost) // 2])
	ns = page.run(f"Math.floor(monitorView.lanes.source.ns({TIME}))")
	compare(page, trace, ns, exit_code=1)
	# Drawn when all that moves has arrived, without the arrows, which may cross a box; below a box's text.
	found = page.run("""(() => {
		const {stage, shown} = monitorView.scenes;
		stage.arrows = [];
		stage.draw(Infinity, false, 0);
		return shown.cpus.map(({what, mode}, number) => {
			const {x, y, width, height} = stage.cpuAt(number);
			return [what, mode, new Set(new Uint32Array(stage.context.getImageData(x + 10, y + height - 5, width - 20, 3).data.buffer)).size];
		});
	})()""")
	for what, mode, number in found:
		is_unknown = what == "unknown" or what == "thread" and mode == "unknown"
		e2e.expect(number > 1 if is_unknown else number == 1,
		           f"{number} colours where the CPU is {what} {mode}: {page.run('JSON.stringify(monitorView.scenes.shown)')[:2000]}")
	e2e.expect(any(what == "unknown" for what, *_ in found), "no CPU is unknown")
	served.end()


def window_that_moves(held_clock):
	"""A page with a window of 2.1 ms in which much moves. Its animation then takes 10.5 s, at 1/5000 of real time."""
	trace = play.pingpong()
	switches = play.Switches(trace)
	at = max(switches.moments(50), key=lambda at: sum(at < time < at + 2.1e6 for time in switches.all))
	served = view_page.Served(trace, held_clock=held_clock)
	page = served.page
	start = ticks_of(page, at)
	span = page.run("Math.round(2.1e6 / monitorView.lanes.source.nsPerTick)")
	page.run(f"monitorView.setWindow({start}, {start + span})")
	page.wait(view_page.READY)
	return served, page, start, span


def speed(page):
	return int(re.match(r"1/(\d+) of real time", page.run("document.querySelector('#scenes-speed').textContent"))[1])


def passes(page, ms):
	"""This time, when all scenes that were asked for are there."""
	page.wait("monitorView.scenes.loading === null")
	page.pass_time(ms)


def run_until(page, condition, ms=40):
	"""Steps of this time until the condition holds, or the animation has ended; whether it holds."""
	return page.run(f"""(async () => {{
		const {{scenes}} = monitorView;
		while (!({condition}) && scenes.isRunning) {{
			while (scenes.loading)
				await new Promise(resolve => setTimeout(resolve, 1));
			heldClock.ms += {ms};
			await new Promise(requestAnimationFrame);
		}}
		return {condition};
	}})()""")


def it_runs():
	"""By a clock that stands still unless the test moves it: a scene every 40 ms."""
	served, page, start, span = window_that_moves(held_clock=True)
	# From where the mouse is.
	x, y, width, height = page.place("#lanes")
	label = page.run("monitorView.lanes.label")
	page.mouse("mouseMoved", x - width / 2 + label + (width - label) / 4, y)
	page.key("P")
	page.wait(SCENE)
	begin, step = page.run(f"[{TIME}, monitorView.scenes.step]")
	e2e.expect(abs(begin - start - span / 4) < span / 50, f"it begins {begin - start} ticks after {span} ticks' begin")
	e2e.equal("its speed", speed(page), 5000)
	page.key(" ")
	passes(page, 0)  # its first frame
	for ms, scenes in ((0, 0), (40, 1), (40, 2), (20, 2), (20, 3), (80, 5), (60_000, 10)):  # at most 200 ms in one frame
		passes(page, ms)
		e2e.equal(f"scenes after {ms} ms", page.run(f"({TIME} - {begin}) / {step}"), scenes)
	for condition in ("[...scenes.stage.tokens.values()].some(token => token.since > 0 && token.from.x !== token.to.x)", "scenes.stage.arrows.length > 0",
	                  "document.querySelectorAll('#scenes-messages li').length === 8"):
		e2e.expect(run_until(page, condition), f"until its end never: {condition}")
	run_until(page, "scenes.moves && [...scenes.stage.tokens.values()].some(token => token.since === heldClock.ms)")
	page.key(" ")
	e2e.equal("paused", page.run("monitorView.scenes.isRunning"), False)
	stays = page.run(TIME)
	for ms, moves in ((0, True), (139, True), (1, False), (1000, False)):
		passes(page, ms)
		e2e.equal(f"whether threads move {ms} ms later", page.run("monitorView.scenes.moves"), moves)
	e2e.equal("where it stays", page.run(TIME), stays)
	e2e.expect("CPU 0: " in page.run("document.querySelector('#stage').ariaLabel"), "it has no words")
	page.key("+")
	e2e.equal("its speed after +", speed(page), 2000)
	page.wait(SCENE)
	e2e.equal("where it is after +", page.run(TIME), stays)
	for _ in range(6):
		page.key("+")
	e2e.equal("its speed after seven of them", speed(page), 20)
	page.key("-")
	page.wait(SCENE)
	page.run(f"monitorView.scenes.seek({start})")
	page.wait(f"{SCENE} && {TIME} === {start}")
	page.key(" ")
	e2e.expect(run_until(page, "!scenes.isRunning"), "it has no end")
	page.wait(SCENE)
	step = page.run("monitorView.scenes.step")
	e2e.equal("where it ends", page.run(TIME), start + span // step * step)
	page.key(" ")  # and from its begin again
	page.wait(f"{SCENE} && {TIME} === {start}")
	e2e.equal("whether it runs again", page.run("monitorView.scenes.isRunning"), True)
	e2e.expect(run_until(page, "!scenes.isRunning"), "it has no second end")
	ended = page.run(TIME)
	for _ in range(6):
		page.key("-")
	page.wait(SCENE)
	page.key(" ")  # slower, there are scenes before the window's end
	passes(page, 0)
	passes(page, 40)
	e2e.equal("what is after its end, with smaller steps", page.run(f"[{TIME}, monitorView.scenes.isRunning]"), [ended + page.run("monitorView.scenes.step"), True])
	page.key("P")
	e2e.equal("closed", page.run("[document.querySelector('#scenes').hidden, document.querySelector('#moment').hidden, monitorView.scenes.isRunning]"), [True, True, False])
	# With less motion: nothing is between its places, and a scene stays for half a second.
	page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
	page.key("P")
	page.wait(SCENE)
	page.key(" ")
	passes(page, 0)
	for ms, scenes in ((200, 0), (200, 0), (100, 1), (200, 1), (200, 1), (200, 2)):
		passes(page, ms)
		e2e.equal("scenes with less motion", page.run("monitorView.scenes.index"), scenes)
	e2e.expect(page.run("[...monitorView.scenes.stage.tokens.values()].every(({from, to}) => from.x === to.x && from.y === to.y)"), "threads move")
	page.key("Escape")
	page.wait("document.querySelector('#scenes').hidden")
	served.end()


def it_keeps_pace_with_the_clock():
	"""In real time: between two frames of the browser, whenever they come, as much passes as between their times."""
	served, page, start, span = window_that_moves(held_clock=False)
	page.key("P")
	for _ in range(3):
		page.key("+")
	page.wait(f"{SCENE} && monitorView.scenes.loading === null")
	last = page.run("monitorView.scenes.last")
	e2e.equal("scenes that are there", page.run("monitorView.scenes.cache.size"), last + 1)
	frames = page.run("""(async () => {
		const {scenes} = monitorView, frames = [];
		await new Promise(requestAnimationFrame);
		scenes.run(true);
		do {
			const now = await new Promise(requestAnimationFrame);
			frames.push([now, scenes.at]);
		} while (scenes.isRunning);
		return frames;
	})()""")
	e2e.expect(len(frames) > last / 5, f"{len(frames)} frames for {last} scenes")  # of at most 200 ms
	e2e.equal("where it begins", frames[0][1], 0)
	for (before, from_), (now, at) in zip(frames, frames[1:]):
		expected = min(from_ + min(now - before, 200) / 40, last)
		e2e.expect(abs(at - expected) < 1e-6, f"from scene {from_} on to {at} in {now - before} ms")
	e2e.equal("where it ends", frames[-1][1], last)
	served.end()


def hostile_names():
	trace = view_page.record()
	served = view_page.Served(trace)
	page = served.page
	page.key("P")
	page.wait(SCENE)
	total, seen = page.run("monitorView.lanes.source.about.ticks"), set()
	for part in range(1, 20):
		seek(page, total * part // 20)
		seen.update(page.run("monitorView.scenes.shown.threads.map(thread => thread.name)"))
		seen.update(page.run("[...document.querySelectorAll('#scenes-messages li')].map(line => line.textContent)"))
		e2e.equal("elements made of names", page.run("document.querySelectorAll('#scenes b, #scenes svg, #scenes li *, #scenes output *').length"), 0)
	e2e.expect(any(name in text for text in seen for name in ("</script><b>", '"><svg onload')), f"no hostile name was seen: {seen}")
	served.end()


def with_a_layout():
	trace = e2e.record("pipeline", "--force", command=("sh", "-c", "timeout 0.3 yes | tr y n | wc -c"))
	ends = [event["time_ns"] for event in trace.events("--event", "sched_switch") if event["comm"] == "tr"]
	at = ends[len(ends) // 2] + 20
	served = view_page.Served(trace, options=("--layout", "pipeline"))
	page = served.page
	page.key("P")
	page.wait(SCENE)
	page.run("document.querySelector('#scenes-at').focus()")
	while page.run("document.querySelector('#scenes-speed').textContent") != "1/1000 of real time":
		page.key("-")
	seek(page, ticks_of(page, at))
	text = play.frame(trace.directory, "--layout", "pipeline", "--at", play.seconds(at), "--speed", "1/1000", "--size", "120x30")
	rows = text.splitlines()
	box = next(i for i, row in enumerate(rows) if "┌─producer─" in row)
	theirs = [re.findall(r" (\d+\+?) ", rows[row]) for row in (box, box + 3)]
	arrows = page.run("monitorView.lanes.source.about.layout.arrows.map(({from, to}, i) => [from, to, monitorView.scenes.shown.arrows[i].count])")
	e2e.equal("messages to the right", [count for begin, end, count in arrows if end > begin], theirs[0])
	e2e.equal("messages to the left", [count for begin, end, count in arrows if end < begin], theirs[1])
	e2e.expect(any(count != "0" for *_, count in arrows), f"{arrows}")
	for name, who in zip(("producer", "filter", "consumer"), page.run("monitorView.scenes.shown.boxes.map(box => box.who)")):
		e2e.expect(f"│ {who}" in text, f"{name}: {who} is not in\n{text}")
	boxes = page.run("monitorView.scenes.stage.boxes")
	e2e.expect(boxes[0]["y"] == boxes[2]["y"] and boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"] and boxes[1]["x"] + boxes[1]["width"] < boxes[2]["x"], f"{boxes}")
	e2e.expect(page.run("[...monitorView.scenes.stage.tokens.values()].filter(token => token.kind === 'sleeping').every(({to, thread}) => "
	                    "{ const {x, y, width, height} = monitorView.scenes.stage.boxes[thread.box]; return to.x > x && to.x + to.width < x + width && to.y > y && to.y + to.height < y + height; })"),
	           "a thread sleeps outside of its box")
	served.end()
	for options, says in ((("--layout", "none"), "pipeline"), (("--layout", "pipeline", "-o", e2e.work / "page.html"), "--layout")):
		done = e2e.run(e2e.monitor, "view", trace.directory, *options, exit_code=1)
		e2e.expect(says in done.stderr and done.stderr.count("\n") == 1, f"{options}: {done.stderr}")


@e2e.longer
def a_written_page_has_none():
	trace = play.pingpong()
	file = e2e.work / "written.html"
	e2e.run(e2e.monitor, "view", trace.directory, "-o", file)
	page = browser.Browser()
	page.open(f"file://{file}")
	page.wait(view_page.READY)
	page.key("P")
	page.key(" ")
	page.key(".")
	e2e.equal("its parts", page.run("['scenes', 'scenes-button', 'moment'].filter(id => !document.getElementById(id).hidden)"), [])
	e2e.equal("what the page complains about", page.complaints, [])
	page.close()


e2e.need_recording()
if browser.why_none() or not shutil.which("tr"):
	e2e.skip(browser.why_none() or "there is no tr")
e2e.main(scenes_are_those_of_play, unknown_is_hatched, it_runs, it_keeps_pace_with_the_clock, hostile_names, with_a_layout, a_written_page_has_none)
