#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in a guest of four CPUs whose kernel checks every piece of memory (tests/vm/run: the mode `stress`): the kernel
# module while CPUs go and come, recorders are killed, memory is short and the module comes and goes. Behind it there
# are as many objects in the kernel's memory as before, and its log has no complaint (tests/vm/boot).
# Needs beside it: monitor and user_load (both static) and monitor_edc.ko.
families=sched,irq,syscall,fault
kills=20
loads=20

fail() {
	echo "stress.sh: $*"
	exit 1
}

mkdir -p /tmp/share/tables /tmp/share/groups
cp ./*.table /tmp/share/tables
cp ./*.group /tmp/share/groups
export MONITOR_SHARE=/tmp/share
mkdir -p /run
[ -f monitor_edc.ko ] || {
	echo "VM-SKIP the kernel module under stress: none could be built for this kernel"
	exit 0
}

# Four virtual CPUs share one thread of the host: one that stands still within a switch moves time between threads.
stalls='CPU time of [0-9]* threads'

# record SECONDS [BUT]: a recording of a load on all CPUs; check accepts it, but for statements that match.
record() {
	./monitor record --no-calibration --force --card module -o /tmp/stress -e $families --sample-every 5ms --buffer 16M -d "$1" \
		> /tmp/record.out 2>&1 || fail "monitor record: $(cat /tmp/record.out)"
	./monitor check /tmp/stress > /tmp/check.out
	grep '^FAILS' /tmp/check.out | grep -v "$stalls${2:+\\|$2}" > /tmp/fails && fail "monitor check: $(cat /tmp/fails)"
	grep -q '^ok .* tokens in blocks' /tmp/check.out || fail "monitor check: $(cat /tmp/check.out)"
	grep 'token.* in blocks' /tmp/check.out
}

unload() {
	for try in $(seq 50); do
		rmmod monitor_edc 2> /dev/null && return
		usleep 100000
	done
	fail "rmmod"
}

# The objects that the kernel has, by kind. Without its caches per CPU (slub_debug) these counts are exact; of areas of
# vmalloc those that are freed but not purged yet do not count.
objects() {
	# shellcheck disable=SC2086
	kill -STOP $loads_pids
	sleep 1
	echo 3 > /proc/sys/vm/drop_caches
	sleep 1
	echo "vmalloc-areas $(grep -vc unpurged /proc/vmallocinfo)"
	awk '/^(kmalloc|perf|vm_area|filp|task_struct|percpu|pid )/ { print $1, $2 }' /proc/slabinfo
	# shellcheck disable=SC2086
	kill -CONT $loads_pids
}

for cpu in 0 1 2 3; do
	taskset $((1 << cpu)) sh -c 'while :; do ls /t > /dev/null; usleep 10000; done' &
	loads_pids="$loads_pids $!"
done
insmod ./monitor_edc.ko || fail "insmod"
record 1

# CPUs go offline and come again while a recording runs, and while all of them are asked. The kernel traces no switch and
# no migration on a CPU that is not online yet or any more, which check finds missing, and the time that went by with them.
(
	for round in 1 2 3; do
		for cpu in 3 2 1; do
			echo 0 > /sys/devices/system/cpu/cpu$cpu/online || exit 1
			usleep 200000
			echo 1 > /sys/devices/system/cpu/cpu$cpu/online
			usleep 100000
		done
	done
) &
hotplug=$!
record 6 'switches\|CPU time of\|migrations of'
wait $hotplug || fail "a CPU could not be taken offline"

# Memory is short.
mkdir /fill
mount -t tmpfs -o size=100% none /fill
(
	for round in 1 2 3; do
		dd if=/dev/zero of=/fill/zeros bs=1M count=$(awk '/^MemAvailable/ { print int($2 / 1024) - 40 }' /proc/meminfo) 2> /dev/null
		usleep 300000
		rm /fill/zeros
	done
) &
filler=$!
record 3
wait $filler
./monitor record --card module --buffer 4G -d 1 -o /tmp/none 2> /tmp/refused && fail "rings of 4 GB were made"
grep -q 'refused to create the rings' /tmp/refused || fail "rings of 4 GB: $(cat /tmp/refused)"

# While programs and their children have rings of the module.
kill_recorders() {
	for try in $(seq "$1"); do
		./user_load forks 30 > /dev/null &
		program=$!
		./monitor record --no-calibration --force --card module -o /tmp/killed -e $families --sample-every 1ms --user --buffer 16M -d 60 > /dev/null 2>&1 &
		recorder=$!
		usleep $((50000 * (try % 10) + 20000))
		kill -9 $recorder
		wait $recorder 2> /dev/null
		wait $program || fail "a program whose recorder was killed: exit status $?"
	done
}

come_and_go() {
	for try in $(seq "$1"); do
		unload
		insmod ./monitor_edc.ko || fail "insmod $try"
	done
	record 1
}

# same TIMES: as many objects as in /tmp/before, but for fewer than one left at half of so many times.
same() {
	objects > /tmp/after
	grown=$(awk -v most=$(($1 / 2)) 'NR == FNR { before[$1] = $2; next } $2 - before[$1] >= most { print $1, before[$1], "to", $2 }' \
		/tmp/before /tmp/after)
	[ -s /tmp/before ] && [ -z "$grown" ] || fail "objects that stay: $grown"
}

kill_recorders 2
come_and_go 1
objects > /tmp/before
kill_recorders $kills
same $kills
come_and_go $loads
same $loads
# shellcheck disable=SC2086
kill $loads_pids
unload
echo "stress.sh: $kills recorders killed, $loads times unloaded, $(wc -l < /tmp/after) kinds of objects as before"
