#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What gdb writes with `tsave -ctf`, a CTF writer of its own kind, is read as babeltrace2 reads it (cf. gst-shark issues 39 and 69:
odd CTF writers)."""
import pathlib
import shutil

import e2e

COMMANDS = """set pagination off
set confirm off
file {program}
target remote | gdbserver --once - {program} 2>/dev/null
break main
continue
trace take_step
actions
collect $regs
collect global_counter
collect n
end
tstart
break {line}
continue
tstop
tsave -ctf {trace}
kill
quit
"""


def saved():
	for name in ("gdb", "gdbserver", "babeltrace2"):
		e2e.need_program(name)
	program = e2e.compiled("gdb_traces.c", "-O0", "-no-pie")
	source = pathlib.Path(__file__).with_suffix(".c").read_text().splitlines()
	line = next(number for number, text in enumerate(source, 1) if "where gdb stops" in text)
	commands, trace = e2e.work / "commands", e2e.work / "ctf"
	commands.write_text(COMMANDS.format(program=program, line=line, trace=trace))
	done = e2e.run("gdb", "-q", "-nx", "-batch", "-x", commands, exit_code=None)
	if not (trace / "metadata").exists():
		e2e.skip(f"gdb saved no trace: {done.stderr[-300:]}")
	theirs = [each for each in e2e.run(shutil.which("babeltrace2"), trace).stdout.splitlines() if each]
	e2e.expect(len(theirs) > 25, f"babeltrace2 has {len(theirs)} events")
	e2e.equal("events", len(e2e.run(e2e.reader, "list", trace).stdout.splitlines()), len(theirs))
	frames = [each for each in e2e.Trace(trace).events() if each["event"] == "frame"]
	e2e.expect(len(frames) in (25, 26), f"{len(frames)} frames")  # the file begins with one more


if __name__ == "__main__":
	e2e.main(saved)
