# SPDX-License-Identifier: MIT
"""The shipped descriptions with a small file of each as seeds of their fuzzer: seeds.py DIRECTORY DESCRIPTIONS. Each is
the text of the description, a NUL, and the file's bytes."""
import pathlib
import sys

from formats import EPOCH_S, acct, blk, block, pcap, udp, utmp, utmp64

FILES = {"pcap": pcap([(EPOCH_S, i, udp(1, 2, b"abc"), 45) for i in range(2)]), "acct": acct(b"a", EPOCH_S, 1.0),
         "utmp": utmp(7, 1, b"pts/0", b"a", b"b", EPOCH_S, 1),
         "utmp64": utmp64(7, 1, b"pts/0", b"a", b"b", EPOCH_S, 1),
         "blktrace": blk(1024 << 16, 1, 2, data=b"abcd") + blk(7, 2, 3), "ring": block([(10, 256, 1, 2), (11, 360, 0)], 10)}
EVERY = b"""trace t
the file begins with
	n unsigned 8 bits
end
every segment begins with
	size unsigned 8 bits
	length is size
end
record r
	k unsigned 8 bits, named k
	s unsigned 8 bits, in seconds
	when k is one
		a text of s minus 1 bytes
		group g n times
			b real 32 bits
			c text until zero
		end
	end
	when k has three
		d list of s times 2 signed 12 bits, big endian
	end
	filler to a multiple of 4 bytes
	x unsigned 8 bits, checksum xor8
	time is s since the record before
end
names k
	1 means one
	3 means three
end
"""

if __name__ == "__main__":
	out, descriptions = map(pathlib.Path, sys.argv[1:])
	for name, data in FILES.items():
		(out / f"seed_{name}").write_bytes((descriptions / f"{name}.tdl").read_bytes() + b"\0" + data)
	(out / "seed_every").write_bytes(EVERY + b"\0\x02\x20" + bytes([1, 3]) + b"ab" + bytes(40))
