#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces that stay on their hosts: nothing but descriptions travels until `monitor fleet fetch` asks for a window; what
is not there is no damage; the rest follows. Statistics instead of traces, and what bringing a run costs.

fleet_fetch.py MONITOR PROGRAMS WORK
"""
import datetime
import json
import os
import pathlib
import time

import e2e
import fleet_lab

LOAD = os.path.join(e2e.programs, "user_load")
# Three loads, each most of a second after the one before.
THREE_LOADS = f"for i in 1 2 3; do date +%s.%N >> $MARKS; {LOAD} order 6000; sleep 1.5; done"


def connected(agent):
	agent.wait_for("connected to the hub")
	return agent


def local(seconds):
	return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M:%S.%f")


def streams_of(directory):
	return {path.name: path.read_bytes() for path in pathlib.Path(directory).iterdir() if path.is_file() and path.name != "metadata"}


def here(trace):
	return json.loads((pathlib.Path(trace) / ".monitor/fetched.json").read_text())


def expect_part(copy, original):
	"""Every block of the copy is the original's or a hole. Returns how many are there."""
	there, all_of_it, count = streams_of(copy), streams_of(original), 0
	e2e.expect(set(there) <= set(all_of_it), f"{copy}: {set(there) - set(all_of_it)}")
	for name, content in there.items():
		for at in range(0, len(content), 4096):
			block = content[at:at + 4096]
			if block.strip(b"\0"):
				count += 1
				e2e.expect(block == all_of_it[name][at:at + 4096], f"{copy}/{name}: block {at // 4096} differs")
	return count


def same_events(copy, original, window):
	"""Of programs, within the window."""
	options = ("--from", window[0], "--to", window[1], "--filter", 'name != "sync"')
	texts = [[(event["time_ns"], event["event"], event["fields"]) for event in e2e.Trace(path).events(*options) if event["cpu"] is not None]
	         for path in (copy, original)]
	e2e.equal(f"events within {window}", texts[0], texts[1])
	return len(texts[1])


def notes_of(trace):
	return {statement["id"]: (statement["verdict"], statement["text"]) for statement in trace.statements}


def recorded(fleet, run, marks, *options):
	done = fleet.run("record", "--run", run, "--user-only", "--forward", "on-demand", "--no-calibration", "--lead", "300ms", *options, "--", "env", f"MARKS={marks}", "sh", "-c",
	                 THREE_LOADS)
	return [float(line) for line in marks.read_text().split()], done


@e2e.longer
def fetched():
	"""A window, another one, and all."""
	if not os.path.exists(LOAD):
		return e2e.leave_out("fetched", "there is no user_load here")
	with fleet_lab.Fleet("fetched", "h1", "h2") as fleet:
		connected(fleet.agent("h1"))
		connected(fleet.agent("h2"))
		run, marks = fleet.work / "run", fleet.work / "marks"
		times, done = recorded(fleet, "r1", marks, "--hosts", "h1", "-o", run)
		copy, original = e2e.Trace(run / "h1"), fleet.trace("h1", "r1")
		e2e.equal("streams before", streams_of(run / "h1"), {})
		e2e.equal("metadata", (run / "h1/metadata").read_bytes(), (original.directory / "metadata").read_bytes())
		e2e.expect(here(run / "h1")["streams"] and here(run / "h1")["windows"] == [], here(run / "h1"))
		status = fleet.rows("status")["h1"]
		e2e.expect(status["kept_blocks"] > 20 and status["unsent_blocks"] == 0, status)
		copy.expect_true()
		e2e.expect("nothing of this trace was fetched" in notes_of(copy)["fetched"][1], copy.statements)
		listed = json.loads(fleet.run("fetch", "--list", "--json").stdout)
		e2e.equal("listed", [(row["host"], row["run"], row["state"], row["stored_blocks"]) for row in listed], [("h1", "r1", "ended", 0)])
		e2e.expect(abs(listed[0]["end_ns"] / 1e9 - times[2] - 1.5) < 1.5 and listed[0]["bytes"] > 4096 * status["kept_blocks"], listed)

		first = [local(times[1]), local(times[1] + 1.3)]
		rows = fleet.rows("fetch", "--run", "r1", "-o", run, "--from", first[0], "--to", first[1])
		e2e.equal("states", {host: row["state"] for host, row in rows.items()}, {"h1": "fetched", "h2": "has none"})
		count = expect_part(run / "h1", original.directory)
		e2e.equal("blocks", (rows["h1"]["added_blocks"], rows["h1"]["blocks"], rows["h1"]["of_blocks"]), (count, count, status["kept_blocks"]))
		e2e.expect(count < status["kept_blocks"] * 0.7, f"{count} of {status['kept_blocks']} blocks")
		e2e.expect(same_events(run / "h1", original.directory, first) >= 12_000, "the second load's events")
		copy.expect_true()
		verdict, text = notes_of(copy)["fetched"]
		e2e.expect(verdict == "not checked" and f"{count} of {status['kept_blocks']} blocks" in text and " to " in text, text)
		e2e.equal("info", [(each["blocks"], each["of"]) for each in copy.info()["fetched"]], [(count, status["kept_blocks"])])
		for words in (("list",), ("info",), ("check",), ("stat",)):
			done = e2e.run(e2e.monitor, *words, run)
			e2e.expect("never written" not in done.stdout + done.stderr and "a part of this trace was fetched" in done.stdout + done.stderr, f"{words}: {done.stderr}")

		last = [local(times[2]), local(times[2] + 1.3)]
		fleet.rows("fetch", "--run", "r1", "-o", run, "--hosts", "h1", "--from", last[0], "--to", last[1])
		e2e.expect(expect_part(run / "h1", original.directory) > count, "another window adds to it")
		e2e.equal("windows", len(here(run / "h1")["windows"]), 2)
		for window in (first, last):
			same_events(run / "h1", original.directory, window)
		done = fleet.run("fetch", "--run", "r1", "-o", run, "--hosts", "h1")
		e2e.expect("fetched" in done.stdout, done.stdout)
		e2e.equal("all of it", streams_of(run / "h1"), streams_of(original.directory))
		copy.expect_true()
		e2e.expect("fetched" not in notes_of(copy) and notes_of(copy)["conservation"][0] != "not checked", copy.statements)
		e2e.equal("no sentence", e2e.run(e2e.monitor, "info", run / "h1").stderr, "")
		refusals(fleet, run)


def refusals(fleet, run):
	fleet.run("record", "--run", "runs", "--hosts", "h2", "--user-only", "--no-calibration", "--lead", "100ms")
	rows = fleet.rows("fetch", "--run", "runs", "--hosts", "h2", "-o", fleet.work / "runs", exit_code=1)
	e2e.expect(rows["h2"]["state"] == "refused" and "stop it first" in rows["h2"]["reason"], rows)
	fleet.run("stop", "--run", "runs", "--hosts", "h2")
	for words, why in ((("--run", "r1"), "add --run NAME and -o RUN"), (("--run", "../x", "-o", run), "a name has letters"),
	                   (("--run", "r1", "-o", run, "--from", "noon"), "is not a time"),
	                   (("--run", "r1", "-o", run, "--from", "10s ago", "--to", "20s ago"), "is later than"),
	                   (("--run", "other", "-o", run), "is the run r1")):
		done = fleet.run("fetch", *words, exit_code=1)
		e2e.expect(why in done.stderr, f"{words}: {done.stderr}")


def goes_on():
	"""A recording of programs that go on at a high rate, each a stream of its own: what there was when the command came is
	fetched, and no more; after its end, the rest."""
	if not os.path.exists(LOAD):
		return e2e.leave_out("goes_on", "there is no user_load here")
	with fleet_lab.Fleet("goes_on", "h1") as fleet:
		agent, run = connected(fleet.agent("h1")), fleet.work / "run"
		fleet.run("record", "--run", "g", "--hosts", "h1", "--user-only", "--forward", "on-demand", "--no-calibration", "--lead", "100ms")
		loads = [fleet_lab.Process(fleet.work / f"load{i}.log", "sh", "-c", f"for i in $(seq 3000); do {LOAD} order 20000; sleep 0.02; done") for i in (1, 2)]
		fleet.processes.extend(loads)
		original = fleet.trace("h1", "g").directory
		fleet_lab.wait_for(lambda: sum(path.stat().st_size for path in original.glob("user*")) > 2 << 20, "events")
		count = 0
		for number in (1, 2):
			began = time.time()
			rows = fleet.rows("fetch", "--run", "g", "-o", run)
			e2e.equal("state", rows["h1"]["state"], "fetched, goes on")
			e2e.expect(time.time() - began < 20, f"it took {time.time() - began:.1f} s")
			(window,) = here(run / "h1")["windows"]
			e2e.expect(window[0] == 0 and began - 0.1 < window[1] / 1e9 < time.time() + 0.1, f"{window}, {began}")
			before, count = count, expect_part(run / "h1", original)
			e2e.expect(count > before, f"fetch {number}: {count} blocks, {before} before")
		e2e.equal("loads that run", [load.process.poll() for load in loads], [None, None])
		for load in loads:
			load.end()
		fleet.run("stop", "--run", "g", "--hosts", "h1")
		agent.wait_for("run g has ended")
		e2e.equal("state", fleet.rows("fetch", "--run", "g", "-o", run)["h1"]["state"], "fetched")
		e2e.equal("all of it", streams_of(run / "h1"), streams_of(original))
		e2e.expect(count < sum(len(content) for content in streams_of(original).values()) // 4096, "everything was fetched at first")


def snapshots():
	"""A host says which snapshots it has: none, or two that are fetched as one command."""
	if os.geteuid() != 0 or not os.path.exists("/sys/kernel/btf/vmlinux"):
		return e2e.leave_out("snapshots", "recording the kernel needs root and BTF")
	with fleet_lab.Fleet("snapshots", "h1") as fleet:
		connected(fleet.agent("h1"))
		fleet.run("record", "--run", "f", "-e", "sched,syscall", "--no-calibration", "--lead", "200ms", "--flight", "4M", "--snapshots", "5", "--forward",
		          "on-demand")
		run, began = fleet.work / "run", time.monotonic()
		rows = fleet.rows("fetch", "--run", "f", "-o", run, exit_code=1)
		e2e.equal("without a snapshot", (rows["h1"]["state"], rows["h1"]["reason"]), ("has none", "its flight recorder has taken no snapshot"))
		e2e.expect(time.monotonic() - began < 15, f"it waited {time.monotonic() - began:.1f} s for a snapshot that was never taken")
		for _ in (1, 2):
			fleet.run("snapshot")
		rows = fleet.rows("fetch", "--run", "f", "-o", run)
		e2e.equal("state", rows["h1"]["state"], "fetched")
		for name in ("001", "002"):
			e2e.equal(name, streams_of(run / "h1" / name), streams_of(fleet.trace("h1", "f").directory / name))


def costs_and_full_spool():
	"""What stays on a host is dropped whole when its spool is full, and told. The cost by agent, server and collector;
	what is not known is no number. Each block by itself is a message of its own."""
	if not os.path.exists(LOAD):
		return e2e.leave_out("costs_and_full_spool", "there is no user_load here")
	with fleet_lab.Fleet("costs", "h1") as fleet:
		agent = connected(fleet.agent("h1", "--forward", "on-demand", "--spool-max", "300K"))
		runs = {}
		for name, options in (("kept", ()), ("each", ("--forward", "each", "--hub-pid", fleet.hub.pid))):
			runs[name] = fleet.work / name
			fleet.run("record", "--run", name, "--user-only", "--no-calibration", "--lead", "300ms", "-o", runs[name], *options, "--",
			          LOAD, "order", 7000)
		e2e.equal("blocks of what is kept", streams_of(runs["kept"] / "h1"), {})
		costs = {name: {row["part"]: row for row in json.loads(e2e.run(e2e.monitor, "fleet", "cost", "--json", run).stdout)} for name, run in runs.items()}
		blocks = sum(len(content) for content in streams_of(runs["each"] / "h1").values()) // 4096
		rows = costs["each"]
		e2e.expect(blocks > 40 and rows["agent"]["messages"] > blocks and rows["agent"]["bytes"] > blocks * 4096, f"{rows['agent']}, {blocks} blocks")
		e2e.expect(rows["agent"]["cpu_ns"] > 0 and rows["agent"]["cpu_ns_per_mib"] > 0, rows["agent"])
		e2e.equal("agents", [rows["agents"][key] for key in ("bytes", "cpu_ns")], [rows["agent"][key] for key in ("bytes", "cpu_ns")])
		e2e.expect(rows["collector"]["bytes"] > blocks * 4096 and rows["collector"]["cpu_ns"] > 0, rows["collector"])
		for part in ("agent", "server", "collector"):
			e2e.expect(rows[part]["cpu_percent"] > 0 and rows[part]["messages_per_s"] > 0, f"{part}: {rows[part]}")
		for name, is_known in (("each", True), ("kept", False)):
			e2e.equal(f"{name}: server known", [costs[name][part]["cpu_ns"] is not None for part in ("server", "sum")], [is_known] * 2)
		e2e.expect("unknown: see --hub-pid" in e2e.run(e2e.monitor, "fleet", "cost", runs["kept"]).stdout, "the server's cost is not said to be unknown")
		e2e.expect("Arithmetic by operational laws" in e2e.run(e2e.monitor, "fleet", "cost", runs["each"]).stdout, "no operational laws")
		done = e2e.run(e2e.monitor, "fleet", "cost", fleet.work, exit_code=1)
		e2e.expect("is not a run of a fleet" in done.stderr, done.stderr)
		agent.wait_for("was dropped")
		e2e.expect("the recording each was dropped" not in agent.text() and "the recording kept was dropped" in agent.text(), agent.text())
		rows = fleet.rows("fetch", "--run", "kept", "-o", runs["kept"], exit_code=1)
		e2e.equal("kept", rows["h1"]["state"], "has none")
		fleet.rows("fetch", "--run", "each", "-o", runs["each"])
		again = {row["part"]: row for row in json.loads(e2e.run(e2e.monitor, "fleet", "cost", "--json", runs["each"]).stdout)}["server"]
		e2e.expect(again["cpu_ns"] >= costs["each"]["server"]["cpu_ns"], f"{again}, before {costs['each']['server']}")
		e2e.expect(again["note"].startswith("at least"), again)
		e2e.expect(fleet.rows("status")["h1"]["lost_blocks"] > 0, "lost blocks in the status")


@e2e.longer
def statistics():
	"""Periods arrive while they are made; tables of the run are those of the host's directory."""
	if os.geteuid() != 0 or not os.path.exists("/sys/kernel/btf/vmlinux"):
		return e2e.leave_out("statistics", "recording the kernel needs root and BTF")
	with fleet_lab.Fleet("statistics", "h1", "h2") as fleet:
		for host in ("h1", "h2"):
			connected(fleet.agent(host))
		run = fleet.work / "run"
		recorder = fleet_lab.Process(fleet.work / "record.log", e2e.monitor, "fleet", "record", "--keys", fleet.keys, "--run", "s1", "--statistics", "1s",
		                             "-e", "sched,syscall", "-d", "2.6", "--lead", "300ms", "-o", run)
		fleet.processes.append(recorder)
		fleet_lab.wait_for(lambda: all(len(list((run / host).glob("statistics_*"))) >= 2 for host in ("h1", "h2")), "periods while it runs", 15)
		e2e.expect(recorder.process.poll() is None, "it has ended before its periods were seen")
		running = json.loads(e2e.run(e2e.monitor, "report", "--json", run).stdout)
		e2e.expect(all(report["rows"] for report in running) and len(running) == 2, "rows while it runs")
		e2e.equal("exit code", recorder.process.wait(30), 0)
		reports = json.loads(e2e.run(e2e.monitor, "report", "--json", "--top", 0, run).stdout)
		e2e.equal("hosts", [pathlib.Path(report["trace"]).name for report in reports], ["h1", "h2"])
		for host, report in zip(("h1", "h2"), reports):
			e2e.equal(f"{host}: files", streams_of(run / host), streams_of(fleet.trace(host, "s1").directory))
			e2e.Trace(run / host).expect_true()
			for options in ((), ("--from", "1", "--to", "2"), ("syscalls",), ("offcpu",)):
				of_run, of_host = (json.loads(e2e.run(e2e.monitor, "report", "--json", "--top", 0, path, *options).stdout)
				                   for path in (run / host, fleet.trace(host, "s1").directory))
				e2e.expect(of_host["rows"], f"{host} {options}: no rows")
				e2e.equal(f"{host} {options}", of_run["rows"], of_host["rows"])
			e2e.equal(f"{host}: in the table of all", report["rows"], e2e.Trace(fleet.trace(host, "s1").directory).report("--top", 0)["rows"])
		part = json.loads(e2e.run(e2e.monitor, "report", "--json", "--from", "1", "--to", "2", run).stdout)
		e2e.expect([pathlib.Path(report["trace"]).name for report in part] == ["h1", "h2"] and all(report["rows"] for report in part), part)


if __name__ == "__main__":
	fleet_lab.need_agents()
	e2e.main(fetched, goes_on, snapshots, costs_and_full_spool, statistics)
