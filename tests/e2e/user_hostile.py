# SPDX-License-Identifier: MIT
"""A process that does to the recorder what a hostile user card may do. Run by user_card.py as the recorded command's
child: handshakes that are none, silent connections, a million classes, garbage in every control field, positions that
run back and race, truncation of the shared memory. Prints what it could do."""
import array
import mmap
import os
import random
import socket
import struct
import sys
import time

MAGIC = 0x45444331
HELLO, WELCOME = struct.Struct("<IIII"), struct.Struct("<IIQQII")
name = "\0" + os.environ["MONITOR_EDC"]
random.seed(7)


def dial():
	connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	connection.settimeout(2)
	while True:
		try:
			connection.connect(name)
			return connection
		except BlockingIOError:  # too many callers at this moment
			time.sleep(0.001)


def ask(classes, wish=1, magic=MAGIC, count=None):
	"""(welcome, ids, memory) of a hello with these (name, fields)."""
	with dial() as connection:
		texts = b"".join(part.encode(errors="replace") + b"\0" for pair in classes for part in pair)
		try:
			connection.send(HELLO.pack(magic, wish, len(classes) if count is None else count, len(texts)) + texts)
			answer, control, _, _ = connection.recvmsg(8192, 64)
		except OSError:  # not heard, or thrown out
			return None, [], None
		if len(answer) < WELCOME.size:
			return None, [], None
		memory = None
		for _, kind, data in control:
			if kind == socket.SCM_RIGHTS:
				memory = array.array("i", data[:4])[0]
		ids = struct.unpack(f"<{(len(answer) - WELCOME.size) // 2}H", answer[WELCOME.size:])
		return WELCOME.unpack(answer[:WELCOME.size]), ids, memory


def say(data):
	with dial() as connection:
		try:
			connection.send(data)
		except OSError:
			pass


def bad_handshakes():
	say(b"x")
	say(os.urandom(60000))
	ask([], magic=1)
	ask([("a", "u64 x")], count=1 << 31)
	ask([("a", "u64 x")], count=900)
	say(HELLO.pack(MAGIC, 1, 5, 0) + b"no end of a text")
	for _ in range(200):
		dial().close()
	return [dial() for _ in range(100)]  # kept open, silent


def many_classes():
	refused = 0
	for i in range(300):
		_, ids, _ = ask([(f"hostile_{i}_{k}", "u64 x") for k in range(900)], wish=2)
		refused += sum(number == 0 for number in ids)
		ask([("x" * 5000, "("), ("a b", ""), ("ok", "token t {" + "a=1," * 900 + "}"), ("\x1b[2J", "\"}; event {")], wish=2)
		if refused > 5000:
			break
	return refused


def garbage(rounds):
	welcome, ids, memory = ask([("good", "u64 x")])
	if not memory:
		return 0
	rings, area_bytes, ring_bytes, blocks = welcome[1], welcome[2], welcome[3], welcome[4]
	for size in (0, 4096):
		try:
			os.ftruncate(memory, size)
			print("the memory could be truncated")
		except PermissionError:
			pass
	shared = mmap.mmap(memory, area_bytes)
	for i in range(rounds):
		ring = 4096 + random.randrange(rings + 1) * ring_bytes  # the last is the shared one
		position = random.choice((random.getrandbits(40), random.randrange(blocks * 512), 13, 512, (1 << 40) - 1))
		block = ring + 4096 + random.randrange(blocks) * 4096
		shared[block:block + 4096] = os.urandom(4096)
		struct.pack_into("<QQQQ", shared, block + 32, random.getrandbits(64), 0, random.choice((0, 4096 * 8, 777, 1 << 60)), 0)
		struct.pack_into("<Q", shared, ring + 64, random.getrandbits(64))   # discarded
		struct.pack_into("<Q", shared, ring + 128, random.getrandbits(64))  # read
		struct.pack_into("<Q", shared, ring, position | random.getrandbits(24) << 40)
		struct.pack_into("<Q", shared, 64, random.getrandbits(64))          # lost_early
	return rounds


silent = bad_handshakes()
print("hostile: bad handshakes done", flush=True)
print("hostile: garbage", [garbage(int(sys.argv[1])) for _ in range(6)], flush=True)
print("hostile: classes refused", many_classes(), flush=True)
