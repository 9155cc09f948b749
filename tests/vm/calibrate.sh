#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by guest.sh: record --calibrate attaches the probes again after its privileges were dropped, also if
# the kernel restricts BPF most, or refuses in one sentence where that is impossible. Needs beside it: monitor.
fail() {
	echo "calibrate.sh: $*"
	exit 1
}

echo 2 > /proc/sys/kernel/unprivileged_bpf_disabled 2> /dev/null # it cannot be set back
./monitor record --calibrate -e sched,syscall,irq -o /tmp/phases -- /bin/busybox sleep 4 > /tmp/phases.out 2>&1
status=$?
if [ $status = 125 ] && grep -q 'which this kernel refuses' /tmp/phases.out && [ "$(grep -c . /tmp/phases.out)" = 1 ]; then
	echo "calibrate.sh: refused: $(cat /tmp/phases.out)"
	exit 0
fi
[ $status = 0 ] || fail "cannot record: $(cat /tmp/phases.out)"
sh ./check.sh /tmp/phases > /tmp/phases.check || fail "$(grep FAILS /tmp/phases.check)"
./monitor report /tmp/phases > /tmp/phases.report || fail "no report"
grep 'the probes were detached' /tmp/phases.report || fail "no phase: $(cat /tmp/phases.report)"
tr ',' '\n' < /tmp/phases/.monitor/recording.json | grep -E '"(attach|detach)_ms"' | tr '\n' ' '
echo "calibrate.sh: $(uname -r)"
