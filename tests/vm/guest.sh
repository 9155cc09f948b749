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
scripts="verified.sh getppid.sh flight.sh stacks.sh functions.sh top.sh throttled.sh user.sh counters.sh calibrate.sh"
decided="filter.sh triggers.sh" # the probes that are largest for a verifier
# Emulation takes its time: the module's two scripts run in different kernels, and on arm64, where the module is the same C,
# not at all; what is decided in the kernel runs in one guest of each kernel. The whole matrix runs all everywhere, but
# programs' rings, which have nothing to do with preemption, once.
if grep -q matrix=short /proc/cmdline; then
	scripts="verified.sh getppid.sh filter.sh module.sh"
elif grep -q matrix=all /proc/cmdline; then
	scripts="$scripts $decided module.sh"
	grep -q preempt= /proc/cmdline || scripts="$scripts user_device.sh"
	[ "$(uname -m)" != aarch64 ] || scripts="$scripts virtual.sh" # whose clock counts instructions
else
	case $(uname -m)-$(uname -r) in
	aarch64-*) scripts="$scripts $decided virtual.sh" ;;
	*-6.1.*) scripts="$scripts $decided user_device.sh" ;; # the slowest verifier: it has most to do
	*-6.12.*) scripts="$scripts module.sh" ;;               # decided: on arm64
	*) scripts="$scripts $decided user_device.sh" ;;
	esac
fi
for script in $scripts; do
	sh ./$script || exit 1
	echo "VM-STEP $script until $(cut -d' ' -f1 /proc/uptime) s"
done
