/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the kernel's cards share to post an event by its name: from a row of card.h the parameters of a function and the
 * packing of its fields, so that a wrong number of fields does not compile, nor, in the probes' files, a wrong width.
 *
 * Each card defines its functions with them (bpf/post.bpf.h, kmod/module.h), for the class sched_waking for example
 *
 *     post_sched_waking(target_cpu, pid, prio)           -p judges the process of the running thread
 *     post_sched_waking_of(tgid, target_cpu, pid, prio)  ... or that process: a filter target
 *
 * Parts of the argument are passed as 32-bit integers and cut to their bits; payload fields have the type of their
 * kind. The offsets are constants: the compiler is left with shifts and stores.
 */
#ifndef MONITOR_KERNEL_EVENTS_H
#define MONITOR_KERNEL_EVENTS_H

#include "card.h"

/* Filter targets; a positive number is a process: the event passes if it or the running thread's process is selected.
 */
#define EDC_FILTER_CURRENT 0 /* the process of the running thread */
#define EDC_FILTER_NONE -1   /* passes always */

/* The first 16 bytes of a name, NUL-padded. */
struct edc_comm {
	__u64 word[2];
};

/* Types of the argument's parts, by kind. */
#define EDC_ARGUMENT_abi __u32
#define EDC_ARGUMENT_doing __u32
#define EDC_ARGUMENT_function __u32
#define EDC_ARGUMENT_s16 __s32
#define EDC_ARGUMENT_softirq __u32
#define EDC_ARGUMENT_stack_ended __u32
#define EDC_ARGUMENT_state __u32
#define EDC_ARGUMENT_syscall __u32
#define EDC_ARGUMENT_taken_at __u32
#define EDC_ARGUMENT_u12 __u32
#define EDC_ARGUMENT_u16 __u32
#define EDC_ARGUMENT_u4 __u32
#define EDC_ARGUMENT_when __u32
#define EDC_ARGUMENT_x16 __u32

/* Types of payload fields, by kind. */
#define EDC_PAYLOAD_comm const struct edc_comm *
#define EDC_PAYLOAD_s32 __s32
#define EDC_PAYLOAD_s64 __s64
#define EDC_PAYLOAD_u16 __u16
#define EDC_PAYLOAD_u32 __u32
#define EDC_PAYLOAD_u64 __u64
#define EDC_PAYLOAD_x64 __u64

/* EDC_PARAMETERS(fields): the fields as parameters of a function. */
#define EDC_PARAMETERS(fields) EDC_FIELDS_LAST_(EDC_PARAMETER_0_ fields)
#define EDC_PARAMETER_0_(part, kind, name) EDC_PARAMETER_##part(kind, name) EDC_PARAMETER_1_
#define EDC_PARAMETER_1_(part, kind, name) EDC_PARAMETER_##part(kind, name) EDC_PARAMETER_0_
#define EDC_PARAMETER_0_END_
#define EDC_PARAMETER_1_END_
#define EDC_PARAMETER_A(kind, name) EDC_ARGUMENT_##kind name
#define EDC_PARAMETER_B(kind, name) , EDC_ARGUMENT_##kind name
#define EDC_PARAMETER_F(kind, name) , EDC_PAYLOAD_##kind name

static inline __attribute__((always_inline)) __u32 edc_pack_bits(__u64 *words, __u32 at, __u64 value, __u32 bits)
{
	words[at / 64] |= value << (at % 64);
	return at + bits;
}

/* A name starts at a word. */
static inline __attribute__((always_inline)) __u32 edc_pack_comm(__u64 *words, __u32 at, const struct edc_comm *comm)
{
	words[at / 64] = comm->word[0];
	words[at / 64 + 1] = comm->word[1];
	return at + 128;
}

#define EDC_PACK_comm(name) edc_pack_comm(words_, at_, name)
#define EDC_PACK_s32(name) edc_pack_bits(words_, at_, (__u32)(name), 32)
#define EDC_PACK_s64(name) edc_pack_bits(words_, at_, (__u64)(name), 64)
#define EDC_PACK_u16(name) edc_pack_bits(words_, at_, name, 16)
#define EDC_PACK_u32(name) edc_pack_bits(words_, at_, name, 32)
#define EDC_PACK_u64(name) edc_pack_bits(words_, at_, name, 64)
#define EDC_PACK_x64(name) edc_pack_bits(words_, at_, name, 64)

/* EDC_PACK(words, fields): the parameters as `arg_` and `words_`. */
#define EDC_PACK(words, fields)                   \
	__u64 words_[(words) ? (words) : 1] = {}; \
	__u32 arg_, at_ = 0;                      \
	EDC_FIELDS_LAST_(EDC_PACK_0_ fields)      \
	(void)at_
#define EDC_PACK_0_(part, kind, name) EDC_PACK_##part(kind, name) EDC_PACK_1_
#define EDC_PACK_1_(part, kind, name) EDC_PACK_##part(kind, name) EDC_PACK_0_
#define EDC_PACK_0_END_
#define EDC_PACK_1_END_
#define EDC_PACK_A(kind, name) \
	arg_ = EDC_KIND_BITS_##kind < 16 ? (__u32)(name) & ((1u << EDC_KIND_BITS_##kind) - 1) : (__u32)(name);
#define EDC_PACK_B(kind, name) arg_ |= (__u32)(name) << (16 - EDC_KIND_BITS_##kind);
#define EDC_PACK_F(kind, name) at_ = EDC_PACK_##kind(name);

#endif
