#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by guest.sh: windows of a machine that runs, each with what happened in it. Needs beside it: monitor and
# getppid.
fail() {
	echo "top.sh: $*"
	exit 1
}

# For as long as it takes until all is attached, and then.
rm -f /tmp/enough
while [ ! -e /tmp/enough ]; do
	./getppid 1 3000
	usleep 300000
done > /tmp/getppid.out &
load=$!
./monitor top --json --no-calibration -e sched,syscall -d 1s -n 4 > /tmp/top.json 2> /tmp/top.err || fail "exit status $?: $(cat /tmp/top.err)"
touch /tmp/enough
wait $load
[ "$(wc -l < /tmp/top.json)" = 4 ] || fail "$(wc -l < /tmp/top.json) windows, not 4"
[ "$(grep -c '"late":0' /tmp/top.json)" = 4 ] || fail "events came too late: $(grep -o '"late":[0-9]*' /tmp/top.json | tr '\n' ' ')"
calls=$(tr '{' '\n' < /tmp/top.json | grep '"process":"getppid"' | sed -n 's/.*"syscalls":\([0-9]*\).*/\1/p' | awk '{ sum += $1 } END { print sum + 0 }')
made=$(sed -n 's/^getppid calls: //p' /tmp/getppid.out | awk '{ sum += $1 } END { print sum + 0 }')
[ "$calls" -ge 3000 ] && [ "$calls" -le $((made + 2000)) ] || fail "$calls calls of getppid in the windows, $made were made"
echo "top.sh: $calls of $made calls in 4 windows, $(grep -c '"whole":true' /tmp/top.json) of them whole"
