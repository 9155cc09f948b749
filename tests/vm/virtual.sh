#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by guest.sh, where a clock of instructions (arm64 under -icount) makes runs repeatable: what report
# --virtual computes for a recorded load is what the same load takes unrecorded. Needs beside it: monitor, virtual_load.
fail() {
	echo "virtual.sh: $*"
	exit 1
}

field() { # WHAT NAME, of the command in the report
	tr -d ' \n' < /tmp/virtual.json | sed 's/.*"command":{//' | sed "s/.*\"$1\":{//; s/}.*//; s/.*\"$2\"://; s/[,}].*//"
}

# The load's own times and those of the report, which begin a little earlier: what is apart is added to what was computed.
# Of an overhead of a quarter to a third the factor between the calibration's loops and other code takes up to 3 %, and runs
# differ by 3 % to either side: 12 % is twice that, and half of what is taken away.
judge() { # UNRECORDED RECORDED MEASURED COMPUTED LOW HIGH
	awk -v truth="$1" -v own="$2" -v measured="$3" -v computed="$4" -v low="$5" -v high="$6" 'BEGIN {
		apart = own - measured; computed += apart; low += apart; high += apart
		printf "unrecorded %.1f ms, recorded %.1f, computed %.1f (%.1f to %.1f)\n", truth / 1e6, own / 1e6, computed / 1e6, low / 1e6, high / 1e6
		exit !(own > 1.2 * truth && low <= truth && truth <= high && computed > 0.88 * truth && computed < 1.12 * truth) }'
}

try() { # LOAD ARGUMENT...
	./virtual_load timed /tmp/unrecorded ./virtual_load "$@" || fail "cannot run $1"
	attempt=0
	until
		rm -rf /tmp/virtual
		./monitor record -e sched,syscall,fault -o /tmp/virtual -- ./virtual_load timed /tmp/recorded ./virtual_load "$@" \
			> /tmp/virtual.out 2>&1 || fail "cannot record $1: $(cat /tmp/virtual.out)"
		./monitor report --json --virtual /tmp/virtual > /tmp/virtual.json 2> /tmp/virtual.out
	do # the report says itself that it has no ground: the emulated CPU was not the same all the time
		attempt=$((attempt + 1))
		grep -q "record again, while less else runs" /tmp/virtual.out && [ $attempt -lt 5 ] ||
			fail "no report of $1: $(cat /tmp/virtual.out)"
		echo "tried again: $(cat /tmp/virtual.out)"
	done
	for what in 1,elapsed 2,cpu; do
		judge "$(cut -d' ' -f${what%,*} /tmp/unrecorded)" "$(cut -d' ' -f${what%,*} /tmp/recorded)" "$(field ${what#*,} measured_ns)" \
			"$(field ${what#*,} virtual_ns)" "$(field ${what#*,} low_ns)" "$(field ${what#*,} high_ns)" ||
			fail "$1, ${what#*,}: that is not what it takes unrecorded"
	done
	rm -rf /tmp/virtual
}

try calls 0 20000
try pipe 0 0 4000
echo "virtual.sh: $(uname -r)"
