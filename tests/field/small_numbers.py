#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Figures that are small and not zero (rates of seldom events, ratios per ns), and messages that suggest what was written."""
import struct

import e2e


def small():
	trace = e2e.record("sleeper", "-m", "csw=context-switches/task-clock", command=("sh", "-c", "for i in 1 2 3; do sleep .02; done"))
	lines = e2e.run(e2e.monitor, "report", trace.directory, "ratios", "--command").stdout.splitlines()
	ratio = next(line for line in lines if line.startswith("*")).split()[-1]
	e2e.expect(float(ratio) > 0, f"context switches per ns of CPU time: {ratio}")
	suggested = e2e.run(e2e.monitor, "query", trace.directory, "SELECT thread FROM threads", exit_code=1).stderr
	e2e.expect("Did you mean thread?" not in suggested and " name," in suggested, f"a column that threads lacks: {suggested}")


def seldom():
	"""Ten packets in nine days."""
	packets = b"".join(struct.pack("<IIII", 1700000000 + 86400 * i, 0, 60, 60) + bytes(60) for i in range(10))
	(e2e.work / "slow.pcap").write_bytes(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1) + packets)
	rate = e2e.run(e2e.reader, "stat", e2e.work / "slow.pcap").stdout.splitlines()[1].split()[2]
	e2e.near("packets per second", float(rate), 10 / (9 * 86400), part=0.05)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(small, seldom)
