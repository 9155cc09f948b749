#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""monitor agent, and monitor fleet status, record and stop, with a real hub: agents split into a part with privileges and
one with the network; hosts record at the same time, and say what became of it; traces are true and the agent's user's;
what was recorded does not depend on the network process; SIGTERM ends recordings.

fleet_control.py MONITOR PROGRAMS WORK SOURCE_DIRECTORY
"""
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import sys

import e2e
import fleet_lab

SOURCE = pathlib.Path(sys.argv[4])
NETWORK_USER = next((name for name in ("monitor-agent", "nobody") if any(entry.pw_name == name for entry in pwd.getpwall())), "nobody")
USER_ONLY = ("--user-only",)


def status_of(pid):
	lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
	return {key: value.split() for key, value in (line.split(":", 1) for line in lines)}


def inet_sockets(pid):
	"""Of the internet among the descriptors of a process."""
	inodes = {line.split()[9] for name in ("tcp", "tcp6", "udp", "udp6", "raw", "packet")
	          for line in pathlib.Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]}
	links = [os.readlink(path) for path in pathlib.Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()]
	return [link for link in links if link.startswith("socket:[") and link[8:-1] in inodes]


def connected(agent, times=1):
	agent.wait_for("connected to the hub", times=times)
	return agent



def status():
	with fleet_lab.Fleet("status", "h1", "h2") as fleet:
		connected(fleet.agent("h1", "--spool-max", "1G"))
		rows = fleet.rows("status", exit_code=1)
		e2e.equal("states", {host: row["state"] for host, row in rows.items()}, {"h1": "idle", "h2": "no answer"})
		e2e.equal("boot", rows["h1"]["boot_id"], pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip())
		e2e.equal("spool", rows["h1"]["spool_max_bytes"], 1 << 30)
		e2e.equal("no figures of h2", rows["h2"]["spool_bytes"], None)
		connected(fleet.agent("h2"))
		text = fleet.run("status").stdout
		e2e.expect("h1" in text and "idle" in text and "no answer" not in text, text)
		# a second agent of the same name, with a spool of its own
		second = fleet_lab.Process(fleet.work / "second.log", e2e.monitor, "agent", "--keys", fleet.directory / "hosts" / "h1",
		                           "--host", "h1", "--spool", fleet.spools / "spool-second")
		fleet.processes.append(second)
		connected(second)
		e2e.expect("2 agents have this name" in fleet.rows("status")["h1"]["note"], "two agents of one name are not noticed")
		third = fleet_lab.Process(fleet.work / "third.log", e2e.monitor, "agent", "--keys", fleet.directory / "hosts" / "h1",
		                          "--host", "h1", "--spool", fleet.spools / "spool-second")
		e2e.equal("an agent whose spool is used", third.process.wait(10), 1)
		e2e.expect("another agent uses" in third.text(), third.text())
		other = e2e.run(e2e.monitor, "agent", "--keys", fleet.directory / "hosts" / "h2", "--spool", fleet.spools / "spool-other",
		                exit_code=1)
		e2e.expect("are of host h2" in other.stderr, other.stderr)


def refused_at_start():
	"""What cannot work, or would not be safe, is said at once."""
	fleet = fleet_lab.Fleet("refused", "h1", "h2")
	keys = fleet.directory / "hosts" / "h1"

	def expect(why, *options, directory=keys):
		done = e2e.run(e2e.monitor, "agent", "--keys", directory, "--host", "h1", "--spool", fleet.work / "spool", *options, exit_code=1, timeout=20)
		e2e.expect(why in done.stderr and not (fleet.work / "spool").exists(), f"{options}: {done.stderr}")
	expect("not an option that hosts can be asked for", "--allow", "events,output")
	expect("there is no user no-such-user", "--allow-commands", "no-such-user")
	expect("do not run as root", "--allow-commands", "root")
	expect("without TLS only", "--hub", "nats://hub.example.org")
	expect("not a size", "--spool-max", "much")
	expect("has the operator's keys", directory=fleet.keys)
	if fleet_lab.is_root():
		expect("cannot be root", "--user", "root")
		expect("there is no user no-such-user", "--user", "no-such-user")
	for change, why in ((lambda path: (path / "me.key").chmod(0o640), "can be read by others"),
	                    (lambda path: (path / "operator.pub").chmod(0o666), "can be changed by others"),
	                    (lambda path: path.chmod(0o777), "can be changed by others"),
	                    (lambda path: shutil.copy(fleet.directory / "hosts" / "h2" / "me.key", path / "me.key"), "is not the key of"),
	                    (lambda path: (path / "operator.pub").write_text("x"), "no Ed25519 public key"),
	                    (lambda path: (path / "me.pem").write_text("x"), "has no certificate"),
	                    (lambda path: (path / "hub").unlink(), "where the hub is")):
		copy = fleet.work / "copy"
		shutil.rmtree(copy, ignore_errors=True)
		shutil.copytree(keys, copy)
		change(copy)
		expect(why, directory=copy)


def split():
	"""Who has which privileges."""
	if not fleet_lab.is_root():
		return e2e.leave_out("split", "it needs root")
	with fleet_lab.Fleet("split", "h1") as fleet:
		agent = connected(fleet.agent("h1"))
		network, = fleet_lab.children_of(agent.pid)
		uid = pwd.getpwnam(NETWORK_USER).pw_uid
		found = status_of(network)
		for name in ("CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd"):
			e2e.equal(f"network process: {name}", int(found[name][0], 16), 0)
		e2e.equal("network process: uids", {int(number) for number in found["Uid"]}, {uid})
		e2e.equal("network process: NoNewPrivs", found["NoNewPrivs"], ["1"])
		e2e.expect(inet_sockets(network), "the network process has no socket?")
		e2e.equal("sockets of the privileged process", inet_sockets(agent.pid), [])
		e2e.expect(int(status_of(agent.pid)["CapEff"][0], 16) != 0, "the privileged process has no privileges?")
		spool = fleet.spools / "spool-h1"
		for name, owner, mode in ((".", 0, 0o711), ("runs", uid, 0o711), ("starter", 0, 0o700), ("starter/nonces", 0, 0o600)):
			found = (spool / name).stat()
			e2e.equal(f"spool/{name}", (found.st_uid, oct(found.st_mode & 0o777)), (owner, oct(mode)))


def kernel():
	"""Two hosts record the kernel at the same time."""
	e2e.need_recording()
	with fleet_lab.Fleet("kernel", "h1", "h2") as fleet:
		for host in ("h1", "h2"):
			connected(fleet.agent(host))
		done = fleet.run("record", "--run", "k1", "-e", "sched", "-d", "1", "--no-calibration", "--note", "a note", "--lead", "500ms")
		e2e.expect("2 of 2 hosts started, within" in done.stderr, done.stderr)
		e2e.expect(done.stdout.count("recording") == 2, done.stdout)
		owner = pwd.getpwnam(NETWORK_USER).pw_uid
		for host in ("h1", "h2"):
			agent = next(process for process in fleet.processes if process.log.name == f"{host}.log")
			agent.wait_for("run k1 has ended with exit code 0")
			trace = fleet.trace(host, "k1")
			e2e.equal(f"{host}: owners", {path.stat().st_uid for path in (trace.directory, *trace.directory.rglob("*"))}, {owner})
			trace.expect_true()
			e2e.equal(f"{host}: note", trace.recording()["note"], "a note")
			classes = {event["event"] for event in trace.events()}
			e2e.expect("sched_switch" in classes and "sys_enter" not in classes, f"{host}: {classes}")
		again = fleet.rows("record", "--run", "k1", "-d", "1", exit_code=1)
		e2e.expect(all(row["state"] == "refused" and "run of this name" in row["reason"] for row in again.values()), again)
		failed = fleet.rows("record", "--run", "k2", "--filter", "no_such_field == 1", exit_code=1)
		e2e.expect(all(row["state"] == "failed" and "no_such_field" in row["reason"] for row in failed.values()), failed)


def started_and_stopped():
	with fleet_lab.Fleet("stop", "h1", "h2", "other") as fleet:
		agents = {host: connected(fleet.agent(host)) for host in ("h1", "other")}
		rows = fleet.rows("record", "--run", "s1", "--hosts", "h*", *USER_ONLY, exit_code=1)
		e2e.equal("states", {host: row["state"] for host, row in rows.items()}, {"h1": "recording", "h2": "no answer"})
		e2e.expect(0 <= rows["h1"]["late_ns"] < 60e9, rows)
		fleet_lab.wait_for(lambda: fleet.rows("status", exit_code=1)["h1"]["runs"] == "s1", "s1 in the status")
		e2e.expect("s1" not in agents["other"].text(), "a host that was not chosen was asked")
		rows = fleet.rows("stop", "--run", "s1", "--hosts", "h1,other", exit_code=1)
		e2e.expect("no run of this name" in rows["other"]["reason"], rows)
		agents["h1"].wait_for("run s1 has ended with exit code 0")
		recording = fleet.trace("h1", "s1").recording()
		e2e.equal("state of s1", recording["state"], "complete")
		done = fleet.run("record", "--hosts", "x*", exit_code=125)
		e2e.expect("no host matches 'x*'" in done.stderr, done.stderr)
		done = fleet.run("record", "--run", "../x", exit_code=125)
		e2e.expect("not the name of a run" in done.stderr, done.stderr)
		done = fleet.run("record", "--trigger", "a == 1 => run 'x'", exit_code=125)
		e2e.expect("cannot have the word run" in done.stderr, done.stderr)


@e2e.longer
def collected():
	"""With -o the traces come here, bit by bit, while a command runs here; its exit code is passed on."""
	e2e.need_recording()
	with fleet_lab.Fleet("collected", "h1", "h2") as fleet:
		for host in ("h1", "h2"):
			connected(fleet.agent(host))
		run = fleet.work / "run"
		done = fleet.run("record", "--run", "o1", "-e", "sched", "--no-calibration", "-o", run, "--", "sh", "-c", "sleep 0.5; exit 5",
		                 exit_code=5)
		e2e.expect("2 of 2 hosts started" in done.stderr and "of 2 hosts in" in done.stderr, done.stderr)
		e2e.expect(done.stdout.count("ended") == 2, done.stdout)
		for host in ("h1", "h2"):
			here, there = (e2e.Trace(path) for path in (run / host, fleet.trace(host, "o1").directory))
			names = sorted(path.relative_to(there.directory) for path in there.directory.rglob("*") if path.is_file())
			e2e.expect(len(names) > 3, names)
			for name in names:
				e2e.expect((here.directory / name).read_bytes() == (there.directory / name).read_bytes(), f"{host}/{name} differs")
			here.expect_true()
		for host in ("h1", "h2"):
			e2e.expect(re.search(rf"^monitor: clock of {host}: off by [\d.]+ to [\d.]+ us at most \(its own clock's [\d.]+ us included\), by \d+ exchanges$", done.stderr, re.M), done.stderr)
		statements = {each["id"]: each for each in json.loads(e2e.run(e2e.monitor, "check", "--json", run, exit_code=None).stdout)}
		e2e.expect(statements["clock_loop"]["verdict"] == "ok" and "1 loops" in statements["clock_loop"]["text"], statements["clock_loop"])
		clocks = json.loads(e2e.run(e2e.monitor, "info", "--json", run).stdout)["system_clocks"]
		e2e.expect(sorted(clocks) == ["h1", "h2"] and all("synchronised" in clock for clock in clocks.values()), clocks)
		e2e.expect(all("synchronised" in row["system_clock"] for row in fleet.rows("status").values()), "status says nothing of system clocks")
		reports = json.loads(e2e.run(e2e.monitor, "report", "--json", run).stdout)
		e2e.equal("reports of the run", [pathlib.Path(report["trace"]).name for report in reports], ["h1", "h2"])
		e2e.expect(all(report["rows"] for report in reports), "a report without rows")
		fleet_lab.wait_for(lambda: all(row["unsent_blocks"] == 0 for row in fleet.rows("status").values()), "nothing is unsent")
		uncollected_first(fleet)
		done = fleet.run("record", "--run", "o2", "-e", "sched", "-d", "0.3", "--no-calibration", "-o", fleet.work / "run2")
		e2e.expect("of 2 hosts in" in done.stderr, done.stderr)


def uncollected_first(fleet):
	"""A run that nobody collects does not keep another one from being collected; snapshots are collected, too."""
	quick = ("--hosts", "h1", "-e", "sched", "--no-calibration")
	fleet.run("record", "--run", "first", *quick, "-d", "0.3")
	fleet_lab.wait_for(lambda: fleet.rows("status")["h1"]["unsent_blocks"] > 0, "blocks that nobody has taken")
	run = fleet.work / "second"
	done = fleet.run("record", "--run", "second", *quick, "-d", "0.3", "-o", run)
	e2e.expect("of 1 hosts in" in done.stderr and "others" not in done.stderr, done.stderr)
	e2e.Trace(run / "h1").expect_true()
	e2e.equal("the second one's traces", [trace["directory"] for trace in fleet_accounts(run)["h1"]["traces"]], ["h1"])
	run = fleet.work / "flight"
	done = fleet.run("record", "--run", "flight", *quick, "--flight", "4M", "--snapshots", "1", "--trigger", 'name == "sched_switch" => snapshot',
	                 "-o", run)
	snapshot, = (trace["directory"] for trace in fleet_accounts(run)["h1"]["traces"])
	e2e.equal("state of the snapshot", e2e.Trace(run / snapshot).recording()["state"], "complete")


def fleet_accounts(run):
	"""What the collector says of each host."""
	return {host["host"]: host for host in json.loads((run / ".monitor/fleet.json").read_text())["hosts"]}


def ends():
	"""Recordings survive the network process, and end with the agent, also when it is killed."""
	with fleet_lab.Fleet("ends", "h1") as fleet:
		agent = connected(fleet.agent("h1"))
		fleet.run("record", "--run", "e1", *USER_ONLY)
		network = next(pid for pid in fleet_lab.children_of(agent.pid)
		               if "record" not in pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0"))
		os.kill(network, signal.SIGKILL)
		connected(agent, times=2)
		fleet_lab.wait_for(lambda: fleet.rows("status")["h1"]["runs"] == "e1", "e1 after the network process was killed")
		e2e.equal("exit code after SIGTERM", agent.end(), 0)
		e2e.equal("state of e1", fleet.trace("h1", "e1").recording()["state"], "complete")
		agent = connected(fleet.agent("h1"), times=3)
		fleet.run("record", "--run", "e2", *USER_ONLY)
		recorder = next(pid for pid in fleet_lab.children_of(agent.pid)
		                if "record" in pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0"))
		agent.end(signal.SIGKILL)
		fleet_lab.wait_for(lambda: not pathlib.Path(f"/proc/{recorder}/fd").exists() or not os.listdir(f"/proc/{recorder}/fd"),
		                   "the recorder ends with the agent")
		recording = fleet.trace("h1", "e2").recording()
		e2e.equal("state of e2", (recording["state"], recording["end_reason"]), ("complete", "whoever asked for it has ended"))


@e2e.longer
def as_the_units_say():
	"""The agent with the capabilities and the read-only file system of its unit; systemd accepts both units."""
	for name, most in (("agent", 4), ("hub", 2)):
		unit = (SOURCE / f"share/systemd/monitor-{name}.service").read_text()
		if not shutil.which("systemd-analyze"):
			e2e.leave_out("the units", "systemd-analyze is not installed")
			break
		path = e2e.work / f"monitor-{name}.service"
		text = re.sub("^ExecStart=(monitor|nats-server)", lambda found: f"ExecStart={shutil.which(found[1]) or e2e.monitor}", unit, flags=re.M)
		path.write_text(re.sub("^(Documentation|WorkingDirectory)=.*\n", "", text, flags=re.M))
		done = e2e.run("systemd-analyze", "verify", path)
		e2e.equal(f"systemd says of {name}", done.stdout + done.stderr, "")
		done = e2e.run("systemd-analyze", "security", "--offline=true", "--no-pager", path)
		exposure = float(re.search(r"Overall exposure level for .*: ([\d.]+)", done.stdout)[1])
		e2e.expect(exposure < most, f"{name}: exposure {exposure}")
	e2e.need_recording()
	unit = (SOURCE / "share/systemd/monitor-agent.service").read_text()
	kept = re.search(r"^CapabilityBoundingSet=(.*)$", unit, re.M)[1].split()
	bounds = "-all," + ",".join("+" + name.removeprefix("CAP_").lower() for name in kept)
	script = ("mount --make-rprivate / && mount --bind / / && mount -o remount,bind,ro / && mount --bind $SPOOLS $SPOOLS && "
	          "mount -o remount,bind,rw $SPOOLS && for d in /proc/sys /sys; do mount --bind $d $d && mount -o remount,bind,ro $d; done; "
	          "exec \"$@\"")
	with fleet_lab.Fleet("unit", "h1") as fleet:
		agent = connected(fleet.agent("h1", before=[*e2e.own_mounts(), "sh", "-c", script, "sh", "setpriv", f"--bounding-set={bounds}",
		                                            "--inh-caps=-all", "--no-new-privs"], env=dict(os.environ, SPOOLS=str(fleet.spools))))
		fleet.run("record", "--run", "u1", "-e", "sched", "-d", "0.3", "--no-calibration")
		agent.wait_for("run u1 has ended with exit code 0")
		fleet.run("record", "--run", "u2", "-e", "sched", "--no-calibration")
		fleet.run("stop", "--run", "u2")  # which needs CAP_KILL
		agent.wait_for("run u2 has ended with exit code 0")
		fleet.trace("h1", "u1").expect_true()


def commands():
	"""Programs run only where that was permitted, as whom it was."""
	user = NETWORK_USER if fleet_lab.is_root() else pwd.getpwuid(os.geteuid()).pw_name
	with fleet_lab.Fleet("commands", "h1", "h2") as fleet:
		place = fleet.spools / "place"
		place.mkdir()
		place.chmod(0o777)
		connected(fleet.agent("h1", "--allow-commands", user))
		connected(fleet.agent("h2"))
		script = f"id -un > {place}/who; grep CapEff /proc/self/status > {place}/capabilities; exit 7"
		fleet.run("record", "--hosts", "h1", "--run", "c1", *USER_ONLY, "--cmd-on", "h1", "--", "sh", "-c", script)
		fleet.processes[0].wait_for("run c1 has ended with exit code 7")
		if e2e.others_may_enter("who runs the command", place):
			e2e.equal("who ran it", (place / "who").read_text().strip(), user)
			e2e.equal("with", (place / "capabilities").read_text().split()[1].strip("0"), "")
		script = f"sleep 300 & echo $! > {place}/child; wait"
		fleet.run("record", "--hosts", "h1", "--run", "c3", *USER_ONLY, "--cmd-on", "h1", "--", "sh", "-c", script)
		child = int(fleet_lab.wait_for(lambda: (place / "child").exists() and (place / "child").read_text(), "the command's child"))
		fleet.run("stop", "--hosts", "h1", "--run", "c3")
		fleet_lab.wait_for(lambda: not pathlib.Path(f"/proc/{child}/status").exists() or status_of(child)["State"][0] == "Z",
		                   "what the command has started ends with it")
		rows = fleet.rows("record", "--hosts", "h2", "--run", "c2", *USER_ONLY, "--cmd-on", "h2", "--", "touch", place / "no", exit_code=1)
		e2e.equal("states", {host: row["state"] for host, row in rows.items()}, {"h2": "refused"})
		e2e.expect("runs no commands" in rows["h2"]["reason"] and not (place / "no").exists(), rows)


def older_agent():
	"""One that ignores what it does not know is named: here it is a client with the host's keys."""
	with fleet_lab.Fleet("older", "h1", "web3") as fleet:
		connected(fleet.agent("h1"))
		older = fleet_lab.Client(fleet, fleet.directory / "hosts" / "web3")
		older.subscribe("m.ctl.web3")
		older.flush()
		hello = json.dumps({"version": 1, "monitor": "0.0.1", "session": "s"})
		words = ("record", "--run", "r", *USER_ONLY, "-d", "0.1", "--lead", "100ms")

		def record(*options):
			sent = fleet_lab.Process(fleet.work / "record.log", e2e.monitor, "fleet", *words[:1], "--keys", fleet.keys, *words[1:3], *words[3:], *options)
			fleet.processes.append(sent)

			def is_asked():
				older.publish("m.hello.web3", hello)
				return fleet_lab.refused(lambda: asked.append(older.message(0.1)[1])) == ""
			asked = []
			fleet_lab.wait_for(is_asked, "the command")
			nonce = json.loads(json.loads(asked[0])["message"])["nonce"]
			for kind in ("accepted", "started", "ended"):
				older.publish("m.answer.web3", json.dumps({"version": 1, "kind": kind, "nonce": nonce, "run": "r", "exit_code": 0}))
			older.flush()
			return sent.process.wait(30), sent.text()
		code, text = record("--forward", "on-demand")
		e2e.expect(code == 1 and text.count("does not know") == 1 and "web3: version 0.0.1 does not know --forward; it forwards batches" in text, text)
		words = ("record", "--run", "r2", *words[3:])
		code, text = record("--forward", "batch")
		e2e.expect(code == 0 and text.count("does not know") == 1, text)


if __name__ == "__main__":
	fleet_lab.need_agents()
	# One process of a machine records programs' own events: who does is in the first lane.
	e2e.main(started_and_stopped, ends, commands, older_agent, beside=[(status, refused_at_start, split, kernel), (collected, as_the_units_say)])
