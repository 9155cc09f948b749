#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The arrows of the design: what each folder may include. The record side and the offline side meet only in
include/monitor; that is plain C without any other include than <linux/types.h> and <linux/ioctl.h>. Needs no privilege.

structure.py MONITOR PROGRAMS WORK SOURCE_DIRECTORY
"""
import pathlib
import re
import shutil
import subprocess
import sys

import e2e

SOURCE = pathlib.Path(sys.argv[4])
RECORD, OFFLINE = {"card", "pmu", "record"}, {"trace", "filter", "poet", "analyze", "activities", "statistics", "collection", "rules", "report",
                                                "query"}
MAY = {"base": set(), "card": {"base"}, "pmu": {"base"}, "record": {"base", "card", "pmu"}, "trace": {"base"},
       "filter": {"base", "trace"},
       "poet": {"base", "trace", "filter"}, "analyze": {"base", "trace"},
       "activities": {"base", "trace", "filter", "analyze"}, "statistics": {"base", "trace", "filter", "activities"},
       "collection": {"base", "trace", "filter", "activities", "statistics"},
       "rules": {"base", "trace", "filter", "activities"}, "report": {"base", "trace", "analyze", "activities", "statistics"},
       "query": {"base", "trace", "filter", "analyze", "activities"}}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
RECORD_LIBRARIES = re.compile(r"^(bpf/|linux/bpf|perfmon/|.*\.skel\.h$)")


def includes(path):
	return INCLUDE.findall(path.read_text(encoding="utf-8"))


def sources(folder):
	return [path for path in sorted((SOURCE / folder).rglob("*")) if path.suffix in (".h", ".c", ".cpp", ".hpp")]


def arrows():
	seen = 0
	for folder, may in MAY.items():
		for path in sources(f"userspace/{folder}"):
			for quote, name in includes(path):
				seen += 1
				first = name.split("/")[0]
				crosses = quote == '"' and "/" in name and first in MAY
				wrong = crosses and first != folder and first not in may
				wrong = wrong or (quote == '"' and ".." in name.split("/"))
				wrong = wrong or (folder in OFFLINE and RECORD_LIBRARIES.match(name))
				e2e.expect(not wrong, f"{path.relative_to(SOURCE)} includes {name}")
	e2e.expect(seen > 300, f"only {seen} includes were looked at")
	for folder in ("bpf", "kmod", "include"):
		for path in sources(folder):
			for quote, name in includes(path):
				of_kernel = folder == "kmod" and quote == "<"  # it has a folder trace/ too
				e2e.expect(of_kernel or (name.split("/")[0] not in MAY and "userspace" not in name),
				           f"{path.relative_to(SOURCE)} includes {name}")


def linked():
	"""The targets' arrows: no offline target links a record one."""
	for folder in OFFLINE:
		for path in (SOURCE / "userspace" / folder).glob("*.cmake"):
			words = re.findall(r"monitor_(\w+)|bpf", re.sub(r"#.*", "", path.read_text(encoding="utf-8")))
			e2e.expect(not set(words) & RECORD, f"{path.relative_to(SOURCE)} names {set(words) & RECORD}")


def shared_headers_are_plain_c():
	headers = [path for path in sources("include/monitor") if not path.name.startswith("edc")]  # the public ones
	e2e.expect(len(headers) >= 3, "the shared headers are missing")
	for path in headers:
		for quote, name in includes(path):
			e2e.expect(name in ("linux/types.h", "linux/ioctl.h") or (quote == '"' and (path.parent / name).exists()),
			           f"{path.relative_to(SOURCE)} includes {name}")
		for program, standard, language in (("cc", "c11", "c"), ("c++", "c++17", "c++"), ("c++", "c++20", "c++")):
			e2e.run(program, f"-std={standard}", "-x", language, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
			        "-Wno-long-long", "-fsyntax-only", f"-I{SOURCE / 'include'}", path)


def public_header():
	"""The user card in a program of every language, standard and kind: no warning, and it runs."""
	source, program = SOURCE / "tests" / "e2e" / "user_header.c", e2e.work / "header"
	found = [pair for pair in (("gcc", "g++"), ("clang", "clang++")) if shutil.which(pair[0])]
	for compiler in found:
		for standard, language in (("c11", "c"), ("c17", "c"), ("gnu11", "c"), ("c++17", "c++"), ("c++20", "c++")):
			for more in ((), ("-static",), ("-fPIE", "-pie"), ("-O0",), ("-DEDC_DISABLE",)):
				e2e.run(compiler[language == "c++"], f"-std={standard}", "-x", language, "-O2", "-Wall", "-Wextra", "-Wpedantic",
				        "-Wconversion", "-Werror", *more, f"-I{SOURCE / 'include'}", source, "-o", program)
				e2e.run(program)
		eight = ", ".join(f"(u64, {name})" for name in "abcdefgh")
		for language, macro, wrong in (
				("c", "WRONG", "edc_data(listed, 1, 2)"), ("c", "WRONG", "edc(seven, 1)"),
				("c++", "WRONG", "edc_data(listed, 1, 2)"), ("c++", "WRONG", "edc_data(long_one, 1, 2)"),
				("c++", "WRONG", "edc(long_one, 1)"), ("c++", "WRONG", "edc_data(short_one, 1, 2)"),
				("c", "WRONG", 'edc_data(texts, 1, EDC_TEXT8("a"), EDC_TEXT40("b"))'),
				("c++", "WRONG", 'edc_data(short_text, 1, EDC_TEXT16("a"), 1)'),
				("c", "WRONG_CLASS", "EDC_EVENT_FIELDS(large, (str32, a), (str32, b))"),
				("c++", "WRONG_CLASS", 'EDC_EVENT(large, "str48 a; str16 b")'),
				("c", "WRONG_CLASS", f"EDC_EVENT_FIELDS(large, {eight})"),
				("c++", "WRONG_CLASS", 'EDC_EVENT(large, "u64 a;u64 b;u64 c;u64 d;u64 e;u64 f;u64 g;u64 h")')):
			refused = subprocess.run([compiler[language == "c++"], f"-std={'c11' if language == 'c' else 'c++17'}", "-x", language,
			                          f"-I{SOURCE / 'include'}", f"-D{macro}={wrong}", "-fsyntax-only", source],
			                         capture_output=True, text=True, check=False)
			event = wrong.split("(")[1].split(",")[0]
			e2e.expect(refused.returncode != 0 and f"the event {event}" in refused.stderr.replace('" "', ""),
			           f"{compiler[0]} compiles {wrong}, or does not name the event: {refused.stderr[:300]}")
	print(f"compiled by {', '.join(pair[0] for pair in found)}")


if __name__ == "__main__":
	e2e.main(arrows, linked, shared_headers_are_plain_c, public_header)
