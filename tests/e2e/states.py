#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trees of states: a bus whose transfers are known, and recordings of workloads whose times are.

states.py MONITOR PROGRAMS WORK SOURCE_DIRECTORY
"""
import csv
import io
import json
import os
import pathlib
import random
import re
import struct
import sys

import e2e

SOURCE = pathlib.Path(sys.argv[4])
HERE = SOURCE / "tests" / "e2e"
CYCLE_NS = 100
A, B, C, D, ALL = 1, 2, 3, 4, 255
START = {ALL: 2, A: 3}  # by destination; else by source and destination
FROM_A = {B: 4, C: 5, D: 6}
OTHER_START, IDLE, END, TRANSFER = 7, 8, 9, 1


def states(*options, exit_code=0):
	return e2e.run(e2e.monitor, "states", *options, exit_code=exit_code)


def rows(*options):
	return json.loads(states(*options, "--json").stdout)


def bus_cycles(random_):
	"""Cycles as (sc0, sc2, busy, source, destination) with their states; some transfers break the protocol."""
	cycles, codes = [], []

	def cycle(code, *lines):
		cycles.append(lines)
		codes.append(code)

	for _ in range(2000):
		for _ in range(random_.randrange(4)):
			cycle(IDLE, 0, 0, 0, 0, 0)
		source, destination = random_.choice([(A, C)] * 3 + [(A, B), (A, D), (B, A), (B, C), (D, ALL)])
		broken = random_.randrange(20)
		if broken != 0:  # 0: data without a start
			code = START.get(destination) or (FROM_A[destination] if source == A else OTHER_START)
			cycle(code, 1, 0, 1, source, destination)
		for _ in range(random_.randrange(6)):
			cycle(TRANSFER, 0, 0, 1, source, destination)
		if broken != 1:  # 1: a transfer without an end
			cycle(END, 0, 1, 1, source, destination)
	cycle(IDLE, 0, 0, 0, 0, 0)
	return cycles, codes


def bus_trace():
	cycles, codes = bus_cycles(random.Random(1993))
	out = [b"BUS1", struct.pack("<I", 10_000_000)]
	for i, (sc0, sc2, busy, source, destination) in enumerate(cycles):
		out.append(struct.pack("<QHBBI", 5000 + i * CYCLE_NS, sc0 | sc2 << 1 | busy << 2, source, destination, i))
	path = e2e.work / "bus.bin"
	path.write_bytes(b"".join(out))
	return path, codes


def bus():
	"""The protocol of the survey's figure 6, its tree and its expression, beside a matcher of another language."""
	path, codes = bus_trace()
	tree = ("--tdl", HERE / "bus.tdl", "--tree", HERE / "bus.tree")
	# Each state lasts to the next cycle; the last one was entered at the end.
	ticks = {code: CYCLE_NS * sum(1 for one in codes[:-1] if one == code) for code in range(10)}
	runs = [(code, i) for i, code in enumerate(codes) if i == 0 or codes[i - 1] != code]
	found = {row["number"]: row for row in rows(path, *tree) if row["number"] is not None}
	e2e.equal("ticks by state", {number: row["ticks"] for number, row in found.items()}, ticks)
	e2e.equal("runs by state", {number: row["runs"] for number, row in found.items()},
	          {code: sum(1 for one, _ in runs if one == code) for code in range(10)})
	listed = rows(path, *tree, "--runs")
	e2e.equal("run lengths", [(row["number"], row["ticks"]) for row in listed],
	          [(code, CYCLE_NS * ((runs[i + 1][1] if i + 1 < len(runs) else len(codes) - 1) - at))
	           for i, (code, at) in enumerate(runs)])
	text = "".join(str(code) for code, _ in runs)
	for pattern, same in (("5 1+ 9", "51+9"), ("start/A-to-C [transfer]+ end", "51+9"), ("A-to-C transfer end", "519"),
	                      ("[^start transfer] transfer+ end", "[^2-71]1+9"), ("start transfer? [^transfer end]", "[2-7]1?[^19]"),
	                      ("(start transfer* end)+", "([2-7]1*9)+"), (". 9 8{1}", ".98"), ("8 (4 | 5) 1 9 8", "8[45]198")):
		wanted = [(runs[m.start()][1] * CYCLE_NS, CYCLE_NS * ((runs[m.end()][1] if m.end() < len(runs) else len(codes) - 1)
		                                                      - runs[m.start()][1])) for m in re.finditer(same, text)]
		matches = rows(path, *tree, "--match", pattern)
		e2e.equal(f"matches of {pattern}", [(row["from_ns"], row["ticks"]) for row in matches], wanted)
		e2e.expect(len(wanted) > 20, f"{pattern}: only {len(wanted)} matches")
	shown = states(path, *tree, "--match", "5 1+ 9").stdout
	e2e.expect(re.search(r"^[\d,]+ matches, .* % of the time\); each 300 ns to [\d.]+ (ns|us), p50 ", shown, re.M) and "###" in shown, shown)


def window_ns(trace):
	return trace.summary()["wall_ns"]


def expect_sums(trace, tree, *options):
	"""Run lengths of each subject have no gap and add up to the recording; so do the sums."""
	each = rows(trace.directory, "--tree", tree, "--each", *options)
	leaves = [row for row in each if row["number"] is not None or row["state"] in ("PAUSE", "unknown")]
	subject = next(iter(each[0])) if each else ""
	sums = {}
	for row in leaves:
		sums[row[subject]] = sums.get(row[subject], 0) + row["ticks"]
	lengths = set(sums.values())
	if not e2e.expect(len(lengths) == 1, f"{tree}: subjects have windows of {lengths} ticks"):
		return {}
	length = lengths.pop()
	at = {}
	for run in rows(trace.directory, "--tree", tree, "--runs", *options):
		who = run[subject]
		e2e.expect(who not in at or abs(at[who] - run["from_ns"]) < 1, f"{tree}: {who} has a gap before {run}")
		at[who] = run["from_ns"] + run["time_ns"]
	e2e.equal(f"{tree}: subjects with runs", len(at), len(sums))
	every = rows(trace.directory, "--tree", tree, *options)
	e2e.equal(f"{tree}: all together", sum(row["ticks"] for row in every
	                                       if row["number"] is not None or row["state"] in ("PAUSE", "unknown")),
	          length * len(sums))
	return {row["state"]: row for row in every}


def of_cpus(trace):
	"""The same times as the report's, which are of the same fold."""
	found = expect_sums(trace, "cpu")
	length = sum(row["ticks"] for row in rows(trace.directory, "--tree", "cpu") if row["number"] is not None
	             or row["state"] == "unknown")
	time = sum(row["time_ns"] for row in found.values() if row["number"] is not None or row["state"] == "unknown")
	cpus = trace.report("--by", "cpu")["cpus"]
	e2e.expect(abs(time - len(cpus) * window_ns(trace)) < 1000 * len(cpus),
	           f"{len(cpus)} CPUs of {window_ns(trace)} ns have {time} ns in {length} ticks")
	for names, columns in ((("idle",), ("idle_percent",)), (("interrupted",), ("irq_percent", "softirq_percent")),
	                       (("user", "kernel", "unattributed"), ("user_percent", "kernel_percent", "unattributed_percent"))):
		share = sum(found[name]["time_ns"] for name in names) / window_ns(trace) * 100
		wanted = sum(cpu[column] or 0 for cpu in cpus for column in columns)
		e2e.expect(abs(share - wanted) < 0.2 * len(cpus), f"{names}: {share:.2f} %, the report has {wanted:.2f} %")
	one = {row["state"]: row for row in rows(trace.directory, "--tree", "cpu", "--cpu", "0")}
	each = {row["state"]: row for row in rows(trace.directory, "--tree", "cpu", "--each") if row["cpu"] == "0"}
	e2e.equal("CPU 0", {state: row["ticks"] for state, row in one.items()}, {state: row["ticks"] for state, row in each.items()})


def recorded():
	load = os.path.join(e2e.programs, "activity_load")
	trace = e2e.record_undisturbed("load", command=(load, 100, 40))
	trace.expect_true()
	of_cpus(trace)
	expect_sums(trace, "thread")
	found = expect_sums(trace, "request", "--command")
	activities = {row["activity"]: row for row in trace.rows("activities")}
	outer = sum(activities[name]["total_ns"] for name in ("round", "spin", "job"))
	outer += activities["recurse"]["max_ns"]
	e2e.expect(outer <= found["request"]["time_ns"] < 1.05 * outer + 2e6,  # the lonely begin has no end in the load
	           f"requests take {found['request']['time_ns']} ns, their activities {outer} ns")
	tree = e2e.work / "nap.tree"
	tree.write_text('of thread\nnap: activity == "nap"\n\tasleep: state == "blocked" and blocked_on ~ "*nanosleep"\n'
	                'job: outer_activity == "job"\n')
	naps = {row["state"]: row for row in rows(trace.directory, "--tree", tree, "--command")}
	unknown = naps["unknown"]  # it may sleep in the kernel where no token says on what
	e2e.expect(0 <= naps["nap"]["runs"] - 100 <= unknown["runs"], f"naps: {naps['nap']['runs']}, unknown: {unknown}")
	e2e.expect(-1000 < activities["nap"]["total_ns"] - naps["nap"]["time_ns"] < 1000 + unknown["time_ns"],
	           f"naps take {naps['nap']['time_ns']} ns, not {activities['nap']['total_ns']}")
	e2e.expect(naps["nap/asleep"]["runs"] >= 100 and naps["nap/asleep"]["min_ns"] > 1_500_000, f"asleep: {naps['nap/asleep']}")
	e2e.equal("jobs", naps["job"]["runs"], 40)
	matches = rows(trace.directory, "--tree", tree, "--command", "--match", "REST nap/REST* asleep nap*")
	e2e.expect(100 - unknown["runs"] <= len(matches) <= 100, f"{len(matches)} matches")
	half = trace.directory, "--tree", "cpu"
	middle = f"{window_ns(trace) // 2}ns"
	parts = [sum(row["ticks"] for row in rows(*half, *part) if row["number"] is not None or row["state"] == "unknown")
	         for part in ((), ("--to", middle), ("--from", f"{window_ns(trace) // 2 + 1}ns"))]
	e2e.expect(abs(parts[0] - parts[1] - parts[2]) <= 20, f"two halves are {parts[1:]} of {parts[0]} ticks")
	text = states(trace.directory, "--tree", "thread", "--command", "--each", "--top", "1").stdout
	e2e.expect("and 4 more; --top 0 shows all" in text, text)
	table = list(csv.DictReader(io.StringIO(states(trace.directory, "--tree", "cpu", "--csv").stdout)))
	e2e.equal("CSV", [(row["state"], row["ticks"]) for row in table],
	          [(row["state"], str(row["ticks"])) for row in rows(trace.directory, "--tree", "cpu")])
	full = json.loads(states(trace.directory, "--tree", "cpu", "--json", "--histogram").stdout)
	for row in full["rows"]:
		counted = sum(bucket["count"] for one in full["histograms"] if one["row"] == [row["state"]] for bucket in one["buckets"])
		e2e.equal(f"histogram of {row['state']}", counted, row["runs"])
	machine = e2e.work / "machine.tree"
	machine.write_text("of machine\nall: idle == 0\nsome: running > 0\nnone: running == 0\n")
	found = {row["state"]: row for row in rows(trace.directory, "--tree", machine)}
	idle = sum(cpu["idle_percent"] for cpu in trace.report("--by", "cpu")["cpus"])
	e2e.expect(found["none"]["share_percent"] <= idle + 1 and found["REST"]["runs"] == 0, f"machine: {found}")
	without_kernel(load)
	without_calls()


def without_calls():
	trace = e2e.record("sched", "-e", "sched", command=("sleep", "0.2"))
	found = expect_sums(trace, "cpu")
	# Whether a CPU was idle depends on what else the machine does.
	e2e.expect(found["user"]["runs"] == 0 and found["unattributed"]["runs"] > 0, f"{found}")
	wrong = states(trace.directory, "--tree", "thread", exit_code=1).stderr
	e2e.expect("which this trace lacks: record the family syscall, too, or do without it" in wrong, wrong)
	tree = e2e.work / "sched.tree"
	tree.write_text('of thread\nrunning: state == "running"\nready: state == "ready"\nblocked: state == "blocked"\n')
	found = expect_sums(trace, tree, "--comm", "sleep")
	e2e.expect(found["blocked"]["time_ns"] > 180e6, f"sleep 0.2: {found['blocked']}")


def without_kernel(load):
	"""Programs' own events only, recorded without privilege: nothing is known of the scheduler."""
	trace = e2e.record("user", "--user-only", command=(load, 20, 5))
	tree = e2e.work / "user.tree"
	tree.write_text('of thread\nnap: activity == "nap"\nround: has(activity)\nbetween: thread ~ "activity*"\n')
	found = expect_sums(trace, tree)
	e2e.equal("naps", found["nap"]["runs"], 20)
	tree.write_text('of thread\nbusy: state == "running"\n')
	wrong = states(trace.directory, "--tree", tree, exit_code=1).stderr
	e2e.expect("state follows from sched_switch, which this trace lacks: use fields of its events" in wrong, wrong)


def errors():
	path, _ = bus_trace()
	tdl = ("--tdl", HERE / "bus.tdl")
	wrong = e2e.work / "wrong.tree"

	def refused(text, *options, tree=wrong):
		wrong.write_text(text)
		done = states(path, *tdl, "--tree", tree, *options, exit_code=1)
		e2e.expect(done.stdout == "" and done.stderr.startswith("monitor: "), f"{text}: {done.stdout}{done.stderr}")
		return done.stderr

	good = (HERE / "bus.tree").read_text()
	for sentence, text, *options in (
			("no event of this trace has a field \"bussy\". Did you mean busy?\n  bussy == 1\n  ^", "of machine\na: bussy == 1\n"),
			("wrong.tree, line 3: a colon is missing", "of machine\na: busy == 1\nb\n"),
			("state is not known in a tree of a machine: it is in trees of a cpu or a thread", 'of machine\na: state == "idle"\n'),
			("mode follows from sched_switch, which this trace lacks", 'of cpu\na: mode == "idle"\n'),
			("this trace does not tell which thread an event is of", "of thread\na: busy == 1\n"),
			("is a tree of a machine: --cpu selects CPUs", good, "--cpu", "1"),
			("is a tree of a machine: --pid, --tid, --comm, --cgroup and --command select threads", good, "--pid", "1"),
			("this tree has no state strat. Did you mean start?", good, "--match", "5 strat"),
			("this tree has the states 0 to 9", good, "--match", "5 10"),
			("too large an automaton", good, "--match", "(1{1000} 2{1000}){1000}")):
		shown = refused(text, *options)
		e2e.expect(sentence in shown, f"{sentence!r} is not in {shown}")
	shown = refused("", tree="cpus")
	e2e.expect("unknown tree cpus; expected a file, or one of: cpu, request, thread. Did you mean cpu?" in shown, shown)
	shown = refused("", tree="cpu")
	e2e.expect("mode follows from sched_switch, which this trace lacks" in shown, shown)


def main():
	tests = [bus, errors]
	e2e.main(*tests, with_recording)


@e2e.longer
def with_recording():
	e2e.need_recording()
	recorded()


if __name__ == "__main__":
	main()
