#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`monitor report requests`: a client and a service, each recorded as if it ran on a host of its own, whose clocks only
their messages relate. Needs no privilege: the events are the programs' own."""
import json
import os

import e2e

LOAD = os.path.join(e2e.programs, "request_load")
REQUESTS, SLOW = 300, 177
AHEAD_S = 3600  # the service's clock
SYNC = ("--sync", 'name == "shop:sent" or name == "shop:done"', 'name == "shop:query" or name == "shop:received"')


def other_host(trace, host, ahead_s):
	"""The same trace as another machine would have written it, which was booted on its own and has the wrong time."""
	metadata = (trace.directory / "metadata").read_text()
	own = e2e.run("uname", "-n").stdout.strip()
	lines = metadata.splitlines(keepends=True)
	for i, line in enumerate(lines):
		if f'hostname = "{own}"' in line:
			lines[i] = line.replace(f'"{own}"', f'"{host}"')
		if "offset_s = " in line:
			before, rest = line.split("offset_s = ", 1)
			seconds, after = rest.split(";", 1)
			lines[i] = f"{before}offset_s = {int(seconds) + ahead_s};{after}"
	(trace.directory / "metadata").write_text("".join(lines))
	file = trace.directory / ".monitor" / "recording.json"
	recording = json.loads(file.read_text())
	recording["boot_id"] = f"{recording.get('boot_id', '')[:-4]}{ahead_s:04}"
	file.write_text(json.dumps(recording))


def record():
	service = e2e.Recorder("db", "--user-only", command=(LOAD, "serve", REQUESTS))
	port = e2e.values(service.process.stdout.readline())["port"]
	web = e2e.record("web", "--user-only", command=(LOAD, "ask", port, REQUESTS, SLOW))
	db = service.end(number=None)
	other_host(web, "web", 0)
	other_host(db, "db", AHEAD_S)
	return web, db


def requests(directory, *options, also=()):
	return json.loads(e2e.run(e2e.monitor, "report", directory, *also, "requests", "--key", "request", "--json", *options).stdout)


def rows_of(answer):
	return {(row["from_event"], row["to_event"]): row for row in answer["rows"]}


def merged():
	"""One collection: who made the request slow is exact, although the clocks are an hour apart."""
	web, db = record()
	e2e.run(e2e.monitor, "merge", "-o", e2e.work / "run", web.directory, db.directory, *SYNC, "--key", "request")
	answer = requests(e2e.work / "run", "--top", "0")
	summary = answer["summary"]
	e2e.equal("requests", (summary["requests"], summary["events"], summary["single_event_keys"], summary["lost"]),
	          (REQUESTS, 6 * REQUESTS, 0, 0))
	e2e.equal("hosts", set(summary["hosts"]), {"web", "db"})
	slow = answer["slowest"][0]
	e2e.equal("the slowest", slow["key"], str(SLOW))
	largest = slow["largest"]
	e2e.equal("what made it slow", (largest["from_host"], largest["from_event"], largest["to_event"], largest["exact"], largest["sure"]),
	          ("db", "shop:query", "shop:done", True, True))
	e2e.expect(largest["time_ns"] >= 900_000_000 and largest["share_percent"] > 50, f"it took 900 ms there: {largest}")

	rows = rows_of(answer)
	there, back = rows["shop:sent", "shop:query"], rows["shop:done", "shop:received"]
	for row in (there, back):
		e2e.equal("between the hosts", (row["requests"], row["exact"], row["unknown"]), (REQUESTS, False, 0))
		e2e.expect(0 < row["bound_ns"] < 1_000_000, f"the bound of messages that take some 50 us: {row}")
	for pair in (("shop:begin", "shop:sent"), ("shop:query", "shop:done"), ("shop:received", "shop:end")):
		e2e.equal(f"{pair}", (rows[pair]["requests"], rows[pair]["exact"], rows[pair]["bound_ns"]), (REQUESTS, True, 0))
	e2e.equal("contradictions", answer["backwards"], [])
	return web, db, answer


def exact_is_alone():
	"""What is exact is what the trace of that host alone says; the way there and back is what is left."""
	web, db, answer = WEB, DB, ANSWER
	alone = {name: {request["key"]: request for request in requests(trace.directory, "--top", "0")["slowest"]}
	         for name, trace in (("web", web), ("db", db))}
	by_host = {(row["host"], row["other_host"]): row for row in requests(e2e.work / "run", "--by", "host")["rows"]}
	within = {"web": 0, "db": 0}
	away = 0
	for request in answer["slowest"]:
		total = alone["web"][request["key"]]["time_ns"]
		e2e.expect(request["exact"] and abs(request["time_ns"] - total) <= 3, f"{request['time_ns']} ns, alone {total}: {request['key']}")
		served = alone["db"][request["key"]]["time_ns"]
		(step,) = (step for step in request["steps"] if step["from_event"] == "shop:query")
		e2e.expect(abs(step["time_ns"] - served) <= 3, f"{step} is not {served} ns")
		within["db"] += served
		(waited,) = (step["time_ns"] for step in alone["web"][request["key"]]["steps"] if step["from_event"] == "shop:sent")
		within["web"] += total - waited
		away += waited - served
		for there, back in ((request["steps"][1], request["steps"][3]),):
			both, bound = there["time_ns"] + back["time_ns"], there["bound_ns"] + back["bound_ns"]
			e2e.expect(abs(both - (waited - served)) <= bound, f"there and back {both} ns ±{bound}, by both clocks {waited - served}")
	for host, ns in within.items():
		e2e.expect(abs(by_host[host, None]["total_ns"] - ns) <= 3 * REQUESTS, f"on {host}: {by_host[host, None]}, not {ns}")
	between = next(row for (host, other), row in by_host.items() if other)
	e2e.expect(abs(between["total_ns"] - away) <= between["bound_ns"] * REQUESTS and between["unknown"] == 0, f"{between}, not {away}")


def printed():
	text = e2e.run(e2e.monitor, "report", e2e.work / "run", "requests", "--key", "request", "--top", "2").stdout
	lines = text.splitlines()
	e2e.expect(lines[0].startswith(f"{REQUESTS} requests by request, 1,800 events on 2 hosts"), lines[0])
	e2e.expect("db shop:query -> db shop:done" in lines[3] and " exact " in lines[3], lines[3])
	(slow,) = (line for line in lines if line.startswith(f"{SLOW}: "))
	e2e.expect(" ms exact, of it 9" in slow and "on db between shop:query and shop:done: exact" in slow, slow)
	e2e.equal("--top 2", sum(": " in line and " of it " in line for line in lines), 2)
	csv = e2e.run(e2e.monitor, "report", e2e.work / "run", "requests", "--key", "request", "--csv").stdout.splitlines()
	e2e.expect(csv[0].startswith("from_host,from_event,to_host,to_event,requests,count,median_ns,"), csv[0])
	filtered = requests(e2e.work / "run", "--filter", "request <= 10 and name != \"shop:begin\"")
	e2e.equal("--filter", (filtered["summary"]["requests"], filtered["summary"]["events"]), (10, 50))


def unrelated():
	"""Without a relation of the clocks nothing is known between the hosts, and nothing is 0."""
	answer = requests(WEB.directory, also=[DB.directory])
	rows = rows_of(answer)
	e2e.expect(all((row["from_host"] == row["to_host"]) == row["exact"] for row in answer["rows"]), f"{rows}")
	between = [row for row in answer["rows"] if row["from_host"] != row["to_host"]]
	e2e.expect(between and all(row["median_ns"] is None and row["bound_ns"] is None and row["order"] == "unknown" for row in between), f"{between}")
	e2e.equal("requests of unknown time", answer["summary"]["unknown_time"], REQUESTS)
	e2e.expect(rows["shop:query", "shop:done"]["max_ns"] >= 900_000_000, f"{rows}")
	text = e2e.run(e2e.monitor, "report", WEB.directory, DB.directory, "requests", "--key", "request").stdout
	e2e.expect(f"{REQUESTS} requests lead from one host to another whose clock is not known" in text, text)


def refused():
	for code, says, *words in (
	        (2, "the report requests needs --key", WEB.directory, "requests"),
	        (2, "--key needs the report requests", WEB.directory, "activities", "--key", "request"),
	        (2, "--filter needs the report requests: the states of threads need all events", WEB.directory, "--filter", "cpu == 0"),
	        (2, "--by step needs the report requests", WEB.directory, "--by", "step"),
	        (2, "requests can be grouped by step or host, not by cpu", WEB.directory, "requests", "--key", "request", "--by", "cpu"),
	        (2, "is not drawn", WEB.directory, "requests", "--key", "request", "--plot"),
	        (1, "no event of this trace has a field reqest. Did you mean request", WEB.directory, "requests", "--key", "reqest"),
	        (1, "tid means another thing on each host", WEB.directory, "requests", "--key", "tid"),
	        (1, "no event with request matches the options", WEB.directory, "requests", "--key", "request", "--filter", "request > 1000")):
		done = e2e.run(e2e.monitor, "report", *words, exit_code=code)
		e2e.expect(says in done.stderr and done.stderr.count("\n") == 1, f"{words}: {done.stderr}")


def make():
	global WEB, DB, ANSWER
	WEB, DB, ANSWER = merged()


if __name__ == "__main__":
	if "reads traces only" in e2e.run(e2e.monitor, "events", exit_code=None).stderr:
		e2e.skip("this build has no record side")
	if os.uname().machine != "x86_64":
		e2e.skip("the user card is for x86-64")
	e2e.main(make, exact_is_alone, printed, unrelated, refused)
