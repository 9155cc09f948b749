#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a report reads of recorded programs' own files takes a bounded amount of memory in all: three programs whose debug
information expands a thousandfold, in the program or in files that it names, a jitdump with one long name and many moves.
An attack by files that expand.
"""
import struct
import subprocess
import zlib

import e2e
from forged_numbers import peak

SPIN = "int dummy_%d; int main(void) { for (volatile unsigned long i = 0; i < 150000000ul; i++); return 0; }\n"
# It runs code that it made itself, and maps the jitdump that says so.
JIT = r"""
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
struct head { uint32_t magic, version, total, mach, pad, pid; uint64_t time, flags; };
struct record { uint32_t id, total; uint64_t time; };
struct load { uint32_t pid, tid; uint64_t vma, address, size, index; };
struct move { uint32_t pid, tid; uint64_t vma, from, to, size, index; };
int main(void)
{
	const unsigned name = 8u << 20, moves = 2000;
	char path[64];
	snprintf(path, sizeof path, "jit-%d.dump", getpid());
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	FILE *file = fdopen(dup(fd), "w");
	uint8_t *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t at = (uint64_t)code;
	const struct head head = {0x4A695444, 1, sizeof head, 62, 0, getpid(), 0, 0};
	const struct record first = {0, sizeof first + sizeof(struct load) + name, 1};
	const struct load load = {getpid(), getpid(), at, at, 64, 1};
	fwrite(&head, sizeof head, 1, file);
	fwrite(&first, sizeof first, 1, file);
	fwrite(&load, sizeof load, 1, file);
	for (unsigned i = 0; i < name - 1; i++)
		fputc('x', file);
	fputc(0, file);
	for (unsigned i = 0; i < moves; i++) {
		const struct record record = {1, sizeof record + sizeof(struct move), 2 + i};
		const struct move move = {getpid(), getpid(), at, at, at, 64, 1};
		fwrite(&record, sizeof record, 1, file);
		fwrite(&move, sizeof move, 1, file);
	}
	fclose(file);
	mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	const uint8_t text[] = {0xb9, 0, 0, 0, 0x20, 0xff, 0xc9, 0x75, 0xfc, 0xc3}; // counts down from 2^29
	memcpy(code, text, sizeof text);
	((void (*)(void))code)();
	return 0;
}
"""


def expanding(path, megabytes):
	"""The program's sections of debug information compressed, with zeros after what they hold."""
	bytes_ = bytearray(path.read_bytes())
	first, = struct.unpack_from("<Q", bytes_, 0x28)
	number, names_at = struct.unpack_from("<HH", bytes_, 0x3c)
	sections = [list(struct.unpack_from("<IIQQQQIIQQ", bytes_, first + 64 * i)) for i in range(number)]
	names = bytes(bytes_[sections[names_at][4]:sections[names_at][4] + sections[names_at][5]])
	for section in sections:
		name = names[section[0]:names.index(0, section[0])]
		if name.removesuffix(b".dwo") not in (b".debug_str", b".debug_info", b".debug_line"):
			continue
		raw = bytes(bytes_[section[4]:section[4] + section[5]])
		packer = zlib.compressobj(1)
		zeros = bytes(1 << 20)
		packed = packer.compress(raw) + b"".join(packer.compress(zeros) for _ in range(megabytes)) + packer.flush()
		head = struct.pack("<IIQQ", 1, 0, len(raw) + (megabytes << 20), 1)
		bytes_ += bytes(-len(bytes_) % 16)
		section[2] |= 0x800
		section[4], section[5] = len(bytes_), len(head) + len(packed)
		bytes_ += head + packed
	for i, section in enumerate(sections):
		struct.pack_into("<IIQQQQIIQQ", bytes_, first + 64 * i, *section)
	path.write_bytes(bytes_)


def report(trace):
	most, errors, code = peak(e2e.monitor, "report", trace.directory, "stacks")
	e2e.expect(most < 1000, f"a report of stacks takes {most:.0f} MB")
	e2e.equal("exit code", code, 0)
	return errors


def debug_information():
	for name, options, expands, says in (("whole", (), "spin{}", "takes too much memory"), ("split", ("-gsplit-dwarf",), "spin{}.dwo", "spin0.dwo")):
		errors = report(expanding_programs(name, options, expands))
		e2e.expect("spin0" in errors and says in errors, f"{name}: what is left out is not said: {errors}")


def expanding_programs(name, options, expands):
	"""Programs that were compiled with these options, and of which these files expand."""
	programs = []
	for i in range(3):
		source = e2e.work / f"spin{i}.c"
		source.write_text(SPIN % i)
		programs.append(e2e.work / f"spin{i}")
		subprocess.run(["gcc", "-g", "-O0", *options, "-c", source], check=True, cwd=e2e.work)
		subprocess.run(["gcc", "-Wl,--build-id", "-o", programs[-1], f"{programs[-1]}.o"], check=True)
		expanding(e2e.work / expands.format(i), 900)
	return e2e.record(name, "--stacks=cpu", "-e", "sched", command=("sh", "-c", "; ".join(map(str, programs))))


def jitdump():
	source = e2e.work / "jit.c"
	source.write_text(JIT)
	subprocess.run(["gcc", "-O1", "-o", e2e.work / "jit", source], check=True)
	trace = e2e.record("jitdump", "--stacks=cpu", "-e", "sched", command=(e2e.work / "jit",), cwd=e2e.work)
	report(trace)
	text = e2e.run(e2e.monitor, "report", trace.directory, "stacks").stdout
	e2e.expect("xxxxxxxx" in text, f"its code has no name: {text[:500]}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.need_program("gcc")
	e2e.main(debug_information, jitdump)
