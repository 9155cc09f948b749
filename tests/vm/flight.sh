#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by guest.sh, and by module.sh as `flight.sh module`: a flight recorder whose rings come round, three
# snapshots of it, and another recording beside it. Needs beside it: monitor and getppid.
card=${1:-bpf}

fail() {
	echo "flight.sh: --card $card: $*"
	exit 1
}

rm -rf /tmp/flight
./monitor record --no-calibration --card "$card" -e sched,syscall --flight 2M -o /tmp/flight > /tmp/flight.out 2>&1 &
recorder=$!
for wait in $(seq 300); do
	[ -s /tmp/flight/.monitor/flight.json ] && break
	usleep 100000
done
./getppid 2 30000 > /tmp/getppid.out || fail "getppid"
for snapshot in 1 2 3; do
	./monitor snapshot --before 20s $recorder > /tmp/snapshot.out 2>&1 || fail "snapshot: $(cat /tmp/snapshot.out /tmp/flight.out)"
	sh ./check.sh /tmp/flight/00$snapshot > /tmp/check.out || fail "check of snapshot $snapshot: $(cat /tmp/check.out)"
	blocks=$(sed -n 's/^ok *\(between the counts .*\)/\1/p' /tmp/check.out)
	[ -n "$blocks" ] || fail "the counts of blocks were not compared: $(cat /tmp/check.out)"
	./getppid 2 3000 > /dev/null
done
echo "flight.sh: --card $card: $(cat /tmp/snapshot.out)"
echo "flight.sh: --card $card: $blocks"
case $blocks in
*"the 0 before"*) fail "nothing was overwritten" ;;
esac
./monitor list --event sys_enter /tmp/flight/003 | grep -q getppid || fail "the calls are not in the snapshot"
# Another one beside it, with the BPF card: both are whole.
./monitor record --no-calibration --force --card bpf -e sched,syscall -o /tmp/beside -- ./getppid 2 3000 > /tmp/beside.out 2>&1 || fail "a recording beside it: $(cat /tmp/beside.out)"
sh ./check.sh /tmp/beside > /tmp/check.out || fail "check of the recording beside it: $(cat /tmp/check.out)"
./monitor snapshot $recorder > /tmp/snapshot.out 2>&1 || fail "the last snapshot: $(cat /tmp/snapshot.out)"
sh ./check.sh /tmp/flight/004 > /tmp/check.out || fail "check of the last snapshot: $(cat /tmp/check.out)"
kill -INT $recorder
wait $recorder || fail "the recorder: $(cat /tmp/flight.out)"
rm -rf /tmp/flight /tmp/beside
