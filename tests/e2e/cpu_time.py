#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU time per thread against the thread's own CPU clock, and the user/kernel split of loads whose split is known."""
import json
import re

import e2e

e2e.calibrated = True


def one_row(name, verb, number):
	before = e2e.steal_ns()
	trace = e2e.record_workload(name, verb, number)
	stolen = e2e.stolen_ns(before)
	trace.expect_true()
	(row,) = trace.rows("--by", "thread", tid=trace.values["pid"])
	e2e.expect(row["recorded"], "the command's thread is not marked")
	return trace, row, stolen


def kernel_share(said):
	"""What the kernel's own clocks say of the same loop."""
	return 100 * said["system_us"] / max(said["system_us"] + said["user_us"], 1)


def spin():
	trace, row, stolen = one_row("spin", "spin", 1500)
	clock = trace.values["cpu_ns"]
	allowed = max(clock * 0.005, 200_000) + stolen
	e2e.expect(abs(row["cpu_ns"] - clock) <= allowed,
	           f"CPU time is {row['cpu_ns']} ns, by the thread's clock {clock} ns; {allowed:.0f} ns are allowed")
	interrupts = row["irq_percent"] + row["softirq_percent"]
	e2e.expect(row["user_percent"] + interrupts >= 99, f"a pure spin is {row['user_percent']:.2f} % user")
	e2e.expect(interrupts < 20, f"a spin with {interrupts:.2f} % interrupts")
	print(f"spin: {row['cpu_ns']} ns, the thread's clock {clock} ns, {row['user_percent']:.2f} % user")


def with_edge(trace, ns):
	"""The thread's row if the calibration had found that a call takes this long outside of its two tokens."""
	path = trace.directory / ".monitor/recording.json"
	recording = json.loads(path.read_text(encoding="utf-8"))
	recording["cost_ns"]["call_edge"] = ns
	path.write_text(json.dumps(recording), encoding="utf-8")
	(row,) = trace.rows("--by", "thread", tid=trace.values["pid"])
	return row, row["user_percent"] * row["cpu_ns"] / 100


def getppid():
	"""Half of it is the probes' own time and the way to and from their tokens: in the kernel, but outside of the pairs. How
	long that is was calibrated before; as the machine may have changed its pace since, the test measures it in the trace."""
	trace, calibrated_row, _ = one_row("getppid", "getppid", 300000)
	activity = json.loads(e2e.run(e2e.monitor, "stat", trace.directory, "--json", "--start", 'name == "sys_exit"', "--end", 'name == "sys_enter"',
	                              "--key", "tid", "--tid", trace.values["pid"]).stdout)["activities"][0]
	(gap,) = activity["rows"]
	shortest, median, edge = gap["min_ns"], gap["p50_ns"], trace.recording()["cost_ns"]["call_edge"]
	e2e.expect(gap["count"] >= 300000 - 1, f"{gap}")
	e2e.expect(shortest / 4 < edge < 4 * median, f"{edge:.0f} ns outside of a call's tokens were calibrated; there are {shortest:.0f}, mostly {median:.0f} ns")
	_, all_of_it = with_edge(trace, 0)
	_, less = with_edge(trace, shortest // 2)
	removed, expected = all_of_it - less, gap["count"] * (shortest // 2)
	e2e.expect(abs(removed / expected - 1) < 0.1, f"{removed:.0f} ns are not user time, for {gap['count']} times {shortest // 2:.0f} ns")
	row, _ = with_edge(trace, round(2 * median))
	in_kernel = row["kernel_percent"] + row["unattributed_percent"]
	e2e.expect(row["user_percent"] < 10, f"a getppid loop is {row['user_percent']:.1f} % user")
	e2e.expect(row["kernel_percent"] > 30, f"a getppid loop is only {row['kernel_percent']:.1f} % kernel")
	print(f"getppid: {row['kernel_percent']:.1f} % kernel, with unattributed {in_kernel:.1f} %, by its clocks {kernel_share(trace.values):.1f} %; "
	      f"as calibrated {calibrated_row['user_percent']:.1f} % user, {edge:.0f} ns of {median:.0f} ns outside of the tokens")


def touch():
	trace, row, _ = one_row("touch", "touch", 30000)
	e2e.expect(row["kernel_percent"] > 50, f"a page toucher is only {row['kernel_percent']:.1f} % kernel")
	e2e.expect(row["user_percent"] < 15, f"a page toucher is {row['user_percent']:.1f} % user")
	e2e.expect(row["minor_faults"] >= 30000, f"30000 pages touched, {row['minor_faults']} faults reported")
	print(f"touch: {row['kernel_percent']:.1f} % kernel, by its clocks {kernel_share(trace.values):.1f} %")


def nap():
	trace = e2e.record_workload("nap", "nap", 100)
	rows = trace.rows("offcpu", tid=trace.values["pid"], call="nanosleep")
	total = sum(row["total_ns"] for row in rows)
	e2e.expect(total >= 95 * 1_000_000, f"100 sleeps of 1 ms are {total} ns of blocked time")
	timer = sum(row["count"] for row in rows if re.match(r"irq:local_timer|softirq:(HR)?TIMER", row["waker"]))
	wakers = [(row["waker"], row["count"]) for row in rows]
	e2e.expect(timer >= 95, f"of 100 sleeps {timer} were ended by the timer: {wakers}")
	slept = sum(row["count"] for row in rows)  # a timer may be over before the thread is asleep
	e2e.expect(95 <= slept <= 100, f"{slept} sleeps, not 100")


def pingpong():
	trace = e2e.record_workload("pingpong", "pingpong", 1000)
	parent, child = trace.values["pid"], trace.values["child"]
	for one, other in ((parent, child), (child, parent)):
		rows = trace.rows("offcpu", tid=one, call="read")
		woken = sum(row["count"] for row in rows if row["waker"] == f"workload-{other}")
		total = sum(row["count"] for row in rows)
		e2e.expect(woken >= 0.9 * total > 100, f"{one} blocked {total} times in read, {other} woke it {woken} times")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(spin, getppid, touch, nap, pingpong)
