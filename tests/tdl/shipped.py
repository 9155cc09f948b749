# SPDX-License-Identifier: MIT
"""The other shipped descriptions, each on a file of its kind: process accounting as this kernel writes it (by hand if
it does not), utmp as utmpdump prints it, blktrace and ring blocks made byte by byte; and every one of them cut off at
every byte. shipped.py MONITOR WORKDIR SOURCE"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from formats import EPOCH_S, Failure, acct, blk, block, events, expect, pcap, run, udp, utmp, utmp64


def acct_made(monitor, work):
	for order in "<>":
		path = work / f"acct{'lb'[order == '>']}"
		coded = 2 << 13 | 1063  # a comp_t: 1063 * 8^2
		path.write_bytes(acct(b"make", EPOCH_S, 250.0, order, flags=0x13, pid=7, uid=1000, exit_code=9, memory=coded) +
		                 acct(b"0123456789abcdef", EPOCH_S, 100.0, order))
		read = events(monitor, path, "--tdl", "acct")
		second, first = (event["fields"] for event in read)  # in the order of their times
		expect([first[name] for name in ("command", "flags", "pid", "uid", "exit_code", "elapsed", "memory", "minor_faults")] ==
		       ["make", "forked|superuser|killed", 7, 1000, 9, 250, 68032, 4], f"acct: {first}")
		(row,) = json.loads(run(monitor, "stat", path, "--tdl", "acct", "--value", "memory", "--json")[0])
		expect((row["count"], row["total"], row["max"]) == (2, 68035, 68032), f"acct: stat --value memory: {row}")
		expect(second["command"] == "0123456789abcdef", f"acct: {second}")
		expect([event["ticks"] for event in read] == [EPOCH_S * 100 + 100, EPOCH_S * 100 + 250], f"acct: times {read}")
		says = run(monitor, "check", path, "--tdl", "acct", code=None)[1]
		expect("1 of 2 records step back in time, the first is record 1" in says, f"acct: {says}")
	expect("no description matches" in run(monitor, "list", path, code=1)[1], "acct has no magic to be known by")


ACCOUNTED = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.acct(sys.argv[1].encode()):
	sys.exit(os.strerror(ctypes.get_errno()))
for code in range(20):
	if os.fork() == 0:
		os._exit(code)
	os.wait()
libc.acct(None)
"""


def acct_of_kernel(monitor, work):
	"""In a PID namespace of its own, which has an accounting of its own. Returns why it was not tried, or None."""
	path = work / "pacct"
	path.touch()
	done = subprocess.run(["unshare", "--pid", "--fork", sys.executable, "-c", ACCOUNTED, path], stderr=subprocess.PIPE,
	                      text=True, check=False)
	if done.returncode or path.stat().st_size == 0:
		return f"the kernel does not account here ({done.stderr.strip().splitlines()[-1:]})"
	read = events(monitor, path, "--tdl", "acct")
	children = [event for event in read if event["fields"]["ppid"] == 1] # the first process may be told of, too
	codes = [event["fields"]["exit_code"] >> 8 for event in children]
	expect(sorted(codes) == list(range(20)), f"the kernel's accounting: exit codes {codes}")
	expect(all("forked" in event["fields"]["flags"] and event["fields"]["command"].startswith("python") for event in children),
	       f"the kernel's accounting: {children[0]}")
	if shutil.which("dump-acct"):
		dumped = subprocess.run(["dump-acct", path], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
		pids = [int(line.split("|")[9]) for line in dumped]
		expect(sorted(pids) == sorted(event["fields"]["pid"] for event in read), f"dump-acct reads other processes: {pids}")
	return None


def pcap_link(monitor, work):
	"""Who spoke to whom, if the file says that packets end with a check sum, too (45 of 785 public files do)."""
	for order in "<>":
		for link in (1, 0x24000001, 0xF4000001):
			path = work / f"link{'lb'[order == '>']}{link:x}.pcap"
			path.write_bytes(pcap([(EPOCH_S, 1, udp(7, 53, b"abc"), 45)], order, link=link))
			(event,) = events(monitor, path)
			expect(event["fields"].get("destination_port") == 53, f"pcap of link {link:#x}, order {order}: {event['fields']}")
	text = run(monitor, "list", path)[0]
	expect("source=127.0.0.1 destination=127.0.0.2" in text, f"addresses of a pcap: {text}")
	for magic in (b"\xa1\xb2\xcd\x34", b"\x34\xcd\xb2\xa1"):
		path.write_bytes(magic + bytes(40))
		says = run(monitor, "list", path, code=1)[1]
		expect("modified pcap" in says and "editcap -F pcap" in says, f"a modified pcap: {says}")


def utmp_as_utmpdump(monitor, work):
	path = work / "wtmp"
	records = [(2, 0, b"~", b"reboot", b"6.1.0", EPOCH_S, 0, 0), (7, 99, b"pts/0", b"root", b"10.0.0.9", EPOCH_S + 5, 123456,
	                                                               0x0900000A), (8, 99, b"pts/0", b"", b"", EPOCH_S + 9, 1, 0)]
	path.write_bytes(b"".join(utmp(*record) for record in records))
	read = events(monitor, path, "--tdl", "utmp")
	dumped = subprocess.run(["utmpdump", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
	kinds = ["empty", "run_level", "boot_time", "new_time", "old_time", "init_process", "login_process", "user_process",
	         "dead_process", "accounting"]
	for line, event in zip(dumped.stdout.splitlines(), read, strict=True):
		kind, pid, _, user, tty, host, _, when = (part.strip() for part in re.findall(r"\[([^\]]*)\]", line))
		fields = event["fields"]
		expect([kinds[int(kind)], int(pid), user, tty, host] ==
		       [fields[name] for name in ("type", "pid", "user", "line", "host")], f"utmp: {line} {fields}")
		micro = event["ticks"] % 10**6
		expect(f",{micro:06}" in when, f"utmp: {when} {event['ticks']}")
	expect(read[1]["fields"]["address"][0] == 0x0A000009, f"utmp: {read[1]['fields']['address']}")


def utmp_of_arm64(monitor, work):
	"""Neither is taken for the other."""
	logins = [(7, 99, b"pts/0", b"root", b"10.0.0.9", EPOCH_S + i, 123456, 0x0900000A) for i in range(3)]
	for made, name, other in ((utmp, "utmp", "utmp64"), (utmp64, "utmp64", "utmp")):
		path = work / name
		path.write_bytes(b"".join(made(*login) for login in logins))
		read = events(monitor, path, "--tdl", name)
		expect([event["ticks"] for event in read] == [(EPOCH_S + i) * 10**6 + 123456 for i in range(3)] and
		       all((event["fields"]["user"], event["fields"]["session"]) == ("root", 0) for event in read), f"{name}: {read}")
		says = run(monitor, "list", path, "--tdl", other, code=1)[1]
		expect("its first record is of no kind" in says and name in says, f"{name} as {other}: {says}")


def other_versions(monitor, work):
	"""They are refused, and not read as if they were the version that is described."""
	path = work / "other"
	old_pcap = bytearray(pcap([(EPOCH_S, 1, udp(7, 53, b"abc"), 45)]))
	old_pcap[6] = 3
	for made, says in ((b"\x08" + blk(7, 2, 3)[1:], "a blktrace of version 8"), (blk(7, 2, 3)[3::-1] + blk(7, 2, 3)[4:], "big endian"),
	                   (bytes(old_pcap), "minor is 3, but must always be 4")):
		path.write_bytes(made)
		for options in ((), ("--tdl", "pcap" if "minor" in says else "blktrace")):
			told = run(monitor, "list", path, *options, code=1)[1]
			expect(says in told, f"{says}: {told}")


def blktrace(monitor, work):
	queue, issue, complete, notify = 0x10 << 16, 0x40 << 16, 0x80 << 16, 0x400 << 16
	path = work / "sda.blktrace.1"
	path.write_bytes(blk(notify, 1000, 0, data=b"dd\0\0", cpu=0) + blk(queue | 1 | 2 << 16, 2000, 64, 1) +
	                 blk(issue | 7 | 2 << 16, 3000, 64, 2) + blk(complete | 8 | 2 << 16, 9000, 64, 3, error=-5 & 0xFFFF) +
	                 blk(issue | 7 | 1 << 16, 9500, 128, 4) + blk(complete | 8 | 1 << 16, 9700, 128, 5) +
	                 blk(queue | 15, 9800, 5, 6, data=bytes([8, 0, 0, 1, 8, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1, 0])) +
	                 blk(0x20 | queue, 9900, 5, 7, data=b"xy") +
	                 blk(0x100 | 13 | queue, 9950, 5, 8, data=(4711).to_bytes(8, "little") + (5000).to_bytes(8, "big")))
	read = events(monitor, path)
	expect([event["event"] for event in read] == ["process", "queue", "issue", "complete", "issue", "complete", "remap",
	                                              "other", "split"], f"blktrace: {[event['event'] for event in read]}")
	fields = [event["fields"] for event in read]
	expect(fields[0]["name"] == "dd" and fields[0]["kind"] == "notify" and read[0]["cpu"] == 0 and read[1]["cpu"] == 1,
	       f"blktrace: {read[0]}")
	expect(fields[3]["error"] == -5 and fields[3]["operation"] == "write|completed" and fields[3]["major"] == 8 and
	       fields[3]["minor"] == 1, f"blktrace: {fields[3]}")
	expect(fields[6]["from_sector"] == 256 and fields[7]["data"] == [120, 121], f"blktrace: {fields[6:]}")
	expect((fields[8]["cgroup"], fields[8]["at"]) == (4711, 5000), f"blktrace with groups of processes: {fields[8]}")
	took = json.loads(run(monitor, "stat", path, "--json", "--start", 'name == "issue"', "--end", 'name == "complete"',
	                      "--key", "sector")[0])
	rows = took["activities"][0]["rows"]
	expect((rows[0]["count"], rows[0]["min_ns"], rows[0]["max_ns"]) == (2, 200, 6000), f"blktrace: {rows}")


def ring(monitor, work):
	path = work / "ring0"
	begin = (7 << 32) - 100
	path.write_bytes(block([(begin, 256, 1 | 2 << 12, 41 | 42 << 32), (begin + 200, 320, 5), (begin + 300, 323, 5, 2**64 - 2)], begin) +
	                 block([(begin + 500, 262, 0, 42, int.from_bytes(b"renamed\0", "little"), 0)], begin + 400, sequence=1,
	                       discarded=3) + block([], begin + 600, sequence=2, discarded=3))
	read = events(monitor, path)
	expect([(event["ticks"] - begin, event["event"]) for event in read] ==
	       [(0, "sched_switch"), (200, "sys_enter"), (300, "sys_exit_long"), (500, "task_rename")], f"ring: {read}")
	expect(read[0]["fields"] == {"mode": "kernel", "prev_state": "S", "prev_flags": "iowait", "prev_pid": 41, "next_pid": 42} and
	       read[2]["fields"]["ret"] == -2 and read[3]["fields"]["newcomm"] == "renamed" and read[0]["cpu"] == 0,
	       f"ring: {read}")
	expect("lost 3" in run(monitor, "info", path)[0], "ring: what was lost")
	path.write_bytes(block([(begin, 256, 0, 0), (begin + 1, 4000, 0)], begin))
	_, errors = run(monitor, "list", path, code=1)
	expect("at byte 112: a record of a kind that is not described" in errors, f"ring: {errors}")


def ring_as_described(monitor, source):
	"""The ring's classes are those of include/monitor/card.h."""
	text = re.sub(r"\s*\\\n\s*", "", (source / "include/monitor/card.h").read_text())
	bits = {name: int(size) for name, size in re.findall(r"#define EDC_KIND_BITS_(\w+) (\d+)", text)}
	classes = {}
	row = r"CLASS\((\d+), ?\w+, ?\w+, ?(\w+), ?\w+, ?(\d+), ?((?:\([ABF], \w+, \w+\))+)\)"
	for number, name, words, body in re.findall(row, text):
		classes[int(number)] = name, int(words), [(field, bits[kind]) for kind, field in re.findall(r"\([ABF], (\w+), (\w+)\)", body)]
	expect(len(classes) == len(re.findall(r"CLASS\(\d+", text)), "ring: not every class of card.h was understood")
	described = {}
	for one in json.loads(run(monitor, "tdl", "show", "ring", "--json")[0])["blocks"]:
		for number in re.findall(r"\d+", one.get("when", "")):
			described[int(number)] = one
	expect(sorted(classes) == sorted(described), f"ring: classes {sorted(set(classes) ^ set(described))}")
	for number, (name, words, fields) in classes.items():
		one = described[number]
		own = [field for field in one["fields"] if (field["offset_bits"] or 0) >= 48]
		expect(one["block"].removesuffix("_long") == name, f"ring: {number} is {one['block']}")
		expect([field["size_bits"] for field in own] == [size for _, size in fields], f"ring: sizes of {name}")
		expect([field["name"] for field in own] == ["syscall" if field == "id" else field for field, _ in fields],
		       f"ring: names of {name}")
		length = max(field["offset_bits"] + field["size_bits"] for field in own)
		expect(length == 64 * (words + 1) or one.get("length") == f"{8 * (words + 1)} bytes", f"ring: the length of {name}")


def ring_recorded(monitor, work):
	"""Every stream of a recording, read without its description: the events are the same. Returns why it was not tried."""
	made = subprocess.run([monitor, "record", "-o", work / "recorded", "--", "ls", "/"], stdout=subprocess.PIPE,
	                      stderr=subprocess.PIPE, text=True, check=False)
	if made.returncode != 0:
		return made.stderr.strip().splitlines()[-1]
	known = {(event["ticks"], event["cpu"], event["event"]) for event in events(monitor, work / "recorded")}
	count = 0
	for path in sorted((work / "recorded").glob("kernel_cpu*")):
		for event in events(monitor, path):
			one = event["ticks"], event["cpu"], event["event"].removesuffix("_long")
			expect(one in known, f"ring: {path.name} has {one}")
			count += 1
	expect(count > 500, f"ring: {count} events in a recording")
	return ""


def without_time(monitor, work):
	"""What nobody knows is not 0."""
	(work / "plain.tdl").write_text("trace plain\nrecord r\n\ta unsigned 8 bits\nend\n")
	(work / "plain").write_bytes(b"\1\2")
	tdl = "--tdl", work / "plain.tdl"
	for command in "check", "show":
		expect("times of its events are unknown" in run(monitor, "tdl", command, work / "plain.tdl")[0], f"tdl {command}: no note")
		expect("times of its events are unknown" not in run(monitor, "tdl", command, "pcap")[0], f"tdl {command} pcap: a note")
	lines = run(monitor, "list", work / "plain", *tdl)[0].splitlines()
	expect([line.split()[0] for line in lines] == ["-", "-"], f"times in list: {lines}")
	expect([(event["time_ns"], event["ticks"]) for event in events(monitor, work / "plain", *tdl)] == [(None, None)] * 2,
	       "times in JSON")


def nothing_there(monitor, work):
	"""A file of a header alone is told from a filter that nothing passes."""
	(work / "none.pcap").write_bytes(pcap([]))
	expect("this trace has no events" in run(monitor, "list", work / "none.pcap")[1], "a file without records")
	expect("matches the options" in run(monitor, "list", work / "none.pcap", "--filter", "length > 1")[1], "a filter")
	for command in "check", "show", "compile":
		text, _ = run(monitor, "tdl", command, "--help")
		expect(f"monitor tdl {command} " in text.split("Examples:")[1] and "report" not in text, f"help of {command}: {text}")


def cut_off(monitor, work):
	"""At every byte: what is whole is read, the rest is damage, and nothing else happens."""
	frame = udp(1, 2, b"abc")
	files = {"pcap": pcap([(EPOCH_S, i, frame, len(frame)) for i in range(2)]),
	         "acct": acct(b"a", EPOCH_S, 1.0) * 2, "utmp": utmp(7, 1, b"pts/0", b"a", b"b", EPOCH_S, 1),
	         "utmp64": utmp64(7, 1, b"pts/0", b"a", b"b", EPOCH_S, 1),
	         "blktrace": blk(0, 1, 2, data=b"abcd") + blk(7, 2, 3),
	         "ring": block([(10, 256, 1, 2), (11, 360, 0)], 10)}
	for name, whole in files.items():
		path = work / f"cut.{name}"
		sizes = range(1, len(whole)) if len(whole) < 400 else [*range(1, 120), *range(120, len(whole), 61)]
		for size in sizes:
			path.write_bytes(whole[:size])
			done = subprocess.run([monitor, "list", path, "--tdl", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
			                      timeout=20, check=False)
			expect(done.returncode in (0, 1), f"{name}, {size} bytes: ended with {done.returncode}")
			is_told = b"at byte" in done.stderr or b"none of its magics" in done.stderr or b"no event" in done.stderr
			expect(is_told or done.stdout, f"{name}, {size} bytes: nothing was said")


def main(monitor, work, source):
	work = pathlib.Path(work)
	shutil.rmtree(work, ignore_errors=True)
	work.mkdir(parents=True)
	for test in (acct_made, pcap_link, utmp_as_utmpdump, utmp_of_arm64, other_versions, blktrace, ring,
	             without_time, nothing_there, cut_off):
		test(monitor, work)
	ring_as_described(monitor, pathlib.Path(source))
	not_recorded = ring_recorded(monitor, work)
	print(f"ring by hand only: {not_recorded}" if not_recorded else "ring as it was recorded")
	reason = "not root" if os.geteuid() else acct_of_kernel(monitor, work)
	print(f"accounting by hand only: {reason}" if reason else "accounting as this kernel writes it")
	return 0


if __name__ == "__main__":
	try:
		sys.exit(main(*sys.argv[1:]))
	except Failure as failure:
		print(failure)
		sys.exit(1)
