#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Other users read nothing that was recorded, whatever the umask is: traces, snapshots, packed and merged ones, archives
and keys of a fleet are their owner's alone. What is converted or drawn is made to be passed on."""
import os
import shutil
import subprocess

import e2e


def run(*command, exit_code=0):
	return e2e.run(e2e.monitor, *command, exit_code=exit_code)


def private(what, *paths):
	for path in paths: # below a directory that nobody else enters, rights of files do not matter
		e2e.equal(f"{what}: rights of others to {path}", path.stat().st_mode & 0o077, 0)
	if not e2e.closed_to_others(e2e.work.parent) and os.geteuid() == 0 and shutil.which("setpriv"):
		found = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "find", *map(str, paths), "-readable", "-type", "f"],
		                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
		e2e.equal(f"{what}: files that another user reads", found.splitlines(), [])


def recordings():
	plain = e2e.record("plain", "--stacks", command=(e2e.workload, "getppid", 1000)).directory
	statistics = e2e.record("statistics", "--statistics", "1s", "-d", "1.2").directory
	flight = e2e.record("flight", "--flight=8M", "--snapshots", "1", "--trigger", "x: at start => snapshot", "-d", "3", exit_code=None).directory
	private("recordings", plain, statistics, flight)
	run("pack", plain)
	private("packed", plain)
	for options in ((), ("--copy",)):
		merged = e2e.work / f"merged{len(options)}"
		run("merge", *options, "-o", merged, plain, statistics)
		private("merged", merged)


def archives():
	archive, trace = e2e.work / "archive", e2e.record("archived", "-e", "sched", command=("true",)).directory
	run("archive", "--archive", archive, "add", trace, "project/experiment/measurement")
	private("archived", archive / "project" / "experiment" / "measurement")


def keys():
	fleet = e2e.work / "fleet"
	done = run("fleet", "init", "-o", fleet, "--hub", "127.0.0.1:4222", "h1", exit_code=None)
	if "left out" in done.stderr or "needs a build" in done.stderr:
		e2e.skip(f"no fleet is made here: {done.stderr[-200:]}")
	e2e.equal("exit code of fleet init", done.returncode, 0)
	found = sorted(fleet.rglob("*.key"))
	e2e.expect(found, "the fleet has no keys")
	e2e.equal("modes of keys", {oct(path.stat().st_mode & 0o777) for path in found}, {"0o600"})


if __name__ == "__main__":
	e2e.need_recording()
	os.umask(0o022)
	e2e.main(recordings, archives, keys)
