#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`monitor plan`: a loop recorded with the default buffers is predicted to lose events with tiny buffers and a slow disk, and
none with large ones; the smallest buffer that it names really loses none. What a recording does not tell is refused.
tools/bench plan compares predictions with measurements."""
import json
import os
import pathlib
import shutil
import tempfile

import e2e

CALLS = 1_000_000
RANGES = ("lost_percent", "recorder_cpu_percent", "fullest_ring_percent")


def planned(directory, *options):
	return json.loads(e2e.run(e2e.reader, "plan", directory, "--json", *options).stdout)


def record_loop(directory, *options):
	"""At realtime priority and into memory, so that no other program and no disk holds it up; again if a CPU stood still."""
	def recorded():
		recorder = e2e.Recorder(directory, "-e", "sched,syscall", *options, before=["chrt", "-r", "10"],
		                        command=["taskset", "-c", e2e.cpus()[0], e2e.workload, "getppid", CALLS])
		with e2e.Stalls() as stalls:
			trace = recorder.end(number=None)
		trace.stalled = trace.summary()["lost"] and str(stalls)
		return trace

	return e2e.until_undisturbed(recorded, lambda trace: trace.stalled, 5)


def refused(directory, sentence):
	done = e2e.run(e2e.reader, "plan", directory, exit_code=3)
	e2e.expect(sentence in done.stderr and not done.stdout, f"{directory}: {done.stderr}")


def predicted_and_recorded():
	place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
	with tempfile.TemporaryDirectory(dir=place) as memory:
		directory = record_loop(f"{memory}/default").directory
		answer = planned(directory, "--buffer", "256K,64M", "--disk", "1MB/s,4000MB/s")
		e2e.equal("settings", [(row["buffer_bytes"], row["disk_bytes_per_second"]) for row in answer["settings"]],
		          [(size, disk) for disk in (1e6, 4e9) for size in (256 << 10, 64 << 20)])
		for row in answer["settings"]:
			e2e.expect(all(0 <= row[key]["low"] <= row[key]["high"] <= 100 for key in RANGES), f"{row}")
		tiny, large = answer["settings"][0], answer["settings"][3]
		e2e.expect(tiny["lost_percent"]["low"] > 50 and tiny["fullest_ring_percent"]["high"] == 100, f"256K at 1 MB/s: {tiny}")
		e2e.expect(large["lost_percent"]["high"] == 0, f"64M at 4 GB/s: {large}")
		text = e2e.run(e2e.reader, "plan", directory, "--buffer", "256K", "--disk", "1M").stdout.splitlines()
		e2e.expect(text[0].split() == ["buffer", "disk", "lost", "recorder", "CPU", "fullest", "ring"] and "256K" in text[1] and
		           text[2].startswith("smallest buffer without loss at 1 MB/s: "), f"{text}")
		(smallest,) = planned(directory)["smallest_buffers"]
		# Twice: what other programs hold up at that time is not in the prediction.
		trace = record_loop(f"{memory}/smallest", "--buffer", 2 * smallest["bytes"])
		e2e.equal(f"lost with --buffer {2 * smallest['bytes']}", trace.summary()["lost"], 0)
		factorial(directory)
		refusals(pathlib.Path(directory), pathlib.Path(memory))


def factorial(directory):
	answer = planned(directory, "--factorial", "--buffer", "1M,64M", "--disk", "2M,4000M")
	e2e.equal("factors", [factor["name"] for factor in answer["factors"]], ["buffer", "disk", "recorder on"])
	shares = {effect["factors"]: effect["share_percent"] for effect in answer["effects"]}
	e2e.near("sum of shares", sum(shares.values()) + answer["error_share_percent"], 100, 1e-6)
	effects = {effect["factors"]: effect["effect_points"] for effect in answer["effects"]}
	e2e.expect(effects["A"] < -10 and effects["B"] < -10, f"larger buffers and a faster disk lose less: {effects}")
	e2e.expect(e2e.run(e2e.reader, "plan", directory, "--factorial", "--buffer", "1M", exit_code=1).stderr.count("two levels"),
	           "one level of a factor")


def refusals(directory, memory):
	lossy = memory / "lossy"
	shutil.copytree(directory, lossy)
	file = lossy / ".monitor/recording.json"
	recording = json.loads(file.read_text())
	recording["classes"][0]["refused"] = 5
	file.write_text(json.dumps(recording))
	refused(lossy, "Events were lost in this recording: its arrivals are not known.")
	recording["classes"][0]["refused"] = 0
	recording["state"] = "recording"
	file.write_text(json.dumps(recording))
	refused(lossy, "did not end")
	file.unlink()
	refused(lossy, "not a recording of monitor's")
	for sentence, *words in (("is not a rate", "--disk", "fast"), ("is not a size", "--buffer", "lots"), ("at least", "--buffer", "4K"),
	                         ("of CPUs 0 to", "--pin", 4000)):
		done = e2e.run(e2e.reader, "plan", directory, *words, exit_code=1)
		e2e.expect(sentence in done.stderr and not done.stdout, f"{words}: {done.stderr}")
	e2e.expect("nan is not a number" in e2e.run(e2e.reader, "plan", directory, "--rate", "nan", exit_code=2).stderr, "--rate nan")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(predicted_and_recorded)
