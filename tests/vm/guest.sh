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
scripts="getppid.sh filter.sh flight.sh triggers.sh stacks.sh functions.sh user.sh counters.sh"
# Emulation takes its time: the module's two scripts run in different kernels, and on arm64, where the module is the same C,
# not at all. The whole matrix runs both everywhere, but programs' rings, which have nothing to do with preemption, once.
if grep -q matrix=all /proc/cmdline; then
	scripts="$scripts module.sh"
	grep -q preempt= /proc/cmdline || scripts="$scripts user_device.sh"
elif [ "$(uname -m)" != aarch64 ]; then
	case $(uname -r) in
	6.1.*) scripts="$scripts module.sh" ;;
	*) scripts="$scripts user_device.sh" ;;
	esac
fi
for script in $scripts; do
	sh ./$script || exit 1
	echo "VM-STEP $script until $(cut -d' ' -f1 /proc/uptime) s"
done
