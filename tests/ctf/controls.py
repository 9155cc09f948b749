#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of all kinds with control characters in them: none reaches an output, in whatever form, and none makes a line.

controls.py MONITOR MAKE_GOLDEN EVENTS WORK_DIRECTORY. Each command prints a trace twice: with names that hold an ESC,
a BEL, a newline, a DEL, control characters of 8 bits as a byte and in UTF-8, and with plain ones instead.
"""
import json
import pathlib
import shutil
import subprocess
import sys

from layout import Event, Packet, Stream, Trace, packet_context, packet_header, plain_header
from writer import Enum, Many, Str, Struct, char, i32, i64, u8

EVIL = b"\x1b[31m\x07\n\x7f\x9b1m\xc2\x9b2m\xff\r\x00"[:-1]
PLAIN = b"o" * len(EVIL)
FORBIDDEN = [bytes([c]) for c in (*range(9), *range(11, 32), 127)] + [b"\xc2" + bytes([c]) for c in range(0x80, 0xa0)]


def described(directory, name):
	"""A kernel of which every name that may be any text is `name`."""
	comm = (name + b"\0" * 32)[:32]
	switch = Event("sched_switch", Struct({
		"prev_comm": Many(char, 32), "prev_tid": i32, "prev_prio": i32, "prev_state": i64, "next_comm": Many(char, 32),
		"next_tid": i32, "next_prio": i32}), id=0)
	text = name.decode("utf-8", "replace").replace("\n", "\\n")
	other = Event("an_event", Struct({"text": Str(), "label": Enum(u8, [(text, 1)])}), id=1)
	stream = Stream(switch, other, context=packet_context(), header=plain_header())
	env = f'env {{ hostname = "host {text}"; tracer_name = "{text}"; other = "{text}"; }};\n'
	trace = Trace(directory, stream, header=packet_header(), after=env)
	rows = []
	for n in range(20):
		first, second = (7, 8) if n % 2 == 0 else (8, 7)
		rows.append({"is": switch, "time": 1000 * n + 1, "fields": {
			"prev_comm": comm, "prev_tid": first, "prev_prio": 20, "prev_state": n % 3, "next_comm": comm, "next_tid": second,
			"next_prio": 20}})
		rows.append({"is": other, "time": 1000 * n + 500, "fields": {"text": name, "label": 1}})
	trace.write("stream", stream, Packet(rows))


def recorded(golden, directory, name):
	"""monitor's own trace: names of threads, and all that recording.json says of it."""
	shutil.copytree(golden, directory)
	for file in directory.glob("cpu*"):
		whole = file.read_bytes()
		for old in (b"bash", b"renamed", b'a "name"'):
			whole = whole.replace(old, (name + old)[:len(old)])
		file.write_bytes(whole)
	text = name.decode("latin-1")
	words = {key: text for key in ("host", "user", "note", "date", "kernel", "machine", "end_reason", "attach", "card")}
	(directory / ".monitor").mkdir()
	(directory / ".monitor" / "recording.json").write_text(json.dumps(
		{**words, "version": 1, "command": ["sh", "-c", text], "families": [text], "complete": True}))


def tdl(path, name):
	text = "".join(c for c in name.decode("latin-1") if c >= " " and c != "\x7f")
	path.write_bytes(f'trace f "{text}"\n\nrecord r "{text}"\n\ta unsigned 8 bits "{text}"\nend\n'.encode("latin-1"))


COMMANDS = {
	"described": ("list", "list --json", "info", "info --json", "stat", "stat --csv", "stat --json",
	              "stat --by thread", "stat --by thread --csv", "stat --by text --csv", "stat --by text,label --json",
	              "report", "report --by thread --csv", "report --json", "report --by command", "check", "check --json",
	              "query SQL", "query SQL --csv", "query SQL --json", "stat --table irq", "report offcpu --csv"),
	"recorded": ("list", "list --json", "info", "info --json", "report --by thread", "report --by thread --csv", "report --json",
	             "stat --by thread", "stat --by process --csv", "check", "check --json", "query THREADS", "query THREADS --csv"),
}
SQL = {"SQL": "SELECT name, thread, fields, '{}' AS \"{}\" FROM events", "THREADS": "SELECT * FROM threads"}
# Messages: what people type, and what stands in files, comes back in them.
TYPED = ("list {}", "list {} --json", "report TRACE --sort {}", "list TRACE --event {}", "list TRACE --filter {}",
         "list TRACE --from {}", "query TRACE {}", "query TRACE --json {}", "stat TRACE --by {}", "stat TRACE --table {}",
         "check TRACE --rules {}", "tdl check {}", "tdl show {}", "{}", "report --{}", "list TRACE --tdl {}", "events {}")


def printed(monitor, arguments):
	done = subprocess.run([monitor, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30, check=False)
	return done.returncode, done.stdout + done.stderr


def bad_byte(output):
	for one in FORBIDDEN:
		if one in output:
			return f"{one!r} in {output[max(0, output.find(one) - 60):output.find(one) + 30]!r}"
	try:
		output.decode()
	except UnicodeDecodeError as error:
		return f"no UTF-8: {output[max(0, error.start - 60):error.start + 30]!r}"
	return None


def of_traces(monitor, work):
	for kind, commands in COMMANDS.items():
		for command in commands:
			lines = []
			for name, text in (("evil", EVIL), ("plain", PLAIN)):
				words = [SQL[word].format(text.decode("latin-1"), text.decode("latin-1")) if word in SQL else word for word in command.split()]
				code, output = printed(monitor, [words[0], work / kind / name, *words[1:]])
				lines.append(output.count(b"\n"))
				if code < 0 or (name == "evil" and (wrong := bad_byte(output))):
					yield f"{command} of a {kind} trace: exit code {code}, {wrong}"
			if lines[0] != lines[1]:
				yield f"{command} of a {kind} trace: {lines[0]} lines, with plain names {lines[1]}"


def of_messages(monitor, work):
	trace = str(work / "described" / "plain")
	evil = EVIL.decode("utf-8", "surrogateescape")
	for command in TYPED:
		words = [word.replace("TRACE", trace).replace("{}", evil) for word in command.split()]
		code, output = printed(monitor, words)
		if not output or code < 0 or (wrong := bad_byte(output)):
			yield f"{command}: exit code {code}, {wrong if output else 'nothing is said'}"
	broken = work / "broken"
	for before, after in (("", ""), ("trace { major = 1; minor = 8; byte_order = le; }; ", ""), ('event { name = "', '"; id = 99999999999999999999; };')):
		shutil.rmtree(broken, ignore_errors=True)
		broken.mkdir()
		(broken / "metadata").write_bytes(b"/* CTF 1.8 */ " + before.encode() + EVIL + after.encode())
		(broken / "stream").write_bytes(b"")
		for arguments in (("list", broken), ("list", work / "described" / "plain", "--tdl", broken / "metadata"),
		                  ("tdl", "check", broken / "metadata"), ("check", work / "described" / "plain", "--rules", broken / "metadata"),
		                  ("stat", work / "described" / "plain", "--table", broken / "metadata")):
			code, output = printed(monitor, arguments)
			if wrong := bad_byte(output):
				yield f"{arguments[0]} of a broken text: {wrong}"
	tdl(work / "a.tdl", EVIL)
	for command in ("show", "check", "compile", "show --json"):
		code, output = printed(monitor, ["tdl", *command.split()[:1], work / "a.tdl", *command.split()[1:]])
		if wrong := bad_byte(output):
			yield f"tdl {command}: {wrong}"


def main():
	monitor, make_golden, events, work = sys.argv[1:]
	work = pathlib.Path(work)
	shutil.rmtree(work, ignore_errors=True)
	subprocess.run([make_golden, work / "golden", events], check=True)
	(work / "recorded").mkdir()
	for kind, name in (("evil", EVIL), ("plain", PLAIN)):
		described(work / "described" / kind, name)
		recorded(work / "golden" / "basic", work / "recorded" / kind, name)
	wrong = [*of_traces(monitor, work), *of_messages(monitor, work)]
	print(*wrong, sep="\n")
	sys.exit(1 if wrong else 0)


main()
