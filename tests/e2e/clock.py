#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recorder that stands still for 5 s under full load: losses stay exact, and the trace's clock is never wrong by more
than the bound that is printed.

The witness reads TSC and monotonic clock together during the recording. What the probes make of a monotonic time is
computed here from the trace's clock_set events, as include/monitor/card.h defines it; the TSC that the witness read at
that monotonic time is the truth.
"""
import os
import signal
import subprocess
import time

import e2e

WITNESS_S = 7.5


def probes_time(sets, ns):
	"""edc_clock_at() of the set that holds at that time."""
	held = max((s for s in sets if s["from_ns"] <= ns), key=lambda s: s["from_ns"], default=None)
	if held is None:
		return None
	d = ns - held["from_ns"]
	return held["base"] + d * held["whole"] + ((d >> 16) * held["frac"] >> 16) + ((d & 0xffff) * held["frac"] >> 32)


def errors_ns(trace, lines, frequency):
	"""By how much the trace's time was outside of what the witness saw, per reading."""
	sets = [event["fields"] for event in trace.events("--event", "clock_set")]
	begin, end = trace.recording()["start"]["time"], trace.recording()["end"]["time"]
	errors = []
	for before, ns, after in (map(int, line.split()) for line in lines):
		if begin <= before and after <= end:
			mine = probes_time(sets, ns)
			errors.append(max(before - mine, mine - after, 0) * 1e9 / frequency)
	return errors


def frequency_of(trace):
	text = (trace.directory / "metadata").read_text()
	return int(text.split("freq = ")[1].split(";")[0])


def expect_bound(trace, lines, least):
	errors = errors_ns(trace, lines, frequency_of(trace))
	bound = trace.summary()["clock_bound_ns"]
	e2e.expect(len(errors) >= least, f"only {len(errors)} readings lie within the recording")
	e2e.expect(max(errors) <= bound, f"the clock was wrong by {max(errors):.0f} ns, the printed bound is {bound} ns")
	print(f"{len(errors)} readings, wrong by {max(errors):.0f} ns at the most, the bound is {bound} ns")


@e2e.longer
def stopped_for_5_s():
	recorder = e2e.Recorder("stopped", "-e", "sched,syscall")
	with e2e.getppid_on_every_cpu():
		recorder.wait_until_recording()
		with subprocess.Popen([os.path.join(e2e.programs, "clock_pairs"), str(WITNESS_S)], stdout=subprocess.PIPE,
		                      text=True) as witness:
			time.sleep(1)
			recorder.send(signal.SIGSTOP)
			time.sleep(5)
			recorder.send(signal.SIGCONT)
			lines = witness.communicate()[0].splitlines()
	trace = recorder.end()
	trace.expect_true()
	expect_bound(trace, lines, 100)
	summary = trace.summary()
	e2e.expect(summary["lost"] > 0, "the recorder stood still for 5 s at full load, and nothing was lost")
	syncs = [event["fields"]["monotonic"] for event in trace.events("--event", "sync")]
	longest = max(b - a for a, b in zip(syncs, syncs[1:]))
	e2e.expect(longest > 4.5e9, f"the longest pause between two sync events is {longest} ns: was it stopped?")


def undisturbed():
	recorder = e2e.Recorder("undisturbed", "-e", "sched").wait_until_recording()
	lines = e2e.run(os.path.join(e2e.programs, "clock_pairs"), 2).stdout.splitlines()
	trace = recorder.end()
	expect_bound(trace, lines, 50)


def one_boot():
	"""Recordings of one boot have one counter, though each measured its rate by itself."""
	traces = [e2e.record(f"boot{i}", "--no-calibration", "-e", "sched", "-d", 0.2) for i in range(3)]
	merged = e2e.work / "boots"
	lines = e2e.run(e2e.monitor, "merge", "-o", merged, *(trace.directory for trace in traces)).stdout.splitlines()
	for line in lines[1:]:
		e2e.expect("(same clock)" in line, line)
		e2e.expect(int(line.split("at most ")[1].split(" ns")[0]) < 10_000, f"the clocks drift apart: {line}")
	e2e.equal("clock bound of several recordings", e2e.Trace(merged).summary()["clock_bound_ns"], None)


if __name__ == "__main__":
	e2e.need_recording()
	if not os.path.exists(os.path.join(e2e.programs, "clock_pairs")):
		e2e.skip("the witness of the clock reads the TSC, which this machine does not have")
	e2e.main(stopped_for_5_s, undisturbed, one_boot)
