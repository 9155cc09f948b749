#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the texts say of percentiles is what the histogram does. figures.py SOURCE_DIRECTORY"""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
bits = int(re.search(r"sub_bits = (\d+)", (source / "userspace/base/histogram.h").read_text()).group(1))
buckets, percent = str(1 << bits), f"{100 / (1 << bits):.1f}"
failed = found = 0
for path in [*source.glob("Documentation/*.md"), *source.glob("Documentation/man/*"), source / "README.md"]:
	text = " ".join(path.read_text().split())
	for pattern, right in ((r"([\d.]+) % too (?:large|small)", percent), (r"(?:at most|within) ([\d.]+) % (?:too|of the value)", percent),
	                       (r"histograms? with (\d+) buckets", buckets), (r"(\d+) (?:buckets )?(?:to|for each|per) (?:a )?power of two", buckets)):
		for said in re.findall(pattern, text):
			found += 1
			if said != right:
				print(f"{path.name} says {said} where the histogram has {right}: {pattern}")
				failed = 1
if not found:
	print("no text says how exact percentiles are")
sys.exit(failed or not found)
