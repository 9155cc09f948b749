# SPDX-License-Identifier: MIT
"""`monitor merge` of files in TDL: what it converts to CTF says what the file says, to the monitor and to babeltrace2.
convert.py MONITOR WORKDIR"""
import json
import pathlib
import random
import resource
import shutil
import struct
import subprocess
import sys

from formats import EPOCH_S, Failure, acct, blk, block, events, expect, pcap, run, udp, utmp

HERE = pathlib.Path(__file__).resolve().parent

CTF = """/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; };
env { hostname = "other"; };
clock { name = c; freq = 1000000000; offset_s = %d; absolute = true; }; /* as in recordings */
typealias integer { size = 64; align = 8; map = clock.c.value; } := time;
typealias integer { size = 32; align = 8; } := u32;
stream {
	packet.context := struct { time timestamp_begin; time timestamp_end; };
	event.header := struct { u32 id; time timestamp; };
};
event { name = "work"; id = 1; fields := struct { u32 n; }; };
""" % EPOCH_S


def write_ctf(directory, times):
	directory.mkdir(parents=True)
	(directory / "metadata").write_text(CTF)
	body = b"".join(struct.pack("<IQI", 1, at, n) for n, at in enumerate(times))
	(directory / "stream").write_bytes(struct.pack("<QQ", times[0], times[-1]) + body)


class EveryKind:
	"""A file as every_kind.tdl describes it."""

	def __init__(self, order):
		self.order, self.is_little, self.made, self.count = order, order == "<", b"LE" if order == "<" else b"BE", 0

	def pack(self, form, *values):
		return struct.pack(self.order + form, *values)

	def record(self, kind, options, body=b"", cpu=0, seconds=None):
		self.count += 1
		self.made += self.pack("BBHIIH", kind, options, 14 + len(body), EPOCH_S + self.count if seconds is None else seconds,
		                       self.count, cpu) + body

	def numbers(self, options, low, extra=b"", cpu=1):
		body = bytes([0b10110111]) + struct.pack("<H", 0x1ABC)
		body += (-3).to_bytes(6, "little" if self.is_little else "big", signed=True) + struct.pack("<Q", 2**64 - 1)
		body += self.pack("qf", low, 1.5) + struct.pack(">d", -2.25) + (b"\x01" if self.is_little else b"\x80")
		self.record(1, options, body + extra + bytes([21 if self.is_little else 21 << 3]), cpu)

	def lists(self, options, count):
		body = bytes([count, 77]) + bytes(range(250, 250 + count)) + b"abc"
		body += (0x123 | 0x456 << 12 | 0x789 << 24).to_bytes(5, "little")
		body += bytes((255 - i) if i % 2 else 3 for i in range(2 * count - 1)) + self.pack("ff", 0.5, float("inf"))
		body += self.pack("bBBH", -1, 0, 9, 513) + self.pack("bBBH", 2, 0, 9, 514)
		for i in range(1, count + 1):
			body += bytes([i]) + b"xyzw"[:i]
			body += self.pack("H", i) + bytes([i]) + bytes(range(i)) + b"name\0" if i >= 2 else b""
			body += b"\x0a\x0b" if i == 3 else b""
		body += bytes(-(14 + len(body)) % 4)
		self.record(2, options, body + self.pack("HHH", 1, 2, 3), 3)

	def write(self, path):
		more = (0x123456).to_bytes(3, "little" if self.is_little else "big")
		self.numbers(0, -5)
		self.numbers(1, -1, self.pack("h", 2) + b"\1\2")
		self.numbers(0x89, 2, self.pack("h", 3) + more + b"\7" + self.pack("d", 0.1) + b"\3\4", 2)
		self.numbers(0x81, 9, self.pack("h", 4) + more + b"\6\3\4", 8191)
		for count in range(1, 5):
			self.lists(0x20 if count == 1 else 8, count)
		self.record(3, 0, b"ab\0cd\xff" + "h\u00e4\n\"".encode() + b"\0hidden\0rest\0behind")
		self.record(3, 0, b"abcdef\0\0")
		self.record(4, 0, b"\1a\0\3xyz")
		self.record(4, 0)
		self.record(201, 0)
		self.record(255, 255, seconds=5)  # its time steps back
		path.write_bytes(self.made)


def without_lengths(value):
	"""Of the fields of a converted event: their lists' lengths, which CTF has to tell."""
	if isinstance(value, list):
		return [without_lengths(one) for one in value]
	if not isinstance(value, dict):
		return value
	lengths = set()
	for name, one in value.items():
		if isinstance(one, list): # one underscore more if the record has that name itself
			lengths.add(f"__{name}_length" if f"__{name}_length" in value else f"_{name}_length")
	return {name: without_lengths(one) for name, one in value.items() if name not in lengths}


def as_converted(event):
	"""In the repeated group of every_kind.tdl a field that not all have is a list of one or none; others are as they were."""
	parts = event["fields"].get("parts", [])
	for part in parts:
		had = dict(part)
		part.clear()
		for name in ("n", "text", "opt", "inner", "sub", "name", "arr"):
			is_list = name in ("n", "text") or isinstance(had.get(name), list)
			part[name] = had[name] if is_list else [had[name]] if name in had else []
	return event


def texts(rows):
	return [json.dumps(row) for row in rows]


def compare(monitor, path, converted, *arguments, code=0):
	before = [as_converted(event) for event in events(monitor, path, *arguments, code=code)]
	after = [{**event, "fields": without_lengths(event["fields"])} for event in events(monitor, converted)]
	unlike = [pair for pair in zip(texts(before), texts(after)) if pair[0] != pair[1]]
	expect(before and len(before) == len(after), f"{path.name}: {len(before)} events, converted {len(after)}")
	expect(not unlike, f"{path.name} is converted to something else: {unlike[:1]}")
	return before


def by_babeltrace(monitor, collection):
	"""It prints as many events, without a warning."""
	if not shutil.which("babeltrace2"):
		return
	done = subprocess.run(["babeltrace2", collection], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
	expect(done.returncode == 0 and not done.stderr, f"babeltrace2: {done.stderr.decode('utf-8', 'replace')[:500]}")
	expect(len(done.stdout.splitlines()) == len(events(monitor, collection)), "babeltrace2 prints another number of events")


def values_by_babeltrace(monitor, directories):
	sys.path.append(str(HERE.parent / "ctf"))
	import reading  # pylint: disable=import-outside-toplevel
	for directory in directories:
		theirs, stopped = reading.babeltrace(directory)
		ours, wrong = reading.by_monitor(monitor, directory)
		expect(not stopped and not wrong, f"{directory}: {stopped} {wrong}")
		unlike = [pair for pair in zip(theirs, ours) if not reading.same_event(*pair)]
		expect(len(theirs) == len(ours) and not unlike, f"babeltrace2 reads {directory} otherwise: {unlike[:1]}")


def every_kind(monitor, work):
	work.mkdir()
	files = []
	for order in "<>":
		files.append(work / ("little" if order == "<" else "big"))
		EveryKind(order).write(files[-1])
	write_ctf(work / "other", [i * 700_000_000 for i in range(20)])
	tdl = ["--tdl", HERE / "every_kind.tdl"]
	together = [*files, work / "other", *tdl]
	text, _ = run(monitor, "merge", "-o", work / "all", *together)
	expect(text.count("converted") == 2 and text.count("off is unknown") == 2, f"merge says {text}")
	for path in files:
		read = compare(monitor, path, work / "all" / path.name, *tdl)[1:]  # behind the one whose time steps back
		expect([event["cpu"] for event in read[:5]] == [1, 1, 2, 8191, 3] and read[2]["fields"]["place"] == {"x": 7, "y": 0.1},
		       f"the test's own file is read otherwise: {read[:5]}")
	before = [as_converted(event) for event in events(monitor, *together)]
	after = [{**event, "fields": without_lengths(event["fields"])} for event in events(monitor, work / "all")]
	expect(texts(before) == texts(after) and {event["host"] for event in after} == {"little", "big", "other"},
	       "as one they are in another order, or of other hosts")
	by_babeltrace(monitor, work / "all")
	metadata = (work / "all/little/metadata").read_text()
	expect('tdl = "every_kind"' in metadata and f'input = "{files[0]}"' in metadata, "where it comes from is not told")
	# what only some records have is found by its name, and absent where it was
	for expression in ("has(extra)", "`place.x` == 6", "more == 0x123456", "options == \"extra|top\"", "low == \"high\""):
		counts = [len(events(monitor, path, "--filter", expression, *arguments))
		          for path, arguments in ((files[0], tdl), (work / "all/little", []))]
		expect(0 < counts[0] == counts[1] < 14, f"{expression}: {counts}")


def shipped(monitor, work):
	"""Each of the shipped descriptions, in both byte orders and resolutions where it has them."""
	work.mkdir()
	frames = [udp(1000 + i, 53, b"x" * i) for i in range(5)] + [b"\0" * 12 + b"\x08\x06" + b"arp", b"short"]
	files = {}
	for order in "<>":
		for is_fine in (False, True):
			packets = [(EPOCH_S + i // 3, i * 1000 + 1, frame[:50], len(frame)) for i, frame in enumerate(frames)]
			files[f"pcap-{'le' if order == '<' else 'be'}-{'ns' if is_fine else 'us'}"] = pcap(packets, order, is_fine)
	begin = (7 << 32) - 100
	files["blktrace"] = blk(0x400 << 16, 1000, 0, data=b"dd\0\0", cpu=0) + blk(7, 2000, 64, 1) + blk(0x20, 9900, 5, 7, data=b"xy")
	files["ring"] = (block([(begin, 256, 1, 41 | 42 << 32), (begin + 300, 323, 5, 2**64 - 2)], begin) +
	                 block([(begin + 500, 262, 0, 42, int.from_bytes(b"renamed\0", "little"), 0)], begin + 400, sequence=1,
	                       discarded=3) + block([], begin + 600, sequence=2, discarded=3))
	files["ring-jump"] = files["ring"] + block([(begin + 800, 280, 0)], begin + 700, sequence=5, discarded=4)
	files["ring-end"] = files["ring"] + block([], begin + 700, sequence=3, discarded=7)
	for name, data in files.items():
		(work / name).write_bytes(data)
	run(monitor, "merge", "-o", work / "all", *(work / name for name in files))
	for name in files:
		compare(monitor, work / name, work / "all" / name)
	for question in (["query", 'SELECT wall_ns, length, "ip.ttl", source_port FROM packet'], ["stat", "--by", "source_port"]):
		told = {run(monitor, question[0], path / "pcap-le-us", *question[1:])[0] for path in (work, work / "all")}
		expect(len(told) == 1 and "1004" in told.pop(), f"{question} is answered otherwise: {told}")
	for name in ("ip.ttl", "packet.ip.ttl", "p.ip.ttl"):
		_, errors = run(monitor, "query", work / "pcap-le-us", f"SELECT {name} FROM packet AS p", code=1)
		expect('write "ip.ttl", in double quotes' in errors, f"{name} without quotes: {errors}")
	for name, lost in (("ring", 3), ("ring-jump", None), ("ring-end", 7)):
		told = [json.loads(run(monitor, "info", path, "--json")[0])["summary"]
		        for path in (work / name, work / "all" / name)]
		expect(all(one["lost"] == lost and one["wall_ns"] == told[0]["wall_ns"] for one in told), f"losses of {name}: {told}")
		if not shutil.which("babeltrace2"):
			continue
		done = subprocess.run(["babeltrace2", work / "all" / name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
		                      check=True)
		expect("discarded 3 events" in done.stderr and (" packet" in done.stderr) == (lost is None),
		       f"babeltrace2 on losses of {name}: {done.stderr}")
	for name in files:
		if not name.startswith("ring"):
			by_babeltrace(monitor, work / "all" / name)
	for name, data, tdl in (("acct", acct(b"make", EPOCH_S, 250.0, flags=0x13) + acct(b"b", EPOCH_S, 1.0), "acct"),
	                        ("wtmp", utmp(7, 1, b"pts/0", b"a", b"b", EPOCH_S, 1), "utmp")):
		(work / "second").mkdir(exist_ok=True)
		for path in (work / name, work / "second" / name):
			path.write_bytes(data)
		run(monitor, "merge", "-o", work / f"{name}-all", work / name, work / "second" / name, "--tdl", tdl)
		compare(monitor, work / name, work / f"{name}-all" / name, "--tdl", tdl)
		hosts = {event["host"] for event in events(monitor, work / f"{name}-all")}
		expect(hosts == {name, name + "-2"}, f"two files of one name: {hosts}")


def clocks(monitor, work):
	"""Offsets, given and by messages, move what is converted too."""
	work.mkdir()
	for name, ahead in (("a.pcap", 0), ("b.pcap", 700_000)):
		packets = []
		for i in range(40):
			sender = "ab"[i % 2]
			is_sent = sender == name[0]
			frame = udp(1 if is_sent else 2, i, b"")
			at = i * 1_000_000 + (0 if is_sent else 10_000 + i) + ahead
			packets.append((EPOCH_S, at, frame, 100 + i))
		(work / name).write_bytes(pcap(packets, "<", True))
	files = [work / "a.pcap", work / "b.pcap"]
	run(monitor, "merge", "-o", work / "synced", *files, "--sync", "source_port == 1", "source_port == 2", "--key", "length")
	parts = json.loads((work / "synced/.monitor/collection.json").read_text())["parts"]
	expect(abs(parts[1]["shift_ns"] + 700_000) <= parts[1]["bound_ns"] <= 20_000, f"by messages: {parts}")
	run(monitor, "merge", "-o", work / "given", *files, "--clock", "b.pcap=-700us,5ns")
	for collection in ("synced", "given"):
		times = [(event["fields"]["length"], event["fields"]["source_port"]) for event in events(monitor, work / collection)]
		expect(times == [(100 + i, port) for i in range(40) for port in (1, 2)], f"{collection}: {times}")
	expect({event["host"] for event in events(monitor, work / "given")} == {"a.pcap", "b.pcap"}, "the hosts' names")


def damaged(monitor, work):
	"""What is damaged is told, is a gap, and the rest is there."""
	work.mkdir()
	frame = udp(1, 2, b"abc")
	whole = pcap([(EPOCH_S, i, frame, len(frame)) for i in range(3)])
	(work / "cut.pcap").write_bytes(whole[:-1])
	(work / "whole.pcap").write_bytes(whole)
	_, errors = run(monitor, "merge", "-o", work / "cut", work / "whole.pcap", work / "cut.pcap", code=1)
	expect("cut.pcap, record 2 at byte" in errors and "cut off" in errors, f"damage: {errors}")
	compare(monitor, work / "cut.pcap", work / "cut/cut.pcap", code=1)
	for path, lost in (("cut.pcap", None), ("whole.pcap", 0)):
		told = json.loads(run(monitor, "info", work / "cut" / path, "--json")[0])["summary"]
		expect(told["lost"] == lost, f"losses of {path}: {told}")
	(work / "header.pcap").write_bytes(b"\xd4\xc3\xb2\xa1\x03" + whole[5:])
	_, errors = run(monitor, "merge", "-o", work / "header", work / "whole.pcap", work / "header.pcap", code=1)
	expect("but must always be 2" in errors, f"a damaged header: {errors}")
	for name, place in (("cut.pcap", "record 2"), ("header.pcap", "header")):
		_, listed = run(monitor, "list", work / name, code=1)
		text, told = run(monitor, "info", work / name, code=1)
		expect(told != "" and listed.endswith(told) and "lost unknown" in text, f"info of {name}: {text} {told}")
		checked, _ = run(monitor, "check", work / name, code=1)
		expect("none is reported" not in checked and f"{place} at byte" in checked, f"check of {name}: {checked}")
	expect(len(events(monitor, work / "header")) == 3, "the other one is whole")
	(work / "none").write_bytes(b"nothing")
	_, errors = run(monitor, "merge", "-o", work / "none-all", work / "whole.pcap", work / "none", code=1)
	expect("no description matches" in errors and not (work / "none-all").exists(), f"an unknown file: {errors}")


def changed(monitor, work):
	"""Bytes that are changed at random: what is read of them is what is converted."""
	work.mkdir()
	rng, tdl, bad = random.Random(3), ["--tdl", HERE / "every_kind.tdl"], 0
	for number in range(40):
		path = work / str(number)
		EveryKind("<>"[number % 2]).write(path)
		data = bytearray(path.read_bytes())
		for _ in range(1 + number % 4):
			data[rng.randrange(2, len(data))] ^= 1 << rng.randrange(8)
		path.write_bytes(data[:rng.randrange(len(data) // 2, len(data))] if number % 5 == 0 else data)
		done = subprocess.run([monitor, "merge", "-o", work / f"{number}-all", path, path, *tdl], stdout=subprocess.DEVNULL,
		                      stderr=subprocess.PIPE, timeout=60, check=False)
		expect(done.returncode in (0, 1), f"{path}: merge ended with {done.returncode}")
		compare(monitor, path, work / f"{number}-all/{number}", *tdl, code=done.returncode)
		bad += done.returncode
	expect(5 < bad < 40, f"{bad} of 40 were damaged")


LARGE = """trace large
record r
	ns unsigned 64 bits, in nanoseconds
	size unsigned 32 bits
	cpu unsigned 8 bits
	time is ns
	length is size plus 13 bytes
	cpu is cpu
	data block to the end
end
"""
MANY = "trace many\nrecord r\n\tbits unsigned 16 bits\n" + "".join(
	f"\twhen bits is at least {bit * 100}\n\t\tx{bit} unsigned 8 bits\n\tend\n"
	f"\twhen bits is not {bit}\n\t\t{'y' * 200}{bit} text until zero\n\tend\n" for bit in range(100)) + "end\n"


def limits(monitor, work):
	"""Large events, many of them, many shapes, no room: bounded, or a sentence."""
	work.mkdir()
	(work / "large.tdl").write_text(LARGE)
	sizes = [1_300_000, 0, 1_048_459, 1_048_460, 5, *[700] * 3000]
	(work / "large").write_bytes(b"".join(struct.pack("<QIB", i, size, i // 1000) + bytes([i & 255]) * size
	                                      for i, size in enumerate(sizes)))
	run(monitor, "merge", "-o", work / "all", work / "large", work / "large", "--tdl", work / "large.tdl")
	compare(monitor, work / "large", work / "all/large", "--tdl", work / "large.tdl")
	by_babeltrace(monitor, work / "all/large")
	stream, packets = (work / "all/large/stream").read_bytes(), []
	while sum(packets) < len(stream):
		packets.append(struct.unpack_from("<Q", stream, sum(packets) + 48)[0] // 8)
	expect(packets[0] > 1_300_000 and packets[1] < 1000 and max(packets[1:]) <= 1 << 20 and 6 < len(packets) < 12,
	       f"packets of {packets} bytes")
	(work / "huge").write_bytes(struct.pack("<QIB", 1, 70 << 20, 0) + bytes(70 << 20))
	_, errors = run(monitor, "merge", "-o", work / "x", work / "large", work / "huge", "--tdl", work / "large.tdl", code=1)
	expect("more than 64 MiB" in errors and not (work / "x").exists(), f"too large: {errors}")
	done = subprocess.run([monitor, "merge", "-o", work / "x", work / "large", work / "large", "--tdl", work / "large.tdl"],
	                      stderr=subprocess.PIPE, text=True, check=False, restore_signals=False, # SIGXFSZ stays ignored
	                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
	expect(done.returncode == 1 and "File too large" in done.stderr and not (work / "x").exists(), f"no room: {done}")
	(work / "many.tdl").write_text(MANY)
	made = b""
	for bits in range(0, 400):
		made += struct.pack("<H", bits)
		for bit in range(100):
			made += (b"\7" if bits >= bit * 100 else b"") + (b"" if bits == bit else b"a\0")
	(work / "many").write_bytes(made)
	run(monitor, "merge", "-o", work / "shapes", work / "many", work / "many", "--tdl", work / "many.tdl")
	before, after = events(monitor, work / "many", "--tdl", work / "many.tdl"), events(monitor, work / "shapes/many")
	is_open = [f"_{'y' * 200}99_length" in event["fields"] for event in after]
	expect(is_open[0] is False and is_open[99] is True, "so many shapes should not have a class each")
	for one, other, opened in zip(before, after, is_open, strict=True):
		fields = other["fields"]
		if opened:
			fields = {name: value[0] if isinstance(value, list) else value for name, value in fields.items()
			          if not name.endswith("_length") and value != []}
		expect(one["fields"] == fields, f"of many shapes: {one} {other}")
	expect((work / "shapes/many/metadata").stat().st_size < 3 << 20, "the description grows without bound")


def main(monitor, work):
	work = pathlib.Path(work)
	shutil.rmtree(work, ignore_errors=True)
	work.mkdir(parents=True)
	for test in (every_kind, shipped, clocks, damaged, changed, limits):
		test(monitor, work / test.__name__)
	values_by_babeltrace(monitor, [*(work / "every_kind/all").glob("[lb]*"), *(work / "shipped/all").glob("[!.]*")])
	print("ok")
	return 0


if __name__ == "__main__":
	try:
		sys.exit(main(*sys.argv[1:]))
	except Failure as failure:
		print(failure)
		sys.exit(1)
