# SPDX-License-Identifier: MIT
"""What `monitor plan` predicts, against what is measured: each load is recorded once with the default buffers; from that
recording its losses and the recorder's CPU time in other settings (buffers, a slow disk, the recorder on the load's CPU)
are predicted; a hash of all predictions is printed; then the settings are measured, 3 times each. Recorder and load run at
realtime priority, into memory, so that other programs of the machine disturb less."""
import hashlib
import json
import os
import shutil
import statistics

from lib import Result, run

TITLE = "plan: losses and cost, predicted before they are measured"
MEMORY = "/dev/shm"
DEFAULT = "default"
# load, buffer, disk in MB/s (0: memory), recorder on the load's CPU
SETTINGS = [
	*[("calls", buffer, disk, pinned) for buffer, disk, pinned in (
		("6M", 0, 0), ("2M", 0, 0), ("16M", 20, 0), ("2M", 0, 1), ("8M", 40, 0), ("1M", 0, 0), ("12M", 60, 0), ("24M", 10, 0),
		("4M", 20, 0), ("24M", 20, 0), ("4M", 60, 1))],
	*[("calls of both CPUs", buffer, disk, pinned) for buffer, disk, pinned in (
		("6M", 0, 0), ("2M", 0, 0), ("16M", 40, 0), ("24M", 80, 0), ("32M", 50, 0), ("12M", 30, 0))],
	*[("bursts", buffer, disk, pinned) for buffer, disk, pinned in (
		("16M", 0, 0), ("6M", 0, 0), ("6M", 100, 0), (DEFAULT, 40, 0), ("6M", 0, 1), ("16M", 0, 1), ("32M", 0, 0), ("12M", 60, 0),
		("3M", 0, 0), ("8M", 150, 0), ("24M", 0, 0), ("10M", 80, 0))],
	*[("short bursts", buffer, disk, pinned) for buffer, disk, pinned in (
		("16M", 0, 0), ("6M", 0, 0), (DEFAULT, 100, 0), (DEFAULT, 0, 1), ("6M", 0, 1), ("24M", 0, 0), ("12M", 200, 0), ("12M", 0, 1),
		("48M", 150, 1), ("10M", 0, 0), ("32M", 120, 0), ("20M", 80, 1))],
]


def load(context, name):
	calls, bursts = context.helper("workload"), context.helper("bursts")
	seconds = context.scale(1.5, 0.3)
	return {
		"calls": [calls, "getppid-for", "0", str(seconds)],
		"calls of both CPUs": ["sh", "-c", f"{calls} getppid-for 0 {seconds} & {calls} getppid-for 1 {seconds}; wait"],
		"bursts": [bursts, "0", str(context.scale(12_000_000, 2_000_000)), "1000000", "100000"],
		"short bursts": [bursts, "0", str(context.scale(30_000_000, 2_000_000)), "400000", "16000"],
	}[name]


def record(context, directory, name, buffer=DEFAULT, disk=0, pinned=0):
	options = ["-e", "sched,syscall", "--no-calibration", *(["--buffer", buffer] if buffer != DEFAULT else [])]
	command = context.record(directory, *options, command=["chrt", "-r", "1", *load(context, name)])
	environment = dict(os.environ)
	if disk:
		environment.update(LD_PRELOAD=context.helper("slow_disk.so"), SLOW_DISK_MBS=str(disk))
	run([*(["taskset", "-c", "0"] if pinned else []), "chrt", "-r", "2", *command], env=environment)
	with open(f"{directory}/.monitor/recording.json") as file:
		recording = json.load(file)
	user = recording.get("user_card", {})
	of_programs = user.get("discarded", 0) + user.get("early", 0)
	lost = sum(recording["lost_by_cpu"]) + of_programs
	posted = sum(row["seen"] for row in recording["classes"]) + user.get("tokens", 0) + of_programs
	return {"lost": 100 * lost / posted, "cpu_ns": recording["recorder"]["cpu_ns"]}


def predict(context, directory, buffer, disk, pinned):
	options = ["--buffer", buffer, *(["--disk", f"{disk}MB/s"] if disk else []), *(["--pin", "0"] if pinned else [])]
	answer = json.loads(run([context.monitor, "plan", directory, "--json", *options]))
	setting = answer["settings"][0]
	lost, cpu = setting["lost_percent"], setting["recorder_cpu_percent"]
	return {"low": lost["low"], "high": lost["high"], "cpu_ns": (cpu["low"] + cpu["high"]) / 200 * answer["duration_ns"]}


def predict_all(context, directory):
	predictions = {}
	for name in dict.fromkeys(setting[0] for setting in SETTINGS):
		for _ in range(5): # a recording with a loss does not tell its arrivals
			if record(context, directory, name)["lost"] == 0:
				break
		for setting in SETTINGS:
			if setting[0] == name:
				predictions[setting] = predict(context, directory, *setting[1:])
	return predictions


def measure_all(context, directory):
	measured = {setting: [] for setting in SETTINGS}
	for _ in range(context.rounds_or(3)):
		for setting in SETTINGS:
			measured[setting].append(record(context, directory, *setting))
	return measured


def judge(result, predictions, measured):
	rows, errors, cpu_errors, held = [], [], [], 0
	for setting in SETTINGS:
		low, high = predictions[setting]["low"], predictions[setting]["high"]
		lost = statistics.median(each["lost"] for each in measured[setting])
		cpu_ns = statistics.median(each["cpu_ns"] for each in measured[setting])
		errors.append(abs((low + high) / 2 - lost))
		cpu_errors.append(predictions[setting]["cpu_ns"] / cpu_ns - 1)
		held += low - 0.5 <= lost <= high + 0.5
		name, buffer, disk, pinned = setting
		rows.append([name, buffer, f"{disk} MB/s" if disk else "memory", "the load's" if pinned else "any", f"{low:.1f} to {high:.1f} %",
			" ".join(f"{each['lost']:.1f}" for each in measured[setting]), f"{(low + high) / 2 - lost:+.1f}", f"{100 * cpu_errors[-1]:+.0f} %"])
	result.table(["load", "buffer", "disk", "CPU", "predicted", "measured", "error, points", "recorder's CPU time"], rows)
	count = len(SETTINGS)
	result.bar("mean error", statistics.mean(errors), 2.5, "points")
	result.bar("settings within 5 points", 100 * sum(error <= 5 for error in errors) / count, 90, "%", at_least=True, digits=0)
	result.bar("largest error", max(errors), 8, "points")
	result.bar("settings in the range", 100 * held / count, 90, "%", at_least=True, digits=0)
	result.bar("widest range", max(each["high"] - each["low"] for each in predictions.values()), 10, "points")
	result.bar("recorder's CPU time within 15 %", 100 * sum(abs(error) <= 0.15 for error in cpu_errors) / count, 80, "%", at_least=True,
		digits=0)
	result.figures.update({"errors": errors, "cpu_errors": cpu_errors})


def bench(context):
	result = Result(TITLE)
	directory = f"{MEMORY}/monitor-bench-plan"
	try:
		predictions = predict_all(context, directory)
		text = json.dumps([[setting, predictions[setting]] for setting in SETTINGS])
		print(f"predictions, before anything is measured: sha256 {hashlib.sha256(text.encode()).hexdigest()}", flush=True)
		judge(result, predictions, measure_all(context, directory))
	finally:
		shutil.rmtree(directory, ignore_errors=True)
	return result
