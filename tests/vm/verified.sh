#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# Run in the guest by guest.sh: how much the verifier has to look at, which delays the start of what is recorded. Needs
# beside it: monitor and verified.

# At most LIMIT instructions with these options of record: between two and three times what 6.1 needs, which needs most.
# Once the default needed 4.9 million there, since 6.1 verifies global functions that nothing calls.
verifies() {
	limit=$1
	shift
	./monitor record --no-calibration --force -o /tmp/verified "$@" -- ./verified > /tmp/verified.out 2>&1 ||
		{ cat /tmp/verified.out; exit 1; }
	count=$(sed -n 's/^verified: \([0-9]*\) instructions.*/\1/p' /tmp/verified.out)
	echo "verified.sh: ${count:-unknown} instructions, at most $limit expected: $*"
	[ "${count:-$limit}" -lt "$limit" ] || exit 1
}

verifies 250000
grep -q matrix=short /proc/cmdline && exit
verifies 500000 --filter 'ret < 0'
# Of all events, and by rows (matcher.h): 6.1 verifies in each program what looks them up.
verifies 2000000 --filter 'thread == "x"'
