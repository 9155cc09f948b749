#!/bin/bash
# SPDX-License-Identifier: MIT
# A short run of one fuzzer from the golden traces. Called by ctest: run.sh FUZZER MAKE_GOLDEN EVENTS CORPUS [RUNS]
set -euo pipefail

fuzzer=$1 name=$(basename "$1") make_golden=$2 events=$3 corpus=$4/$(basename "$1")
case $name in
fuzz_fold) runs=60 ;; # a whole recording is folded each time
fuzz_clock) runs=500 ;; # each is searched for lines a dozen times
fuzz_convert | fuzz_fragments) runs=1000 ;;
*) runs=2000 ;;
esac
runs=${5:-$runs}

mkdir -p "$corpus" "$corpus.traces"
"$make_golden" "$corpus.traces" "$events"
if [ "$name" = fuzz_tsdl ]; then
	for trace in "$corpus.traces"/*; do
		cp "$trace/metadata" "$corpus/seed_$(basename "$trace")"
	done
elif [ "$name" = fuzz_stream ]; then
	# one packet's used bytes, after a byte of flags (see the fuzzer)
	for stream in "$corpus.traces"/*/cpu* "$corpus.traces"/*/recorder; do
		[ -e "$stream" ] || continue
		{ printf '\001' && head -c 255 "$stream"; } >"$corpus/seed_$(basename "$(dirname "$stream")")_$(basename "$stream")"
	done
fi
if [ "$name" = fuzz_generic ]; then
	python3 -B "$(dirname "$0")/../ctf/seeds.py" "$corpus"
fi
if [ "$name" = fuzz_fragments ]; then
	python3 -B "$(dirname "$0")/../ctf/seeds.py" --version2 "$corpus"
fi
if [ "$name" = fuzz_tdl ] || [ "$name" = fuzz_convert ]; then
	python3 -B "$(dirname "$0")/../tdl/seeds.py" "$corpus" "$(dirname "$0")/../../share/descriptions"
fi
if [ "$name" = fuzz_filter ]; then
	i=0
	while read -r expression; do
		printf '%s' "$expression" > "$corpus/seed_$((i += 1))"
	done << 'END'
name == "call" and ret < 0
pid in {12, 100..200, -5} or comm == "make" || thread != "idle"
state == "minus" and cpu != 0 and time > 1.5s
name ~ "c[a-k]*" and not has(ret)
u % 1000 == -s / 3 * 2 and (small | 1) << 4 == address >> 60 ^ 7
abi not in {"native", 2} && !(event.cpu == 1) and `in` >= 0x10 and tid >= 0b1
time in {1ms..2s} and s < u and u != 18446744073709551615 and s > -9223372036854775808
comm !~ "\\x*\x41?" or comm >= other or comm in {"a".."b"} or id == 2.5
END
	printf 'x == "minus" and y > 2\0event { name = "e"; id = 300; fields := struct { range_t x; s64_t y; }; };\0%s' \
		01234567890123456789 > "$corpus/seed_events"
	printf 'x == "minus" and y > 2\0event { name = "e"; fields := struct { range_t x; s64_t y; }; };\0%s' \
		01234567890123456789 > "$corpus/seed_described"
	printf 'x > 2\0event { name = "e"; id = 0; fields := struct { s64_t x; }; };\0' > "$corpus/seed_empty"
fi
if [ "$name" = fuzz_trigger ]; then
	cat > "$corpus/seed_1" << 'END'
late: name == "a" and id == "b" not followed by c == 1 within 10ms per tid=pid => snapshot before 1s after 2ms, end # x
w: a == 1 as w then b == w.c and d == 2 within 1s => mark 'x, y', run "z" 3 per minute, signal USR1
e == 1 3 times within 5us per cpu
	=> mark
every 2s => mark
at start => run 'x'
END
	printf 'name == "a" as w then `per` == w.b and c within 10 ms per d, e = f, times' > "$corpus/seed_pair"
	printf '(a or b) .. not c == "then" per tid' > "$corpus/seed_time"
fi
if [ "$name" = fuzz_model ]; then
	{
		cat << 'END'
# monitor model 1: 5 recordings, 1.313 s
cpus 2 realtime; marks functions; latency 24us 36us; wakecost 7.8us; fixed 12ms
distribution "a b" uniform 1us 2us; distribution c exponential 3us
role reader 1: loop 8 { cpu check; put workers }
role workers pool 2 capacity 8: { take; cpu squeeze of c; signal writer; reply }
role writer 1 in order: loop { await squeeze; lock t { cpu 3us }; branch { sleep } else { wake own s } }
role client split 2: { call workers { cpu "f(int)" }; wait s; branch 0.5 { barrier b }; fork { cpu | sleep 1ns } }
because squeeze follows check
END
		printf '\0# monitor model samples 1\nrecording 1.3s\nrole reader: cpu check\n0 1 20\n0 2 30\n'
		printf 'role writer: branch, sleep\n0 1 1 5\nrole client: cpu "f(int)", cpu\n0 0 7 8\n'
	} > "$corpus/seed_1"
fi
if [ "$name" = fuzz_clock ]; then
	head="monitor-clock 1 node-1.site clock=tsc frequency_hz=1000000 boot=01234567-89ab-cdef-0123-456789abcdef"
	{
		printf '1%s\n' "$head"
		for i in $(seq 40); do
			echo "$((i * 250000)) $((i * 250000000 + 60000)) $((i * 250000000 + 70000)) $((i * 250000 + 130))"
		done
	} > "$corpus/seed_exchanges"
	printf '1%s\n10 20 30 40\n%s\n18446744073709551615 9223372036854775807 9223372036854775807 18446744073709551615\n' \
		"$head" "$head" > "$corpus/seed_far"
	printf '0{"parts": [{"directory": "a", "bound_ns": 5}, {"directory": "b", "bound_ns": null, "clock": {"nodes": [[1, 5], [9, 50],
		[18446744073709551615, 9223372036854775807]], "bounds_ns": [null, 5, 7, null], "rho_ppb": 2000}}]}' \
		> "$corpus/seed_collection"
fi
if [ "$name" = fuzz_matcher ]; then
	i=0
	while IFS=';' read -r kept counted; do
		printf '%s\0%s' "$kept" "$counted" > "$corpus/seed_$((i += 1))"
	done << 'END'
name == "call" and ret < 0;u in {3..9, 12} or comm == "make" and tid > 3
not (small > -3 and u != 18446744073709551615) or cpu == 1;address & 15 == 3 and s < -9223372036854775807
comm ~ "make*" or thread == "server";u == 3 or time >= 1s
worker >= 2 or n < 0;other in {"a".."b"} and not has(ret)
END
fi
if [ "$name" = fuzz_rules ]; then
	{
		cat << 'END'
rule: r
	when: name == "A"
	only then: name == "B"
	not between: name == "sched_switch"
	key: key = key = prev_state
	same: value <= value + 1, pid = next_pid
	nested: yes
	at most: 2
	within: 100ns
	allow open: no
	among: 1, value of name == "A"
	leaves: value of name == "B"
	members: value
rule: s
	for: name == "A"
	follows: value = value + 1
	key: tid
	forget: name == "B"
	begin: has(key)
	needs: A
END
		printf '\0%s' ABCDEFGHABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL
	} > "$corpus/seed_pairs"
	printf 'rule: r\nfor: name == "B"\nafter: name == "A"\nuntil: has(comm)\nkey: key\nsame: activity\0%s' \
		ABCDEFGHABCDEFGHIJKLMNOPQRSTUVWXYZ > "$corpus/seed_after"
	printf 'r: name == "A" then name == "B" within 9 ns per key\n\tsame: value\0%s' ABCDEFGHABCDEFGHIJKLMNOPQRSTUVWXYZ \
		> "$corpus/seed_pair"
	printf 'rule: r\nwhen: name == "A"\nnever: value > 3\nkey: key\nbefore begin: nothing\0%s' ABCDEFGH \
		> "$corpus/seed_never"
fi
if [ "$name" = fuzz_states ]; then
	tokens=HAAIPBBAXCCAABCDEFGHABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@P
	printf '%s\0%s\0%s' $'of cpu\nidle: state == "idle"\nirq: mode in {"softirq", "irq"}\nin: has(call)\n\ta: call == 1\n' \
		'idle (in+ | irq{1,3})* [^a 0]?' "$tokens" > "$corpus/seed_cpu"
	printf '%s\0%s\0%s' $'of thread\nr: state == "running" and mode != "kernel"\nb: blocked_on > 1\nx: name ~ "s*"\n' \
		'(r b)+ . | in/a PAUSE unknown' "$tokens" > "$corpus/seed_thread"
	printf '%s\0%s\0%s' $'of machine\n# comment\na: running == 2 and tid > 1\nb: vec == idle\n  c: thread == "x"\n' \
		'a b/REST{2,} .*' "$tokens" > "$corpus/seed_machine"
fi
if [ "$name" = fuzz_control ]; then
	printf '\0{"message":"{}","signature":"AAAA"}' > "$corpus/seed_envelope"
	printf '\1%s' '{"version":1,"kind":"record","hosts":["h","web-1.x"],"nonce":"0123456789abcdef0123456789abcdef",
"run":"night_1.a","issued_ns":1800000000000000000,"expires_ns":1800000060000000000,"start_ns":1800000002000000000,
"options":{"events":"sched,irq","filter":"pid == 1 and comm ~ \"a*\"","duration":2.5,"trigger":["a == 1 => mark"],
"statistics":"60s","keep":"1h","count-only":true,"flight":"64M","snapshots":3,"user":true,"user-only":true,
"max-size":1000000,"no-calibration":true,"note":"n"},"command":["sh","-c","true"]}' > "$corpus/seed_record"
	printf '\1%s' '{"version":1,"kind":"stop","hosts":["h"],"nonce":"0123456789abcdef0123456789abcdef","run":"r",
"issued_ns":1800000000000000000,"expires_ns":1800000060000000000}' > "$corpus/seed_stop"
	printf '\2%s' '{"version":1,"monitor":"0.1.0","session":"ab","boot_id":"c","state":"idle","runs":[{"run":"r",
"state":"recording"}],"spool_bytes":1,"spool_max_bytes":2,"unsent_blocks":3,"lost_blocks":4,"refused":5,
"user_only":true,"runs_commands":false}' > "$corpus/seed_presence"
	printf '\3%s' '{"version":1,"kind":"ended","nonce":"ab","run":"r","reason":"x","realtime_ns":9,"session":"s",
"late_ns":-5,"exit_code":125}' > "$corpus/seed_answer"
fi
if [ "$name" = fuzz_user ]; then
	# two blocks of small events, and the texts of classes
	printf 'a\0arg: token a {x = 1, y = 2}; u64 b (B); address c' > "$corpus/seed_text"
	printf 'mylib:tick\0arg: u16 a; str24 b; str8 c; u64 d' > "$corpus/seed_provider"
	python3 - "$corpus/seed_blocks" << 'END'
import struct, sys
def block(begin, events, ring):
    head = struct.pack("<I16sIQQQQQQQIIII", 0, bytes([ring]), 0, 0, begin, 0, 0, 0, 0, 0, 0, 0, 7, 0)
    words = b"".join(struct.pack("<Q", 1024 | (begin + i) << 12) for i in range(events))
    return (head + words).ljust(4096, b"\0")
open(sys.argv[1], "wb").write(bytes([16]) + block(1000, 20, 0) + block(200, 20, 1) + block(2000, 20, 0))
END
fi
if [ "$name" = fuzz_fold ]; then
	python3 - "$corpus" << 'END'
import json, random, sys
noise = random.Random(4711) # the same each time
for i in (1, 2, 3):
    open(f"{sys.argv[1]}/seed_{i}", "wb").write(b"\0" + noise.randbytes(i * 400))
counters = [{"name": "a", "unit": "ns", "field": "a"}]
reading = {"cpu": 0, "set": 0, "time": 5, "enabled_ns": 9, "running_ns": 9, "values": [1]}
terms = [{"counter": 0, "factor": 2}]
said = json.dumps({"state": "complete", "start": {"time": 1}, "end": {"time": 1 << 40}, "counters": {
    "sets": [{"id": 325, "scaled_id": 333, "counters": counters}], "readings": {"start": [reading], "end": [reading]},
    "measurements": [{"name": per, "unit": "%", "per": per, "numerator": terms, "denominator": terms}
                     for per in ("counters", "time", "nothing")]}}).encode()
said += b" " * (-len(said) % 8)
open(sys.argv[1] + "/seed_counters", "wb").write(bytes([len(said) // 8]) + noise.randbytes(800) + said)
END
fi
exec "$fuzzer" -runs="$runs" -seed=1 -max_len=16384 -len_control=0 -rss_limit_mb=2048 -timeout=10 -print_final_stats=0 -verbosity=0 \
	-artifact_prefix="$corpus.found_" "$corpus"
