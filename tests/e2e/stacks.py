#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stacks: of a program whose stacks are known every one that was taken is one of these, whatever made it: recursion,
alloca, signal handlers, vfork, exceptions in flight, tail calls, threads, callbacks of libraries, and assembler that
says nothing of its frames. Blocked time by stack adds up to that of the report offcpu. What costs too much is left out."""
import collections
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile

import e2e

LOAD = os.path.join(e2e.programs, "stack_load")
PROBES = "mark in_recursion in_alloca in_realigned in_handler in_signal in_child in_vfork in_fork in_tail_target in_tail_call " \
	"in_front_of_tail_call in_thread in_assembler in_front_of_assembler in_guarded in_exception in_throw compare in_library main"
OWN = set(PROBES.split()) | {"Guard::in_cleanup()"}
# The program's own functions on each stack at mark(), from the outermost. Two of them do not reach main, and say why.
KNOWN = {
	("main", *["in_recursion"] * 5, "mark"),
	("main", "in_alloca", "mark"),
	("main", "in_realigned", "mark"),
	("main", "in_signal", "in_handler", "mark"),
	("main", "in_vfork", "in_child", "mark"),
	("main", "in_fork", "in_child", "mark"),
	("main", "in_front_of_tail_call", "in_tail_target", "mark"),
	("in_thread", "mark"),
	("main", "in_exception", "in_guarded", "Guard::in_cleanup()", "mark"),
	("main", "in_library", "compare", "mark"),
}
CUT = {"[truncated: too deep]": {"in_recursion", "mark"}, "[truncated: no rule in stack_load]": {"in_assembler", "mark"}}


def report(trace, *options):
	return e2e.run(e2e.monitor, "report", trace.directory, "stacks", "--all", *options).stdout


def folded(trace, by):
	"""[(frames from the outermost, count)], of the load."""
	lines = [line.rsplit(" ", 1) for line in report(trace, "--by", by, "--folded").splitlines()]
	return [(frames.split(";")[1:], int(count)) for frames, count in lines if frames.split(";")[0] == "stack_load"]


def known_stacks():
	"""At a system call that only mark() makes."""
	trace = e2e.until_undisturbed(lambda: e2e.record("known", "--force", "--stacks=syscall:getppid", command=(LOAD,)),
	                              lambda trace: e2e.before_its_code(trace, "stack_load", "other"), 5)
	trace.expect_true()
	seen, cut = set(), set()
	for frames, _ in folded(trace, "other"):
		own = [re.sub(r"\.(cold|part\.\d+)$", "", frame) for frame in frames]
		own = [frame for frame in own if frame in OWN]
		if not e2e.expect("mark" in own, f"not at mark(): {frames}"):
			continue
		e2e.expect(any(frame in ("syscall", "getppid") for frame in frames), f"no system call: {frames}")
		e2e.expect(not re.match(r"bpf_|__bpf_|__traceiter_", frames[-1]), f"ends in our probe: {frames}")
		if frames[0].startswith("[truncated"):
			cut.add(frames[0])
			e2e.equal(f"functions of the stack {frames[0]}", set(own), CUT.get(frames[0]))
		else:
			seen.add(tuple(own))
			e2e.expect(tuple(own) in KNOWN, f"a stack that never was: {own}")
			e2e.expect(frames[0] in ("_start", "clone3", "clone", "__clone") or (own[0] == "in_thread" and
			           frames[0].startswith("libc.so.6+")), f"starts with {frames[0]}")  # without libc's symbols
	e2e.equal("known stacks that were not seen", KNOWN - seen, set())
	e2e.equal("stacks that were cut", cut, set(CUT))


def at_the_timer():
	"""Functions that nobody can miss: their shares, and who called them."""
	trace = e2e.until_undisturbed(lambda: e2e.record("timer", "--force", "--stacks", "--rate", 499, command=(LOAD, 1.5)),
	                              lambda trace: e2e.before_its_code(trace, "stack_load", "cpu", 0.01), 5)
	trace.expect_true()
	stacks = folded(trace, "cpu")
	total = sum(count for _, count in stacks)
	if not e2e.expect(total > 100, f"only {total} samples of a program that computes for a second"):
		return
	for function, callers in (("burn_inner", ["main", "burn"]), ("burn_in_vdso", ["main"])):
		of = [(frames, count) for frames, count in stacks if function in frames]
		e2e.expect(of, f"no sample in {function}")
		for frames, _ in of:
			at = frames.index(function)
			e2e.equal(f"callers of {function} in {frames}", frames[at - len(callers):at], callers)
	rows = json.loads(report(trace, "--command", "--json"))["rows"]
	in_vdso = [row for row in rows if row["module"] == "[vdso]" and "clock_gettime" in row["function"]]
	e2e.expect(in_vdso and in_vdso[0]["self"] > 0, "clock_gettime of the vdso has no name")
	complete = sum(count for frames, count in stacks if not frames[0].startswith("[truncated"))
	e2e.expect(complete >= 0.98 * total, f"{complete} of {total} stacks are complete")
	e2e.expect("burn_inner" in report(trace, "--command", "--top", "3"), "the report does not name the function that computes")
	rest = [count for frames, count in folded(trace, "offcpu") if "rest" in frames]
	e2e.expect(sum(rest) > 50_000, f"{sum(rest)} us blocked in rest(), of a second in steps of 3 ms")
	info = trace.info()["recording"]
	stacks = json.loads((trace.directory / ".monitor/recording.json").read_text())["stacks"]
	e2e.expect(info and stacks["timer_hz"] == 499 and stacks["taken_at_timer"] > 100, f"recording.json: {stacks}")


def blocked_time_adds_up():
	"""To the ns, but for the rounding of each row."""
	directory = e2e.work / "timer"
	begin = json.loads(e2e.run(e2e.monitor, "report", directory, "--json").stdout)["summary"]["window"]["begin_ns"] / 1e9
	for options in ((), ("--from", f"{begin + 0.1:.9f}", "--to", f"{begin + 0.8:.9f}"), ("--command",)):
		rows = json.loads(e2e.run(e2e.monitor, "report", directory, "offcpu", "--json", *options).stdout)["rows"]
		answer = json.loads(e2e.run(e2e.monitor, "report", directory, "stacks", "--by", "offcpu", "--json", *options).stdout)
		blocked, total = sum(row["total_ns"] for row in rows), answer["stacks"]["total_ns"]
		e2e.expect(rows and abs(blocked - total) <= len(rows), f"{options}: offcpu {blocked} ns, stacks {total} ns")
		of_rows = sum(row["self_ns"] for row in answer["rows"])
		e2e.expect(abs(of_rows - total) <= len(answer["rows"]), f"{options}: the functions {of_rows} ns, the tree {total} ns")


def waits_and_wakers():
	"""Two processes that wake each other by a pipe: the sleeper's stack ends in its read, its waker's in a write."""
	trace = e2e.record("wakers", "--stacks=offcpu,wake", command=(e2e.workload, "pingpong", 5_000))
	trace.expect_true()
	totals = {by: json.loads(report(trace, "--by", by, "--json"))["stacks"]["total_ns"] for by in ("offcpu", "wait")}
	e2e.expect(totals["offcpu"] > 0 and totals["offcpu"] == totals["wait"], f"blocked by stack: {totals}")
	rows = {by: json.loads(e2e.run(e2e.monitor, "report", trace.directory, "cpu", "--by", by, "--json").stdout)["rows"] for by in ("cpu", "process")}
	busy, used = sum(100 - row["idle_percent"] for row in rows["cpu"]), sum(row["cpu_percent"] or 0 for row in rows["process"])
	# In no row: hidden threads, and interrupts while nothing ran, as those that wake an idle CPU.
	of_nobody = sum(row[f"{mode}_percent"] for row in rows["cpu"] for mode in ("unknown", "irq", "softirq"))
	e2e.expect(used > 10 and -1 < busy - used < 1 + of_nobody, f"CPUs that have stacks of others were busy {busy} %, processes used {used} %")
	woken = 0
	for line in report(trace, "--by", "wait", "--folded", "--command").splitlines():
		frames = line.rsplit(" ", 1)[0].split(";")
		at = next((i for i, frame in enumerate(frames) if re.match(r"\[(woken by |waker unknown)", frame)), None)
		if e2e.expect(at is not None, f"without a waker: {frames}") and frames[at] == "[woken by workload]":
			reads = any("pipe_read" in frame for frame in frames[:at])
			woken += reads and any("pipe_write" in frame for frame in frames[at + 1:]) and "main" in frames[at + 1:]
			e2e.expect(not any("pipe_read" in frame for frame in frames[at + 1:]), f"wakes while it reads: {frames}")
	e2e.expect(woken > 0, "no read ended by a write")


def page_of(*words):
	"""What the flame graphs of a page show: {by: (names, graph)}."""
	page = e2e.work / "flame.html"
	e2e.run(e2e.monitor, "report", *words, "stacks", "-o", page)
	text = page.read_text()
	e2e.expect(not re.search(r"(src|href)=|https?://|@import|url\(", text), "the page loads something else")
	data = json.loads(re.search(r'id="data" type="application/json">([^<]*)</script>', text)[1])
	return data, {graph["by"]: graph for graph in data["graphs"]}


def by_depth(graph):
	sums = collections.Counter()
	for depth, total in zip(graph["depth"], graph["total"]):
		sums[depth] += total
	return sums


def flame_graphs():
	"""The page has the sums of the report, and of each function not more than what it is part of."""
	directory = e2e.work / "timer"
	data, graphs = page_of(directory)
	e2e.equal("graphs of the page", sorted(graphs), ["cpu", "offcpu"])
	for by, graph in graphs.items():
		answer = json.loads(e2e.run(e2e.monitor, "report", directory, "stacks", "--by", by, "--json").stdout)["stacks"]
		e2e.equal(f"total of {by}", graph["total"][0], answer["total_ns" if by == "offcpu" else "total"])
		e2e.equal(f"unit of {by}", graph["unit"], "ns" if by == "offcpu" else "stacks")
		path = []
		for depth, total in zip(graph["depth"], graph["total"]):
			path[depth:] = [[total, 0]]
			if depth > 0:
				path[depth - 1][1] += total
				# each is rounded to ns
				e2e.expect(path[depth - 1][1] <= path[depth - 1][0] + len(graph["depth"]), f"{by}: children exceed {path}")
	e2e.expect(any(name == ["burn_inner", "stack_load"] for name in data["names"]), "burn_inner is not in the page")
	both = page_of(directory, directory, "--by", "cpu")[1]
	e2e.equal("a trace compared with itself", both["cpu"]["before"], both["cpu"]["total"])
	# Where traces are compared, clones of a function are one: as much at each depth.
	e2e.equal("at each depth as without comparison", by_depth(both["cpu"]), by_depth(graphs["cpu"]))
	waits = page_of(e2e.work / "wakers")[1]
	e2e.equal("graphs with wakers", sorted(waits), ["offcpu", "other", "wait"])
	for options, words in ((("stacks", "-o", "/dev/full"), "No space left"),
	                       (("stacks", "-o", e2e.work / "none/flame.html"), "none/flame.html"),
	                       (("offcpu", "-o", "flame.html"), "needs the report stacks"),
	                       (("stacks", "-o", "flame.html", "--folded"), "excludes"),
	                       (("stacks", "-o", "flame.html", "--json"), "excludes"),
	                       (("stacks", "-o", "flame.html", "--by", "fault"), "no stacks of this kind")):
		done = e2e.run(e2e.monitor, "report", directory, *options, exit_code=None)
		e2e.expect(done.returncode not in (0, None) and words in done.stderr, f"{options}: {done.returncode} {done.stderr}")
	done = e2e.run(e2e.monitor, "report", directory, directory, directory, "stacks", "-o", "flame.html", exit_code=None)
	e2e.expect(done.returncode and "compares two" in done.stderr, done.stderr)


CALLS_BEYOND_BUDGET = 150_000


def within_budget():
	"""A stack at each of many system calls would take several times the budget: what is left out is counted."""
	trace = e2e.record("budget", "-p", "cmd", "--stacks=syscall:getppid", command=(e2e.workload, "getppid", CALLS_BEYOND_BUDGET))
	recording = json.loads((trace.directory / ".monitor/recording.json").read_text())
	stacks, wall_ns = recording["stacks"], recording["recorder"]["wall_ns"]
	limit = os.cpu_count() * (0.10 * wall_ns + 15e6)  # and the credit of an idle start, with one stack more
	taken, left_out = stacks["taken_at_events"], stacks["left_out_by_budget"]
	e2e.expect(taken > 1000 and left_out > taken, f"{taken} stacks taken, {left_out} left out")
	e2e.expect(taken + left_out >= CALLS_BEYOND_BUDGET, f"{taken + left_out} of {CALLS_BEYOND_BUDGET} are accounted for")
	e2e.expect(stacks["spent_at_events_ns"] <= limit, f"{stacks['spent_at_events_ns'] / 1e6:.0f} ms for stacks, of {limit / 1e6:.0f}")
	in_trace = sum(count for frames, count in ((line.rsplit(" ", 1)[0], int(line.rsplit(" ", 1)[1]))
	                                           for line in report(trace, "--by", "other", "--folded").splitlines()))
	e2e.expect(in_trace <= taken <= in_trace + 100, f"{taken} taken, {in_trace} in the report")  # some before its window


SPINS = "__attribute__((noinline)) void %s(void) { for (volatile long i = 0; i < 100000000; i++); } int main() { %s(); return 0; }"


def what_was_recorded():
	"""The default is what was recorded; events of several classes are told apart; what was not recorded is named."""
	trace = e2e.record("classes", "--stacks=syscall:getppid", "--stacks-on", "sched_waking", command=("sh", "-c", f"{e2e.workload} getppid 100; {e2e.workload} nap 5"))
	rows = [line.rsplit(" ", 1) for line in report(trace, "--folded").splitlines()]
	kinds = {frames.split(";")[1] for frames, _ in rows}
	e2e.equal("classes", kinds, {"[at sys_enter]", "[at sched_waking]"})
	calls = sum(int(count) for frames, count in rows if frames.startswith("workload;[at sys_enter];"))
	e2e.expect(90 < calls <= 100, f"{calls} of 100 calls have a stack")
	done = e2e.run(e2e.monitor, "report", trace.directory, "stacks", "--by", "cpu", exit_code=1)
	e2e.expect("no stacks --by cpu; it has: other" in done.stderr, done.stderr)


@e2e.longer
def faults_leave_some():
	"""Many faults do not use up what stacks at switches may take, and the report says that some have no stack."""
	trace = e2e.record("faults", "-p", "cmd", "--stacks=offcpu,fault", command=("sh", "-c", f"for i in 1 2 3 4 5 6 7 8; do {e2e.workload} touch 20000; {e2e.workload} nap 10; done"))
	at = trace.recording()["stacks"]["at"]
	e2e.expect(at["fault"]["left_out_by_budget"] > at["fault"]["taken"] > 100, f"stacks at faults: {at}")
	e2e.expect(at["switch"]["taken"] > 9 * at["switch"]["left_out_by_budget"], f"stacks at switches: {at}")
	left_out, taken = (at["fault"][key] for key in ("left_out_by_budget", "taken"))
	e2e.equal("left out", json.loads(report(trace, "--by", "fault", "--json"))["stacks"]["left_out_by_budget"], left_out)
	e2e.expect(f"the budget left out {left_out:,} of {taken + left_out:,}" in report(trace, "--by", "fault"), report(trace, "--by", "fault"))


def own_faults_are_none():
	"""Stacks of new programs are not all in memory, so reading them faults, also within the probe of faults, which the kernel
	then refuses to run: that is no event that is missing, and none of the program's."""
	trace = e2e.record("own_faults", "--stacks=cpu,fault", command=("sh", "-c", "for i in $(seq 40); do ls /usr/lib | wc -l > /dev/null; done"))
	trace.expect_true()
	misses = trace.recording()["misses"]
	e2e.equal("missed", {program: count for program, count in misses["end"].items() if count - misses["start"].get(program, 0)}, {})


@e2e.longer
def threads_have_their_own():
	"""Each thread's stacks are its own, however it is chosen, and none of its blocked time is without one."""
	program = e2e.work / "thread_load"
	e2e.run("cc", "-O2", "-pthread", os.path.join(os.path.dirname(__file__), "thread_load.c"), "-o", program)
	trace = e2e.record("threads", "--stacks", command=(program, 1000))
	trace.expect_true()
	of = dict(word.split("=") for word in trace.output.split())
	left_out = trace.recording()["stacks"]["left_out_by_budget"]
	for by, comm, function in (("cpu", "spinner", "spin_here"), ("offcpu", "sleeper", "nap_here"), ("offcpu", None, "join_here")):
		tid = of.get(comm, trace.recording()["command_pid"])
		chosen = [report(trace, "--by", by, "--folded", "--tid", tid)]
		if comm:
			chosen.append(report(trace, "--by", by, "--folded", "--comm", comm))
		for text in chosen:
			counts = {True: 0, False: 0}
			for line in text.splitlines():
				frames, count = line.rsplit(" ", 1)
				counts[function in frames.split(";")] += int(count)
			e2e.expect(counts[True] > (100 if by == "cpu" else 300_000), f"{by} of {comm}: {counts} in {function}: {text}")
			e2e.expect(counts[False] < 0.2 * counts[True] or left_out, f"{by} of {comm}: {counts} in {function}: {text}")


@e2e.longer
def without_tables():
	"""Code that was built without unwind tables but keeps frame pointers has its callers, in a program that has tables."""
	source, program = e2e.work / "fp_load.c", e2e.work / "fp_load"
	source.write_text("""
__attribute__((noipa)) int inner(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
__attribute__((noipa)) int middle(int n) { return inner(n) + 1; }
int main(void) { int s = 0; for (int i = 0; i < 300; i++) s += middle(3000000); return s == 1; }
""")
	e2e.run("gcc", "-O1", "-fno-asynchronous-unwind-tables", "-fno-omit-frame-pointer", source, "-o", program)
	trace = e2e.record("untabled", "--stacks=cpu", command=(program,))
	of = {True: 0, False: 0}
	for line in report(trace, "--command", "--folded").splitlines():
		frames, count = line.rsplit(" ", 1)
		if "inner" in frames.split(";"):
			of[frames.split(";")[-4:-1] == ["main", "middle", "inner"] or frames.endswith(";main;middle;inner")] += int(count)
	e2e.expect(of[True] > 100 and of[False] < 0.1 * of[True], f"samples with the right callers: {of}: {report(trace, '--command', '--folded')}")
	answer = json.loads(report(trace, "--command", "--json"))["stacks"]
	e2e.expect(answer["without_table_percent"] > 80, f"samples in code that no table describes: {answer}")
	e2e.expect("of files that no table describes" in report(trace, "--command"), "the report does not say it")


@e2e.longer
def mappings_all_the_time():
	"""A process that maps and unmaps code as fast as it can has its stacks, and costs the recorder a bounded time."""
	trace = e2e.record("maps", "--stacks=cpu", command=(e2e.workload, "maps", 3000))
	# Thousands of switches a second to the thread that follows them: `check` has no allowance for what each moves
	# from a thread to the next.
	e2e.equal("events lost", trace.summary()["lost"], 0)
	answer = json.loads(report(trace, "--command", "--json"))["stacks"]
	e2e.expect(answer["total"] > 300, f"only {answer['total']} samples")
	e2e.expect(answer["truncated_percent"] < 10, f"{answer}")
	e2e.equal("parts of what is truncated", round(sum(part["percent"] for part in answer["truncated_by"]), 6),
	          round(answer["truncated_percent"], 6))
	recording = trace.recording()
	e2e.equal("processes without room", recording["stacks"]["processes_without_room"], 0)
	e2e.expect(recording["recorder"]["cpu_ns"] < 2.5e9 + 0.1 * recording["recorder"]["wall_ns"], f"{recording['recorder']}")


def rewritten_in_place():
	"""A program with the inode of another, which is gone: the samples of each have its own names or none."""
	if not shutil.which("gcc"):
		print("not tried: there is no gcc")
		return
	with tempfile.TemporaryDirectory() as directory:
		for name in ("first", "second"):
			subprocess.run(["gcc", "-xc", "-", "-Wl,--build-id", "-o", f"{directory}/{name}"], input=SPINS % (name, name), text=True, check=True)
		trace = e2e.record("rewritten", "--stacks=cpu", command=("sh", "-c", f"cd {directory}; touch prog; chmod +x prog; "
			"cat first > prog; ./prog; cat second > prog; ./prog"))
		lines = [line.rsplit(" ", 1) for line in report(trace, "--by", "cpu", "--folded").splitlines() if line.startswith("prog;")]
	second = sum(int(count) for frames, count in lines if frames.endswith(";second"))
	unnamed = sum(int(count) for frames, count in lines if re.search(r";prog\+0x[0-9a-f]+$", frames))
	e2e.expect(second > 20, f"{second} samples in what the file has now")
	e2e.expect(unnamed > 20, f"{unnamed} samples without a name, of what it had before")


def perf_beside():
	"""Our records must not change those that perf gets: it aborted when ours had build ids."""
	if not shutil.which("perf"):
		print("not tried: there is no perf")
		return
	with tempfile.TemporaryDirectory() as directory:
		e2e.record("perf", "--stacks=cpu", command=("sh", "-c", f"perf record -q --no-bpf-event -e cpu-clock -o {directory}/data -- ls > /dev/null; "
			f"echo $? > {directory}/code"))
		code = pathlib.Path(directory, "code").read_text().strip()
	e2e.equal("exit code of perf record", code, "0")


def refused():
	"""One sentence, and nothing is recorded."""
	for options, words in ((("--stacks=nonsense",), "is not one of cpu, offcpu"),
	                       (("--stacks=syscall:opennat",), "Did you mean"),
	                       (("--stacks-on", "sched_swich"), "sched_switch"),
	                       (("--stacks", "--rate", "0"), "--rate"),
	                       (("--rate", "99"), "add --stacks=cpu"),
	                       (("--stacks", "--rate", "10001"), "--rate"),
	                       (("--stacks=offcpu", "--rate", "99"), "add --stacks=cpu"),
	                       (("--stacks", "--user-only"), "--user-only")):
		done = e2e.run(e2e.monitor, "record", "-o", e2e.work / "refused", *options, "--", "true", exit_code=None)
		e2e.expect(done.returncode not in (0, None) and words in done.stderr, f"{options}: {done.returncode} {done.stderr}")
		e2e.expect(not (e2e.work / "refused").exists(), f"{options}: left a trace behind")
	plain = e2e.record("plain", command=("true",))
	done = e2e.run(e2e.monitor, "report", plain.directory, "stacks", exit_code=1)
	e2e.expect("record with --stacks" in done.stderr, done.stderr)


@e2e.longer
def damaged_lists():
	"""What names are made from is not trusted: without it, or with nonsense in it, stacks have fewer names."""
	trace, lists = e2e.work / "timer", ("files", "kallsyms", "vdso")
	whole = json.loads(e2e.run(e2e.monitor, "report", trace, "stacks", "--json").stdout)["stacks"]["total"]
	for name in lists:
		path = trace / ".monitor" / name
		content = path.read_bytes()
		for damage in (b"", b"\xff\x00{[\n" * 100, content[: len(content) // 2], content[::-1], b'{"file": 1, "loads": [[1,2,99999999999999999999]]}\n'):
			path.write_bytes(damage)
			answer = json.loads(e2e.run(e2e.monitor, "report", trace, "stacks", "--json").stdout)
			e2e.equal(f"samples with {name} damaged", answer["stacks"]["total"], whole)
		path.write_bytes(content)


def tables_agree():
	compare_tables(LOAD, subprocess.run(["ldconfig", "-p"], stdout=subprocess.PIPE, text=True,
	               check=True).stdout.split("libc.so.6 (libc6,x86-64) => ")[-1].split("\n")[0])


@e2e.longer
def tables_of_large_programs_agree():
	compare_tables("/usr/bin/python3", "/bin/bash")


def compare_tables(*paths):
	"""Unwind tables against readelf's, of files that every machine has."""
	checker = os.path.join(e2e.programs, "unwind_rows")
	for path in paths:
		ours = dict(line.split(" ", 1) for line in e2e.run(checker, path).stdout.splitlines())
		shown = subprocess.run(["readelf", "--wide", "--debug-dump=frames-interp", path], stdout=subprocess.PIPE,
		                       stderr=subprocess.DEVNULL, text=True, check=False).stdout
		compared = different = 0
		for block in re.split(r"\n\n", shown.split(".eh_frame section")[-1]):
			lines = [line.split() for line in block.splitlines()]
			head = next((i for i, words in enumerate(lines) if words[:1] == ["LOC"]), None)
			if head is None or not any("FDE" in words for words in lines):
				continue
			names = lines[head]
			for words in lines[head + 1:]:
				row = dict(zip(names, words))
				cfa = re.fullmatch(r"r([sb]p)\+(\d+)", row.get("CFA", ""))
				rbp = re.fullmatch(r"c([+-]\d+)|u", row.get("rbp", "u"))
				if not cfa or not rbp or int(cfa[2]) % 8 or row.get("ra", "c-8") != "c-8":
					continue
				compared += 1
				should = f"{cfa[1]} {int(cfa[2]) // 8} {int(rbp[1]) // 8 if rbp[1] else 0}"
				if ours.get(hex(int(row["LOC"], 16)), should) != should:
					different += 1
					e2e.expect(different > 3, f"{path} at {row['LOC']}: {ours[hex(int(row['LOC'], 16))]}, readelf {should}")
		e2e.expect(compared > 10 and different == 0, f"{path}: {different} of {compared} rows differ from readelf's")
		print(f"{path}: {compared} rows of readelf's")


e2e.need_recording()
if platform.machine() != "x86_64":
	e2e.skip("without unwind tables, which are for x86-64, stacks need frame pointers")
e2e.need_program("readelf")
e2e.main(known_stacks, at_the_timer, blocked_time_adds_up, waits_and_wakers, flame_graphs, within_budget, what_was_recorded, faults_leave_some, own_faults_are_none, threads_have_their_own, without_tables, mappings_all_the_time, rewritten_in_place, perf_beside, refused, damaged_lists, tables_agree, tables_of_large_programs_agree)
