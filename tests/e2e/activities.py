#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Activities of an instrumented program: counts exact, times and shares as the program knows them."""
import os

import e2e

LOAD = os.path.join(e2e.programs, "activity_load")
NAPS, SPINS, WORKERS, JOBS, LEVELS = 100, 40, 4, 10, 10
SHARES = ("cpu_percent", "runnable_percent", "blocked_percent", "unknown_percent")


def record(name, *options, **more):
	trace = e2e.record(name, "--force", *options, command=(LOAD, NAPS, SPINS), **more)
	trace.expect_true()
	summary = trace.summary()
	e2e.equal("events lost", (summary["lost"], summary["claimed_lost"]), (0, 0))
	return trace


def by_activity(trace, *options):
	return {row["activity"]: row for row in trace.rows("activities", *options)}


def expect_counts(trace):
	rows = by_activity(trace)
	e2e.equal("counts", {name: row["count"] for name, row in rows.items()},
	          {"round": NAPS, "nap": NAPS, "step": NAPS, "spin": SPINS, "recurse": LEVELS, "job": WORKERS * JOBS})
	e2e.equal("unpaired", trace.report("activities")["unpaired"], {"begins": 1, "ends": 2, "left_out": 0})
	e2e.expect(rows["nap"]["total_ns"] >= NAPS * 2_000_000, f"{NAPS} naps of 2 ms: {rows['nap']['total_ns']} ns")
	e2e.expect(rows["nap"]["p50_ns"] >= 2_000_000, f"a nap of 2 ms: p50 is {rows['nap']['p50_ns']} ns")
	own = rows["round"]["total_ns"] - rows["nap"]["total_ns"] - rows["step"]["total_ns"]
	e2e.expect(abs(rows["round"]["exclusive_ns"] - own) <= 3,  # ticks are rounded to ns in each
	           f"a round without what is inside: {rows['round']['exclusive_ns']}, not {own}")
	recurse = rows["recurse"]
	e2e.equal("outermost of a recursion", recurse["total_ns"], recurse["max_ns"])
	e2e.equal("exclusive time of a recursion", recurse["exclusive_ns"], recurse["total_ns"])
	# Each level has 1 ms of CPU time more than the one inside it; who waits in the innermost waits in all.
	e2e.expect(recurse["max_ns"] - recurse["mean_ns"] > 4_000_000, f"its levels are of one length: {recurse}")
	return rows


def without_rseq():
	"""The same of a program whose threads share a ring."""
	expect_counts(record("shared", env={**os.environ, "GLIBC_TUNABLES": "glibc.pthread.rseq=0"}))


def with_counters():
	"""What was counted in an activity: the spins' CPU time, of which readings were made inside."""
	trace = record("counters", "-m", "clock=cpu-clock,faults=page-faults/count", "--every", "1ms")
	rows = by_activity(trace)
	spin, nap = rows["spin"], rows["nap"]
	on_cpu = spin["total_ns"] * spin["cpu_percent"] / 100
	e2e.expect(0.5 * on_cpu < spin["clock"] < 1.2 * on_cpu, f"spins of {on_cpu:.0f} ns have {spin['clock']} counted")
	e2e.expect(nap["clock"] < 0.1 * nap["total_ns"], f"naps have {nap['clock']} ns of CPU time counted")
	e2e.expect(spin["faults"] is not None and spin["faults"] < 10, f"faults of a spin: {spin['faults']}")
	text = e2e.run(e2e.monitor, "report", trace.directory, "activities").stdout
	e2e.expect("between readings inside it" in text, f"the report does not say from what: {text}")


def with_the_kernel():
	"""A sleep is blocked, a spin is on the CPU; the four shares are 100."""
	global TRACE
	TRACE = record("kernel")
	rows = expect_counts(TRACE)
	for row in rows.values():
		e2e.expect(row["recorded"], f"{row['activity']} is not marked")
		e2e.expect(abs(sum(row[share] for share in SHARES) - 100) < 0.001, f"shares that are not 100: {row}")
	for name in ("nap", "round"):  # on a busy machine it waits for a CPU after each sleep
		row = rows[name]
		e2e.expect(row["blocked_percent"] + row["runnable_percent"] > 90, f"a {name} is not asleep: {row}")
		slept = row["blocked_percent"] / 100 * row["total_ns"]
		e2e.expect(slept > 0.9 * NAPS * 2_000_000, f"{NAPS} naps of 2 ms, asleep for {slept:.0f} ns: {row}")
	said = e2e.values(TRACE.output)["spin_ns"]
	spin = rows["spin"]
	e2e.expect(spin["blocked_percent"] < 1, f"a spin is {spin['blocked_percent']:.1f} % blocked")
	e2e.expect(spin["cpu_percent"] + spin["runnable_percent"] > 99 or TRACE.disturbed({spin["pid"]}),
	           f"a spin that did something else: {spin}")
	on_cpu = spin["total_ns"] * spin["cpu_percent"] / 100
	report = TRACE.report()  # what the host takes from a guest is in the tokens' times, not in the thread's clock
	stolen = sum(cpu["steal_percent"] or 0 for cpu in report["cpus"]) / 100 * TRACE.summary()["wall_ns"]
	e2e.expect(0.97 * said < on_cpu < 1.1 * said + stolen,
	           f"the spins took {said} ns by their clock, {on_cpu:.0f} by the tokens, {stolen:.0f} were stolen")
	print(f"nap {rows['nap']['blocked_percent']:.1f} % blocked, spin {spin['cpu_percent']:.1f} % on CPU: "
	      f"{on_cpu:.0f} ns, by the thread's clock {said} ns")


def groupings():
	(process,) = TRACE.rows("activities", activity="job")
	threads = TRACE.rows("activities", "--by", "thread", activity="job")
	e2e.equal("jobs by thread", [row["count"] for row in threads], [JOBS] * WORKERS)
	e2e.equal("threads", len({row["tid"] for row in threads} | {process["pid"]}), WORKERS + 1)
	arguments = TRACE.rows("activities", "--by", "argument")
	jobs = {row["argument"]: row["count"] for row in arguments if row["activity"] == "job"}
	e2e.equal("jobs by argument", jobs, dict.fromkeys(range(WORKERS), JOBS))
	spins = {row["argument"]: row["count"] for row in arguments if row["activity"] == "spin"}
	e2e.equal("spins by argument", spins, {"fast": SPINS // 2, "slow": SPINS // 2})


def printed():
	text = e2e.run(e2e.monitor, "report", "--sort", "exclusive", "--top", "2", TRACE.directory, "activities").stdout
	e2e.expect("... and 4 more" in text and "spin" in text and "step" not in text, f"--top 2: {text}")
	e2e.expect("unpaired: 1 begins without an end, 2 ends" in text, f"nothing is said of unpaired events: {text}")
	csv = e2e.run(e2e.monitor, "report", "--csv", TRACE.directory, "activities").stdout.splitlines()
	e2e.equal("lines of --csv", len(csv), 7)
	e2e.expect(csv[0].startswith("recorded,activity,process,pid,count,total_ns,"), f"columns of --csv: {csv[0]}")


def without_the_kernel():
	"""Alone the programs' events tell times, and no shares."""
	rows = expect_counts(record("alone", "--user-only"))
	for row in rows.values():
		e2e.equal(f"shares of {row['activity']}", [row[share] for share in SHARES], [None] * 4)


def without_wakings():
	trace = record("calls", "-e", "syscall")
	rows = by_activity(trace)
	nap, spin = rows["nap"], rows["spin"]
	e2e.equal("runnable and blocked", (nap["runnable_percent"], nap["blocked_percent"]), (None, None))
	e2e.expect(nap["unknown_percent"] > 90 and abs(nap["cpu_percent"] + nap["unknown_percent"] - 100) < 0.001,
	           f"a sleep without wakings: {nap}")
	on_cpu = spin["cpu_percent"] / 100 * spin["total_ns"]
	e2e.expect(on_cpu > 0.9 * e2e.values(trace.output)["spin_ns"], f"a spin without wakings: {spin}")


def refused():
	none = e2e.record("none", "-e", "power", command=("true",))
	for code, says, trace, *words in (
	        (1, "declare them with EDC_ACTIVITY", none, "activities"),
	        (2, "activities can be grouped by process, thread, caller or argument, not by cpu", TRACE, "activities", "--by", "cpu"),
	        (2, "--by argument needs the report activities", TRACE, "--by", "argument")):
		done = e2e.run(e2e.monitor, "report", trace.directory, *words, exit_code=code)
		e2e.expect(says in done.stderr and done.stderr.count("\n") == 1, f"{words}: {done.stderr}")


if __name__ == "__main__":
	e2e.need_recording()
	if os.uname().machine != "x86_64":
		e2e.skip("the user card is for x86-64")
	e2e.main(with_the_kernel, groupings, printed, without_the_kernel, without_wakings, refused, without_rseq, with_counters)
