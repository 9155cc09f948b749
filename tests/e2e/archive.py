#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitor archive: figures are those of report and stat, writers at once, killed ones, damage, hostile names, other tools.

archive.py MONITOR PROGRAMS WORK
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import e2e

SYNCS = "for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=file bs=4k count=1 conv=fsync 2> /dev/null; done; ls / > /dev/null"
archive = e2e.work / "archive"
trace = other = None


def run(*words, exit_code=0, **options):
	return e2e.run(e2e.monitor, "archive", *words, "--archive", archive, exit_code=exit_code, **options)


def answer(*words, exit_code=0):
	return json.loads(run(*words, "--json", exit_code=exit_code).stdout)


def add(name, directory=None, *options, exit_code=0):
	return run("add", directory or trace.directory, name, *options, exit_code=exit_code)


def names(*words):
	return [row["name"] for row in answer("list", *words)]


def refused(words, *command, exit_code=1):
	done = run(*command, exit_code=exit_code)
	e2e.expect(words in done.stderr, f"{command}: {done.stderr}")
	e2e.expect("\x1b" not in done.stderr, f"{command}: {done.stderr!r}")


def record():
	global trace, other
	e2e.need_recording()
	shutil.rmtree(archive, ignore_errors=True)
	trace = e2e.record("trace", "--force", "-e", "sched,syscall", "-p", "cmd", "--note", "from the recording", command=("sh", "-c", SYNCS), cwd=e2e.work)
	other = e2e.record("other", "--force", "-e", "sched", command=("sleep", "0.05"))


def facts_are_those_of_the_trace():
	printed = add("db/base/run 1").stdout.strip()
	e2e.expect(os.path.isfile(os.path.join(printed, "metadata")), f"there is no trace {printed!r}")
	add("db/base/ünï «2»", None, "--note", "another one")
	recording, rows = trace.recording(), {row["name"]: row for row in answer("list")}
	e2e.equal("names", set(rows), {"db/base/run 1", "db/base/ünï «2»"})
	row = rows["db/base/run 1"]
	for key in ("date", "host", "kernel", "user"):
		e2e.equal(key, row[key], recording[key])
	e2e.expect("dd if=/dev/zero" in row["command"] and SYNCS[-20:] in row["command"], row["command"])
	text = run("list").stdout
	e2e.expect("dd if=/dev/zero" in text and "…" in text and SYNCS[-20:] not in text, f"a long command is cut in text: {text}")
	summary = trace.report()["summary"]
	e2e.equal("elapsed", row["elapsed_ns"], summary["wall_ns"])
	e2e.equal("lost, tokens", (row["lost"], row["tokens"]), (summary["lost"], summary["tokens"]))
	e2e.equal("notes", (row["note"], rows["db/base/ünï «2»"]["note"]), ("from the recording", "another one"))
	e2e.equal("the copy is the trace", json.loads(e2e.run(e2e.monitor, "report", "--json", row["trace"]).stdout)["rows"], trace.report()["rows"])
	run("note", "db/base/run 1", "changed")
	run("note", "db", "the database")
	e2e.equal("a new note", answer("list", "db/base/run 1")[0]["note"], "changed")
	e2e.expect("note: the database" in run("show", "db").stdout, "the project's note is missing")


def figures_are_those_of_report_and_stat():
	chosen = [f"{statistic} of fsync" for statistic in ("p50", "p90", "p99", "min", "mean", "max", "total", "count")] + ["cpu of dd", "elapsed"]
	run("figures", "db", "--figure", "p99 of sys_enter_fsync", *(word for figure in chosen for word in ("--figure", figure)))
	rows = answer("history", "db")
	calls = json.loads(e2e.run(e2e.monitor, "stat", trace.directory, "--json", "--start", 'name == "sys_enter"', "--end", 'name == "sys_exit"',
	                           "--key", "tid", "--by", "id").stdout)["activities"][0]["rows"]
	stat = next(row for row in calls if row["id"] == "fsync")
	e2e.equal("rows", len(rows), 2)
	e2e.equal("fsyncs", stat["count"], 8)
	for row in rows:
		e2e.equal("count", row["count of fsync"], stat["count"])
		for statistic in ("p50", "p90", "p99", "min", "mean", "max", "total"):
			e2e.expect(abs(row[f"{statistic} of fsync"] - stat[f"{statistic}_ns"]) <= 2, f"{statistic}: {row}, {stat}")
		e2e.equal("CPU time", row["cpu of dd"], trace.rows("--by", "command", command="dd")[0]["cpu_ns"])
		e2e.equal("elapsed", row["elapsed"], trace.report()["summary"]["wall_ns"])
	calls = [row for row in trace.rows("syscalls", call="fsync")]
	e2e.equal("total of all processes", round(sum(row["total_ns"] for row in calls) / 1e4), round(rows[0]["total of fsync"] / 1e4))
	added = add("db/base/3")
	kept = json.loads(run("show", "db/base/3", "--json").stdout)["figures"]
	e2e.equal("computed when it was added", kept["p99 of fsync"], rows[0]["p99 of fsync"])
	e2e.equal("one figure once", len(kept), len(chosen))
	e2e.equal("elapsed once", run("show", "db/base/3").stdout.count("\nelapsed "), 1)
	e2e.equal("nothing is said", added.stderr, "")


def unknown_is_not_zero():
	"""A recording without system calls does not know how many there were; one with them knows that there was none."""
	add("db/blind/1", other.directory)
	row = answer("history", "db/blind", "--figure", "count of fsync", "--figure", "p99 of fsync", "--figure", "cpu of nobody")[0]
	e2e.equal("without system calls", (row["count of fsync"], row["p99 of fsync"], row["cpu of nobody"]), (None, None, None))
	row = answer("history", "db/base/3", "--figure", "count of swapoff", "--figure", "p99 of swapoff")[0]
	e2e.equal("without any such call", (row["count of swapoff"], row["p99 of swapoff"]), (0, None))
	done = run("history", "db", "--figure", "count of reed", "--json", exit_code=1)
	e2e.equal("of a call that does not exist", {row["count of reed"] for row in json.loads(done.stdout)}, {None})
	e2e.equal("what is said of it", done.stderr, "monitor: no measurement has calls named reed\n")
	e2e.expect("reed" not in (archive / "db/base/3/measurement.json").read_text(), "it is kept")
	text = run("history", "db", "--figure", "p99 of fsync", "--plot", env=dict(os.environ, LC_ALL="C")).stdout
	lines = {line.split(",")[0]: line for line in text.splitlines()}
	e2e.expect(lines["db/blind/1"].endswith("unknown") and lines["db/base/3"].endswith("#"), text)


def find_and_compare():
	day = trace.recording()["date"][:10]
	found = lambda text: {row["name"] for row in answer("find", text)}
	with_dd = {"db/base/run 1", "db/base/ünï «2»", "db/base/3"}
	e2e.equal("by command and date", found(f'command ~ "*dd if*" and date >= {day} and date > 2026-01-01'), with_dd)
	e2e.equal("later", found(f"date > {day}"), set())
	e2e.equal("by figure", found("`count of fsync` == 8"), with_dd)
	e2e.equal("by an unknown figure", found("`count of fsync` != 8"), set())
	e2e.equal("by name", found('experiment == "base" and measurement == "3"'), {"db/base/3"})
	rows = {row["figure"]: row for row in answer("compare", "db/base/3", "db/blind/1", "--figure", "elapsed", "--figure", "p99 of fsync")}
	one, two = trace.report()["summary"]["wall_ns"], other.report()["summary"]["wall_ns"]
	e2e.equal("difference", (rows["elapsed"]["difference"], rows["elapsed"]["ratio"]), (two - one, two / one))
	e2e.equal("with an unknown one", (rows["p99 of fsync"]["second"], rows["p99 of fsync"]["difference"], rows["p99 of fsync"]["ratio"]), (None,) * 3)
	text = run("compare", "db/base/run 1", "db/blind/1").stdout
	e2e.expect(f"monitor diff '{archive}/db/base/run 1/trace' '{archive}/db/blind/1/trace'" in text, text)
	e2e.expect(run("list", "--csv").stdout.startswith("name,trace,note,date,"), "no CSV")


def move_and_link():
	moved, linked = trace.copy("moved"), trace.copy("linked")
	before = trace.report()["rows"]
	add("db/kinds/moved", moved.directory, "--move")
	add("db/kinds/linked", linked.directory, "--link")
	e2e.equal("the originals", (moved.directory.exists(), linked.directory.exists()), (False, True))
	for name in ("moved", "linked"):
		e2e.equal(name, json.loads(e2e.run(e2e.monitor, "report", "--json", archive / "db/kinds" / name / "trace").stdout)["rows"], before)
	shutil.rmtree(linked.directory)
	done = run("list", "db/kinds", "--json", exit_code=1)
	e2e.equal("the others", [row["name"] for row in json.loads(done.stdout)], ["db/kinds/moved"])
	e2e.expect("db/kinds/linked cannot be read: its trace is missing" in done.stderr, done.stderr)
	(archive / "db/kinds/linked/trace").unlink()
	shutil.rmtree(archive / "db/kinds/linked")


def many_writers_at_once():
	command = [e2e.monitor, "archive", "add", trace.directory, "race/e/one", "--archive", archive]
	writers = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(20)]
	done = [(writer.communicate(timeout=60), writer.returncode) for writer in writers]
	e2e.equal("writers that succeeded", sorted(code for _, code in done), [0] + [1] * 19)
	for (_, errors), code in done:
		e2e.expect(code == 0 or "race/e/one already exists in the archive" in errors, errors)
	e2e.equal("what is there", os.listdir(archive / "race" / "e"), ["one"])
	e2e.equal("the copy is whole", json.loads(e2e.run(e2e.monitor, "report", "--json", archive / "race/e/one/trace").stdout)["rows"], trace.report()["rows"])
	# A measurement, and others below it: whichever is first, no measurement is within another one.
	for turn in range(8):
		writers = [subprocess.Popen([*command[:4], name, "--archive", archive], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		           for name in (f"race/n{turn}", f"race/n{turn}/below")]
		codes = [writer.wait(60) for writer in writers]
		e2e.equal("exactly one of them", sorted(codes), [0, 1])
		e2e.equal("what is listed", len([name for name in names("race") if f"/n{turn}" in name]), 1)


def has_files(pid):
	"""A process that was killed, and is not its tracer's child any more, closes them when it ends."""
	try:
		return "\nState:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
	except OSError:
		return False


def killed():
	"""At any moment: nothing half-done is listed, the original is whole, and the next one cleans up."""
	if not shutil.which("strace"):
		return e2e.leave_out("what is killed at work", "strace is not installed")
	big = trace.copy("big")
	files = len(os.listdir(big.directory))
	folder = archive / "killed/e"
	adding = lambda: [name for name in os.listdir(folder) if name.startswith(".adding-")] if folder.exists() else []
	for move in ((), ("--move",)):
		# Stopped before it renames what it has copied or linked.
		command = ["strace", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:delay_enter=30000000:when=1",
		           e2e.monitor, "archive", "add", big.directory, "killed/e/1", *move, "--archive", archive]
		writer = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
		end = time.monotonic() + 20
		while not adding() and writer.poll() is None and time.monotonic() < end:
			time.sleep(0.001)
		e2e.equal("it is at work", writer.poll(), None)
		at_work = pathlib.Path(f"/proc/{writer.pid}/task/{writer.pid}/children").read_text(encoding="ascii").split()
		os.killpg(writer.pid, signal.SIGKILL)
		writer.wait()
		while any(has_files(pid) for pid in at_work):
			time.sleep(0.001)
		e2e.equal("what is there", (os.listdir(folder), len(adding())), (adding(), 1))
		e2e.equal("what is listed", [name for name in names() if name.startswith("killed")], [])
		e2e.equal("the original", len(os.listdir(big.directory)), files)
		add("killed/e/after")
		e2e.equal("after the next one", os.listdir(folder), ["after"])
		shutil.rmtree(folder / "after")
	shutil.rmtree(big.directory)


def what_is_not_known():
	"""Of a killed, a lossy and a damaged recording: a call that is not there may have been made."""
	killed, damaged = trace.copy("incomplete"), trace.copy("damaged stream")
	path = killed.directory / ".monitor/recording.json"
	path.write_text(json.dumps({**trace.recording(), "state": "incomplete"}))
	stream = max(damaged.directory.glob("kernel_cpu?"), key=lambda each: each.stat().st_size)
	with open(stream, "r+b") as file:
		file.seek(4096 * 2)
		file.write(b"\xff" * 8)
	for name, of in (("killed", killed), ("damaged", damaged)):
		add(f"unknown/e/{name}", of.directory)
		e2e.equal(f"lost of {name}", answer("list", f"unknown/e/{name}")[0]["lost"], None)
		code = 1 if name == "damaged" else 0
		row = answer("history", f"unknown/e/{name}", "--figure", "count of swapoff", "--figure", "total of swapoff", "--figure", "elapsed", exit_code=code)[0]
		e2e.equal(f"calls of {name}", (row["count of swapoff"], row["total of swapoff"]), (None, None))
		e2e.expect(row["elapsed"] > 0, row)
		e2e.equal(f"kept of {name}", json.loads(run("show", f"unknown/e/{name}", "--json").stdout)["figures"], {})
	shutil.rmtree(archive / "unknown")


def still_recording():
	directory = e2e.work / "running"
	recorder = subprocess.Popen([e2e.monitor, "record", "--force", "--no-calibration", "-e", "sched", "-o", directory, "--", "sleep", "60"],
	                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	try:
		end = time.monotonic() + 20
		while not (directory / "metadata").exists() and time.monotonic() < end:
			time.sleep(0.01)
		refused("stop it first", "add", directory, "running/e/1")
		refused("stop it first", "add", str(directory) + "/", "running/e/1", "--move")
	finally:
		recorder.send_signal(signal.SIGINT)
		recorder.wait(30)
	e2e.equal("nothing was written", (archive / "running").exists(), False)
	add("running/e/1", directory)
	shutil.rmtree(archive / "running")


def never_too_large():
	"""What is written can be read again."""
	long = trace.copy("long")
	path = long.directory / ".monitor/recording.json"
	path.write_text(json.dumps({**trace.recording(), "command": ["echo", "\u20ac\x01" * 40000], "note": "n" * 70000}))
	add("large/e/1", long.directory)
	row = answer("list", "large")[0]
	e2e.expect(row["command"].startswith("echo ") and row["command"].endswith("...") and len(row["command"].encode()) <= 4096, row["command"][-20:])
	e2e.equal("the note", row["note"], "n" * 4093 + "...")
	refused("a note has at most 4096", "add", trace.directory, "large/e/2", "--note", "x" * 5000)
	refused("a note has at most 4096", "note", "large/e/1", "x" * 5000)
	refused("a note has at most 4096", "note", "large", "x" * 5000)
	e2e.equal("what is there", os.listdir(archive / "large/e"), ["1"])
	figures = [word for i in range(500) for word in ("--figure", f"cpu of {i:0190}")]
	e2e.equal("figures", len(answer("history", "large", *figures)[0]), 503)
	e2e.equal("it can be read", names("large"), ["large/e/1"])
	run("figures", "large", *figures)
	e2e.expect("more figures than a measurement can keep" in add("large/e/3").stderr, "not said")
	e2e.equal("it can be read, too", names("large"), ["large/e/1", "large/e/3"])
	shutil.rmtree(archive / "large")


def private_and_apart():
	"""Modes are kept; an archive in a trace, a trace in the archive and links are not moved."""
	private = trace.copy("private")
	for path in (private.directory, private.directory / ".monitor"):
		path.chmod(0o700)
	for path in private.directory.iterdir():
		if path.is_file():
			path.chmod(0o600)
	for kind in ((), ("--move",)):
		add("apart/e/1", private.directory, *kind)
		folder = archive / "apart/e/1"
		modes = {str(path.relative_to(folder)): path.stat().st_mode & 0o077 for path in [folder, *folder.rglob("*")] if ".monitor/" not in str(path)}
		e2e.equal("open to others", {name: mode for name, mode in modes.items() if mode}, {})
		if not kind:
			shutil.rmtree(folder)
	here = archive / "apart/e/1/trace"
	refused("is in the archive", "add", here, "apart/e/2", "--move")
	done = e2e.run(e2e.monitor, "archive", "add", here, "a/b", "--archive", here / "archive", exit_code=1)
	e2e.expect("is in the trace" in done.stderr and not (here / "archive").exists(), done.stderr)
	link = e2e.work / "link"
	link.symlink_to(trace.directory)
	refused("is a symbolic link: to move the trace, name", "add", link, "apart/e/2", "--move")
	refused("is a symbolic link", "add", f"{link}/", "apart/e/2", "--move")
	e2e.equal("what is there", (link.exists(), os.listdir(archive / "apart/e")), (True, ["1"]))
	add("apart/e/2", link)
	shutil.rmtree(archive / "apart")


def links():
	"""Each folder is visited once; what lies too deep is said."""
	add("links/e/1")
	for name in ("a", "b", "c", "d"):
		(archive / "links" / name).symlink_to(".")
		(archive / "links/e" / name).symlink_to("..")
	e2e.equal("listed", run("list", "links", "--json", timeout=20).stdout.count('"name"'), 1)
	deep = archive / "links/2/3/4/5/6/7/8"
	deep.mkdir(parents=True)
	shutil.copytree(archive / "links/e/1", deep / "9")
	done = run("list", "links", exit_code=1)
	e2e.expect("links/2/3/4/5/6/7/8" in done.stderr and "more than 8 levels" in done.stderr, done.stderr)
	shutil.rmtree(archive / "links")


def other_tools():
	"""mv, cp -a and rm -r are all that is needed to rearrange an archive."""
	add("tools/e/1")
	e2e.run("cp", "-a", archive / "tools/e/1", archive / "race/copied from tools")
	e2e.run("mv", archive / "tools", archive / "renamed")
	e2e.expect({"renamed/e/1", "race/copied from tools"} <= set(names()), names())
	e2e.equal("the old name", "tools/e/1" in names(), False)
	e2e.equal("its figures", answer("history", "race/copied from tools", "--figure", "count of fsync")[0]["count of fsync"], 8)
	e2e.run("rm", "-r", archive / "renamed")
	e2e.equal("after rm", [name for name in names() if name.startswith("renamed")], [])


def damaged():
	for name in ("cut", "empty", "foreign", "good", "damaged trace"):
		add(f"damaged/e/{name}")
	folder = archive / "damaged/e"
	text = (folder / "cut/measurement.json").read_text()
	(folder / "cut/measurement.json").write_text(text[:len(text) // 2])
	(folder / "empty/measurement.json").write_text("")
	(folder / "foreign/measurement.json").write_text('{"version": 1, "lost": "none"}')
	done = run("list", "damaged", "--json", exit_code=1)
	e2e.equal("the others", {row["name"] for row in json.loads(done.stdout)}, {"damaged/e/good", "damaged/e/damaged trace"})
	for name in ("cut", "empty", "foreign"):
		e2e.expect(f"monitor: damaged/e/{name} cannot be read: its measurement.json is damaged\n" in done.stderr, done.stderr)
	refused("is damaged", "show", "damaged/e/cut")
	(folder / "damaged trace/trace/metadata").write_text("nothing")
	done = run("history", "damaged", "--figure", "count of fsync", "--json", exit_code=1)
	e2e.equal("its figure is unknown", {row["name"]: row["count of fsync"] for row in json.loads(done.stdout)},
	          {"damaged/e/good": 8, "damaged/e/damaged trace": None})
	e2e.expect("damaged/e/damaged trace: its figures are unknown" in done.stderr, done.stderr)
	(archive / "damaged/project.json").write_text("[")
	refused("project.json is damaged", "history", "damaged")
	shutil.rmtree(archive / "damaged")


def hostile():
	outside = e2e.work / "outside"
	for name, why in (("..", "begins with a dot"), ("a/../../outside/x", "begins with a dot"), ("/etc/x", "is empty"), ("a//b", "is empty"), ("a", "names a project"),
	                  ("", "is empty"), ("a/\x1b[31mred", "control characters"), ("a/b\nc", "control characters"), ("a/.b", "begins with a dot"),
	                  ("a/" + "x" * 300, "longer than"), ("a/b/project.json", "a file of the archive"), ("a/" * 9 + "b", "more than 8 parts")):
		refused(why, "add", trace.directory, name)
	e2e.equal("written elsewhere", outside.exists(), False)
	add("'; rm -rf $HOME #/$(reboot)/\"quoted\" \\ back")
	e2e.expect("'; rm -rf $HOME #/$(reboot)/\"quoted\" \\ back" in names(), names())
	pipe = trace.copy("pipe")
	os.mkfifo(pipe.directory / "pipe")
	refused("neither a file nor a directory", "add", pipe.directory, "hostile/e/pipe")
	(archive / "hostile/e/x").mkdir()
	os.mkfifo(archive / "hostile/e/x/measurement.json")
	done = run("list", "hostile", exit_code=1, timeout=10)
	e2e.expect("hostile/e/x cannot be read" in done.stderr, done.stderr)
	shutil.rmtree(archive / "hostile")


def bad_input():
	refused("is not a directory", "add", e2e.work / "nothing", "a/b")
	refused("is in the trace", "add", e2e.work, "a/b")
	refused("already", "add", trace.directory, "race/e/one")
	refused("is a measurement", "add", trace.directory, "race/e/one/below")
	refused("there is no", "list", "nothing")
	refused("there is no race/e/two", "show", "race/e/two")
	refused("there is no measurement", "compare", "race/e/one", "race/e/two")
	refused("there is no nothing", "figures", "nothing", "--figure", "elapsed")
	refused("there is no nothing", "note", "nothing", "x")
	refused("chosen for a project", "figures", "race/e", "--figure", "elapsed")
	refused("is not a figure", "history", "db", "--figure", "p98 of fsync")
	refused("is not among the figures", "figures", "db", "--remove", "p99 of read")
	refused("find, column 1", "find", 'comand == "x"')
	refused("there is no such date", "find", "date == 2026-13")
	refused("there is no such date", "find", "date in {2026-02-01..2026-02-30}")
	refused("find, column 8", "find", "lost ==")
	refused("the value is empty", "add", trace.directory, "a/b", "--note", "", exit_code=2)
	refused("excludes", "history", "db", "--plot", "--json", exit_code=2)
	done = e2e.run(e2e.monitor, "archive", "list", "--archive", e2e.work / "no archive", exit_code=1)
	e2e.expect("there is no archive" in done.stderr, done.stderr)
	done = e2e.run(e2e.monitor, "archive", "list", exit_code=1, env={"PATH": os.environ["PATH"]})
	e2e.expect("use --archive DIR" in done.stderr, done.stderr)
	for variables, where in (({"MONITOR_ARCHIVE": str(archive)}, archive), ({"XDG_DATA_HOME": "/nowhere"}, "/nowhere/monitor/archive"),
	                         ({"HOME": "/nowhere"}, "/nowhere/.local/share/monitor/archive")):
		done = e2e.run(e2e.monitor, "archive", "list", exit_code=None, env={"PATH": os.environ["PATH"], **variables})
		e2e.expect(done.returncode == 0 if where == archive else f"{where}:" in done.stderr, f"{variables}: {done.stderr}")


if __name__ == "__main__":
	e2e.main(record, facts_are_those_of_the_trace, figures_are_those_of_report_and_stat, unknown_is_not_zero, find_and_compare, move_and_link,
	         many_writers_at_once, killed, what_is_not_known, still_recording, never_too_large, private_and_apart,
	         links, other_tools, damaged, hostile, bad_input)
