#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every option of a subcommand's --help-all stands in its man page and the other way round; every subcommand has a page, and
stands in monitor(1). --help shows a part of these options, and all of them if it names no more.
Called by ctest: options.py MONITOR MAN_DIRECTORY"""

import os
import re
import subprocess
import sys


PURPOSES = ("Record", "Look", "Keep", "Share", "Check")


def help_of(monitor, *command, option="--help-all"):
	return subprocess.run([monitor, *command, option], capture_output=True, text=True, check=True).stdout


def section(text, title):
	"""The lines of "TITLE:" in a help, to the next empty line."""
	found = re.search(rf"^{title}:\n(.*?)(?:\n\n|\Z)", text, re.M | re.S)
	return found.group(1).splitlines() if found else []


def options_of_help(text):
	options = set()
	for line in section(text, "Options"):
		found = re.match(r"  (-\S+)", line)
		if found:
			options |= set(found.group(1).split(","))
	return options


def rows_of_help(text):
	return sum(line.startswith("  -") for line in section(text, "Options"))


def options_of_page(page):
	"""-o and --output of the list items ".It Fl o , Fl -output Ar DIR" in the section OPTIONS."""
	found = re.search(r"^\.Sh OPTIONS\n(.*?)^\.Sh ", page, re.M | re.S)
	options = set()
	for item in re.findall(r"^\.It (Fl .*)$", found.group(1) if found else "", re.M):
		options |= {"-" + name for name in re.findall(r"\bFl (\S+)", item)}
	return options


def main(monitor, man):
	errors = []
	top = help_of(monitor, option="--help")
	commands = [line.split()[0] for purpose in PURPOSES for line in section(top, purpose)]
	errors += [f"monitor --help has no {purpose}" for purpose in PURPOSES if not section(top, purpose)]
	pages = {name[len("monitor-"):-2] for name in os.listdir(man) if re.fullmatch(r"monitor-\w+\.1", name)}
	errors += [f"monitor {name} has no man page" for name in sorted(set(commands) - pages)]
	errors += [f"monitor-{name}.1 describes no subcommand" for name in sorted(pages - set(commands))]
	compared = 0
	for name in ["", *sorted(set(commands) & pages)]:
		text = help_of(monitor, name) if name else top
		if text.startswith("left out of this build"):
			continue
		path = os.path.join(man, f"monitor-{name}.1" if name else "monitor.1")
		with open(path, encoding="utf-8") as file:
			page = file.read()
		in_help, in_page = options_of_help(text), options_of_page(page)
		compared += len(in_help)
		where = f"monitor {name}".rstrip()
		errors += [f"{where}: {option} is not in {os.path.basename(path)}" for option in sorted(in_help - in_page)]
		errors += [f"{where}: {option} is in {os.path.basename(path)} only" for option in sorted(in_page - in_help)]
		short = help_of(monitor, *where.split()[1:], option="--help")
		shown, more = options_of_help(short), re.search(r"^(\d+) more options: monitor (\w+) --help-all$", short, re.M)
		hidden = rows_of_help(text) - rows_of_help(short)
		errors += [f"{where} --help: {option} is not in --help-all" for option in sorted(shown - in_help)]
		if name and hidden != (int(more[1]) if more and more[2] == name else 0):
			errors.append(f"{where} --help leaves out {hidden} options, and says: {more and more[0]}")
	print(f"{compared} options of {len(commands)} subcommands compared")
	print("\n".join(errors))
	return 1 if errors or compared == 0 else 0


if __name__ == "__main__":
	sys.exit(main(*sys.argv[1:]))
