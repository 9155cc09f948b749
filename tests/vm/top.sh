#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by guest.sh: windows of a machine that runs, each with what happened in it, and with ratios of counters:
# exact where the guest has a PMU that counts exactly (arm64 under -icount: cycles are twice the instructions), unknown where
# it has none. Needs beside it: monitor, getppid and *.group.
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

# run_until COMMAND...: with processes that call and fault until it has ended.
run_until() {
	rm -f /tmp/enough
	while [ ! -e /tmp/enough ]; do ./getppid 1 3000; done > /dev/null &
	load=$!
	"$@" > /tmp/top.json 2> /tmp/top.err || fail "$*: exit status $?: $(cat /tmp/top.err)"
	touch /tmp/enough
	wait $load
}

# values NAME: of the rows of getppid, of any window.
values() {
	tr '{' '\n' < /tmp/top.json | grep '"process":"getppid"' | sed -n "s/.*\"$1\":\([^,}]*\).*/\1/p"
}

if [ -z "$MONITOR_SHARE" ]; then # not run by guest.sh
	mkdir -p /tmp/share/groups
	cp ./*.group /tmp/share/groups
	export MONITOR_SHARE=/tmp/share
fi
if ls /sys/bus/event_source/devices | grep -q 'armv8\|^cpu$'; then
	run_until ./monitor top --json --no-calibration -e sched -m "ipc=instructions:u/cycles:u,done=instructions:u" -d 1s -n 3
	values ipc | grep -qx 0.5 || fail "no ratio of 0.5: $(values ipc | tr '\n' ' ')"
	values ipc | grep -vx '0.5\|null' && fail 'not all ratios are 0.5'
	values 'done' | awk '{ sum += $1 } END { exit sum < 3000 }' || fail "instructions: $(values 'done' | tr '\n' ' ')"
	echo "top.sh: $(values ipc | grep -cx 0.5) rows with 0.5 instructions per cycle"
else
	run_until ./monitor top --json --no-calibration -e sched -m cpu -d 1s -n 3
	grep -q 'no PMU' /tmp/top.err || fail "top does not say why the ratios are missing: $(cat /tmp/top.err)"
	values IPC | grep -qx null || fail "IPC: $(values IPC | tr '\n' ' ')"
	values IPC | grep -vx null && fail 'what was not counted is a number'
	values faults | awk '{ sum += $1 } END { exit sum < 10 }' || fail "faults: $(values faults | tr '\n' ' ')"
	echo "top.sh: $(values IPC | wc -l) rows without ratios, as there is no PMU, $(values faults | grep -vc null) of them with faults"
fi
