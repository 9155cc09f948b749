#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by guest.sh, and by module.sh as `filter.sh module`: record --filter keeps what `list --filter` shows,
# and counts the rest; --count and --time are what was done, --states what the tokens say. Needs beside it: monitor, getppid and, with the module loaded, poster.ko.
card=${1:-bpf}
events=${EVENTS:-20000}

fail() {
	echo "filter.sh: --card $card: $*"
	exit 1
}

# The deepest probes: a stack at what was judged, counted and timed.
deepest() {
	./monitor record --no-calibration --force --card "$card" --stacks=cpu,syscall:getppid -o /tmp/filter --filter 'ret < 0 or name == "sched_waking"' --count 'failed=ret < 0' \
		--time 'call=name == "sys_enter" .. name == "sys_exit" per tid' -- ./getppid 2 300 > /tmp/filter.out 2>&1 || fail "record --stacks --time: $(cat /tmp/filter.out)"
	sh ./check.sh /tmp/filter > /tmp/check.out || fail "check with --stacks: $(cat /tmp/check.out)"
}

if grep -q matrix=short /proc/cmdline; then
	deepest
	exit 0
fi

./monitor record --no-calibration --force --card "$card" -e sched,syscall -o /tmp/filter --filter 'name == "sys_enter" and id == "getppid" and thread == "getppid"' \
	-- ./getppid 2 3000 > /tmp/filter.out 2>&1 || fail "record: $(cat /tmp/filter.out)"
sh ./check.sh /tmp/filter > /tmp/check.out || fail "check: $(cat /tmp/check.out)"
made=$(sed -n 's/^getppid calls: //p' /tmp/filter.out)
kept=$(./monitor list --event sys_enter /tmp/filter | wc -l)
lost=$(./monitor info --json /tmp/filter | tr -d ' \n' | sed -n 's/.*"lost":\([0-9]*\).*/\1/p')
filtered=$(tr -d ' \t\n' < /tmp/filter/.monitor/recording.json | tr '{' '\n' | sed -n 's/.*"name":"sys_e[nx].*"filtered":\([0-9]*\).*/\1/p' | awk '{ sum += $1 } END { print sum + 0 }')
echo "filter.sh: --card $card: $made calls made, $kept kept, $filtered filtered, lost ${lost:-unknown}"
[ "$kept" -le "$made" ] && [ $((kept + ${lost:-0})) -ge "$made" ] || fail "$kept of $made calls were kept"
[ "$filtered" -ge "$made" ] || fail "the exits were not filtered: $filtered"
[ "$(./monitor list --event sys_exit /tmp/filter | wc -l)" = 0 ] || fail "exits were kept"

# Counted in the kernel, with nothing recorded.
./monitor record --no-calibration --force --card "$card" -e sched,syscall -o /tmp/filter --no-tokens --count 'calls=name == "sys_enter" and id == "getppid"' \
	--count 'exits=name == "sys_exit" and thread == "getppid" and ret > 0' --count 'switches=name == "sched_switch"' -- ./getppid 2 3000 > /tmp/filter.out 2>&1 ||
	fail "record --count: $(cat /tmp/filter.out)"
sh ./check.sh /tmp/filter > /tmp/check.out || fail "check of counts: $(cat /tmp/check.out)"
made=$(sed -n 's/^getppid calls: //p' /tmp/filter.out)
counted=$(./monitor report --csv /tmp/filter counts | sed -n 's/^"\{0,1\}calls"\{0,1\},\([0-9]*\),.*/\1/p')
exits=$(./monitor report --csv /tmp/filter counts | sed -n 's/^"\{0,1\}exits"\{0,1\},\([0-9]*\),.*/\1/p')
echo "filter.sh: --card $card: $made calls made, $counted counted, $exits exits"
[ "$counted" -ge "$made" ] && [ "$counted" -le $((made + 10)) ] && [ "$exits" -ge "$made" ] || fail "$counted calls and $exits exits were counted, not $made"
[ -e /tmp/filter/kernel_cpu0 ] && fail "tokens were recorded"

# The same by class, in periods, beside what the kernel counts itself.
if [ "$card" = bpf ]; then
	./monitor record --no-calibration --force --statistics 1s --count-only -o /tmp/filter -- /bin/busybox sh -c './getppid 2 300; sleep 2' > /tmp/filter.out 2>&1 ||
		fail "record --count-only: $(cat /tmp/filter.out)"
	sh ./check.sh /tmp/filter > /tmp/check.out || fail "check of what was only counted: $(cat /tmp/check.out)"
	made=$(sed -n 's/^getppid calls: //p' /tmp/filter.out)
	counted=$(./monitor stat --csv /tmp/filter | sed -n 's/^"\{0,1\}sys_enter"\{0,1\},\([0-9]*\),.*/\1/p')
	echo "filter.sh: only counted: $counted calls, $made of them in a loop"
	[ "$counted" -ge "$made" ] || fail "$counted calls were counted, $made were made"
	grep -q "^ok .*context switches: /proc/stat" /tmp/check.out || fail "switches were not compared: $(cat /tmp/check.out)"
fi

# Timed in the kernel: with the tokens beside, which `check` pairs, and without any.
for tokens in "" --no-tokens; do
	./monitor record --no-calibration --force --card "$card" -e sched,irq,syscall -o /tmp/filter $tokens \
		--time 'call=name == "sys_enter" and id == "getppid" .. name == "sys_exit" per tid' --time 'wake=name == "sched_waking" .. name == "sched_switch" per pid=next_pid' \
		--time 'softirq=name == "softirq_entry" and vec == "TIMER" .. name == "softirq_exit" and vec == "TIMER" per cpu' -- ./getppid 2 3000 > /tmp/filter.out 2>&1 ||
		fail "record --time: $(cat /tmp/filter.out)"
	sh ./check.sh /tmp/filter > /tmp/check.out || fail "check of times: $(cat /tmp/check.out)"
	made=$(sed -n 's/^getppid calls: //p' /tmp/filter.out)
	timed=$(./monitor report --csv /tmp/filter counts | sed -n 's/^"\{0,1\}call"\{0,1\},\([0-9]*\),.*/\1/p')
	echo "filter.sh: --card $card $tokens: $made calls made, $timed timed; $(grep -c 'the time .* were timed' /tmp/check.out) times witnessed"
	[ "$timed" -ge "$made" ] && [ "$timed" -le $((made + 10)) ] || fail "$timed calls were timed, not $made: $(cat /tmp/filter.out)"
done
# States that the recorder classifies: those that the tokens have, which `check` compares.
printf 'of thread\nrunning: state == "running"\nready: state == "ready"\nblocked: state == "blocked"\n' > /tmp/thread.tree
./monitor record --no-calibration --force --card "$card" -e sched,syscall -o /tmp/filter --states /tmp/thread.tree -- ./getppid 2 3000 > /tmp/filter.out 2>&1 ||
	fail "record --states: $(cat /tmp/filter.out)"
sh ./check.sh /tmp/filter > /tmp/check.out || fail "check of states: $(cat /tmp/check.out)"
grep '^ok.*run lengths' /tmp/check.out || fail "states were not compared: $(cat /tmp/check.out)"
[ "$card" = module ] || deepest
[ "$card" = module ] && [ -f /sys/kernel/btf/monitor_edc ] || exit 0

# Random events, the same ones each time: all of them, then those of some expressions.
posted() { # OUTPUT [OPTION...]
	output=$1
	shift
	rm -rf /tmp/filter
	./monitor record --no-calibration --force --card module --buffer 64M -e sched -o /tmp/filter "$@" > /tmp/filter.out 2>&1 &
	recorder=$!
	for wait in $(seq 100); do
		[ -s /tmp/filter/metadata ] && break
		usleep 100000
	done
	usleep 500000
	echo "$events" > /sys/module/poster/parameters/random || fail "the poster cannot post"
	kill -INT $recorder
	wait $recorder || fail "record: $(cat /tmp/filter.out)"
	sh ./check.sh /tmp/filter > /tmp/check.out || fail "check: $(cat /tmp/check.out)"
	grep -q 'lost 0' /tmp/filter.out || fail "events were lost: $(cat /tmp/filter.out)"
	mv /tmp/filter "$output"
}

# Without the times.
listed() { # TRACE EXPRESSION
	./monitor list --event cpu_idle,cpu_frequency,block_rq_issue,block_rq_complete --filter "$2" "$1" | sed 's/^.* \(cpu_[a-z]* \|block_[a-z_]* \)/\1/'
}

insmod ./poster.ko || fail "insmod poster"
rm -rf /tmp/all /tmp/some
posted /tmp/all
[ "$(listed /tmp/all 'time >= 0s' | wc -l)" = "$events" ] || fail "not all $events events were recorded"
# pid: the kernel's own events of the families power and block must not be recorded, and a filter of theirs alone is refused.
for expression in 'state > 7 and state < 5000 or sector >= 0x100000000 and nr_bytes < 16 or pid == -7' \
	'error < 0 and dev & 3 == 1 or op in {0 .. 9, 255} or pid == -7' 'cpu_id == 3 or state == -1 or nr_bytes > 4294967290 or pid == -7' 'not (sector > 65535 or state > 65535)'; do
	posted /tmp/some --filter "$expression"
	listed /tmp/all "$expression" > /tmp/expected
	listed /tmp/some 'time >= 0s' > /tmp/kept
	echo "filter.sh: $(wc -l < /tmp/kept) of $events random events kept by $expression"
	cmp /tmp/expected /tmp/kept || fail "$expression: $(wc -l < /tmp/kept) events were kept, not $(wc -l < /tmp/expected)"
	[ -s /tmp/kept ] && [ "$(wc -l < /tmp/kept)" -lt "$events" ] || fail "$expression: nothing to compare"
	rm -rf /tmp/some
done
rmmod poster || fail "rmmod poster"
