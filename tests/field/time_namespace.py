#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program in a time namespace, as containers have them, whose monotonic clock is ten days ahead: its events are between
those before and after it, with the times of the clock on the wall (bcc issue 931, ANOLISA issue 3121)."""
import subprocess
import sys

import e2e

SHIFT = ("unshare", "-T", "--monotonic", 864000, "--boottime", 864000, "-f")


def between():
	if subprocess.run([*map(str, SHIFT), "true"], stderr=subprocess.DEVNULL, check=False).returncode:
		e2e.skip("no time namespace can be made here")
	program = e2e.compiled("time_namespace.c", f"-I{e2e.pathlib.Path(sys.argv[4]) / 'include'}")
	inside = " ".join(map(str, SHIFT))
	trace = e2e.record("times", "-p", "cmd", "--user", command=("sh", "-c", f"{program} 0; {inside} {program} 1; {program} 2"))
	ticks = trace.query("SELECT wall_ns, place, monotonic, realtime FROM tick ORDER BY time_ns")
	e2e.equal("places, by time", [tick["place"] for tick in ticks], [0] * 10 + [1] * 10 + [2] * 10)
	e2e.expect(ticks[10]["monotonic"] - ticks[9]["monotonic"] > 863999e9, "the clock was not ahead")
	# The program reads its clock before the event, and may lose its CPU between.
	late = sorted(tick["wall_ns"] - tick["realtime"] for tick in ticks)
	e2e.expect(late[0] > -1e6 and late[len(late) // 2] < 1e6, f"later than the program's clock (ns): {late}")
	trace.expect_true()


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(between)
