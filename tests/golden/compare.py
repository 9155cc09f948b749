#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what babeltrace2 and `monitor list --json` read from a trace: names, times in clock cycles, every field.

Called by ctest: compare.py MONITOR TRACE [--discards]. Exit code 77 (skipped) without babeltrace2. Without --discards
babeltrace2 must read the trace without any warning.
"""
import json
import re
import shutil
import subprocess
import sys

LINE = re.compile(r"\[(\d+)\] \(\+[?\d]+\) (.*?): \{ cpu_id = (\d+), level = (\d+), tid = \d+, process = \d+ \}, "
                  r"\{ mode = (\d) \}(?:, \{ (.*) \})?$")
FIELD = re.compile(r'(\w+) = (?:\( (?:"((?:[^"\\]|\\.)*)"|<unknown>) : container = (-?\d+) \)'
                   r'|"((?:[^"\\]|\\.)*)"|(0x[0-9A-F]+)|(-?\d+))(?:, |$)')
UNITS = {"\\": "\\", '"': '"', "n": "\n", "t": "\t"}


def unescape(text):
    return re.sub(r"\\(.)", lambda match: UNITS.get(match[1], match[0]), text)


def fields_of(text):
    fields, at = {}, 0
    while at < len(text):
        match = FIELD.match(text, at)
        if not match:
            sys.exit(f"cannot understand babeltrace2's fields: {text[at:]}")
        name, label, container, string, hexadecimal, decimal = match.groups()
        if container is not None:
            fields[name] = unescape(label) if label is not None else int(container)
        elif string is not None:
            fields[name] = unescape(string)
        else:
            fields[name] = int(hexadecimal, 16) if hexadecimal else int(decimal)
        at = match.end()
    return fields


def babeltrace(trace, discards):
    # the only field asked for is one that our events lack: else it prints the host before the name
    run = subprocess.run(["babeltrace2", "--clock-cycles", "--fields=loglevel", trace], capture_output=True, text=True, check=False)
    if run.returncode != 0 or (run.stderr and not discards):
        sys.exit(f"babeltrace2 is not content (exit code {run.returncode}):\n{run.stderr}")
    events = []
    for line in run.stdout.splitlines():
        match = LINE.match(line)
        if not match:
            sys.exit(f"cannot understand babeltrace2's line: {line}")
        ticks, name, cpu, level, mode, fields = match.groups()
        cpu = None if int(cpu) == 0xffffffff else int(cpu)
        events.append((int(ticks), name, cpu, int(level), "kernel" if mode == "1" else "user", fields_of(fields or "")))
    return events


def monitor(program, trace):
    run = subprocess.run([program, "list", trace, "--json"], capture_output=True, text=True, check=False)
    if run.returncode != 0 or run.stderr:
        sys.exit(f"monitor is not content (exit code {run.returncode}):\n{run.stderr}")
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    return [(e["ticks"], e["event"], e["cpu"], e["level"], e["mode"], e["fields"]) for e in lines]


def main():
    program, trace = sys.argv[1:3]
    if not shutil.which("babeltrace2"):
        print("skipped: babeltrace2 is not installed")
        sys.exit(77)
    theirs, ours = babeltrace(trace, "--discards" in sys.argv[3:]), monitor(program, trace)
    if len(theirs) != len(ours) or not ours:
        sys.exit(f"babeltrace2 reads {len(theirs)} events, monitor {len(ours)}")
    # babeltrace2 merges streams by whole nanoseconds: the order is compared within each stream
    by_stream = lambda event: (-1 if event[2] is None else event[2], event[3])
    for their, our in zip(sorted(theirs, key=by_stream), sorted(ours, key=by_stream)):
        if their != our:
            sys.exit(f"different events:\nbabeltrace2: {their}\nmonitor:     {our}")
    print(f"{len(ours)} events are the same")


main()
