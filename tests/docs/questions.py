#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Documentation/questions.md is what `monitor help WORD ...` prints, and every command in it and in README.md exists: its
verb, and each of its options. README.md stays short.
Called by ctest: questions.py MONITOR SOURCE_DIRECTORY"""

import functools
import pathlib
import re
import subprocess
import sys

MONITOR, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
MAX_WORDS = 700  # of README.md
errors = []


def expect(holds, sentence):
	if not holds:
		errors.append(sentence)


def run(*words):
	return subprocess.run([MONITOR, *words], capture_output=True, text=True, check=False)


def rows(page):
	"""The cells of all rows of its tables, without the heads."""
	found = [line.strip("|").split(" | ") for line in page.splitlines() if line.startswith("| ")]
	return [[cell.strip() for cell in cells] for cells in found if cells[0].strip() not in ("to find out", "question")]


def plain(cell):
	"""As a terminal shows it."""
	return re.sub(r" ?\(\[[^]]*\]\([^)]*\)\)", "", cell).replace("`", "").strip()


@functools.lru_cache(maxsize=None)
def help_of(*command):
	return run(*command, "--help-all" if command else "--help").stdout


def verbs():
	return set(re.findall(r"^  ([a-z]+) ", help_of(), re.M))


def commands_exist(name, page):
	"""Returns how many were looked at."""
	seen = 0
	for code in re.findall(r"`([^`\n]+)`", page) + re.findall(r"^    (sudo monitor [^\n]+|monitor [^\n]+)$", page, re.M):
		if not (found := re.match(r"(?:sudo )?monitor ([a-z]+)(.*)", code)):
			continue
		seen += 1
		verb, rest = found[1], re.split(r" -- |  +#", found[2])[0]
		expect(verb in verbs() or verb == "help", f"{name}: `{code}`: there is no command {verb}")
		sub = re.match(r" ([a-z]+)", rest) if verb in ("fleet", "archive") else None
		known = help_of(verb, sub[1]) if sub else help_of(verb)
		if "left out of this build" in known or "this build has no" in known:
			continue
		for option in re.findall(r"(?<!\S)(--[a-z][a-z-]*|-[a-z])\b", re.sub(r"'[^']*'|\"[^\"]*\"", "", rest)):
			expect(re.search(rf"^  (-\w,)?{option}\b", known, re.M), f"{name}: `{code}`: {verb} has no option {option}")
	return seen


def help_prints(questions):
	"""Every row is found by its own first words, and only rows with the words are."""
	for text, command in questions:
		words = [word for word in re.findall(r"[a-zA-Z]{3,}", text) if word not in verbs()][:3]
		printed = run("help", *(word.upper() for word in words)).stdout
		expect(f"{text}\n    {command}\n" in printed, f"monitor help {' '.join(words)} does not print: {text}")
		lines = printed.splitlines()
		for line, after in zip(lines[::2], lines[1::2]):
			expect([line, after.strip()] in questions, f"monitor help {' '.join(words)} prints what is not in the page: {line}")
			expect(all(re.search(rf"\b{word}", f"{line} {after}", re.I) for word in words),
			       f"monitor help {' '.join(words)} prints a row without these words: {line}")
	refused = run("help", "zebra")
	expect(refused.returncode == 2 and "no question has the word 'zebra'" in refused.stderr and refused.stdout == "",
	       f"monitor help zebra: {refused}")


def main():
	page, readme = (SOURCE / "Documentation" / "questions.md").read_text(), (SOURCE / "README.md").read_text()
	questions = [[plain(cell) for cell in cells[:2]] for cells in rows(page)]
	expect(len(questions) > 30, f"questions.md has only {len(questions)} rows")
	help_prints(questions)
	seen = commands_exist("questions.md", page), commands_exist("README.md", readme)
	expect(seen[0] > 30 and seen[1] > 6, f"only {seen} commands were looked at")
	words = len(readme.split())
	expect(words <= MAX_WORDS, f"README.md has {words} words, at most {MAX_WORDS}")
	print(f"{len(questions)} questions, {sum(seen)} commands")
	print("\n".join(errors))
	return 1 if errors else 0


if __name__ == "__main__":
	sys.exit(main())
