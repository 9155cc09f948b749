#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# A quota on the parent of a thread's group: how often a switch says that its thread is throttled, beside the group's own
# count. throttled.sh CARD
card=${1:-bpf}

fail() {
	echo "throttled.sh $card: $*"
	exit 1
}

mkdir -p /tmp/groups
grep -q /tmp/groups /proc/mounts || mount -t cgroup2 none /tmp/groups || fail "no cgroup 2"
echo +cpu > /tmp/groups/cgroup.subtree_control || { echo "VM-SKIP throttled threads: this kernel has no quotas" && exit 0; }
mkdir -p /tmp/groups/quota/within
echo '20000 100000' > /tmp/groups/quota/cpu.max
cat > /tmp/burn.sh << 'BURN'
echo $$ > /tmp/groups/quota/within/cgroup.procs
timeout 1 sh -c 'while :; do :; done'
echo $$ > /tmp/groups/cgroup.procs
BURN
./monitor record --no-calibration --force --card "$card" -o /tmp/throttled -e sched -- sh /tmp/burn.sh > /tmp/record.out 2>&1
[ -s /tmp/throttled/metadata ] || fail "record: $(cat /tmp/record.out)"
periods=$(sed -n 's/^nr_throttled //p' /tmp/groups/quota/cpu.stat)
switches=$(./monitor list /tmp/throttled --event sched_switch --filter 'prev_flags == "throttled"' | wc -l)
others=$(./monitor list /tmp/throttled --event sched_switch --filter 'prev_flags == "throttled" and not prev_state in {"R", "R+"}' 2> /dev/null | wc -l)
echo "throttled.sh $card: $switches switches of throttled threads, $periods periods"
./monitor info /tmp/throttled | grep -q '^switches .*throttled' || fail "$(./monitor info /tmp/throttled)"
[ "$periods" -ge 3 ] || fail "the group was throttled $periods times"
[ $((2 * switches)) -ge "$periods" ] && [ "$switches" -le $((8 * periods)) ] || fail "$switches switches in $periods periods"
[ "$others" -eq 0 ] || fail "$others switches of threads that slept"
# Its threads' throttled time, in us, and what the kernel says: that goes on until a thread runs again.
told=$(./monitor report --json --by thread /tmp/throttled | tr ',{' '\n\n' | awk -F: '/"throttled_ns"/ { sum += $2 } END { printf "%d", sum / 1000 }')
kernel=$(sed -n 's/^throttled_usec //p' /tmp/groups/quota/cpu.stat)
verdict=$(./monitor check /tmp/throttled | grep 'throttled')
echo "throttled.sh $card: throttled for $told us, by the kernel $kernel us; $verdict"
case $verdict in
FAILS*) fail "check: $verdict" ;;
esac
[ "$told" -ge $((kernel * 9 / 10)) ] && [ "$told" -le $((kernel * 11 / 10 + 100000)) ] || fail "throttled for $told us, by the kernel $kernel us"
rm -rf /tmp/throttled
rmdir /tmp/groups/quota/within /tmp/groups/quota
