#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Everything that can go wrong says so in one sentence on standard error, beginning with "monitor: ", with the right
exit code, without a crash, and leaves nothing after. With a real recording for what comes up only then.
"""
import json
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import threading

import e2e

# Others may look into it, unlike into a build directory.
public = pathlib.Path(tempfile.mkdtemp(prefix="monitor-e2e-"))


def complains(what, exit_code, *command, says="", leaves=None, **options):
	done = e2e.run(*command, exit_code=None, timeout=60, **options)
	lines = done.stderr.splitlines()
	e2e.expect(done.returncode == exit_code, f"{what}: exit code {done.returncode}, not {exit_code}: {done.stderr}")
	e2e.expect(len(lines) == 1 and lines[0].startswith("monitor: "), f"{what}: not one sentence: {done.stderr!r}")
	e2e.expect(says in done.stderr, f"{what}: {done.stderr!r} does not tell of '{says}'")
	if leaves:
		e2e.expect(not os.path.lexists(leaves), f"{what}: {leaves} is left after")
		shutil.rmtree(leaves, ignore_errors=True)
	return done


def record(*arguments):
	return (e2e.monitor, "record", *arguments)


def output():
	there = public / "there"
	there.mkdir()
	(there / "mine").write_text("mine")
	complains("directory exists", 125, *record("-o", there, "--", "true"), says="exists")
	complains("--force on what is no trace", 125, *record("-o", there, "--force", "--", "true"), says="not a trace")
	e2e.equal("a file of somebody else", (there / "mine").read_text(), "mine")
	complains("output is a file", 125, *record("-o", there / "mine", "--force", "--", "true"), says="not a directory")
	link = public / "link"
	link.symlink_to(public / "nowhere")
	complains("symbolic link", 125, *record("-o", link, "--force", "--", "true"), says="symbolic link")
	e2e.expect(not (public / "nowhere").exists(), "the link was followed")
	e2e.run(*record("-o", public / "a/b", "--", "true"))
	e2e.expect((public / "a/b/metadata").exists(), "the directories above that of -o were not made")
	if os.path.exists("/proc/version"):
		complains("not writable", 125, *record("-o", "/proc/trace", "--", "true"), says="/proc/trace")
	user = dict(os.environ, SUDO_UID="65534", SUDO_GID="65534")
	closed = public / "closed"
	closed.mkdir(mode=0o700)
	complains("not writable for the invoking user", 125, *record("-o", closed / "trace", "--", "true"),
	          says="ermission", env=user, leaves=closed / "trace")


def card():
	if os.path.exists("/dev/monitor"):
		return
	trace = public / "no_module"
	complains("no module", 125, *record("--card", "module", "-o", trace, "--", "true"), says="monitor_edc is not loaded",
	          leaves=trace)
	e2e.run(*record("--card", "bpf", "-o", trace, "--", "true"))
	shutil.rmtree(trace)


def command():
	trace = public / "trace"
	complains("no such command", 127, *record("-o", trace, "--", "no-such-command"), says="no-such-command",
	          leaves=trace)
	plain = public / "plain"
	plain.write_text("no program")
	complains("not executable", 126, *record("-o", trace, "--", plain), says=str(plain), leaves=trace)
	complains("a directory as command", 126, *record("-o", trace, "--", "/"), says="/", leaves=trace)
	complains("-p cmd without a command", 125, *record("-o", trace, "-p", "cmd"), says="-p cmd", leaves=trace)


def options():
	trace = public / "trace"
	complains("unknown family", 125, *record("-o", trace, "-e", "sched,shed", "--", "true"), says="'shed'",
	          leaves=trace)
	gone = subprocess.Popen(["true"])
	gone.wait()
	complains("a process that is gone", 125, *record("-o", trace, "-p", gone.pid, "-d", 1), says=str(gone.pid),
	          leaves=trace)
	complains("no process id", 125, *record("-o", trace, "-p", "12x", "-d", 1), says="12x", leaves=trace)
	stay = threading.Event()
	thread = threading.Thread(target=stay.wait)
	thread.start()
	complains("a thread", 125, *record("-o", trace, "-p", thread.native_id, "-d", 1), says=f"-p {os.getpid()}",
	          leaves=trace)
	stay.set()
	container = ("unshare", "-p", "--fork", "--mount-proc", *(("--propagation", "unchanged") if len(e2e.own_mounts()) > 2 else ()))
	complains("a command in a container", 125, *container, *record("-o", trace, "--", "true"), says="container",
	          leaves=trace)
	for size in ("0", "-1", "x", "10Q", "1k", "nan", "inf"):
		complains(f"--buffer '{size}'", 125, *record("-o", trace, "--buffer", size, "-d", 1), says="--buffer",
		          leaves=trace)
	for arguments, part in ((("--user-only", "--sample-every", "10ms"), "--user-only"), (("--sample-every", "1us"), "100us"),
	                        (("-e", "sample"), "--sample-every")):
		complains(" ".join(arguments), 125, *record("-o", trace, "-d", 1, *arguments), says=part, leaves=trace)
	for option in ("-o", "-e", "-p", "--max-size", "--sample-every", "--buffer"):
		complains(f"{option} ''", 2, *record(option, "", "--", "true"), says="the value is empty", leaves=trace)
	complains("--max-size", 125, *record("-o", trace, "--max-size", "lots", "-d", 1), says="lots", leaves=trace)
	for arguments in (("record", "--no-such-option"), ("record", "-d", "x"), ("record", "-d", "-1"), ("record", "-d", "nan"),
	                  ("record", "-d", "1e300"), ("no-such-verb",),
	                  (), ("report",), ("list",), ("report", "x", "--by", "moon"), ("report", "x", "--top", "-3"),
	                  ("stat", "x", "--top", "-1"), ("check", "x", "--rules", "kernel", "--violations", "99999999999999999999")):
		done = e2e.run(e2e.monitor, *arguments, exit_code=2)
		e2e.expect(done.stderr and "terminate" not in done.stderr, f"{arguments}: {done.stderr!r}")


def what_to_type():
	"""A complaint has what would be right."""
	for arguments, part in ((("diff", "x"), "AFTER is missing: monitor diff BEFORE AFTER (see monitor diff --help)"),
	                        (("archive", "add", "x"), "PROJECT/EXPERIMENT/MEASUREMENT is missing: monitor archive add DIR PROJECT/EXPERIMENT/MEASUREMENT"), (("archive",), "monitor archive needs one of its commands: add, "),
	                        (("convert", "x"), "--to FORMAT is missing: monitor convert DIR --to FORMAT"),
	                        (("report", "x", "--by", "proces"), "Did you mean process? (see monitor report --help)"), (("recrod",), "Did you mean record? The commands are "),
	                        (("report", "x", "--tpo", "3"), "unknown or misplaced: --tpo. Did you mean --to, --top?"), (("help", "recrod"), "Did you mean record?")):
		complains(" ".join(arguments), 2, e2e.monitor, *arguments, says=part)
	complains("help with words of no question", 2, e2e.monitor, "help", "slow", "zebra", says="no question has all of the words 'slow zebra'")
	complains("help with an empty word", 2, e2e.monitor, "help", "", says="no question has the word ''")
	for asked, as_if in ((("help",), ("--help",)), (("help", "report"), ("report", "--help")), (("-v",), ("--version",))):
		e2e.equal(asked, e2e.run(e2e.monitor, *asked).stdout, e2e.run(e2e.monitor, *as_if).stdout)


def privilege():
	trace = public / "trace"
	shutil.copy(e2e.monitor, public / "monitor")
	public.chmod(0o777)
	nobody = ("setpriv", "--reuid", 65534, "--regid", 65534, "--clear-groups")
	command_line = (public / "monitor", "record", "-o", trace, "--", "true")
	if e2e.others_may_enter("another user", public):
		complains("no root", 125, *nobody, *command_line, says="root", leaves=trace)
	script = f"mount -t tmpfs none /sys/kernel/btf && exec {e2e.monitor} record -o {trace} -- true"
	complains("no BTF", 125, *e2e.own_mounts(), "sh", "-c", script, says="BTF", leaves=trace)


def disk_full():
	disk = public / "disk"
	disk.mkdir()
	keep = public / "kept"
	script = f"""mount -t tmpfs -o size=1m none {disk}
		{e2e.monitor} record -o {disk}/trace -- {e2e.workload} getppid 500000
		code=$?
		cp -r {disk}/trace {keep}
		exit $code"""
	done = e2e.run(*e2e.own_mounts(), "sh", "-c", script, exit_code=125)
	lines = done.stderr.splitlines()
	e2e.expect(len(lines) > 1 and lines[1].startswith("monitor: ") and "No space" in lines[1], f"disk full: {done.stderr}")
	e2e.expect(": 0 tokens" not in done.stderr, f"disk full: 1 MB was written, the summary says: {done.stderr}")
	trace = e2e.Trace(keep)
	red = trace.check()
	e2e.expect("complete" in red and "streams" not in red, f"disk full: red is {sorted(red)}")
	e2e.expect(trace.summary()["tokens"] > 10000, "of 1 MiB nothing can be read")
	script = f"mount -t tmpfs -o size=1m none {disk}; dd if=/dev/zero of={disk}/x bs=64k 2>/dev/null; " \
		f"{e2e.monitor} record -o {disk}/trace -- true; code=$?; ls -A {disk}; exit $code"
	done = e2e.run(*e2e.own_mounts(), "sh", "-c", script, exit_code=125)
	e2e.expect(done.stderr.startswith("monitor: "), f"disk full from the start: {done.stderr}")


def bad_traces():
	good = e2e.record("good", command=("true",)).directory

	def all_verbs(what, directory, says="", verbs=("report", "list", "info", "check")):
		for verb in verbs:
			complains(f"{verb}: {what}", 1, e2e.monitor, verb, directory, says=says)

	all_verbs("no directory", e2e.work / "nowhere", "nowhere")
	all_verbs("a file", e2e.monitor, "no description matches")
	empty = e2e.work / "empty"
	empty.mkdir()
	all_verbs("an empty directory", empty, "metadata")
	(empty / "metadata").write_text("")
	all_verbs("empty metadata", empty, "empty")
	(empty / "metadata").write_text(FOREIGN)
	(empty / "stream_0").write_bytes(bytes(8192))
	all_verbs("a trace of another tracer", empty, says="sched_switch", verbs=("report",))
	(empty / "metadata").write_text("/* CTF 1.8 */\nclock { name = ")
	all_verbs("half a description", empty)
	(empty / "metadata").write_bytes(os.urandom(3000))
	all_verbs("noise", empty)
	shutil.copy(good / "metadata", empty)
	(empty / "stream_0").unlink()
	nothing = lambda what: [e2e.expect("without events" in e2e.run(e2e.monitor, verb, empty).stderr, f"{verb}: {what}")
	                        for verb in ("report", "list", "info", "stat")]
	nothing("no stream")
	(empty / "stream_0").write_bytes(b"")
	nothing("empty streams")
	complains("check of a recording that was killed at once", 1, e2e.monitor, "check", empty)
	os.mkfifo(empty / "stream_1")
	(empty / "metadata").unlink()
	os.mkfifo(empty / "metadata")
	all_verbs("pipes instead of files", empty, "regular")
	strange = e2e.Trace(good).copy("strange").directory
	(strange / ".monitor" / "recording.json").write_text('{"note": ' + "[" * 1_000_000 + "]" * 1_000_000 + "}")
	for verb in (("report",), ("info", "--json"), ("list",)):
		e2e.run(e2e.monitor, *verb, strange)
	(strange / ".monitor" / "recording.json").unlink()
	os.mkfifo(strange / ".monitor" / "recording.json")
	e2e.run(e2e.monitor, "report", strange)


def left_out():
	"""What a recording left out is said by the report that would need it."""
	only = e2e.record("only", "-e", "sched,sched", command=("true",))
	e2e.equal("families of -e sched,sched", only.recording()["families"], ["sched"])
	complains("no system calls", 1, e2e.monitor, "report", only.directory, "syscalls", says="family syscall")
	done = e2e.run(e2e.monitor, "report", only.directory, "offcpu")
	for missing in ("system calls", "interrupts"):
		e2e.expect(f"{missing} were not recorded" in done.stderr, f"offcpu is silent of missing {missing}: {done.stderr}")
	complains("no samples", 1, e2e.monitor, "report", only.directory, "samples", says="--sample-every")
	calls = e2e.record("calls", "-e", "syscall", command=("true",))
	complains("no wakings", 1, e2e.monitor, "report", calls.directory, "offcpu", says="family sched")


@e2e.longer
def replaced_by_force():
	"""The old trace goes when the new recording has started, not before."""
	trace = e2e.record("replaced", command=("true",))
	directory = trace.directory
	(directory / "kernel_cpu0.keep").write_bytes(b"") # any file of it
	code = directory / ".monitor" / "code" # of what had no path any more
	code.mkdir()
	(code / "25").write_bytes(b"")
	before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
	unchanged = lambda what: e2e.equal(f"the old trace after {what}", {path: path.read_bytes() for path in directory.rglob("*")
	                                                                   if path.is_file()}, before)
	for arguments, exit_code in ((("--buffer", "100k", "-d", 1), 125), (("--", "no-such-command"), 127), (("--", "/"), 126)):
		complains(f"--force with {arguments}", exit_code, *record("-o", directory, "--force", "--no-calibration", *arguments))
		unchanged(arguments)
	for set_aside in (1, len(list(directory.iterdir()))): # killed meanwhile, or after it
		for path in sorted(directory.iterdir(), reverse=True)[:set_aside]:
			path.rename(directory / f".replaced-{path.name}")
		if set_aside > 1:
			(directory / ".monitor").mkdir()
			(directory / "metadata").write_text("of the new trace")
		complains("--force after a killed start", 127, *record("-o", directory, "--force", "--no-calibration", "--", "no-such-command"))
		unchanged("a killed start")
	e2e.run(*record("-o", directory, "--force", "--no-calibration", "--", "true"))
	e2e.equal("what is left of the old trace", [path.name for path in directory.iterdir() if "keep" in path.name or
	                                            path.name.startswith(".replaced")], [])
	trace.expect_true()


def status_not_written():
	"""What cannot be said does not end a recording, nor change how it ends."""
	for number, stderr in enumerate(("2>&-", "2>/dev/full")):
		trace = e2e.work / f"silent{number}"
		e2e.run("sh", "-c", f"{e2e.monitor} record --no-calibration -o {trace} -- sh -c 'exit 7' {stderr}", exit_code=7)
		e2e.Trace(trace).expect_true()


def inputs_stay():
	"""No output path makes a command remove what it reads, or what it did not make."""
	good, other = e2e.work / "good", e2e.record("other", "-e", "sched", command=("true",)).directory
	for name, trace in (("one", good), ("two", other)):
		e2e.Trace(trace).copy(name)
	complains("merge -o ''", 2, e2e.monitor, "merge", "-o", "", "one", "two", says="the value is empty", cwd=e2e.work)
	complains("merge into an input", 1, e2e.monitor, "merge", "-o", "one/both", "one", "two", says="inside", cwd=e2e.work)
	for clocks, says in ((("two=1ms", "--clock", "two=2ms"), "given twice"), (("two=1ms,-5us",), "is negative")):
		complains(f"merge --clock {clocks}", 1, e2e.monitor, "merge", "-o", "both", "one", "two", "--clock", *clocks, says=says, cwd=e2e.work)
	for name, trace in (("one", good), ("two", other)):
		e2e.equal(f"files of {name}", sorted(path.name for path in (e2e.work / name).iterdir()),
		          sorted(path.name for path in trace.iterdir()))
	null = e2e.work / "null"
	os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
	e2e.run(e2e.monitor, "tdl", "compile", "pcap", "-o", null)
	e2e.expect(stat.S_ISCHR(null.lstat().st_mode), "tdl compile -o replaces a device")
	complains("tdl compile -o on a full disk", 1, e2e.monitor, "tdl", "compile", "pcap", "-o", "/dev/full", says="No space left")


def long_statement():
	done = e2e.run("sh", "-c", f"yes 'SELECT 1' | head -n 1000000 | {e2e.monitor} query {e2e.work}/good", exit_code=1, timeout=10)
	e2e.expect("more than 1048576 bytes" in done.stderr, f"a statement without an end: {done.stderr}")


def blanks_after_a_command():
	done = e2e.run(e2e.monitor, "query", e2e.work / "good", input=".schema \n.schema events \n.tables\t\n")
	e2e.expect("CREATE TABLE" in done.stdout and "events" in done.stdout.splitlines(), f"blanks after a command: {done}")


def answer_not_written():
	complains("a long answer into a full disk", 1, "sh", "-c", f"{e2e.monitor} list --json {e2e.work}/good > /dev/full",
	          says="No space left")
	for verb in ("report", "list", "info", "check", "stat", "query"):
		words = [e2e.monitor, verb, e2e.work / "good", *(["SELECT * FROM events"] if verb == "query" else [])]
		with open("/dev/full", "w", encoding="utf-8") as full:
			done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
			both = subprocess.run(words, stdout=full, stderr=full, check=False)
		e2e.expect(done.returncode == 1 and "No space left" in done.stderr, f"{verb} into a full disk: {done}")
		e2e.equal(f"{verb} into a log on a full disk: exit code", both.returncode, 1)


def cut_traces():
	"""Cut short a stream, the description, or both: an answer or a sentence, and `check` is never content."""
	good = e2e.Trace(e2e.work / "good")
	for cut in (1, 95, 96, 4095, 4096, 4097, 12345):
		bad = good.copy("cut")
		path = max(bad.directory.glob("kernel_cpu?"), key=lambda p: p.stat().st_size)
		data = path.read_bytes()
		path.write_bytes(data[:-cut])
		for verb in ("report", "list", "info", "check"):
			done = e2e.run(e2e.monitor, verb, bad.directory, exit_code=None)
			e2e.expect(done.returncode in (0, 1), f"{verb} of a stream cut by {cut}: {done.returncode}")
		e2e.expect(bad.check(), f"a stream cut by {cut} bytes passes")
	removed = good.copy("removed")
	path = max(removed.directory.glob("kernel_cpu?"), key=lambda p: p.stat().st_size)
	data = path.read_bytes()
	for what, rest in (("removed", None), ("empty", b""), ("cut at a packet", data[:-4096])):
		path.unlink(missing_ok=True)
		if rest is not None:
			path.write_bytes(rest)
		for verb in ("report", "info"):
			text = e2e.run(e2e.monitor, verb, removed.directory, exit_code=1).stdout
			e2e.expect("lost unknown" in text and "are not in the files" in text, f"{verb} of a trace with a stream {what}: {text}")
	# And sparse: the time to read it is that of what was written. The hole begins early, because what is later than the
	# command does not concern `stat`.
	begin = 2 * 4096
	path.write_bytes(data[:begin])
	os.truncate(path, 1 << 40)
	for verb in ("report", "list", "info", "stat", "check"):
		done = e2e.run(e2e.monitor, verb, removed.directory, exit_code=1, timeout=10)
		e2e.expect("packets were never written" in done.stdout + done.stderr, f"{verb} of a sparse stream: {done.stderr}")
	with path.open("r+b") as stream: # the hole in the middle
		stream.seek((1 << 40) - len(data) + begin)
		stream.write(data[begin:])
	counted = e2e.run(e2e.monitor, "stat", "--counts", "--json", removed.directory, exit_code=None, timeout=10).stdout  # 1 if the hole concerns it
	whole = e2e.run(e2e.monitor, "stat", "--counts", "--json", good.directory).stdout
	tokens = [sum(row["count"] for row in json.loads(text)) for text in (counted, whole)]
	e2e.equal("tokens around a hole", *tokens)


FOREIGN = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace {
	major = 1; minor = 8; byte_order = le;
	packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; };
};
env { domain = "kernel"; tracer_name = "another"; };
clock { name = "monotonic"; freq = 1000000000; };
stream { id = 0; event.header := struct { uint32_t id; uint64_t timestamp; };
	packet.context := struct { uint64_t content_size; uint64_t packet_size; }; };
event { name = "sched_switch"; id = 0; stream_id = 0; fields := struct { uint32_t _prev_tid; }; };
"""

if __name__ == "__main__":
	try:
		e2e.need_recording()
		e2e.main(output, card, command, options, what_to_type, privilege, disk_full, bad_traces, left_out, answer_not_written, cut_traces,
		         replaced_by_force, status_not_written, inputs_stay, long_statement, blanks_after_a_command)
	finally:
		shutil.rmtree(public, ignore_errors=True)
