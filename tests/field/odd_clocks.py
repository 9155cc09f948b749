#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CTF without packets, as Zephyr writes it: times of 32 bits that wrap, times of 64 bits that step back to 0, an event
whose number is not described: what can be read is read, and the event where it ends is named (zephyr issues 24457, 49889
and 111651). Files of records whose clock was wrong once or set back: each record keeps its time, and it is said that some
step back."""
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


T_S = 1_700_000_000


def pcap(path, times_us, damage=b""):
	path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + b"".join(
		struct.pack("<IIII", time // 10**6, time % 10**6, 60, 60) + bytes(60) for time in times_us) + damage)


def wtmp(path, times_us):
	path.write_bytes(b"".join(struct.pack("<hxxi32s4s32s256shhiii16s20x", 7, 100 + i, b"pts/0", b"ts/0", b"u%d" % i, b"", 0, 0, 0,
	                                      time // 10**6, time % 10**6, bytes(16)) for i, time in enumerate(times_us)))


def walls(path, options, exit_code=0):
	done = e2e.run(e2e.monitor, "query", path, *options, "--json", "SELECT wall_ns FROM events", exit_code=exit_code)
	return [row["wall_ns"] for row in json.loads(done.stdout)], done.stderr


def records():
	at = lambda i, more=0: (T_S + more) * 10**6 + i * 1000
	for name, write, times, says, options in (
	        ("spike.pcap", pcap, [at(i, 3600 if i == 500 else 0) for i in range(1000)], "499 of 1000 records step back in time, the first is record 501", ()),
	        ("back.pcap", pcap, [at(i, 0 if i < 500 else -10) for i in range(1000)], "500 of 1000 records step back in time, the first is record 500", ()),
	        ("wtmp", wtmp, [2_100_000_000 * 10**6] + [at(60_000 * i) for i in range(1, 100)], "99 of 100 records step back in time, the first is record 1",
	         ("--tdl", "utmp"))):
		path = e2e.work / name
		write(path, times)
		got, told = walls(path, options)
		e2e.equal(f"{name}: times", got, sorted(time * 1000 for time in times))
		e2e.expect(says in told, f"{name}: query says {told!r}")
		for command in ("list", "stat", "check", "info"):
			told = e2e.run(e2e.monitor, command, path, *options, exit_code=None).stderr
			e2e.expect(says in told, f"{name}: {command} says {told!r}")
	path = e2e.work / "damaged.pcap"  # in the order of the file: where the damage is would not be known otherwise
	pcap(path, [at(i, 0 if i < 5 else -10) for i in range(10)], b"\1\2\3")
	got, told = walls(path, (), 1)
	e2e.equal("of a damaged file", got, [at(min(i, 4)) * 1000 for i in range(10)])
	e2e.expect("5 of 10 records step back" in told and "not their own" in told and "cut off" in told, f"a damaged file: {told!r}")
	path = e2e.work / "sorted.pcap"
	pcap(path, [at(i) for i in range(10)])
	e2e.equal("of a file in order", walls(path, ()), ([at(i) * 1000 for i in range(10)], ""))


if __name__ == "__main__":
	e2e.main(wrapping, named, records)
