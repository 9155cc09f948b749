#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every option of a subcommand's --help stands in its man page and the other way round; every subcommand has a page.
Called by ctest: options.py MONITOR MAN_DIRECTORY"""

import os
import re
import subprocess
import sys


def help_of(monitor, *command):
	return subprocess.run([monitor, *command, "--help"], capture_output=True, text=True, check=True).stdout


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


def options_of_page(page):
	"""-o and --output of the list items ".It Fl o , Fl -output Ar DIR" in the section OPTIONS."""
	found = re.search(r"^\.Sh OPTIONS\n(.*?)^\.Sh ", page, re.M | re.S)
	options = set()
	for item in re.findall(r"^\.It (Fl .*)$", found.group(1) if found else "", re.M):
		options |= {"-" + name for name in re.findall(r"\bFl (\S+)", item)}
	return options


def main(monitor, man):
	errors = []
	top = help_of(monitor)
	commands = [line.split()[0] for line in section(top, "Subcommands")]
	if not commands:
		errors.append("monitor --help lists no subcommands")
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
	print(f"{compared} options of {len(commands)} subcommands compared")
	print("\n".join(errors))
	return 1 if errors or compared == 0 else 0


if __name__ == "__main__":
	sys.exit(main(*sys.argv[1:]))
