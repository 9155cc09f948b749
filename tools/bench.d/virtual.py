# SPDX-License-Identifier: MIT
"""monitor report --virtual: times of runs as if nobody had measured, beside runs that nobody measured, in turn. Every run
counts. The control is one half of the unmeasured runs against the other: what the machine itself differs by. Recorded or not,
the load is timed by the kernel's count, which is another than the sum between switches where CPUs sleep in between
(Documentation/how-time-is-attributed.md): what --virtual takes away is taken from that.

VIRTUAL_LOADS='A;B': only these loads. VIRTUAL_CALIBRATE=N: what an event costs is measured in the load itself (record
--calibrate), and loads are N times as long: a run must last at least ten seconds, which is an N of some 30."""
import json
import os
import random
import shutil
import statistics
import subprocess

from lib import Result, Skip, run

TITLE = "virtual: times computed without the measurement, beside times that nobody measured"
TARGET = 3.0   # % off, where the probes have less than 40 % of the CPU time
HELD = 85.0    # % of the printed ranges that have the unmeasured time in them
RESAMPLES = 400
LONGER = float(os.environ.get("VIRTUAL_CALIBRATE") or 0)
SQL = """create table t (a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < {rows}) insert into t select i, 'text ' || (i * 7919 % {texts}), i * 0.5 from n;
create index by_b on t (b);
select count(*), sum(x.c) from t x join t y on x.b = y.b where x.a % 3 = 0;
update t set c = c + 1 where a % 3 = 0; delete from t where a % 5 = 0; vacuum;"""


def loads(context):
	"""Name and command of each load; `calls` has less than 40 % overhead, `getppid` more."""
	program, cpu, other = context.path("virtual_load"), str(context.load_cpu), str(context.other_cpu)
	source = os.path.join(os.path.dirname(__file__), "loads/virtual_load.c")
	run(["cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", source, "-o", program])
	part = context.scale(1, 0.05) * (LONGER or 1)

	def number(full):
		return str(int(full * part))

	found = {
		"getppid": [context.helper("workload"), "getppid", cpu, "10", number(200_000)],
		"calls": [program, "calls", cpu, number(400_000)],
		"pipe, one CPU": [program, "pipe", cpu, cpu, number(60_000)],
		"pipeline of three": [program, "pipeline", other, cpu, other, number(100_000)],
	}
	if cpu != other:
		found["pipe, two CPUs"] = [program, "pipe", cpu, other, number(8_000)]
	if shutil.which("sqlite3"):
		found["sqlite3"] = ["sqlite3", context.path("db"), SQL.format(rows=number(150_000), texts=int(10_007 * part) or 1)]
	if shutil.which("nginx") and shutil.which("wrk"):
		found["nginx and wrk"] = ["bash", served(context, number(20_000))]
	with open(context.path("compiled.c"), "w") as file:
		for i in range(int(120 * part) or 1):
			file.write(f"int f{i}(int a, int b) {{ int s = {i}; for (int i = 0; i < a; i++) {{ if (i % {i + 2}) s += b * i; "
				f"else s ^= a << (i & 7); switch (s & 7) {{ case 1: s += 3; break; case {2 + i % 5}: s *= a; break; default: s--; }} }} return s; }}\n")
	found["compile"] = ["cc", "-O2", "-c", context.path("compiled.c"), "-o", context.path("compiled.o")]
	return program, found


def served(context, requests):
	"""A script in which nginx answers this many requests from wrk, each on a CPU of its own; both are its children."""
	directory = context.path("served")
	os.makedirs(directory, exist_ok=True)
	with open(os.path.join(directory, "nginx.conf"), "w") as file:
		file.write(f"daemon off; master_process off; pid {directory}/pid; error_log {directory}/log;\nevents {{ }}\n"
			f"http {{ access_log off; server {{ listen 127.0.0.1:18089; location / {{ return 200 'text'; }} }} }}\n")
	with open(os.path.join(directory, "stop.lua"), "w") as file:
		file.write(f"local left = {requests}\nfunction response() left = left - 1; if left == 0 then os.exit() end end\n")
	script = os.path.join(directory, "run.sh")
	with open(script, "w") as file:
		file.write(f"taskset -c {context.other_cpu} nginx -e {directory}/log -c {directory}/nginx.conf & server=$!\n"
			"until (: < /dev/tcp/127.0.0.1/18089) 2> /dev/null; do sleep 0.01; done\n"
			f"taskset -c {context.load_cpu} wrk -t 1 -c 8 -d 60 -s {directory}/stop.lua http://127.0.0.1:18089/ > {directory}/out 2>&1\n"
			"kill $server; wait $server; true\n")
	return script


def times(context):
	with open(context.path("times")) as file:
		return dict(zip(("elapsed", "cpu"), map(float, file.read().split())))


def untraced(context, program, command):
	"""Elapsed and CPU time in ns."""
	run([program, "timed", context.path("times"), *command])
	return times(context)


def traced(context, program, command):
	"""What --virtual says of the command, and the reason if it refuses."""
	directory = context.path("trace")
	try:
		run(context.record(directory, "--buffer", "64M", *(["--calibrate"] if LONGER else []), command=[program, "timed", context.path("times"), *command]))
		done = subprocess.run([context.monitor, "report", "--json", "--virtual", directory], stdout=subprocess.PIPE,
			stderr=subprocess.PIPE, text=True)
	finally:
		shutil.rmtree(directory, ignore_errors=True)
	if done.returncode:
		return {"refused": done.stderr.strip()}
	found = json.loads(done.stdout)["virtual"]["command"]
	reasons = json.loads(done.stdout)["virtual"]["range"]
	if found["cpu"]["virtual_ns"] is None:
		return {"refused": f"{found['overhead_percent']:.0f} % overhead", "overhead": found["overhead_percent"]}
	if LONGER and not any("while it ran" in reason for reason in reasons):
		return {"refused": next((reason for reason in reasons if "could not be measured" in reason), "it was not calibrated in the load")}
	for what, ns in times(context).items():
		apart = ns - found[what]["measured_ns"]
		found[what] = {key: value + apart for key, value in found[what].items()}
	return {"cpu": found["cpu"], "elapsed": found["elapsed"], "overhead": found["overhead_percent"]}


def interval(above, below):
	"""Median in %, and its 90 % interval by resampling both sides."""
	pick = random.Random(1)

	def off(a, b):
		return (statistics.median(a) / statistics.median(b) - 1) * 100

	many = sorted(off(pick.choices(above, k=len(above)), pick.choices(below, k=len(below))) for _ in range(RESAMPLES))
	return off(above, below), many[RESAMPLES // 20], many[-RESAMPLES // 20]


def spelled(found):
	return "{:+.1f} ({:+.1f} to {:+.1f})".format(*found)


def meets(low, high, one, other):
	"""Whether a range has in it what the machine would have taken then: a time between those of the runs before and after."""
	return low <= max(one, other) and min(one, other) <= high


def share(found):
	found = list(found)
	return sum(found) / len(found) * 100 if found else 100.0


def judge(result, name, plain, recorded):
	"""One row for CPU time, one for elapsed time. The control of ranges: unmeasured runs with ranges as wide."""
	rows, figures = [], {"runs": recorded, "unmeasured": plain}
	beside = list(zip(recorded, plain[::2], plain[1::2]))
	for what in ("cpu", "elapsed"):
		truth = [each[what] for each in plain]
		middle = statistics.median(truth)
		first, second = truth[::2], truth[1::2]
		with_it = [(each, before[what], after[what]) for each, before, after in beside if "refused" not in each and each[what]]
		if not with_it:
			rows.append([name, what, f"{middle / 1e6:.1f}", spelled(interval(first, second)), "", "", "", "", f"{len(recorded)} refused"])
			continue
		held = share(meets(each[what]["low_ns"], each[what]["high_ns"], before, after) for each, before, after in with_it)
		below, above = (statistics.median(each[what][f"{edge}_ns"] / each[what]["virtual_ns"] for each, _, _ in with_it) for edge in ("low", "high"))
		control = share(meets(one * below, one * above, before, after) for before, one, after in zip(truth[::2], truth[1::2], truth[2::2]))
		with_it = [each for each, _, _ in with_it]
		computed = [each[what]["virtual_ns"] for each in with_it]
		width = statistics.median((each[what]["high_ns"] - each[what]["low_ns"]) / 2 / each[what]["virtual_ns"] * 100 for each in with_it)
		found = interval(computed, truth)
		rows.append([name, what, f"{middle / 1e6:.1f}", spelled(interval(first, second)),
			spelled(interval([each[what]["measured_ns"] for each in with_it], truth)), spelled(found),
			f"{width:.0f}", f"{held:.0f} ({control:.0f})", f"{len(recorded) - len(with_it)} refused" if len(with_it) < len(recorded) else ""])
		figures[what] = {"computed": found, "held": held, "width": width}
		result.bar(f"{name}, {what}: off, by the nearer end of the interval", 0 if found[1] <= 0 <= found[2] else min(abs(found[1]), abs(found[2])), TARGET, "%")
		if control < HELD:
			result.note(f"{name}, {what}: unmeasured runs differ by more than the range: with it they hold {control:.0f} % of each other, "
				f"computed times {held:.0f} % of them")
		else:
			result.bar(f"{name}, {what}: ranges that hold", held, HELD, "%", at_least=True, digits=0)
	result.figures[name] = figures
	return rows


def bench(context):
	result, rows = Result(TITLE), []
	program, all_loads = loads(context)
	only = os.environ.get("VIRTUAL_LOADS")
	for name, command in all_loads.items():
		if only and name not in only.split(";"):
			continue
		plain, recorded = [], []
		for _ in range(context.rounds_or(24)):
			for measured in (False, True, False):
				if os.path.exists(context.path("db")):
					os.remove(context.path("db"))
				if measured:
					recorded.append(traced(context, program, command))
				else:
					plain.append(untraced(context, program, command))
		rows += judge(result, name, plain, recorded)
		for reason in sorted({each["refused"] for each in recorded if "refused" in each}):
			result.note(f"{name}: {sum(each.get('refused') == reason for each in recorded)} of {len(recorded)} refused: {reason}")
		overhead = [each["overhead"] for each in recorded if "overhead" in each]
		if overhead:
			result.note(f"{name}: the probes had {statistics.median(overhead):.1f} % of the CPU time")
	if not rows:
		raise Skip("none of the loads is wanted")
	result.table(["% off the unmeasured median (90 %)", "time", "ms", "control", "measured", "computed", "+- %", "held (control)", ""], rows)
	return result
