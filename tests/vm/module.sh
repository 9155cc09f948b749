#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by tests/vm/guest.sh: the kernel module's card. It is loaded, records what the BPF card records,
# `monitor check` accepts its traces, its device withstands a hostile program, and it goes without a trace.
# Needs beside it: monitor (static), getppid, device_abuse and, if they could be built for this kernel, monitor_edc.ko and
# poster.ko.
tasks=4
calls=6000

fail() {
	echo "module.sh: $*"
	exit 1
}

# The recorded getppid calls of a report; see getppid.sh.
recorded_calls() {
	tr -d ' \n' < /tmp/report.json | tr '{}' '\n\n' | sed -n '/"call":"getppid"/s/.*"count":\([0-9]*\).*/\1/p' |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# record CARD FAMILIES [OPTION...]: one recording, checked; its calls are those made.
record() {
	card=$1 events=$2
	shift 2
	./monitor record --force --card "$card" -o /tmp/module -e "$events" "$@" -- ./getppid $tasks $calls > /tmp/record.out 2>&1
	status=$?
	cat /tmp/record.out
	[ $status = 0 ] || fail "monitor record --card $card: exit status $status"
	made=$(sed -n 's/^getppid calls: //p' /tmp/record.out)
	sh ./check.sh /tmp/module || fail "monitor check of --card $card: exit status $?"
	./monitor report --json /tmp/module syscalls > /tmp/report.json || fail "monitor report: exit status $?"
	lost=$(tr -d ' \n' < /tmp/report.json | sed -n 's/.*"lost":\([0-9]*\).*/\1/p')
	seen=$(recorded_calls)
	echo "module.sh: --card $card $*: made $made, recorded $seen, lost ${lost:-unknown}"
	[ "$seen" -gt 0 ] || fail "no call was recorded"
	[ "$seen" -le "$made" ] || fail "more calls recorded than made"
	[ $((seen + ${lost:-0})) -ge "$made" ] || fail "calls are neither tokens nor counted losses"
}

# The card by name, as `monitor info` prints it.
card_is() {
	./monitor info --json /tmp/module | tr -d ' \n' | grep -q "\"card\":\"$1\"" || fail "info does not say that the card is $1"
}

# samples_are_whole CARD: rounds of /tmp/module have all CPUs, if the emulator runs them in time, also while these are idle.
samples_are_whole() {
	sh ./check.sh /tmp/module || fail "monitor check of samples of the card $1: exit status $?"
	card_is "$1"
	./monitor report /tmp/module samples --idle || fail "monitor report samples: exit status $?"
	./monitor report --json /tmp/module samples --idle | tr -d ' \t\n' > /tmp/report.json
	taken=$(sed -n 's/.*"samples":{"taken":\([0-9]*\).*/\1/p' /tmp/report.json)
	complete=$(sed -n 's/.*"taken":[0-9]*,"complete":\([0-9]*\).*/\1/p' /tmp/report.json)
	spread=$(sed -n 's/.*"spread_ns":{"min":[0-9]*,"median":\([0-9]*\).*/\1/p' /tmp/report.json)
	[ "${taken:-0}" -ge 20 ] || fail "${taken:-no} samples of all CPUs were taken with the card $1"
	[ $((complete * 5)) -ge "$taken" ] || fail "only $complete of $taken samples have all CPUs with the card $1"
	[ "${spread:-999999999}" -lt 10000000 ] || fail "a spread of $spread ns in samples of every 20 ms with the card $1"
	tr '{' '\n' < /tmp/report.json | sed -n 's/.*"cpu":\([0-9]*\),"samples":\([0-9]*\),"missing":[0-9]*,"idle_samples":\([0-9]*\).*/\1 \2 \3/p' > /tmp/idle
	[ -s /tmp/idle ] || fail "no row of a CPU"
	while read -r cpu samples idle; do
		[ "$idle" -gt 0 ] || fail "none of $samples samples of CPU $cpu is idle with the card $1"
	done < /tmp/idle
}

short=
grep -q matrix=short /proc/cmdline && short=yes
# What is recorded by default but interrupts, of which the newest kernel counts some that no probe can see.
if [ -z "$short" ]; then
	record bpf sched,syscall,fault,power
	./monitor record --force --card bpf -o /tmp/module -e sched --sample-every 20ms -m faults=page-faults -- sh -c './getppid 2 100000; sleep 2' > /tmp/record.out 2>&1 ||
		fail "record --card bpf --sample-every: $(cat /tmp/record.out)"
	samples_are_whole bpf
fi
if [ ! -f monitor_edc.ko ]; then
	echo "VM-SKIP the kernel module: none could be built for this kernel"
	exit 0
fi
./monitor record --card module -e sched -d 1 -o /tmp/none 2> /tmp/refused && fail "--card module without a module"
grep -q 'monitor_edc is not loaded' /tmp/refused || fail "without a module: $(cat /tmp/refused)"
families=sched,irq,syscall,fault
insmod ./monitor_edc.ko || fail "insmod"
if [ -f /sys/kernel/btf/monitor_edc ]; then
	families=$families,power,block
else
	echo "VM-SKIP posting into the module by BPF programs: it has no BTF here"
fi
./monitor doctor | grep -q 'module.*: recordings use its rings' || fail "doctor does not know the module"
record auto $families
card_is module
if [ -n "$short" ]; then
	rmmod monitor_edc || fail "rmmod"
	exit 0
fi
record bpf $families --no-calibration
card_is bpf
record module light --no-calibration
./monitor info --json /tmp/module | tr -d ' \n' | grep -q '"left_out":\["softirq_entry","softirq_exit","softirq_raise"\]' || fail "-e light: $(./monitor info /tmp/module)"
./monitor list /tmp/module --event softirq_entry | grep -q . && fail "-e light recorded softirqs"
sh ./filter.sh module || exit 1
sh ./flight.sh module || exit 1
sh ./triggers.sh module || exit 1
sh ./throttled.sh module || exit 1

# -p: the command's processes or a running one's, and nobody else's, as the card of the kernel's own programs has it.
if [ -f /sys/kernel/btf/monitor_edc ]; then
	./getppid 1 100000000 > /dev/null &
	other=$!
	record auto sched,irq,syscall,fault -p cmd --no-calibration
	card_is module
	[ "$seen" = "$made" ] || [ "${lost:-0}" -gt 0 ] || fail "-p cmd: $seen of $made calls, none lost"
	rm -rf /tmp/module
	sh -c 'until [ -s /tmp/module/metadata ]; do usleep 50000; done; ./getppid 2 1000' > /tmp/chosen.out &
	chosen=$!
	./monitor record --no-calibration --card module -o /tmp/module -e sched,syscall -p $chosen > /tmp/record.out 2>&1 &
	recorder=$!
	wait $chosen
	kill -INT $recorder
	wait $recorder || fail "record -p PID: $(cat /tmp/record.out)"
	sh ./check.sh /tmp/module || fail "monitor check of -p PID: exit status $?"
	./monitor report --json /tmp/module syscalls > /tmp/report.json
	made=$(sed -n 's/^getppid calls: //p' /tmp/chosen.out)
	echo "module.sh: -p PID: made $made, recorded $(recorded_calls)"
	[ "$(recorded_calls)" = "$made" ] || fail "-p PID: $(recorded_calls) of $made calls: $(cat /tmp/record.out)"
	killall getppid
	wait $other 2> /dev/null

	# Counters: read by a BPF program ahead of the module's probe. Every step of this load faults three times.
	./monitor record --no-calibration --force -o /tmp/module -e sched -m faults=page-faults -- ./segment_load 8 2000 > /tmp/record.out 2>&1 ||
		fail "record -m: exit status $?: $(cat /tmp/record.out)"
	card_is module
	sh ./check.sh /tmp/module || fail "monitor check of -m: exit status $?"
	faults=$(./monitor report --json /tmp/module ratios | tr -d ' \n' | tr '{' '\n' | sed -n 's/.*"process":"segment_load".*"faults":\([0-9]*\).*/\1/p' | head -n 1)
	echo "module.sh: -m: $faults page faults"
	[ "${faults:-0}" -ge 48000 ] && [ "$faults" -lt 48300 ] || fail "-m: $faults page faults, not 48000: $(./monitor report /tmp/module ratios)"
	# And by every CPU at each sample, just ahead of its token.
	./monitor record --no-calibration --force -o /tmp/module -e sched -m faults=page-faults --sample-every 20ms -d 1 > /tmp/record.out 2>&1 ||
		fail "record -m --sample-every: exit status $?: $(cat /tmp/record.out)"
	sh ./check.sh /tmp/module || fail "monitor check of -m --sample-every: exit status $?"
	./monitor list --event counters,sample /tmp/module > /tmp/list.out
	awk '{ if (/ sample /) { samples++; with += last[$2] == "counters" } last[$2] = / sample / ? "sample" : "counters" }
		END { print "module.sh: " samples " samples, " with " of them with counters"; exit !(samples > 20 && with == samples) }' /tmp/list.out ||
		fail "samples without counters: $(head -n 30 /tmp/list.out)"
	./monitor record --card module -m faults=page-faults --every 1ms -d 1 -o /tmp/none 2> /tmp/refused && fail "-m --every with the module"
	grep -q 'only at switches' /tmp/refused || fail "-m --every: $(cat /tmp/refused)"
fi

# All CPUs are asked at once, while both are loaded and while they are idle; the kernel's tokens agree with what they say.
./monitor record --no-calibration --force --card module -o /tmp/module -e sched --sample-every 10ms -- sh -c './getppid 2 100000; i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done; sleep 1' ||
	fail "record --sample-every: exit status $?"
./monitor report --json /tmp/module samples | tr -d ' \n' > /tmp/report.json
grep -q '"process":"getppid"' /tmp/report.json && grep -q '"process":"idle"' /tmp/report.json || fail "samples miss who ran"
user=$(tr '{' '\n' < /tmp/report.json | sed -n 's/.*"user":\([0-9]*\).*/\1/p' | awk '{ sum += $1 } END { print sum + 0 }')
[ "$user" -ge 10 ] || fail "only $user samples met the shell's loop in user mode"
samples_are_whole module

# Without tokens they are counted.
./monitor record --no-calibration --force --card module -o /tmp/module --sample-every 10ms -d 2 --no-tokens --count 'all=name == "sample"' --count 'idle=doing == "idle"' > /tmp/record.out 2>&1 ||
	fail "record --sample-every --no-tokens: $(cat /tmp/record.out)"
card_is module
counted=$(./monitor report /tmp/module counts | awk '$1 == "all" { print $2 }')
[ "${counted:-0}" -ge 100 ] || fail "counted samples: $(cat /tmp/record.out)"

# Another module posts, and triggers samples: those, and no other ones but the one of a long period.
if [ -f /sys/kernel/btf/monitor_edc ]; then
	insmod ./poster.ko || fail "insmod poster"
	echo 5 > /sys/module/poster/parameters/posts || fail "posts while nobody records"
	echo 1 2> /dev/null > /sys/module/poster/parameters/samples && fail "a sample while nobody records"
	rm -rf /tmp/module
	./monitor record --no-calibration --card module -o /tmp/module -e sched --sample-every 100s > /tmp/record.out 2>&1 &
	recorder=$!
	for wait in $(seq 100); do
		[ -s /tmp/module/metadata ] && break
		usleep 100000
	done
	usleep 300000
	for name in wrong posts samples; do
		echo 20 > /sys/module/poster/parameters/$name || fail "$name of another module"
	done
	kill -INT $recorder
	wait $recorder || fail "record what another module posts: $(cat /tmp/record.out)"
	sh ./check.sh /tmp/module || fail "monitor check of what another module posts: exit status $?"
	posted=$(./monitor list --event cpu_frequency /tmp/module | wc -l)
	idle=$(./monitor list --event cpu_idle --filter 'state == 7' /tmp/module | wc -l)
	samples=$(./monitor report --json /tmp/module samples | tr -d ' \n' | sed -n 's/.*"samples":{"taken":\([0-9]*\).*/\1/p')
	echo "module.sh: another module posted 20 tokens with and 20 without a payload and asked all CPUs 20 times: $posted, $idle, $samples"
	[ "$posted $idle $samples" = "20 20 20" ] || fail "what another module posts is not there"
	rmmod poster || fail "rmmod poster"
fi

./device_abuse || fail "device_abuse: exit status $?"

# In use it stays; killed at any instant a recorder leaves nothing after.
for try in 1 2 3; do
	./monitor record --no-calibration --force --card module -o /tmp/module -e $families -d 60 > /dev/null 2>&1 &
	recorder=$!
	usleep $((200000 * try))
	if [ $try = 3 ]; then
		for wait in $(seq 100); do
			[ "$(cat /sys/module/monitor_edc/refcnt)" -gt 0 ] && break
			usleep 100000
		done
		rmmod monitor_edc 2> /dev/null && fail "the module went while a recorder had its card"
	fi
	kill -9 $recorder
	wait $recorder 2> /dev/null
done
record module $families --no-calibration
for try in $(seq 50); do
	rmmod monitor_edc 2> /dev/null && break
	usleep 100000
done
[ ! -e /sys/module/monitor_edc ] || fail "rmmod"
for try in 1 2 3; do
	insmod ./monitor_edc.ko || fail "insmod $try"
	rmmod monitor_edc || fail "rmmod $try"
done
