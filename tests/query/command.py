#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`monitor query` as a command: output, exit codes, standard input, what is refused, what it may take.

command.py MONITOR WORK GOLDEN_TRACES
"""
import csv
import io
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import time

from asking import ask, end, expect, run

MONITOR, WORK, GOLDEN = (pathlib.Path(argument) for argument in sys.argv[1:4])
BASIC = GOLDEN / "basic"
COUNTING = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) "


def query(*arguments, **more):
	done = run(MONITOR, "query", BASIC, *arguments, **more)
	return done.returncode, done.stdout.decode(), done.stderr.decode()


def said(what, is_, should):
	expect(is_ == should, f"{what}: {is_!r}, not {should!r}")


def outputs():
	sql = "SELECT name, count(*) AS n, NULL AS none, 0.5 AS half FROM events WHERE name IN ('w0', 'sync') GROUP BY name"
	said("text", query(sql), (0, "name   n  none  half\nsync   2     -   0.5\nw0    22     -   0.5\n", ""))
	code, text, _ = query("--csv", sql)
	said("CSV", (code, list(csv.reader(io.StringIO(text)))),
	     (0, [["name", "n", "none", "half"], ["sync", "2", "", "0.5"], ["w0", "22", "", "0.5"]]))
	code, text, _ = query("--json", "SELECT 1 AS a, 2 AS a, 'x\"\n' AS b, x'0aff' AS c", "SELECT 1 WHERE 0")
	said("JSON", text.split("]\n")[1], "[")
	said("JSON", json.loads(text.split("]\n")[0] + "]"), [{"a": 1, "a:2": 2, "b": 'x"\n', "c": "x'0aff'"}])
	code, text, _ = query("SELECT 'a' || char(27) || '[31m' AS red")
	said("no control characters", text, "red\na\\x1b[31m\n")
	code, text, _ = query(COUNTING + "SELECT i, 'x' || i AS t FROM c LIMIT 3000")
	said("rows after the first thousand", text.splitlines()[-1], "3000  x3000")
	code, text, errors = query("SELECT count(*) FROM events", "SELECT 2", "--filter", 'name == "w0"')
	said("--filter", text.split(), ["count(*)", "22", "2", "2"])


def errors():
	for sql, sentence in (("SELECT 1 FROM evnets", "there is no table evnets. Did you mean events?"),
	                      ("SELECT nmae FROM events", "\n         ^"),
	                      ("SELECT * FROM events('nmae == 1')", "filter, column 1"),
	                      ("DELETE FROM events", "only SELECT is allowed"),
	                      ("ATTACH '/tmp/x' AS x", "only SELECT is allowed"),
	                      ("SELECT 'abc", "unrecognized token"),
	                      (COUNTING + "SELECT group_concat(printf('%099999d', i)) FROM (SELECT i FROM c LIMIT 1000)", "64 MiB"),
	                      ("SELECT " + ", ".join(["hex(zeroblob(30000000))"] * 8), "256 MiB")):
		code, text, told = query(sql)
		expect(code == 1 and told.startswith("monitor: ") and sentence in told, f"{sql[:60]}: {code}, {told}")
		said(sql, text, "")
	said("a bad filter", query("SELECT 1", "--filter", "cpu ==")[0], 1)
	said("no trace", run(MONITOR, "query", "/nowhere", "SELECT 1").returncode, 1)
	asked, listed = (run(MONITOR, *command) for command in (("query", GOLDEN / "damaged", "SELECT count(*) FROM events"),
	                                                        ("list", GOLDEN / "damaged")))
	said("damaged", (asked.returncode, asked.stderr), (1, listed.stderr))
	expect(b"packet" in asked.stderr, f"damaged: {asked}")
	code, text, told = query(GOLDEN / "one", "SELECT 1")
	expect((code, text) == (1, "") and "query takes one trace" in told and "monitor merge" in told, f"two traces: {told}")


def unknown_times():
	"""Of events whose description tells no time; no comparison with it is true."""
	WORK.mkdir(parents=True, exist_ok=True)
	(WORK / "plain.tdl").write_text("trace plain\nrecord r\n\ta unsigned 8 bits\nend\n")
	(WORK / "plain").write_bytes(b"\1\2")
	for where, rows in ("time_ns IS NULL AND ticks IS NULL", 2), ("time_ns >= 0", 0), ("ticks < 5", 0), ("wall_ns = 0", 0):
		done = run(MONITOR, "query", WORK / "plain", "--tdl", WORK / "plain.tdl", "--csv",
		           f"SELECT count(*), count(time) FROM events WHERE {where}")
		said(f"times that nobody knows, {where}", done.stdout.decode().splitlines()[1:], [f"{rows},0"])


def standard_input():
	said("statements", query(input=b"SELECT 1 AS a;\n\nSELECT\n 2 AS b -- no semicolon")[:2], (0, "a\n1\nb\n2\n"))
	said("quit", query(input=b".quit\nSELECT 1;\n"), (0, "", ""))
	code, text, told = query(input=b"SELECT 1 AS a;\nSELECT x;\nSELECT 3;\n")
	expect((code, text) == (1, "a\n1\n") and "no column x" in told, f"stops at an error: {code} {text} {told}")
	expect("w7\n" in query(input=b".tables\n")[1], ".tables")
	expect('"high_label" TEXT' in query(".schema w2")[1], ".schema as an argument")
	said("no such command", query(input=b".nothing\n")[0], 1)
	# a schema is SQL
	schema = query(".schema")[1]
	expect(schema.count("CREATE TABLE") >= 19, schema)


def prompt():
	"""Of a person: an error does not end it, Ctrl-C ends the query that runs, Ctrl-D all."""
	master, slave = pty.openpty()
	with subprocess.Popen([MONITOR, "query", BASIC], stdin=slave, stdout=slave, stderr=slave, start_new_session=True) as asked:
		os.close(slave)
		text = b""

		def until(end_):
			nonlocal text
			deadline = time.monotonic() + 20
			while not text.endswith(end_) and time.monotonic() < deadline:
				text += os.read(master, 4096)
			return expect(text.endswith(end_), f"the prompt says {text!r}")

		until(b"monitor> ")
		os.write(master, b"SELECT 40 +\n")
		until(b"...> ")
		os.write(master, b"2;\n")
		until(b"42\r\nmonitor> ")
		os.write(master, b"SELECT nothing;\n")
		until(b"^\r\nmonitor> ")
		os.write(master, COUNTING.encode() + b"SELECT count(*) FROM c;\n")
		time.sleep(0.3)
		asked.send_signal(signal.SIGINT)
		until(b"interrupted\r\nmonitor> ")
		os.write(master, b"SELECT 43;\n")
		until(b"43\r\nmonitor> ")
		os.write(master, b"\x04")
		said("the prompt's exit code", asked.wait(20), 0)
	os.close(master)


def interrupted():
	with subprocess.Popen([MONITOR, "query", BASIC, COUNTING + "SELECT count(*) FROM c"], stderr=subprocess.PIPE) as asked:
		time.sleep(0.3)
		asked.send_signal(signal.SIGINT)
		told = asked.communicate(timeout=20)[1]
		said("interrupted", asked.returncode, 130)
		expect(b"interrupted" in told, told.decode())


def closed_pipe():
	with subprocess.Popen([MONITOR, "query", BASIC, COUNTING + "SELECT i FROM c"], stdout=subprocess.PIPE) as asked:
		asked.stdout.readline()
		asked.stdout.close()
		said("nobody reads", asked.wait(20), 0)


for test in (outputs, errors, unknown_times, standard_input, prompt, interrupted, closed_pipe):
	test()
expect(ask(MONITOR, BASIC, "SELECT count(*) AS n FROM pragma_table_info('events')") == [{"n": 14}], "the pragmas tell")
end()
