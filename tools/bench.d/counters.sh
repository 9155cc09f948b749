#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the arm64 guest by tests/vm/run for bench `instructions`: the ping-pong of bench `ratio` while the monitor records
# with 0, 1, 2 and 4 counters of the PMU. The guest executes an instruction every 2 ns, so times are numbers of instructions.
# Needs beside it: monitor and workload (static). Prints lines "FIGURE COUNTERS INSTRUCTIONS-PER-ROUND-TRIP...".
mkdir -p /tmp/share/groups
cp ./*.group /tmp/share/groups
export MONITOR_SHARE=/tmp/share
echo 0 > /sys/devices/system/cpu/cpu1/online || exit 1

measure() { # NAME, to name the figure by
	echo "FIGURE $1 $(./workload pingpong 0 9 500 | awk '{ printf "%.1f ", $1 / 2 }')"
}

recording() { # NAME OPTION...
	name=$1
	shift
	mkfifo /tmp/gate
	./monitor record --force -o /tmp/trace -e block "$@" -- sh -c 'echo $$ > /tmp/ready; read -r line < /tmp/gate' 2> /tmp/record.err &
	while ! [ -s /tmp/ready ]; do sleep 0.05; done
	measure "$name"
	echo > /tmp/gate
	wait || { cat /tmp/record.err; exit 1; }
	rm /tmp/gate /tmp/ready
}

for pass in 1 2 3; do
	measure untraced
	recording 0
	recording 1 -m a=r8
	recording 2 -m a=r8/r11
	recording 4 -m "a=r8/r11,b=r8:u/r11:u"
done
