#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A build without the record side, SQLite, ncurses, protozero and libnats: it builds without libbpf, clang and bpftool, reads a trace like the
# full build, and says of `record`, `query` and `convert` why it cannot. Called by hand, a minute: offline_build.sh [BUILD]. BUILD (default:
# build) has the full build and its tests; the other is kept there, so that only the first run takes its time.
set -euo pipefail
build=$(realpath "${1:-build}")
source=$(cd "$(dirname "$0")/../.." && pwd)
full=$build/tools/monitor/monitor make_golden=$build/tests/golden/make_golden
events=$source/tests/golden/metadata.events work=$build/tests/e2e/work/offline_build

fail() {
	printf 'FAILED: %s\n' "$*"
	exit 1
}

mkdir -p "$work/tools"
# Not even by accident: what only the record side needs fails when it is called.
for name in clang clang-14 bpftool llvm-strip; do
	printf '#!/bin/sh\necho "%s was called" >> "%s"\nexit 1\n' "$name" "$work/called" > "$work/tools/$name"
	chmod +x "$work/tools/$name"
done
rm -f "$work/called"
export PATH=$work/tools:$PATH
cmake -S "$source" -B "$work/build" -G Ninja -DMONITOR_RECORD=OFF -DMONITOR_QUERY=OFF -DMONITOR_SCREEN=OFF -DMONITOR_PROTOBUF=OFF -DMONITOR_FLEET=OFF -DBUILD_TESTING=OFF -DCMAKE_BUILD_TYPE=Debug \
	-DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=20 > "$work/cmake.log" 2>&1 || { cat "$work/cmake.log"; fail "cmake"; }
ninja -C "$work/build" monitor > "$work/ninja.log" 2>&1 || { tail -50 "$work/ninja.log"; fail "the build"; }
[ ! -e "$work/called" ] || fail "$(cat "$work/called")"
monitor=$work/build/tools/monitor/monitor
! ldd "$monitor" | grep -E 'libbpf|libelf|libpfm|sqlite|ncurses|libnats' || fail "it needs a library that it was built without"

rm -rf "$work/traces"
"$make_golden" "$work/traces" "$events" > "$work/golden.log"
trace=$work/traces/basic
for verb in "list" "list --json" "report" "report --by thread --json" "info" "check" "play --frame"; do
	# shellcheck disable=SC2086
	"$monitor" $verb "$trace" > "$work/mine" 2>&1 || true
	# shellcheck disable=SC2086
	"$full" $verb "$trace" > "$work/theirs" 2>&1 || true
	[ -s "$work/mine" ] || fail "$verb prints nothing"
	diff "$work/mine" "$work/theirs" || fail "$verb differs from the full build's"
done
for verb in record doctor events; do
	status=0
	"$monitor" $verb > "$work/out" 2> "$work/errors" || status=$?
	[ $status -ne 0 ] || fail "$verb works without the record side"
	grep -q "^monitor: this build reads traces only" "$work/errors" || fail "$verb says: $(cat "$work/errors")"
done
for verb in agent fleet; do
	status=0
	"$monitor" $verb record -- x > "$work/out" 2> "$work/errors" || status=$?
	[ $status -ne 0 ] && grep -q "^monitor: this build has no .monitor $verb." "$work/errors" || fail "$verb says: $(cat "$work/errors")"
done
status=0
"$monitor" query "$trace" "SELECT 1" > "$work/out" 2> "$work/errors" || status=$?
[ $status -ne 0 ] && grep -q "^monitor: this build has no .monitor query." "$work/errors" ||
	fail "query without SQLite says: $(cat "$work/errors")"
status=0
script -qec "$monitor play $trace" /dev/null < /dev/null > "$work/out" 2>&1 || status=$?
[ $status -ne 0 ] && grep -q "this build shows no animation in the terminal" "$work/out" ||
	fail "play without ncurses says: $(cat "$work/out")"
status=0
"$monitor" convert "$trace" --to perfetto -o "$work/out" 2> "$work/errors" || status=$?
[ $status -ne 0 ] && grep -q "^monitor: this build has no .monitor convert --to perfetto." "$work/errors" ||
	fail "convert without protozero says: $(cat "$work/errors")"
"$monitor" convert "$trace" --to speedscope -o "$work/out" 2> "$work/errors" || fail "convert to speedscope: $(cat "$work/errors")"
echo "the offline build reads what the full build reads"
