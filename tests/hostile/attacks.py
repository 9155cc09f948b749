# SPDX-License-Identifier: MIT
"""What a hostile client may do to the recorder: attacks.py NAME SECONDS. Needs no privilege and nothing of the project.
Finds its recorder as a card does (include/monitor/user_ring.h): by the environment, else at the place for everyone.
Each attack prints what it could do. Run by tests/e2e/hostile.py, by user_card.py as the recorded command's child, and
all together by tests/hostile/run."""
import array
import mmap
import os
import random
import resource
import socket
import struct
import sys
import time

MAGIC = 0x45444331
HELLO, WELCOME = struct.Struct("<IIII"), struct.Struct("<IIQQII")
AREA, CLASSES = 1, 2  # what a hello wants
recorder = "\0" + os.environ["MONITOR_EDC"] if "MONITOR_EDC" in os.environ else "/run/monitor/edc.sock"
random.seed(7)


def dial():
	connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	connection.settimeout(2)
	while True:
		try:
			connection.connect(recorder)
			return connection
		except BlockingIOError:  # too many callers at this moment
			time.sleep(0.001)


def hello(classes, request=AREA, magic=MAGIC, count=None):
	texts = b"".join(part.encode(errors="replace") + b"\0" for pair in classes for part in pair)
	return HELLO.pack(magic, request, len(classes) if count is None else count, len(texts)) + texts


def ask(classes, request=AREA, magic=MAGIC, count=None):
	"""(welcome, ids, memory) of a hello with these (name, fields)."""
	with dial() as connection:
		try:
			connection.send(hello(classes, request, magic, count))
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


class Area:
	"""Rings of one card, as its owner may write them."""

	def __init__(self, classes=(("good", "u64 x"),)):
		welcome, self.ids, self.memory = ask(classes)
		if not self.memory or not welcome[1]:
			raise OSError("no rings were given")
		self.rings, size, self.ring_bytes, self.blocks = welcome[1], welcome[2], welcome[3], welcome[4]
		self.shared = mmap.mmap(self.memory, size)

	def close(self):
		self.shared.close()
		os.close(self.memory)

	def ring(self, number):
		return 4096 + number * self.ring_bytes  # the last is the shared one

	def put(self, at, word):
		struct.pack_into("<Q", self.shared, at, word & (1 << 64) - 1)


def until(seconds):
	end = time.monotonic() + seconds
	while time.monotonic() < end:
		yield


def say(data):
	with dial() as connection:
		try:
			connection.send(data)
		except OSError:
			pass


def handshakes(seconds):
	"""Hellos that are none, connections that say nothing."""
	silent = []
	for _ in until(seconds):
		say(b"x")
		say(os.urandom(60000))
		ask([], magic=1)
		ask([("a", "u64 x")], count=1 << 31)
		ask([("a", "u64 x")], count=900)
		say(HELLO.pack(MAGIC, 1, 5, 0) + b"no end of a text")
		for _ in range(200):
			dial().close()
		silent = [dial() for _ in range(100)]
	return f"{len(silent)} silent connections"


def classes(seconds):
	"""More classes than a process may have, and texts that are none."""
	refused = 0
	for _ in until(seconds):
		name = f"hostile_{random.getrandbits(60):x}"
		_, ids, _ = ask([(f"{name}_{k}", "u64 x") for k in range(900)], CLASSES)
		refused += sum(number == 0 for number in ids)
		ask([("x" * 5000, "("), ("a b", ""), ("ok", "token t {" + "a=1," * 900 + "}"), ("\x1b[2J", "\"}; event {")], CLASSES)
	return f"{refused} classes refused"


def in_children(number, work):
	"""Calls work() in this many processes at a time, each with a number of its own, until the end."""
	children = []
	for _ in range(number):
		child = os.fork()
		if child == 0:
			try:
				work()
			finally:
				os._exit(0)
		children.append(child)
	for child in children:
		os.waitpid(child, 0)


def text(seconds):
	"""Classes whose description is as long as it may be, one hello each, from process after process."""
	def declare():
		long = "arg: " + labels("token", "f0") + "".join(";" + labels("flags", f"f{i}") for i in range(1, 7))
		short = "flags f{" + ",".join(f"{chr(97 + i % 26)}{chr(97 + i // 26)}={i}" for i in range(64)) + "}"
		for k in range(56):  # 8 times 42 kB
			ask([(f"text_{os.getpid()}_{k}", long)], CLASSES)
			ask([(f"dense_{os.getpid()}_{k}", short)], CLASSES)
	for _ in until(seconds):
		in_children(8, declare)
	return "texts declared"


def labels(kind, name):
	return f"{kind} {name} {{" + ",".join(f"{'x' * 60}{i:02}={10**19 + i}" for i in range(64)) + "}"


def garbage(seconds, rounds=300):
	"""Garbage in every field of the rings, positions that run back and race, truncation of the memory."""
	made = 0
	for _ in until(seconds):
		try:
			area = Area()
		except OSError:
			time.sleep(0.01)
			continue
		for size in (0, 4096):
			try:
				os.ftruncate(area.memory, size)
				print("the memory could be truncated")
			except PermissionError:
				pass
		for _ in range(rounds):
			ring = area.ring(random.randrange(area.rings + 1))
			position = random.choice((random.getrandbits(40), random.randrange(area.blocks * 512), 13, 512, (1 << 40) - 1))
			block = ring + 4096 + random.randrange(area.blocks) * 4096
			area.shared[block:block + 4096] = os.urandom(4096)
			struct.pack_into("<QQQQ", area.shared, block + 32, random.getrandbits(64), 0,
			                 random.choice((0, 4096 * 8, 777, 1 << 60)), 0)
			area.put(ring + 64, random.getrandbits(64))   # discarded
			area.put(ring + 128, random.getrandbits(64))  # read
			area.put(ring, position | random.getrandbits(24) << 40)
			area.put(64, random.getrandbits(64))          # lost_early
			made += 1
		area.close()
	return f"{made} rounds of garbage"


def positions(seconds):
	"""Nothing but new positions: each says that the whole ring waits."""
	area = Area()
	step = (area.blocks - 1) * 512
	for at in until(seconds):
		for _ in range(1000):
			for number in range(area.rings):
				ring = area.ring(number)
				old, = struct.unpack_from("<Q", area.shared, ring)
				area.put(ring, (old & (1 << 40) - 1) + step & (1 << 40) - 1)
	return "positions rewritten"


def early(seconds):
	"""One store: so many events were lost, the process says."""
	area = Area()
	for _ in until(seconds):
		area.put(64, 140_000_000_000_000)
		for number in range(area.rings + 1):
			area.put(area.ring(number) + 64, 140_000_000_000_000)
		time.sleep(0.01)
	return "losses claimed"


def descriptors(seconds):
	"""As many rings as are given, answers that are never taken, and callers without end."""
	soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
	resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
	given, kept = [0], []

	def take():
		for _ in until(seconds):
			try:
				area = ask([], AREA)
				given[0] += area[2] is not None
				kept.append(area[2])
				caller = dial()  # the answer stays in flight
				caller.send(hello([], AREA))
				kept.append(caller)
			except OSError:
				time.sleep(0.01)
		os.write(1, f"hostile: areas {given[0]}\n".encode())  # whole, whoever else writes
	in_children(4, take)
	return "descriptors taken"


def notes(seconds):
	"""Ten mapped ELF files whose headers and notes have no end."""
	directory = f"/tmp/monitor-hostile-{os.getpid()}"
	os.mkdir(directory)
	mapped = []
	try:
		for number in range(10):
			header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 65535, 0, 0, 0)
			note = struct.pack("<IIQQQQQQ", 4, 4, 64 + 65535 * 56, 0, 0, 65536, 65536, 4)
			path = f"{directory}/{number}"
			with open(path, "w+b") as file:
				file.write(header + note * 65535 + struct.pack("<III4s", 4, 0, 7, b"xyz\0") * 4096)
				file.flush()
				mapped.append(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE))
			os.unlink(path)
	finally:
		os.rmdir(directory)
	print("hostile: mapped", flush=True)
	time.sleep(seconds)
	return f"{len(mapped)} files mapped"


ATTACKS = {attack.__name__: attack for attack in (handshakes, classes, text, garbage, positions, early, descriptors, notes)}

if __name__ == "__main__":
	for name in sys.argv[1].split(","):
		print(f"hostile: {name}:", ATTACKS[name](float(sys.argv[2])), flush=True)
