#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of code that nobody finds by its path: a library that was removed (netty pull request 6118, jemalloc issue 2519), a
program in memory or in another mount namespace (blazesym pull request 121), one that was replaced; a path that is no UTF-8;
Rust's names in both encodings (backtrace-rs pull request 553); code made in a container (bcc issue 548)."""
import json
import os
import pathlib
import shutil

import e2e


def program(name, *options, path=None):
	path = path or os.fsencode(e2e.work / name)
	e2e.run("gcc", "-O1", "-g", "-Wl,--build-id", pathlib.Path(__file__).with_name("code_names.c"), "-o", e2e.work / "built", *options, "-ldl")
	os.makedirs(os.path.dirname(path), exist_ok=True)
	shutil.move(e2e.work / "built", path)
	return os.fsdecode(path)


def expect_named(trace, function, least=0.75):
	folded = e2e.run(e2e.reader, "report", trace.directory, "stacks", "--command", "--folded").stdout.splitlines()
	samples = sum(int(line.rsplit(" ", 1)[1]) for line in folded)
	named = sum(int(line.rsplit(" ", 1)[1]) for line in folded if function in line)
	e2e.expect(samples > 100 and named >= least * samples, f"{trace.directory.name}: {named} of {samples} samples in {function}: {folded[:5]}")


def record(name, *command):
	return e2e.record(name, "--stacks=cpu", "--rate", "997", command=command)


def unlinked():
	library = program("removed.so", "-shared", "-fPIC", "-DLIBRARY", "-DNAME=spin_in_library")
	expect_named(record("unlinked", program("unlinker"), "unlinked", library), "spin_in_library")


def in_memory():
	expect_named(record("memory", program("memory_runner", "-DNAME=spin_in_memory"), "memory"), "spin_in_memory")


def in_another_mount():
	inside = program("private", "-DNAME=spin_in_private_mount")
	place = e2e.work / "place"
	place.mkdir()
	expect_named(record("mounted", *e2e.own_mounts(), "sh", "-c",
	                    f"mount -t tmpfs none {place} && cp {inside} {place}/only && {place}/only"), "spin_in_private_mount")


def replaced():
	old, new = program("replaced", "-DNAME=spin_in_old"), program("new", "-DNAME=spin_in_new")
	expect_named(record("replacing", "sh", "-c", f"{old} & sleep 0.2; mv {new} {old}; wait"), "spin_in_old")


def no_utf8():
	path = program("", "-DNAME=spin_at_bytes", path=os.fsencode(e2e.work) + b"/\xff\xfe/prog")
	script = e2e.work / "script"
	script.write_bytes(b"'" + os.fsencode(path) + b"'\n")
	trace = record("bytes", "sh", script)
	expect_named(trace, "spin_at_bytes")
	listed = [json.loads(line) for line in (trace.directory / ".monitor" / "files").read_text().splitlines()]
	number = next(file["file"] for file in listed if bytes.fromhex(file.get("path_bytes", "")) == os.fsencode(path))
	e2e.expect(not (trace.directory / ".monitor" / "code" / str(number)).exists(), "it is found by its path, not by a copy")


def of_rust():
	for name, mangled, plain in (("v0", "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"),
	                             ("legacy", "_ZN7mycrate3foo3bar17h05af221e174051e9E", "mycrate::foo::bar")):
		rust = program(f"rust_{name}", f'-DMANGLED="{mangled}"')
		trace = e2e.record(name, "-p", "cmd", "--stacks=cpu", "--functions", "mycrate::foo::*", command=(rust,))
		expect_named(trace, plain)
		e2e.equal(f"{name}: calls", {row["activity"]: row["count"] for row in trace.rows("activities")}, {plain: 1})


def made_in_container():
	trace = record("made", "unshare", "-p", "-f", "--mount-proc", program("maker"), "made")
	try:
		expect_named(trace, "made at run time")
	finally:
		pathlib.Path(trace.output.strip()).unlink(missing_ok=True)
	tmp = e2e.work / "tmp"
	tmp.mkdir()
	trace = record("hidden", *e2e.own_mounts(), "-p", "-f", "--mount-proc", "sh", "-c", f"mount --bind {tmp} /tmp; exec {program('maker')} made")
	done = e2e.run(e2e.reader, "report", trace.directory, "stacks", "--command")
	e2e.expect(trace.output.strip() in done.stdout + done.stderr, f"it is not said that {trace.output.strip()} is missing: {done.stderr}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(unlinked, in_memory, in_another_mount, replaced, no_utf8, of_rust, made_in_container)
