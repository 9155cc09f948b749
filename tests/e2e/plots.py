#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--plot and --svg of report and stat: bars are as long as the JSON says, what is unknown is said, pictures are XML.

plots.py MONITOR PROGRAMS WORK
"""
import json
import os
import re
import shutil
import xml.etree.ElementTree

import e2e

UNICODE = dict(os.environ, LC_ALL="C.UTF-8")
ASCII = dict(os.environ, LC_ALL="C")
SVG = "{http://www.w3.org/2000/svg}"
trace = None


def plot(*options, env=None, exit_code=0):
	return e2e.run(e2e.monitor, *options, "--plot", env=env or ASCII, exit_code=exit_code)


def bars(text):
	"""The length of each bar, known and unknown, by the text before it."""
	found = [re.fullmatch(r"(.*?\S)  +(#*)(\?*)", line) for line in text.splitlines()]
	return {" ".join(match[1].split()): (len(match[2]), len(match[3])) for match in found if match and (match[2] or match[3])}


def picture(path):
	return xml.etree.ElementTree.parse(path).getroot()


def rectangles(root, kind):
	return [rectangle for rectangle in root.iter(SVG + "rect") if rectangle.get("class") == kind]


def record():
	global trace
	e2e.need_recording()
	trace = e2e.record("trace", "--force", "-e", "sched,syscall,irq", "--count", "switches=name == \"sched_switch\"",
	                   "--time", "calls=name == \"sys_enter\" .. name == \"sys_exit\" per tid", "--every", "20ms",
	                   command=("sh", "-c", "for i in 1 2 3 4 5 6; do ls / > /dev/null; sleep 0.02; done; dd if=/dev/zero of=/dev/null bs=1k count=20000 2> /dev/null"))


def bars_are_those_of_json():
	rows = trace.rows("--top", "12")
	drawn = bars(plot("report", trace.directory, "--top", "12").stdout)
	largest = rows[0]["cpu_ns"]
	width = sum(max(drawn.values(), key=sum))
	e2e.expect(width > 30, f"the longest bar has {width} characters")
	compared = 0
	for row in rows:
		label = [text for text in drawn if f" ({row['pid']})" in text]  # a name of any bytes is printed with escapes
		e2e.equal(f"bars of {row['process']!r} ({row['pid']})", len(label), 1 if row["cpu_ns"] else 0)
		if label:
			e2e.expect(abs(sum(drawn[label[0]]) - width * row["cpu_ns"] / largest) <= 1.5, f"{label}: {drawn[label[0]]} of {width}, {row}")
			compared += 1
	e2e.expect(compared >= 5, f"only {compared} bars were compared")


def picture_is_that_of_json():
	file = e2e.work / "report.svg"
	rows = json.loads(e2e.run(e2e.monitor, "report", trace.directory, "syscalls", "--top", "9", "--json", "--svg", file).stdout)["rows"]
	root = picture(file)
	widths = [float(rectangle.get("width")) for rectangle in rectangles(root, "bar")]
	e2e.equal("bars", len(widths), len(rows))
	for row, width in zip(rows, widths):
		e2e.expect(abs(width - max(widths) * row["total_ns"] / rows[0]["total_ns"]) <= 1.1, f"{width} of {max(widths)}: {row}")
	labels = [text.text for text in root.iter(SVG + "text")]
	e2e.expect("report syscalls: total by process, call" in labels, f"the title: {labels[:3]}")
	e2e.expect(all(any(row["call"] in (label or "") for label in labels) for row in rows), f"a call has no label: {labels}")


def unicode_and_ascii():
	one, other = plot("report", trace.directory, env=UNICODE).stdout, plot("report", trace.directory).stdout
	e2e.expect("█" in one and "#" not in one.split("\n\n")[1], "no blocks in a locale with Unicode")
	e2e.expect("█" not in other and "#" in other, "blocks in a locale without Unicode")
	e2e.expect("CPU time by process" in other and "tokens, lost" in other, "the title or the summary is missing")
	e2e.equal("the locale is that of LC_ALL", "█" in plot("report", trace.directory, env=dict(ASCII, LANG="de_DE.UTF-8")).stdout, False)
	# other tests run programs with wide names, and with marks that take no column
	width = max(len(e2e.in_columns(line)) for line in one.split("\n\n")[1].splitlines())
	e2e.equal("width where there is no terminal", width, 80)


def another_column():
	rows = trace.rows("--sort", "voluntary", "--top", "3")
	text = plot("report", trace.directory, "--sort", "voluntary", "--top", "3").stdout
	e2e.expect("vol by process" in text, text)
	for row in rows:
		e2e.expect(re.search(rf"\({row['pid']}\) +{row['voluntary']}  #", text), f"{row}: {text}")


def distributions():
	text = plot("report", trace.directory, "counts").stdout
	times = trace.report("counts")["times"][0]
	section = text.split("report counts: calls\n")[1].split("\n\n")[0]
	counts = [int(number.replace(",", "")) for number in re.findall(r"\.\. +\S+ \S+ +([\d,]+)", section)]
	e2e.equal("values in the bins", sum(counts), times["number"])
	file = e2e.work / "stat.svg"
	answer = json.loads(e2e.run(e2e.monitor, "stat", trace.directory, "--table", "runqueue", "--histogram", "--json", "--svg", file).stdout)
	rows = sorted((row["count"] for row in answer["activities"][0]["rows"]), reverse=True)
	titles = [text.text for text in picture(file).iter(SVG + "text") if text.get("class") == "title"]
	e2e.equal("charts: the rows, and the distribution of each", len(titles), 1 + len(rows))
	text = plot("stat", trace.directory, "--table", "runqueue", "--histogram", "--top", "1").stdout
	counts = [int(number.replace(",", "")) for number in re.findall(r"\.\. +\S+ \S+ +([\d,]+)", text)]
	e2e.equal("values of the row with the most", sum(counts), rows[0])


def series():
	rows = trace.rows("counts", "--by", "time")
	text = plot("report", trace.directory, "counts", "--by", "time").stdout
	e2e.expect(len(rows) >= 4 and "over time" in text and "switches, 0 to" in text, text)
	largest = max(row["switches"] for row in rows)
	first = text.splitlines()[text.splitlines().index(next(line for line in text.splitlines() if line.startswith("switches"))) + 1]
	wide = 78 // len(rows)
	columns = {place // wide for place, c in enumerate(first[2:]) if c == "#"}
	e2e.expect([row["switches"] for row in rows].index(largest) in columns, f"the largest value is not the highest column: {first!r}, {rows}")
	file = e2e.work / "series.svg"
	e2e.run(e2e.monitor, "report", trace.directory, "counts", "--by", "time", "--svg", file)
	e2e.expect(sum(path.get("class") == "line" for path in picture(file).iter(SVG + "path")) >= 2, "no lines")


def unknown_is_said():
	"""A recording of one family knows nothing of waiting: no bar, and no 0."""
	blind = e2e.record("blind", "--force", "-e", "syscall", command=("true",))
	text = plot("report", blind.directory, "--sort", "minor_faults", "--top", "3").stdout
	lines = [line for line in text.splitlines() if re.search(r"\(\d+\) ", line)]
	e2e.expect(lines and all(line.endswith("unknown") for line in lines), text)


def losses_are_in_the_picture():
	"""The picture says what the text says."""
	killed = trace.copy("killed")
	path = killed.directory / ".monitor/recording.json"
	path.write_text(json.dumps({**trace.recording(), "state": "incomplete"}))
	file = e2e.work / "killed.svg"
	said = lambda: " ".join(text.text or "" for text in picture(file).iter(SVG + "text"))
	for command in (("report", killed.directory), ("report", killed.directory, "--json"), ("stat", killed.directory), ("stat", killed.directory, "--csv")):
		done = e2e.run(e2e.monitor, *command, "--svg", file)
		e2e.expect("this trace is incomplete" in said() and ("lost unknown" in said() or command[0] == "stat"), f"{command}: {said()}")
		e2e.expect("this trace is incomplete" in done.stdout + done.stderr or "--json" in command, f"{command}: {done.stdout[-300:]}{done.stderr}")
	e2e.run(e2e.monitor, "report", trace.directory, "--svg", file)
	e2e.expect("tokens, lost 0" in said() and "incomplete" not in said(), said())
	archive = e2e.work / "archive"
	e2e.run(e2e.monitor, "archive", "add", killed.directory, "a/b/c", "--archive", archive)
	e2e.run(e2e.monitor, "archive", "history", "a", "--svg", file, "--archive", archive)
	e2e.expect("1 of 1 recordings lost events" in said(), said())
	values = archive / "a/b/c/measurement.json"
	for number in (1.5e308, -1.5e308, 5e-324):
		shutil.copytree(archive / "a/b/c", archive / f"a/b/{number}", symlinks=True)
		(archive / f"a/b/{number}/measurement.json").write_text(json.dumps({**json.loads(values.read_text()), "figures": {"p99 of read": number}}))
	e2e.run(e2e.monitor, "archive", "history", "a", "--figure", "p99 of read", "--plot", "--svg", file, "--archive", archive, timeout=20)
	e2e.expect("nan" not in file.read_text() and "inf" not in file.read_text(), "the picture has places that are no numbers")


def a_full_disk_keeps_the_old_picture():
	disk = e2e.work / "disk"
	disk.mkdir()
	script = ("mount -t tmpfs -o size=16k tmpfs \"$1\" || exit 9; echo old > \"$1/x.svg\"; head -c 8000 /dev/zero > \"$1/fill\";"
	          " \"$2\" report \"$3\" --svg \"$1/x.svg\" > /dev/null; code=$?; cat \"$1/x.svg\"; ls \"$1\"; exit $code")
	done = e2e.run(*e2e.own_mounts(), "sh", "-c", script, "sh", disk, e2e.monitor, trace.directory, exit_code=None)
	if done.returncode == 9:
		return e2e.leave_out("a full disk", done.stderr)
	e2e.equal("the old one", (done.returncode, done.stdout), (1, "old\nfill\nx.svg\n"))
	e2e.expect("No space left" in done.stderr, done.stderr)


def refused():
	nowhere = e2e.work / "missing" / "file.svg"
	for options, words, code in (
			(("report", trace.directory, "--plot", "--json"), "excludes", 2), (("report", trace.directory, "--plot", "--csv"), "excludes", 2),
			(("report", trace.directory, trace.directory, "--svg", e2e.work / "two.svg"), "one trace", 2),
			(("report", trace.directory, "--plot", "--sort", "process"), "cannot be drawn", 1),
			(("report", trace.directory, "--svg", nowhere), "cannot open", 1), (("report", trace.directory, "--svg", ""), "empty", 2),
			(("stat", trace.directory, "--svg", nowhere), "cannot open", 1), (("stat", trace.directory, "--json", "--plot"), "excludes", 2)):
		done = e2e.run(e2e.monitor, *options, exit_code=code)
		e2e.expect(words in done.stderr and done.stderr.count("\n") == 1, f"{options}: {done.stderr}")


def hostile_names():
	"""The name of a thread is any bytes."""
	script = "exec -a x python3 -c 'import sys\nopen(\"/proc/self/comm\", \"wb\").write(b\"</svg>&\\x1b[31m\\xff\")\nsum(range(3000000))'"
	hostile = e2e.record("hostile", "--force", "-e", "sched", command=("bash", "-c", script))
	file = e2e.work / "hostile.svg"
	done = e2e.run(e2e.monitor, "report", hostile.directory, "--plot", "--svg", file, env=UNICODE)
	e2e.expect("\x1b" not in done.stdout and "</svg>&" in done.stdout, done.stdout)
	e2e.expect(any("</svg>&" in (text.text or "") for text in picture(file).iter(SVG + "text")), "the name is not in the picture")


if __name__ == "__main__":
	e2e.main(record, bars_are_those_of_json, picture_is_that_of_json, unicode_and_ascii, another_column, distributions, series, unknown_is_said, losses_are_in_the_picture,
	         a_full_disk_keeps_the_old_picture, refused, hostile_names)
