#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by tests/vm/guest.sh: programs with events of their own, recorded with the kernel's and alone. Every
# event must be a token or a counted loss, on this architecture and under this kernel's restartable sequences.
# Needs beside it: monitor and user_load (both static).
trace=/tmp/user

fail() {
	echo "user.sh: $*"
	exit 1
}

# counted NAME: a member of recording.json's "user_card".
counted() {
	tr -d ' \n' < $trace/.monitor/recording.json | sed 's/,"largest_claims.*/}/' | sed -n 's/.*"user_card":{\([^}]*\)}.*/\1/p' |
		sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"
}

# Emulated x86-64 has no invariant time stamp counter.
if ./monitor record --force -o $trace --user-only -- ./user_load order 1 2>&1 | grep -q 'time stamp counter of constant rate'; then
	echo 'VM-SKIP user events: no invariant time stamp counter'
	exit 0
fi

# try STATUS RECORD-OPTIONS LOAD ARGUMENTS: again where all events are counted losses, as the guest was slow.
try() {
	attempt=0
	until try_once "$@" && [ "$(counted tokens)" -gt 0 ]; do
		attempt=$((attempt + 1))
		[ $attempt -lt 5 ] || fail "$*: nothing was taken"
		echo "user.sh: tried again: nothing was taken"
	done
}

try_once() {
	expected=$1 options=$2
	shift 2
	# shellcheck disable=SC2086
	./monitor record --no-calibration --force -o $trace $options -- ./user_load "$@" > /tmp/user.out 2> /tmp/user.err
	status=$?
	[ $status = "$expected" ] || fail "$*: exit status $status: $(cat /tmp/user.err)"
	posted=$(grep -oE '(posted|signals)=[0-9]+' /tmp/user.out | cut -d= -f2 | awk '{ sum += $1 } END { print sum + 0 }')
	found=$(($(counted tokens) + $(counted discarded) + $(counted early)))
	echo "user.sh: $options $*: posted $posted, taken $(counted tokens), found $found"
	if [ "$(counted unanswered)" -gt 0 ]; then # the guest was slow, and check says so
		./monitor check $trace > /tmp/check.out
		grep -q 'before the recorder had answered' /tmp/check.out || fail "$*: check: $(grep -v '^ok' /tmp/check.out)"
		[ "$posted" -ge $found ] || fail "$((found - posted)) more than were posted"
		return
	fi
	sh ./check.sh $trace > /tmp/check.out || fail "$*: check: $(grep -v '^ok' /tmp/check.out)"
	[ "$posted" = $found ] || fail "$((posted - found)) events are neither tokens nor counted losses"
}

try 0 --user-only order 1000
try 0 --user-only stress 200000 300
try 0 --user-only threads 64
try 0 --user-only forks 10
try 0 --user-only exec 3
try 139 --user-only crash 5000
tries=0
until # of all of its events
	try 0 "-p cmd -e sched,syscall" order 500
	[ "$(counted unanswered)" = 0 ]
do
	tries=$((tries + 1))
	[ $tries -lt 5 ] || fail "order 500: five times the recorder was too slow for the program"
done
./monitor list --event before,after,sys_enter $trace > /tmp/list.out || fail "list: exit status $?"
# Its own event, the system call, its own event: in this order, each time.
grep -oE '(before|after|sys_enter id=getppid)' /tmp/list.out | sed 's/sys_enter.*/call/' |
	awk '{ line = line $1 " " } END { exit !(gsub(/before call after /, "", line) == 500 && line == "") }' ||
	fail "the calls do not lie between their events: $(head -n 20 /tmp/list.out)"
