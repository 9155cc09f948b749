# SPDX-License-Identifier: MIT
"""`monitor merge`: traces of three hosts whose clocks are apart, joined by their messages or by what is known of the
clocks; two whose clocks drift, and one whose clock steps. merge.py MONITOR WORKDIR; babeltrace2, if it is there, must read the collection in the same order."""
import bisect
import json
import math
import pathlib
import random
import shutil
import struct
import subprocess
import sys

METADATA = """/* CTF 1.8 */
trace {{ major = 1; minor = 8; uuid = "{uuid}"; byte_order = le; }};
env {{ hostname = "{host}"; tracer_name = "{tracer}"; }};
clock {{ name = c; freq = {freq}; {told} offset_s = {offset_s}; offset = 17; /* ticks */ }};
typealias integer {{ size = 64; align = 8; map = clock.c.value; }} := time;
typealias integer {{ size = 32; align = 8; }} := u32;
stream {{
	packet.context := struct {{ time timestamp_begin; time timestamp_end; }};
	event.header := struct {{ u32 id; time timestamp; }};
}};
event {{ name = "send"; id = 1; fields := struct {{ u32 message; u32 to; }}; }};
event {{ name = "receive"; id = 2; fields := struct {{ u32 message; u32 from; }}; }};
event {{ name = "work"; id = 3; fields := struct {{ u32 n; }}; }};
"""
EPOCH_S = 1_600_000_000
# as a recording of monitor, as lttng-modules, as others
TOLD = {"a": ("monitor", "absolute = true;"), "b": ("lttng-modules", 'uuid = "00000000-0000-0000-0000-0000000000cc";'),
        "c": ("other", "absolute = FALSE;")}
HOSTS = {"a": (0, 1_000_000_000), "b": (+700_000, 1_000_000_000), "c": (-2_000_000, 250_000_000)}  # ns ahead, Hz


def write(directory, host, number, events, ahead=None):
	"""`events`: (true ns, id, fields). Times are those of the host's own clock, which is ahead: always by the same, or
	by ahead(true ns)."""
	ahead_ns, freq = HOSTS[host]
	ahead = ahead or (lambda _: ahead_ns)
	directory.mkdir(parents=True)
	tracer, told = TOLD[host]
	(directory / "metadata").write_text(METADATA.format(uuid=f"00000000-0000-0000-0000-00000000000{number}", host=host,
	                                                    freq=freq, offset_s=EPOCH_S, tracer=tracer, told=told))
	ticks = [((ns + ahead(ns)) * freq // 1_000_000_000 - 17, cls, fields) for ns, cls, fields in sorted(events)]
	body = b"".join(struct.pack("<IQ", cls, at) + struct.pack(f"<{len(fields)}I", *fields) for at, cls, fields in ticks)
	(directory / "stream").write_bytes(struct.pack("<QQ", ticks[0][0], ticks[-1][0]) + body)


def make(work):
	rng = random.Random(7)
	events = {host: [(10_000_000 + n * 50_000, 3, (n,)) for n in range(200)] for host in HOSTS}
	hosts = list(HOSTS)
	for message in range(600):
		sender, receiver = rng.sample(hosts, 2)
		sent = 10_000_000 + rng.randrange(10_000_000)
		took = 4_000 + rng.randrange(40_000)
		events[sender].append((sent, 1, (message, hosts.index(receiver))))
		events[receiver].append((sent + took, 2, (message, hosts.index(sender))))
	for number, host in enumerate(hosts):
		write(work / host, host, number, events[host])


def run(*command, code=0):
	done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
	assert done.returncode == code, f"{command}: exit code {done.returncode}: {done.stderr}"
	return done


def rows(monitor, *directories):
	return [json.loads(line) for line in run(monitor, "list", "--json", *directories).stdout.splitlines()]


def contradictions(events):
	"""Messages that arrive before they were sent."""
	sent, found = set(), 0
	for event in events:
		if event["event"] == "send":
			sent.add(event["fields"]["message"])
		elif event["event"] == "receive":
			found += event["fields"]["message"] not in sent
	return found


def check_order(monitor, collection):
	if not shutil.which("babeltrace2"):
		print("babeltrace2 is not installed: its order was not compared")
		return
	theirs = [line.split(") ", 1)[1].split(": {")[0] for line in run("babeltrace2", collection).stdout.splitlines()]
	ours = [f"{event['host']} {event['event']}" for event in rows(monitor, collection)]
	assert sorted(theirs) == sorted(ours), "babeltrace2 reads other events"
	same = sum(their == our for their, our in zip(theirs, ours))
	assert same > 0.98 * len(ours), f"babeltrace2 reads another order: {same} of {len(ours)} agree"


def by_messages(monitor, work):
	traces = [work / host for host in HOSTS]
	apart = rows(monitor, *traces)
	assert contradictions(apart) > 50, "without merging the clocks should be apart"
	assert sum("order_unknown" in event for event in apart) > 1500, "nothing is known of their order"
	run(monitor, "merge", "-o", work / "synced", *traces, "--sync", 'name == "send"', 'name == "receive"', "--key",
	    "message")
	parts = {part["directory"]: part for part in json.loads((work / "synced/.monitor/collection.json").read_text())["parts"]}
	for host, (ahead_ns, _) in HOSTS.items():
		off = abs(parts[host]["shift_ns"] + ahead_ns)
		assert parts[host]["bound_ns"] is not None and off <= parts[host]["bound_ns"] + 8, (host, parts[host])
		assert host == "a" or 1000 < parts[host]["bound_ns"] < 20_000, parts[host]
	events = rows(monitor, work / "synced")
	assert len(events) == 3 * 200 + 1200
	assert {event["host"] for event in events} == set(HOSTS)
	unknown = sum("order_unknown" in event for event in events)
	assert 20 < unknown < len(events), f"{unknown} events of unknown order"
	assert contradictions(events) < 10
	assert "~" in run(monitor, "list", work / "synced").stdout
	for host in HOSTS:  # the streams are as they were
		assert (work / "synced" / host / "stream").read_bytes() == (work / host / "stream").read_bytes()
	# other readers see one offset for each clock: their order is ours without lines
	moved = [word for host in "bc" for word in ("--clock", f"{host}={parts[host]['shift_ns']}ns,1us")]
	run(monitor, "merge", "-o", work / "moved", *traces, *moved)
	for host in HOSTS:
		assert (work / "moved" / host / "metadata").read_text() == (work / "synced" / host / "metadata").read_text()
	check_order(monitor, work / "moved")


def pairs(monitor, work):
	"""`stat` and rules pair the same events, across hosts too."""
	trace = work / "synced"
	for key, least in ((None, 100), ("message", 550)):
		arguments = ["--start", 'name == "send"', "--end", 'name == "receive"', *(["--key", key] if key else []), "--json"]
		measured = json.loads(run(monitor, "stat", trace, *arguments).stdout)["activities"][0]["rows"][0]["count"]
		(work / "pairs.rules").write_text('rule: pairs\nwhen: name == "send"\nthen: name == "receive"\n' +
		                                  (f"key: {key}\n" if key else ""))
		judged = json.loads(run(monitor, "check", trace, "--rules", work / "pairs.rules", "--json").stdout)[0]["cases"]
		assert measured == judged > least, f"of key {key} stat measures {measured} pairs, the rule judges {judged}"


def by_hand(monitor, work):
	traces = [work / host for host in HOSTS]
	run(monitor, "merge", "-o", work / "given", "--copy", *traces, "--clock", "b=-700us,10ns", "--clock", "c=2ms,10ns")
	events = rows(monitor, work / "given")
	assert contradictions(events) == 0
	assert sum("order_unknown" in event for event in events) > 300, "the three work at the same instants"
	work_times = {}
	for event in events:
		if event["event"] == "work":
			work_times.setdefault(event["fields"]["n"], []).append(event["time_ns"])
	assert all(max(times) - min(times) <= 8 for times in work_times.values()), "the clocks do not agree"


def others(monitor, work):
	"""Names that readers would pass over; messages without a key; a clock of coarse ticks; a failure leaves nothing."""
	for host, name in (("a", ".hidden"), ("b", "metadata")):
		shutil.copytree(work / host, work / "names" / name)
	run(monitor, "merge", "-o", work / "named", work / "names/.hidden", work / "names/metadata")
	assert len(rows(monitor, work / "named")) == len(rows(monitor, work / "a", work / "b"))
	assert sorted(path.name for path in (work / "named").iterdir()) == [".monitor", "hidden", "metadata-2"]

	run(monitor, "merge", "-o", work / "keyless", work / "a", work / "b", "--sync", 'name == "send" or name == "work"',
	    'name == "receive" or name == "work"', "--key", "message")
	parts = [json.loads((work / name / ".monitor/collection.json").read_text())["parts"][1] for name in ("keyless", "synced")]
	assert parts[0]["shift_ns"] == parts[1]["shift_ns"], parts

	HOSTS["slow"], TOLD["slow"] = (0, 1), TOLD["c"]
	write(work / "slow", "slow", 9, [(30_000_000_000, 3, (1,))])
	run(monitor, "merge", "-o", work / "rounded", work / "a", work / "slow", "--clock", "slow=-2.4s,1us")
	part = json.loads((work / "rounded/.monitor/collection.json").read_text())["parts"][1]
	assert (part["shift_ns"], part["bound_ns"]) == (-2_000_000_000, 400_001_000), part

	(work / "empty").mkdir()
	(work / "broken").mkdir()
	shutil.copytree(work / "a", work / "broken/a")
	(work / "broken/a/more").mkdir()
	deep = work / "broken/a" / "/".join("d" * 18)
	deep.mkdir(parents=True)
	done = run(monitor, "merge", "-o", work / "empty", work / "b", work / "broken/a", code=1)
	assert "16 levels" in done.stderr and not list((work / "empty").iterdir()), done.stderr


# How far each clock is ahead of the true time, by that time in ns: a rate that differs by 60 ppm and changes by up to 1.9
# ppm in a second, and the same with a step by an hour.
DRIFT_NS = 40_000_000_000
STEP_AT_NS = 25_000_000_000


def drifted(ns):
	return int(-5_000_000 + 60e-6 * ns + 1.9e-6 * 9 * (1 - math.cos(ns / 3e9)) * 1e9)


def stepped(ns):
	return drifted(ns) + (3_600_000_000_000 if ns >= STEP_AT_NS else 0)


def make_drifting(work):
	rng = random.Random(11)
	work_at = [(50_000_000 + n * 40_000_000, 3, (n,)) for n in range((DRIFT_NS - 100_000_000) // 40_000_000)]
	clocks = {"a": None, "d": drifted, "e": stepped}
	events = {host: list(work_at) for host in clocks}
	for message in range(6000):
		sender, receiver = rng.choice((("a", "d"), ("d", "a"), ("a", "e"), ("e", "a")))
		sent = rng.randrange(DRIFT_NS - 10_000_000)
		took = 30_000 + int(rng.expovariate(1 / 100_000 if sender == "a" else 1 / 20_000))
		events[sender].append((sent, 1, (message, 0)))
		events[receiver].append((sent + took, 2, (message, 0)))
	for number, (host, ahead) in enumerate(clocks.items()):
		HOSTS.setdefault(host, (0, 2_999_999_123))
		TOLD.setdefault(host, TOLD["c"])
		write(work / "drifting" / host, host, number, events[host], ahead)


def judge_lines(part, events, host):
	"""Every work of this host against the first one's, which has the true time: (inside, outside, unknown)."""
	nodes, bounds = part["clock"]["nodes"], part["clock"]["bounds_ns"]
	assert len(bounds) == len(nodes) + 1
	true = {event["fields"]["n"]: event["ticks"] for event in events if event["event"] == "work" and event["host"] == "a"}
	found = [0, 0, 0]
	for event in events:
		if event["event"] != "work" or event["host"] != host:
			continue
		bound = bounds[bisect.bisect_right([ns for _, ns in nodes], event["ticks"])]
		off = abs(event["ticks"] - true[event["fields"]["n"]])
		found[2 if bound is None else off > bound] += 1
	return found


def drifting(monitor, work):
	"""Clocks that drift and wander have lines with bounds that hold; a step has windows without a line."""
	make_drifting(work)
	sync = ("--sync", 'name == "send"', 'name == "receive"', "--key", "message")
	traces = [work / "drifting" / host for host in "ade"]
	said = run(monitor, "merge", "-o", work / "lines", *traces, *sync).stdout
	parts = {part["directory"]: part for part in json.loads((work / "lines/.monitor/collection.json").read_text())["parts"]}
	events = rows(monitor, work / "lines")

	inside, outside, unknown = judge_lines(parts["d"], events, "d")
	assert (outside, unknown) == (0, 0) and inside > 900, (inside, outside, unknown)
	assert parts["d"]["clock"]["rho_ppb"] == 2000 and parts["d"]["clock"]["infeasible"] == 0
	known = [bound for bound in parts["d"]["clock"]["bounds_ns"] if bound is not None]
	assert 15_000 < min(known) and max(known) < 150_000, (min(known), max(known))
	assert parts["d"]["bound_ns"] > 1_000_000, "one offset for all would be off by the drift"
	assert f"{min(known)} to {max(known)} ns off; its rate is +6" in said, said

	inside, outside, unknown = judge_lines(parts["e"], events, "e")
	assert outside == 0 and inside > 800 and 10 < unknown < 150, (inside, outside, unknown)
	assert 0 < parts["e"]["clock"]["infeasible"] < 6 and parts["e"]["bound_ns"] is None
	assert f"unknown in {parts['e']['clock']['infeasible']} of " in said, said
	for host in "ade":  # in order as they were
		mine = [event["fields"]["n"] for event in events if event["event"] == "work" and event["host"] == host]
		assert mine == sorted(mine)
	order_of(monitor, work)


def statements(monitor, *arguments, code=0):
	found = json.loads(run(monitor, "check", "--json", *arguments, code=code).stdout)
	return {statement["id"]: statement for statement in found}


def order_of(monitor, work):
	"""What check, info and SQL say about the order between the hosts of `lines`."""
	sync = ("--sync", 'name == "send"', 'name == "receive"', "--key", "message")
	found = statements(monitor, work / "lines", *sync)
	assert found["causality"]["verdict"] == "ok", found["causality"]
	assert found["order_between_hosts"]["verdict"] == "not witnessed", found
	assert found["clock_of_host"]["verdict"] == "not witnessed", "the last host's is unknown at its step"
	clocks = json.loads(run(monitor, "info", "--json", work / "lines").stdout)["clocks"]
	assert [clock["host"] for clock in clocks] == ["a", "d", "e"] and clocks[0]["max_ns"] == 0
	assert clocks[1]["unknown"] == 0 < clocks[2]["unknown"] and clocks[1]["max_ns"] > 15_000
	assert "d is off the common clock by: " in run(monitor, "info", work / "lines").stdout

	# a bound that messages contradict: told, and if given, no bound any more
	text = (work / "lines/.monitor/collection.json").read_text()
	smaller = json.loads(text)
	for part in smaller["parts"]:
		if "clock" in part:
			part["clock"]["nodes"] = [[ticks, ns + 400_000] for ticks, ns in part["clock"]["nodes"]]
	(work / "lines/.monitor/collection.json").write_text(json.dumps(smaller))
	assert statements(monitor, work / "lines", *sync, code=1)["causality"]["verdict"] == "FAILS"
	(work / "lines/.monitor/collection.json").write_text(text)
	said = run(monitor, "merge", "-o", work / "doubted", work / "a", work / "b", "--clock", "b=-600us,10ns",
	           *sync).stdout
	doubted = json.loads((work / "doubted/.monitor/collection.json").read_text())["parts"][1]
	assert doubted["shift_ns"] == -600_000 and doubted["bound_ns"] is None and "contradict" in said, doubted

	# nothing relates the hosts of two collections
	both = json.loads(run(monitor, "info", "--json", work / "given", work / "lines").stdout)["clocks"]
	assert {clock["host"]: clock["known"] > 0 for clock in both if clock["host"] in "bcde"} == {"b": True, "c": True, "d": False, "e": False}, both

	damaged(monitor, work, text)


def damaged(monitor, work, text):
	"""A clock that cannot be used: the trace is read by its own clock, and that is told."""
	wrong = json.loads(text)
	wrong["parts"][1]["clock"]["nodes"].reverse()
	(work / "lines/.monitor/collection.json").write_text(json.dumps(wrong))
	done = run(monitor, "info", "--json", work / "lines")
	assert "do not increase" in done.stderr and done.stderr.count("\n") == 1, done.stderr
	assert json.loads(done.stdout)["clocks"][1]["max_ns"] is None
	(work / "lines/.monitor/collection.json").write_text(text)


def in_sql(monitor, work):
	"""before() is three-valued."""
	help_of = subprocess.run([monitor, "query", "--help"], capture_output=True, text=True, check=False)
	if "left out of this build" in help_of.stdout:
		return
	# the messages from a: known to arrive later, or unknown, never earlier
	sql = ("SELECT before(s.time_ns, s.host, r.time_ns, r.host) AS known, before(r.time_ns, r.host, s.time_ns, s.host) AS "
	       "back, count(*) AS n FROM receive r JOIN send s USING (message) WHERE s.host = 'a' AND r.host = 'd' "
	       "GROUP BY known, back")
	found = {(row["known"], row["back"]): row["n"] for row in json.loads(run(monitor, "query", "--json", work / "lines", sql).stdout)}
	assert set(found) == {(1, 0), (None, None)} and found[1, 0] > 500 and found[None, None] > 10, found
	row = json.loads(run(monitor, "query", "--json", work / "lines", "SELECT before(1, 'a', 2, 'a') AS x, before(2, 'a', 2, 'a') AS y, "
	                     "before(NULL, 'a', 2, 'a') AS z").stdout)[0]
	assert row == {"x": 1, "y": 0, "z": None}, row
	bounds = json.loads(run(monitor, "query", "--json", work / "lines", "SELECT clock_bound_ns(1e9, 'a') AS a, "
	                        "clock_bound_ns(1e9, 'd') AS d, count(clock_bound_ns(time_ns, host)) AS known, count(*) AS n FROM work "
	                        "WHERE host = 'e'").stdout)[0]
	assert bounds["a"] == 0 and 15_000 < bounds["d"] < 150_000 and 0 < bounds["n"] - bounds["known"] < 150, bounds
	done = run(monitor, "query", work / "lines", "SELECT before(1, 'nobody', 2, 'a')", code=1)
	assert "no host nobody" in done.stderr, done.stderr


def refused(monitor, work):
	shutil.copytree(work / "a", work / "a-2")
	for words, says in ((["-o", work / "given", work / "a", work / "b"], "not empty"),
	                    (["-o", work / "x", work / "a", work / "b", "--clock", "z=1us"], "not one of the traces"),
	                    (["-o", work / "x", work / "a", work / "b", "--clock", "a=1us"], "whose clock is kept"),
	                    (["-o", work / "x", work / "a", work / "b", "--clock", "b=soon"], "not an offset"),
	                    (["-o", work / "x", work / "a", work / "a-2", "--clock", "a-2=1us"], "uuid"),
	                    (["-o", work / "x", work / "a", work / "nowhere"], "no trace"),
	                    (["-o", work / "x", work / "a", work / "b", "--sync", 'name == "work"', 'name == "send"', "--key",
	                      "name"], "no message"),
	                    (["-o", work / "x", work / "a", work / "b", "--sync", 'name == "receive"', 'name == "send"', "--key",
	                      "message"], "no line lets")):
		done = run(monitor, "merge", *words, code=1)
		assert says in done.stderr and done.stderr.count("\n") == 1, f"{words}: {done.stderr}"
		assert not (work / "x").exists()
	run(monitor, "merge", "-o", work / "x", work / "a", code=2)


def main():
	monitor, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
	shutil.rmtree(work, ignore_errors=True)
	make(work)
	by_messages(monitor, work)
	pairs(monitor, work)
	by_hand(monitor, work)
	others(monitor, work)
	drifting(monitor, work)
	in_sql(monitor, work)
	refused(monitor, work)
	print("ok")


main()
