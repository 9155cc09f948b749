# SPDX-License-Identifier: MIT
"""Packets: what tcpdump captures on the loopback of a network of its own is read as `tcpdump -r` prints it; and both
byte orders and units, made byte by byte. pcap.py MONITOR WORKDIR"""
import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

from formats import EPOCH_S, Failure, events, expect, pcap, run, udp

DATAGRAMS = 50
# Sets the loopback up, without a program that need not be installed, and becomes the one that is given.
WITH_LOOPBACK = """import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
	fcntl.ioctl(one, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
os.execvp(sys.argv[1], sys.argv[1:])"""


def made(monitor, work):
	"""Both orders, both units: the same packets."""
	frame = udp(1000, 53, b"question")
	for order in "<>":
		for nanoseconds in (False, True):
			unit = 1 if nanoseconds else 1000
			path = work / f"made{'lb'[order == '>']}{'un'[nanoseconds]}.pcap"
			path.write_bytes(pcap([(EPOCH_S, 5, frame, len(frame)), (EPOCH_S + 1, 7, frame[:40], 999),
			                       (EPOCH_S + 2, 9, frame[:20], 999)], order, nanoseconds))
			read = events(monitor, path)
			times = [0, 10**9 + 2 * unit, 2 * 10**9 + 4 * unit]
			expect([event["time_ns"] for event in read] == times, f"{path.name}: times are {[e['time_ns'] for e in read]}")
			fields = [event["fields"] for event in read]
			expect([f["captured"] for f in fields] == [len(frame), 40, 20], f"{path.name}: captured lengths")
			expect([f["length"] for f in fields] == [len(frame), 999, 999], f"{path.name}: lengths")
			expect(fields[0]["ip"]["source"] == 0x7F000001 and fields[0]["ip"]["protocol"] == "UDP" and
			       fields[0]["source_port"] == 1000 and fields[0]["destination_port"] == 53, f"{path.name}: {fields[0]}")
			expect("source_port" in fields[1] and "ip" not in fields[2] and fields[2]["protocol"] == "IPv4",
			       f"{path.name}: what was cut off is not there: {fields[1:]}")
			wall = json.loads(run(monitor, "query", path, "--json", "SELECT wall_ns FROM packet LIMIT 1")[0])
			expect(wall == [{"wall_ns": EPOCH_S * 10**9 + 5 * unit}], f"{path.name}: wall time {wall}")


def capture(work):
	"""In a network namespace of its own, which has nothing but a loopback. Returns the file, and else why there is none."""
	path = work / "captured.pcap"
	command = ["tcpdump", "--immediate-mode", "-U", "-i", "lo", "-s", "60", "-w", path, "udp"]
	dump = subprocess.Popen(["unshare", "--net", "--", sys.executable, "-c", WITH_LOOPBACK, *command], stderr=subprocess.PIPE, text=True)
	try:
		said = []
		for line in dump.stderr:
			said.append(line.strip())
			if "listening on" in line:
				break
		else:
			return None, f"tcpdump may not capture here: {'; '.join(said[-1:])}"
		send = ("import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
		        f"for i in range({DATAGRAMS}): s.sendto(b'x' * (i + 1), ('127.0.0.1', 9000 + i % 3))")
		subprocess.run(["nsenter", f"--net=/proc/{dump.pid}/ns/net", sys.executable, "-c", send], check=True, timeout=30)
		size = 24 + sum(16 + min(60, 42 + i + 1) for i in range(DATAGRAMS))
		for _ in range(100):
			if path.exists() and path.stat().st_size >= size:
				break
			time.sleep(0.05)
	finally:
		dump.send_signal(signal.SIGINT)
		dump.wait(timeout=30)
	return path, None


def captured(monitor, work):
	path, reason = capture(work)
	if path is None:
		return reason
	printed = subprocess.run(["tcpdump", "-r", path, "-tt", "-n", "-e"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
	                         text=True, check=True).stdout.splitlines()
	oracle = [re.match(r"(\d+)\.(\d+) .*length (\d+): ([\d.]+)\.(\d+) > ([\d.]+)\.(\d+): ", line).groups() for line in printed]
	expect(len(oracle) >= DATAGRAMS, f"tcpdump -r prints {len(oracle)} packets")
	rows = json.loads(run(monitor, "query", path, "--json",
	                      'SELECT wall_ns, length, "ip.source" AS a, source_port AS b, "ip.destination" AS c, '
	                      'destination_port AS d FROM packet')[0])
	def address(number):
		return socket.inet_ntoa(number.to_bytes(4, "big"))
	ours = [(str(row["wall_ns"] // 10**9), f"{row['wall_ns'] // 1000 % 10**6:06}", str(row["length"]), address(row["a"]),
	         str(row["b"]), address(row["c"]), str(row["d"])) for row in rows]
	unlike = [pair for pair in zip(ours, oracle) if pair[0] != pair[1]]
	expect(len(ours) == len(oracle) and not unlike, f"{len(ours)} packets, tcpdump -r {len(oracle)}; first unlike: {unlike[:1]}")
	stat = json.loads(run(monitor, "stat", path, "--json", "--by", "destination_port")[0])
	counts = {int(row["destination_port"]): row["count"] for row in stat}
	expect(counts == {port: len([o for o in oracle if int(o[6]) == port]) for port in (9000, 9001, 9002)}, f"counts {counts}")
	return None


def damaged(monitor, work):
	"""Damage is told with its place, and what is before it is read."""
	frame = udp(1, 2, b"abc")
	whole = pcap([(EPOCH_S, i, frame, len(frame)) for i in range(3)])
	path = work / "damaged.pcap"
	path.write_bytes(whole[:-1])
	text, errors = run(monitor, "list", path, code=1)
	last = len(whole) - len(frame) - 16
	expect(len(text.splitlines()) == 2 and f"at byte {last}: a record is cut off" in errors, f"cut off: {errors}")
	path.write_bytes(whole[:24 + 8] + b"\xff\xff\xff\xff" + whole[24 + 12:])
	expect("at byte 24: a record is cut off" in run(monitor, "list", path, code=1)[1], "a length beyond the file")
	path.write_bytes(b"\xd4\xc3\xb2\xa1\x03" + whole[5:])
	expect("header at byte 0: the header's major is 3, but must always be 2" in run(monitor, "list", path, code=1)[1],
	       "another version")
	path.write_bytes(b"no magic")
	expect("no description matches" in run(monitor, "list", path, code=1)[1], "an unknown file")
	errors = run(monitor, "list", path, "--tdl", "pcap", code=1)[1]
	expect("none of its magics" in errors and "description with --tdl" in errors, f"not what --tdl says: {errors}")
	path.write_bytes(b"")
	expect("is empty" in run(monitor, "list", path, code=1)[1], "an empty file")


def others(monitor, work):
	"""What is no trace: the sentence names the command that reads it."""
	work = work / "others"
	for name, content, says in (("perf.data", b"PERFILE2" + bytes(96), "perf data convert -i {} --to-ctf DIR"),
	                            ("a b.pcapng", b"\n\r\r\n" + bytes(24), "editcap -F pcap '{}' FILE"),
	                            ("trace.dat", b"\x17\x08\x44tracing6\0", "trace-cmd report -i {}"),
	                            ("one.pcap", pcap([(EPOCH_S, 0, udp(1, 2, b""), 42)]), "monitor list {}")):
		shutil.rmtree(work, ignore_errors=True)
		work.mkdir()
		(work / name).write_bytes(content)
		for named in (work, *([work / name] if "one" not in name else [])):
			for verb in ("list", "info", "report", "check"):
				text, errors = run(monitor, verb, named, code=1)
				expect(says.format(work / name) in errors and len(errors.splitlines()) == 1 and not text, f"{verb} {named}: {errors}")
	shutil.rmtree(work)
	work.mkdir()
	expect("monitor record -o DIR" in run(monitor, "list", work, code=1)[1], "an empty directory")


def together(monitor, work):
	"""Two files as one, in the order of time, each a machine of its name."""
	for name, fraction in (("one.pcap", 0), ("two.pcap", 5)):
		(work / name).write_bytes(pcap([(EPOCH_S + i, fraction, udp(1, 2, b""), 42) for i in range(3)]))
	read = events(monitor, work / "one.pcap", work / "two.pcap")
	expect([(event["host"], event["time_ns"]) for event in read] ==
	       [(name, i * 10**9 + late) for i in range(3) for name, late in (("one.pcap", 0), ("two.pcap", 5000))],
	       f"merged: {read}")
	for command in ("info", "check"):
		run(monitor, command, work / "one.pcap")
	text, _ = run(monitor, "list", work / "one.pcap", "--filter", "`ip.protocol` == \"UDP\" and time >= 1s")
	expect(len(text.splitlines()) == 2, f"filtered: {text}")
	for same in ("ip.protocol == \"UDP\" and time >= 1s", "has(ip.ttl) and event.ip.protocol == 17 and time >= 1s"):
		expect(run(monitor, "list", work / "one.pcap", "--filter", same)[0] == text, f"{same} is not the same")


def main(monitor, work):
	work = pathlib.Path(work)
	shutil.rmtree(work, ignore_errors=True)
	work.mkdir(parents=True)
	for test in (made, damaged, others, together):
		test(monitor, work)
	reason = captured(monitor, work) if shutil.which("tcpdump") else "tcpdump is not installed"
	print(f"left out: a capture ({reason})" if reason else "as tcpdump reads it")
	return 0


if __name__ == "__main__":
	try:
		sys.exit(main(*sys.argv[1:]))
	except Failure as failure:
		print(failure)
		sys.exit(1)
