/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Entries and exits of functions (record --functions): uprobes at the first instruction of each and at those that leave
 * it. No return probe: it replaces the return address, and a C++ exception that passes through ends the program.
 * Included by card.bpf.c; attached by userspace/recording/card/function_probes.cpp. Next in the flow:
 * reading/activities/tracker.cpp, which pairs the tokens by the stack pointer.
 *
 * A uprobe program may be preempted: see reset.bpf.c for what follows from that.
 */

#include "monitor/function_table.h"

/* In struct pt_regs, whose layout is ABI. */
#ifdef __TARGET_ARCH_arm64
#define STACK_POINTER 31
#else
#define FLAGS 18
#define STACK_POINTER 19
#endif

/* With --budget: how often the probes of each function were hit, in any process, whether or not they posted. */
__u32 counting_functions = 0;
__u64 function_hits[EDC_MAX_FUNCTIONS] = {};

INLINE void count_hit(__u32 number)
{
	if (counting_functions && number < EDC_MAX_FUNCTIONS)
		__sync_fetch_and_add(&function_hits[number], 1);
}

INLINE void reject_in_slot(struct edc_cpu *cpu, __u32 slot, __u32 id)
{
	cpu->level[EDC_CARD_LEVELS + slot].seen[id - EDC_ID_KERNEL_FIRST]++;
	cpu->level[EDC_CARD_LEVELS + slot].filtered[id - EDC_ID_KERNEL_FIRST]++;
}

static __attribute__((noinline)) int post_function(__u32 id_and_number, __u64 stack_pointer)
{
	__u32 cpu_id = bpf_get_smp_processor_id(), id = id_and_number & ((1 << ARG_SHIFT) - 1);
	struct edc_cpu *cpu = bpf_map_lookup_elem(&rings, &cpu_id);

	if (!cpu || READ(cpu->reader.stopped) || id - EDC_ID_KERNEL_FIRST >= EDC_CARD_CLASSES ||
	    (filtering && !is_traced(current_process())))
		return 0;
	for (__u32 slot = 0; slot < EDC_CARD_SLOTS; slot++) {
		if (__sync_lock_test_and_set(&cpu->slot[slot].taken, 1))
			continue;
		cpu->slot[slot].words[0] = stack_pointer;

		__u64 time = 0;

		if ((decisions[EDC_ID_FUNCTION_ENTRY - EDC_ID_KERNEL_FIRST] ||
		     decisions[EDC_ID_FUNCTION_EXIT - EDC_ID_KERNEL_FIRST]) &&
		    !keeps(1, cpu, EDC_CARD_LEVELS + slot, &time, id, id_and_number >> ARG_SHIFT, cpu->slot[slot].words,
			   1))
			reject_in_slot(cpu, slot, id);
		else if (pausing && leaves_out(cpu, EDC_CARD_LEVELS + slot, id,
					       cpu->level[EDC_CARD_LEVELS + slot].fires & start_triggers))
			cpu->level[EDC_CARD_LEVELS + slot].seen[id - EDC_ID_KERNEL_FIRST]++;
		else
			write_in_slot(cpu, slot, time ? time : now(), id_and_number, 1);
		if (triggering && cpu->level[EDC_CARD_LEVELS + slot].fires)
			fire_all(cpu, EDC_CARD_LEVELS + slot);
		barrier();
		WRITE(cpu->slot[slot].taken, 0);
		return 0;
	}
	__sync_fetch_and_add(&cpu->too_deep[id - EDC_ID_KERNEL_FIRST], 1);
	return 0;
}

/* The cookie is the function's number, and above it the condition under which a jump leaves it: 0 for always. */
INLINE bool is_taken(const __u64 *registers, __u32 condition)
{
#ifdef FLAGS
	__u64 flags = registers[FLAGS];
	bool carry = flags & 1, parity = flags >> 2 & 1, zero = flags >> 6 & 1, sign = flags >> 7 & 1,
	     overflow = flags >> 11 & 1, holds;

	if (!condition)
		return 1;
	condition--; /* as the instruction encodes it: Intel SDM, volume 1, appendix B */
	switch (condition >> 1) {
	case 0:
		holds = overflow;
		break;
	case 1:
		holds = carry;
		break;
	case 2:
		holds = zero;
		break;
	case 3:
		holds = carry | zero;
		break;
	case 4:
		holds = sign;
		break;
	case 5:
		holds = parity;
		break;
	case 6:
		holds = sign != overflow;
		break;
	default:
		holds = zero | (sign != overflow);
	}
	return holds != (condition & 1);
#else
	return 1;
#endif
}

SEC("?uprobe")
int function_entry(const __u64 *registers)
{
	__u32 number = (__u32)bpf_get_attach_cookie((void *)registers);

	count_hit(number & 0xffff);
	return post_function(EDC_ID_FUNCTION_ENTRY | number << ARG_SHIFT, registers[STACK_POINTER]);
}

SEC("?uprobe")
int function_exit(const __u64 *registers)
{
	__u32 cookie = (__u32)bpf_get_attach_cookie((void *)registers);

	count_hit(cookie & 0xffff);
	if (!is_taken(registers, cookie >> 16))
		return 0;
	return post_function(EDC_ID_FUNCTION_EXIT | cookie << ARG_SHIFT, registers[STACK_POINTER]);
}
