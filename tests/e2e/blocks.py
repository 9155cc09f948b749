# SPDX-License-Identifier: MIT
"""Blocks and tokens of a stream file as include/monitor/ring.h and token.h describe them, to read and to damage.

Used by the tests of `check`. Independent of the monitor's own reader; only the classes' lengths come from `monitor
events` (kernel) and from the table below (the recorder's own classes), and their ids from the table in card.h.
"""
import json
import pathlib
import re
import struct
import subprocess

BLOCK, HEADER = 4096, 96
FIELDS = {"magic": (0, "I"), "timestamp_begin": (32, "Q"), "timestamp_end": (40, "Q"), "content_size": (48, "Q"),
          "packet_seq_num": (64, "Q"), "events_discarded": (72, "Q"), "cpu_id": (80, "I"), "level": (84, "I"),
          "tid": (88, "I")}
CONTROL_BYTES = {1: 40, 2: 32, 3: 56, 4: 64, 33: 48, 34: 40}
CARD = pathlib.Path(__file__).parents[2] / "include/monitor/card.h"
ID = {name: int(number) for number, name in re.findall(r"\bCLASS\((\d+), ([A-Z_]+),", CARD.read_text(encoding="utf-8"))}


def class_sizes(monitor):
	classes = json.loads(subprocess.run([monitor, "events", "--json"], check=True, capture_output=True).stdout)
	return CONTROL_BYTES | {row["id"]: row["bytes"] for row in classes}


class Token:
	def __init__(self, packet, offset, size):
		self.packet, self.offset, self.size = packet, offset, size
		word = struct.unpack_from("<Q", packet.bytes, offset)[0]
		self.id, self.arg = word & 0xfff, word >> 48
		self.time = packet["timestamp_begin"] + ((word >> 12) - packet["timestamp_begin"]) % (1 << 32)

	def get(self, form, at):
		"""A payload field, `at` bytes after the token."""
		return struct.unpack_from("<" + form, self.packet.bytes, self.offset + 8 + at)[0]

	def set(self, form, at, value):
		struct.pack_into("<" + form, self.packet.bytes, self.offset + 8 + at, value)


class Packet:
	def __init__(self, data):
		self.bytes = bytearray(data)

	def __getitem__(self, name):
		offset, form = FIELDS[name]
		return struct.unpack_from("<" + form, self.bytes, offset)[0]

	def __setitem__(self, name, value):
		offset, form = FIELDS[name]
		struct.pack_into("<" + form, self.bytes, offset, value)

	def remove(self, token):
		content = self["content_size"] // 8
		rest = self.bytes[token.offset + token.size:content]
		self.bytes[token.offset:token.offset + len(rest)] = rest
		self["content_size"] = (content - token.size) * 8

	def repeat(self, token):
		"""The token twice; the packet needs room for it."""
		content = self["content_size"] // 8
		assert content + token.size <= BLOCK
		self.bytes[token.offset + token.size:content + token.size] = self.bytes[token.offset:content]
		self["content_size"] = (content + token.size) * 8


class Stream:
	def __init__(self, path, sizes):
		self.path, self.sizes = path, sizes
		data = path.read_bytes()
		self.packets = [Packet(data[i:i + BLOCK]) for i in range(0, len(data), BLOCK)]

	def save(self):
		self.path.write_bytes(b"".join(packet.bytes for packet in self.packets))

	def tokens(self):
		for packet in self.packets:
			offset = HEADER
			while offset < packet["content_size"] // 8:
				size = self.sizes[packet.bytes[offset] | (packet.bytes[offset + 1] & 15) << 8]
				yield Token(packet, offset, size)
				offset += size
