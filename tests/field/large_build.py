#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A build of 100,000 processes that live for some microseconds: its picture has all of their time, each lane at every level,
and whatever the page asks for first is answered, within the memory that a command takes by itself."""
import e2e
import view

PROCESSES = 100_000


def a_picture():
	program = e2e.compiled("large_build.c")
	trace = e2e.record("build", "-e", "sched", command=(program, PROCESSES))
	if trace.summary()["lost"]:
		e2e.leave_out("a_picture", "events were lost")
		return
	page = view.View(trace.directory, "--no-cache")
	about = page.json("about")
	e2e.equal("damaged packets, or what there was no memory for", about["problems"], 0)
	threads, nanoseconds = about["threads"], 1e9 / about["frequency_hz"]
	rows = trace.rows("--by", "command", "--top", "0")
	e2e.expect(len(threads) < 10_000, f"{len(threads)} threads have rows")
	others = {thread["name"]: thread for thread in threads if thread.get("others")}
	e2e.expect({"build_cc", "build_as"} <= others.keys() and sum(thread["others"] for thread in others.values()) > PROCESSES * 0.8, f"others: {others.values()}")
	for name in ("build_cc", "build_as"):
		(row,) = [row for row in rows if row["command"] == name]
		for ours, theirs in (("ran", "cpu_ns"), ("waited", "waiting_ns")):
			sum_ns = sum(thread[ours] for thread in threads if thread["name"] == name) * nanoseconds
			e2e.expect(abs(sum_ns - row[theirs]) <= 1 + row[theirs] * 1e-9, f"{name} {ours} {sum_ns} ns, report has {row[theirs]}")
	first = max(level for level in range(about["levels"]) if about["base_ticks"] * 4 ** level <= about["ticks"] / 1200)
	longest = sorted(range(len(threads)), key=lambda row: -threads[row]["ran"])[:40]
	lanes = {"CPUs": ["c*"], "threads": [lane for row in longest for lane in (f"r{row}", f"w{row}")]}
	for by, letter in (("process", "p"), ("command", "m"), ("cgroup", "g")):
		e2e.expect(len(about["groups"][by]) < 10_000, f"{len(about['groups'][by])} groups by {by}")
		lanes[by] = [f"{letter}{place}" for place in range(min(40, len(about["groups"][by])))]
	for level in (0, first, about["levels"] - 1):
		found = {what: page.slices(level, ",".join(names)) for what, names in lanes.items()}
		busy = {what: [sum(one[4] for one in lane) for lane in found[what]] for what in found}
		e2e.equal(f"time of the CPUs at level {level}", busy["CPUs"], [cpu["busy"] for cpu in about["cpus"]])
		e2e.equal(f"time of threads at level {level}", busy["threads"], [threads[row][kind] for row in longest for kind in ("ran", "waited")])
		for by in ("process", "command", "cgroup"):
			e2e.equal(f"time by {by} at level {level}", busy[by], [group["ran"] for group in about["groups"][by][:40]])
		if level == first:
			e2e.expect(all(len(lane) > 500 for lane in found["CPUs"]), f"slices of the CPUs: {[len(lane) for lane in found['CPUs']]}")
	for by in ("process", "thread"):
		table = page.json(f"table?from=0&to={about['ticks']}&by={by}")
		e2e.expect(len(table["rows"]) <= 4096 and table["left_out"] + len(table["rows"]) >= PROCESSES, f"rows by {by}: {len(table['rows'])} and {table['left_out']}")
	page.end()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(a_picture)
