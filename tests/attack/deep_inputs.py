#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Deep and large texts in every language that is read, from filters to SQL: an answer or a sentence, never a crash, a hang or a
gigabyte, and SQL neither writes nor reads files."""
import os
import subprocess
import threading

import e2e

LONGEST = 120_000  # of one argument
HANGS_AFTER_S, MAX_KB = 120, 1_000_000

FILTERS = {
    "brackets": "(" * 50_000 + "tid==1" + ")" * 50_000, "not": "not " * 29_000 + "tid==1", "minus": "tid == " + "-" * 100_000 + "1",
    "or": " or ".join(["tid==1"] * 13_000), "and": " and ".join(f"tid=={i}" for i in range(9000)), "sum": "tid == " + "+".join("1" * 50_000),
    "set": "tid in {" + ",".join(map(str, range(20_000))) + "}", "glob": 'comm ~ "' + "*a" * 30_000 + '"',
    "ranges": " or ".join(f"(tid in {{{i}..{i + 5}}} and pid in {{{3 * i}..{3 * i + 9}}})" for i in range(1500)),
    "product": " and ".join(f"(tid=={i} or pid=={i})" for i in range(600))}
PATTERNS = {
    "brackets": "(" * 30_000 + "idle" + ")" * 30_000, "choices": "|".join(["idle"] * 20_000), "stars": "idle" + "*" * 50_000,
    "times": "idle{1000000,2000000}", "times of times": "((((idle{1000}){1000}){1000}){1000})", "two ways": "(idle|idle idle)*" * 200 + " unknown",
    "class": "[^" + " ".join(["idle"] * 10_000) + "]", "optional": "idle? " * 5000 + "unknown"}
TREES = {
    "deep": "of cpu\n" + "".join("\t" * i + f"s{i}: tid >= 0\n" for i in range(3000)),
    "wide": "of cpu\n" + "".join(f"s{i}: tid == {i}\n" for i in range(50_000))}
TDL = {
    "groups": "trace x\nrecord r\n" + "".join(f"g{i} group\n" for i in range(50_000)), "whens": "trace x\nrecord r\n" + "\twhen a is 1\n" * 20_000,
    "brackets": "trace x\nrecord r\n a unsigned " + "(" * 100_000 + "8", "long": "trace " + "x" * 1_000_000, "zeros": "trace x\0" * 10_000,
    "names": "trace x\nnames n\n" + "".join(f"{i} means x{i}\n" for i in range(100_000)) + "end\n",
    "repeated": "trace x\nrecord r\n a repeated 18446744073709551615 times\n b unsigned 8 bits\nend\nend\n",
    "bits": "trace x\nevery record begins with\n a unsigned 18446744073709551615 bits\nend\nrecord r\nend\n"}
HEAD = "/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; }; };\n"
BYTE = "integer { size = 8; }"
TSDL = {
    "structures": "typealias " + "struct { " * 30_000, "aliases": HEAD + "".join(f"typealias {BYTE} := t{i};\n" for i in range(100_000)),
    "doubled": HEAD + f"typealias {BYTE} := t0;\n" + "".join(f"typealias struct {{ t{i} a; t{i} b; }} := t{i + 1};\n" for i in range(60)) +
               'event { name = "e"; id = 0; fields := struct { t60 x; }; };\n',
    "arrays": HEAD + 'event { name = "e"; id = 0; fields := struct { ' + BYTE + " a" + "[1000000000]" * 6 + "; }; };",
    "enumeration": HEAD + "typealias enum : integer { size = 64; } { " + ", ".join(f"a{i} = {i * 10} ... {i * 10 + 9}" for i in range(60_000)) + " } := e;",
    "comment": "/*" * 500_000, "long": "x" * 20_000_000, "clocks": HEAD + "".join(f"clock {{ name = c{i}; freq = {i}; }};" for i in range(5000)),
    "frequency": HEAD + "clock { name = c; freq = 18446744073709551615; offset = 18446744073709551615; };"}
MODELS = {
    "semaphores": "role a 1000: { " + "; ".join(f"wake own s{i}" for i in range(3000)) + "; cpu 1us }",
    "signals": "role w: loop 33000000 { signal x; cpu 1ns }\nrole x: loop 1 { await a; cpu 1ns }",
    "CPUs": "cpus 65536\nrole a 100000: loop 10 { cpu 1us; sleep 1us }", "threads": "cpus 1\nrole a 100000: loop 100 { cpu 1us }"}
SQL = {
    "brackets": "SELECT " + "(" * 55_000 + "1" + ")" * 55_000, "union": " UNION ALL ".join(["SELECT 1"] * 8000), "attach": "ATTACH 'evil' AS e",
    "vacuum": "VACUUM INTO 'evil'", "extension": "SELECT load_extension('/tmp/x.so')", "write": "SELECT writefile('evil', 'x')",
    "edit": "SELECT edit('x', 'touch evil')", "create": "CREATE TABLE x(a)", "blob": "SELECT length(zeroblob(1000000000))",
    "printf": "SELECT printf('%.*c', 1000000000, 'x')", "json": "SELECT json('" + "[" * 50_000 + "')", "shell": ".shell touch evil", "output": ".output evil"}


def answers(what, *arguments, text=None):
	"""Its peak memory is that of the process itself, which has no children."""
	with open(e2e.work / "said", "w+b") as said, open(os.devnull, "wb") as nowhere:
		process = subprocess.Popen([e2e.monitor, *map(str, arguments)], stdin=subprocess.PIPE if text else subprocess.DEVNULL, stdout=nowhere, stderr=said, cwd=e2e.work)
		timer = threading.Timer(HANGS_AFTER_S, process.kill)
		timer.start()
		if text:
			try:
				process.stdin.write(text)
				process.stdin.close()
			except BrokenPipeError:
				pass
		_, status, used = os.wait4(process.pid, 0)
		process.returncode = os.waitstatus_to_exitcode(status)
		timer.cancel()
		said.seek(0)
		e2e.expect(process.returncode in (0, 1, 2, 125) and used.ru_maxrss < MAX_KB,
		           f"{what}: exit code {process.returncode}, {used.ru_maxrss >> 10} MB: {said.read(200)}")


def file_of(name, text):
	path = e2e.work / name
	path.parent.mkdir(exist_ok=True)
	path.write_text(text)
	return path


def trace():
	directory = e2e.work / "small"
	if not directory.exists():
		e2e.record("small", "--no-calibration", "-p", "cmd", command=(e2e.workload, "results", 200))
	return directory


def filters():
	for what, text in FILTERS.items():
		text = text[:LONGEST]
		answers(f"list, {what}", "list", "--filter", text, trace())
		answers(f"filter, {what}", "filter", text)
		answers(f"query, {what}", "query", trace(), "SELECT count(*) FROM events('" + text.replace("'", "''")[:LONGEST - 100] + "')")
		answers(f"trigger, {what}", "trigger", f"x: {text[:15000]} => mark")
		answers(f"rules, {what}", "check", trace(), "--rules", file_of("rules", f"rule: r\n\tnever: {text}\n"))
		answers(f"states, {what}", "states", trace(), "--tree", file_of("tree", f"of thread\na: {text}\n"))


def states():
	for what, text in PATTERNS.items():
		answers(f"pattern, {what}", "states", trace(), "--tree", "cpu", "--match", text[:LONGEST])
	for what, text in TREES.items():
		answers(f"tree, {what}", "states", trace(), "--tree", file_of("tree", text))


def descriptions():
	for what, text in TDL.items():
		path = file_of("x.tdl", text)
		for command in (("tdl", "check", path), ("tdl", "show", path), ("list", path, "--tdl", path)):
			answers(f"TDL, {what}, {command[0]}", *command)
	for what, text in TSDL.items():
		directory = file_of("ctf/metadata", text).parent
		(directory / "stream").write_bytes(bytes(4096))
		for command in ("info", "list", "check"):
			answers(f"TSDL, {what}, {command}", command, directory)


def models():
	"""A few bytes that say what never ends, or needs gigabytes."""
	for what, text in MODELS.items():
		answers(f"model, {what}", "predict", file_of("x.model", f"# monitor model 1\n{text}\n"))


def sql():
	for what, text in SQL.items():
		answers(f"SQL, {what}", "query", trace(), text[:LONGEST])
	answers("SQL from a pipe", "query", trace(), text=b"SELECT 1" * 2_000_000)
	e2e.equal("files that SQL wrote", [path for path in e2e.work.rglob("*") if path.name.startswith("evil")], [])


def others():
	answers("layout", "play", "--frame", "--layout", file_of("layout", "box: a\n" * 100_000), trace())
	answers("places", "play", "--frame", "--layout", file_of("layout", "box: a\nat: 999999999 999999999\nbox: b\nat: 1 1\narrow: a -> b\n"), trace())
	for size in ("100000x100000", "4294967295x4294967295"):
		answers(f"size {size}", "play", "--frame", "--size", size, trace())
	answers("table", "stat", trace(), "--table", file_of("table", "a: b\n" * 100_000))
	answers("triggers", "trigger", file_of("triggers", "x: every 1s => mark\n" * 100_000))
	answers("a long trigger", "trigger", file_of("triggers", "x: " + "(" * 10_000_000 + " => mark\n"))
	answers("--every", "report", trace(), "--every", "1ns")
	answers("--from", "report", trace(), "--from", "1e308", "--to", "-1e308")
	answers("formula", "events", "-m", "x=" + "(" * 50_000 + "cycles" + ")" * 50_000)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(filters, states, descriptions, models, sql, others)
