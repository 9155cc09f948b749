#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The programs of --reset-on and --functions may be preempted, so none of their functions may have 64 bytes of stack
# (bpf/reset.bpf.c says why), which the kernel has rounded up to 16 (round_up_stack_depth() of its verifier): so none more than 48.
# stack_sizes.sh LLVM-READOBJ OBJECT
set -euo pipefail
sizes=$("$1" --stack-sizes "$2" | sed -n 's/.*Functions: \[\(.*\)\]/\1/p; s/^ *Size: //p' | paste - -)
status=0
for function in function_entry function_exit post_function reset_at_uprobe reset_at_tracepoint_0 post_reset post_reset_in_slot post_set_in_slot read_in_slot write_in_slot \
	reserve_in_slot open_block overwriting_limit count_tokens time_by_set now is_judged_kept_in_slot judge_apart match_apart match_dimension count_apart count_all count_rest count_next time_all time_event edc_pending_start_take edc_pending_start_add edc_timed_add \
	fire fire_all begin_sample stop_or_start leaves_out hold_rings notify_recorder reserve_apart wake_for_firings step_all step_trigger edc_window_of edc_window_step; do
	size=$(awk -v name="$function" '$1 == name { print $2 }' <<< "$sizes")
	if [ -z "$size" ]; then
		echo "$function is not in $2: is it inlined now, or renamed? then correct this list"
		status=1
	elif [ $((size)) -gt 48 ]; then
		echo "$function has $((size)) bytes of stack, more than 48"
		status=1
	fi
done
# With counters, 6.1 has no room for more on the way from a switch to the innermost function: 512 bytes, of which each
# frame takes a multiple of 32.
while read -r function most; do
	size=$(awk -v name="$function" '$1 == name { print $2 }' <<< "$sizes")
	if [ $((size)) -gt "$most" ]; then
		echo "$function has $((size)) bytes of stack, more than $most"
		status=1
	fi
done <<< "sched_switch 96
post_counters 160
post_ratios 128
write_stack_of_event 128"
exit $status
