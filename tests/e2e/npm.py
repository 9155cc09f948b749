# SPDX-License-Identifier: MIT
"""Packages of npm that only tests use: other tools' own judges of what we write. Downloaded once, beside the tests' work."""
import hashlib
import shutil
import subprocess

import e2e


def package(name, sha256):
	"""The directory of NAME@VERSION; `sha256` is of the file that npm has."""
	store = e2e.work.parent / "npm" / name.replace("/", "+")
	if not (store / "package").exists():
		e2e.need_program("npm")
		shutil.rmtree(store, ignore_errors=True)
		store.mkdir(parents=True)
		done = subprocess.run(["npm", "pack", "--loglevel=error", "--fetch-retries=0", "--fetch-timeout=60000", name], cwd=store,
		                      capture_output=True, text=True, check=False)
		if done.returncode != 0:
			e2e.skip(f"npm cannot get {name}: {done.stderr.partition(chr(10))[0]}")
		file = store / done.stdout.strip().splitlines()[-1]
		if hashlib.sha256(file.read_bytes()).hexdigest() != sha256:
			raise ValueError(f"{file} is not the {name} that this test knows")
		subprocess.run(["tar", "xzf", file], cwd=store, check=True)
	return store / "package"
