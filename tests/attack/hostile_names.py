#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of threads, programs, groups, notes, posted texts and directories that are made for terminals, pages and metrics: no
control character of them, and no byte that is no UTF-8, is printed or written by any command."""
import re
import subprocess
import sys
import time
import urllib.request

import e2e

NAMES = [b"\x1b[31mRED", b"a\nb 1", b"\x9b31mC1", b"\xff\xfe\x01", b"</script><b>", b"\"><svg/onload=", b"a\",x=\"y", b"\\", b"{}", "\u202eabc".encode(),
         b"\xc2\x9b2J", b"\r\rx", b"%s%n%d", b"\x7f\b\b", b"'$(id)`x`", b"# HELP x"]
SAMPLE = re.compile(r'[a-zA-Z_:]\w*(\{\w+="([^"\\]|\\.)*"(,\w+="([^"\\]|\\.)*")*\})? -?[\d.e+-]+(inf|nan)?')


def program():
	made = e2e.compiled("hostile_names.c", "-pthread", f"-I{e2e.pathlib.Path(sys.argv[4]) / 'include'}")
	named = made.with_name("prog\x1b[35m<i>")
	if not named.exists():
		named.hardlink_to(made)
	return (named, *(name.hex() for name in NAMES))


def expect_plain(what, data):
	"""Only printable characters, in UTF-8."""
	try:
		text = data.decode("utf-8")
	except UnicodeDecodeError as error:
		e2e.expect(False, f"{what}: {error}")
		return
	odd = {character for character in text if character not in "\n\t" and (ord(character) < 32 or 0x7F <= ord(character) < 0xA0)}
	e2e.expect(not odd, f"{what}: characters {odd}")


def printed(*command, exit_codes=(0, 1, 2)):
	done = subprocess.run([e2e.reader, *map(str, command)], capture_output=True, timeout=60, check=False)
	e2e.expect(done.returncode in exit_codes, f"{command}: exit code {done.returncode} {done.stderr[-300:]}")
	expect_plain(f"{command}: printed", done.stdout)
	expect_plain(f"{command}: said", done.stderr)
	return done


def recorded():
	global TRACES
	directory = e2e.work / "tr\x1b[33m<u>"
	done = subprocess.run([e2e.monitor, "record", "--no-calibration", "-p", "cmd", "--user", "--stacks=cpu,offcpu", "--note", "note\x1b[34m</script>",
	                       "-o", directory, "--", *program(), "1b"], capture_output=True, timeout=60, check=False)
	expect_plain("record", done.stdout + done.stderr)
	statistics = e2e.record("statistics", "--statistics", "1s", command=program())
	TRACES = [e2e.Trace(directory), statistics]
	names = TRACES[0].query("SELECT DISTINCT name FROM threads")
	e2e.expect(len(names) >= len(NAMES), f"too few names: {names}")
	TRACES[0].expect_true()


def read():
	for trace in TRACES:
		directory = trace.directory
		for command in (("list",), ("list", "--json"), ("check",), ("info",), ("info", "--json"), ("stat",), ("report",), ("report", "--csv"), ("report", "--json")):
			printed(command[0], directory, *command[1:])
		for report in ("syscalls", "offcpu", "activities", "stacks"):
			printed("report", directory, report)
			printed("report", directory, report, "--csv")
		for key in ("thread", "command", "cgroup", "cpu"):
			printed("report", directory, "--by", key)
		printed("query", directory, "SELECT * FROM threads")
		printed("query", "--csv", directory, "SELECT * FROM threads")
		printed("query", directory, ".schema")
		printed("states", directory, "--tree", "thread", "--each")
		printed("play", "--frames", 2, "--speed", 1, directory)
		printed("diff", directory, directory)
		printed("convert", "--to", "folded", "-o", "-", directory)
	for command in (("list", "/nonexistent\x1b[31m"), ("report", TRACES[0].directory, "\x1b[31m"), ("query", TRACES[0].directory, "SELECT \x1b[31m"),
	                ("list", TRACES[0].directory, "--filter", "\x1b[31m == 3"), ("trigger", "\x1b[31m"), ("filter", "a == \"\x1b[31m")):
		printed(*command, exit_codes=(1, 2))


def pages():
	for name, *command in (("flame.html", "report", TRACES[0].directory, "stacks", "-o"), ("view.html", "view", "--no-cache", TRACES[0].directory, "-o")):
		printed(*command, e2e.work / name, exit_codes=(0,))
		page = (e2e.work / name).read_bytes()
		expect_plain(name, page)
		e2e.equal(f"{name}: ends of scripts", page.count(b"</script>"), page.count(b"<script"))


def live():
	served = subprocess.Popen([e2e.monitor, "serve", "--no-calibration", "--top", "1000", "--metrics", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
	try:
		port = re.search(r":(\d+)", served.stdout.readline())[1]
		e2e.run(*program())
		top = subprocess.Popen([e2e.monitor, "top", "--batch", "-n", "2", "--no-calibration"], stdout=subprocess.PIPE)
		e2e.run(*program())
		expect_plain("top", top.communicate(timeout=60)[0])
		until = time.monotonic() + 20
		page = b""
		while b"</script><b>" not in page and time.monotonic() < until:
			time.sleep(0.5)
			with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
				page = answer.read()
	finally:
		served.terminate()
		served.wait()
	expect_plain("metrics", page)
	samples = [line for line in page.decode().splitlines() if not line.startswith("#")]
	e2e.equal("lines that are no samples", [line for line in samples if not SAMPLE.fullmatch(line)], [])
	keys = [line.rsplit(" ", 1)[0] for line in samples]
	e2e.equal("series that are there twice", {key for key in keys if keys.count(key) > 1} if len(keys) != len(set(keys)) else set(), set())
	e2e.expect("</script><b>" in page.decode(), "the names are not among the series")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(recorded, read, pages, live)
