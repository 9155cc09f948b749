#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The arrows of the design: what each folder may include. Recording and reading meet only in include/monitor; that is
plain C without any other include than <linux/types.h> and <linux/ioctl.h>. Needs no privilege.

structure.py MONITOR PROGRAMS WORK SOURCE_DIRECTORY
structure.py --map: prints the folders and what is in them, as Documentation/life-of-an-event.md has it
structure.py --measure: prints how much code there is where, who includes whom, the longest functions, and what is too much
"""
import pathlib
import re
import shutil
import subprocess
import sys

PRINTS = sys.argv[1] if sys.argv[1:] in (["--map"], ["--measure"]) else None
if PRINTS:
	sys.argv += [".", ".", str(pathlib.Path(__file__).resolve().parents[2])]

import e2e
import structure_measure

SOURCE = pathlib.Path(sys.argv[4])
# What each folder of userspace/ may include, and does: folders of rows above its own only, so there is no circle.
MAY = {
    "base": set(),
    "base/recording_file": {"base"},
    "base/buffering": {"base"},
    "recording/pmu": {"base", "base/recording_file"},
    "recording/recorder": {"base"},
    "recording/card": {"base", "base/buffering", "base/recording_file", "recording/recorder"},
    "recording/user_card": {"base", "base/buffering", "base/recording_file", "recording/recorder"},
    "recording/stacks": {"base", "base/recording_file", "recording/recorder"},
    "recording/preload": set(),
    "recording/functions": {"base", "recording/recorder", "recording/card"},
    "recording/rings": {"base", "base/buffering", "base/recording_file", "recording/card", "recording/user_card", "recording/stacks"},
    "recording/counting": {"base", "base/recording_file", "recording/pmu", "recording/recorder", "recording/card", "recording/rings"},
    "recording/calibration": {"base", "base/recording_file", "recording/card", "recording/rings"},
    "recording/periods": {"base", "base/recording_file", "recording/recorder", "recording/card", "recording/rings"},
    "recording/triggers": {"base", "base/recording_file", "recording/recorder", "recording/card", "recording/user_card", "recording/rings"},
    "recording/flight": {"base", "recording/recorder", "recording/card", "recording/user_card", "recording/rings", "recording/triggers"},
    "recording/session": {"base", "base/buffering", "base/recording_file", "recording/pmu", "recording/recorder", "recording/card", "recording/user_card",
                          "recording/stacks", "recording/functions", "recording/rings", "recording/counting", "recording/calibration",
                          "recording/periods", "recording/triggers", "recording/flight"},
    "recording/pilot": {"base", "base/buffering", "base/recording_file", "recording/card", "recording/rings", "recording/calibration", "recording/session"},
    "reading/ctf": {"base"},
    "reading/tdl": {"base", "reading/ctf"},
    "reading/events": {"base", "base/recording_file", "reading/ctf", "reading/tdl"},
    "reading/filter": {"base", "reading/ctf", "reading/events"},
    "reading/analyze": {"base", "base/recording_file", "reading/ctf", "reading/events"},
    "reading/cost": {"reading/ctf", "reading/events", "reading/analyze"},
    "reading/symbols": {"base", "reading/analyze"},
    "reading/activities": {"base", "reading/ctf", "reading/events", "reading/filter", "reading/analyze"},
    "reading/states": {"base", "reading/ctf", "reading/events", "reading/filter", "reading/analyze", "reading/activities"},
    "reading/model": {"base", "reading/events", "reading/analyze", "reading/cost", "reading/activities"},
    "reading/simulation": {"base", "reading/model"},
    "reading/poet": {"base", "reading/ctf", "reading/events", "reading/filter"},
    "answers/listing": {"base", "reading/ctf", "reading/events"},
    "answers/matcher": {"base", "reading/ctf", "reading/filter"},
    "answers/statistics": {"reading/events", "reading/filter", "reading/activities"},
    "answers/rules": {"base", "reading/events", "reading/filter", "reading/activities", "answers/listing"},
    "answers/collection": {"base", "reading/ctf", "reading/events", "reading/activities", "answers/statistics"},
    "answers/trigger": {"base", "reading/events", "reading/filter"},
    "answers/report": {"base", "reading/ctf", "reading/events", "reading/analyze", "reading/cost", "reading/symbols", "reading/activities",
                       "answers/statistics", "answers/trigger"},
    "answers/selection": {"base", "reading/events", "reading/filter", "reading/analyze", "answers/statistics", "answers/report"},
    "answers/plot": {"base", "answers/report"},
    "answers/reports": {"base", "reading/events", "reading/symbols", "reading/analyze", "reading/cost", "reading/activities",
                        "answers/selection", "answers/report", "answers/plot"},
    "answers/path": {"base", "reading/analyze", "reading/activities", "answers/selection", "answers/report", "answers/reports"},
    "answers/check": {"base", "answers/selection", "reading/events", "reading/filter", "reading/analyze", "reading/activities", "reading/states",
                      "answers/rules", "answers/collection", "answers/report"},
    "answers/explain": {"base", "reading/events", "reading/analyze", "reading/cost", "answers/report", "answers/selection",
                        "answers/trigger", "answers/path"},
    "answers/requests": {"base", "reading/events", "reading/filter", "reading/activities", "answers/report",
                         "answers/reports"},
    "answers/predict": {"base", "reading/model", "reading/simulation", "answers/report", "answers/plot"},
    "answers/archive": {"base", "reading/events", "reading/filter", "reading/analyze", "reading/activities", "answers/report",
                        "answers/plot"},
    "answers/run_lengths": {"reading/activities", "reading/events", "reading/states", "answers/report"},
    "answers/diff": {"base", "reading/events", "reading/analyze", "reading/activities", "answers/report"},
    "answers/query": {"base", "reading/ctf", "reading/events", "reading/filter", "reading/analyze", "reading/activities"},
    "answers/live": {"base", "reading/ctf", "reading/events", "reading/analyze", "reading/cost", "reading/symbols", "reading/activities",
                     "reading/states", "recording/recorder", "recording/card", "recording/rings", "recording/periods", "answers/report"},
    "answers/metrics": {"base", "reading/ctf", "reading/analyze", "answers/live"},
    "answers/terminal": {"base"},
    "answers/top": {"base", "reading/filter", "answers/report", "answers/live", "answers/terminal"},
    "answers/plan": {"base", "base/buffering", "reading/events", "reading/analyze", "reading/simulation", "answers/report"},
    "answers/play": {"answers/terminal", "base", "reading/ctf", "reading/events", "reading/filter", "reading/analyze", "answers/report"},
    "answers/export": {"base", "reading/ctf", "reading/events", "reading/activities", "reading/analyze",
                       "answers/collection", "answers/report"},
    "answers/view": {"answers/diff", "answers/play", "base", "reading/events", "reading/analyze", "reading/activities", "answers/report", "answers/selection"},
    "fleet/wire": {"base"},
    "fleet/keys": {"base", "fleet/wire"},
    "fleet/forward": {"base", "base/recording_file", "fleet/wire"},
    "fleet/agent": {"base", "recording/recorder", "recording/card", "recording/flight", "fleet/wire", "fleet/keys", "fleet/forward"},
    "fleet/collector": {"base", "fleet/wire"},
    "fleet/operator": {"base", "answers/report", "fleet/wire"},
    "fleet/clocks": {"base", "base/recording_file", "reading/events", "reading/analyze", "answers/collection", "answers/report", "answers/check"},
}
# What is in each folder of the tree; those of userspace/ are the rows of MAY.
ABOUT = {
    "include/monitor": "the token, the ring, the event classes: what kernel, recorder and programs share; the user card (edc.h)",
    "include/poet": "the interface of the POET library",
    "bpf": "the probes",
    "kmod": "the same as a kernel module",
    "userspace": {
        "base": "what all share: files, errors, text, escaping",
        "base/recording_file": "the members of .monitor/recording.json: written by recorders, read by all others",
        "base/buffering": "the recorder's buffers and when they are looked at: what is built, and what is simulated",
        "recording/pmu": "counters and groups of them, from their names",
        "recording/recorder": "the recorder as a process: its user, its directory, the other recorders",
        "recording/card": "loads and attaches the probes",
        "recording/user_card": "serves the programs that post events themselves",
        "recording/stacks": "the tables by which the probes walk stacks",
        "recording/preload": "the library that patches functions in their process",
        "recording/functions": "finds functions of programs, and where they end",
        "recording/rings": "from the rings to the files, and the clock",
        "recording/counting": "the counters of a recording, and what tokens hold of them",
        "recording/calibration": "measures what an event costs",
        "recording/periods": "the periods of statistics",
        "recording/triggers": "what is done when a trigger fires",
        "recording/flight": "the flight recorder: requests and snapshots",
        "recording/session": "a recording from its start to its end",
        "recording/pilot": "programs without and with probes: what recording them costs",
        "reading/ctf": "descriptions in TSDL and CTF 2",
        "reading/tdl": "descriptions in TDL",
        "reading/events": "packets, cursors, and the merge in the order of time",
        "reading/filter": "FDL, the filter language, and pairs of events in it",
        "reading/analyze": "the fold: states and times",
        "reading/cost": "what measuring costs, and the times without it",
        "reading/symbols": "names of addresses",
        "reading/activities": "what has a start and an end",
        "reading/states": "trees of states, and the run lengths of states",
        "reading/model": "models of programs: as text, and found in traces",
        "reading/simulation": "what would happen: the replay of models on simulated CPUs, and their distributions",
        "reading/poet": "the POET library",
        "answers/listing": "an event as text or JSON",
        "answers/matcher": "tables of expressions for the probes",
        "answers/statistics": "how often, how far apart, how long",
        "answers/rules": "a user's own rules",
        "answers/collection": "several traces as one, and the relation of two clocks",
        "answers/trigger": "the language of triggers",
        "answers/report": "tables, and the line below them",
        "answers/selection": "what a reader restricts itself to",
        "answers/plot": "tables as bars, histograms and curves",
        "answers/reports": "the reports of monitor report",
        "answers/path": "the critical path: what threads did, and the way back through that",
        "answers/check": "is a trace true? the verdicts of monitor check",
        "answers/explain": "why it was slow: rules over that path, and over the machine",
        "answers/requests": "requests that hosts pass to each other",
        "answers/predict": "what a changed program would take",
        "answers/archive": "recordings of projects, and the history of figures",
        "answers/run_lengths": "sums and patterns of run lengths",
        "answers/diff": "what changed between recordings",
        "answers/query": "SQL",
        "answers/live": "the fold fed from memory while a recording runs",
        "answers/metrics": "sums for Prometheus",
        "answers/terminal": "the screen",
        "answers/top": "the rows of monitor top",
        "answers/plan": "what a recording would lose and cost with other settings: a simulation of the recorder",
        "answers/play": "scenes of a trace",
        "answers/export": "the formats of other tools",
        "answers/view": "the picture, and its page in the browser",
        "fleet/wire": "what the hosts of a fleet say to each other: names, messages, the connection to the hub",
        "fleet/keys": "keys, certificates and configurations: made for a fleet, and read by each host",
        "fleet/forward": "brings traces from their host to the collector",
        "fleet/agent": "runs recordings on command: the privileged process, and the network process",
        "fleet/collector": "stores what hosts send",
        "fleet/operator": "commands to hosts, and what became of them",
        "fleet/clocks": "one clock for all hosts of a run",
    },
    "tools/monitor": "the program: a file per command, which calls all of these",
    "tools": "quickstart, test, bench; bash completion; packages",
    "share": "tables, rules, groups, trees of states, layouts, descriptions, dashboards: what users may add to",
    "examples": "the programs of the tutorials",
    "tests": "a folder per kind of test",
    "Documentation": "man pages, tutorials, formats, how it works",
}
# Recording and reading share only what is below them, include/monitor and the trace; fleet is above all.
SIDES = {"base": {"base"}, "recording": {"base", "recording"}, "reading": {"base", "reading"},
         "answers": {"base", "reading", "answers"}, "fleet": {"base", "recording", "reading", "answers", "fleet"}}
BOTH_SIDES = {"answers/live"}
# Targets that do not have the name of their folder alone.
TARGETS = {"base": {"base", "debug_files", "demangle", "http"}, "base/recording_file": {"base"}, "base/buffering": {"base"},
           "fleet/wire": {"fleet_wire", "fleet_connection", "fleet_control"}}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
NETWORK_LIBRARY, NETWORK_FILE = "nats/", "userspace/fleet/wire/connection.cpp"
RECORD_LIBRARIES = re.compile(r"^(bpf/|linux/bpf|perfmon/|.*\.skel\.h$)")


def includes(path):
	return INCLUDE.findall(path.read_text(encoding="utf-8"))


def sources(folder):
	return [path for path in sorted((SOURCE / folder).rglob("*")) if path.suffix in (".h", ".c", ".cpp", ".hpp")]


def folder_map():
	"""A line for each folder."""
	rows = []
	for folder, about in ABOUT.items():
		rows += [(folder, about)] if isinstance(about, str) else [(f"{folder}/{name}", text) for name, text in about.items()]
	width = max(len(name) for name, _ in rows)
	return "\n".join(f"{name:{width}}  {text}" for name, text in rows)


def map_is_current():
	"""The one map of the folders: every folder is in it, and the page shows it."""
	e2e.equal("the folders of the map", list(ABOUT["userspace"]), list(MAY))
	for folder in ABOUT:
		e2e.expect((SOURCE / folder).is_dir(), f"the map has {folder}, which is no folder")
	page = (SOURCE / "Documentation" / "life-of-an-event.md").read_text(encoding="utf-8")
	e2e.expect(f"\n```\n{folder_map()}\n```\n" in page,
	           "Documentation/life-of-an-event.md: the map is not what tests/e2e/structure.py --map prints")


def layers():
	"""The table itself: no arrow upwards, so no circle; none between recording and reading."""
	above = set()
	for folder, may in MAY.items():
		e2e.expect(may <= above, f"{folder} may include {may - above}, which is not above it in the table: a circle, or the wrong order")
		sides = {other.split("/")[0] for other in may if folder not in BOTH_SIDES}
		e2e.expect(sides <= SIDES[folder.split("/")[0]], f"{folder} may include {may}: another side")
		above.add(folder)


def arrows():
	seen, used = 0, {folder: set() for folder in MAY}
	for path in sources("userspace"):
		folder = path.parent.relative_to(SOURCE / "userspace").as_posix()
		e2e.expect(folder in MAY, f"{path.relative_to(SOURCE)}: the table has no row for {folder}")
		for quote, name in includes(path):
			seen += 1
			wrong = quote == '"' and ".." in name.split("/")
			wrong = wrong or (not folder.startswith("recording/") and RECORD_LIBRARIES.match(name))
			wrong = wrong or (name.startswith(NETWORK_LIBRARY) and path != SOURCE / NETWORK_FILE)
			if quote == '"' and "/" in name and (SOURCE / "userspace" / name).is_file():
				other = str(pathlib.PurePosixPath(name).parent)
				used[folder].add(other)
				wrong = wrong or other not in MAY[folder]
			e2e.expect(not wrong, f"{path.relative_to(SOURCE)} includes {name}")
	e2e.expect(seen > 300, f"only {seen} includes were looked at")
	for folder, may in MAY.items():
		e2e.expect(may <= used[folder], f"{folder} no longer includes {may - used[folder]}: take it out of the table")
	for folder in ("bpf", "kmod", "include"):
		for path in sources(folder):
			for _, name in includes(path):
				e2e.expect(name.split("/")[0] not in SIDES and "userspace" not in name,
				           f"{path.relative_to(SOURCE)} includes {name}")


def linked():
	"""The targets' arrows: a folder's target, which has its name (of fleet, also its side's), links only those below it."""
	below = {}
	for folder, may in MAY.items():
		name = folder.replace("/", "_") if folder.startswith("fleet/") else folder.split("/")[-1]
		below[folder] = TARGETS.get(folder, {name}).union(*(below.get(other, set()) for other in may))
		for path in (SOURCE / "userspace" / folder).glob("*.cmake"):
			text = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
			wrong = set(re.findall(r"\bmonitor_(\w+)", text)) - below[folder]
			e2e.expect(not wrong, f"{path.relative_to(SOURCE)} names {wrong}")
			e2e.expect(folder.startswith("recording/") or not re.search(r"\bbpf\b", text), f"{path.relative_to(SOURCE)} names bpf")


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


@e2e.longer
def public_header():
	"""The user card in a program of every language, standard and kind: no warning, and it runs."""
	source, program = SOURCE / "tests" / "e2e" / "user_header.c", e2e.work / "header"
	found = [pair for pair in (("gcc", "g++"), ("clang", "clang++")) if shutil.which(pair[0])]
	for compiler in found:
		for standard, language in (("c11", "c"), ("c17", "c"), ("gnu11", "c"), ("c++17", "c++"), ("c++20", "c++")):
			kinds = ((), ("-static",), ("-fPIE", "-pie"), ("-O0",), ("-DEDC_DISABLE",))
			for more in kinds if standard in ("c11", "c++17") else kinds[:1]:
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


def measured():
	problems = list(structure_measure.Measure(SOURCE, includes).problems())
	e2e.expect(not problems, "; ".join(problems))


if __name__ == "__main__" and PRINTS:
	print(folder_map() if PRINTS == "--map" else structure_measure.Measure(SOURCE, includes).text())
elif __name__ == "__main__":
	e2e.main(layers, map_is_current, arrows, linked, measured, shared_headers_are_plain_c, public_header)
