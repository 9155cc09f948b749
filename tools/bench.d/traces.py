# SPDX-License-Identifier: MIT
"""How fast any trace is read, ours and LTTng's: counting by class, printing, two CPUs, a seek into 10 GB; babeltrace2 in
the same rounds, and what reading the bytes alone costs. Packets of pcap through TDL."""
import os
import re
import shutil
import struct
import subprocess
import sys
import time

from lib import Result, Skip, Spread, need, ratios, run, spawn, trace_info
from read import measure

TITLE = "traces: ours and LTTng's, counted, printed, sought in"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
BLOCK, HEADER, EVENTS_PER_BLOCK = 4096, 96, 20
# Of one thread, two threads and two processes, per round. Where two processes did not do about twice the work of one, others
# used the machine's CPUs then, and nothing is learned of threads: such triples are counted and left out.
TRIPLES, MIN_TRIPLES, MIN_OF_TWO, MAX_OF_TWO = 5, 3, 1.9, 2.1
# A trace a thousand times as long: ten more steps of a bisection, each a page from the disk, and an index of 6 MB.
MAX_LONGER_SEEK = 4


def ours(context, tokens):
	directory = context.path("ours")
	run(context.record(directory, "--buffer", "256M", command=context.workload("getppid", context.load_cpu, 1, max(tokens // 2, 1))))
	return directory, trace_info(context, directory)["summary"]["tokens"]


def lttng(context, events, *only):
	directory = context.path("lttng")
	script = os.path.join(ROOT, "tests/ctf/real_tools.py")
	done = subprocess.run([sys.executable, "-B", script, "--record", str(events), directory, *only], stdout=subprocess.PIPE,
		stderr=subprocess.STDOUT, text=True)
	if done.returncode != 0:
		raise Skip(f"no LTTng trace: {done.stdout.strip()[-200:]}")
	return directory, trace_info(context, directory)["summary"]["tokens"]


def wall(*commands):
	"""Of all of them at once."""
	began = time.monotonic()
	processes = [spawn(command, stdout=subprocess.DEVNULL) for command in commands]
	for process in processes:
		if process.wait() != 0:
			raise RuntimeError(f"{' '.join(process.args)}: exit code {process.returncode}")
	return time.monotonic() - began


def compare(context, name, most, directory, events, rounds, result, larger=None):
	"""`most`: times of reading the bytes alone that counting may take, or None for no bar. `larger`: what two CPUs share, if not
	the same."""
	count = [context.monitor, "stat", "--counts", directory]
	shared = [context.monitor, "stat", "--counts", larger or directory]
	commands = {"count": [*count, "--threads", "1"], "list": [context.monitor, "list", directory],
		"babeltrace2, not printed": ["babeltrace2", "-o", "dummy", directory], "babeltrace2, text": ["babeltrace2", directory],
		"the bytes alone": ["sh", "-c", f"find {directory} -type f | xargs cat"]}
	taken, two, one, both, anonymous = {verb: [] for verb in commands}, [], [], [], 0
	for _ in range(rounds):
		for verb, command in commands.items():
			figures = measure(command, context.other_cpu)
			taken[verb].append(max(figures["seconds"], 1e-6))
			anonymous = max(anonymous, figures["anonymous"] if "babeltrace" not in verb else 0)
		for _ in range(TRIPLES):
			one.append(wall([*shared, "--threads", "1"]))
			two.append(wall([*shared, "--threads", "2"]))
			both.append(wall(*[[*shared, "--threads", "1"]] * 2))
	rates = {verb: Spread([events / 1e6 / second for second in seconds]) for verb, seconds in taken.items()}
	result.table([f"{name}: {events:,} events, M events per CPU second", "min", "median", "max"],
		[[verb, *rate.cells(1)] for verb, rate in rates.items()])
	undisturbed = [index for index in range(len(one)) if MIN_OF_TWO <= 2 * one[index] / both[index] <= MAX_OF_TWO]
	one, two, both = ([taken[index] for index in undisturbed or range(len(taken))] for taken in (one, two, both))
	speedup, ceiling = ratios(one, two), ratios([2 * seconds for seconds in one], both)
	result.figures[name] = {"events": events, "rates": {verb: rate.json() for verb, rate in rates.items()},
		"two CPUs / one": speedup.json(), "two processes / one": ceiling.json(), "anonymous": anonymous}
	if most:
		times = ratios(taken["count"], taken["the bytes alone"])
		result.bar(f"{name}: count / the bytes alone", times.mid, most, "x", times)
	times = ratios(taken["babeltrace2, not printed"], taken["count"])
	result.bar(f"{name}: count / babeltrace2 dummy", times.mid, 8, "x", times, at_least=True)
	times = ratios(taken["babeltrace2, text"], taken["list"])
	result.bar(f"{name}: list / babeltrace2 text", times.mid, 10, "x", times, at_least=True)
	is_judged = len(undisturbed) >= MIN_TRIPLES
	if is_judged:
		result.bar(f"{name}: two CPUs / one", speedup.mid, 1.8, "x", speedup, at_least=True)
	result.note(f"{name}: two such processes at once do {ceiling.mid:.2f} x the work of one, two threads {speedup.mid:.2f} x; of "
		f"{rounds * TRIPLES} comparisons {len(undisturbed)} had two CPUs for themselves" +
		("" if is_judged else f": fewer than {MIN_TRIPLES}, so nothing is judged"))
	result.bar(f"{name}: anonymous memory", anonymous / 2**20, 256, "MiB")


def class_id(metadata, name):
	found = re.search(r'name = "%s";\s*id = (\d+);' % name, metadata) or re.search(r'id = (\d+);\s*name = "%s";' % name, metadata)
	return int(found.group(1))


def make_large(source, directory, size):
	"""A trace of ours that long: one ring, each block 20 system calls of 1 us."""
	os.mkdir(directory)
	with open(os.path.join(source, "metadata")) as file:
		metadata = file.read()
	shutil.copy(os.path.join(source, "metadata"), directory)
	uuid = bytes.fromhex(re.search(r'uuid = "([0-9a-f-]+)"', metadata).group(1).replace("-", ""))
	cls, blocks = class_id(metadata, "sys_enter"), size // BLOCK
	with open(os.path.join(source, "kernel_cpu0"), "rb") as file:
		template = file.read(HEADER)
	page = bytearray(BLOCK)
	page[:HEADER] = template
	assert page[4:20] == uuid
	with open(os.path.join(directory, "kernel_cpu0"), "wb", buffering=1 << 22) as out:
		for block in range(blocks):
			begin = block * 2000
			struct.pack_into("<QQQQQQ", page, 32, begin, begin + 1000, (HEADER + 8 * EVENTS_PER_BLOCK) * 8,
				BLOCK * 8, block, 0)
			words = [(39 << 48) | (1 << 44) | ((begin + 50 * event & 0xffffffff) << 12) | cls for event in range(EVENTS_PER_BLOCK)]
			struct.pack_into(f"<{EVENTS_PER_BLOCK}Q", page, HEADER, *words)
			out.write(page)
	return blocks * 2000


def make_dense(source, directory, size):
	"""A trace of ours that long: one ring of full blocks, each of them the same but for its times."""
	os.mkdir(directory)
	shutil.copy(os.path.join(source, "metadata"), directory)
	with open(os.path.join(source, "metadata")) as file:
		cls = class_id(file.read(), "sys_enter")
	events, page = (BLOCK - HEADER) // 8, bytearray(BLOCK)
	with open(os.path.join(source, "kernel_cpu0"), "rb") as file:
		page[:HEADER] = file.read(HEADER)
	struct.pack_into(f"<{events}Q", page, HEADER, *[(39 << 48) | (1 << 44) | (50 * event << 12) | cls for event in range(events)])
	with open(os.path.join(directory, "kernel_cpu0"), "wb", buffering=1 << 22) as out:
		for block in range(size // BLOCK):
			begin = block << 32
			struct.pack_into("<QQQQQQ", page, 32, begin, begin + 50 * events, BLOCK * 8, BLOCK * 8, block, 0)
			out.write(page)


INDEXED = """/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { integer { size = 32; } magic; }; };
clock { name = "ticks"; freq = 1000000000; };
typealias integer { size = 64; map = clock.ticks.value; } := time_t;
stream { packet.context := struct { time_t timestamp_begin; time_t timestamp_end; integer { size = 64; } content_size;
	integer { size = 64; } packet_size; integer { size = 32; } cpu_id; };
	event.header := struct { integer { size = 32; } id; time_t timestamp; }; };
event { name = "sys_enter"; id = 0; fields := struct { integer { size = 32; } number; }; };
"""


def make_indexed(directory, size):
	"""As LTTng leaves it: packets of 128 KiB, and beside them an index. Of each packet only the begin is written."""
	packet, events = 128 << 10, 20
	os.makedirs(os.path.join(directory, "index"))
	with open(os.path.join(directory, "metadata"), "w") as file:
		file.write(INDEXED)
	with open(os.path.join(directory, "channel_0"), "wb") as out, open(os.path.join(directory, "index/channel_0.idx"), "wb") as index:
		index.write(struct.pack(">IIII", 0xc1f1dcc1, 1, 1, 72))
		for number in range(size // packet):
			begin = number * 2000
			content = b"".join(struct.pack("<IQI", 0, begin + 50 * event, 39) for event in range(events))
			bits = (40 + len(content)) * 8
			out.seek(number * packet)
			out.write(struct.pack("<IQQQQI", 0xc1fc1fc1, begin, begin + 1000, bits, packet * 8, 0) + content)
			index.write(struct.pack(">9Q", number * packet, packet * 8, bits, begin, begin + 1000, 0, 0, 0, number))
		out.truncate(size // packet * packet)
	return size // packet * 2000


def forget(directory):
	"""Out of the page cache."""
	for folder, _, names in os.walk(directory):
		for name in names:
			fd = os.open(os.path.join(folder, name), os.O_RDONLY)
			os.fsync(fd)
			os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
			os.close(fd)


def seek(context, name, make, frequency, rounds, result):
	"""A moment of a long trace, and of one a thousandth as long, in the same rounds: what a start and a cold disk cost."""
	sizes = {"long": context.scale(10 << 30, 10 << 20), "short": context.scale(10 << 20, 1 << 20)}
	lengths = {kind: make(context.path(kind), size) for kind, size in sizes.items()}
	taken = {kind: [] for kind in sizes}
	for number in range(rounds):
		for kind, length in lengths.items():
			second = length * (2 * number + 1) / (2 * rounds) / frequency
			forget(context.path(kind))
			began = time.monotonic()
			found = run([context.monitor, "list", context.path(kind), "--quick", "--from", f"{second:.9f}", "--to",
				f"{second + 5e-6:.9f}"])
			taken[kind].append((time.monotonic() - began) * 1000)
			assert "sys_enter" in found, f"nothing at {second} s"
	for kind in sizes:
		shutil.rmtree(context.path(kind))
	result.table([f"a moment, {name}, list --quick, cold, ms", "min", "median", "max"],
		[[f"in {sizes[kind] / 2**20:,.0f} MiB", *Spread(taken[kind]).cells(1)] for kind in sizes])
	result.figures[f"seek, {name}"] = {kind: {"bytes": sizes[kind], "ms": Spread(taken[kind]).json()} for kind in sizes}
	times = ratios(taken["long"], taken["short"])
	result.bar(f"seek, {name}, cold: in the long trace / in the short one", times.mid, MAX_LONGER_SEEK, "x", times)


def pcap(context, rounds, result):
	packets = context.scale(1_000_000, 10_000)
	path = context.path("large.pcap")
	data = bytes(12) + b"\x08\x00" + struct.pack(">BBHHHBBHIIHHHH", 0x45, 0, 28, 0, 0, 64, 17, 0, 0x0a000001, 0x0a000009, 4000, 53, 8, 0)
	with open(path, "wb") as out:
		out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
		for number in range(packets):
			out.write(struct.pack("<IIII", 1_700_000_000 + number // 1000, number % 1000 * 1000, len(data), len(data)) + data)
	taken = [measure([context.monitor, "stat", "--counts", path, "--threads", "1"], context.other_cpu)["seconds"] for _ in range(rounds)]
	rate = Spread([packets / 1e6 / max(second, 1e-6) for second in taken])
	result.table([f"pcap of {packets:,} packets, M records per CPU second", "min", "median", "max"], [["count", *rate.cells(1)]])
	result.figures["pcap"] = {"packets": packets, "rate": rate.json()}
	peer = result.figures["ours"]["rates"]["babeltrace2, not printed"]["median"]
	result.bar("pcap through TDL: count / events that babeltrace2 reads of ours", rate.mid / peer, 1, "x", at_least=True)


def bench(context):
	need("babeltrace2")
	result = Result(TITLE)
	rounds = context.rounds_or(5)
	directory, tokens = ours(context, context.scale(6_000_000, 20_000))
	larger = context.path("dense")
	make_dense(directory, larger, context.scale(4 << 30, 10 << 20))
	compare(context, "ours", 10, directory, tokens, rounds, result, larger)
	shutil.rmtree(larger)
	frequency = int(re.search(r"freq = (\d+)", open(os.path.join(directory, "metadata")).read()).group(1))
	seek(context, "ours", lambda where, size: make_large(directory, where, size), frequency, rounds, result)
	seek(context, "indexed as LTTng's", make_indexed, 1_000_000_000, rounds, result)
	pcap(context, rounds, result)
	try:
		few = lttng(context, context.scale(20_000_000, 20_000), "--event", "ust_load:first_of_class")
		compare(context, "LTTng, three integers", 10, *few, rounds, result)
		many = lttng(context, context.scale(6_000_000, 20_000))
		compare(context, "LTTng, every kind of field and context", None, *many, rounds, result)
	except Skip as skip:
		result.note(str(skip))
	return result
