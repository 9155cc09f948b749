#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by guest.sh: calls of functions are counted exactly on this kernel, whether or not it has links for many
# uprobes. Needs beside it: monitor and getppid.
fail() {
	echo "functions.sh: $*"
	exit 1
}

./monitor record --no-calibration -e sched --functions 'syscall,main' -o /tmp/functions -- ./getppid 2 500 > /tmp/functions.out 2>&1
status=$?
[ $status = 0 ] || fail "cannot record: $(cat /tmp/functions.out)"
./monitor report /tmp/functions activities --csv > /tmp/functions.csv || fail "no report"
counts=$(grep -c . /tmp/functions.csv)
calls=$(grep '^[^,]*,"syscall",' /tmp/functions.csv | cut -d, -f5 | sort | uniq -c | awk '{ print $1 "*" $2 }')
[ "$calls" = "2*500" ] || fail "not 500 calls of each process: $(cat /tmp/functions.csv)"
sh ./check.sh /tmp/functions > /tmp/functions.check || fail "$(grep FAILS /tmp/functions.check)"
echo "functions.sh: $((counts - 1)) functions"
