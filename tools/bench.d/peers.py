# SPDX-License-Identifier: MIT
"""Who traces beside us, each as a context manager that traces from its begin to its end. Used by kernel.py,
endtoend.py and perf_bench.py.

Events are tracepoints as (subsystem, name). `outcome` is a dictionary that a peer fills at its end."""
import atexit
import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess

from lib import Skip, at_end, need, run, spawn, stop

SYSCALLS = [("raw_syscalls", "sys_enter"), ("raw_syscalls", "sys_exit")]
SWITCHES = [("sched", "sched_switch"), ("sched", "sched_waking")]
# The tracepoints behind the families of a default recording. Its fault completions are no tracepoints, and perf refuses
# those of irq_work: the peers do less.
DEFAULT = SYSCALLS + SWITCHES + [("sched", name) for name in (
	"sched_migrate_task", "sched_wakeup_new", "sched_process_exec", "sched_process_exit")] + [
	("task", "task_rename"), ("irq", "irq_handler_entry"), ("irq", "irq_handler_exit"), ("irq", "softirq_entry"),
	("irq", "softirq_exit")] + [("irq_vectors", f"{name}_{edge}") for name in (
	"local_timer", "reschedule", "call_function", "call_function_single") for edge in ("entry", "exit")] + [
	("exceptions", "page_fault_user"), ("exceptions", "page_fault_kernel"), ("power", "cpu_idle"),
	("power", "cpu_frequency")]


def tracefs():
	"""Where tracefs is mounted; mounts it for this run if it is nowhere."""
	with open("/proc/mounts") as file:
		for line in file:
			if line.split()[2] == "tracefs":
				return line.split()[1]
	try:
		run(["mount", "-t", "tracefs", "nodev", "/sys/kernel/tracing"])
	except RuntimeError as error:
		raise Skip(f"tracefs cannot be mounted: {error}")
	atexit.register(subprocess.run, ["umount", "/sys/kernel/tracing"], stderr=subprocess.DEVNULL)
	return "/sys/kernel/tracing"


def present(events):
	root = tracefs()
	return [event for event in events if os.path.isdir(f"{root}/events/{event[0]}/{event[1]}")]


def note_losses(load, last, result):
	"""`last` has each peer's outcome of the last round."""
	for peer in ("ftrace", "perf", "trace-cmd", "monitor record"):
		outcome = last.get(peer, {})
		if outcome.get("lost"):
			result.note(f"{load}: {peer} lost {outcome['lost']:,} events in the last round")
		if outcome.get("lost_chunks"):
			result.note(f"{load}: {peer} lost {outcome['lost_chunks']:,} chunks in the last round")


def ready(process, who):
	line = process.stdout.readline()
	if line.strip() != "ready":
		stop(process)
		raise RuntimeError(f"{who} did not start: {line}{process.stderr.read() if process.stderr else ''}")


@contextlib.contextmanager
def untraced(outcome):
	yield


@contextlib.contextmanager
def attached(context, kind, events, outcome):
	"""Programs of attach.cpp."""
	process = spawn([context.helper("attach"), kind, events, context.helper("peers.bpf.o")], text=True,
		stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
	ready(process, f"attach {kind}")
	try:
		yield
	finally:
		said = process.communicate(timeout=60)[0]
	outcome.update(json.loads(said))


def why_not_attached(context, kind, events):
	"""Why attached() with programs of the card would fail; "" if it works."""
	try:
		done = subprocess.run([context.helper("attach"), kind, events, ""], stdin=subprocess.DEVNULL,
			stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	except FileNotFoundError:
		return "that build has none: run its own tools/bench once"
	if done.returncode:
		return done.stderr.strip()
	return "" if '"probes"' in done.stdout else "that build's do not know these events"


class Ftrace:
	"""An instance of its own, TSC clock, buffers in memory that hold all of a round, no reader."""

	number = itertools.count()

	def __init__(self, events, megabytes_per_cpu):
		self.root = f"{tracefs()}/instances/bench-{os.getpid()}-{next(self.number)}"
		self.events = present(events)
		os.mkdir(self.root)
		at_end(self.remove)
		self.write("tracing_on", "0")
		self.write("trace_clock", "x86-tsc")
		self.write("buffer_size_kb", str(megabytes_per_cpu * 1024))

	def write(self, name, text):
		with open(f"{self.root}/{name}", "w") as file:
			file.write(text)

	def remove(self):
		with contextlib.suppress(OSError):
			os.rmdir(self.root)

	def lost(self):
		lost = 0
		for cpu in os.listdir(f"{self.root}/per_cpu"):
			with open(f"{self.root}/per_cpu/{cpu}/stats") as file:
				counts = [line.split(":") for line in file]
			lost += sum(int(count) for name, count in counts if name in ("overrun", "dropped events"))
		return lost

	@contextlib.contextmanager
	def tracing(self, outcome):
		self.write("trace", "")
		for subsystem, name in self.events:
			self.write(f"events/{subsystem}/{name}/enable", "1")
		self.write("tracing_on", "1")
		try:
			yield
		finally:
			self.write("tracing_on", "0")
			self.write("events/enable", "0")
		outcome["lost"] = self.lost()


@contextlib.contextmanager
def perf(context, events, outcome):
	"""perf record -a with its default buffers, enabled when it says so."""
	need("perf")
	output = context.path("perf.data")
	commands_in, commands_out = os.pipe()
	answers_in, answers_out = os.pipe()
	names = ",".join(f"{subsystem}:{name}" for subsystem, name in present(events))
	process = spawn(["perf", "record", "-a", "-B", "-N", "-D", "-1", "--control",
		f"fd:{commands_in},{answers_out}", "-o", output, "-e", names], pass_fds=(commands_in, answers_out),
		stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
	os.close(commands_in)
	os.close(answers_out)
	try:
		os.write(commands_out, b"enable\n")
		if not os.read(answers_in, 16).startswith(b"ack"):
			raise RuntimeError(f"perf record did not start: {process.stderr.read()}")
		yield
	finally:
		process.send_signal(signal.SIGINT)
		said = process.communicate(timeout=300)[1]
		os.close(commands_out)
		os.close(answers_in)
	lost = re.search(r"lost (\d+) chunks", said)
	outcome["lost_chunks"] = int(lost.group(1)) if lost else 0
	outcome["bytes"] = os.path.getsize(output)
	os.remove(output)


def need_trace_cmd(context):
	"""It asks the kernel for more than events, which a kernel that is locked down refuses."""
	need("trace-cmd")
	tracefs()
	output = context.path("try.dat")
	done = subprocess.run(["trace-cmd", "record", "-e", "sched:sched_switch", "-o", output, "true"], stdin=subprocess.DEVNULL,
		stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
	if done.returncode:
		raise Skip(f"trace-cmd record does not work here: {' '.join(done.stdout.split())[-200:]}")
	os.remove(output)


@contextlib.contextmanager
def trace_cmd(context, events, outcome):
	"""trace-cmd record of the whole machine with its default buffers."""
	output = context.path("trace.dat")
	chosen = [word for subsystem, name in present(events) for word in ("-e", f"{subsystem}:{name}")]
	process = spawn(["trace-cmd", "record", "-C", "x86-tsc", *chosen, "-o", output, "sh", "-c", "echo ready; exec cat"],
		stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	ready(process, "trace-cmd record")
	try:
		yield
	finally:
		said = process.communicate(timeout=300)[0]
	outcome["lost"] = sum(map(int, re.findall(r"overrun: (\d+)", said)))
	outcome["bytes"] = os.path.getsize(output)
	os.remove(output)


def tracers(context, events, megabytes_per_cpu, result, load):
	"""The peers that this machine has, by name; what it lacks becomes a note."""
	found = {}
	try:
		found["ftrace"] = Ftrace(events, megabytes_per_cpu).tracing
		found["perf"] = lambda outcome: perf(context, events, outcome)
		need_trace_cmd(context)
		found["trace-cmd"] = lambda outcome: trace_cmd(context, events, outcome)
	except Skip as skip:
		result.note(f"{load}: without {'trace-cmd' if found else 'ftrace, perf and trace-cmd'}: {skip}")
	return found


@contextlib.contextmanager
def recording(context, families, outcome, directory=None, more=()):
	"""`monitor record` of the whole machine, everything that a user gets."""
	keep = directory is not None
	directory = directory or context.path("recording")
	options = ["-e", families] if families else []
	process = spawn(context.record(directory, *options, *more, command=["sh", "-c", "echo ready; exec cat"]),
		stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	ready(process, "monitor record")
	try:
		yield
	finally:
		process.communicate(timeout=120)
	with open(os.path.join(directory, ".monitor/recording.json")) as file:
		facts = json.load(file)
	classes = facts.get("classes", [])
	outcome["tokens"] = sum(row["seen"] - row["refused"] - row["too_deep"] - row["filtered"] for row in classes)
	outcome["lost"] = sum(row["refused"] + row["too_deep"] for row in classes)
	if not keep:
		shutil.rmtree(directory)
