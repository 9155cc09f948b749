#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the golden traces and compares what monitor prints with the expected texts beside this script.
# Called by ctest: golden.sh MAKE_GOLDEN MONITOR WORK_DIRECTORY; by approve with --approve after these.
set -euo pipefail

make_golden=$1 monitor=$2 work=$3 mode=${4:-}
here=$(cd "$(dirname "$0")" && pwd)
failed=0

expect() { # NAME ARGUMENTS...: what `monitor list` prints, then its exit code
	local name=$1
	shift
	{
		(cd "$work" && TZ=UTC "$monitor" list "$@" 2>&1) && echo "exit code 0" || echo "exit code $?"
	} >"$work/$name.txt"
	if [ "$mode" = --approve ]; then
		cp "$work/$name.txt" "$here/expected/$name.txt"
	elif ! diff -u "$here/expected/$name.txt" "$work/$name.txt"; then
		failed=1
	fi
}

rm -rf "$work"
mkdir -p "$work/nothing" "$here/expected"
"$make_golden" "$work" "$here/metadata.events"

# one bad packet, one bad token, one cut file, one file of another kind
cp -r "$work/basic" "$work/damaged"
printf 'x' | dd of="$work/damaged/cpu0_level0" bs=1 seek=4096 conv=notrunc status=none
printf '\377' | dd of="$work/damaged/cpu0_level1" bs=1 seek=104 conv=notrunc status=none
truncate -s 8000 "$work/damaged/cpu1_level0"
echo "not a stream" >"$work/damaged/notes"

expect basic basic
expect basic_json basic --json
expect gap gap
expect cpu basic --cpu 0 --event w0,w1
expect pid basic --tid 42 --event sched_switch,sched_wakeup_new,w0
expect range basic --from 0.000001040 --to 0.000001050
expect wall_time gap --from 22:13:20.000001505 --to '2023-11-14 22:13:20.000002015'
expect damaged damaged
expect no_such_trace nowhere
expect not_a_trace nothing
expect no_such_event basic --event nothing
expect no_such_time basic --from noon
expect outside basic --from 1000

exit $failed
