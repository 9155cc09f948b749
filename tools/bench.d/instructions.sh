#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by tests/vm/boot for bench `instructions`: the loads of bench `kernel`, untraced and under each kind
# of probe. The guest's clock counts instructions, so every figure is a number of instructions.
# Needs beside it: attach and workload (static), peers.bpf.o, and for the kernel module monitor_edc.ko. Prints lines "FIGURE LOAD KIND NUMBER...".
chunks=9
trace=/sys/kernel/tracing/instances/bench

measure() { # LOAD KIND
	if [ "$1" = W1 ]; then
		echo "FIGURE $1 $2 $(./workload getppid 0 $chunks 5000 | tr '\n' ' ')"
	else
		echo "FIGURE $1 $2 $(./workload pingpong 0 $chunks 1000 | tr '\n' ' ')"
	fi
}

attached() { # LOAD KIND PAIR
	mkfifo /tmp/in /tmp/out
	./attach "$2" "$3" ./peers.bpf.o < /tmp/in > /tmp/out 2>&1 &
	exec 3> /tmp/in 4< /tmp/out
	read -r line <&4
	if [ "$line" = ready ]; then measure "$1" "$2"; else echo "attach $2: $line"; fi
	exec 3>&-
	wait
	exec 4<&-
	rm /tmp/in /tmp/out
}

ftrace() { # LOAD EVENT...
	load=$1
	shift
	mkdir $trace
	echo x86-tsc > $trace/trace_clock
	echo 65536 > $trace/buffer_size_kb
	for event; do echo 1 > "$trace/events/$event/enable"; done
	measure "$load" ftrace
	echo 0 > $trace/events/enable
	rmdir $trace
}

for pass in 1 2 3; do
	for load in W1 W2; do
		measure $load untraced
		if [ $load = W1 ]; then
			pair=syscall events="raw_syscalls/sys_enter raw_syscalls/sys_exit"
		else
			pair=sched events="sched/sched_switch sched/sched_waking"
		fi
		for kind in empty minimal ours perf; do attached $load $kind $pair; done
		if [ -f monitor_edc.ko ]; then
			insmod ./monitor_edc.ko
			attached $load module $pair
			for try in $(seq 50); do rmmod monitor_edc 2> /dev/null && break || usleep 100000; done
		fi
		# shellcheck disable=SC2086
		ftrace $load $events
	done
done
