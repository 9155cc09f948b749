#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A user whom sudo lets run `monitor record`: what only root may read is not read for that user, be it a file of triggers
or states, or the symbols of a program. And what is merged of private traces is private. An attack on rights of files.
"""
import os
import subprocess

import e2e

SECRET = 'root:$6$verysecret$hash:19000:0:99999:7:::\n'


def for_user(*options):
	return e2e.run(e2e.monitor, "record", "--no-calibration", *options, "-d", "0.1", "-o", e2e.work / "public" / "trace", exit_code=125,
	               env=dict(os.environ, SUDO_UID="65534", SUDO_GID="65534"))


def public():
	directory = e2e.work / "public"
	directory.mkdir(exist_ok=True)
	os.chmod(directory, 0o777)
	return e2e.others_may_enter("files of another user", directory)


def files():
	if not public():
		return
	secret = e2e.work / "secret"
	secret.write_text(SECRET)
	secret.chmod(0o600)
	for option in ("--triggers", "--states"):
		done = for_user(option, secret)
		e2e.expect("verysecret" not in done.stdout + done.stderr, f"{option} prints a file that only root may read: {done.stderr}")
		e2e.expect("Permission denied" in done.stderr or option == "--states", f"{option}: {done.stderr}")
	secret.chmod(0o644)
	e2e.expect("verysecret" in for_user("--triggers", secret).stderr, "a file that all may read is not read")


def programs():
	if not public():
		return
	source = e2e.work / "secret.c"
	source.write_text("int very_secret_function(void) { return 3; } int main() { return very_secret_function(); }\n")
	program = e2e.work / "secret_program"
	subprocess.run(["gcc", "-g", "-o", program, source], check=True)
	program.chmod(0o700)
	done = for_user("--functions", f"{program}:very*")
	e2e.expect("Permission denied" in done.stderr, f"--functions: {done.stderr}")
	for name in ("very_secret_function", "no_such_function"):
		done = for_user("-m", "cpu", "--reset-on", f"{program}:{name}")
		e2e.expect("Permission denied" in done.stderr, f"--reset-on {name}: {done.stderr}")


def merged():
	for name in ("a", "b"):
		e2e.record(name, "-e", "sched", "-p", "cmd", command=("true",))
	for options in ((), ("--copy",)):
		run = e2e.work / f"run{len(options)}"
		e2e.run(e2e.monitor, "merge", *options, "-o", run, e2e.work / "a", e2e.work / "b")
		for path in (run, *run.rglob("*")):
			e2e.equal(f"rights of others to {path}", path.stat().st_mode & 0o077, 0)


if __name__ == "__main__":
	e2e.need_recording()
	os.umask(0o022)
	e2e.main(files, programs, merged)
