#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitor convert: the files are decoded here, by babeltrace2 and by lttng-analyses, and compared with `monitor report` and
`query`. Perfetto's own trace processor: perfetto.py, which is called by hand.
"""
import collections
import gzip
import itertools
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import e2e
from protobuf import Perfetto, first, message, packed

# And the returns of signal handlers, which end a call without its number.
INTERRUPTED = "import signal; signal.signal(14, lambda *_: 0); signal.setitimer(0, 0.002, 0.002); [i * i for i in range(500000)]"
LOAD = f"{sys.executable} -c '{INTERRUPTED}'; for i in 1 2 3 4 5 6; do ls -R /usr/lib/python3 > /dev/null; sleep 0.02; done; find /usr/share/doc | sort | tail -1"
# A thread whose name no format may print as it is.
HOSTILE = b"\xff\x1b[2J;\n\"<\\x"
HOSTILE_LOAD = f"""
import ctypes, threading, time
def sleeper():
	ctypes.CDLL(None).prctl(15, {HOSTILE!r}, 0, 0, 0)
	for _ in range(20):
		time.sleep(0.001)
thread = threading.Thread(target=sleeper)
thread.start()
thread.join()
"""


def convert(trace, to, *options, name=None, exit_code=0):
	path = e2e.work / f"{trace.directory.name}.{name or to}"
	if path.is_dir():
		shutil.rmtree(path)
	done = e2e.run(e2e.monitor, "convert", trace.directory, "--to", to, "-o", path, *options, exit_code=exit_code)
	return path, done.stderr


def close(what, is_, should, ns):
	e2e.expect(abs(is_ - should) <= ns, f"{what}: {is_}, not {should}")


def cpu_times_agree(what, trace, sums, ns):
	"""Those of threads with a name of their own in the report, which leaves out what never ran."""
	compared, running, after_hidden = 0, {}, set()
	for event in trace.events("--event", "sched_switch"):
		if running.get(event["cpu"], event["fields"]["prev_pid"]) != event["fields"]["prev_pid"]:
			after_hidden.add(event["fields"]["prev_pid"])
		running[event["cpu"]] = event["fields"]["next_pid"]
	for row in trace.rows("--by", "thread", "--top", "0"):
		if row["cpu_ns"] is None or row["tid"] == 0 or row["tid"] in after_hidden:
			continue  # the kernel hides it, or when it began
		close(f"{what}: CPU time of {row['thread']} ({row['tid']})", sums.get(row["tid"], 0), row["cpu_ns"], ns)
		compared += 1
	e2e.expect(compared > 1, f"{what}: only {compared} threads were compared")


def report_calls(trace, *part):
	"""By call: how many, and how long together."""
	counts, times = collections.Counter(), collections.Counter()
	for row in trace.rows("syscalls", "--top", "0", *part):
		counts[row["call"]] += row["count"]
		times[row["call"]] += row["total_ns"]
	return counts, times


def query(trace, sql):
	return json.loads(e2e.run(e2e.monitor, "query", "--json", trace.directory, sql).stdout)


def window(trace, *part):
	of = trace.report(*part)["summary"]["window"]
	return of["begin_ns"], of["end_ns"]


def part_of(trace, length_ms):
	"""Some time of the recording, as the start and the end in seconds."""
	begin = window(trace)[0] + 20_000_000
	return f"{begin / 1e9:.9f}", f"{(begin + length_ms * 1_000_000) / 1e9:.9f}"


def load(name, *options):
	return e2e.record(name, "--force", "-e", "sched,syscall,irq,fault", *options, command=("sh", "-c", LOAD))


def hidden_threads(trace):
	return {event["fields"]["pid"] for event in trace.events("--event", "thread_state") if event["fields"]["flags"] & 16}


def accounted_for(errors):
	"""Events that were written, and those that were not."""
	match = re.search(r", (\d+) events(?:; not in it: (.*))?$", errors, re.M)
	return int(match[1]) + sum(map(int, re.findall(r"(?:^|; )(\d+) (?:events that|outside)", match[2] or "")))


def perfetto_is_the_report():
	trace = load("perfetto")
	path, errors = convert(trace, "perfetto", "--flows")
	e2e.expect(re.search(r"written, [\d.]+ [kM]B, \d+ events", errors), errors)
	perfetto = Perfetto(path)
	cpu_times_agree("perfetto", trace, perfetto.cpu_ns(), 2000)
	counts, times = report_calls(trace)
	found, spent = perfetto.calls()
	# Of calls between events of a hidden thread, the file can know the thread by what follows; the report has them in no row.
	unknown = trace.summary()["calls_of_unknown"]
	more = [a - b for a, b in itertools.zip_longest(sorted(found.values(), reverse=True), sorted(counts.values(), reverse=True), fillvalue=0)]
	e2e.expect(sum(map(abs, more)) <= unknown, f"calls of each: {more} more than in the report, which leaves out {unknown}")
	if not any(more):
		close("time in calls", sum(spent.values()), sum(times.values()), 2 * sum(counts.values()))
	woken = query(trace, "SELECT count(*) AS n FROM activities WHERE kind = 'blocked' AND waker_tid IS NOT NULL")[0]["n"]
	flows = [event for _, event in perfetto.tracks if event[47]]
	e2e.equal("flows", len(flows), woken)
	e2e.expect(woken > 10, f"only {woken} wake-ups by threads")
	ends = {event[48][0] for _, event in perfetto.tracks if event[48]}
	e2e.expect(ends <= {event[47][0] for event in flows} and len(ends) >= woken * 0.8, f"{len(ends)} of {woken} flows end")
	e2e.equal("losses", (perfetto.lossy, set(perfetto.overrun.values())), (set(), {0}))
	begin, end = window(trace)
	by_kind = collections.Counter(kind for _, _, kind, _ in perfetto.events)
	for kinds, event in ((("softirq_in",), "softirq_entry"), (("softirq_out",), "softirq_exit"), (("exec",), "sched_process_exec"),
	                     (("exit",), "sched_process_exit"), (("newtask",), "sched_wakeup_new"), (("rename",), "task_rename")):
		listed = query(trace, f"SELECT count(*) AS n FROM events WHERE name = '{event}' AND time_ns BETWEEN {begin} AND {end}")[0]["n"]
		e2e.equal(f"number of {event}", sum(by_kind[kind] for kind in kinds), listed)
	e2e.expect(by_kind["irq_in"] > 0 and by_kind["generic"] > 100, f"events: {by_kind}")
	for row in trace.rows("--by", "thread"):
		e2e.expect(row["tid"] in perfetto.threads or row["tid"] == 0 or
		           row["thread"] == "?" or any(kind == "newtask" and event[1] == row["tid"] for _, _, kind, event in perfetto.events),
		           f"thread {row['tid']} ({row['thread']}) is neither listed nor created")
	e2e.expect(len(perfetto.clocks) > 2 and {1, 3, 5} <= set(perfetto.clocks[-1]), f"clocks: {perfetto.clocks}")


def parts_are_the_report():
	"""--from, --until and --cpu."""
	trace = e2e.Trace(e2e.work / "perfetto")
	start, stop = part_of(trace, 60)
	path, _ = convert(trace, "perfetto", "--from", start, "--until", stop, "--cpu", "0", name="part")
	perfetto = Perfetto(path)
	e2e.equal("CPUs", {cpu for _, cpu, _, _ in perfetto.events}, {0})
	begin, end = perfetto.bounds()
	close("its length", end - begin, 60_000_000, 10)
	e2e.expect(all(begin <= ns <= end for ns, _, _, _ in perfetto.events), "an event is outside of the part")
	sums = perfetto.cpu_ns()
	unlike_the_report = hidden_threads(trace) & sums.keys()
	e2e.expect(not unlike_the_report, f"hidden threads have CPU time: {unlike_the_report}")
	for row in trace.rows("--by", "thread", "--top", "0", "--from", start, "--to", stop, "--cpu", "0"):
		if row["cpu_ns"] is not None and row["tid"]:
			close(f"CPU time of {row['thread']} in the part", sums.get(row["tid"], 0), row["cpu_ns"], 2000)
	piped = subprocess.run([e2e.monitor, "convert", trace.directory, "--to", "perfetto", "-o", "-", "--from", start, "--until", stop, "--cpu", "0"],
	                       capture_output=True, check=False)
	e2e.equal("standard output has the same", piped.stdout, path.read_bytes())
	e2e.expect(b"written" not in piped.stderr and b"not selected, or recorded while" in piped.stderr, piped.stderr)


def lttng_is_the_report():
	trace = e2e.Trace(e2e.work / "perfetto")
	path, _ = convert(trace, "lttng")
	done = e2e.run("babeltrace2", path)
	e2e.equal("babeltrace2's complaints", done.stderr, "")
	twice = e2e.work / "twice.lttng"
	e2e.run(e2e.monitor, "convert", path, "--to", "lttng", "-o", twice)
	again = e2e.run("babeltrace2", "--no-delta", twice)
	e2e.equal("babeltrace2's complaints of the second", again.stderr, "")
	waking = r"sched_wakeup: .*\btid = (\d+), prio = (-?\d+), target_cpu = (\d+)"
	e2e.equal("wake-ups of the second", re.findall(waking, again.stdout), re.findall(waking, done.stdout))
	events = collections.Counter(re.findall(r"^\[[^]]*\] \(\S+\) \S+ (\w+): ", done.stdout, re.M))
	counts, _ = report_calls(trace)
	for call, count in counts.items():
		entries, exits = events[f"syscall_entry_{call}"], events[f"syscall_exit_{call}"]
		e2e.expect(count <= min(entries, exits) and max(entries, exits) <= count + 60, f"{call}: {entries} entries, {exits} exits, {count} calls")
	e2e.expect(events["lttng_statedump_process_state"] > 10 and events["sched_wakeup"] == events["sched_waking"], f"{events}")
	refused = e2e.run(e2e.monitor, "convert", trace.directory, "--to", "lttng", "-o", path, exit_code=1)
	e2e.expect("is not an empty directory" in refused.stderr and (path / "kernel" / "metadata").exists(), refused.stderr)


def lttng_tables(name, kernel, *options):
	"""By class of table, the rows as plain values."""
	done = e2e.run(f"lttng-{name}-mi", *options, kernel)
	found = collections.defaultdict(list)
	for table in json.loads(done.stdout)["results"]:
		kind = table["class"]
		found[kind if isinstance(kind, str) else kind["title"]] += table["data"]
	return found


def at_the_edges(trace, begin, end):
	"""By thread, ns until the first switch of a CPU and since its last: lttng-cputop does not see both ends of these."""
	found = collections.Counter()
	by_cpu = collections.defaultdict(list)
	for event in trace.events("--event", "sched_switch"):
		if begin <= event["time_ns"] < end:
			by_cpu[event["cpu"]].append(event)
	for switches in by_cpu.values():
		found[switches[0]["fields"]["prev_pid"]] += switches[0]["time_ns"] - begin
		found[switches[-1]["fields"]["next_pid"]] += end - switches[-1]["time_ns"]
	return found


def analyses_of_lttng_are_the_report():
	if not shutil.which("lttng-cputop-mi"):
		return e2e.leave_out("lttng-analyses", "it is not installed")
	trace = e2e.Trace(e2e.work / "perfetto")
	for length_ms in (80, 160, 320, 640):  # these programs are slow; a busy machine makes fewer calls
		start, stop = part_of(trace, length_ms)
		part = ("--from", start, "--to", stop)
		begin, end = window(trace, *part)
		# Those that began in the part, too: of others it has no begin.
		whole = query(trace, f"SELECT name, count(*) AS n, sum(duration_ns) AS ns FROM activities WHERE kind = 'syscall' AND whole "
		                     f"AND begin_ns >= {begin} AND end_ns < {end} GROUP BY name")
		counts, times = ({row["name"]: row[what] for row in whole} for what in ("n", "ns"))
		if sum(counts.values()) > 300:
			break
	e2e.expect(sum(counts.values()) > 300, f"only {counts} calls to compare")
	path, _ = convert(trace, "lttng", "--from", start, "--until", stop, name="part.lttng")
	kernel = path / "kernel"
	hidden = hidden_threads(trace)
	usage = {row[0]["tid"]: row[3]["value"] for row in lttng_tables("cputop", kernel, "--limit", "10000")["per-process"]}
	edges = at_the_edges(trace, begin, end)
	# Where a hidden thread begins, and where the next one does, is not in a stream.
	unclear = sum(usage.get(tid, 0) for tid in hidden | {-1})
	compared = 0
	for row in trace.rows("--by", "thread", "--top", "0", *part):
		if not row["cpu_ns"] or row["tid"] == 0 or row["tid"] in hidden or row["cpu_ns"] < (end - begin) / 100:
			continue
		share = row["cpu_ns"] / (end - begin)
		e2e.expect(abs(usage.get(row["tid"], 0) - share) < 0.03 + edges[row["tid"]] / (end - begin) + unclear,
		           f"lttng-cputop: {row['thread']} has {usage.get(row['tid'])}, report {share}")
		compared += 1
	e2e.expect(compared > 0, f"lttng-cputop: only {compared} threads were compared")  # on a quiet machine one has nearly all of the CPUs
	found, spent = collections.Counter(), collections.Counter()
	for title, rows in lttng_tables("syscallstats", kernel).items():
		for row in rows if "System call statistics" in title else ():
			if len(row) < 4:
				continue
			found[row[0]["name"]] += row[1]["value"]
			spent[row[0]["name"]] += row[1]["value"] * row[3]["value"]
	for call, count in counts.items():
		close(f"lttng-syscallstats: number of {call}", found[call], count, 2 + count / 200)  # an edge of the part may be 1 ns off
		if count > 100:
			close(f"lttng-syscallstats: time in {call}", spent[call], times[call], times[call] / 100)
	waits = [row[1]["value"] - row[0]["value"] for row in lttng_tables("schedtop", kernel, "--limit", "10000")["top"]]
	e2e.expect(len(waits) > 5, f"lttng-schedtop has {len(waits)} rows")


@e2e.longer
def losses_are_marked():
	"""A buffer that is too small: what was lost is said, and what ran then is unknown, not somebody."""
	with e2e.getppid_on_every_cpu():
		trace = e2e.record("lossy", "--force", "--buffer", "256K", "-d", "0.15", "-e", "sched,syscall,irq")
	lost = trace.summary()["lost"]
	e2e.expect(lost > 1000, f"only {lost} events were lost")
	path, errors = convert(trace, "perfetto")
	e2e.expect("that the recording lost, which are marked" in errors, errors)
	_, errors = convert(trace, "folded")
	e2e.expect("that the recording lost, which are not marked" in errors, errors)
	perfetto = Perfetto(path)
	overrun = sum(value for (phase, _), value in perfetto.overrun.items() if phase == 2)
	e2e.expect(perfetto.lossy and 0 < overrun <= lost, f"{overrun} of {lost} lost events on CPUs {perfetto.lossy}")
	sums = perfetto.cpu_ns()
	cpu_times_agree("with losses", trace, sums, 20_000)
	unknown = [tid for tid in sums if tid > 4194304]
	e2e.expect(len(unknown) == 1 and sums[unknown[0]] > 0, f"no time is unknown: {sums}")
	path, _ = convert(trace, "lttng")
	done = e2e.run("babeltrace2", path)
	said = re.findall(r"Tracer discarded (\d+) events", done.stderr)
	e2e.equal("babeltrace2's lost events", sum(map(int, said)), overrun)


def killed_recordings_are_converted():
	recorder = e2e.Recorder("killed", "-e", "sched,syscall,irq").wait_until_recording()
	subprocess.run(["ls", "-R", "/usr/lib/python3"], stdout=subprocess.DEVNULL, check=True)
	time.sleep(0.8)  # blocks of rings that fill slowly are written after half a second
	recorder.end(signal.SIGKILL, exit_code=None)
	trace = e2e.Trace(e2e.work / "killed")
	for to in ("perfetto", "lttng", "folded"):
		_, errors = convert(trace, to)
		e2e.expect("the recording was not completed" in errors, errors)
	cpu_times_agree("killed", trace, Perfetto(e2e.work / "killed.perfetto").cpu_ns(), 20_000)


def hostile_names():
	trace = e2e.record("hostile", "--force", command=(sys.executable, "-c", HOSTILE_LOAD))
	path, _ = convert(trace, "perfetto")
	perfetto = Perfetto(path)
	names = [*perfetto.names.values(), *perfetto.strings]
	e2e.expect(any(b"[2J" in name for name in names), "the name is missing")
	for name in names:
		name.decode()
	path, _ = convert(trace, "lttng")
	done = e2e.run("babeltrace2", path)
	e2e.equal("babeltrace2's complaints", done.stderr, "")
	path, _ = convert(trace, "folded")
	text = path.read_bytes()
	lines = [line for line in text.splitlines() if b"[2J" in line]
	e2e.expect(lines and b"\x1b" not in text and all(re.fullmatch(rb"[^;]+(;[^;]+)+ \d+", line) for line in lines), f"folded: {lines}")
	path, _ = convert(trace, "speedscope")
	e2e.expect(any("[2J" in frame["name"] for frame in json.loads(path.read_text())["shared"]["frames"]), "speedscope has no such frame")
	path, _ = convert(trace, "pprof")
	e2e.expect(any(b"[2J" in text for text in message(gzip.decompress(path.read_bytes()))[6]), "pprof has no such string")


def stacks_are_the_report():
	trace = e2e.record("stacks", "--force", "--stacks=cpu,offcpu,wake", command=(os.path.join(e2e.programs, "stack_load"),))
	folded = e2e.run(e2e.monitor, "report", trace.directory, "stacks", "--all", "--by", "cpu", "--folded").stdout
	path, _ = convert(trace, "folded")
	e2e.equal("folded", sorted(path.read_text().splitlines()), sorted(folded.splitlines()))
	path, errors = convert(trace, "speedscope")
	speedscope = json.loads(path.read_text())
	e2e.expect({"cpu", "offcpu"} <= {profile["name"] for profile in speedscope["profiles"]}, errors)
	frames = speedscope["shared"]["frames"]
	for profile in speedscope["profiles"]:
		stacks = trace.report("stacks", "--by", profile["name"])["stacks"]
		is_time = profile["unit"] == "nanoseconds"
		total = stacks["total_ns" if is_time else "total"]
		close(f"sum of {profile['name']}", sum(profile["weights"]), total, len(profile["samples"]) if is_time else 0)
		e2e.equal(f"end of {profile['name']}", profile["endValue"], sum(profile["weights"]))
		e2e.expect(all(0 <= frame < len(frames) for sample in profile["samples"] for frame in sample), "a frame has no name")
	path, _ = convert(trace, "pprof", "--by", "cpu")
	pprof = message(gzip.decompress(path.read_bytes()))
	texts = pprof[6]
	functions = {function[1][0]: texts[function[2][0]].decode() for function in map(message, pprof[5])}
	places = {place[1][0]: functions[message(place[4][0])[1][0]] for place in map(message, pprof[4])}
	sums = collections.Counter()
	for sample in map(message, pprof[2]):
		stack = [places[number] for number in packed(sample[1])]
		sums[";".join(reversed(stack))] += packed(sample[2])[0]
	e2e.equal("pprof", sorted(f"{stack} {value}" for stack, value in sums.items()), sorted(folded.splitlines()))
	e2e.equal("types", [tuple(texts[kind[n][0]].decode() for n in (1, 2)) for kind in map(message, pprof[1])],
	          [("samples", "count"), ("cpu", "nanoseconds")])


def waits_without_stacks():
	trace = e2e.Trace(e2e.work / "perfetto")
	path, errors = convert(trace, "folded", name="waits")
	e2e.expect(re.search(r"written, [\d.]+ kB, \d+ kinds of sleeps", errors), errors)
	total = sum(int(line.rsplit(" ", 1)[1]) for line in path.read_text().splitlines())
	blocked = sum(row["total_ns"] for row in trace.rows("offcpu", "--top", "0"))
	close("time blocked in us", total, blocked / 1000, len(path.read_text().splitlines()))
	sh = [line for line in path.read_text().splitlines() if re.match(r"sh;(wait4|vfork);\[woken by ", line)]
	e2e.expect(sh, path.read_text())


def programs_events():
	"""Activities are slices of their threads, and other events instants."""
	trace = e2e.record("program", "--force", command=(os.path.join(e2e.programs, "activity_load"), "nested"))
	path, _ = convert(trace, "perfetto")
	rows = trace.rows("activities", "--top", "0")
	perfetto = Perfetto(path)
	names = collections.Counter(event[23][0].decode() for _, event in perfetto.tracks if first(event, 9) == 1)
	counts = collections.Counter()
	for row in rows:
		counts[row["activity"]] += row["count"]
	e2e.expect(sum(counts.values()) > 0, "there are no activities")
	for name, count in counts.items():
		e2e.expect(names[name] >= count, f"{name}: {names[name]} slices, {count} activities")
	left = e2e.record("programs_only", "--force", "--user-only", command=(os.path.join(e2e.programs, "activity_load"), "nested"))
	_, errors = convert(left, "perfetto")
	e2e.expect(re.search(r"not in it: \d+ events that the format has no place for \(\d+ starts or ends of activities without the other\)", errors), errors)
	_, errors = convert(left, "lttng")
	e2e.expect(re.search(r" 0 events; not in it: \d+ events", errors), errors)
	_, errors = convert(left, "folded", exit_code=1)
	e2e.expect("neither stacks nor all wake-ups" in errors, errors)
	e2e.equal("ends", sum(first(event, 9) == 2 for _, event in perfetto.tracks), sum(names.values()))


def counters():
	"""Counts and ratios are tracks of their CPUs, with the values of the tokens."""
	trace = e2e.record("counted", "--force", "-e", "sched", "-m", "faults=page-faults / context-switches", command=("ls", "-R", "/usr/lib/python3"))
	path, errors = convert(trace, "perfetto")
	_, of_lttng = convert(trace, "lttng")
	e2e.equal("events accounted for", accounted_for(errors), accounted_for(of_lttng))
	e2e.expect(re.search(r"\d+ counters", of_lttng), of_lttng)
	perfetto = Perfetto(path)
	names = {uuid: first(track, 2, b"").decode() for uuid, track in perfetto.descriptions.items() if track[8]}
	begin, end = window(trace)
	tokens = query(trace, f"SELECT page_faults, cpu FROM counters WHERE time_ns BETWEEN {begin} AND {end}")
	values = [(first(event, 30), int(names[event[11][0]].rsplit(" ", 1)[1])) for _, event in perfetto.tracks if "page" in names.get(first(event, 11), "")]
	e2e.equal("counts", sorted(values), sorted((row["page_faults"], row["cpu"]) for row in tokens))
	e2e.expect(len(values) > 10, f"only {len(values)} counts: {names}")
	trace = e2e.record("ratios", "--force", "-e", "sched", "--ratio-format", "rems32", "-m", "share=cpu-clock/msr/tsc/ %",
	                   command=("ls", "-R", "/usr/lib/python3"))
	path, _ = convert(trace, "perfetto")
	perfetto = Perfetto(path)
	hz = float(re.search(r"freq = (\d+)", (trace.directory / "metadata").read_text())[1])
	ratios = [struct.unpack("<d", event[44][0].to_bytes(8, "little"))[0] for _, event in perfetto.tracks if event[44]]
	middle = sorted(ratios)[len(ratios) // 2] if ratios else 0
	e2e.expect(len(ratios) > 10 and abs(middle - 1e11 / hz) < 1, f"the ratio is {middle} %, not {1e11 / hz} %")


def wrong_arguments():
	trace, empty = e2e.Trace(e2e.work / "perfetto"), e2e.work / "empty"
	empty.mkdir()
	for words, sentence in (((), "--to"), (("--to", "csv"), "csv"), (("--to", "folded", "--flows"), "--flows needs --to perfetto"),
	                        (("--to", "perfetto", "--by", "cpu"), "are for stacks"), (("--to", "lttng", "--pid", "1"), "--until"),
	                        (("--to", "lttng", "-o", "-"), "not standard output"), (("--to", "perfetto", "-o", ""), "empty"),
	                        (("--to", "folded", "--cpu", "0", "-o", "/dev/null"), "is on no CPU")):
		done = e2e.run(e2e.monitor, "convert", trace.directory, *words, exit_code=2)
		e2e.expect(sentence in done.stderr and done.stderr.count("\n") == 1, f"{words}: {done.stderr}")
	for words, sentence in (((trace.directory, "--to", "pprof", "--by", "cpu"), "has no stacks: record with --stacks"),
	                        ((trace.directory, "--to", "speedscope", "--by", "wait"), "and who woke them: --by offcpu"),
	                        ((trace.directory, "--to", "perfetto", "-o", "/nowhere/x"), "cannot open /nowhere/x"),
	                        ((trace.directory, "--to", "folded", "-o", next(trace.directory.glob("kernel_cpu*"))), "is in the trace"),
	                        ((trace.directory, "--to", "lttng", "-o", "/etc/passwd/x"), "cannot create /etc/passwd/x: Not a directory"),
	                        ((trace.directory, "--to", "folded", "--pid", "999999", "-o", "/dev/null"), "nothing in this trace matches"),
	                        ((trace.directory, "--to", "perfetto", "--cpu", "99", "-o", "/dev/null"), "nothing in this trace matches"),
	                        ((trace.directory, "--to", "lttng", "-o", "/dev/null"), "is not an empty directory"),
	                        ((trace.directory, "--to", "perfetto", "-o", "/dev/full"), "cannot write /dev/full"),
	                        ((trace.directory, "--to", "perfetto", "--from", "3600", "-o", "/dev/null"), "--from 3600 is outside"),
	                        (("/nowhere", "--to", "perfetto"), "/nowhere"), ((empty, "--to", "folded", "-o", "/dev/null"), str(empty))):
		done = e2e.run(e2e.monitor, "convert", *words, exit_code=1)
		e2e.expect(sentence in done.stderr, f"{words}: {done.stderr}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.need_program("babeltrace2")
	e2e.main(perfetto_is_the_report, parts_are_the_report, lttng_is_the_report, analyses_of_lttng_are_the_report,
	         losses_are_marked, killed_recordings_are_converted, hostile_names, stacks_are_the_report, waits_without_stacks,
	         programs_events, counters, wrong_arguments)
