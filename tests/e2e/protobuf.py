# SPDX-License-Identifier: MIT
"""Protocol buffers and Perfetto's packets, decoded without any code of the monitor's: for convert.py."""
import collections


def varint(data, at):
	value = shift = 0
	while True:
		byte = data[at]
		at += 1
		value |= (byte & 0x7f) << shift
		shift += 7
		if byte < 0x80:
			return value, at


def signed(value):
	return value - (1 << 64) if value >> 63 else value


def fields(data):
	"""(number, value) of each field: an integer, or bytes."""
	at = 0
	while at < len(data):
		key, at = varint(data, at)
		kind = key & 7
		if kind == 0:
			value, at = varint(data, at)
		else:
			length = {1: 8, 5: 4}.get(kind)
			if kind == 2:
				length, at = varint(data, at)
			value, at = data[at:at + length], at + length
			if len(value) != length:
				raise ValueError("a field reaches beyond its message")
			if kind != 2:
				value = int.from_bytes(value, "little")
		yield key >> 3, value


def message(data):
	found = collections.defaultdict(list)
	for number, value in fields(data):
		found[number].append(value)
	return found


def packed(parts):
	values = []
	for data in parts:
		at = 0
		while at < len(data):
			value, at = varint(data, at)
			values.append(value)
	return values


def first(found, number, default=None):
	return found[number][0] if found.get(number) else default


class Perfetto:
	"""The packets of a trace: ftrace events as (ns, cpu, kind, fields), track events, and what is said about losses."""

	KINDS = {4: "switch", 20: "waking", 24: "softirq_in", 25: "softirq_out", 36: "irq_in", 37: "irq_out", 235: "newtask", 236: "rename",
	         237: "exec", 238: "exit", 327: "generic", 329: "sys_in", 330: "sys_out"}

	def __init__(self, path):
		self.events, self.tracks, self.threads, self.names = [], [], {}, {}
		self.lossy, self.overrun, self.clocks, self.strings, self.descriptions = set(), {}, [], [], {}
		for number, packet in fields(path.read_bytes()):
			if number != 1:
				raise ValueError(f"field {number} of a trace")
			self.packet(message(packet))
		self.events.sort(key=lambda event: event[0])

	def packet(self, packet):
		if (packet[8] or packet[1]) and not self.clocks:
			raise ValueError("a packet with a time comes before the clocks: Perfetto takes another clock for the trace's")
		for bundle in packet[1]:
			self.bundle(message(bundle))
		for tree in packet[2]:
			for thread in map(message, message(tree)[2]):
				self.threads[thread[1][0]] = thread[3][0]
				self.names[thread[1][0]] = thread[2][0]
		for snapshot in packet[6]:
			self.clocks.append({clock[1][0]: clock[2][0] for clock in map(message, message(snapshot)[1])})
		for event in packet[11]:
			self.tracks.append((packet[8][0], message(event)))
		for stats in map(message, packet[34]):
			for cpu in map(message, stats[2]):
				self.overrun[(stats[1][0], cpu[1][0])] = cpu[3][0]
		for track in map(message, packet[60]):
			self.descriptions[track[1][0]] = track

	def bundle(self, bundle):
		# At equal times what is compact comes first, as Perfetto takes it.
		cpu = bundle[1][0]
		if first(bundle, 3):
			self.lossy.add(cpu)
		for compact in map(message, bundle[4]):
			names = compact[5]
			self.strings += names
			ns = 0
			for apart, state, tid, _, name in zip(*(packed(compact[n]) for n in (1, 2, 3, 4, 6)), strict=True):
				ns += apart
				self.events.append((ns, cpu, "switch", {4: state, 6: tid, 5: names[name]}))
			ns = 0
			for apart, tid, name, flags in zip(*(packed(compact[n]) for n in (7, 8, 11, 12)), strict=True):
				ns += apart
				self.events.append((ns, cpu, "waking", {2: tid, 1: names[name], "flags": flags}))
		for event in map(message, bundle[2]):
			(number, body), = [(n, v[0]) for n, v in event.items() if n > 2]
			self.events.append((event[1][0], cpu, self.KINDS.get(number, number), {"who": event[2][0], **{n: v[0] for n, v in message(body).items()}}))

	def bounds(self):
		"""Start and end of the recording: the instants of the first track."""
		times = [ns for ns, event in self.tracks if first(event, 23, b"").endswith(b"of the recording")]
		return min(times), max(times)

	def cpu_ns(self):
		"""By TID, from the switches alone."""
		runs, sums, end = {}, collections.Counter(), self.bounds()[1]
		for ns, cpu, kind, event in self.events:
			if kind != "switch":
				continue
			if cpu in runs:
				since, tid = runs[cpu]
				sums[tid] += ns - since
			runs[cpu] = (ns, event[6])
		for since, tid in runs.values():
			sums[tid] += end - since
		return sums

	def calls(self):
		"""By number: how many ended, and how long they took."""
		open_, counts, times = {}, collections.Counter(), collections.Counter()
		for ns, _, kind, event in self.events:
			if kind == "sys_in":
				open_[event["who"]] = (ns, event[1])
			elif kind == "sys_out" and event["who"] in open_:
				since, number = open_.pop(event["who"])
				if number != event[1]:
					raise ValueError(f"call {number} ends as {event[1]}")
				counts[number] += 1
				times[number] += ns - since
		return counts, times
