#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""near_tests.py NAME PROGRAM: of unit_tests or record_tests, the files that include what the mutation NAME changes, or the header
beside it, as tags of Catch2 (--filenames-as-tags): most mutations are noticed there, in a part of the time. Called by `run`."""
import pathlib
import re
import sys

here = pathlib.Path(__file__).resolve().parent
FOLDERS = {"unit_tests": here.parent / "unit", "record_tests": here.parent / "record"}


def including(name, folder):
	"""Files of tests that include it themselves, or by a header beside them."""
	texts = {path: path.read_text(encoding="utf-8") for path in [*folder.glob("*.cpp"), *folder.glob("*.h")]}
	wanted, found = {name}, set()
	while wanted - found:
		include = wanted.difference(found).pop()
		found.add(include)
		wanted |= {path.name for path, text in texts.items() if f'"{include}"' in text}
	return {pathlib.Path(name).stem for name in found if name.startswith("test_") and name.endswith(".cpp")}


def main(name, program):
	patch = (here / f"{name}.patch").read_text(encoding="utf-8")
	changed = [pathlib.PurePath(file) for file in re.findall(r"^\+\+\+ b/userspace/(\S+)", patch, re.M)]
	near = set().union(*(including(str(file.with_suffix(".h")), FOLDERS[program]) for file in changed))
	print(",".join(f"[#{stem}]~[.long]" for stem in sorted(near)))


main(*sys.argv[1:])
