#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by tests/vm/guest.sh: counters, exact where the guest has a PMU that counts exactly (arm64 under
# -icount: an instruction every 2 ns, so cycles are twice the instructions), and n/a with a reason where it has none.
# Needs beside it: monitor and counted (both static), groups/*.group.
trace=/tmp/counters

fail() {
	echo "counters.sh: $*"
	exit 1
}

options=

# record MEASUREMENTS COMMAND...
# Up to three times: an emulated CPU that the host stops for some milliseconds, between the kernel's look at its clock and the
# token's or between its count of a switch and the token, moves them to a neighbour, and check says so.
record() {
	measurements=$1
	shift
	for try in 1 2 3; do
		# shellcheck disable=SC2086
		./monitor record --no-calibration --force -o $trace -e sched $options -m "$measurements" -- "$@" > /tmp/counted.out 2> /tmp/counted.err ||
			fail "record -m $measurements: exit status $?: $(cat /tmp/counted.err)"
		sh ./check.sh $trace > /tmp/check.out && break
		echo "counters.sh: try $try: $(grep '^FAILS' /tmp/check.out)"
		grep '^FAILS' /tmp/check.out | grep -qv 'CPU time of\|context switches:' || [ $try = 3 ] && fail "-m $measurements: check"
	done
	./monitor report --json $trace ratios > /tmp/ratios.json || fail "report: exit status $?"
}

# value PID NAME: of the process in the report.
value() {
	tr -d '\n\t' < /tmp/ratios.json | tr '{}' '\n\n' | grep "\"pid\": $1," | sed -n "s/.*\"$2\": \([^,]*\).*/\1/p" | head -n 1
}

# Segments of threads that take turns: each has its own page faults, three for a step.
steps=400
grep -q matrix=all /proc/cmdline && steps=2000
options="--reset-on ./segment_load:step,./segment_load:step%return"
record "faults=page-faults" ./segment_load 8 $steps
./monitor report --csv $trace segments > /tmp/segments.csv || fail "report segments: exit status $?"
calls=$(grep 'step","./segment_load:step%return"' /tmp/segments.csv | cut -d , -f 6) faults=$(grep 'step","./segment_load:step%return"' /tmp/segments.csv | cut -d , -f 13)
echo "counters.sh: $calls segments with $faults page faults"
[ "$calls" = $((8 * steps)) ] || fail "$calls segments, not $((8 * steps)): $(cat /tmp/segments.csv)"
[ "${faults%.*}" -ge $((24 * steps)) ] && [ "${faults%.*}" -lt $((24 * steps + 100)) ] ||
	fail "$faults page faults in them, not $((24 * steps)): $(cat /tmp/segments.csv)"
options=
echo 'called: name == "sys_enter" and id == "getppid" => reset' > /tmp/resets
./monitor record --no-calibration --force -o $trace -e sched,syscall -m faults=page-faults --triggers /tmp/resets -- ./getppid 1 1000 > /tmp/counted.out 2>&1 ||
	fail "a trigger that resets: $(cat /tmp/counted.out)"
sh ./check.sh $trace > /tmp/check.out || fail "a trigger that resets: $(cat /tmp/check.out)"
calls=$(./monitor report --csv $trace segments | grep '"called","called"' | cut -d , -f 6)
[ "$calls" = 999 ] || fail "a trigger that resets: $calls segments, not 999"

if ! ls /sys/bus/event_source/devices | grep -q 'armv8\|^cpu$'; then
	record cpu,cache ./getppid 2 1000
	grep -q 'no PMU' /tmp/ratios.json || fail "no reason given for what is not there: $(cat /tmp/ratios.json)"
	grep -q '"state": "counted"' /tmp/ratios.json || fail "nothing was counted in place of it"
	echo "VM-SKIP exact counts: no PMU"
	exit 0
fi

# Every event of every group has a code on the CPUs that the groups name; libpfm4 knows these on arm64 only.
if [ "$(uname -m)" = aarch64 ]; then
	LIBPFM_FORCE_PMU=no_such ./monitor events --groups --json > /tmp/groups.fallback
	for family in $(sed -n 's/^\[arm \(.*\)\]/\1/p' ./*.group | tr ' ' '\n' | sort -u); do
		LIBPFM_FORCE_PMU=arm_$family ./monitor events --groups --json > /tmp/groups.json || fail "events --groups: exit status $?"
		wrong=$(grep '"unknown": "[^"]\|"config": null' /tmp/groups.json) && fail "arm_$family: $wrong"
		cmp -s /tmp/groups.json /tmp/groups.fallback && fail "arm_$family: its sections are not used"
		echo "counters.sh: arm_$family: $(grep -o '"config": [0-9]' /tmp/groups.json | wc -l) events have codes"
	done
fi

# The emulator counts the instructions of all CPUs as one: only one is to be there.
echo 0 > /sys/devices/system/cpu/cpu1/online || fail 'CPU 1 does not go offline'
few=2000000 many=6000000
# Two processes in turn, each with its own counts.
turns() {
	record "done=instructions:u,spent=cycles:u,ipc=instructions:u/cycles:u" ./counted $few $many
	# shellcheck disable=SC2046
	set -- $(sed -n 's/^counted pid=\([0-9]*\) .*/\1/p' /tmp/counted.out)
	a=$(value "$1" done) b=$(value "$2" done)
	switches=$(./monitor list --event sched_switch $trace | grep -c "prev_pid=$1(counted) next_pid=$2(\|prev_pid=$2(counted) next_pid=$1(")
	echo "counters.sh: $a and $b instructions, ipc $(value "$1" ipc) and $(value "$2" ipc), $switches times after each other"
	[ $((b - a)) = $((5 * (many - few))) ] || {
		./monitor list --event sched_switch,counters $trace | grep counted
		fail "they differ by $((b - a)) instructions, not $((5 * (many - few)))"
	}
	[ "$a" -gt $((5 * few)) ] && [ "$a" -lt $((5 * few + 20000)) ] || fail "the first one executed $a"
	[ "$switches" -ge 2 ] || fail "the two did not take turns" # there and back; how often is the scheduler's matter
	for pid in "$1" "$2"; do
		[ "$(value "$pid" ipc)" = 0.5 ] || fail "process $pid: ipc $(value "$pid" ipc), not 0.5"
	done
}
turns
if [ -f monitor_edc.ko ] && insmod ./monitor_edc.ko && [ -f /sys/kernel/btf/monitor_edc ]; then
	options="--card module"
	turns
	options=
fi
rmmod monitor_edc 2> /dev/null

# The same by segments, from the loop's begin to its end: what is around it does not count.
options="--reset-on ./counted:loop,./counted:loop%return"
record "done=instructions:u" ./counted $few $many
./monitor report --csv $trace segments > /tmp/segments.csv || fail "report segments: exit status $?"
# shellcheck disable=SC2046
set -- $(grep 'loop","./counted:loop%return"' /tmp/segments.csv | cut -d , -f 13 | sort -n)
echo "counters.sh: $1 and $2 instructions from the loop's begin to its end"
[ $(($2 - $1)) = $((5 * (many - few))) ] || fail "segments: they differ by $(($2 - $1)) instructions"
[ "$1" -ge $((5 * few)) ] && [ "$1" -lt $((5 * few + 100)) ] || fail "segments: the first one executed $1"
options=

# Activities of programs, which read the counters at their boundaries themselves: exactly, if they may.
few=20000 many=60000
activities() {
	record "done=instructions:u,ipc=instructions:u/cycles:u" ./counted_activities $few $many
	./monitor report --csv --by thread $trace activities > /tmp/activities.csv || fail "report activities: exit status $?"
}
activities
grep -q '"at boundaries"' /tmp/activities.csv && fail "programs must not read counters here, and did"
./monitor report $trace activities | grep -q 'perf_user_access is 0' || fail "no reason given"
echo 1 > /proc/sys/kernel/perf_user_access || fail "no kernel.perf_user_access"
activities
awk -F , -v few=$few -v many=$many '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ gsub(/"/, ""); rounds = $at["activity"] == "few" ? few : many; extra = $at["done"] - $at["count"] * 5 * rounds
		if ($at["done_counting_percent"] < 100) next # a child has no rings at its first events
		rows++
		if ($at["counted"] != "at boundaries" || extra < 0 || extra > 10000 || $at["ipc"] < 0.49 || $at["ipc"] > 0.51) wrong = 1
		if (rows == 1) print "counters.sh: " $at["done"] " instructions in " $at["count"] " activities of " 5 * rounds ", at their boundaries" }
	END { exit wrong || rows < 8 }' /tmp/activities.csv || fail "activities: $(cat /tmp/activities.csv)"
echo 0 > /proc/sys/kernel/perf_user_access

# Ratios that are injected: two processes in turn, one with 12345 counts of an event and one with 7.
if insmod ./swinc.ko 2> /tmp/insmod.err; then
	record "hits=r0:k,work=instructions:u,share=r0:k/instructions:u" \
		sh -c 'for n in 12345 7; do sh -c "echo $n > /sys/module/swinc/parameters/inc" & done; wait'
	./monitor report --csv --by thread $trace ratios > /tmp/ratios.csv
	awk -F , '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["hits"] > 0 { print "counters.sh: injected: " $at["hits"] " of " $at["work"] ", ratio " $at["share"]; n++; sum += $at["hits"]
			if ($at["hits"] != 12345 && $at["hits"] != 7) wrong = 1
			error = $at["share"] * $at["work"] / $at["hits"] - 1; if (error > 1e-5 || error < -1e-5) wrong = 1 }
		END { exit wrong || n != 2 || sum != 12352 }' /tmp/ratios.csv || fail "injected counts: $(cat /tmp/ratios.csv)"
	rmmod swinc
else
	echo "VM-SKIP injected ratios: no module swinc: $(cat /tmp/insmod.err)"
fi

# As the probe's own ratios: within a 32nd of full scale.
options="--ratio-format rems16"
record "ipc=instructions:u/cycles:u %" ./counted $few
ipc=$(value "$(sed -n 's/^counted pid=\([0-9]*\) .*/\1/p' /tmp/counted.out)" ipc)
echo "counters.sh: in 16 bits: $ipc %"
awk "BEGIN { exit !($ipc > 46.8 && $ipc < 53.2) }" || fail "in 16 bits: $ipc %, not 50"
options=

# Ten events on six counters.
record "a=r8:u,b=r8:k,c=r8,d=r11:u,e=r11:k,f=r0,g=r0:u,h=r0:k,i=r8:u/r11:u,j=r23,k=r24" ./counted 40000000
set -- "$(sed -n 's/^counted pid=\([0-9]*\) .*/\1/p' /tmp/counted.out)"
a=$(value "$1" a) share=$(value "$1" a_counting_percent)
echo "counters.sh: ten events: $a instructions from $share % of the time"
grep -q '"state": "scaled"' /tmp/ratios.json || fail "ten events on six counters, but nothing is scaled"
awk "BEGIN { exit !($a > 0.9 * 5 * 40000000 && $a < 1.1 * 5 * 40000000) }" || fail "scaled: $a"
awk "BEGIN { exit !($share > 20 && $share < 95) }" || fail "scaled from $share %"

# A CPU that comes online while it is recorded: its counters ended when it went offline, or there were none. What runs there
# is unknown, which is said, and has no row with 0.
cat > /tmp/busy.sh << 'END'
echo "busy pid=$$"
i=0
while [ $i -lt 20000 ]; do i=$((i + 1)); done
END
./monitor record --no-calibration --force -o $trace -e sched -m "done=instructions:u" -- \
	sh -c "echo 1 > /sys/devices/system/cpu/cpu1/online; sleep 1; taskset 2 sh /tmp/busy.sh" > /tmp/counted.out 2> /tmp/counted.err ||
	fail "a CPU that comes online: exit status $?: $(cat /tmp/counted.err)"
./monitor check $trace > /tmp/check.out
grep -q 'not witnessed.* CPU 1 was offline .*its counters would have counted' /tmp/check.out ||
	fail "check does not say that counters are missing on CPU 1: $(cat /tmp/check.out)"
grep '^FAILS' /tmp/check.out | grep counter && fail "check: counters"
./monitor report $trace ratios | grep -q 'unknown: what ran on CPU 1 since it came online' || fail "the report does not say that CPU 1 has no counters"
./monitor report --json $trace ratios > /tmp/ratios.json
pid=$(sed -n 's/^busy pid=//p' /tmp/counted.out)
[ "$(value "$pid" done)" != 0 ] || fail "what ran on CPU 1 has 0 instructions"
