#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a trigger's command gets: nothing that an event says is run or adds a variable, no descriptor of the recorder is
open in it, and for a user of sudo it runs as that user, without a capability."""
import os
import re

import e2e

MARK = e2e.work / "was-run"
NAMES = f"$(id>{MARK})", "a\nLD_PRELOAD=/x", "`id`;id", "x' ; id '", "\x1b[31m"
RENAMED = """for name; do printf %s "$name" > /proc/$$/comm; sleep 0.2; done"""
ACT = """#!/bin/sh
{ tr '\\n\\0' ' \\n' < /proc/self/environ; ls -l /proc/$$/fd; grep -E '^(Uid|CapEff)' /proc/$$/status; } > "$1/$$"
"""


def commands_of(name, **environment):
	folder = e2e.work / name
	folder.mkdir()
	for path in (e2e.work, folder):
		path.chmod(0o777)
	script = e2e.work / "act"
	script.write_text(ACT)
	script.chmod(0o755)
	trace = e2e.record(name + "_trace", "-p", "cmd", "--trigger", f"renamed: name == \"task_rename\" => run '{script} {folder}' 600 per minute",
	                   command=("sh", "-c", RENAMED, "sh", *NAMES), env={**os.environ, **environment})
	texts = [path.read_text(errors="replace") for path in folder.iterdir()]
	e2e.expect(len(texts) >= len(NAMES), f"{name}: {len(texts)} commands ran: {trace.errors}")
	e2e.expect(not MARK.exists(), f"{name}: a name was run")
	for text in texts:
		e2e.expect("MONITOR_EVENT=task_rename" in text, f"{name}: it is not told the event")
		e2e.equal(f"{name}: variables that a name added", re.findall(r"^LD_.*", text, re.M), [])
		e2e.equal(f"{name}: descriptors of the recorder", re.findall(r"-> .*(?:anon_inode|bpf|memfd|kernel_cpu|metadata).*", text), [])
	return texts


def of_root():
	for text in commands_of("root"):
		e2e.equal("the user", re.findall(r"^Uid:\s+(\d+)", text, re.M), ["0"])


def of_a_user():
	if not e2e.others_may_enter("a trigger's command of a user"):
		return
	for text in commands_of("user", SUDO_UID="65534", SUDO_GID="65534"):
		e2e.equal("the users, effective and saved, too", re.findall(r"^Uid:(.*)", text, re.M)[0].split(), ["65534"] * 4)
		e2e.equal("capabilities", re.findall(r"^CapEff:\s+(\w+)", text, re.M), ["0" * 16])


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(of_root, of_a_user)
