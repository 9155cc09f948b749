#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every source file compiles by itself, without what others of a unity build (CMAKE_UNITY_BUILD) include ahead of it.

Called by hand, two minutes: tests/style/alone.py [BUILD]. BUILD (default: build) has the generated headers; the commands are
kept in BUILD/alone.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

source = pathlib.Path(__file__).resolve().parents[2]
build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else source / "build").resolve()
work = build / "alone"
configured = subprocess.run(["cmake", "-S", source, "-B", work, "-G", "Ninja", "-DBUILD_TESTING=OFF", "-DCMAKE_UNITY_BUILD=OFF"],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
if configured.returncode:
    sys.exit(configured.stdout)


def compiles(entry):
    command = entry["command"].replace(f"{work}/generated", f"{build}/generated") + " -fsyntax-only"
    return subprocess.run(command, shell=True, cwd=work).returncode == 0


entries = json.loads((work / "compile_commands.json").read_text())
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
    wrong = list(workers.map(compiles, entries)).count(False)
print(f"{len(entries)} files one by one, {wrong} do not compile")
sys.exit(wrong != 0 or not entries)
