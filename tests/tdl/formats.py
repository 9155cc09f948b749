# SPDX-License-Identifier: MIT
"""What the tests here share: running the monitor, and files of each format made byte by byte."""
import json
import struct
import subprocess

EPOCH_S = 1_700_000_000


class Failure(Exception):
	"""One sentence that tells what is not as it should be."""


def expect(is_true, sentence):
	if not is_true:
		raise Failure(sentence)


def run(monitor, *arguments, code=0):
	done = subprocess.run([monitor, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
	                      check=False)
	expect(code in (None, done.returncode), f"monitor {' '.join(map(str, arguments))} ended with {done.returncode}, not {code}: "
	                                f"{done.stderr.decode('utf-8', 'replace')[:500]}")
	return done.stdout.decode(), done.stderr.decode("utf-8", "replace")


def events(monitor, path, *arguments, code=0):
	text, _ = run(monitor, "list", path, "--json", *arguments, code=code)
	return [json.loads(line) for line in text.splitlines()]


def pcap(packets, order="<", nanoseconds=False, link=1):
	"""`packets`: (seconds, fraction, bytes, length). `link`: what they are of, and what is said of check sums."""
	magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
	made = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)
	for seconds, fraction, data, length in packets:
		made += struct.pack(order + "IIII", seconds, fraction, len(data), length) + data
	return made


def udp(source_port, destination_port, text):
	"""An Ethernet frame."""
	ip = struct.pack(">BBHHHBBHII", 0x45, 0, 28 + len(text), 7, 0, 64, 17, 0, 0x7F000001, 0x7F000002)
	return bytes(range(12)) + b"\x08\x00" + ip + struct.pack(">HHHH", source_port, destination_port, 8 + len(text), 0) + text


def acct(command, began, elapsed, order="<", flags=0, pid=1, uid=0, exit_code=0, ppid=1, memory=3):
	version = 3 if order == "<" else 0x83
	return struct.pack(order + "BBHIIIIIIf8H16s", flags, version, 0, exit_code, uid, 0, pid, ppid, began, elapsed, 1, 2, memory,
	                   0, 0, 4, 5, 0, command)


def utmp(kind, pid, line, user, host, seconds, microseconds, address=0):
	return struct.pack("<hxxi32s4s32s256shhiii4I20x", kind, pid, line, line[-4:], user, host, 0, 0, 0, seconds,
	                   microseconds, address, 0, 0, 0)


def utmp64(kind, pid, line, user, host, seconds, microseconds, address=0):
	"""Of arm64."""
	return struct.pack("<hxxi32s4s32s256shhqqq4I24x", kind, pid, line, line[-4:], user, host, 0, 0, 0, seconds,
	                   microseconds, address, 0, 0, 0)


def blk(action, time, sector, sequence=0, data=b"", size=4096, pid=77, device=8 << 20 | 1, cpu=1, error=0):
	return struct.pack("<IIQQIIIIIHH", 0x65617407, sequence, time, sector, size, action, pid, device, cpu, error,
	                   len(data)) + data


def block(tokens, begin, cpu=0, sequence=0, discarded=0):
	"""A block of a ring. `tokens`: (time, id, argument, payload words ...)."""
	body = b"".join(struct.pack(f"<{len(words) + 1}Q", cls | (time & 0xFFFFFFFF) << 12 | 1 << 44 | argument << 48, *words)
	                for time, cls, argument, *words in tokens)
	end = tokens[-1][0] if tokens else begin
	head = struct.pack("<I16sIQQQQQQQIIII", 0xC1FC1FC1, bytes(range(16)), 0, 3, begin, end, (96 + len(body)) * 8, 32768,
	                   sequence, discarded, cpu, 0, 41, 0)
	return (head + body).ljust(4096, b"\xee")
