#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exit codes, signals and privileges: CMD's code is passed on, Ctrl-C reaches CMD first, -d ends it; under sudo CMD and
the files belong to the invoking user, and the recorder keeps no capability while it records; two of its threads come
before others, CMD does not."""
import ctypes
import os
import pathlib
import re
import shutil
import signal
import stat
import tempfile

import e2e

USER = 65534


def exit_codes():
	for script, code in (("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", 143), ("kill -KILL $$", 137)):
		trace = e2e.record("exit", "--force", "-e", "sched", command=("sh", "-c", script), exit_code=code)
		e2e.equal(f"'{script}': exit code by info", trace.recording()["command_exit"], code)
		trace.expect_true()


def time_over():
	trace = e2e.record("time", "-d", 1, command=("sleep", 100), exit_code=143)
	e2e.equal("end", trace.recording()["end_reason"], "the duration elapsed")
	wall = trace.summary()["wall_ns"]
	e2e.expect(0.95e9 < wall < 90e9, f"-d 1 recorded {wall} ns")
	trace.expect_true()


def interrupted():
	"""As a terminal does: SIGINT to the whole group. CMD ends in its own time and with its own code."""
	script = "trap 'sleep 0.3; echo cleaned; exit 7' INT; echo ready; while :; do sleep 0.05; done"
	recorder = e2e.Recorder("interrupted", "-e", "sched", command=("bash", "-c", script), start_new_session=True)
	recorder.wait_until_recording()
	e2e.equal("the command's first line", recorder.process.stdout.readline(), "ready\n")
	os.killpg(recorder.process.pid, signal.SIGINT)
	trace = recorder.end(number=None, exit_code=7)
	e2e.expect("cleaned" in trace.output, "the recorder did not wait for the command")
	trace.expect_true()
	# to the recorder alone, as kill(1) does: it passes it on
	recorder = e2e.Recorder("killed", "-e", "sched", command=("sleep", 60)).wait_until_recording()
	trace = recorder.end(signal.SIGTERM, exit_code=143)
	trace.expect_true()
	recorder = e2e.Recorder("machine", "-e", "sched").wait_until_recording()
	trace = recorder.end(signal.SIGINT)
	trace.expect_true()
	e2e.expect("SIGINT" in trace.recording()["end_reason"] or "INT" in trace.recording()["end_reason"],
	           f"end: {trace.recording()['end_reason']}")


def status_of(pid):
	lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
	return {key: value.split() for key, value in (line.split(":", 1) for line in lines)}


def expect_no_privilege(pid, uid, what):
	status = status_of(pid)
	for name in ("CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd"):
		e2e.equal(f"{what}: {name}", int(status[name][0], 16), 0)
	e2e.equal(f"{what}: uids", {int(number) for number in status["Uid"]}, {uid})
	for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
		thread = status_of(f"{pid}/task/{task.name}")
		e2e.equal(f"{what}: CapEff of thread {task.name}", int(thread["CapEff"][0], 16), 0)
		e2e.equal(f"{what}: uids of thread {task.name}", {int(number) for number in thread["Uid"]}, {uid})


CAP_SYS_RESOURCE = 24


def expect_prompt_threads(pid, what):
	if not int(status_of("self")["CapEff"][0], 16) >> CAP_SYS_RESOURCE & 1:
		e2e.leave_out(f"{what}: threads at nice -10", "root may not raise its limits here (CAP_SYS_RESOURCE)")
		return
	stats = [(task / "stat").read_text().rpartition(")")[2].split() for task in pathlib.Path(f"/proc/{pid}/task").iterdir()]
	e2e.equal(f"{what}: threads at nice -10", [stat[16] for stat in stats].count("-10"), 2)


def as_root():
	recorder = e2e.Recorder("root", "-e", "sched").wait_until_recording()
	expect_no_privilege(recorder.process.pid, 0, "recorder of root")
	expect_prompt_threads(recorder.process.pid, "recorder of root")
	trace = recorder.end()
	trace.expect_true()
	landlock = ctypes.CDLL(None).syscall(444, None, 0, 1) >= 1  # landlock_create_ruleset: the version
	e2e.equal("confined to the trace", trace.recording()["confined"], landlock)
	if not landlock:
		print("not tried: this kernel has no Landlock")


def no_command():
	"""Where the command cannot be started nothing stays, though privileges are given up by then."""
	e2e.run(e2e.monitor, "record", "-e", "sched", "-o", e2e.work / "nothing", "--", "/nonexistent", exit_code=127)
	e2e.expect(not (e2e.work / "nothing").exists(), "a directory of nothing stays")


def under_sudo():
	if not e2e.others_may_enter("under_sudo", tempfile.gettempdir()):
		return
	public = pathlib.Path(tempfile.mkdtemp(prefix="monitor-e2e-"))
	public.chmod(0o777)
	user = dict(os.environ, SUDO_UID=str(USER), SUDO_GID=str(USER))
	e2e.work, kept = public, e2e.work
	try:
		recorder = e2e.Recorder("sudo", command=("sh", "-c", "id -u; id -g; id -G; nice; "
		                                         "grep 'nice priority' /proc/self/limits; "
		                                         "grep CapEff /proc/self/status; read line"), env=user, stdin=-1, cwd="/")
		recorder.wait_until_recording()
		expect_no_privilege(recorder.process.pid, USER, "recorder under sudo")
		expect_prompt_threads(recorder.process.pid, "recorder under sudo")
		recorder.process.stdin.write("\n")
		recorder.process.stdin.flush()
		trace = recorder.end(number=None)
		limit = re.search(r"^.*nice priority.*$", pathlib.Path("/proc/self/limits").read_text(), re.M)[0]
		e2e.equal("CMD's user, groups, nice value, its limit, capabilities", trace.output.split(),
		          [*[str(USER)] * 3, str(os.nice(0)), *limit.split(), "CapEff:", "0000000000000000"])
		for path in [trace.directory, *trace.directory.rglob("*")]:
			what, status = path.relative_to(public), path.lstat()
			e2e.equal(f"owner of {what}", (status.st_uid, status.st_gid), (USER, USER))
			mode = 0o700 if path.is_dir() else 0o600
			e2e.equal(f"mode of {what}", oct(stat.S_IMODE(status.st_mode)), oct(mode))
		trace.expect_true()
	finally:
		e2e.work = kept
		shutil.rmtree(public, ignore_errors=True)


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(exit_codes, time_over, interrupted, as_root, no_command, under_sudo)
