#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that handle their own faults, as garbage collectors and virtual machines do: the fault has no completion. What
they compute in the handler, or after they jumped out of it, is user time: the timer interrupts that came in it say so.
In the trace and in statistics."""
import e2e


def compare(what, row, told):
	"""Between a fault and the first tick after it nothing is known: of 10 times 60 ms at most 10 ticks, of 4 ms or less."""
	user = row["cpu_ns"] * row["user_percent"] / 100
	print(f"{what}: user {user:.0f}, unattributed {row['unattributed_percent']:.1f} %, by getrusage {told}")
	e2e.expect(user > 0.85 * told["user_ns"], f"{what}: user time {user:.0f}, by getrusage {told['user_ns']}: {row}")
	e2e.expect(user < 1.1 * (told["user_ns"] + told["system_ns"]), f"{what}: user time {user:.0f} of {told}")


def faults():
	program = e2e.compiled("handled_faults.c", "-O1")
	for how in ("handler", "jump"):
		trace = e2e.record(how, command=(program, how))
		trace.expect_true()
		told = e2e.values(trace.output)
		ticks = trace.events("--event", "local_timer_entry", "--filter", 'thread == "handled_faults"')
		if len(ticks) < 20:
			e2e.leave_out(how, "this machine has no timer interrupts to go by")
			continue
		(row,) = trace.rows(process="handled_faults")
		compare(how, row, told)
		summed = e2e.record(f"{how}_statistics", "--statistics", "1s", command=(program, how))
		# In the period in which it ended it is "handled_faults (ended)".
		rows = [row for row in summed.rows("--top", "0") if row["process"].startswith("handled_faults")]
		cpu_ns = sum(row["cpu_ns"] for row in rows)
		sums = {name: sum(row["cpu_ns"] * row[name] for row in rows) / cpu_ns for name in ("user_percent", "unattributed_percent")}
		compare(f"{how}, statistics", {"cpu_ns": cpu_ns, **sums}, e2e.values(summed.output))


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(faults)
