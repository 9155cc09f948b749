# SPDX-License-Identifier: MIT
"""What stacks cost, and how many are whole: programs of the distribution, recorded at the timer by us and by perf (frame
pointers, and copies of the stack), one after the other in each round. Stacks at switches within their budget. How long
a million samples take to become a flame graph."""
import collections
import json
import os
import re
import shutil
import subprocess

from lib import Result, Spread, need, ratios, run

TITLE = "stacks: cost and completeness, beside perf"
HZ = 999
CREDIT_NS = 10_000_000 # what stacks at events may take at once, as they do at the start of this load: EDC_STACK_CREDIT_NS
PERF_COPY = 32768  # bytes of each stack, perf's own example for deep ones
# The functions that programs and threads start with, as they are called with and without libc's debug symbols.
STARTS = re.compile(r"^(_start|__libc_start_main.*|__libc_start_call_main|clone|__clone|clone3|__clone3|start_thread|_dl_start.*|\[unknown\])$")

PYTHON = """
import json, re, time
class A:
	def f(self, n): return 1 if n < 2 else self.f(n - 1) + self.f(n - 2)
end = time.monotonic() + SECONDS
while time.monotonic() < end:
	A().f(14); json.loads(json.dumps([{'a': i, 'b': [1, 2, 3]} for i in range(500)])); sorted(range(5000), key=lambda x: -x)
	re.sub(r'(a+)+b', 'x', 'aaaaaaaac' * 50)
"""
PERL = """
use Time::HiRes 'time'; my $end = time + SECONDS;
sub f { my $n = shift; return $n < 2 ? 1 : f($n - 1) + f($n - 2) }
while (time < $end) { f(14); my %h; $h{$_ % 97} .= "x$_" for 1 .. 5000; my $s = join ",", sort { $a <=> $b } map { $_ * 7 % 1001 } 1 .. 5000;
	$s =~ s/(\\d)(\\d)/$2$1/g; }
"""
SQL = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<ROWS) SELECT count(*), sum(x*x%7) FROM " \
	"(SELECT x FROM c ORDER BY x%1000, x);"
CPLUS = "#include <map>\n#include <string>\n#include <regex>\n#include <iostream>\n" \
	"int main() { std::map<std::string, int> m; std::regex r(\"a+b\"); std::cout << std::regex_match(\"aab\", r) << m.size(); }\n"
NGINX = "daemon off; pid {0}/nginx.pid; error_log /dev/null; worker_processes 1; master_process off; events {{}} http {{ access_log off;\n" \
	"root /usr/share; client_body_temp_path {0}/body; server {{ listen unix:{0}/nginx.sock; gzip on; gzip_min_length 1; gzip_types *; }} }}\n"


def loads(context, seconds):
	"""{name: (command of a shell, the names of its processes)}; servers are part of it, so that they are recorded."""
	def write(name, text):
		with open(context.path(name), "w") as file:
			file.write(text)
		return context.path(name)

	where = context.work
	python, perl = write("load.py", PYTHON.replace("SECONDS", str(seconds))), write("load.pl", PERL.replace("SECONDS", str(seconds)))
	sql = write("load.sql", SQL.replace("ROWS", str(int(1_500_000 * seconds))))
	source, config = write("load.cpp", CPLUS), write("nginx.conf", NGINX.format(where))
	served = f"curl -s --compressed -o /dev/null --unix-socket {where}/nginx.sock 'http://x/common-licenses/GPL-3?[1-{int(600 * seconds)}]'"
	return {
		"python3": (f"/usr/bin/python3 {python}", ["python3"]),
		"perl": (f"perl {perl}", ["perl"]),
		"sqlite3": (f"sqlite3 :memory: < {sql}", ["sqlite3"]),
		"cc1plus": (f"g++ -O2 -c {source} -o {where}/load.o", ["cc1plus"]),
		"redis-server": (f"redis-server --port 0 --unixsocket {where}/redis.sock --save '' --dir {where} > /dev/null & sleep 0.2; "
			f"redis-benchmark -s {where}/redis.sock -q -n {int(30000 * seconds)} -t set,get,lrange_100 > /dev/null; "
			"kill $!; wait $!; true", ["redis-server"]),
		"nginx": (f"nginx -c {config} & sleep 0.2; {served}; kill $!; wait $!; true", ["nginx"]),
	}


def measured(command):
	"""CPU seconds of the command and its children, in both modes."""
	before = os.times()
	done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
	after = os.times()
	if done.returncode != 0:
		raise RuntimeError(f"{' '.join(command[:6])}: exit code {done.returncode}: {done.stderr[-500:]}")
	return after.children_user + after.children_system - before.children_user - before.children_system


def ours_complete(context, directory, names):
	"""Stacks of these processes, those that reach their program's start; with a part in the program."""
	text = run([context.monitor, "report", directory, "stacks", "--all", "--by", "cpu", "--folded"])
	total = whole = 0
	for line in text.splitlines():
		frames, count = line.rsplit(" ", 1)
		process, *frames = frames.split(";")
		if process not in names or not frames:
			continue
		total += int(count)
		whole += int(count) * (not frames[0].startswith("[truncated"))
	return total, whole


def perf_complete(data, names):
	script = subprocess.Popen(["perf", "script", "-i", data, "-F", "comm,ip,sym", "--no-inline"], stdout=subprocess.PIPE,
		stderr=subprocess.DEVNULL, text=True, errors="replace")
	total = whole = 0
	name, last, in_kernel = None, None, False
	for line in script.stdout:
		words = line.split()
		if not words:
			if name in names and last is not None and not in_kernel:
				total += 1
				whole += bool(STARTS.match(last))
			name = last = None
		elif line[0] not in " \t":
			name = words[0]
		else:
			in_kernel = len(words[0]) == 16 and words[0] >= "8"
			last = words[1].split("+")[0] if len(words) > 1 else "[unknown]"
	script.wait()
	return total, whole


def beside_perf(context, result):
	seconds = context.scale(6.0, 0.5)
	rows, sizes = [], []
	started = Spread([measured(context.record(context.path("none"), "--no-calibration", "-e", "sched", "--stacks=cpu", command=["true"]))
		for _ in range(3)])
	more = {"monitor": 0.0, "perf dwarf": 0.0}
	for name, (load, processes) in loads(context, seconds).items():
		if not shutil.which(name) and name != "cc1plus":
			result.note(f"{name} is not installed")
			continue
		shell = ["sh", "-c", load]
		trace, data = context.path("trace"), context.path("perf.data")
		taken = {"alone": [], "monitor": [], "perf -g": [], "perf dwarf": []}
		share = {"monitor": [], "perf dwarf": []}
		size = {"monitor": [], "perf dwarf": []}
		samples = []
		for _ in range(context.rounds_or(3)):
			taken["alone"].append(measured(shell))
			taken["monitor"].append(measured(context.record(trace, "--no-calibration", "-e", "sched", "--stacks=cpu", "--rate", str(HZ),
				command=shell)))
			perf = ["perf", "record", "-q", "-F", str(HZ), "-e", "cpu-clock", "-o", data]
			taken["perf -g"].append(measured([*perf, "-g", "--", *shell]))
			taken["perf dwarf"].append(measured([*perf, "--call-graph", f"dwarf,{PERF_COPY}", "--", *shell]))
			total, whole = ours_complete(context, trace, processes)
			others, others_whole = perf_complete(data, processes)
			share["monitor"].append(100 * whole / max(total, 1))
			share["perf dwarf"].append(100 * others_whole / max(others, 1))
			stacks = [entry.path for entry in os.scandir(trace) if entry.is_file() and entry.name != "metadata"]
			size["monitor"].append(sum(map(os.path.getsize, stacks)) / max(total, 1))
			size["perf dwarf"].append(os.path.getsize(data) / max(others, 1))
			samples.append(total)
		extra = {way: [a - b for a, b in zip(cpu, taken["alone"])] for way, cpu in taken.items() if way != "alone"}
		rows.append([name, f"{Spread(samples).mid:.0f}", *(f"{Spread(share[way]).mid:.1f}" for way in share),
			*(f"{100 * Spread(extra[way]).mid / Spread(taken['alone']).mid:.1f}" for way in extra),
			*(f"{Spread(size[way]).mid:,.0f}" for way in size)])
		for way in more:
			more[way] += min(taken[way]) - min(taken["alone"]) # what disturbs a load only adds to it
		sizes += ratios(size["monitor"], size["perf dwarf"]).values
		result.figures[name] = {"complete_percent": {way: Spread(values).json() for way, values in share.items()},
			"cpu_s": {way: Spread(values).json() for way, values in taken.items()},
			"bytes_per_sample": {way: Spread(values).json() for way, values in size.items()}}
		ours, perfs = Spread(share["monitor"]), Spread(share["perf dwarf"])
		result.bar(f"{name}: stacks that reach the program's start", ours.mid, 98, "%", ours, at_least=True, digits=1)
		result.bar(f"{name}: the same, perf's less ours", perfs.mid - ours.mid, 1.5, "points", digits=1)
	result.table(["samples at 999 Hz of", "samples", "whole: monitor", "perf dwarf", "CPU more, %: monitor", "perf -g", "perf dwarf",
		"bytes each: monitor", "perf dwarf"], rows)
	result.table(["CPU s to start and to end", "min", "median", "max"], [["monitor, in each figure above", *started.cells(2)]])
	result.bar("CPU of recording all of them, but for the start / perf dwarf",
		(more["monitor"] - len(rows) * started.mid) / more["perf dwarf"], 0.5, "x")
	result.bar("bytes / perf dwarf", Spread(sizes).mid, 0.05, "x", Spread(sizes), digits=3)


def named(function):
	"""A function as both tools name it, without its parameters; those without a symbol are one."""
	function = re.sub(r" \[clone [^]]*\]", "", function).split("(")[0]
	return "unnamed" if not function or "+0x" in function or "[" in function or "@plt" in function else function


def self_samples_of_perf(data, process):
	"""{function: samples that it was at the top of}"""
	found = collections.Counter()
	script = run(["perf", "script", "-i", data, "-F", "comm,ip,sym", "--no-inline"])
	for sample in script.split("\n\n"):
		lines = sample.strip("\n").split("\n")
		if len(lines) > 1 and lines[0].split()[0] == process:
			words = lines[1].split(None, 1)
			found[named(words[1].strip() if len(words) > 1 else "")] += 1
	return found


def self_samples(context, trace, process):
	found = collections.Counter()
	for line in run([context.monitor, "report", trace, "stacks", "--all", "--by", "cpu", "--folded"]).splitlines():
		frames, count = line.rsplit(" ", 1)
		frames = frames.split(";")
		while frames[-1].endswith(" (inlined)"):
			frames.pop() # perf does not name them
		if frames[0] == process and len(frames) > 1:
			found[named(frames[-1])] += int(count)
	return found


def shares_agree(context, result):
	"""A chi-square test of homogeneity (Pearson) of both tools' samples over the 20 hottest functions and all others;
	both record the same run. The samples of a timer are no worse spread than those drawn at random, so the bar holds."""
	trace, data = context.path("shares"), context.path("shares.data")
	source = context.path("load.cpp")
	functions = 20
	rows = []
	for _ in range(context.rounds_or(3)):
		perf = ["perf", "record", "-q", "--no-bpf-event", # perf 6.1 aborts on the build ids of BPF programs
			"-F", str(HZ), "-e", "cpu-clock", "-g", "-o", data, "--", "g++", "-O2", "-c", source, "-o", context.path("load.o")]
		run(context.record(trace, "--no-calibration", "-e", "sched", "--stacks=cpu", "--rate", str(HZ), command=perf))
		ours, others = self_samples(context, trace, "cc1plus"), self_samples_of_perf(data, "cc1plus")
		hottest = [name for name, _ in (ours + others).most_common(functions)]
		pairs = [(ours[name], others[name]) for name in hottest]
		pairs.append((ours.total() - sum(a for a, _ in pairs), others.total() - sum(b for _, b in pairs)))
		scale = (others.total() / ours.total()) ** 0.5
		rows.append(sum((a * scale - b / scale) ** 2 / (a + b) for a, b in pairs if a + b))
		worst = max(zip(hottest, pairs), key=lambda row: (row[1][0] * scale - row[1][1] / scale) ** 2 / sum(row[1]))
		result.note(f"cc1plus: {ours.total()} and perf's {others.total()} samples, {ours['unnamed']} and {others['unnamed']} in functions "
			f"without a name; least alike: {worst[0]}, {worst[1][0]} and {worst[1][1]}")
	result.table(["self samples beside perf", "min", "median", "max"], [["chi-square, 20 degrees of freedom", *Spread(rows).cells(1)]])
	result.bar("chi-square of self shares beside perf's, 20 functions (p = 0.001)", Spread(rows).mid, 45.3, "", Spread(rows), digits=1)


def budget(context, result):
	"""Two threads that wake each other as fast as they can."""
	trace = context.path("switches")
	shares, rates = [], []
	for _ in range(context.rounds_or(3)):
		run(context.record(trace, "--no-calibration", "-e", "sched", "--stacks=offcpu",
			command=context.workload("pingpong", context.load_cpu, context.scale(20, 4), context.scale(10_000, 2_000))))
		with open(os.path.join(trace, ".monitor/recording.json")) as file:
			recording = json.load(file)
		stacks, wall = recording["stacks"], recording["recorder"]["wall_ns"]
		shares.append(100 * (stacks["max_spent_of_a_cpu_ns"] - CREDIT_NS) / wall)
		rates.append((stacks["taken_at_events"] + stacks["left_out_by_budget"]) / wall * 1e9)
	result.table(["stacks at switches", "min", "median", "max"], [["switches a second", *Spread(rates).cells(0)],
		["share of their CPU, %", *Spread(shares).cells(2)]])
	result.bar("stacks at switches, of the CPU", Spread(shares).mid, 10, "%", Spread(shares))


def a_million(context, result):
	"""Of two interpreters at the highest rate; kernels that cannot keep to it give fewer, and the time is scaled."""
	trace, page = context.path("many"), context.path("many.html")
	wanted = context.scale(1_000_000, 5_000)
	hz = 10_000
	seconds = wanted / hz / len(os.sched_getaffinity(0)) * 1.1 + 1
	programs = loads(context, seconds)
	run(context.record(trace, "--no-calibration", "-e", "sched", "--stacks=cpu", "--rate", str(hz),
		command=["sh", "-c", f"{programs['python3'][0]} & {programs['perl'][0]} & wait"]))
	samples = sum(int(line.rsplit(" ", 1)[1]) for line in run([context.monitor, "report", trace, "stacks", "--all", "--folded"]).splitlines())
	seconds = []
	for _ in range(context.rounds_or(3)):
		seconds.append(measured(["taskset", "-c", str(context.load_cpu), context.monitor, "report", trace, "stacks", "--all", "--by", "cpu", "-o", page]))
	each = Spread([1e6 * second / samples for second in seconds])
	result.table(["a flame graph", "min", "median", "max"], [[f"CPU s for {samples:,} samples", *Spread(seconds).cells(2)]])
	result.bar("CPU seconds for 10^6 samples", each.mid, 5, "s", each)


def bench(context):
	need("perf", "g++", "curl")
	result = Result(TITLE)
	beside_perf(context, result)
	shares_agree(context, result)
	budget(context, result)
	a_million(context, result)
	return result
