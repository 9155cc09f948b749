#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`monitor check` on a clean recording (all holds) and on copies of it that are damaged on purpose: each damage turns
red what it must, and nothing that it leaves true.

A damage is a function of (recording.json as an object, streams by name); what it is to turn red stands beside it, and
what it may turn red besides because it follows. Where the kernel hides threads from tracing its sums have no upper
bound, so some damages cannot be seen there (without_hidden).
"""
import collections
import json

import blocks
import e2e

SWITCH, MIGRATION, COUNTS, TIMER_EXIT, ENTER, EXIT, IDLE, SYNC, SET, MINOR, MAJOR = (blocks.ID[name] for name in (
	"SCHED_SWITCH", "SCHED_MIGRATE_TASK", "EXIT_COUNTS", "LOCAL_TIMER_EXIT", "SYS_ENTER", "SYS_EXIT", "CPU_IDLE", "SYNC", "CLOCK_SET",
	"MINOR_FAULT", "MAJOR_FAULT"))
DAMAGES = []
# What a recording of everything must be able to show, whether or not the kernel hides threads.
MUST_HOLD = ("complete", "streams", "conservation", "control_tokens", "passes", "losses_placed", "misses", "thread_switches",
             "thread_migrations", "calls_witnessed", "completed_faults",
             "probe_times", "running_thread", "one_cpu", "syscall_entries", "syscall_exits", "interrupt_pairs", "clock",
             "clock_sets", "clock_skew")


def damage(*red, may=(), without_hidden=False):
	def add(function):
		DAMAGES.append((function, set(red), set(may), without_hidden))
		return function
	return add


def first(tokens, number, where=lambda token: True, skip=20):
	"""A token of the class, not from the very beginning."""
	for token in tokens:
		if token.id == number and where(token):
			if skip == 0:
				return token
			skip -= 1
	raise LookupError(f"no token of class {number} to damage")


def kernel_streams(streams):
	return [stream for name, stream in sorted(streams.items()) if name.startswith("kernel_") and "level" not in name]


def largest(streams):
	return max(kernel_streams(streams), key=lambda stream: len(stream.packets))


def count_less(recording, number):
	"""As if the probe had never seen one event of the class: conservation holds again."""
	for row in recording["classes"]:
		if row["id"] == number:
			row["seen"] -= 1


def exit_token(streams):
	"""thread_counts of the workload's exit: it was born during the recording, so all its figures count."""
	return next(token for stream in kernel_streams(streams) for token in stream.tokens()
	            if token.id == COUNTS and token.get("i", 0) == PID)


@damage("complete")
def left_incomplete(recording, streams):
	recording["state"] = "incomplete"


@damage("streams", "conservation", "losses_placed")
def packet_without_magic(recording, streams):
	largest(streams).packets[2]["magic"] = 0


@damage("streams", "conservation", "losses_placed")
def packets_swapped(recording, streams):
	packets = largest(streams).packets
	packets[2], packets[3] = packets[3], packets[2]


@damage("conservation", "losses_placed", "passes")
def packet_missing(recording, streams):
	del largest(streams).packets[2]


@damage("streams", "conservation", "losses_placed")
def time_steps_back(recording, streams):
	packet = largest(streams).packets[2]
	packet.bytes[blocks.HEADER + 1] |= 0xf0  # the time's low bits
	packet.bytes[blocks.HEADER + 4] ^= 0x08  # and a high one


@damage("conservation")
def one_event_more_was_seen(recording, streams):
	recording["classes"][0]["seen"] += 1


@damage("conservation")
def one_was_refused_that_is_there(recording, streams):
	recording["classes"][-1]["too_deep"] += 1
	recording["lost_by_cpu"][0] += 1


@damage("conservation")
def token_missing(recording, streams):
	token = first(largest(streams).tokens(), MINOR)
	token.packet.remove(token)


@damage("conservation", may=("thread_minor_faults",))
def token_twice(recording, streams):
	token = first(largest(streams).tokens(), MINOR, lambda t: t.packet["content_size"] // 8 + t.size <= blocks.BLOCK, 0)
	token.packet.repeat(token)


@damage("losses_placed")
def stream_tells_of_a_loss(recording, streams):
	for packet in largest(streams).packets[2:]:
		packet["events_discarded"] += 5


@damage("losses_placed")
def streams_tell_of_fewer_losses(recording, streams):
	row = recording["classes"][0]
	row["refused"] += 5
	row["seen"] += 5
	recording["lost_by_cpu"][0] += 5


@damage("losses_by_cpu")
def losses_of_cpus_are_others(recording, streams):
	recording["lost_by_cpu"][0] += 5


@damage("conservation")
def class_that_no_probe_counted(recording, streams):
	recording["classes"] = [row for row in recording["classes"] if row["id"] != MINOR]


@damage("clamped")
def many_times_clamped(recording, streams):
	recording["clamped"] = sum(row["seen"] for row in recording["classes"]) // 900


@damage("dropped_blocks")
def blocks_not_written(recording, streams):
	recording["recorder"]["dropped_blocks"] = 1


@damage("misses")
def kernel_refused_a_probe(recording, streams):
	recording["misses"]["end"]["sched_switch"] += 1


@damage("filter_full")
def filter_was_full(recording, streams):
	recording["traced_refused"] = 1


@damage("fired_minor_fault")
def fault_fired_less(recording, streams):
	# less than the probe saw: the kernel's own count may include those of threads that are hidden here
	recording["fault_counts"]["minor_fault"] = next(row["seen"] for row in recording["classes"] if row["name"] == "minor_fault") - 3


def halve(recording, name):
	counts = recording["kernel_counts"]
	counts["end"][name] = (counts["start"][name] + counts["end"][name]) // 2


@damage("context_switches")
def stat_counts_fewer_switches(recording, streams):
	halve(recording, "context_switches")


@damage("context_switches", without_hidden=True)
def stat_counts_more_switches(recording, streams):
	recording["kernel_counts"]["end"]["context_switches"] += 1000


@damage("interrupts")
def stat_counts_fewer_interrupts(recording, streams):
	halve(recording, "interrupts")


@damage("interrupts", "context_switches")
def stat_steps_back(recording, streams):
	for name in ("interrupts", "context_switches"):
		recording["kernel_counts"]["end"][name] = recording["kernel_counts"]["start"][name] - 1


@damage("interrupts", without_hidden=True)
def stat_counts_more_interrupts(recording, streams):
	recording["kernel_counts"]["end"]["interrupts"] += 10000


@damage("thread_switches")
def thread_switched_more_often(recording, streams):
	token = exit_token(streams)
	token.set("Q", 8, token.get("Q", 8) + 3)


@damage("thread_cpu_time", may=("total_cpu_time",))
def thread_ran_longer(recording, streams):
	token = exit_token(streams)
	token.set("Q", 24, token.get("Q", 24) + 1_000_000_000)


@damage("thread_minor_faults")
def thread_had_fewer_faults(recording, streams):
	token = exit_token(streams)
	token.set("Q", 32, token.get("Q", 32) - 1000)


@damage("thread_minor_faults")
def kernels_count_steps_back(recording, streams):
	"""Below what it was at the start."""
	exit_token(streams).set("Q", 32, 1)


@damage("thread_major_faults")
def a_minor_fault_was_major(recording, streams):
	"""Of one thread without major faults; both classes' counts are told so too."""
	token = first(workload_tokens(streams), MINOR, skip=0)
	token.packet.bytes[token.offset] = MAJOR & 0xff
	count_less(recording, MINOR)
	recording["fault_counts"]["minor_fault"] -= 1
	recording["fault_counts"]["major_fault"] = recording["fault_counts"].get("major_fault", 0) + 1
	for row in recording["classes"]:
		if row["id"] == MAJOR:
			row["seen"] += 1
			return
	recording["classes"].append({"id": MAJOR, "name": "major_fault", "family": "fault", "seen": 1, "refused": 0,
	                             "too_deep": 0, "filtered": 0})


def workload_tokens(streams):
	"""Tokens of the workload itself, by the switches of each CPU."""
	for stream in kernel_streams(streams):
		running = None
		for token in stream.tokens():
			if token.id == SWITCH:
				running = token.get("i", 4)
			elif running == PID:
				yield token


@damage("running_thread", "thread_switches", may=("thread_cpu_time", "total_cpu_time"))
def switch_from_another_thread(recording, streams):
	tokens = (token for stream in kernel_streams(streams) for token in stream.tokens())
	first(tokens, SWITCH, lambda t: t.get("i", 0) == PID, 0).set("i", 0, 4_000_000)


@damage("one_cpu", "running_thread", may=("syscall_entries", "syscall_exits", "thread_switches", "thread_cpu_time",
                                           "total_cpu_time", "thread_minor_faults", "interrupt_pairs"))
def thread_on_two_cpus(recording, streams):
	"""One CPU switches to the workload while it runs on the other."""
	one, other = kernel_streams(streams)[:2]
	tokens = sorted((t for s in (one, other) for t in s.tokens() if t.id == SWITCH), key=lambda t: t.time)
	last = {token.packet["cpu_id"]: token for token in tokens}  # nothing follows that shows who ran instead
	since = None
	for token in tokens:
		if token.get("i", 4) == PID and token.get("i", 0) != PID:
			since = token
		elif token.get("i", 0) == PID:
			since = None
		elif (since and token.packet["cpu_id"] != since.packet["cpu_id"] and 0 not in (token.get("i", 0), PID) and
		      token is not last[token.packet["cpu_id"]]):
			token.set("i", 4, PID)
			return
	raise LookupError("the workload was never seen beside a switch of the other CPU")


def syscall_pair(streams):
	"""An entry of getppid and its exit, next to each other in one packet."""
	entry = None
	for token in workload_tokens(streams):
		if token.id == EXIT and entry and entry.packet is token.packet:
			return entry, token
		entry = token if token.id == ENTER and token.arg == 110 else None
	raise LookupError("no getppid in this trace")


@damage("syscall_entries")
def exit_missing(recording, streams):
	token = syscall_pair(streams)[1]
	token.packet.remove(token)
	count_less(recording, EXIT)


@damage("syscall_exits")
def entry_missing(recording, streams):
	token = syscall_pair(streams)[0]
	token.packet.remove(token)
	count_less(recording, ENTER)


def tokens_of_known_threads(stream):
	"""Tokens between two switches of the stream to and away from the same thread: no hidden thread ran there."""
	running, between = None, []
	for token in stream.tokens():
		if token.id != SWITCH:
			between.append(token)
			continue
		if token.get("i", 0) == running:
			yield from between
		running, between = token.get("i", 4), []


@damage("interrupt_pairs")
def interrupt_without_exit(recording, streams):
	start = recording["start"]["time"]  # what is before it is not judged
	token = first(tokens_of_known_threads(largest(streams)), TIMER_EXIT, lambda token: token.time > start, skip=2)
	token.packet.remove(token)
	count_less(recording, TIMER_EXIT)


class NotHere(Exception):
	"""What is to be damaged need not be in a recording of this machine."""


def first_if_there(tokens, number, where=lambda token: True):
	try:
		return first(tokens, number, where, 0)
	except LookupError as error:
		raise NotHere(error) from error


@damage("idle_states")
def idle_state_without_exit(recording, streams):
	"""One between two others of its CPU: what is before the first and after the last is not known."""
	by_cpu = collections.defaultdict(list)
	for stream in kernel_streams(streams):
		for token in stream.tokens():
			if token.id == IDLE:
				by_cpu[token.packet["cpu_id"]].append(token)
	between = [tokens[1] for tokens in by_cpu.values() if len(tokens) > 2]
	if not between:
		raise NotHere("no three idle tokens of one CPU, to take the middle one away")
	token = between[0]
	token.packet.remove(token)
	count_less(recording, IDLE)


@damage("idle_usage")
def cpuidle_counts_more(recording, streams):
	if "idle" not in recording["kernel_counts"]["end"]:
		raise NotHere("this kernel has no cpuidle")
	recording["kernel_counts"]["end"]["idle"]["ends"] += 1_000_000


@damage("softirqs")
def stat_counts_fewer_softirqs(recording, streams):
	halve(recording, "softirqs")


@damage("thread_creations", without_hidden=True)
def stat_counts_more_births(recording, streams):
	recording["kernel_counts"]["end"]["births"] += 1000


@damage("thread_migrations", without_hidden=True)
def migration_missing(recording, streams):
	"""Of a thread that exits within the recording: its last figures tell of all its migrations."""
	tokens = [token for stream in kernel_streams(streams) for token in stream.tokens()]
	exited = {token.get("i", 0) for token in tokens if token.id == COUNTS}
	token = first_if_there(tokens, MIGRATION, lambda t: t.get("i", 0) in exited and t.arg != t.get("H", 4))
	token.packet.remove(token)
	count_less(recording, MIGRATION)


@damage("calls_witnessed")
def calls_not_seen(recording, streams):
	recording["witness"]["end"][0]["entries"] = 985


@damage("probe_times")
def probes_were_late(recording, streams):
	recording["witness"]["start"][-1]["outside"] = 20000


@damage("clock_skew", may=("clock",))  # where they were not compared closely the bound was not judged before
def clocks_compared_in_no_time(recording, streams):
	for skew in recording["tsc_skew"].values():
		skew["uncertainty"] = 0


@damage("clock")
def clock_sets_are_off(recording, streams):
	"""By 20 us at 3 GHz, all of them: they join."""
	for token in streams["recorder"].tokens():
		if token.id == SET:
			token.set("Q", 8, token.get("Q", 8) + 60000)


@damage("clock_sets")
def clock_set_steps(recording, streams):
	token = first(streams["recorder"].tokens(), SET, skip=2)
	token.set("Q", 8, token.get("Q", 8) + 30)


@damage("clock", "control_tokens")
def no_sync_events(recording, streams):
	for packet in streams["recorder"].packets:
		while token := next((t for t in streams["recorder"].tokens() if t.packet is packet and t.id == SYNC), None):
			packet.remove(token)


def check_damages():
	sizes = blocks.class_sizes(e2e.monitor)
	hides = any(statement["id"] == "hidden_threads" for statement in CLEAN.statements)
	left_out = [function.__name__ for function, _, _, without_hidden in DAMAGES if hides and without_hidden]
	if left_out:
		e2e.leave_out(", ".join(left_out), "the kernel hides threads from tracing here, so some figures have no upper bound")
	for function, wanted, may, without_hidden in DAMAGES:
		if hides and without_hidden:
			continue
		copy = CLEAN.copy(function.__name__)
		recording = copy.recording()
		streams = {path.name: blocks.Stream(path, sizes) for path in copy.directory.iterdir()
		           if path.is_file() and path.name != "metadata"}
		try:
			function(recording, streams)
		except NotHere as why:
			e2e.leave_out(function.__name__, why)
			continue
		except LookupError as error:
			e2e.expect(False, f"{function.__name__}: {error}")
			continue
		for stream in streams.values():
			stream.save()
		(copy.directory / ".monitor" / "recording.json").write_text(json.dumps(recording))
		red = copy.check()
		texts = [f"\n    {s['id']}: {s['text']}" for s in copy.statements if s["id"] in red ^ wanted]
		e2e.expect(wanted <= red <= wanted | may,
		           f"{function.__name__}: red is {sorted(red)}, not {sorted(wanted)}{''.join(texts)}")


def cut_short():
	"""A stream that ends in the middle of a packet, or is not there at all."""
	copy = CLEAN.copy("cut_short")
	path = max(copy.directory.glob("kernel_cpu?"), key=lambda p: p.stat().st_size)
	data = path.read_bytes()
	path.write_bytes(data[:len(data) - 4000])
	e2e.expect("streams" in copy.check(), "a stream that ends within a packet passes")
	path.unlink()
	red = copy.check()
	e2e.expect({"streams", "conservation"} <= red, f"a missing stream turns only {sorted(red)} red")
	missing = f"{copy.recording()['streams'][path.name]} packets that were recorded are missing: the file is not here"
	for report in ((), ("--by", "cpu")):
		done = e2e.run(e2e.monitor, "report", copy.directory, *report, "--json", exit_code=1)
		e2e.expect(f"{path.name}, packet 0 at byte 0: {missing}" in done.stderr, f"report {report}: {done.stderr}")
	cpu = next(row for row in json.loads(done.stdout)["rows"] if row["cpu"] == int(path.name.removeprefix("kernel_cpu")))
	e2e.equal("what is known of the CPU without a file", cpu["unknown_percent"], 100.0)
	e2e.equal("lost", json.loads(done.stdout)["summary"]["lost"], None)
	(copy.directory / "recorder").unlink()
	e2e.expect("streams" in copy.check(), "a recording without the recorder's stream passes")
	(copy.directory / ".monitor" / "recording.json").write_text("{")
	e2e.expect("complete" in copy.check(), "a damaged recording.json passes")


def clocks_not_compared():
	"""CPUs that the recorder's cpuset kept it from are said, and are no failure."""
	copy = CLEAN.copy("clocks_not_compared")
	path = copy.directory / ".monitor" / "recording.json"
	recording = json.loads(path.read_text())
	for skew in recording["tsc_skew"].values():
		skew["cpus_online"] = skew["cpus_compared"] + 4
	path.write_text(json.dumps(recording))
	e2e.expect("clock_skew" not in copy.check(), "CPUs that could not be compared are a failure")
	said = [statement["text"] for statement in copy.statements if statement["id"] == "clock_skew"]
	e2e.expect(said and said[0].startswith("the clocks of 3 CPUs were not compared"), f"clock_skew: {said}")
	e2e.equal("CPUs that the bound is not of", copy.summary()["clocks_not_compared"], 3)


def clean():
	global CLEAN, PID
	def recorded():
		with e2e.Load(*(("taskset", "-c", cpu, e2e.workload, "nap", 1 << 40) for cpu in e2e.cpus()[:2])):  # switches on both
			trace = e2e.record_workload("clean", "mixed", 3000)
		trace.expect_true()
		trace.verdicts = {statement["id"]: statement["verdict"] for statement in trace.statements}
		return trace

	def unchecked(trace):
		"""A hidden thread that moves another one leaves some statements unchecked."""
		names = [name for name in MUST_HOLD if trace.verdicts.get(name) == "not checked"]
		return names and trace.hidden() and f"threads that the kernel hides left unchecked: {', '.join(names)}"

	CLEAN = e2e.until_undisturbed(recorded, unchecked, 5)
	verdicts, PID = CLEAN.verdicts, CLEAN.values["pid"]
	for name in MUST_HOLD:
		e2e.equal(name, verdicts.get(name), "ok")
	idled = any(row["name"] == "cpu_idle" and row["seen"] for row in CLEAN.recording()["classes"])
	e2e.equal("idle_states", verdicts.get("idle_states"), "ok" if idled else "not witnessed")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(clean, check_damages, cut_short, clocks_not_compared)
