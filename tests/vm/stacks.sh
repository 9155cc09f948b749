#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by guest.sh: stacks are recorded on this kernel, of a static program that was built without frame
# pointers. Needs beside it: monitor and getppid.
fail() {
	echo "stacks.sh: $*"
	exit 1
}

./monitor record --no-calibration --stacks=cpu,offcpu,syscall:getppid -o /tmp/stacks -- ./getppid 2 20000 > /tmp/stacks.out 2>&1 ||
	fail "cannot record: $(cat /tmp/stacks.out)"
./monitor report /tmp/stacks stacks --by other --folded > /tmp/folded || fail "no report"
grep -q '^getppid;' /tmp/folded || fail "no stack of the program: $(head -c 500 /tmp/folded)"
if [ "$(uname -m)" = x86_64 ]; then
	complete=$(grep '^getppid;' /tmp/folded | grep -v truncated | awk '{ sum += $NF } END { print sum + 0 }')
	# Those before the recorder, which is emulated too, has read the program's tables are not.
	[ "$complete" -gt 0 ] || fail "no stack is complete: $(head -c 800 /tmp/folded)"
	grep '^getppid;' /tmp/folded | grep -q ';main;' || fail "main is on no stack: $(head -c 500 /tmp/folded)"
fi
./monitor report /tmp/stacks stacks --by offcpu --folded > /tmp/blocked || fail "no report of blocked time"
# What the kernel calls on the way to where a thread blocks, whatever its version.
grep -q ';\(do_syscall_64\|x64_sys_call\|el0_svc\|invoke_syscall\);' /tmp/blocked || fail "no function of the kernel: $(head -c 500 /tmp/blocked)"
echo "stacks.sh: $(wc -l < /tmp/folded) stacks at getppid"
