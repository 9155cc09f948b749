/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Stacks: who called whom, in the kernel and in the program, at a timer (stack.bpf.c) or at any event that post()
 * posts. Included by post.bpf.h, between the ring and post().
 *
 * The kernel's part is walked by the kernel. The program's part is walked here, by the tables of monitor/stack.h; a
 * walk that fails says where and why. A stack is described once per CPU, by stack_frames and stack_end tokens, and from
 * then on named by its id, a hash. A description comes before the first sample that needs it in the same CPU's rings;
 * one that was discarded is given again.
 *
 * Stacks at events are limited by a budget of CPU time: the more of it is used, the fewer are taken, at random.
 */
#ifndef MONITOR_BPF_STACK_H
#define MONITOR_BPF_STACK_H

#include "monitor/stack.h"

/* Set by the loader before the program is verified, constants to the verifier. */
const volatile __u8 stacks_at[EDC_CARD_CLASSES] =
    {}; /* 1: at events of this class; 2: if stacks_of_call has its number */
const volatile __u8 stack_kinds[EDC_CARD_CLASSES] = {};         /* EDC_STACK_KIND_* */
const volatile __u32 stack_budget_permille = 0;                 /* of each kind */
const volatile __u64 stacks_of_call[EDC_STACK_CALLS / 64] = {}; /* a bit for each system call */
const volatile __u8 stacks_on = 0;                              /* any of them, or the timer */
const volatile __u64 stack_seed = 0;                            /* ids cannot be chosen by a program */

__u8 stacks_running = 0; /* the recorder's: events have stacks now, which the calibration's do not */

/* The recorder maps what is mmapable, and keeps `spaces`. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct edc_unwind_row);
} unwind_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct edc_unwind_mapping);
} unwind_mappings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct edc_unwind_space);
} unwind_spaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct edc_stack_cpu);
} stack_cpus SEC(".maps");

/* The space of each process. A new process shares its parent's, an exec ends it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} spaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} stacks_known SEC(".maps");

/* What one walk knows; functions of bpf_loop() get it by a pointer on the stack. One for each level of each CPU: a BPF
 * program's own stack is 512 bytes. */
struct stack_walk {
	__u64 frames[EDC_STACK_FRAMES + 1]; /* return addresses, innermost first */
	__u64 ip, sp, fp;
	__u64 at; /* where it ended */
	__u64 hash;
	__u64 time;  /* of all tokens */
	__u32 count; /* of frames */
	__u32 skip;  /* frames at the start that belong to the sample and not to the stack */
	__u32 ended; /* EDC_STACK_* */
	__u32 first; /* mapping */
	__u32 mappings;
	__u32 low, high; /* of a search */
	__u32 exact;     /* ip is an instruction, not a return address */
	__u32 cpu_id, ring_index;
	__u32 part;   /* described so far */
	__u32 failed; /* a token of the description was discarded */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_walk);
} stack_walks SEC(".maps");

INLINE __u64 mixed(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9E3779B97F4A7C15ull;
	return hash ^ hash >> 29;
}

#ifdef __TARGET_ARCH_x86
struct pt_regs___walk {
	unsigned long ip, sp, bp, cs;
} CORE;
#define USER_CS_64 0x33

INLINE bool read_user(__u64 *value, __u64 address)
{
	return bpf_probe_read_user(value, 8, (void *)address) == 0;
}

INLINE long end_walk(struct stack_walk *walk, __u32 why, __u64 at)
{
	walk->ended = why;
	walk->at = at;
	return 1;
}

/*
 * Both searches keep their bounds in memory: to the verifier what is read from there is any number, so that an
 * iteration is like any other, and it need not follow each way through all of them.
 */

/* The mapping of an address; null: none. */
INLINE struct edc_unwind_mapping *mapping_of(struct stack_walk *walk, __u64 ip)
{
	struct edc_unwind_mapping *mapping;
	__u32 place;

	WRITE(walk->low, 0);
	WRITE(walk->high, walk->mappings);
#pragma clang loop unroll(disable)
	for (int i = 0; i < 16; i++) {
		__u32 low = READ(walk->low), high = READ(walk->high), middle = (low + high) / 2;

		if (low >= high)
			break;
		place = walk->first + middle;
		mapping = bpf_map_lookup_elem(&unwind_mappings, &place);
		if (!mapping)
			return 0;
		if (mapping->start <= ip)
			WRITE(walk->low, middle + 1);
		else
			WRITE(walk->high, middle);
	}
	place = READ(walk->low);
	if (!place)
		return 0;
	place += walk->first - 1;
	mapping = bpf_map_lookup_elem(&unwind_mappings, &place);
	return mapping && ip >= mapping->start && ip < mapping->end ? mapping : 0;
}

/* The row of an address; null: none. */
INLINE struct edc_unwind_row *row_of(struct stack_walk *walk, struct edc_unwind_mapping *mapping, __u64 ip)
{
	__u32 address = (__u32)(ip - mapping->bias), place;

	WRITE(walk->low, mapping->first_row);
	WRITE(walk->high, mapping->first_row + mapping->rows);
#pragma clang loop unroll(disable)
	for (int i = 0; i < 23; i++) {
		__u32 low = READ(walk->low), high = READ(walk->high), middle = (low + high) / 2;
		struct edc_unwind_row *row;

		if (low >= high)
			break;
		row = bpf_map_lookup_elem(&unwind_rows, &middle);
		if (!row)
			return 0;
		if (row->address <= address)
			WRITE(walk->low, middle + 1);
		else
			WRITE(walk->high, middle);
	}
	place = READ(walk->low);
	if (place <= mapping->first_row)
		return 0;
	place--;
	return bpf_map_lookup_elem(&unwind_rows, &place);
}

/* Adds the frame at walk->ip and goes to its caller. Nonzero ends the walk. */
static long walk_step(__u32 i, struct stack_walk **context)
{
	struct stack_walk *walk = *context;
	__u64 ip = walk->ip - (walk->exact ? 0 : 1), cfa, caller, fp = walk->fp;
	struct edc_unwind_mapping *mapping;
	struct edc_unwind_row *row;

	if (walk->count >= EDC_STACK_FRAMES)
		return end_walk(walk, EDC_STACK_DEPTH, ip);
	walk->frames[walk->count & EDC_STACK_FRAMES] = walk->ip;
	walk->count++;
	mapping = mapping_of(walk, ip);
	if (!mapping)
		return end_walk(walk, EDC_STACK_UNMAPPED, ip);
	if (!mapping->rows) { /* push %rbp; mov %rsp, %rbp */
		cfa = walk->fp + 16;
		if (!read_user(&fp, walk->fp) || !read_user(&caller, walk->fp + 8))
			return end_walk(walk, EDC_STACK_UNREADABLE, ip);
	} else {
		row = row_of(walk, mapping, ip);
		if (!row)
			return end_walk(walk, EDC_STACK_NO_RULE, ip);
		switch (row->rule) {
		case EDC_UNWIND_END:
			return end_walk(walk, EDC_STACK_COMPLETE, 0);
		case EDC_UNWIND_SP:
			cfa = walk->sp + 8ll * row->cfa;
			break;
		case EDC_UNWIND_FP:
			cfa = walk->fp + 8ll * row->cfa;
			break;
		case EDC_UNWIND_PLT:
			cfa = walk->sp + 8 + ((__s16)(walk->ip & 15) >= row->cfa ? 8 : 0);
			break;
		case EDC_UNWIND_SIGNAL: /* struct rt_sigframe of the kernel, after its return address was popped */
			if (!read_user(&cfa, walk->sp + 160) || !read_user(&fp, walk->sp + 120) ||
			    !read_user(&caller, walk->sp + 168))
				return end_walk(walk, EDC_STACK_UNREADABLE, ip);
			walk->sp = cfa;
			walk->fp = fp;
			walk->ip = caller;
			walk->exact = 1;
			return 0;
		case EDC_UNWIND_INDIRECT:
			if (!read_user(&cfa, walk->fp + 8ll * row->cfa))
				return end_walk(walk, EDC_STACK_UNREADABLE, ip);
			break;
		case EDC_UNWIND_NONE:
			return end_walk(walk, EDC_STACK_NO_RULE, ip);
		default:
			return end_walk(walk, EDC_STACK_UNKNOWN, ip);
		}
		if (!read_user(&caller, cfa - 8))
			return end_walk(walk, EDC_STACK_UNREADABLE, ip);
		if (row->fp && !read_user(&fp, row->fp == EDC_UNWIND_FP_AT_FP ? walk->fp : cfa + 8ll * row->fp))
			return end_walk(walk, EDC_STACK_UNREADABLE, ip);
	}
	if (cfa <= walk->sp)
		return end_walk(walk, EDC_STACK_UNKNOWN, ip); /* a stack that does not shrink would never end */
	walk->sp = cfa;
	walk->fp = fp;
	walk->ip = caller;
	walk->exact = 0;
	return caller ? 0 : end_walk(walk, EDC_STACK_COMPLETE, 0);
}

/* The program's part of the running thread's stack, into walk->frames. */
INLINE void walk_user(struct stack_walk *walk, struct task_struct *task)
{
	struct pt_regs___walk *regs = (void *)bpf_task_pt_regs((void *)task);
	__u32 process = current_process();
	__u32 *number = bpf_map_lookup_elem(&spaces, &process);
	struct edc_unwind_space *space;
	__u64 generation;

	walk->ip = BPF_CORE_READ(regs, ip);
	walk->sp = BPF_CORE_READ(regs, sp);
	walk->fp = BPF_CORE_READ(regs, bp);
	walk->exact = 1;
	walk->frames[0] = walk->ip;
	walk->count = 1;
	if (BPF_CORE_READ(regs, cs) != USER_CS_64) {
		end_walk(walk, EDC_STACK_FOREIGN, walk->ip);
		return;
	}
	space = number ? bpf_map_lookup_elem(&unwind_spaces, number) : 0;
	if (!space) {
		/* at its end and between two programs it has none */
		if (task->flags & PF_EXITING || BPF_CORE_READ_BITFIELD_PROBED(task, in_execve))
			walk->count = 0;
		end_walk(walk, EDC_STACK_NO_SPACE, walk->ip);
		return;
	}
	generation = READ(space->generation);
	walk->first = READ(space->first_mapping);
	walk->mappings = READ(space->mappings);
	walk->hash = mixed(walk->hash, generation << 32 | *number);
	walk->ended = EDC_STACK_DEPTH;
	walk->count = 0;
	bpf_loop(EDC_STACK_FRAMES + 1, walk_step, &walk, 0);
	if ((generation & 1) || READ(space->generation) != generation) {
		walk->count = 1;
		end_walk(walk, EDC_STACK_NO_SPACE, walk->frames[0]);
	}
}
#else
/* Without tables: the program's frame pointers, as the kernel follows them. */
INLINE void walk_user(struct stack_walk *walk, struct task_struct *task)
{
	long bytes = bpf_get_task_stack((void *)task, walk->frames, 8 * EDC_STACK_FRAMES, BPF_F_USER_STACK);

	walk->count = bytes > 0 ? (__u32)bytes / 8 : 0;
	walk->ended = EDC_STACK_NO_RULE;
	walk->at = 0;
}
#endif

/* Writes up to six frames. Nonzero: that was all. */
static long describe_part(__u32 i, struct stack_walk **context)
{
	struct stack_walk *walk = *context;
	struct edc_cpu *cpu = bpf_map_lookup_elem(&rings, &walk->cpu_id);
	__u32 first = walk->part, count = walk->count - walk->skip, ring_index = READ(walk->ring_index);
	__u64 words[7] = {};
	__u64 pos;

	if (!cpu || ring_index >= EDC_CARD_LEVELS || first >= count)
		return 1;
	words[0] = walk->hash;
	for (__u32 k = 0; k < 6; k++)
		if (first + k < count)
			words[1 + k] = walk->frames[(walk->skip + first + k) & EDC_STACK_FRAMES];
	count = count - first < 6 ? count - first : 6;
	cpu->level[ring_index].seen[EDC_ID_STACK_FRAMES - EDC_ID_KERNEL_FIRST]++;
	pos = reserve(cpu, ring_index, walk->time, 7);
	if (pos) {
		commit(cpu, ring_index, pos, EDC_ID_STACK_FRAMES, (first & 0xfff) | count << 12, words, 7);
	} else {
		discard(cpu, ring_index, EDC_ID_STACK_FRAMES);
		walk->failed = 1;
	}
	walk->part = first + 6;
	return 0;
}

/* Gives the stack an id, and describes it if this CPU has not. Returns the id; 0: there is no stack. */
static __attribute__((noinline)) __u64 describe_stack(struct stack_walk *walk)
{
	__u32 place, ring_index;
	__u64 hash, *known, words[2], pos;
	struct edc_cpu *cpu;

	if (!walk)
		return 0;
	cpu = bpf_map_lookup_elem(&rings, &walk->cpu_id);
	ring_index = READ(walk->ring_index);
	if (!cpu || ring_index >= EDC_CARD_LEVELS || walk->count < walk->skip)
		return 0;
	WRITE(walk->hash, mixed(walk->hash, walk->ended));
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < EDC_STACK_FRAMES; i++) {
		if (walk->skip + i >= walk->count)
			break;
		WRITE(walk->hash, mixed(READ(walk->hash), walk->frames[(walk->skip + i) & EDC_STACK_FRAMES]));
	}
	hash = READ(walk->hash);
	hash = hash ? hash : 1;
	walk->hash = hash;
	place = walk->cpu_id * EDC_STACK_KNOWN + (hash & (EDC_STACK_KNOWN - 1));
	known = bpf_map_lookup_elem(&stacks_known, &place);
	if (!known || READ(*known) == hash)
		return hash;
	walk->part = 0;
	walk->failed = 0;
	bpf_loop((EDC_STACK_FRAMES + 5) / 6, describe_part, &walk, 0);
	words[0] = hash;
	words[1] = walk->at;
	cpu->level[ring_index].seen[EDC_ID_STACK_END - EDC_ID_KERNEL_FIRST]++;
	pos = reserve(cpu, ring_index, walk->time, 2);
	if (!pos) {
		discard(cpu, ring_index, EDC_ID_STACK_END);
		return hash;
	}
	commit(cpu, ring_index, pos, EDC_ID_STACK_END, ((walk->count - walk->skip) & 0xfff) | walk->ended << 12, words,
	       2);
	if (!walk->failed)
		WRITE(*known, hash);
	return hash;
}

/*
 * Posts the stack of the running thread. `context`: of a timer's sample, with the registers that it interrupted, whose
 * innermost frame the sample itself has: it changes from one to the next more than its callers do.
 */
INLINE void write_stack(struct edc_cpu *cpu, __u32 ring_index, __u64 time, __u32 at, void *context, bool in_user)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	__u64 id = bpf_get_current_pid_tgid(), words[4] = {};
	__u32 cpu_id = bpf_get_smp_processor_id(), place = cpu_id * EDC_CARD_LEVELS + ring_index;
	struct stack_walk *walk = bpf_map_lookup_elem(&stack_walks, &place);
	long bytes;

	if (!walk)
		return;
	walk->cpu_id = cpu_id;
	walk->ring_index = ring_index;
	walk->time = time;
	words[0] = id; /* the thread in the lower half, the process in the upper: `pid` and `tgid` */
	if (!in_user) {
		if (context)
			bytes = bpf_get_stack(context, walk->frames, 8 * EDC_STACK_FRAMES, 0);
		else
			bytes = bpf_get_task_stack((void *)task, walk->frames, 8 * EDC_STACK_FRAMES, 0);
		walk->count = bytes > 0 ? (__u32)bytes / 8 : 0;
		walk->ended = EDC_STACK_COMPLETE;
		walk->at = 0;
		walk->hash = stack_seed;
		walk->skip = context && walk->count;
		if (walk->skip)
			words[1] = walk->frames[0];
		words[2] = describe_stack(walk);
	}
	if (!(task->flags & PF_KTHREAD)) {
		walk->hash = stack_seed;
		walk_user(walk, task);
		walk->skip = in_user && walk->count;
		if (walk->skip)
			words[1] = walk->frames[0];
		if (walk->count)
			words[3] = describe_stack(walk);
	}
	ring_index = READ(walk->ring_index); /* what older verifiers know of it does not survive the walk */
	if (ring_index >= EDC_CARD_LEVELS)
		return;
	cpu->level[ring_index].seen[EDC_ID_STACK_SAMPLE - EDC_ID_KERNEL_FIRST]++;
	write_token(cpu, ring_index, time, EDC_ID_STACK_SAMPLE, at, words, 4);
}

/* A moment at which the budget is used up does not make the next ones lose all: fewer are taken when little is left. */
INLINE bool has_credit(struct edc_stack_account *own, __u64 ns)
{
	__s64 credit = own->credit_ns + (__s64)((ns - own->last_ns) * stack_budget_permille / 1000);

	if (credit > EDC_STACK_CREDIT_NS)
		credit = EDC_STACK_CREDIT_NS;
	own->credit_ns = credit;
	own->last_ns = ns;
	if (credit >= EDC_STACK_CREDIT_NS / 2)
		return 1;
	return credit > 0 && bpf_get_prandom_u32() % (EDC_STACK_CREDIT_NS / 2) < (__u64)credit;
}

/* At an event, within the budget. */
static __attribute__((noinline)) int write_stack_of_event(__u32 ring_index, __u64 time, __u32 at)
{
	__u32 cpu_id = bpf_get_smp_processor_id();
	struct edc_stack_cpu *accounts = bpf_map_lookup_elem(&stack_cpus, &cpu_id);
	struct edc_cpu *cpu = bpf_map_lookup_elem(&rings, &cpu_id);
	__u32 kind = stack_kinds[(at - EDC_ID_KERNEL_FIRST) & (EDC_CARD_CLASSES - 1)];
	__u64 ns = bpf_ktime_get_ns(), spent;
	struct edc_stack_account *own;

	if (!accounts || !cpu || ring_index >= EDC_CARD_LEVELS || kind >= EDC_STACK_KINDS)
		return 0;
	own = &accounts->at[kind];
	if (!has_credit(own, ns)) {
		own->skipped++;
		return 0;
	}
	write_stack(cpu, ring_index, time, at, 0, 0);
	spent = bpf_ktime_get_ns() - ns;
	own->credit_ns -= (__s64)spent;
	own->spent_ns += spent;
	own->taken++;
	return 0;
}

/* Whether events of this class, with this argument, have stacks. At a switch: if the thread blocks. */
INLINE bool has_stack(__u32 id, __u32 arg)
{
	__u8 at = stacks_at[(id - EDC_ID_KERNEL_FIRST) & (EDC_CARD_CLASSES - 1)];

	if (!at || !READ(stacks_running))
		return 0;
	if (id == EDC_ID_SCHED_SWITCH && (!arg || arg == EDC_STATE_PREEMPTED || arg & EDC_STATE_DEAD))
		return 0;
	if (at == 2 && !(stacks_of_call[arg % EDC_STACK_CALLS / 64] >> (arg % 64) & 1))
		return 0;
	return !filtering || is_traced(current_process());
}

#endif
