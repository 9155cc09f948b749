#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A CPU goes offline and comes back: `check` does not take the kernel's counts that start again for lost events."""
import pathlib
import time

import e2e

ONLINE = pathlib.Path("/sys/devices/system/cpu") / f"cpu{e2e.cpus()[-1]}" / "online"


def goes_and_comes():
	if len(e2e.cpus()) < 2 or not ONLINE.exists():
		e2e.skip("no CPU can be taken offline")
	recorder = e2e.Recorder("hotplug").wait_until_recording()
	try:
		time.sleep(0.3)
		ONLINE.write_text("0")
		time.sleep(0.3)
	except OSError as error:
		e2e.skip(f"the CPU stays online: {error}")
	finally:
		ONLINE.write_text("1")
	time.sleep(0.3)
	trace = recorder.end()
	red = trace.check()
	for statement in trace.statements:
		if statement["id"] == "idle_usage":
			e2e.expect(statement["verdict"] != "FAILS", statement["text"])
	e2e.expect("idle_usage" not in red, "cpuidle's counts started again")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(goes_and_comes)
