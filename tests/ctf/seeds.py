# SPDX-License-Identifier: MIT
"""The valid traces as seeds of the fuzzer of descriptions and packets: seeds.py DIRECTORY. Each is the text of a
description, a NUL, and the first stream's bytes."""
import pathlib
import sys
import tempfile

import cases


def seed(write, out):
	with tempfile.TemporaryDirectory() as name:
		directory = pathlib.Path(name) / "trace"
		write(directory)
		for metadata in sorted(directory.rglob("metadata")):
			text = metadata.read_bytes()
			streams = [path for path in sorted(metadata.parent.iterdir()) if path.is_file() and path != metadata]
			if b"\0" not in text and streams:
				out.write_bytes(text + b"\0" + streams[0].read_bytes())
				return


def main():
	out = pathlib.Path(sys.argv[1])
	out.mkdir(parents=True, exist_ok=True)
	for name, write in {**cases.CASES, **cases.BEYOND}.items():
		seed(write, out / f"seed_{name}")


main()
