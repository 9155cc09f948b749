#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by tests/vm/boot: several tasks pinned to one CPU call getppid while the monitor records.
# Every call must be a token or a counted loss, and `monitor check` must accept the trace.
# Needs beside it: monitor (static) and getppid.
tasks=6
calls=20000
grep -q matrix=all /proc/cmdline && calls=60000
trace=/tmp/trace

# The recorded getppid calls of the load: the sum of the rows of the system call getppid, whatever process they are of.
# THE ONE PLACE that knows the form of `monitor report --json DIR syscalls`: objects with "call" and "count".
# Nothing else in the guest calls getppid while the monitor records.
recorded_calls() {
	tr -d ' \n' < /tmp/report.json | tr '{}' '\n\n' | sed -n '/"call":"getppid"/s/.*"count":\([0-9]*\).*/\1/p' |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# The losses counted for the whole trace. THE SAME PLACE: the member "lost" of the report's summary.
counted_losses() {
	tr -d ' \n' < /tmp/report.json | sed -n 's/.*"lost":\([0-9]*\).*/\1/p'
}

fail() {
	echo "getppid.sh: $*"
	exit 1
}

# Sets `made`.
record() {
	./monitor record --force -o $trace -e sched,syscall -- ./getppid $tasks $calls > /tmp/record.out 2>&1
	status=$?
	cat /tmp/record.out
	[ $status = 0 ] || fail "monitor record: exit status $status"
	made=$(sed -n 's/^getppid calls: //p' /tmp/record.out)
	[ "$made" = $((tasks * calls)) ] || fail "the load made '$made' calls"
}

expect_all() {
	sh ./check.sh $trace || fail "monitor check: exit status $?"

	./monitor report --json $trace syscalls > /tmp/report.json || fail "monitor report: exit status $?"
	seen=$(recorded_calls)
	lost=$(counted_losses)
	echo "getppid.sh: made $made, recorded $seen, lost ${lost:-unknown}"
	# Losses are counted without a name: those of other calls and of sys_exit may be among them, so they bound from above.
	[ "$seen" -le "$made" ] || fail "more calls recorded than made"
	[ $((seen + ${lost:-0})) -ge "$made" ] ||
		fail "$((made - seen - ${lost:-0})) calls are neither tokens nor counted losses"
}

record
# Whether a probe that can be preempted is, within this recording, is chance: so what the monitor knows is tested.
case $(uname -r) in
[456].*) is_preempted=cannot attached=tp_btf ;;
*) is_preempted=could attached=tp ;;
esac
./monitor doctor > /tmp/doctor.out # its status: whether anything is missing
grep "^[a-z]* *preemption .* $is_preempted be preempted" /tmp/doctor.out ||
	fail "not '$is_preempted be preempted': $(grep -A1 preemption /tmp/doctor.out)"
./monitor info --json $trace | grep -q "\"attach\": *\"$attached\"" || fail "not attached as $attached"

expect_all

# The same with probes that take all their steps.
export MONITOR_FULL_PROBES=1
record
expect_all
