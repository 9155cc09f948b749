#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by tests/vm/guest.sh: programs that get their rings of /dev/monitor, not of a recorder. Those of the
# group that may open it are recorded, whether they ran before the recorder or end before it looks; others run as ever.
# Needs beside it: monitor, user_load, as_user, user_device_abuse (all static) and, if there are any, monitor_edc.ko and
# user_load_dynamic with its libraries.
trace=/tmp/user_device
group=1000
count=1000

fail() {
	echo "user_device.sh: $*"
	exit 1
}

[ -f monitor_edc.ko ] || {
	echo "VM-SKIP rings of the kernel module: none could be built for this kernel"
	exit 0
}

# counted NAME: a member of recording.json's "user_card".
counted() {
	tr -d ' \t\n' < $trace/.monitor/recording.json | sed 's/,"largest_claims.*/}/' | sed -n 's/.*"user_card":{\([^}]*\)}.*/\1/p' |
		sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"
}

# await WHAT TEST...: until the test holds.
await() {
	what=$1
	shift
	for _ in $(seq 200); do
		"$@" && return
		usleep 50000
	done
	fail "no $what: $(cat /tmp/*.out)"
}

begins() { grep -q '^monitor: recording' /tmp/recorder.out; } # its files are there a little earlier
# Behind it a program finds the recorder by the device alone.
start_recorder() {
	rm -rf $trace /run/monitor/edc.sock
	./monitor record --no-calibration -o $trace --user "$@" > /tmp/recorder.out 2>&1 3>&- &
	recorder=$!
	await recording begins
	rm /run/monitor/edc.sock
}
end_recorder() {
	kill -INT $recorder
	wait $recorder || fail "monitor record --user: exit status $?: $(cat /tmp/recorder.out)"
	sh ./check.sh $trace > /tmp/check.out || fail "check: $(grep -v '^ok' /tmp/check.out)"
	cat /tmp/recorder.out
}

mkdir -p /run
insmod ./monitor_edc.ko || fail "insmod"
chgrp $group /dev/monitor
chmod 660 /dev/monitor
./monitor doctor | grep -q "programs of the group $group get rings" || fail "doctor does not know the group: $(./monitor doctor)"
./user_device_abuse || fail "user_device_abuse: exit status $?"

if ./monitor record --force -o $trace --user-only -- ./user_load order 1 2>&1 | grep -q 'time stamp counter of constant rate'; then
	echo 'VM-SKIP user events by the kernel module: no invariant time stamp counter'
	rmmod monitor_edc || fail "rmmod"
	exit 0
fi

# One that runs before the recorder does, and outlives it: what it posts meanwhile is recorded, and that alone.
ready() { grep -q ready /tmp/before.out; }
mkfifo /tmp/in
./as_user $group ./user_load pause $count < /tmp/in > /tmp/before.out 2>&1 &
before=$!
exec 3> /tmp/in
await "program that is ready" ready
rmmod monitor_edc 2> /dev/null && fail "the module went while a program had its rings"
start_recorder -e sched
exec 3>&-
wait $before || fail "the program before: exit status $?"
# Short ones, their forks, threads without restartable sequences, one that may not, one that writes everywhere.
posted=$((2 * count))
for load in "forks 20" "threads 64" "exec 3" "order 500" "stress 100000 300"; do
	# shellcheck disable=SC2086
	./as_user $group ./user_load $load > /tmp/load.out || fail "$load: exit status $?"
	posted=$((posted + $(grep -oE '(posted|signals)=[0-9]+' /tmp/load.out | cut -d= -f2 | awk '{ sum += $1 } END { print sum + 0 }')))
done
# Libraries that come later and bring classes, one of them with a card of its own.
if [ -f ld-linux-x86-64.so.2 ]; then
	./as_user $group ./ld-linux-x86-64.so.2 --library-path . ./user_load_dynamic libraries $count ./one.so ./two.so > /tmp/load.out ||
		fail "libraries: exit status $?"
	grep -q "posted=$((4 * count))" /tmp/load.out || fail "libraries: $(cat /tmp/load.out)"
	posted=$((posted + 4 * count))
fi
GLIBC_TUNABLES=glibc.pthread.rseq=0 ./as_user $group ./user_load order 500 > /tmp/load.out || fail "without sequences: exit status $?"
posted=$((posted + 1003))
./as_user 2000 ./user_load order 500 > /tmp/load.out || fail "one that may not: exit status $?"
end_recorder
found=$(($(counted tokens) + $(counted discarded) + $(counted early)))
echo "user_device.sh: posted $posted, taken $(counted tokens), found $found, by $(counted by_device) processes"
[ "$posted" = $found ] || fail "$((posted - found)) events are neither tokens nor counted losses"
[ "$(counted by_device)" = "$(counted processes)" ] || fail "not all processes came by the device"
[ "$(counted by_device)" -ge 30 ] || fail "only $(counted by_device) processes"
[ "$(counted damaged)" = 0 ] || fail "$(counted damaged) damaged blocks"
./monitor list --event posted $trace | grep -q user_load || fail "who posted is not known"

# One that writes everywhere harms itself alone.
start_recorder -e sched
./as_user $group ./user_device_abuse garbage 3000 &
hostile=$!
./as_user $group ./user_load order 5000 > /tmp/load.out || fail "beside a hostile one: exit status $?"
wait $hostile || fail "the hostile one: exit status $?"
kill -INT $recorder
wait $recorder || fail "monitor record beside a hostile program: exit status $?: $(cat /tmp/recorder.out)"
[ "$(counted damaged)" -gt 0 ] || fail "nothing of the garbage was noticed"
calls=$(./monitor list --event before $trace | grep -c user_load)
echo "user_device.sh: beside a hostile program $calls of 5000 events, $(counted damaged) damaged blocks"
[ "$calls" -gt 0 ] || fail "nothing of the honest program was recorded"

# Recorders that are killed, while programs come and go.
for try in 1 2 3; do
	start_recorder -e sched
	./as_user $group ./user_load forks 50 > /dev/null &
	usleep $((100000 * try))
	kill -9 $recorder
	wait
done
start_recorder -e sched
./as_user $group ./user_load order 500 > /tmp/load.out || fail "after killed recorders: exit status $?"
end_recorder
[ "$(counted tokens)" = 1001 ] || fail "$(counted tokens) of 1001 events after killed recorders"
rmmod monitor_edc || fail "rmmod"
