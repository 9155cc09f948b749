#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CTF without packets, as Zephyr writes it: times of 32 bits that wrap, times of 64 bits that step back to 0, an event
whose number is not described: what can be read is read, and the event where it ends is named (zephyr issues 24457, 49889
and 111651)."""
import json
import struct

import e2e

STEP_NS = 1_000_003


def metadata(bits):
	return f"""/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = false; }} := u8;
typealias integer {{ size = 32; align = 8; signed = false; }} := u32;
typealias integer {{ size = 64; align = 8; signed = false; }} := u64;
typealias integer {{ size = 8; align = 8; signed = false; encoding = ASCII; }} := text_t;
struct header {{ u{bits} timestamp; u8 id; }};
trace {{ major = 1; minor = 8; byte_order = le; }};
stream {{ event.header := struct header; }};
event {{ name = switched_in; id = 0x11; fields := struct {{ u32 thread_id; text_t name[20]; }}; }};
event {{ name = isr_enter; id = 0x1B; }};
event {{ name = sem_take; id = 0x24; fields := struct {{ u32 id; u32 timeout; }}; }};
"""


def trace(name, bits, times, unknown_at=None):
	directory = e2e.work / name
	directory.mkdir()
	(directory / "metadata").write_text(metadata(bits))
	kinds = (lambda i: b"\x11" + struct.pack("<I20s", 1000 + i, b"thread_%d" % (i % 5)), lambda i: b"\x1b",
	         lambda i: b"\x24" + struct.pack("<II", i, 7))
	(directory / "channel0_0").write_bytes(b"".join(
		struct.pack("<I" if bits == 32 else "<Q", time % 2**bits) + (b"\x77" if i == unknown_at else kinds[i % 3](i))
		for i, time in enumerate(times)))
	return directory


def listed(directory, exit_code=0):
	done = e2e.run(e2e.monitor, "list", directory, "--json", exit_code=exit_code)
	return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def wrapping():
	for name, first in (("plain", 10_000_000), ("wraps", 2**32 - 300_000_000)):
		events, _ = listed(trace(name, 32, [first + i * STEP_NS for i in range(600)]))
		e2e.equal(f"{name}: events", len(events), 600)
		e2e.equal(f"{name}: time between the first and the last", events[-1]["time_ns"] - events[0]["time_ns"], 599 * STEP_NS)
		e2e.equal("a thread's name", events[0]["fields"]["name"], "thread_0")


def named():
	steps = [2**32 - 300_000_000 + i * STEP_NS for i in range(300)] + [i * STEP_NS for i in range(300)]
	events, says = listed(trace("steps_back", 64, steps), 1)
	e2e.equal("events until the time steps back", len(events), 300)
	e2e.expect("the time of the event switched_in steps back" in says, f"times that step back: {says}")
	events, says = listed(trace("unknown", 32, [10_000_000 + i * STEP_NS for i in range(300)], 150), 1)
	e2e.equal("events until one is not described", len(events), 150)
	e2e.expect("119 (0x77)" in says, f"an event that is not described: {says}")


if __name__ == "__main__":
	e2e.main(wrapping, named)
