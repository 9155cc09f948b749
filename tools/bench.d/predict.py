# SPDX-License-Identifier: MIT
"""Predictions of `monitor predict`, made before the changed programs run: a pipeline with a pool, threads with a lock, clients of
an epoll server, a grid with barriers (tests/predict), under realtime round robin (what else runs hardly disturbs them then) and
the default policy.

Each is recorded five times. The changes are drawn; what is predicted for them is written to a file, whose hash is printed before
the first changed program runs. The changed programs differ by their arguments only, and are run in turns."""
import hashlib
import json
import os
import random
import statistics
import subprocess

from lib import Result, need, run

TITLE = "predict: what a changed program takes, predicted and measured"
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/predict")
MOST_FASTER, MOST_OTHER, MOST_BASE = 5, 10, 6  # % of error
LEAST_INSIDE = 90  # % of the single runs
POLICIES = {"realtime": ["chrt", "-r", "1"], "default": []}


class Program:
	def __init__(self, name, arguments, activities, threads):
		self.name = name
		self.arguments = arguments  # of the program as it is
		self.activities = activities  # how many times as fast: the place of the argument
		self.threads = threads  # activity of the role, the place of the number of threads, what may be drawn

	def command(self, context, change):
		"""Of a drawn change: {"faster": {activity: K}, "threads": N, "cpus": N}."""
		arguments = list(self.arguments)
		for activity, times in change.get("faster", {}).items():
			arguments[self.activities[activity]] = times
		if "threads" in change:
			arguments[self.threads[1]] = change["threads"]
		pinned = ["taskset", "-c", str(context.load_cpu)] if change.get("cpus") == 1 else []
		return [*pinned, context.path(self.name), *map(str, arguments)]

	def options(self, change, roles):
		words = [word for activity, times in change.get("faster", {}).items() for word in ("--faster", f"{activity}={times}")]
		if "threads" in change:
			words += ["--threads", f"{roles[self.threads[0]]}={change['threads']}"]
		return words + (["--cpus", str(change["cpus"])] if "cpus" in change else [])

	def draw(self, drawn):
		"""An activity that is faster, each; other threads; one CPU; both at once."""
		def times():
			return drawn.choice([1.25, 1.5, 1.75, 2, 2.5, 3, 4])

		changes = [{"faster": {activity: times()}} for activity in self.activities]
		if self.threads:
			changes += [{"threads": drawn.choice(self.threads[2])},
				{"threads": drawn.choice(self.threads[2]), "faster": {drawn.choice(list(self.activities)): times()}}]
		return [*changes, {"cpus": 1}]


def programs(context):
	size = context.scale(1, 0.1)
	return [Program("pipeline", [int(2000 * size), 2, 1, 1, 4], {"check": 2, "squeeze": 3}, ("squeeze", 1, [1, 3, 4])),
		Program("locks", [int(3000 * size), 2, 1, 1], {"local": 2, "update": 3}, ("update", 1, [1, 3, 4])),
		Program("server", [2, int(1500 * size), 1, 300], {"handle": 2}, ("request", 0, [1, 3, 4])),
		Program("grid", [int(1200 * size), 2, 1, 1], {"relax": 2, "norm": 3}, None)]


def text(change):
	words = [f"{activity} {times}x" for activity, times in change.get("faster", {}).items()]
	words += [f"{change['threads']} threads"] if "threads" in change else []
	return ", ".join(words + (["1 CPU"] if "cpus" in change else [])) or "as recorded"


def elapsed(command):
	return float(run(command).split("elapsed ")[1].split()[0])


def record(context, program, policy):
	directories = [context.path(f"{program.name}.{policy}.{i}") for i in range(context.scale(5, 3))]
	for directory in directories:
		run(context.record(directory, "--no-calibration", "-e", "sched,irq,syscall",
			command=[*POLICIES[policy], *program.command(context, {})]))
	return directories


def predicted(context, program, policy, drawn):
	"""A line for each change: what is asked, and what is said."""
	model = context.path(f"{program.name}.{policy}.model")
	run([context.monitor, "model", "-o", model, *record(context, program, policy)])
	roles = {activity: role["name"] for role in json.loads(run([context.monitor, "model", "--json", model]))["roles"]
		for activity in role["activities"]}
	lines = []
	for change in [{}, *program.draw(drawn)]:
		answer = subprocess.run([context.monitor, "predict", "--json", model, *program.options(change, roles)], stdout=subprocess.PIPE,
			stderr=subprocess.PIPE, text=True)
		line = {"program": program.name, "policy": policy, "change": change}
		if answer.returncode == 3:
			line["refused"] = answer.stderr.strip()
		elif answer.returncode != 0:
			raise RuntimeError(answer.stderr)
		else:
			said = json.loads(answer.stdout)
			line |= said["changes"][0] if change else {"elapsed_ns": said["base_ns"], "low_ns": said["base_low_ns"],
				"high_ns": said["base_high_ns"]}
			line["change"] = change
		lines.append(line)
	return lines


def measure(context, known, lines):
	"""Seconds by line, in turns."""
	runs = [[] for _ in lines]
	order = random.Random(1)
	for _ in range(context.rounds_or(10)):
		for i in order.sample(range(len(lines)), len(lines)):
			runs[i].append(elapsed([*POLICIES[lines[i]["policy"]], *known[lines[i]["program"]].command(context, lines[i]["change"])]))
	return runs


def judge(result, lines, runs):
	rows, errors, inside = [], {"base": [], "faster": [], "other": []}, []
	for line, seconds in zip(lines, runs):
		measured = statistics.median(seconds)
		name = f"{line['program']}, {line['policy']}: {text(line['change'])}"
		if "refused" in line:
			rows.append([name, "refused", "", f"{measured:.4f}", "", ""])
			result.note(f"{name}: {line['refused']}")
			continue
		said = line["elapsed_ns"] / 1e9
		within = [line["low_ns"] / 1e9 <= each <= line["high_ns"] / 1e9 for each in seconds]
		kind = "base" if not line["change"] else "faster" if set(line["change"]) == {"faster"} else "other"
		errors[kind].append(100 * (said / measured - 1))
		if kind != "base":
			inside += within
		deviation = 100 * statistics.stdev(seconds) / measured if len(seconds) > 1 else 0
		rows.append([name, f"{said:.4f}", f"{100 * (line['high_ns'] / line['elapsed_ns'] - 1):.0f}", f"{measured:.4f}",
			f"{errors[kind][-1]:+.1f}", f"{sum(within)} of {len(within)}, sd {deviation:.1f}"])
	result.table(["s", "predicted", "+- %", "measured", "error %", "inside, sd %"], rows)
	for kind, most, what in (("base", MOST_BASE, "replay of what was recorded"), ("faster", MOST_FASTER, "--faster"),
			("other", MOST_OTHER, "--threads, --cpus")):
		if errors[kind]:
			worst = max(map(abs, errors[kind]))
			result.bar(f"largest error of {what}, of {len(errors[kind])}", worst, most, "%")
			result.figures[kind] = {"errors_percent": errors[kind]}
	if inside:
		result.bar("single runs inside the interval", 100 * sum(inside) / len(inside), LEAST_INSIDE, "%", at_least=True)


def bench(context):
	need("chrt", "taskset", "g++")
	result = Result(TITLE)
	known = {program.name: program for program in programs(context)}
	for name in known:
		run(["g++", "-std=c++20", "-O2", "-pthread", f"-I{SOURCES}/../../include", f"{SOURCES}/{name}.cpp", "-o", context.path(name)])
	seed = random.SystemRandom().randrange(10**9)
	drawn = random.Random(seed)
	lines = [line for policy in POLICIES for program in known.values() for line in predicted(context, program, policy, drawn)]
	content = "".join(json.dumps(line) + "\n" for line in lines)
	with open(context.path("predictions"), "w") as file:
		file.write(content)
	print(f"  {len(lines)} predictions of changes drawn from {seed}: sha256 {hashlib.sha256(content.encode()).hexdigest()}", flush=True)
	judge(result, lines, measure(context, known, lines))
	result.figures["predictions"] = lines
	return result
