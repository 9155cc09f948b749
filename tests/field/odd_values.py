#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Values that break sums: negative ones, the largest of 64 bits, large means with small deviations, and reals that are no
number (bpftrace issues 172, 261, 346 and 4468; readers of JSON that round 64 bits): stat, SQL and filters say what
Python's exact arithmetic says."""
import json
import math
import struct
import sys
from fractions import Fraction

import e2e

SETS = {1: [10**15, 10**15 + 1] * 50, 2: [-5, 0, 5] * 33, 3: [-2**63, 2**63 - 1, 0, -1, 1], 4: [-7] * 10, 5: list(range(-100, 101)),
        6: [2**62 + i for i in range(100)], 7: [3], 8: [-(10**k) for k in range(18)], 9: [0] * 5, 10: [10**9, 10**9 + 1, 10**9 + 2] * 40}
REALS = [0.0, -0.0, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan, 0.1, 1 / 3]
RECORDS = [(number, value, value % 2**64, REALS[at % len(REALS)]) for number, values in SETS.items() for at, value in enumerate(values)]
TRACE = e2e.work / "odd.bin"
TDL = ("--tdl", e2e.pathlib.Path(sys.argv[0]).resolve().parent / "odd_values.tdl")


def monitor(command, *words):
	return e2e.run(e2e.reader, command, TRACE, *TDL, *words).stdout


def no_number(word):
	raise ValueError(f"{word} is no JSON")


def read():
	TRACE.write_bytes(b"ODDV" + b"".join(struct.pack("<QIqQd", 1000 * at, *record) for at, record in enumerate(RECORDS)))
	events = [json.loads(line, parse_constant=no_number)["fields"] for line in monitor("list", "--json").splitlines()]
	e2e.equal("values", [(each["set"], each["s"], each["u"]) for each in events], [record[:3] for record in RECORDS])
	rows = json.loads(monitor("query", "--json", "SELECT s, u FROM number ORDER BY time_ns"), parse_constant=no_number)
	e2e.equal("values by SQL", [row["s"] for row in rows], [record[1] for record in RECORDS])


def statistics():
	rows = {int(row["set"]): row for row in json.loads(monitor("stat", "--json", "--value", "s", "--by", "set", "--top", "0"))}
	for number, values in SETS.items():
		row = {key.split("_")[0]: value for key, value in rows[number].items()}
		mean = Fraction(sum(values), len(values))
		deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
		e2e.equal(f"set {number}: count", row["count"], len(values))
		for what, value in (("min", min(values)), ("max", max(values))):
			e2e.near(f"set {number}: {what}", row[what], value, part=1e-15)
		e2e.near(f"set {number}: mean", row["mean"], float(mean), part=1e-9, slack=1e-6)
		e2e.near(f"set {number}: stddev", row["stddev"], deviation, part=1e-6, slack=0.51 if abs(mean) > 1e14 else 1e-3)
		for part in (50, 90, 99):
			exact = sorted(values)[(len(values) * part + 99) // 100 - 1]
			e2e.near(f"set {number}: p{part}", row[f"p{part}"], exact, part=0.0085, slack=1)


def filtered():
	for expression, holds in (("s == -9223372036854775808", lambda s, u, r: s == -2**63), ("s < -1", lambda s, u, r: s < -1),
	                          ("s / 2 == -2", lambda s, u, r: s in (-5, -4)), ("s % 3 == -2", lambda s, u, r: s < 0 and -s % 3 == 2),
	                          ("s + 1 > 9223372036854775807", lambda s, u, r: s == 2**63 - 1), ("s >> 1 == -3", lambda s, u, r: s >> 1 == -3),
	                          ("s in {-5..5}", lambda s, u, r: -5 <= s <= 5), ("s * s == 25", lambda s, u, r: s * s == 25),
	                          ("s / 0 == 0", lambda s, u, r: False), ("u > 9223372036854775807", lambda s, u, r: u >= 2**63),
	                          ("u == 18446744073709551615", lambda s, u, r: u == 2**64 - 1), ("u == -1", lambda s, u, r: False),
	                          ("u >> 63 == 1", lambda s, u, r: u >> 63), ("r > 0", lambda s, u, r: r > 0), ("r == 0", lambda s, u, r: r == 0),
	                          ("not (r == 0)", lambda s, u, r: not r == 0), ("r == 0.1", lambda s, u, r: r == 0.1)):
		e2e.equal(expression, len(monitor("list", "--filter", expression).splitlines()), sum(bool(holds(*record[1:])) for record in RECORDS))


def by_sql():
	"""What is pushed down into the reading of the trace selects what SQLite itself selects."""
	for where in ("s < -1", "s BETWEEN -5 AND 5", "r > 0", "s = 5.0", "s = '5'", "s > 4.5 OR s = 5", "s IN (3, 3.5, NULL, '3')"):
		numbers = [json.loads(monitor("query", "--json", f"SELECT count(*) AS n FROM {table} WHERE {where}"))[0]["n"]
		           for table in ("number", "(SELECT * FROM number LIMIT -1 OFFSET 0)")]
		e2e.equal(f"SQL: {where}", numbers[0], numbers[1])
		e2e.expect(numbers[0], f"SQL: {where}: none")


if __name__ == "__main__":
	e2e.main(read, statistics, filtered, by_sql)
