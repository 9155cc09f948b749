# SPDX-License-Identifier: MIT
"""What every end-to-end test uses: run the monitor, read its answers, say what is wrong. Imported by the tests here.

ctest calls each test as TEST.py MONITOR PROGRAMS WORK: the binary, the directory of the workload programs, a directory
of the test's own (emptied first). Exit code 0: all holds that can be tried here, 1: something does not (each a line), 77:
nothing can be tried here. The last line names what was left out, and why.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
import unicodedata
from concurrent.futures import ThreadPoolExecutor

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it, and so do its children
monitor, programs, _work = (os.path.abspath(argument) for argument in sys.argv[1:4])
reader = os.environ.get("MONITOR_READER", monitor)  # the same program, perhaps linked otherwise: it starts sooner
work = pathlib.Path(_work)
os.environ["XDG_CACHE_HOME"] = str(work / "cache")  # pictures that are kept (monitor view)
os.environ["MONITOR_FACTORS"] = str(work / "factors")  # there are none, whatever this machine has: tests/e2e/factors.py
os.environ["MONITOR_EXPLAIN"] = "no"  # at the end of each recording: tests/e2e/explain.py has it
workload = os.path.join(programs, "workload")
failures = 0
_own = threading.local()  # of the test that this thread runs: what it compared, what did not hold, what it left out
_count = threading.Lock()
# Recordings of a test have no calibration, which takes longer than most of them, unless the test says so; and the command
# is not sampled unless a test is about that (sampled_command.py), so that it has the events that it counts and no others.
calibrated = False
left_out = []  # parts that were not tried, and why
tried = []  # the tests of which at least a part was


class Skipped(SystemExit):
	def __init__(self, why):
		super().__init__(77)
		self.why = why


def leave_out(part, why):
	"""A part of the test that cannot be tried here. The others count all the same."""
	print(f"not tried: {part}: {why}")
	left_out.append(f"{part} ({why})")
	_own.left_out = getattr(_own, "left_out", 0) + 1


def skip(why):
	print(f"skipped: {why}")
	raise Skipped(why)


def need_recording():
	if os.geteuid() != 0:
		skip("recording needs root")
	if not os.path.exists("/sys/kernel/btf/vmlinux"):
		skip("this kernel has no BTF, so nothing can be recorded")
	if "reads traces only" in run(monitor, "events", exit_code=None).stderr:
		skip("this build has no record side")


def own_mounts():
	"""The command words that run a script with mounts of its own, which nobody else sees."""
	plain = ["unshare", "-m"]
	if subprocess.run([*plain, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
		return plain
	return [*plain, "--propagation", "unchanged"]  # in a chroot, whose root is no mount point


def closed_to_others(*paths):
	"""The first directory on the way to one of these, or itself, that other users may not enter; None: there is none."""
	for path in map(pathlib.Path, paths):
		for way in (path.absolute(), path.resolve()):  # through symbolic links, too
			for directory in [*reversed(way.parents), *([way] if way.is_dir() else [])]:
				if not directory.stat().st_mode & 0o001:
					return directory
	return None


def others_may_enter(part, *paths):
	"""Whether other users can reach these paths, by default the programs and the test's own directory: not in a chroot of
	root's own, or below a home that is closed. If not, `part` is left out."""
	directory = closed_to_others(*(paths or (monitor, programs, work)))
	if directory:
		leave_out(part, f"the directory {directory} is closed to others")
	return not directory


def need_program(name):
	if not shutil.which(name):
		skip(f"{name} is not installed")


def compiled(source, *options, compiler="gcc"):
	"""A program that stands beside the test, compiled into its work folder."""
	need_program(compiler)
	program = work / pathlib.Path(source).stem
	run(compiler, "-O1", "-g", pathlib.Path(sys.argv[0]).resolve().parent / source, "-o", program, *options)
	return program


def expect(holds, sentence):
	global failures
	_own.compared = getattr(_own, "compared", 0) + 1
	if not holds:
		with _count:
			failures += 1
		_own.failures = getattr(_own, "failures", 0) + 1
		print(f"FAILED: {sentence if len(sentence) < 2000 else sentence[:2000] + ' ...'}")
	return bool(holds)


def equal(what, is_, should):
	_own.compared = getattr(_own, "compared", 0) + 1
	return is_ == should or expect(False, f"{what}: {is_!r}, not {should!r}")


def near(what, is_, should, part=0.03, slack=0.0):
	"""Within this part of what it should be, or within the slack."""
	return expect(is_ is not None and abs(is_ - should) <= max(part * abs(should), slack), f"{what}: {is_}, not {should}")


def run_test(test):
	_own.compared, _own.failures, _own.left_out, start = 0, 0, 0, time.monotonic()
	try:
		test()
	except Skipped as skipped:
		leave_out(test.__name__, skipped.why)
	except Exception:  # the next test may still tell something
		expect(False, traceback.format_exc())
	if _own.compared or not _own.left_out:
		tried.append(test.__name__)
	outcome = "FAILED" if _own.failures else "ok    " if test.__name__ in tried else "none  "
	print(f"{outcome} {test.__name__} {time.monotonic() - start:.1f} s")


def longer(test):
	"""Decorates a test that only tools/test --all runs, because of the time that it takes."""
	test.longer = True
	return test


def is_wanted(test):
	return not getattr(test, "longer", False) or "MONITOR_LONGER_TESTS" in os.environ


def main(*tests, beside=()):
	"""`beside`: lists of tests, each run one after the other beside `tests`, for those that wait more than they work."""
	left_to_all = [test.__name__ for lane in (tests, *beside) for test in lane if not is_wanted(test)]
	if left_to_all:
		print(f"tools/test --all runs, too: {', '.join(left_to_all)}")
	tests, beside = list(filter(is_wanted, tests)), [list(filter(is_wanted, lane)) for lane in beside]
	shutil.rmtree(work, ignore_errors=True)
	work.mkdir(parents=True)
	with ThreadPoolExecutor(max(len(beside), 1)) as threads:
		lanes = [threads.submit(lambda lane=lane: [run_test(test) for test in lane]) for lane in beside]
		for test in tests:  # in the main thread, whose number is the process's
			run_test(test)
		for lane in lanes:
			lane.result()
	if left_out and not tried:
		skip("; ".join(left_out))
	if left_out:
		print(f"left out: {'; '.join(left_out)}")
	sys.exit(1 if failures else 0)


def without_marks(text):
	"""Without characters that take no column: programs of other tests have them in their names."""
	return "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Mn", "Me"))


def in_columns(line):
	"""A NUL follows each character that takes two columns, and those that take none are missing: an index is a column."""
	return "".join(c + "\0" * (unicodedata.east_asian_width(c) in "WF") for c in without_marks(line))


def run(*command, exit_code=0, timeout=120, **options):
	"""Runs a command and returns it with its output; any other exit code than expected is a failure (None: any)."""
	done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
	                      errors="replace", timeout=timeout, check=False, **options)
	if exit_code is not None and done.returncode != exit_code:
		tail = "\n".join((done.stdout[-1500:] + done.stderr[-1500:]).splitlines()[-15:])
		expect(False, f"{' '.join(map(str, command))}: exit code {done.returncode}, not {exit_code}:\n{tail}")
	return done


def until_undisturbed(make, disturbance, most=20):
	"""make() until disturbance() of what it gave is empty; the last one, whatever it says. It is a witness, such as a count
	of lost events, and no figure that the test judges. Each further try is said, for the summary of all tests."""
	reasons = []
	for _ in range(most):
		made = make()
		reasons.append(disturbance(made))
		if not reasons[-1]:
			break
	tries = len(reasons) - 1
	if tries:
		print(f"  tried again {tries} time{'s' * (tries > 1)}: because {'; '.join(dict.fromkeys(filter(None, reasons)))}")
	return made


def stressed(attempt, **least):
	"""Calls `attempt`, which records, judges that and gives what was found, until the sums are at least these; at most ten
	times: where other load keeps the recorder from its CPU, most of what one run posts is refused."""
	found = {name: 0 for name in least}

	def add():
		for name, number in attempt().items():
			found[name] = found.get(name, 0) + number

	def too_little(_):
		return ", ".join(f"less than {number:,} {name}" for name, number in least.items() if found[name] < number)

	until_undisturbed(add, too_little, 10)
	expect(not too_little(None), f"the stress was none in ten runs: {found}")


class Stalls:
	"""During the `with`, on each CPU a sleeper that nothing but the kernel precedes: how late it wakes is how long that CPU
	stood still, because a host wanted it or interrupts were off, whether or not the kernel counts it as stolen."""
	SLEEPER = """if True:
		import os, signal, sys, time
		goes_on = True
		def end(*unused):
			global goes_on
			goes_on = False
		signal.signal(signal.SIGTERM, end)
		os.sched_setaffinity(0, [int(sys.argv[1])])
		os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
		print("ready", flush=True)
		latest = 0
		while goes_on:
			begin = time.monotonic()
			time.sleep(0.002)
			latest = max(latest, time.monotonic() - begin - 0.002)
		print(latest)
	"""
	LONG_S = 0.002

	def __enter__(self):
		self.sleepers = [subprocess.Popen([sys.executable, "-c", self.SLEEPER, str(cpu)], stdout=subprocess.PIPE, text=True) for cpu in cpus()]
		for sleeper in self.sleepers:
			sleeper.stdout.readline()
		return self

	def __exit__(self, *unused):
		for sleeper in self.sleepers:
			sleeper.terminate()
		self.latest = max(float(sleeper.communicate()[0]) for sleeper in self.sleepers)

	def __str__(self):
		"""Empty if there was none that matters."""
		return f"a CPU stood still for {self.latest * 1000:.1f} ms" if self.latest > self.LONG_S else ""


def values(text):
	"""The key=value words of a workload's line as numbers."""
	return {key: int(value) for key, value in (word.split("=") for word in text.split() if "=" in word)}


TIME_OF_DAY = r"(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\.\d{9}"  # in answers


class Trace:
	"""A trace directory and what the monitor says of it."""

	def __init__(self, directory, output=""):
		self.directory, self.output = pathlib.Path(directory), output

	def check(self):
		"""The verdicts by statement: the worst one where a statement comes more than once, and the texts."""
		done = run(reader, "check", "--json", self.directory, exit_code=None)
		self.statements = json.loads(done.stdout) if done.stdout else []
		expect(done.returncode in (0, 1) and done.stdout,
		       f"check {self.directory}: exit code {done.returncode}: {done.stderr}")
		red = {statement["id"] for statement in self.statements if statement["verdict"] == "FAILS"}
		expect(done.returncode == (1 if red else 0), f"check: exit code {done.returncode}, but red is {red}")
		return red

	def expect_true(self, but=frozenset()):
		red = self.check() - but
		for statement in self.statements:
			if statement["verdict"] == "FAILS" and statement["id"] in red:
				print(f"  {statement['id']}: {statement['text']}")
		expect(not red, f"check {self.directory}: {', '.join(sorted(red))}")

	def expect_sound(self):
		"""But for how closely the clocks were read: other load widens that, and it has tests of its own."""
		self.expect_true(but={"clock"})

	def info(self):
		return json.loads(run(reader, "info", "--json", self.directory).stdout)

	def summary(self):
		return self.info()["summary"]

	def report(self, *options):
		"""Of all threads. The name of a report may be among the options: these stand behind the directory."""
		return json.loads(run(reader, "report", "--json", "--all", self.directory, *options).stdout)

	def rows(self, *options, **where):
		"""Rows of a report in which every named column has the given value."""
		rows = self.report(*options)["rows"]
		return [row for row in rows if all(row[key] == value for key, value in where.items())]

	def query(self, sql):
		return json.loads(run(reader, "query", "--json", self.directory, sql).stdout)

	def events(self, *options, exit_code=0):
		text = run(reader, "list", "--json", *options, self.directory, exit_code=exit_code).stdout
		return [json.loads(line) for line in text.splitlines()]

	def family(self, ancestors):
		"""These threads and everything born of them, by the tokens of their creation."""
		family = set(ancestors)
		for event in self.events("--event", "sched_wakeup_new"):
			if event["fields"]["parent_pid"] in family:
				family.add(event["fields"]["pid"])
		return family

	def hidden(self):
		"""The threads that the kernel hides from tracing."""
		return {e["fields"]["pid"] for e in self.events("--event", "thread_state") if e["fields"]["flags"] & 16}

	def disturbed(self, pids=None):
		"""Did one of these threads, or any, follow a thread that the kernel hides from tracing?

		A hidden thread's way out has no token, so what comes then bears its number up to the CPU's next switch.
		"""
		hidden = self.hidden()
		on_cpu = {}
		for event in self.events("--event", "sched_switch") if hidden else []:
			prev = event["fields"]["prev_pid"]
			told = on_cpu.get(event["cpu"], prev)
			if told in hidden and prev != told and (pids is None or prev in pids):
				return True
			on_cpu[event["cpu"]] = event["fields"]["next_pid"]
		return False

	def recording(self):
		return json.loads((self.directory / ".monitor" / "recording.json").read_text())

	def second_of_start(self):
		"""As --from takes a time of day: not after time 0."""
		return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.recording()["start"]["realtime_ns"] // 10**9))

	def copy(self, name):
		shutil.rmtree(work / name, ignore_errors=True)
		shutil.copytree(self.directory, work / name)
		return Trace(work / name)


def without_calibration():
	return () if calibrated else ("--no-calibration",)


def usual(options):
	"""Options of each recording besides these."""
	asks = any(str(option).split("=")[0] in ("--stacks", "--stacks-on", "--rate") for option in options)
	return *without_calibration(), *(() if asks else ("--stacks=no",))


def record(name, *options, command=(), exit_code=0, **more):
	"""Records into work/name; the command's standard output is the trace's `output`."""
	directory = work / name
	done = run(monitor, "record", "-o", directory, *usual(options), *options, *(("--", *command) if command else ()),
	           exit_code=exit_code, **more)
	trace = Trace(directory, done.stdout)
	trace.errors = done.stderr
	return trace


def undisturbed(make, pids_of=lambda trace: None):
	"""make() until no hidden thread came before the threads pids_of(trace), or any: for what is counted thread by thread."""
	return until_undisturbed(make, lambda trace: trace.disturbed(pids_of(trace)) and f"a thread that the kernel hides disturbed {trace.directory.name}")


def tree_of_workload(trace):
	return trace.family({values(trace.output).get("pid")})


def record_workload(name, verb, number, *options):
	trace = undisturbed(lambda: record(name, "--force", *options, command=(workload, verb, number)), tree_of_workload)
	trace.values = values(trace.output)
	return trace


def record_undisturbed(name, *options, command):
	"""A recording in which the threads of the command are known wherever they run."""
	return undisturbed(lambda: record(name, "--force", *options, command=command),
	                   lambda trace: trace.family({trace.recording()["command_pid"]}))


class Recorder:
	"""A recording in the background. `command` runs under it; the words `before` run the recorder."""

	def __init__(self, name, *options, command=(), before=(), **more):
		self.directory = work / name
		shutil.rmtree(self.directory, ignore_errors=True)
		arguments = [*before, monitor, "record", "-o", self.directory, *usual(options), *options, *(("--", *command) if command else ())]
		self.process = subprocess.Popen([str(word) for word in arguments], stdout=subprocess.PIPE,
		                                stderr=subprocess.PIPE, text=True, **more)

	def wait_until_recording(self):
		"""Until every probe is attached and the initial state is written; with --statistics until the first period ends."""
		deadline = time.monotonic() + 60
		while time.monotonic() < deadline and self.process.poll() is None:
			if (self.directory / "recorder").exists() or any(self.directory.glob("statistics_*")):
				return self
			time.sleep(0.01)
		self.process.kill()
		raise TimeoutError(f"the recording into {self.directory} does not begin: {self.process.communicate()[1]}")

	def send(self, number):
		self.process.send_signal(number)

	def end(self, number=signal.SIGINT, exit_code=0):
		if number and self.process.poll() is None:
			self.process.send_signal(number)
		try:
			output, errors = self.process.communicate(timeout=60)
		except subprocess.TimeoutExpired:
			self.process.kill()
			output, errors = self.process.communicate()
			expect(False, "the recorder does not end")
		if exit_code is not None:
			expect(self.process.returncode == exit_code,
			       f"the recorder's exit code is {self.process.returncode}, not {exit_code}: {errors}")
		trace = Trace(self.directory, output)
		trace.errors = errors
		return trace


def before_its_code(trace, comm, by, share=0.0):
	"""The witness that other load kept the recorder from a program: more than this share of the stacks of threads whose names
	begin so were taken before it knew the program's code. Empty if not."""
	lines = [line.rsplit(" ", 1) for line in run(reader, "report", trace.directory, "stacks", "--all", "--by", by, "--folded").stdout.splitlines()]
	counts = [(frames, int(count)) for frames, count in lines if frames.startswith(comm)]
	early = sum(count for frames, count in counts
	            if any(why in frames for why in ("[truncated: process not known", "[truncated: address not mapped")))
	return early > share * sum(count for _, count in counts) and f"{early} stacks were taken before the recorder knew the code of {comm}"


class Load:
	"""Workloads in the background until the end of the `with`."""

	def __init__(self, *commands):
		self.processes = [subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
		                  for command in commands]

	def __enter__(self):
		return self

	def __exit__(self, *unused):
		for process in self.processes:
			process.kill()
			process.wait()


def cpus():
	return sorted(os.sched_getaffinity(0))


def steal_ns():
	"""Stolen from this guest so far; what is not a whole tick is not told, so a tick per CPU is added."""
	fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()
	return (int(fields[8]) + len(cpus())) * 10_000_000 if int(fields[8]) else 0


def stolen_ns(before):
	"""At most, since steal_ns() said `before`. Where the kernel counts it, it takes it from the times of its threads, if later."""
	return steal_ns() - before + (len(cpus()) * 10_000_000 if before else 0)


def remove_cgroup(group):
	"""Its last process may still be ending."""
	for _ in range(100):
		try:
			return group.rmdir()
		except OSError:
			time.sleep(0.05)


@contextlib.contextmanager
def group_with_quota(name, quota_us, period_us=100_000):
	"""A group that may have so much of a CPU, and what reads for how many seconds it was throttled so far."""
	for line in open("/proc/mounts", encoding="utf-8"):
		_, where, kind, options, *_ = line.split()
		group, limits = pathlib.Path(where) / name, {}
		try:
			if kind == "cgroup" and "cpu" in options.split(","):
				limits = {"cpu.cfs_period_us": period_us, "cpu.cfs_quota_us": quota_us}
				figure, unit = "throttled_time", 1e9
			elif kind == "cgroup2" and "cpu" in (pathlib.Path(where) / "cgroup.subtree_control").read_text().split():
				limits = {"cpu.max": f"{quota_us} {period_us}"}
				figure, unit = "throttled_usec", 1e6
			if not limits:
				continue
			group.mkdir()
			for file, value in limits.items():
				(group / file).write_text(str(value))
		except OSError:
			continue
		try:
			yield group, lambda: int(dict(row.split() for row in (group / "cpu.stat").read_text().splitlines())[figure]) / unit
		finally:
			remove_cgroup(group)
		return
	skip("no cpu controller of cgroups is mounted")


def getppid_on_every_cpu():
	return Load(*(("taskset", "-c", cpu, workload, "getppid", 1 << 50) for cpu in cpus()))
