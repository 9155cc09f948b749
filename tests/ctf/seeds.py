# SPDX-License-Identifier: MIT
"""The valid traces as seeds of the fuzzers of descriptions and packets: seeds.py [--version2] DIRECTORY. Each is the text
of a description, a NUL, and the first stream's bytes; of CTF 2 without the first record separator."""
import pathlib
import sys
import tempfile

import cases
import cases2


def seed(write, out):
	with tempfile.TemporaryDirectory() as name:
		directory = pathlib.Path(name) / "trace"
		write(directory)
		for metadata in sorted(directory.rglob("metadata")):
			text = metadata.read_bytes()
			streams = [path for path in sorted(metadata.parent.iterdir()) if path.is_file() and path != metadata]
			if b"\0" not in text and streams:
				out.write_bytes(text.removeprefix(b"\x1e") + b"\0" + streams[0].read_bytes())
				return


def main():
	out = pathlib.Path(sys.argv[-1])
	out.mkdir(parents=True, exist_ok=True)
	traces = {**cases.CASES, **cases.BEYOND}
	if "--version2" in sys.argv:
		traces = {**cases2.VALID, **cases2.BEYOND,
		          **{f"random_{number}": lambda at, number=number: cases2.random_trace(at, number) for number in range(8)}}
	for name, write in traces.items():
		seed(write, out / f"seed_{name}")


main()
