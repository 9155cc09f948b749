/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Stacks: what the card and the recorder share so that a probe can find the callers of any program, whether or not it
 * was built with frame pointers.
 *
 * A process has an address space: its executable mappings, in order. Each is a part of a file whose .eh_frame section
 * the recorder has turned into rows, in order of addresses: how to find the caller's frame from there to the next row
 * (System V ABI, AMD64 supplement, 3.7; DWARF 5, 6.4). A probe looks up the process's space, the mapping and the row of
 * each return address. See bpf/stack.bpf.h; the recorder writes all of this in userspace/recording/stacks/.
 *
 * Plain C for BPF and user space.
 */
#ifndef MONITOR_STACK_H
#define MONITOR_STACK_H

#include <linux/types.h>

#include "ring.h"

/* Of one stack. What is deeper is cut. */
#define EDC_STACK_FRAMES 127

/* How the canonical frame address (CFA) follows from the registers; the return address lies just before it. */
#define EDC_UNWIND_END 0      /* the start of a thread: there is no caller */
#define EDC_UNWIND_SP 1       /* stack pointer + 8 * cfa */
#define EDC_UNWIND_FP 2       /* frame pointer + 8 * cfa */
#define EDC_UNWIND_PLT 3      /* stack pointer + 8, and 8 more from byte `cfa` of each 16 on */
#define EDC_UNWIND_SIGNAL 4   /* a signal handler's return: the registers lie on the stack */
#define EDC_UNWIND_INDIRECT 5 /* it lies at frame pointer + 8 * cfa */
#define EDC_UNWIND_UNKNOWN 6  /* a rule that the walk cannot follow */
#define EDC_UNWIND_NONE 7     /* the file has no rule for these addresses */

#define EDC_UNWIND_FP_AT_FP 1 /* edc_unwind_row.fp: the caller's frame pointer lies at the frame pointer */

struct edc_unwind_row {
	__u32 address; /* first one, as the file counts them */
	__s16 cfa;
	__s8 fp; /* the caller's frame pointer lies at CFA + 8 * fp; 0: unchanged */
	__u8 rule;
};

struct edc_unwind_mapping {
	__u64 start, end;
	__u64 bias; /* address in memory - address as the file counts */
	__u32 first_row;
	__u32 rows; /* 0: code without a file or without rows, which is trusted to keep frame pointers */
};

/* Even generations are valid. A space is written only while no process has it. */
struct edc_unwind_space {
	__u64 generation;
	__u32 first_mapping;
	__u32 mappings;
};

#define EDC_UNWIND_ROWS (1 << 23) /* 64 MiB; fewer on a small machine */
#define EDC_UNWIND_MAPPINGS (1 << 16)
#define EDC_UNWIND_SPACES (1 << 14)
#define EDC_UNWIND_PROCESSES (1 << 15)

/* stack_end.ended: why a stack has no further frame */
#define EDC_STACK_COMPLETE 0
#define EDC_STACK_DEPTH 1      /* it has more than EDC_STACK_FRAMES */
#define EDC_STACK_NO_SPACE 2   /* the recorder does not know the process (yet) */
#define EDC_STACK_UNMAPPED 3   /* the address is in no mapping that the recorder knows */
#define EDC_STACK_NO_RULE 4    /* the file has no rule for the address */
#define EDC_STACK_UNKNOWN 5    /* the walk cannot follow the rule */
#define EDC_STACK_UNREADABLE 6 /* the memory is not there, or swapped out */
#define EDC_STACK_FOREIGN 7    /* a 32-bit program */

/* System calls that can be chosen one by one: numbers below this. */
#define EDC_STACK_CALLS 512

/* stack_sample.at: 0, or the id of the class of the event that the stack was taken at */
#define EDC_STACK_AT_TIMER 0

/* Stacks that a CPU has described last are not described again: slots by id, for each CPU. */
#define EDC_STACK_KNOWN (1 << 14)

/* Stacks at events may take this share of each CPU's time, in percent, and this long at once. */
#define EDC_STACK_BUDGET_PERCENT 10
#define EDC_STACK_CREDIT_NS 10000000

struct edc_stack_cpu {
	__s64 credit_ns;             /* what stacks at events may still take */
	__u64 last_ns;               /* when it was last increased */
	__u64 taken;                 /* stacks at events */
	__u64 skipped;               /* those that the budget did not allow */
	__u64 spent_ns;              /* what the taken ones took */
	__u64 timer_taken, timer_ns; /* the same of stacks at the timer, which have no budget: their rate bounds them */
	__u64 pad;
};

EDC_ASSERT(sizeof(struct edc_unwind_row) == 8);
EDC_ASSERT(sizeof(struct edc_unwind_mapping) == 32);
EDC_ASSERT(sizeof(struct edc_unwind_space) == 16);
EDC_ASSERT(sizeof(struct edc_stack_cpu) == 64);

#endif
