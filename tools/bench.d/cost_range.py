# SPDX-License-Identifier: MIT
"""Whether the printed range of the probes' cost holds for programs that are not among those of `monitor doctor
--calibrate`: for each what `monitor report` would print for the events of the program and its children, and what the
probes really added to their CPU time, by `monitor plan -- CMD` (whole runs, alternately without and with probes).
Calibrates first, unless MONITOR_FACTORS names a directory that has the file."""
import json
import os
import shutil

from lib import Result, run

TITLE = "cost_range: the printed range of the probes' cost, beside what they took"

SQL = "create table t(a integer primary key, b text);" + "insert into t(b) values('some text');" * 60 + \
	"select count(*) from t a, t b, t c where a.b = b.b and c.a < 30; drop table t;"
NGINX = "daemon off; master_process off; user root; pid {0}/pid; error_log /dev/null; events {{}} " \
	"http {{ access_log off; server {{ listen 127.0.0.1:8187; root {0}; }} }}"


def loads(context):
	"""Shell scripts by name; those whose program is not there are left out."""
	directory = context.path("files")
	os.makedirs(directory, exist_ok=True)
	with open(f"{directory}/source.c", "w") as file:
		file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint main(void) { return printf(\"%d\", atoi(\"1\")); }\n")
	with open(f"{directory}/nginx.conf", "w") as file:
		file.write(NGINX.format(directory))
	with open(f"{directory}/query.sql", "w") as file:
		file.write(SQL)
	shutil.copy("/bin/true", f"{directory}/page")
	times = "i=0; while [ $i -lt {} ]; do {}; i=$((i+1)); done"
	found = {
		"find": ("find", "find /usr/share /usr/lib -type f -size -40k"),
		"cat": ("cat", times.format(4, "cat /usr/include/*.h /usr/include/*/*.h")),
		"forks": ("sh", times.format(300, "/bin/echo")),
		"compile": ("cc", times.format(3, f"cc -O1 -c -o {directory}/o {directory}/source.c")),
		"sqlite3": ("sqlite3", f"sqlite3 {directory}/db < {directory}/query.sql; rm -f {directory}/db"),
		"nginx": ("nginx", f"nginx -p {directory} -c nginx.conf & sleep 0.1; " +
		          times.format(40, "curl -s -o /dev/null http://127.0.0.1:8187/page") + "; kill $!; wait"),
		"tar": ("tar", "tar cf - /usr/share/doc | cat"),
		"grep": ("grep", "grep -r nowhere /usr/share/doc"),
		"git": ("git", times.format(10, "git -C . status")),
		"du": ("du", "du -s /usr/share /usr/lib"),
		"perl": ("perl", "perl -e 'for (1..100) { `echo x` }'"),
		"messages": ("perf", "perf bench sched messaging -g 2 -l 100"),
		"sort": ("sort", "find /usr/share | sort -r | sort | wc"),
	}
	return {name: script for name, (program, script) in found.items() if shutil.which(program)}


def printed(context, command):
	"""What is printed for the events of the command and its children: a recording of it, with their counts. Again if its
	loops contradicted themselves, so that there is no range."""
	own = context.path("own")
	run(context.record(own, "--no-calibration", "-p", "cmd", command=command))
	with open(f"{own}/.monitor/recording.json") as file:
		seen = {cls["id"]: cls["seen"] - cls["filtered"] for cls in json.load(file)["classes"]}
	for _ in range(4):
		summary = with_counts(context, command, seen)
		if summary.get("probes_of_real_code"):
			return summary["probes_cpu_ns_low"], summary["probes_cpu_ns_high"], sum(seen.values())
	return summary["probes_cpu_ns_low"], None, sum(seen.values())


def with_counts(context, command, seen):
	trace = context.path("trace")
	run(context.record(trace, command=command))
	path = f"{trace}/.monitor/recording.json"
	with open(path) as file:
		recording = json.load(file)
	recording.pop("stacks", None)
	for cls in recording["classes"]:
		cls["seen"] = seen.get(cls["id"], 0)
	with open(path, "w") as file:
		json.dump(recording, file)
	return json.loads(run([context.monitor, "info", "--json", trace]))["summary"]


def bench(context):
	result = Result(TITLE)
	if "MONITOR_FACTORS" not in os.environ:
		os.environ["MONITOR_FACTORS"] = context.path("factors")
		run([context.monitor, "doctor", "--calibrate", *(["--quick"] if context.smoke else [])])
	rows, holds, known, widest = [], 0, 0, 0
	chosen = loads(context)
	for name, script in list(chosen.items())[: context.scale(len(chosen), 1)]:
		command = ["sh", "-c", script + " > /dev/null 2>&1"]
		run(command)  # its files are in the page cache
		low, high, events = printed(context, command)
		found = json.loads(run([context.monitor, "plan", "-d", str(context.seconds_or(5, 1)), "--json", "--", *command]))
		cpu_ns = found["cpu_ns"]
		measured = [found[key] for key in ("low_percent", "percent", "high_percent")]
		row = [name, f"{events:,}", f"{cpu_ns / 1e6:.0f}"]
		if high is None:
			rows.append([*row, f"at least {low / cpu_ns * 100:.1f}", "{1:.1f} ({0:.1f} to {2:.1f})".format(*measured), found["pairs"], "unknown"])
			continue
		known += 1
		low, high = low / cpu_ns * 100, high / cpu_ns * 100
		is_held = measured[0] <= high and measured[2] >= low
		holds += is_held
		widest = max(widest, high / low)
		where = "holds" if low <= measured[1] <= high else "within its interval" if is_held else "no"
		rows.append([*row, f"{low:.1f} to {high:.1f}", "{1:.1f} ({0:.1f} to {2:.1f})".format(*measured), found["pairs"], where])
	result.table(["", "events", "CPU ms", "printed, % of it", "measured, % of it", "pairs", "range"], rows)
	if known:
		result.bar("loads in whose interval of measurement the range is, of all", holds / known * 100, 90, "%", at_least=True)
		result.bar("widest range, high / low", widest, 1.5)
	result.figures["loads"] = rows
	return result
