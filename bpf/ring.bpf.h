/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The rings of a CPU, and the clock: reserve() finds space for a token in the open block or the next one, and commit()
 * writes it there. A ring is that of a level or, for probes that may be preempted (reset.bpf.c, function.bpf.c), that
 * of a slot.
 *
 * Invariant: every ring has one writer at a time.
 */
#ifndef MONITOR_BPF_RING_H
#define MONITOR_BPF_RING_H

#include "kernel.bpf.h"

#include "monitor/block.h"
#include "monitor/matcher.h"

#define INLINE static __attribute__((always_inline, unused))
#ifndef READ /* a test may hook reads */
#define READ(lvalue) (*(volatile __typeof__(lvalue) *)&(lvalue))
#endif
#define WRITE(lvalue, value) (*(volatile __typeof__(lvalue) *)&(lvalue) = (value))

/* An array that the recorder maps. The loader sets max_entries if it is not 1. */
#define MAPPED_ARRAY(name, value_type)             \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);  \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, 1);            \
		__type(key, __u32);                \
		__type(value, value_type);         \
	} name SEC(".maps")

/*
 * Set by the loader before the program is verified, constants to the verifier: it removes branches, but not the loads.
 * A plain event reads only the first four, which share a cache line.
 *
 * `plain`, a bit for each class: its events are kept, and nothing is counted, timed, judged or unwound; they are not
 * filtered, and storing is not paused.
 */
const volatile __u64 plain[EDC_CARD_CLASSES / 64] __attribute__((aligned(64))) = {};
const volatile __u64 last_start = EDC_CPU_HEADER; /* highest valid offset of a block or a record */
const volatile __u8 overwriting = 0;              /* a flight recorder: the newest blocks are kept, ring.h */
const volatile __u8 filtering = 0;                /* -p: only processes in `traced` */
const volatile __u8 stacks_of_command = 0;        /* stacks without --stacks: at the timer, of processes in `traced` */
/* By class: edc_match_class.in_probe. A probe whose events are all kept has no code for judging them. */
const volatile __u16 decisions[EDC_CARD_CLASSES] = {};
/*
 * The first test in each global function that needs it: kernels before 6.8 verify those also where none calls them.
 */
const volatile __u8 matching = 0;             /* some classes are judged by `matcher` */
const volatile __u8 matching_rows = 0;        /* some of them by rows, not by edc_match_class.test alone */
const volatile __u8 timing = 0;               /* `matcher` has times: --time */
const volatile __u8 triggering = 0;           /* `matcher` also has triggers */
const volatile __u8 pausing = 0;              /* some triggers stop storing */
const volatile __u32 start_triggers = 0;      /* bits of triggers that resume it */
const volatile __u32 reading_triggers = 0;    /* bits of triggers that read the counters */
const volatile __u32 first_trigger_reset = 0; /* number of their first reset, after those of --reset-on */
const volatile __u8 sampling = 0;             /* some triggers sample all CPUs */
const volatile __u8 counting_only = 0;        /* --count-only: only count events by class */
const volatile __u8 posts_to_module = 0;      /* the rings belong to the kernel module: kernel_post.h */
const volatile __u32 uuid[4] = {};

/* One value per CPU: struct edc_cpu, then its blocks. The recorder maps it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, EDC_CPU_HEADER + 2 * EDC_BLOCK_SIZE);
} rings SEC(".maps");

/* Wakes the recorder: one dummy entry whenever a ring becomes half full. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, EDC_BLOCK_SIZE);
} bell SEC(".maps");

/* The same for firings of triggers: trigger.h. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, EDC_BLOCK_SIZE);
} firing_bell SEC(".maps");

/*
 * Processes selected by -p, or those of the sampled command, a bit for each PID (a thread that execs may change its
 * TID, but not its PID). Set or cleared when the process is created, valid until the PID is reused.
 */
MAPPED_ARRAY(traced, __u64);

struct edc_clock edc_clock = {}; /* written by the recorder */

/* Whether the clock sets read since `newest` are valid: they have not wrapped around. */
INLINE bool sets_hold(__u64 newest)
{
	return READ(edc_clock.newest) - newest < EDC_CLOCK_SETS - 9;
}

/*
 * Trace time at `ns` by the clock set valid then: the newest or an earlier one, as sets are published in advance. A
 * probe preempted for longer than the sets reach back reads the clock again, once. Caches the set in `used` (if not
 * NULL) until the next one takes effect.
 */
static __attribute__((noinline)) __u64 time_by_set(struct edc_clock_used *used, __u64 ns)
{
	__u64 newest, next, from;

	for (int attempt = 0; attempt < 2; attempt++) {
		newest = READ(edc_clock.newest); /* after `ns`: later ones take effect EDC_CLOCK_USED_NS after that */
		next = ~0ull;
		for (int back = 0; back < 8; back++) {
			const struct edc_clock_set *set = &edc_clock.set[(newest - back) % EDC_CLOCK_SETS];

			from = READ(set->from_ns);
			if (ns < from) {
				next = from;
				continue;
			}

			__u64 time = edc_clock_at(set, ns);

			if (used) {
				used->valid_ns = 0;
				used->set.from_ns = from;
				used->set.base = READ(set->base);
				used->set.whole = READ(set->whole);
				used->set.frac = READ(set->frac);
			}
			if (!sets_hold(newest))
				break;
			if (next > ns + EDC_CLOCK_USED_NS)
				next = ns + EDC_CLOCK_USED_NS;
			if (used && ((next - from) >> 32 == 0 || used->set.frac == 0)) /* no overflow */
				used->valid_ns = next - from;
			return time;
		}
		ns = bpf_ktime_get_ns();
	}
	return edc_clock_at(&edc_clock.set[newest % EDC_CLOCK_SETS], ns);
}

/* The current trace time, for the writer of this ring. */
INLINE __u64 now_on(struct edc_cpu *cpu, __u32 ring_index)
{
	struct edc_clock_used *used = &cpu->level[ring_index].clock;
	__u64 ns = bpf_ktime_get_ns(), d = ns - READ(used->set.from_ns);

	if (__builtin_expect(d < READ(used->valid_ns), 1))
		return edc_clock_after(&used->set, d);
	return time_by_set(used, ns);
}

/* The same without a ring. */
static __attribute__((noinline, unused)) __u64 now(void)
{
	return time_by_set(0, bpf_ktime_get_ns());
}

/*
 * Wakes the recorder. Called when a block is closed and exactly half of the ring's blocks wait, hence once per ring
 * between two reads. The wake-up is done by an irq_work on this CPU, so any context will do. If `bell` is full, a
 * wake-up is already pending.
 */
static __attribute__((noinline)) void wake_recorder(void)
{
	bpf_ringbuf_output(&bell, (void *)uuid, 8, BPF_RB_FORCE_WAKEUP);
}

static __attribute__((noinline, unused)) void wake_for_firings(void)
{
	bpf_ringbuf_output(&firing_bell, (void *)uuid, 8, BPF_RB_FORCE_WAKEUP);
}

/* First block of a flight recorder's ring that must not be overwritten. */
static __attribute__((noinline)) __u64 overwriting_limit(struct edc_cpu *cpu, __u32 ring_index)
{
	__u32 first = 0;
	struct edc_cpu *cpu0 = bpf_map_lookup_elem(&rings, &first);

	__u64 hold;

	barrier_var(ring_index); /* keeps the bounds check, which the compiler would remove but the verifier needs */
	if (!cpu || !cpu0 || ring_index >= EDC_CARD_RINGS)
		return 0;
	hold = READ(cpu0->reader.hold); /* before `read`, which then belongs to this hold */
	barrier();
	return edc_ring_limit(&cpu->level[ring_index].ring, READ(cpu->reader.read[ring_index]), hold);
}

/* Close the open block, if any, and open the next one. Returns the offset of its first token, 0 if none is free. */
static __attribute__((noinline)) __u64 open_block(struct edc_cpu *cpu, __u32 ring_index, __u64 time)
{
	barrier_var(ring_index);
	if (!cpu || ring_index >= EDC_CARD_RINGS)
		return 0;

	struct edc_ring *ring = &cpu->level[ring_index].ring;
	__u64 start = ring->end - EDC_BLOCK_SIZE;
	struct edc_block *block;
	__u64 waiting;

	if (ring->end) {
		if (start > last_start)
			return 0;
		block = (void *)cpu + start;
		edc_block_closed(block, ring);
		ring->end = 0;
		__sync_lock_test_and_set(&ring->closed, ring->opened); /* full barrier: publish the block */
	}
	waiting =
	    ring->opened - (overwriting ? overwriting_limit(cpu, ring_index) : READ(cpu->reader.read[ring_index]));
	if (waiting == ring->blocks / 2)
		wake_recorder();
	if (waiting >= ring->blocks)
		return 0;
	start = ring->first + ring->next * EDC_BLOCK_SIZE;
	if (start > last_start)
		return 0;
	block = (void *)cpu + start;
	WRITE(block->magic, 0);
	barrier();
	*(__u32 *)&block->uuid[0] = uuid[0];
	*(__u32 *)&block->uuid[4] = uuid[1];
	*(__u32 *)&block->uuid[8] = uuid[2];
	*(__u32 *)&block->uuid[12] = uuid[3];
	edc_block_opened(block, ring, time, ring_index);
	block->cpu_id = bpf_get_smp_processor_id();
	block->tid = bpf_get_current_pid_tgid();
	barrier();
	WRITE(block->magic, EDC_BLOCK_MAGIC);
	ring->next = ring->next + 1 < ring->blocks ? ring->next + 1 : 0;
	ring->opened++;
	ring->begin_time = time;
	WRITE(ring->pos, start + EDC_BLOCK_HEADER);
	WRITE(ring->end, start + EDC_BLOCK_SIZE);
	return start + EDC_BLOCK_HEADER;
}

/*
 * Flight recorder: writes the number of earlier tokens as the first record of a new block. Returns the offset of the
 * next record. Separate from open_block() to limit the stack.
 */
static __attribute__((noinline)) __u64 count_tokens(struct edc_cpu *cpu, __u32 ring_index, __u64 time, __u64 pos)
{
	struct edc_ring *ring;

	barrier_var(ring_index);
	barrier_var(pos);
	if (!cpu || ring_index >= EDC_CARD_RINGS || pos > last_start + EDC_BLOCK_HEADER)
		return 0;
	ring = &cpu->level[ring_index].ring;
	edc_block_counts((void *)cpu + pos, ring, time);
	pos += EDC_BLOCK_COUNTS_BYTES;
	WRITE(ring->pos, pos);
	return pos;
}

/* Returns the offset for a token and `count` words; 0: ring full. The token's time is the ring's last_time. */
INLINE __u64 reserve(struct edc_cpu *cpu, __u32 ring_index, __u64 time, __u32 count)
{
	struct edc_ring *ring = &cpu->level[ring_index].ring;
	__u64 pos = ring->pos;

	if (time < ring->last_time) {
		time = ring->last_time;
		ring->clamped++;
	}
	if (pos + 8 + 8 * count > ring->end || time - ring->begin_time >= EDC_BLOCK_MAX_TICKS) {
		pos = open_block(cpu, ring_index, time);
		if (overwriting && pos)
			pos = count_tokens(cpu, ring_index, time, pos);
		if (!pos)
			return 0;
	}
	if (pos > last_start)
		return 0;
	ring->last_time = time;
	return pos;
}

/* Out of line, for tokens with three payload words. */
static __attribute__((noinline, unused)) __u64 reserve_apart(struct edc_cpu *cpu, __u32 ring_index, __u64 time)
{
	barrier_var(ring_index);
	if (!cpu || ring_index >= EDC_CARD_RINGS)
		return 0;
	return reserve(cpu, ring_index, time, 3);
}

INLINE void commit(struct edc_cpu *cpu, __u32 ring_index, __u64 pos, __u32 id, __u32 arg, const __u64 *words,
		   __u32 count)
{
	struct edc_ring *ring = &cpu->level[ring_index].ring;
	__u64 *record = (void *)cpu + pos;

	WRITE(record[0], edc_token(id, EDC_MODE_KERNEL, ring->last_time, arg));
	for (__u32 i = 0; i < count; i++)
		WRITE(record[1 + i], words[i]);
	if (overwriting)
		ring->tokens++;
	WRITE(ring->pos, pos + 8 + 8 * count); /* commits */
}

INLINE void discard(struct edc_cpu *cpu, __u32 ring_index, __u32 id)
{
	cpu->level[ring_index].discarded[id - EDC_ID_KERNEL_FIRST]++;
	cpu->level[ring_index].ring.discarded++;
}

/* `time`: 0 to read the clock. */
INLINE void write_token(struct edc_cpu *cpu, __u32 ring_index, __u64 time, __u32 id, __u32 arg, const __u64 *words,
			__u32 count)
{
	__u64 pos = reserve(cpu, ring_index, time ? time : now_on(cpu, ring_index), count);

	if (pos)
		commit(cpu, ring_index, pos, id, arg, words, count);
	else
		discard(cpu, ring_index, id);
}

/* The next record opens a block, so readers see a gap there. */
INLINE void end_block(struct edc_cpu *cpu, __u32 ring_index)
{
	cpu->level[ring_index].ring.begin_time = cpu->level[ring_index].ring.last_time - EDC_BLOCK_MAX_TICKS;
}

/*
 * Whether a trigger has paused storing; then counts the event as left out. Ends the block, so there is a gap before the
 * first firing stored in the pause and before the first event after it. `starts`: the event ends the pause.
 */
static __attribute__((noinline, unused)) bool leaves_out(struct edc_cpu *cpu, __u32 ring_index, __u32 id, bool starts)
{
	__u32 first = 0, slot = id - EDC_ID_KERNEL_FIRST;
	struct edc_cpu *cpu0 = bpf_map_lookup_elem(&rings, &first);

	barrier_var(ring_index);
	if (!cpu || !cpu0 || ring_index >= EDC_CARD_RINGS || slot >= EDC_CARD_CLASSES)
		return 0;
	if (READ(cpu0->reader.paused) && !starts) {
		cpu->level[ring_index].paused[slot]++;
		cpu->level[ring_index].ring.discarded++;
		if (!cpu->level[ring_index].in_pause)
			end_block(cpu, ring_index);
		cpu->level[ring_index].in_pause = 1;
		return 1;
	}
	if (cpu->level[ring_index].in_pause)
		end_block(cpu, ring_index);
	cpu->level[ring_index].in_pause = 0;
	return 0;
}

INLINE bool is_traced(__u32 process)
{
	__u32 word = process / 64;
	__u64 *bits = bpf_map_lookup_elem(&traced, &word);

	return bits && (READ(*bits) >> (process % 64) & 1);
}

INLINE void set_traced(__u32 process, bool selected)
{
	__u32 word = process / 64;
	__u64 *bits = bpf_map_lookup_elem(&traced, &word), bit = 1ull << (process % 64);

	if (bits && selected)
		__sync_fetch_and_or(bits, bit);
	else if (bits)
		__sync_fetch_and_and(bits, ~bit);
}

/* Inlined, unlike bpf_get_current_pid_tgid(). */
INLINE __s32 current_thread(void)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	return task->pid;
}

INLINE __u32 current_process(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

#endif
