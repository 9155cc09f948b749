#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""link_mutant.py NAME PROGRAM OUTPUT: PROGRAM of the quick build in build/ with the mutation NAME in it, as OUTPUT. Called by `run`.

Only the mutated files are compiled, each by itself, and linked before the build's own objects; the linker takes the first
definition of a function. The files stay as they are: clang is told to read others in their places. What the build has inlined
elsewhere is not replaced, so a mutant that survives like this may be noticed in a build of its own. Exits with 3 where this cannot
be done: the build is another one or not up to date, or a header is mutated that no source includes."""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
source, build = here.parents[1], here.parents[1] / "build"


def cannot(why):
	print(f"cannot be linked again: {why}")
	sys.exit(3)


def ninja(*arguments):
	return subprocess.run(["ninja", "-C", build, *arguments], capture_output=True, text=True, check=True).stdout


def including(header):
	"""The sources that include it themselves."""
	names = "|".join(map(re.escape, (str(header.relative_to(source / "userspace")), header.name)))
	found = subprocess.run(["grep", "-rlE", f'#include "({names})"', "--include=*.cpp", source / "userspace"], capture_output=True, text=True, check=False)
	return found.stdout.split()


def command_for(file, commands):
	"""By which it is compiled, by itself or with others."""
	if file in commands:
		return commands[file]
	for unit, command in commands.items():
		if "/Unity/" in unit and f'"{file}"' in pathlib.Path(unit).read_text(encoding="utf-8"):
			return command
	return cannot(f"nothing compiles {file}")


def main(name, program, output):
	cache = build / "CMakeCache.txt"
	if not cache.exists() or "MONITOR_QUICK:BOOL=ON" not in cache.read_text(encoding="utf-8") or "no work to do" not in ninja("-n", program):
		cannot("build/ is no quick build, or not up to date")
	patch = here / f"{name}.patch"
	files = [source / file for file in re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(encoding="utf-8"), re.M)]
	commands = {entry["file"]: entry["command"] for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))}
	with tempfile.TemporaryDirectory() as mutated:
		for file in files:
			copy = mutated / file.relative_to(source)
			copy.parent.mkdir(parents=True, exist_ok=True)
			copy.write_bytes(file.read_bytes())
		subprocess.run(["patch", "-d", mutated, "-p1", "-s", "-F1", "-i", patch], check=True)
		instead = pathlib.Path(mutated) / "instead.yaml"
		instead.write_text(json.dumps({"version": 0, "roots": [
		    {"type": "file", "name": str(file), "external-contents": str(mutated / file.relative_to(source))} for file in files]}), encoding="utf-8")
		sources = dict.fromkeys(one for file in files for one in ([str(file)] if file.suffix == ".cpp" else including(file)))
		objects = []
		for number, file in enumerate(sources):
			words = shlex.split(command_for(file, commands))
			objects.append(f"{mutated}/{number}.o")
			words[words.index("-o") + 1], words[words.index("-c") + 1] = objects[-1], file
			subprocess.run([*words, "-ivfsoverlay", instead, "-Wno-unused"], cwd=build, check=True)
		if not objects:
			cannot("no source includes what is mutated")
		words = shlex.split(re.sub(r"^: && | && :$", "", ninja("-t", "commands", program).splitlines()[-1]))
		words[words.index("-o") + 1] = output
		subprocess.run([words[0], *objects, "-Wl,-z,muldefs", *words[1:]], cwd=build, check=True)


if __name__ == "__main__":
	main(*sys.argv[1:])
