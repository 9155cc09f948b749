#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record --sample-every with the BPF card: each CPU is sampled once in each period, idle or not; a loop on one CPU is seen
there; what the samples say of idle time is what the switches say; without tokens samples are counted."""
import json

import e2e

PERIOD_NS = 1_003_000  # not that of any other timer
BPF = ("--card", "bpf", "--sample-every", f"{PERIOD_NS}ns")
LOOP = ("sh", "-c", "end=$(($(date +%s%N) + 1500000000)); while [ $(date +%s%N) -lt $end ]; do i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; done")
# Half of the time idle.
NAPS = ("sh", "-c", "n=0; while [ $n -lt 60 ]; do n=$((n + 1)); sleep 0.0137; i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done; done")


def report(trace, *options):
	return json.loads(e2e.run(e2e.monitor, "report", "--json", trace.directory, "samples", *options).stdout)


def once_in_each_period():
	trace = e2e.record("periods", "--force", "-e", "sched", *BPF, "-d", 2)
	trace.expect_true()
	answer = report(trace, "--idle")
	window = answer["summary"]["window"]
	periods = (window["end_ns"] - window["begin_ns"]) / PERIOD_NS
	for row in answer["rows"]:
		# The window begins and ends anywhere in a period, and a CPU may be late there.
		e2e.expect(abs(row["samples"] + row["missing"] - periods) <= 5, f"{periods:.1f} periods: {row}")
		e2e.expect(row["samples"] > periods / 2, f"{periods:.1f} periods: {row}")
	samples, spread = answer["samples"], answer["samples"]["spread_ns"]
	e2e.expect(samples["complete"] > periods / 3, f"{samples}")
	if len(e2e.cpus()) > 1:
		e2e.expect(0 <= spread["min"] <= spread["median"] <= spread["p99"] <= spread["max"] and spread["median"] < PERIOD_NS / 10, f"{samples}")
	numbers = {}
	for event in trace.events("--event", "sample"):
		numbers.setdefault(event["cpu"], []).append(event["fields"]["number"])
	for cpu, own in numbers.items():
		e2e.expect(own == sorted(set(own)), f"CPU {cpu} appears twice in a sample: {own[:20]}")
	text = e2e.run(e2e.monitor, "report", trace.directory, "samples").stdout
	e2e.expect("spread of the times within these: at least" in text, text)


def a_loop_on_one_cpu():
	cpu = e2e.cpus()[-1]
	trace = e2e.record("loop", "--force", "-e", "sched", *BPF, command=("taskset", "-c", cpu, *LOOP))
	trace.expect_true()
	root = trace.recording()["command_pid"]
	own = [event for event in trace.events("--event", "sample") if event["fields"]["tgid"] == root]
	busy_ns = sum(row["cpu_ns"] for row in trace.rows() if row["pid"] == root)
	e2e.expect(len(own) > 20, f"{len(own)} samples of a loop")
	e2e.expect(all(event["cpu"] == cpu for event in own[5:]), "samples of the loop elsewhere")
	# As close as their number allows: 4 standard deviations.
	e2e.expect(abs(len(own) - busy_ns / PERIOD_NS) < 4 * len(own) ** 0.5, f"{len(own)} samples of a loop that took {busy_ns} ns")
	user = sum(event["fields"]["doing"] == "user" for event in own)
	e2e.expect(user > 0.5 * len(own), f"{user} of {len(own)} samples of a loop are in user mode")
	e2e.expect(not any(event["fields"]["doing"] == "idle" for event in own), "a loop is idle")


@e2e.longer
def idle_by_count_and_by_time():
	"""Where nothing is unknown, the shares are as close as the number of samples allows: 4 standard deviations."""
	cpu, agree, compared = e2e.cpus()[0], [], 0
	for _ in range(3):
		trace = e2e.record("naps", "--force", "-e", "sched", *BPF, command=("taskset", "-c", cpu, *NAPS))
		for row in report(trace, "--idle")["rows"]:
			slack = 100 * row["missing"] / (row["samples"] + row["missing"]) + row["unknown_percent"]
			agree.append(row["agrees"] == "yes")
			compared += slack < 20
			width = max(row["high_percent"] - row["low_percent"], 1)
			e2e.expect(abs(row["sampled_idle_percent"] - row["time_idle_percent"]) < width + slack, f"{row}")
			e2e.expect(row["low_percent"] <= row["sampled_idle_percent"] <= row["high_percent"], f"{row}")
			# Other load may leave no idle time.
			e2e.expect(row["idle_samples"] or row["time_idle_percent"] < 2 + slack, f"no sample of an idle CPU: {row}")
	e2e.expect(compared, "too much was missing or unknown each time")
	e2e.expect(2 * sum(agree) > len(agree), f"the intervals include the share by time: {agree}")


def counted_without_tokens():
	counts = {"all": 'name == "sample"', **{doing: f'name == "sample" and doing == "{doing}"' for doing in ("idle", "user", "kernel")}}
	trace = e2e.record("counted", "--force", "--no-tokens", *BPF, "-d", 1,
	                   *(word for name, expression in counts.items() for word in ("--count", f"{name}={expression}")))
	trace.expect_true()
	rows = {row["name"]: row["count"] for row in json.loads(e2e.run(e2e.monitor, "report", "--json", trace.directory, "counts").stdout)["rows"]}
	e2e.equal("all", rows["all"], rows["idle"] + rows["user"] + rows["kernel"])
	periods = 1e9 / PERIOD_NS * len(e2e.cpus())
	e2e.expect(periods / 2 < rows["all"] < periods * 1.1, f"{periods:.0f} periods: {rows}")
	e2e.equal("tokens", trace.summary()["tokens"], 0)
	done = e2e.run(e2e.monitor, "record", "-o", e2e.work / "refused", *BPF, "--no-tokens", "--count", "calls=ret < 0", "-d", 1, exit_code=125)
	e2e.expect("none of the counts is of samples" in done.stderr, done.stderr)


def with_counters():
	"""As with the module, the counters of a CPU come before its sample."""
	trace = e2e.record("counters", "--force", "-e", "sched", *BPF, "-m", "faults=page-faults", "-d", 1)
	trace.expect_true()
	last, samples, after = {}, 0, 0
	for event in trace.events("--event", "counters,sample"):
		if event["event"] == "sample":
			samples += 1
			after += last.get(event["cpu"]) == "counters"
		last[event["cpu"]] = event["event"]
	e2e.equal("samples after counters", after, samples)
	e2e.expect(samples > 100, f"{samples} samples")


def its_cost():
	trace = e2e.run(e2e.monitor, "record", "-o", e2e.work / "cost", "--force", "-e", "sched", *BPF, "--", "true")
	recording = e2e.Trace(e2e.work / "cost").recording()
	for when in ("start", "end"):
		cost = recording["calibration"][when].get("sample")
		e2e.expect(cost and cost["rounds"] == 21 and cost["high"] > 100 and cost["low"] < 1_000_000, f"{when}: {cost}: {trace.stderr}")


def refused():
	trace = e2e.record("refused_idle", "--force", "-e", "sched", *BPF, "-d", 1)
	for options, sentence in (((), "--idle needs the report samples"), (("samples", "--pid", 1), "--idle is about CPUs")):
		done = e2e.run(e2e.monitor, "report", trace.directory, *options, "--idle", exit_code=2)
		e2e.expect(sentence in done.stderr, done.stderr)
	one = report(trace, "--idle", "--cpu", e2e.cpus()[0])["rows"]
	e2e.equal("CPUs", [row["cpu"] for row in one], [e2e.cpus()[0]])


e2e.need_recording()
e2e.main(once_in_each_period, a_loop_on_one_cpu, idle_by_count_and_by_time, counted_without_tokens, with_counters, its_cost, refused)
