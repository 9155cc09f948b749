#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in a guest whose time is counted in instructions (arm64 under -icount, where nothing scatters): times as if nobody
# had measured (report --virtual) beside those of a run that nobody measured. By hand:
#   tests/vm/run --kernel arm64-6.12 --test tests/vm/virtual.sh --with-monitor
# Needs beside it: monitor and virtual_load.
fail() {
	echo "virtual.sh: $*"
	exit 1
}

# of NAME: a figure of the command's CPU time.
of() {
	tr -d ' \n\t' < /tmp/virtual.json | sed -n "s/.*\"command\":{\"cpu\":{[^}]*\"$1\":\([0-9.]*\).*/\1/p"
}

# compare LOAD...: CPU time without the recorder, and computed from a recording.
compare() {
	./virtual_load timed /tmp/plain "$@" > /dev/null || fail "$*: exit status $?"
	rm -rf /tmp/virtual
	./monitor record -e sched,syscall,irq -o /tmp/virtual --buffer 16M -- ./virtual_load timed /tmp/times "$@" > /tmp/record.out 2>&1 ||
		fail "record: exit status $?: $(cat /tmp/record.out)"
	./monitor report --virtual --json /tmp/virtual > /tmp/virtual.json 2> /tmp/virtual.err || fail "report: $(cat /tmp/virtual.err)"
	echo "$(cut -d' ' -f2 /tmp/plain) $(cut -d' ' -f2 /tmp/times) $(of measured_ns) $(of virtual_ns) $(of low_ns) $(of high_ns)" |
		awk -v load="$*" '{
			# What the kernel counts is not the sum between switches: what --virtual takes away is taken from it.
			apart = $2 - $3
			printf "virtual.sh: %s: CPU %.3f ms, recorded %.3f, computed %.3f (%.3f to %.3f): off by %+.2f %%, by %+.2f %% unless computed\n",
				load, $1 / 1e6, $2 / 1e6, ($4 + apart) / 1e6, ($5 + apart) / 1e6, ($6 + apart) / 1e6, (($4 + apart) / $1 - 1) * 100, ($2 / $1 - 1) * 100
			exit !($5 + apart <= $1 && $1 <= $6 + apart)
		}' || fail "$*: the range does not hold the time: $(tail -3 /tmp/record.out)"
}

./monitor record -e sched,syscall,irq -o /tmp/virtual -- ./virtual_load calls 0 4000; tr -d "\n\t" < /tmp/virtual/.monitor/recording.json | sed "s/.*\"calibration\"/calibration/" | cut -c1-1500
compare ./virtual_load calls 0 40000
compare ./virtual_load pipe 0 0 10000
