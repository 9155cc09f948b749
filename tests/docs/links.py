#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every link of a page to another file of this tree leads to a file that is there, and to a heading in it; man pages and
sources name only pages of Documentation that are there. Called by ctest: links.py SOURCE_DIRECTORY"""

import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1])
LINK = re.compile(r"\[(?:[^]\[]|\[[^]]*\])*\]\(([^)\s]+)\)")
TEXTS = (".h", ".hpp", ".c", ".cpp", ".py", ".1", ".3", ".conf", ".rules", ".txt", ".cmake", ".md")


def anchors(path):
	"""As the headings of a page are called in addresses."""
	text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
	return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def main():
	errors, seen = [], 0
	pages = [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "Documentation").glob("*.md"))]
	for page in pages:
		for target in LINK.findall(re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)):
			if re.match(r"[a-z]+:", target):
				continue
			seen += 1
			name, _, heading = target.partition("#")
			path = page.parent / name if name else page
			if not path.exists():
				errors.append(f"{page.name}: there is no {target}")
			elif heading and heading not in anchors(path):
				errors.append(f"{page.name}: {path.name} has no heading #{heading}")
	for top in ("include", "userspace", "kmod", "bpf", "tools", "tests", "examples", "share", "Documentation"):
		for path in sorted((SOURCE / top).rglob("*")):
			if path.suffix not in TEXTS or not path.is_file():
				continue
			for name in re.findall(r"Documentation/([\w-]+\.md)\b", path.read_text(encoding="utf-8", errors="replace")):
				seen += 1
				if not (SOURCE / "Documentation" / name).exists():
					errors.append(f"{path.relative_to(SOURCE)}: there is no Documentation/{name}")
	if seen < 100:
		errors.append(f"only {seen} links were looked at")
	print(f"{seen} links")
	print("\n".join(errors))
	return 1 if errors else 0


if __name__ == "__main__":
	sys.exit(main())
