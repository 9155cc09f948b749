#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# What every guest of the matrix runs (tests/vm/run): the other scripts, which lie beside it.
# The monitor's data files lie flat beside this script too.
mkdir -p /tmp/share/tables /tmp/share/groups
cp ./*.table /tmp/share/tables
cp ./*.group /tmp/share/groups
export MONITOR_SHARE=/tmp/share
scripts="getppid.sh user.sh counters.sh"
# The module is the same C on every architecture, and emulated arm64 takes its time: there it is tested in the whole matrix.
if [ "$(uname -m)" != aarch64 ] || grep -q matrix=all /proc/cmdline; then
	scripts="$scripts module.sh"
	grep -q preempt= /proc/cmdline || scripts="$scripts user_device.sh" # it has nothing to do with preemption
fi
for script in $scripts; do
	sh ./$script || exit 1
	echo "VM-STEP $script until $(cut -d' ' -f1 /proc/uptime) s"
done
