#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Words that must not come back, each with the term of the field that stands for it (Documentation/glossary.md).

Looks at names, comments, messages and Documentation. A word is here because a reader stumbled over it or because the
tree had two words for one thing; a new line needs such a reason. The glossary itself has at most 40 terms, sorted, each
used somewhere. Called by ctest from the top of the tree."""
import pathlib
import re
import sys

# pattern, what to say instead, files it is about (default: all)
CODE = r"\.(h|hpp|c|cpp)$"
WORDS = [
	(r"\b(most|least)_[a-z]+\b", "max_, min_", CODE),
	(r"\bclassic_|\bis_classic\b", "tp_: a program of type tracepoint", r"^(bpf|userspace/recording)/"),
	(r"\bKEEP_(ALWAYS|BY_CURRENT)\b", "EDC_FILTER_*: filter target", r"^(bpf|kmod)/"),
	(r"(?<!time )\bslices?\b", "time partition (the scheduler has time slices)", r"^(userspace/(?!answers/view/)|Documentation/(?!man/monitor-view|man/monitor-convert|converting))"),
	(r"\bborders?\b", "boundary", None),
	(r"\blanes?\b", "slot, slot ring", r"^(bpf|kmod|include|userspace/recording)/"),
	(r"(?<!\")\bbirths?\b", "thread creation (a key of recording.json has the old word)", r"^(bpf|kmod|include|userspace|tools)/"),
	(r"\b(Told|People|WordLines|StartTest|FactState)\b", "RecorderThreads, ThreadTable, KeyedLines, Preflight", CODE),
	(r"\bis_described\b|\bdescribed_(events|packets)\b", "generic CTF", CODE),
	(r"\bedc_(dial|call|know_self)_", "edc_connect_socket_, edc_syscall_, edc_refresh_tid_", CODE),
	(r"\b(become_recorder|tell_class|wish)\b", "consumer_attach, get_class, request", r"^(kmod|include)/"),
	(r"\b\w+_forget\b", "_reset", r"^(kmod|include|bpf)/"),
	(r"[}'\"] is no \w+", "is not a ...", r"^(userspace|tools)/"),
	(r"\bstands twice\b", "appears twice", None),
	(r"\b(reaches|lies|stands|missing) behind\b", "extends beyond, is after, is missing after", None),
	(r"\bso many (rows|CPUs|seconds)\b", "N rows, CPUs, seconds", r"^(tools|userspace|Documentation)/"),
]
GLOSSARY = pathlib.Path("Documentation/glossary.md")
MAX_TERMS = 40


def files():
	tops = ("bpf", "kmod", "include", "userspace", "tools", "tests", "examples", "Documentation")
	found = [str(path) for top in tops for path in sorted(pathlib.Path(top).rglob("*")) if path.is_file()]
	return [name for name in ["README.md", "CONTRIBUTING.md", *found]
	        if re.search(r"\.(h|hpp|c|cpp|md|1|3|txt|cmake|sh)$", name) and not name.startswith(("tests/golden/", "tests/style/"))]


def terms():
	found = re.findall(r"^\| ([^|]+) \|", GLOSSARY.read_text(), re.M)
	return [term for term in found if term not in ("term", "---")]


def main():
	wrong = []
	every = {name: pathlib.Path(name).read_text(errors="replace") for name in files()}
	for name, text in every.items():
		for pattern, instead, about in WORDS:
			if about and not re.search(about, name):
				continue
			for number, line in enumerate(text.split("\n"), 1):
				if found := re.search(pattern, line):
					wrong.append(f"{name}:{number}: '{found[0]}': {instead}")
	listed = terms()
	if len(listed) > MAX_TERMS:
		wrong.append(f"{GLOSSARY}: {len(listed)} terms, at most {MAX_TERMS}")
	if listed != sorted(listed, key=str.lower):
		wrong.append(f"{GLOSSARY}: the terms are not sorted")
	others = "\n".join(text for name, text in every.items() if name != str(GLOSSARY)).lower()
	for term in listed:
		for word in re.split(r", | \(", term.rstrip(")")):
			if word.lower() not in others:
				wrong.append(f"{GLOSSARY}: '{word}' is used nowhere")
	print("\n".join(wrong[:60]))
	if len(wrong) > 60:
		print(f"... and {len(wrong) - 60} more")
	sys.exit(1 if wrong else 0)


main()
