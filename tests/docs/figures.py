#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the texts say of percentiles is what the histograms do, the reader's and that of record --time. figures.py SOURCE_DIRECTORY"""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
bits = int(re.search(r"using Histogram = BasicHistogram<(\d+)>", (source / "userspace/base/histogram.h").read_text()).group(1))
# The buckets of record --time begin at 8: none is for a power of two below.
timed = int(re.search(r"EDC_TIMED_BUCKETS (\d+)", (source / "include/monitor/timing.h").read_text()).group(1)) // (64 - 2)
buckets, percent = {str(n) for n in (1 << bits, timed)}, {f"{100 / n:.1f}" for n in (1 << bits, timed)}
failed = found = 0
for path in [*source.glob("Documentation/*.md"), *source.glob("Documentation/man/*"), source / "README.md"]:
	text = " ".join(path.read_text().split())
	for pattern, right in ((r"([\d.]+) % too (?:large|small)", percent), (r"(?:at most|within) ([\d.]+) % (?:too|of the value)", percent),
	                       (r"histograms? with (\d+) buckets", buckets), (r"(\d+) (?:buckets )?(?:to|for each|per) (?:a )?power of two", buckets)):
		for said in re.findall(pattern, text):
			found += 1
			if said not in right:
				print(f"{path.name} says {said} where the histograms have {sorted(right)}: {pattern}")
				failed = 1
if not found:
	print("no text says how exact percentiles are")
sys.exit(failed or not found)
