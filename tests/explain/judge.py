#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`monitor explain` of programs that are slow for a known reason: each NAME.load here says which sentence may be the first, and
which must not be there; `says` is part of one of them. `run` is a load of loads.c, `command` a program of this machine, after
what `prepare` does. And that each key has a load that makes it speak, or a reason why none does here.

What other programs of this machine do is no part of a load: `waiting_others`, `steal`, `measurement` and `uncertain` are passed
over, unless the load's own file names them as its first.

judge.py MONITOR PROGRAMS WORK [SOURCES [NAME...]]
"""
import contextlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
NAMES = sys.argv[5:]
import e2e

DISTURBANCE = {"waiting_others", "steal", "measurement", "uncertain"}
# Keys that no load here can make speak, and why.
WITHOUT_LOAD = {"irq": "needs a device with more than a tenth of the time in its handler", "network": "needs a second machine",
                "irq_imbalance": "needs a device whose interrupts go to one CPU", "steal": "needs a hypervisor that takes CPU time",
                "softirq": "its share in a flood is near the threshold", "nothing": "other programs may run"}
CPUS = len(os.sched_getaffinity(0))


def read(file):
	load = {"needs": "", "record": "", "beside": "", "group": "", "calibrated": "", "has": "", "says": "", "run": "", "prepare": "",
	        "command": ""}
	for line in file.read_text(encoding="utf-8").splitlines():
		if line and not line.startswith("#"):
			word, value = line.split(":", 1)
			load[word] = value.strip()
	for word in ("first", "never", "has"):
		load[word] = load[word].split()
	return load


@contextlib.contextmanager
def beside(program, words):
	"""A program that runs meanwhile, outside the command."""
	if not words:
		yield
		return
	with subprocess.Popen([program, *words.split()], stderr=subprocess.DEVNULL) as process:
		try:
			if process.poll() == 77:
				e2e.skip("no real-time class may be used here")
			yield
		finally:
			process.kill()


@contextlib.contextmanager
def group(words):
	"""The words that run a command in a control group with a limit."""
	if not words:
		yield []
		return
	kind, *limits = words.split()
	made = None
	for line in open("/proc/mounts", encoding="utf-8"):
		_, where, mounted, options, *_ = line.split()
		path = pathlib.Path(where) / f"monitor-explain-{os.getpid()}"
		try:
			if mounted == "cgroup" and kind in options.split(","):
				path.mkdir()
				files = {"cpu": ("cpu.cfs_quota_us", "cpu.cfs_period_us"), "memory": ("memory.limit_in_bytes",)}[kind]
			elif mounted == "cgroup2" and kind in (pathlib.Path(where) / "cgroup.subtree_control").read_text().split():
				path.mkdir()
				files = {"cpu": ("cpu.max",), "memory": ("memory.max",)}[kind]
			else:
				continue
			made = path
			values = [str(int(limits[0]) << 20)] if kind == "memory" else [" ".join(limits)] if len(files) == 1 else limits
			for file, value in zip(files, values):
				(path / file).write_text(value)
			break
		except OSError:
			continue
	if not made:
		e2e.skip(f"no {kind} controller of cgroups is mounted")
	try:
		yield ["sh", "-c", f"echo $$ > {made}/cgroup.procs && exec \"$@\"", "sh"]
	finally:
		made.rmdir()


def real_program(name, load, program):
	"""The words of a command that is no load of loads.c, after what prepares it."""
	values = {"here": HERE, "work": e2e.work, "program": program}
	words, before = (shlex.split(load[key].format(**values)) for key in ("command", "prepare"))
	for needed in {line[0] for line in (words, before) if line}:
		if not shutil.which(needed):
			e2e.skip(f"{needed} is not installed")
	if before:
		e2e.run(*before)
	return words


def findings(name, load, program):
	words = load["run"].replace("{2cpus}", str(2 * CPUS)).split()
	words = [program, *words] if words else real_program(name, load, program)
	with beside(program, load["beside"]), group(load["group"]) as prefix:
		command = [*prefix, *words] if words else None
		options = [*load["record"].split(), *(() if load["calibrated"] else ("--no-calibration",))]
		directory = e2e.work / name
		done = e2e.run(e2e.monitor, "record", "--force", "-o", directory, *options, *(["--", *command] if command else []), cwd=e2e.work)
	if done.returncode:
		return None
	text = e2e.run(e2e.monitor, "explain", directory).stdout
	e2e.expect(len(text.splitlines()) <= 25, f"{name}: more than 25 lines")
	answer = json.loads(e2e.run(e2e.monitor, "explain", "--json", directory).stdout)
	print(f"  {name}: " + ", ".join(f"{each['key']} {each['share']:.2f}" for each in answer["findings"]) + f"; bound {answer['bound']:.3f}")
	for each in answer["findings"]:
		e2e.expect(0 <= each["share"] <= 1, f"{name}: a share of {each['share']}: {each}")
	return answer["findings"]


def judge(name, load, program):
	if load["needs"] and CPUS < int(load["needs"].split()[0]):
		e2e.skip(f"it needs {load['needs']}")
	found = findings(name, load, program)
	if found is None:
		return
	keys = [each["key"] for each in found]
	own = [key for key in keys if key in load["first"] or key not in DISTURBANCE]
	e2e.expect(own[:1] and own[0] in load["first"] or not own and "waiting_others" in keys,
	           f"{name}: the first of {keys} is none of {load['first']}")
	for key in load["never"]:
		e2e.expect(key not in keys, f"{name}: it says {key}: {keys}")
	e2e.expect(any(load["says"] in each["text"] for each in found), f"{name}: nothing of {load['says']}: {found}")
	for key in load["has"]:
		e2e.expect(key in keys, f"{name}: it does not say {key}: {keys}")


def test_of(name, load, program):
	test = lambda: judge(name, load, program())
	test.__name__ = name
	return test


def every_key():
	"""A key without a load that makes it speak is a rule that nobody has seen right; one that no load forbids, none has seen wrong."""
	loads = [read(file) for file in HERE.glob("*.load")]
	spoken = {key for load in loads for key in (*load["first"], *load["has"])} | set(WITHOUT_LOAD)
	silent = {key for load in loads for key in load["never"]} | {"call", "softirq", "irq", "irq_imbalance", "steal"}
	e2e.equal("keys without a load that makes them speak", sorted(set(KEYS) - spoken), [])
	e2e.equal("keys that no load forbids", sorted(set(KEYS) - silent - {"ready_unexplained", "waiting_others"}), [])


KEYS = ("user", "call", "fault", "irq", "softirq", "disk", "timer", "network", "one_thread", "waiting_others", "waiting_own",
        "ready_unexplained", "throttled", "wakeup_latency", "handover", "priority_inversion", "process_storm", "call_edges",
        "irq_imbalance", "steal", "memory_reclaim")


if __name__ == "__main__":
	e2e.need_recording()
	made = []

	def program():
		if not made:
			e2e.need_program("gcc")
			made.append(e2e.work / "loads")
			e2e.run("gcc", "-O1", "-g", HERE / "loads.c", "-o", made[0], "-pthread")
		return made[0]

	files = [file for file in sorted(HERE.glob("*.load")) if not NAMES or file.stem in NAMES]
	e2e.main(*(test_of(file.stem, read(file), program) for file in files), every_key)
