#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs POET into a prefix of its own, compiles the programs of examples/poet against it by pkg-config and by
find_package, and compares Documentation/poet.md with them: its ```cpp blocks stand in a program, its ```console blocks
are what the programs print. Each header compiles alone; the library shows nothing but poet.
Called by ctest: installed.py SOURCE BUILD MAKE_GOLDEN COMPILER WORK"""

import os
import re
import shutil
import subprocess
import sys

PROGRAMS = ("count", "latency", "last_error", "per_cpu")
STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
BLOCK = re.compile(r"^```(cpp|console)\n(.*?)^```$", re.M | re.S)


class Failed(Exception):
	pass


def run(command, **options):
	ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=250, **options)
	if ran.returncode != 0:
		raise Failed(f"{' '.join(map(str, command))} ended with {ran.returncode}:\n{ran.stdout}")
	return ran.stdout


def find(top, name):
	for directory, _, files in os.walk(top):
		if name in files:
			return os.path.join(directory, name)
	raise Failed(f"{name} was not installed")


def install(build, work):
	"""Installs into one prefix and moves it: the packages must not depend on where they were installed."""
	run(["cmake", "--install", build, "--prefix", f"{work}/installed", "--component", "poet"])
	prefix = f"{work}/prefix"
	os.rename(f"{work}/installed", prefix)
	return prefix


def build_by_pkg_config(source, prefix, compiler, work):
	environment = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(find(prefix, "poet.pc")))
	flags = run(["pkg-config", "--cflags", "--libs", "poet"], env=environment).split()
	made = f"{work}/by_pkg_config"
	os.mkdir(made)
	for program in PROGRAMS:
		run([compiler, *STRICT, f"{source}/examples/poet/{program}.cpp", "-o", f"{made}/{program}", *flags])
	return made


def build_by_cmake(source, prefix, compiler, work):
	made = f"{work}/by_cmake"
	run(["cmake", "-S", f"{source}/examples/poet", "-B", made, f"-DCMAKE_PREFIX_PATH={prefix}",
	     f"-DCMAKE_CXX_COMPILER={compiler}"])
	run(["cmake", "--build", made])
	return made


def check_headers(prefix, compiler):
	include = os.path.dirname(os.path.dirname(find(prefix, "poet.hpp")))
	clang = shutil.which("clang++")
	for header in sorted(os.listdir(f"{include}/poet")):
		with open(f"{include}/poet/{header}", encoding="utf-8") as file:
			foreign = re.findall(r'^#include (?:<[^>]*[/.][^>]*>|"[^"]*/[^"]*")', file.read(), re.M)
		if foreign:
			raise Failed(f"{header} includes {foreign}")
		for each in [compiler] + [clang] * (header == "poet.hpp" and clang is not None):  # the one that includes all
			run([each, *STRICT, "-fsyntax-only", "-x", "c++", f"-I{include}", "-include", f"poet/{header}",
			     "/dev/null"])


def check_symbols(prefix):
	shown = run(["nm", "-DC", "--defined-only", os.path.realpath(find(prefix, "libpoet.so"))])
	others = [line for line in shown.splitlines() if " poet::" not in line and " for poet::" not in line]
	if others:
		raise Failed("libpoet.so shows " + "\n".join(others))


def check_page(source, programs, traces, environment):
	with open(f"{source}/Documentation/poet.md", encoding="utf-8") as file:
		blocks = BLOCK.findall(file.read())
	texts = []
	for program in PROGRAMS:
		with open(f"{source}/examples/poet/{program}.cpp", encoding="utf-8") as file:
			texts.append(file.read())
	ran = set()
	for kind, block in blocks:
		if kind == "cpp":
			if not any(block in text for text in texts):
				raise Failed(f"the page shows what stands in no program:\n{block}")
			continue
		printed = ""
		for command in re.findall(r"^\$ (.*)$", block, re.M):
			ran.add(command.split()[0])
			printed += f"$ {command}\n" + run(["bash", "-c", command], cwd=traces, env=dict(
				environment, PATH=programs + os.pathsep + os.environ["PATH"]))
		if printed != block:
			raise Failed(f"the page shows\n{block}\nand the programs of {programs} print\n{printed}")
	if ran != set(PROGRAMS):
		raise Failed(f"the page runs {sorted(ran)} only")


def check_errors(programs, environment):
	for program, arguments in (("count", ["nowhere"]), ("last_error", [".", "arg ==", "1"])):
		ran = subprocess.run([f"{programs}/{program}", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
				     text=True, env=environment, check=False)
		if ran.returncode != 1 or not ran.stderr.startswith(f"{program}: "):
			raise Failed(f"{program} {arguments} ends with {ran.returncode} and says: {ran.stderr}")


def main(source, build, make_golden, compiler, work):
	for tool in ("cmake", "pkg-config", "nm"):
		if not shutil.which(tool):
			print(f"{tool} is not installed")
			return 77
	shutil.rmtree(work, ignore_errors=True)
	os.makedirs(work)
	traces = f"{work}/traces"
	run([make_golden, traces, f"{source}/tests/golden/metadata.events"])
	prefix = install(build, work)
	environment = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(find(prefix, "libpoet.so")), TZ="UTC")
	check_headers(prefix, compiler)
	check_symbols(prefix)
	for programs in (build_by_pkg_config(source, prefix, compiler, work),
			 build_by_cmake(source, prefix, compiler, work)):
		check_page(source, programs, traces, environment)
		check_errors(programs, environment)
	print("the programs do what the page says, built by pkg-config and by CMake")
	return 0


if __name__ == "__main__":
	try:
		sys.exit(main(*sys.argv[1:]))
	except Failed as failure:
		print(failure)
		sys.exit(1)
