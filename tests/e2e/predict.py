#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`monitor predict`: models whose times are known, in every form; what recordings cannot tell is refused; and what is wrong gets a
sentence. Of a recorded pipeline, a change that makes all of it faster does so in the replay."""
import json
import pathlib
import sys

import e2e

SOURCE = pathlib.Path(sys.argv[4])
PIPELINE = """# monitor model 1: by hand
cpus 4
role reader: loop 40 { cpu check 1ms; put workers }
role workers pool 2 capacity 4: { take; cpu squeeze 4ms; signal writer }
role writer in order: loop 40 { await squeeze; cpu store 500us }
"""
MEMBERS = ["change", "elapsed_ns", "low_ns", "high_ns", "speed_up", "limited_by", "limited_share", "is_lower_bound"]


def model(name, text, samples=""):
	file = e2e.work / name
	file.write_text(text)
	if samples:
		pathlib.Path(f"{file}.samples").write_text("# monitor model samples 1\n" + samples)
	return file


def predict(*arguments, exit_code=0):
	return e2e.run(e2e.reader, "predict", *arguments, exit_code=exit_code)


def predicted(*arguments):
	return json.loads(predict("--json", *arguments).stdout)


def by_hand():
	"""Squeezes begin at 1 and 2 ms, then each worker has one after the other: the last one ends at 82 ms."""
	file = model("pipeline.model", PIPELINE)
	answer = predicted(file, "--faster", "squeeze=2", "--threads", "workers=4")
	e2e.equal("members", list(answer), ["base_ns", "base_low_ns", "base_high_ns", "changes", "notes"])
	e2e.equal("base", answer["base_ns"], 82_500_000)
	(change,) = answer["changes"]
	e2e.equal("members of a change", list(change), MEMBERS)
	e2e.equal("change", change["change"], "workers 4 threads, squeeze 2x")
	e2e.equal("limited by", (change["limited_by"], change["low_ns"]), ("check", None))
	text = predict(file, "--faster", "squeeze=2").stdout
	e2e.expect(text.startswith("change ") and "\nnone " in text and "\nsqueeze 2x " in text, f"the table: {text}")
	e2e.equal("nothing changed", predicted(file)["changes"], [])


def sweep():
	file = model("pipeline.model", PIPELINE)
	answer = predicted(file, "--sweep", "workers=1..5", "--faster", "check=2")
	times = [change["elapsed_ns"] for change in answer["changes"]]
	e2e.equal("one worker", times[0], 500_000 + 40 * 4_000_000 + 500_000)
	e2e.expect(len(times) == 5 and times == sorted(times, reverse=True), f"more workers take longer: {times}")
	drawn = predict(file, "--sweep", "workers=1..5", "--plot", "--svg", e2e.work / "sweep.svg").stdout
	e2e.expect("workers 5 threads" in drawn, f"the bars: {drawn}")
	e2e.expect("workers 5 threads" in (e2e.work / "sweep.svg").read_text(), "the picture has no bar for 5 threads")


def series_parallel():
	"""The longest of three exponential times: 11/6 of one. What is computed and what is drawn agree."""
	graph = model("graph.model", "# monitor model 1\ncpus 3\ndistribution e exponential 1ms\n"
	              "role a: loop 200 { fork { cpu x of e | cpu x of e | cpu x of e } }\n")
	computed, drawn = predicted(graph, "--numeric"), predicted(graph)
	e2e.expect(abs(computed["base_ns"] / (200e6 * 11 / 6) - 1) < 1e-3, f"computed: {computed}")
	e2e.expect(abs(drawn["base_ns"] / computed["base_ns"] - 1) < 0.03, f"drawn: {drawn}")
	e2e.expect(computed["base_low_ns"] < computed["base_ns"] < computed["base_high_ns"], f"computed: {computed}")
	said = predict(model("pipeline.model", PIPELINE), "--numeric", exit_code=1).stderr
	e2e.expect("`put` is neither; leave it out." in said, f"a pipeline is no graph: {said}")


def refusals():
	rows = "".join(f"0 {i} 12000\n" for i in range(100))
	ping = model("ping.model", "# monitor model 1\ncpus 2; latency 40us; wakecost 5us\n"
	             "role a: loop { cpu x; wake s; wait t }\nrole b: loop { wait s; cpu y; wake t }\n",
	             f"recording 10ms\nrole a: cpu x\n{rows}role b: cpu y\n{rows}")
	said = predict(ping, "--faster", "x=2", exit_code=3).stderr
	e2e.expect("Where threads wake up decides this program's time (0.0024 to 0." in said and
	           said.rstrip().endswith("s): record the changed program instead."), f"where threads wake up: {said}")
	e2e.expect("without interval" in predict(ping).stdout, "the model as it is can be replayed")
	bound = predict(model("more.model", "# monitor model 1\ncpus 1\nrole a 2: loop { cpu x }\n",
	                      "recording 2ms\nrole a: cpu x\n" + "0 0 1000000\n1 1 1000000\n"), "--cpus", "2").stdout
	e2e.expect(">= 1.00 ms" in bound and "contention for memory and caches is not in this recording" in bound, f"a bound: {bound}")


def wrong_input():
	file = model("pipeline.model", PIPELINE)
	for arguments, code, sentence in (
			((file, "--faster", "squeez=2"), 1, "Did you mean squeeze?"),
			((file, "--faster", "squeeze"), 1, "ACTIVITY=K is expected"),
			((file, "--threads", "workers=0"), 1, "a number of threads is from 1"),
			((file, "--sweep", "workers=9..1"), 1, "ROLE=FROM..TO is expected"),
			((file, "--cpus", "0"), 2, "--cpus"),
			((file, "--resample", "--numeric"), 2, "--numeric"),
			((e2e.work / "absent",), 2, "absent"),
			((file, file), 1, "give one model, or only trace directories"),
			((e2e.work,), 1, "metadata"),
			((model("empty.model", ""),), 1, "it is not a model"),
			((model("cut.model", PIPELINE[:120]),), 1, "line"),
			((model("no.model", "# monitor model 1\nrole a: { cpu x }\n"),), 1, "has no number"),
			((model("ever.model", "# monitor model 1\nrole a: loop 3 { wait s }\n"),), 1, "waits for ever")):
		said = predict(*arguments, exit_code=code).stderr
		e2e.expect(said.count("\n") == 1 and sentence in said, f"{arguments}: {said!r} has not {sentence!r}")


def of_recordings():
	e2e.need_recording()
	e2e.need_program("g++")
	program = e2e.work / "pipeline"
	e2e.run("g++", "-std=c++20", "-O2", "-pthread", f"-I{SOURCE / 'include'}", SOURCE / "tests/predict/pipeline.cpp", "-o", program)
	directories = []
	for i in range(3):
		e2e.record(f"run{i}", "--force", "-e", "sched,irq,syscall", command=(program, 150))
		directories.append(e2e.work / f"run{i}")
	answer = predict("--json", *directories, "--faster", "check=4", "--faster", "squeeze=4", "--faster", "store=4", exit_code=None)
	if answer.returncode == 3:  # beside other load
		e2e.leave_out("a recorded pipeline", answer.stderr.strip())
		return
	said = json.loads(answer.stdout)
	(change,) = said["changes"]
	e2e.equal("change", change["change"], "check 4x, squeeze 4x, store 4x")
	e2e.expect(change["speed_up"] > 1.5, f"all is faster: {change}")
	e2e.expect(change["low_ns"] < change["elapsed_ns"] < change["high_ns"], f"the interval: {change}")
	e2e.expect(said["notes"][0].startswith("interval: 3 recordings, replay bias "), f"the notes: {said['notes']}")


e2e.main(by_hand, sweep, series_parallel, refusals, wrong_input, of_recordings)
