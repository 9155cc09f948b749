#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Root records for a user, into a directory of the user's, who swaps files there for links as fast as they appear, or has put a link
in the place of the directory: nothing of root's is written to (endless_files.py swaps the directory itself)."""
import os
import subprocess

import e2e

PRECIOUS = "precious\n"
SWAPS = """if True:
	import os, sys, time
	directory, target, end = sys.argv[1], sys.argv[2], time.time() + float(sys.argv[3])
	swapped = 0
	while time.time() < end:
		for place in (directory + "/.monitor", directory):
			try:
				names = os.listdir(place)
			except OSError:
				continue
			for name in {*names, "recording.json", ".recording.json", "metadata", ".metadata", "names", "files", "functions"}:
				path = place + "/" + name
				try:
					if os.path.islink(path) or os.path.isdir(path):
						continue
					if os.path.exists(path):
						os.rename(path, path + ".was")
					os.symlink(target, path)
					swapped += 1
				except OSError:
					pass
	print(swapped)
"""


def as_user(*command, **more):
	return subprocess.Popen(command, user=65534, group=65534, extra_groups=[], text=True, **more)


def record(*options):
	return e2e.run(e2e.monitor, "record", "--no-calibration", *options, exit_code=None, timeout=60, env=dict(os.environ, SUDO_UID="65534", SUDO_GID="65534"))


def public():
	directory = e2e.work / "public"
	directory.mkdir(exist_ok=True)
	os.chmod(directory, 0o1777)
	return directory if e2e.others_may_enter("files of another user", directory) else None


def files():
	directory = public()
	if not directory:
		return
	target = e2e.work / "root.file"
	target.write_text(PRECIOUS)
	target.chmod(0o600)
	for number, options in enumerate(((), ("--stacks",), ("--statistics", "1s"), ("--functions", "getppid"))):
		trace = directory / f"trace{number}"
		swapper = as_user("/usr/bin/python3", "-c", SWAPS, trace, target, "3", stdout=subprocess.PIPE)
		done = record(*options, "-o", trace, "--", e2e.workload, "getppid", "200000")
		swapped = int(swapper.communicate(timeout=60)[0])
		e2e.expect(swapped > 0, f"{options}: nothing was swapped")
		e2e.expect(done.returncode in (0, 1, 125), f"{options}: {done.returncode}: {done.stderr}")
		e2e.equal(f"root's file beside {options}", target.read_text(), PRECIOUS)


def directories():
	directory = public()
	if not directory:
		return
	elsewhere = e2e.work / "elsewhere"
	elsewhere.mkdir()
	as_user("ln", "-s", elsewhere, directory / "link").wait()
	done = record("--force", "-d", "0.2", "-o", directory / "link")
	e2e.expect(done.returncode == 125 and done.stderr.startswith("monitor: "), f"a link as the directory: {done.returncode}: {done.stderr}")
	e2e.equal("files where the link leads", list(elsewhere.iterdir()), [])


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(files, directories)
