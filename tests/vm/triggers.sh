#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by guest.sh, and by module.sh as `triggers.sh module`: each kind of trigger, compared with the events of
# the same trace, and a snapshot by one. Needs beside it: monitor and getppid.
card=${1:-bpf}

fail() {
	echo "triggers.sh: --card $card: $*"
	exit 1
}

cat > /tmp/triggers << 'END'
often: name == "sys_enter" and id == "getppid" 50 times within 60s per tid => mark
call: name == "sys_enter" and id == "getppid" then name == "sys_exit" within 60s per tid => mark
woken: name == "sched_waking" as w then name == "sched_switch" and next_pid == w.pid within 60s => mark
asleep: name == "sys_enter" and (id == "clock_nanosleep" or id == "nanosleep")
	not followed by name == "sys_exit" within 200ms per tid => mark
END
./monitor record --no-calibration --card "$card" -e sched,syscall --triggers /tmp/triggers -o /tmp/triggered -- sh -c './getppid 2 3000; /bin/busybox sleep 1' > /tmp/triggers.out 2>&1 ||
	fail "record: $(cat /tmp/triggers.out)"
sh ./check.sh /tmp/triggered > /tmp/check.out || fail "check: $(cat /tmp/check.out)"
./monitor trigger /tmp/triggers /tmp/triggered --top 3 > /tmp/triggers.out || fail "other firings on the trace: $(cat /tmp/triggers.out)"
for kind in often call woken asleep; do
	grep "^$kind: [1-9][0-9]* firing.*the same" /tmp/triggers.out || fail "$kind: $(cat /tmp/triggers.out)"
done
rm -rf /tmp/triggered
./monitor record --no-calibration --card "$card" -e sched,syscall --trigger 'at start => stop' --trigger 'on: name == "sys_enter" and id == "getppid" 50 times within 60s per tid => start' \
	--trigger 'off: name == "sys_enter" and id == "getppid" 60 times within 60s per tid => stop' -o /tmp/triggered -- ./getppid 1 3000 > /tmp/triggers.out 2>&1 ||
	fail "pauses: $(cat /tmp/triggers.out)"
sh ./check.sh /tmp/triggered > /tmp/check.out || fail "check with pauses: $(cat /tmp/check.out)"
grep '^ok.* pauses in which nothing was stored' /tmp/check.out || fail "pauses: $(cat /tmp/check.out)"
rm -rf /tmp/triggered
./monitor record --no-calibration --card "$card" -e sched,syscall --trigger 'g: name == "sys_enter" and id == "getppid" 50 times within 60s per tid => sample' \
	--trigger 'c: every 100ms => sample' -o /tmp/triggered -- sh -c './getppid 1 300; /bin/busybox sleep 1' > /tmp/triggers.out 2>&1 || fail "samples: $(cat /tmp/triggers.out)"
sh ./check.sh /tmp/triggered > /tmp/check.out || fail "check with samples: $(cat /tmp/check.out)"
./monitor report /tmp/triggered samples | grep 'samples, .* of them of all CPUs' || fail "samples: $(./monitor report /tmp/triggered samples) $(cat /tmp/triggers.out)"
rm -rf /tmp/triggered
./monitor record --no-calibration --card "$card" -e sched,syscall --flight 2M --snapshots 3 -o /tmp/triggered \
	--trigger 'last: name == "sys_enter" and id == "getppid" 60 times within 60s per tid => snapshot' > /tmp/triggers.out 2>&1 &
recorder=$!
for wait in $(seq 300); do
	[ -s /tmp/triggered/.monitor/flight.json ] && break
	usleep 100000
done
for snapshot in 1 2 3; do
	for wait in $(seq 100); do
		[ $snapshot -gt 3 ] || ./getppid 2 3000 > /dev/null
		grep -q "\"snapshots\": $snapshot" /tmp/triggered/.monitor/flight.json && break
		usleep 100000
	done
done
wait $recorder || fail "flight: $(cat /tmp/triggers.out)"
for snapshot in 1 2 3; do
	sh ./check.sh /tmp/triggered/00$snapshot > /tmp/check.out || fail "check of snapshot $snapshot: $(cat /tmp/check.out)"
	./monitor report /tmp/triggered/00$snapshot triggers | grep -q "last .*getppid" || fail "snapshot $snapshot lacks what fired"
done
./monitor report /tmp/triggered/003 triggers | grep "the recorder knew"
rm -rf /tmp/triggered
echo "triggers.sh: --card $card: $(cat /tmp/triggers.out)"
