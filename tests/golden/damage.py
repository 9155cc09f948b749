#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`monitor list` on damaged traces: it ends soon, with exit code 0 or 1, and says what is wrong.

Called by ctest: damage.py MAKE_GOLDEN EVENTS MONITOR WORK_DIRECTORY FLIPS. Cuts stream and description short at many places and
flips bits at FLIPS places (always the same ones). The unit tests do the same at every byte, in one process.
"""
import pathlib
import random
import shutil
import subprocess
import sys

CUT_EVERY = 32


def check(monitor, trace, what):
    try:
        run = subprocess.run([monitor, "list", trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        sys.exit(f"{what}: monitor hangs")
    errors = run.stderr.decode()
    said = [line for line in errors.splitlines() if not line.endswith((" is a trace without events", " is unknown and ignored"))]
    complains = bool(said)
    if run.returncode not in (0, 1) or (run.returncode == 1) != complains or "Sanitizer" in errors:
        sys.exit(f"{what}: exit code {run.returncode}\n{errors}")
    return run.returncode


def main():
    make_golden, events, monitor, work, flips = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    subprocess.run([make_golden, work, events], check=True)
    trace = pathlib.Path(work) / "one"
    files = {path: path.read_bytes() for path in (trace / "cpu0_level0", trace / "metadata")}
    content_size = 96 + 450  # after it a flip hits nothing
    runs = complaints = 0

    for path, whole in files.items():
        for size in range(0, len(whole), CUT_EVERY):
            path.write_bytes(whole[:size])
            complaints += check(monitor, trace, f"{path.name} cut to {size} bytes")
            runs += 1
        path.write_bytes(whole)

    numbers = random.Random(4711)
    for flip in range(int(flips)):
        path, whole = numbers.choice(list(files.items()))
        bent = bytearray(whole)
        bit = numbers.randrange(min(len(whole), content_size if path.name != "metadata" else len(whole)) * 8)
        bent[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bent)
        complaints += check(monitor, trace, f"{path.name} with bit {bit} flipped")
        runs += 1
        path.write_bytes(whole)
    print(f"{runs} damaged traces, {complaints} complaints, no crash")


main()
