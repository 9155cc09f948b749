#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""4,000 threads of one process: each is in the report with its name, and whatever reads the trace does so in seconds and
with less than a gigabyte."""
import re
import resource

import e2e

MAX_KB = 1_000_000


def each_is_there():
	program = e2e.compiled("many_threads.c", "-pthread")
	for name, *options in (("selected", "-p", "cmd", "--stacks=offcpu"), ("statistics", "--statistics", "1s")):
		trace = e2e.record(name, *options, command=(program, 4000))
		told = e2e.values(trace.output)
		e2e.expect(told["made"] > 1000, f"threads: {told}")
		trace.expect_true()
		if name == "selected":
			e2e.equal("lost", trace.summary()["lost"], 0)
			rows = trace.rows("--by", "thread", "--pid", told["pid"], "--top", "0")
			e2e.equal("threads by name", len({row["thread"] for row in rows if re.fullmatch(r"thr\d+", row["thread"])}), told["made"])
			for command in (("report",), ("report", "--by", "thread"), ("states", "--tree", "thread"), ("view", "--no-cache", "-o", e2e.work / "v.html"), ("stat",)):
				e2e.run(e2e.reader, command[0], trace.directory, *command[1:], timeout=60)
	largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
	e2e.expect(largest < MAX_KB, f"a command took {largest} kB")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(each_is_there)
