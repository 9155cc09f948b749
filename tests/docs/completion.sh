#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What bash completes: subcommands, options, groupings, families, traces, event names, the command to record.
# Called by ctest: completion.sh MONITOR COMPLETION_FILE
set -euo pipefail
monitor=$(realpath "$1")
source "$2"
share=$(realpath "$(dirname "$2")/../../share")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p runs/first empty plain/below
printf 'event {\n\tname = "w0";\n};\nevent {\n\tname = "w1";\n};\n' > runs/first/metadata
cp -r runs/first second
printf '#!/bin/sh\n' > empty/unlike-any-other
chmod +x empty/unlike-any-other
PATH=$work/empty:$PATH
failed=0

# expect WANTED WORD...: completing the last WORD gives exactly the words of WANTED, in any order
expect() {
	local wanted got
	wanted=$(tr ' ' '\n' <<< "$1" | sort | xargs)
	shift
	COMP_WORDS=(monitor "$@") COMP_CWORD=$# COMPREPLY=()
	_monitor "$monitor" "${*: -1}" "" 2> errors || true
	got=$(printf '%s\n' "${COMPREPLY[@]}" | sort | xargs)
	if [ "$got" != "$wanted" ] || [ -s errors ]; then
		printf 'monitor %s<TAB>\n  gives  %s\n  wanted %s\n' "$*" "$got" "$wanted"
		cat errors
		failed=1
	fi
}

recording=yes
"$monitor" events > /dev/null 2>&1 || recording=

expect "help record top serve snapshot trigger report explain diff view play convert list query stat states model predict archive info pack plan merge check tdl doctor events filter fleet agent" ""
expect "record report" re
expect "record report" help re
expect "--help --help-all" --h
expect "--bounded --by" report --b
expect "--json" info --j
expect "-h --help -q --quiet --json --rules --tdl --violations --sync --key" check -
expect "perfetto pprof" convert second --to p
expect "offcpu other" convert second --by o
expect "second" convert s
expect "kernel" check --rules k
expect "thread" report --by th
expect "--plot" report second --pl
expect "--virtual" report second --v
expect "runs" report second --svg ru
expect "caller cgroup command count cpu" report --by c
expect "thread" report --by = th
expect "argument caller cgroup command count cpu fault host offcpu other process step thread time wait waker" report --by =
expect "p50_ns p99_ns" report --sort p
expect "plain/ runs/ second" report ""
expect "runs/first" info runs/
expect "second" check -q s
expect "second" explain --slowest 3 s
expect "second" plan --rate 3 s
expect "second" report --top 3 s
expect "second segments samples stacks syscalls" report second s
expect "syscalls" report second --by thread sy
expect "activities" report runs/first second --json a
expect "w0 w1" list second --event ""
expect "w0,w1" list second --event w0,
expect "" list second --from ""
expect "" list second --filter ""
expect "" report second --from ""
expect "" stat second --tid ""
expect "--filter --from" list --f
expect "--cgroup --command --comm --counts --cpu --csv" stat --c
expect "" check --f
export MONITOR_SHARE=$share
expect "runqueue" stat second --table runq
expect "runqueue runs" stat second --table run
expect "cpu" stat --by c
expect "cpu calls" diff --by c
expect "stacks sleeps" diff --by s
expect "cpu,calls" diff --by cpu,c
expect "second" diff runs/first s
expect "cpu" states --tree c
expect "cpu" record --states c
expect "request runs" states --tree r
expect "--json" states second --j
expect "" states second --match ""
expect "runs/first" states runs/
expect "pipeline plain" play --layout p
expect "pipeline plain" view --layout p
expect "--frame --frames" play --f
expect "process" top --by p
expect "--metrics" serve --m
expect "bpf" serve --card b
expect "--batch --buffer --by" top --b
expect "auto" top --card a
expect "--rate --rows" top --r
expect "" top --rows ""
expect "cpu" top -m cp
expect "--delay --details" top --de
expect "offcpu" top --stacks off
expect "--stacks --stacks-on" top --st
expect "sched_switch" top --stacks-on sched_sw
expect "" top --rate ""
expect "1/10000 1/100000" play second --speed 1/10000
expect "second" play s
expect "pcap" list second --tdl pc
expect "check compile" tdl c
expect "add" archive a
expect "find figures" archive f
expect "second" archive add s
expect "--figure" archive history --f
mkdir -p .store/web/first/one .store/web/second
: > .store/web/first/one/measurement.json
export MONITOR_ARCHIVE=.store
expect "web/" archive list w
expect "web/first/ web/second/" archive compare web/first/one web/
expect "web/first/one" archive show web/first/
expect "utmp utmp64" tdl show ut
expect "runs/first" stat runs/
if ! "$monitor" query --help | grep -q "left out"; then
	expect "--filter" query second --f
	expect "" query second --filter ""
	expect "second" query s
fi
if [ "$recording" ]; then
	expect "--max-size" record --ma
	expect "--calibrate" record --cal
	expect "sched syscall" record -e s
	expect "sched,irq" record -e sched,i
	expect "default light sched irq syscall fault power block" record --events ""
	expect "cmd" record -p c
	expect "empty" record -o e
	expect "unlike-any-other" record -o x -- unlike-a
	expect "sched_switch" list --event sched_sw
fi
if [ "$recording" ] && ! "$monitor" fleet --help | grep -q "left out"; then
	printf 'web1\nweb2\ndb1\n' > hosts
	expect "init status record stop snapshot fetch collect cost push" fleet ""
	expect "--lead" fleet record --le
	MONITOR_FLEET=. expect "web1 web2" fleet record --hosts w
	expect "web1,db1" fleet stop --keys . --hosts web1,d
	expect "--allow-commands" agent --allow-
fi
exit $failed
