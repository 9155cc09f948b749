# SPDX-License-Identifier: MIT
"""SQL of N inserts, each a transaction of its own."""
import sys

print("PRAGMA synchronous=FULL; CREATE TABLE t(a, b);")
for number in range(int(sys.argv[1])):
	print(f"INSERT INTO t VALUES({number}, 'text {number}');")
