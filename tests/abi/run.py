#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles layout.c in every mode that include/monitor is used in and compares what the compilers make of it.

Called by ctest: run.py INCLUDE_DIRECTORY WORK_DIRECTORY. A compiler that is not installed is named and left out; with
fewer than two modes there is nothing to compare (exit code 77). One that does not compile the headers is a failure.
"""
import pathlib
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
MODES = {
    "gcc C11": ["gcc", "-std=c11"],
    "clang C11": ["clang", "-std=c11"],
    "g++ C++17": ["g++", "-x", "c++", "-std=c++17"],
    "g++ C++20": ["g++", "-x", "c++", "-std=c++20"],
    "clang++ C++17": ["clang++", "-x", "c++", "-std=c++17"],
    "clang++ C++20": ["clang++", "-x", "c++", "-std=c++20"],
}


def compile_layout(command, target):
    run = subprocess.run(command + WARNINGS + [str(HERE / "layout.c"), "-o", str(target)], capture_output=True, text=True,
                         check=False)
    return None if run.returncode == 0 else run.stderr


def section(path, name):
    """The bytes of a section of a 64-bit little-endian ELF file."""
    data = path.read_bytes()
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", data, 0x3a)
    headers = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    names = headers[names_index][4]
    for header in headers:
        begin = names + header[0]
        if data[begin:data.index(b"\0", begin)].decode() == name:
            return data[header[4]:header[4] + header[5]]
    sys.exit(f"{path.name} has no section {name}")


def bpf_numbers(include, work):
    if not shutil.which("clang"):
        return None
    gcc = shutil.which("gcc")
    multiarch = gcc and subprocess.run([gcc, "-print-multiarch"], capture_output=True, text=True, check=False).stdout.strip()
    command = ["clang", "-target", "bpf", "-O2", "-g", "-c", "-I", include]
    command += ["-idirafter", f"/usr/include/{multiarch}"] if multiarch else []
    errors = compile_layout(command, work / "bpf.o")
    if errors:
        sys.exit(f"BPF: the shared headers do not compile:\n{errors}")
    data = section(work / "bpf.o", "abi_layout")
    return list(struct.unpack(f"<{len(data) // 8}Q", data))


def main():
    include, work = sys.argv[1], pathlib.Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    outputs = {}
    for mode, command in MODES.items():
        target = work / mode.replace(" ", "_")
        if not shutil.which(command[0]):
            print(f"left out: {mode} ({command[0]} is not installed)")
            continue
        errors = compile_layout(command + ["-I", include], target)
        if errors:
            sys.exit(f"{mode}: the shared headers do not compile:\n{errors}")
        outputs[mode] = subprocess.run([str(target)], capture_output=True, text=True, check=True).stdout.splitlines()

    if len(outputs) < 2:
        print("skipped: fewer than two compilers")
        sys.exit(77)
    (first, expected), *others = outputs.items()
    for mode, lines in others:
        for ours, theirs in zip(expected, lines, strict=True):
            if ours != theirs:
                sys.exit(f"{first}: {ours}\n{mode}: {theirs}")
    numbers = bpf_numbers(include, work)
    if numbers is None:
        print("left out: BPF (clang is not installed)")
    else:
        outputs["BPF"] = None
        for line, number in zip(expected, numbers):
            if int(line.rsplit(" = ", 1)[1]) != number:
                sys.exit(f"{first}: {line}\nBPF: {number}")
        if len(numbers) != len(expected) - 4:  # the four lines that call functions
            sys.exit("BPF: the list has another length")
    print(f"{len(expected)} numbers are the same for {', '.join(outputs)}")


main()
