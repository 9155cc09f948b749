/* SPDX-License-Identifier: MIT */
/*
 * bpf/post.bpf.h compiled for this side of the kernel: what post() does with clock, ring, filter and counts, step by
 * step. What it reads of the shared memory passes through `on_read`, so that the recorder can come in between.
 */
#include <stdio.h>
#include <string.h>

#define READ(lvalue) (*(volatile __typeof__(lvalue) *)(on_read(), &(lvalue)))
#define IS_KNOWN(id) 1

static void (*reading)(void);

static void on_read(void)
{
	if (reading)
		reading();
}

/* The loader sets constants before the programs run, start() in their stead. */
#include <bpf/bpf_helpers.h>
#define const
#include "post.bpf.h"

static __u32 resets_made, last_reset;

int post_reset(__u32 event)
{
	resets_made++;
	last_reset = event;
	return 0;
}

#define BLOCKS 2
#define CLASS EDC_ID_SCHED_WAKING

/* POST(id, target, arg, word...): of any number of words, whatever the class has. */
#define POST(id, target, arg, ...)                                                                          \
	({                                                                                                  \
		const __u64 words_[] = {0, ##__VA_ARGS__};                                                  \
		choose_plain();                                                                             \
		post(decisions[(id)-EDC_ID_KERNEL_FIRST] != EDC_MATCH_KEEP, 0, id, target, arg, &words_[1], \
		     sizeof(words_) / sizeof(words_[0]) - 1);                                               \
	})

static bool may_be_plain; /* each case is run with and without */

/* As the loader does: userspace/recording/card/card_programs.cpp. */
static void choose_plain(void)
{
	memset(plain, 0, sizeof(plain));
	if (!may_be_plain || filtering || counting_only || pausing)
		return;
	for (__u32 slot = 0; slot < EDC_CARD_CLASSES; slot++)
		if (decisions[slot] == EDC_MATCH_KEEP)
			plain[slot / 64] |= 1ull << slot % 64;
}

static union {
	struct edc_cpu cpu;
	__u8 bytes[EDC_CPU_HEADER + EDC_CARD_LEVELS * BLOCKS * EDC_BLOCK_SIZE];
} area;
static __u64 ns;
static __u64 traced_words[1];
static struct edc_pending_starts starts;
static struct edc_trigger_state states;
static int failures;

void *bpf_map_lookup_elem(void *map, void *key)
{
	if (map == (void *)&pending)
		return &starts;
	if (map == (void *)&trigger_states)
		return *(__u32 *)key < EDC_TRIGGERS ? (void *)&states : 0;
	return map == (void *)&rings ? (void *)&area : *(__u32 *)key == 0 ? traced_words : 0;
}

__u64 bpf_ktime_get_ns(void)
{
	return ns;
}

__u32 bpf_get_smp_processor_id(void)
{
	return 3;
}

__u64 bpf_get_current_pid_tgid(void)
{
	return 7ull << 32 | 7;
}

void *bpf_get_current_task_btf(void)
{
	static struct task_struct task = {.pid = 7, .tgid = 7};

	return &task;
}

/* For stacks, which this test does not take. */
long bpf_get_task_stack(void *task, void *to, __u32 bytes, __u64 flags)
{
	return -1;
}

long bpf_loop(__u32 rounds, void *function, void *context, __u64 flags)
{
	long (*step)(__u32, void *) = function;
	__u32 i = 0;

	while (i < rounds && !step(i, context))
		i++;
	return i;
}

static const char *comm;

long bpf_get_current_comm(void *name, __u32 bytes)
{
	strncpy(name, comm, bytes);
	return 0;
}

static __u64 tick = 100;

__u64 bpf_jiffies64(void)
{
	return tick;
}

static int wakeups;

long bpf_ringbuf_output(void *ring, void *data, __u64 size, __u64 flags)
{
	wakeups++;
	return 0;
}

#define EXPECT(is, should)                                                                                \
	do {                                                                                              \
		const __u64 is_ = (is), should_ = (should);                                               \
		if (is_ != should_) {                                                                     \
			failures++;                                                                       \
			printf("line %d: %s is %llu, not %llu\n", __LINE__, #is, (unsigned long long)is_, \
			       (unsigned long long)should_);                                              \
		}                                                                                         \
	} while (0)

#define TICKS(ns) ((ns)*5ull / 2)

/* Sets of 1000 ns that join. */
static void publish(__u64 number)
{
	edc_clock.set[number % EDC_CLOCK_SETS] =
	    (struct edc_clock_set){number * 1000, TICKS(number * 1000), 2, 1u << 31};
	edc_clock.newest = number;
}

static void start(void)
{
	matching = matching_rows = 1;
	memset(&area, 0, sizeof(area));
	memset(&matcher, 0, sizeof(matcher));
	memset(&starts, 0, sizeof(starts));
	comm = "seven";
	for (int level = 0; level < EDC_CARD_LEVELS; level++) {
		area.cpu.level[level].ring.first = EDC_CPU_HEADER + level * BLOCKS * EDC_BLOCK_SIZE;
		area.cpu.level[level].ring.blocks = BLOCKS;
	}
	last_start = sizeof(area) - 8;
	filtering = 0;
	memset(&edc_clock, 0, sizeof(edc_clock));
	for (__u64 number = 0; number <= 40; number++)
		publish(number);
	ns = 40500;
	wakeups = 0;
	reading = 0;
	traced_words[0] = 0;
}

static struct edc_level *level(int number)
{
	return &area.cpu.level[number];
}

static __u64 counted(const __u64 *counts)
{
	return counts[CLASS - EDC_ID_KERNEL_FIRST];
}

static __u64 token_at(__u64 block, __u64 word)
{
	__u64 token;

	memcpy(&token, area.bytes + EDC_CPU_HEADER + block * EDC_BLOCK_SIZE + EDC_BLOCK_HEADER + 8 * word, 8);
	return token;
}

static void the_clock_chooses_its_set_by_time(void)
{
	start();
	EXPECT(now(), TICKS(40500));
	ns = 39900; /* the newest was published ahead */
	EXPECT(now(), TICKS(39900));
	ns = 36100;
	EXPECT(now(), TICKS(36100));
}

static int reads, lap_at;

/* The probe sleeps at its read number `lap_at`, meanwhile the recorder goes on publishing; these lines are 7 ticks on.
 */
static void lap(void)
{
	if (++reads != lap_at)
		return;
	for (__u64 number = 41; number <= 40 + EDC_CLOCK_SETS; number++) {
		publish(number);
		edc_clock.set[number % EDC_CLOCK_SETS].base += 7;
	}
	ns = (40 + EDC_CLOCK_SETS) * 1000 + 500;
}

static void a_probe_that_slept_through_a_lap_looks_again(void)
{
	for (lap_at = 1; lap_at <= 2; lap_at++) {
		start();
		reads = 0;
		reading = lap;
		EXPECT(now(), TICKS((40 + EDC_CLOCK_SETS) * 1000 + 500) + 7);
	}
	/* The set is overwritten when it was chosen already: its line is read, and cannot hold. */
	start();
	reads = 0;
	lap_at = 3;
	reading = lap;
	EXPECT(now(), TICKS((40 + EDC_CLOCK_SETS) * 1000 + 500) + 7);
}

static __u64 time_of_post(void)
{
	POST(CLASS, EDC_FILTER_CURRENT, 0);
	return level(area.cpu.depth)->ring.last_time;
}

/* With sets of 1000 ns as above, and with one that holds until another is there. */
static void a_ring_uses_its_set_until_the_next_one_takes_effect(void)
{
	struct edc_clock_used *used = &level(0)->clock;

	start();
	ns = 39900;
	EXPECT(time_of_post(), TICKS(39900));
	EXPECT(used->set.from_ns, 39000);
	EXPECT(used->valid_ns, 1000);
	edc_clock.set[39 % EDC_CLOCK_SETS].base += 7; /* is not looked at again */
	ns = 39999;
	EXPECT(time_of_post(), TICKS(39999));
	ns = 40000;
	EXPECT(time_of_post(), TICKS(40000));
	EXPECT(used->set.from_ns, 40000);
	EXPECT(used->valid_ns, 1000000);
	ns = 40000 + 999999;
	EXPECT(time_of_post(), TICKS(ns));
	EXPECT(used->valid_ns, 1000000);
	ns++;
	edc_clock.set[41 % EDC_CLOCK_SETS] = (struct edc_clock_set){ns, TICKS(ns) + 7, 2, 1u << 31};
	edc_clock.newest = 41;
	EXPECT(time_of_post(), TICKS(ns) + 7);
	EXPECT(used->set.from_ns, ns);
}

/* A recorder that stands still: the set is too old for the short product. */
static void a_set_of_long_ago_is_not_kept(void)
{
	start();
	ns = 40000 + (1ull << 32) - EDC_CLOCK_USED_NS;
	EXPECT(time_of_post(), TICKS(ns));
	EXPECT(level(0)->clock.valid_ns, 0);
	ns += 1ull << 32;
	EXPECT(time_of_post(), TICKS(ns));
}

/* Without a rate below one the product cannot overflow: where trace time is monotonic time, one set is all there is. */
static void a_set_of_whole_ticks_is_kept(void)
{
	start();
	edc_clock.set[40 % EDC_CLOCK_SETS] = (struct edc_clock_set){40000, 40000, 1, 0};
	ns = 40000 + (5ull << 32);
	EXPECT(time_of_post(), ns);
	EXPECT(level(0)->clock.valid_ns, (5ull << 32) + EDC_CLOCK_USED_NS);
	ns++;
	EXPECT(time_of_post(), ns);
}

/* Another probe interrupts at each read of memory, and takes a set into the clock of its own level. */
static void interrupt(void)
{
	const __u64 interrupted = ns;

	reading = 0;
	ns = 38500;
	POST(CLASS, EDC_FILTER_CURRENT, 0);
	ns = interrupted;
	reading = interrupt;
}

static void a_probe_that_interrupts_leaves_the_clock_of_the_other(void)
{
	for (ns = 40100; ns < 40900; ns += 100) {
		const __u64 at = ns;

		start();
		ns = at;
		reading = interrupt;
		EXPECT(time_of_post(), TICKS(at));
		EXPECT(time_of_post(), TICKS(at)); /* by the set that is kept now */
		reading = 0;
	}
}

static void a_token_is_counted_stored_and_committed(void)
{
	start();
	POST(CLASS, EDC_FILTER_CURRENT, 0x1234, 5, 6);
	EXPECT(counted(level(0)->seen), 1);
	EXPECT(counted(level(0)->discarded), 0);
	EXPECT(token_at(0, 0), edc_token(CLASS, EDC_MODE_KERNEL, TICKS(40500), 0x1234));
	EXPECT(token_at(0, 1), 5);
	EXPECT(token_at(0, 2), 6);
	EXPECT(level(0)->ring.pos, EDC_CPU_HEADER + EDC_BLOCK_HEADER + 24);
	EXPECT(area.cpu.depth, 0);
	EXPECT(((struct edc_block *)(area.bytes + EDC_CPU_HEADER))->cpu_id, 3);
}

static void a_time_that_steps_back_is_moved_up_and_counted(void)
{
	start();
	POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(level(0)->ring.clamped, 0);
	ns = 40400;
	POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(level(0)->ring.clamped, 1);
	EXPECT(edc_token_time(token_at(0, 1)), TICKS(40500));
	ns = 40600;
	POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(level(0)->ring.clamped, 1);
	EXPECT(edc_token_time(token_at(0, 2)), TICKS(40600));
}

static void a_full_ring_refuses_and_counts(void)
{
	const __u64 in_block = (EDC_BLOCK_SIZE - EDC_BLOCK_HEADER) / 8;

	start();
	for (__u64 i = 0; i < BLOCKS * in_block; i++)
		POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(counted(level(0)->discarded), 0);
	EXPECT(level(0)->ring.closed, BLOCKS - 1);
	EXPECT(wakeups, 1); /* half full */
	for (int i = 0; i < 3; i++)
		POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(counted(level(0)->discarded), 3);
	EXPECT(level(0)->ring.discarded, 3);
	EXPECT(level(0)->ring.closed, BLOCKS);
	area.cpu.reader.read[0] = 1;
	POST(CLASS, EDC_FILTER_CURRENT, 9);
	EXPECT(counted(level(0)->seen), BLOCKS * in_block + 4);
	EXPECT(((struct edc_block *)(area.bytes + EDC_CPU_HEADER))->events_discarded, 3);
	EXPECT(((struct edc_block *)(area.bytes + EDC_CPU_HEADER))->packet_seq_num, BLOCKS);
	EXPECT(edc_token_arg(token_at(0, 0)), 9);
}

/* The oldest block goes, nothing is refused, and each block says how many tokens were before it. */
static void a_flight_recorder_overwrites(void)
{
	const __u64 in_block = (EDC_BLOCK_SIZE - EDC_BLOCK_HEADER - EDC_BLOCK_COUNTS_BYTES) / 8;
	const struct edc_block *first = (void *)(area.bytes + EDC_CPU_HEADER);
	const struct edc_block *second = (void *)(area.bytes + EDC_CPU_HEADER + EDC_BLOCK_SIZE);

	start();
	overwriting = 1;
	for (__u64 i = 0; i < 2 * BLOCKS * in_block + 1; i++)
		POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(counted(level(0)->discarded), 0);
	EXPECT(wakeups, 0);
	EXPECT(level(0)->ring.tokens, 2 * BLOCKS * in_block + 1);
	EXPECT(first->packet_seq_num, 2 * BLOCKS);
	EXPECT(edc_token_id(token_at(0, 0)), EDC_ID_BLOCK_TOKENS);
	EXPECT(token_at(0, 1), 2 * BLOCKS * in_block);
	EXPECT(edc_token_id(token_at(0, 2)), CLASS);
	EXPECT(second->packet_seq_num, 2 * BLOCKS - 1);
	EXPECT(second->content_size, EDC_BLOCK_SIZE * 8);
	EXPECT(token_at(1, 1), (2 * BLOCKS - 1) * in_block);
	overwriting = 0;
}

/* Held, a ring keeps its newest blocks until they are read; released, it overwrites again. */
static void a_hold_keeps_the_newest_blocks(void)
{
	const __u64 in_block = (EDC_BLOCK_SIZE - EDC_BLOCK_HEADER - EDC_BLOCK_COUNTS_BYTES) / 8;
	struct edc_ring *ring = &level(0)->ring;

	EXPECT(edc_ring_kept(2), 1);
	EXPECT(edc_ring_kept(8), 7);
	EXPECT(edc_ring_kept(4096), 3584);
	start();
	overwriting = 1;
	for (__u64 i = 0; i < 6 * in_block; i++)
		POST(CLASS, EDC_FILTER_CURRENT, 0);
	area.cpu.reader.hold = 1;
	EXPECT(ring->opened, 6);
	for (__u64 i = 0; i < in_block; i++)
		POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(ring->held, 1);
	EXPECT(ring->held_from, 5); /* the newest of those before */
	EXPECT(counted(level(0)->discarded), 0);
	for (int i = 0; i < 7; i++)
		POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(counted(level(0)->discarded), 7);
	EXPECT(ring->closed, 7);
	area.cpu.reader.read[0] = 6;
	POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(ring->opened, 8);
	EXPECT(ring->held_from, 5); /* once for each hold */
	area.cpu.reader.hold = 0;
	area.cpu.reader.read[0] = 0;
	for (__u64 i = 0; i < 3 * in_block; i++)
		POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(counted(level(0)->discarded), 7);
	EXPECT(ring->opened, 11);
	area.cpu.reader.hold = 2;
	for (__u64 i = 0; i < in_block; i++)
		POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(ring->held_from, 10);
	overwriting = 0;
}

static void a_token_far_from_its_blocks_begin_opens_another(void)
{
	start();
	POST(CLASS, EDC_FILTER_CURRENT, 1);
	ns += (1ull << 31) * 2 / 5;
	POST(CLASS, EDC_FILTER_CURRENT, 2);
	EXPECT(level(0)->ring.opened, 1);
	ns += 1;
	POST(CLASS, EDC_FILTER_CURRENT, 3);
	EXPECT(level(0)->ring.opened, 2);
	EXPECT(edc_token_arg(token_at(1, 0)), 3);
	EXPECT(((struct edc_block *)(area.bytes + EDC_CPU_HEADER))->content_size, (EDC_BLOCK_HEADER + 16) * 8);
}

static void nested_probes_have_rings_of_their_own(void)
{
	start();
	area.cpu.depth = 2;
	POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(counted(level(2)->seen), 1);
	EXPECT(counted(level(0)->seen), 0);
	EXPECT(area.cpu.depth, 2);
	area.cpu.depth = EDC_CARD_LEVELS;
	POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(counted(area.cpu.too_deep), 1);
	EXPECT(counted(level(3)->seen), 0);
}

static void the_filter_keeps_and_counts(void)
{
	start();
	filtering = 1;
	POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(counted(level(0)->seen), 1);
	EXPECT(counted(level(0)->filtered), 1);
	POST(CLASS, EDC_FILTER_NONE, 0);
	set_traced(9, 1);
	POST(CLASS, 9, 0);
	EXPECT(counted(level(0)->filtered), 1);
	EXPECT(counted(level(0)->seen), 3);
	POST(CLASS, 8, 0);
	EXPECT(counted(level(0)->filtered), 2);
	set_traced(7, 1);
	POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(counted(level(0)->filtered), 2);
	set_traced(7, 0);
	POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(counted(level(0)->filtered), 3);
}

static __u64 ahead;

/* What a reader makes of it that reads `seen` before `filtered`: at no moment more events than pass. */
static void count_passed(void)
{
	if (counted(level(0)->seen) > counted(level(0)->filtered))
		ahead++;
}

static void what_only_counts_stores_nothing(void)
{
	start();
	counting_only = 1;
	POST(CLASS, EDC_FILTER_CURRENT, 0);
	POST(CLASS, EDC_FILTER_CURRENT, 0, 1, 2);
	EXPECT(counted(level(0)->seen), 2);
	EXPECT(counted(level(0)->filtered), 0);
	EXPECT(level(0)->ring.opened, 0);
	EXPECT(area.cpu.depth, 0);
	area.cpu.depth = 1;
	POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(counted(level(1)->seen), 1);
	area.cpu.depth = EDC_CARD_LEVELS;
	POST(CLASS, EDC_FILTER_CURRENT, 0);
	EXPECT(area.cpu.too_deep[CLASS - EDC_ID_KERNEL_FIRST], 1);

	start();
	filtering = 1;
	ahead = 0;
	reading = count_passed;
	POST(CLASS, EDC_FILTER_CURRENT, 0);
	POST(CLASS, 9, 0);
	EXPECT(ahead, 0);
	reading = 0;
	EXPECT(counted(level(0)->seen), 2);
	EXPECT(counted(level(0)->filtered), 2);
	POST(CLASS, EDC_FILTER_NONE, 0);
	EXPECT(counted(level(0)->seen), 3);
	EXPECT(counted(level(0)->filtered), 2);
	counting_only = 0;
}

/* The class's events whose argument is 3 or more, posted by the thread "seven". */
static void the_matcher_decides_and_counts(void)
{
	struct edc_match_class *cls = &matcher.cls[CLASS - EDC_ID_KERNEL_FIRST];

	start();
	decisions[CLASS - EDC_ID_KERNEL_FIRST] = EDC_MATCH_NONE;
	POST(CLASS, EDC_FILTER_NONE, 0); /* before the recording */
	EXPECT(counted(level(0)->filtered), 0);
	judging = 1;
	POST(CLASS, EDC_FILTER_NONE, 5);
	EXPECT(counted(level(0)->filtered), 1);
	EXPECT(counted(level(0)->seen), 2);
	decisions[CLASS - EDC_ID_KERNEL_FIRST] = EDC_MATCH_KEEP;
	POST(CLASS, EDC_FILTER_NONE, 5);
	EXPECT(counted(level(0)->filtered), 1);
	decisions[CLASS - EDC_ID_KERNEL_FIRST] = EDC_MATCH_COUNTS_ALL(63, EDC_MATCH_NONE);
	POST(CLASS, EDC_FILTER_NONE, 5);
	EXPECT(level(0)->count[63], 1);
	EXPECT(counted(level(0)->filtered), 2);
	decisions[CLASS - EDC_ID_KERNEL_FIRST] = EDC_MATCH_COUNTS_ALL(0, EDC_MATCH_KEEP);
	POST(CLASS, EDC_FILTER_NONE, 5);
	EXPECT(level(0)->count[0], 1);
	EXPECT(counted(level(0)->filtered), 2);
	decisions[CLASS - EDC_ID_KERNEL_FIRST] = EDC_MATCH_EVALUATE;
	*cls = (struct edc_match_class){.whole = EDC_MATCH_EVALUATE,
					.decision = EDC_MATCH_EVALUATE,
					.has_patterns = 1,
					.wanted = 1 << EDC_VALUE_NAME,
					.texts = 1 << EDC_VALUE_NAME,
					.text_starts = 1 << EDC_VALUE_NAME,
					.dimensions = 2,
					.words = 1,
					.counted = 1 << 7,
					.patterns = {1},
					.keeping = {1}};
	matcher.dimension[0] = (struct edc_match_dimension){0xffff, 0, EDC_VALUE_ARGUMENT, 0, 0, 0, 0, 3};
	matcher.row[3][0] = 1;
	matcher.dimension[1] = (struct edc_match_dimension){~0ull, 0, EDC_VALUE_NAME, 0, 0, 2, 4, 2};
	matcher.bound[0] = 0x736576656e000000; /* "seven", big-endian */
	matcher.bound[1] = matcher.bound[0] + 1;
	matcher.bound[2] = ~0ull;
	matcher.row[5][0] = 1;
	POST(CLASS, EDC_FILTER_NONE, 3);
	POST(CLASS, EDC_FILTER_NONE, 900);
	EXPECT(counted(level(0)->filtered), 2);
	POST(CLASS, EDC_FILTER_NONE, 2);
	EXPECT(counted(level(0)->filtered), 3);
	comm = "seventh";
	POST(CLASS, EDC_FILTER_NONE, 3);
	EXPECT(counted(level(0)->filtered), 4);
	EXPECT(counted(level(0)->seen), 9);
	EXPECT(level(0)->count[7], 4);
	EXPECT(token_at(0, 5), 0);
	*cls =
	    (struct edc_match_class){.decision = EDC_MATCH_EVALUATE,
				     .wanted = 1 << EDC_VALUE_ARGUMENT,
				     .tests = 2,
				     .test = {{0xffff, 0x8000, 0x8003, 1, EDC_VALUE_ARGUMENT, 0, 1,
					       8}, /* 3 and 4 count, from 4 on all are kept */
					      {0xffff, 0, 4, ~0ull - 4, EDC_VALUE_ARGUMENT, 0, 1, EDC_MATCH_COUNTS}}};
	for (__u32 arg = 2; arg < 6; arg++)
		POST(CLASS, EDC_FILTER_NONE, arg);
	EXPECT(counted(level(0)->filtered), 6);
	EXPECT(level(0)->count[8], 2);
	judging = 0;
	POST(CLASS, EDC_FILTER_NONE, 2);
	EXPECT(counted(level(0)->filtered), 6);
	decisions[CLASS - EDC_ID_KERNEL_FIRST] = EDC_MATCH_KEEP;
}

/* All events of the class end the first time, whose key is their word, and start it again. */
static void an_event_ends_a_time_and_starts_the_next(void)
{
	struct edc_match_class *cls = &matcher.cls[CLASS - EDC_ID_KERNEL_FIRST];
	struct edc_timed *timed = &area.cpu.timed[0];

	start();
	judging = 1;
	timing = 1;
	decisions[CLASS - EDC_ID_KERNEL_FIRST] = EDC_MATCH_EVALUATE;
	*cls = (struct edc_match_class){
	    .whole = EDC_MATCH_EVALUATE, .belongs = 1 | 1 << EDC_TIMES, .wanted = 1 << EDC_VALUE_TIME};
	matcher.key[0][CLASS - EDC_ID_KERNEL_FIRST] = (struct edc_match_key){EDC_VALUE_WORD, 0, 32, 1};
	matcher.key[EDC_TIMES][CLASS - EDC_ID_KERNEL_FIRST] = (struct edc_match_key){EDC_VALUE_WORD, 0, 32, 1};
	ns = 1000;
	POST(CLASS, EDC_FILTER_NONE, 0, 7);
	ns = 1500;
	POST(CLASS, EDC_FILTER_NONE, 0, 8);
	ns = 1600;
	POST(CLASS, EDC_FILTER_NONE, 0, 7 | 1ull << 32); /* what is above the key does not matter */
	EXPECT(timed->starts, 3);
	EXPECT(timed->ends, 2);
	EXPECT(timed->sum, 1500); /* ticks */
	EXPECT(timed->longest, 1500);
	EXPECT(~timed->not_shortest, 1500);
	EXPECT(timed->bucket[edc_timed_bucket(1500)], 1);
	EXPECT(counted(level(0)->filtered), 0);
	judging = 0;
	timing = 0;
	*cls = (struct edc_match_class){};
	decisions[CLASS - EDC_ID_KERNEL_FIRST] = EDC_MATCH_KEEP;
}

/* All events of the class are the first input of trigger 0, which holds the rings and notifies the recorder. */
static void wait_for_events(__u32 kind)
{
	struct edc_match_class *cls = &matcher.cls[CLASS - EDC_ID_KERNEL_FIRST];

	start();
	judging = 1;
	triggering = 1;
	overwriting = 1;
	decisions[CLASS - EDC_ID_KERNEL_FIRST] = EDC_MATCH_EVALUATE;
	memset(&states, 0, sizeof(states));
	*cls = (struct edc_match_class){.whole = EDC_MATCH_EVALUATE,
					.decision = EDC_MATCH_NONE,
					.belongs = 1ull << EDC_FIRST_INPUT,
					.wanted = 1 << EDC_VALUE_TIME};
	matcher.trigger[0] = (struct edc_trigger){
	    .kind = kind, .acts = EDC_ACT_HOLD | EDC_ACT_NOTIFY, .within = TICKS(1000), .times = 3};
}

static void wait_for_nothing(void)
{
	judging = triggering = overwriting = 0;
	matcher.cls[CLASS - EDC_ID_KERNEL_FIRST] = (struct edc_match_class){};
	matcher.trigger[0] = (struct edc_trigger){};
	decisions[CLASS - EDC_ID_KERNEL_FIRST] = EDC_MATCH_KEEP;
}

/* The filter keeps no event, but those that fire are recorded, each with a token of the firing after it. */
static void a_trigger_fires_holds_and_notifies(void)
{
	const struct edc_firing *entry = area.cpu.firings.entry;

	wait_for_events(EDC_TRIGGER_EVENT);
	POST(CLASS, EDC_FILTER_NONE, 9, 0x1234);
	EXPECT(edc_token_id(token_at(0, 2)), CLASS); /* after the two words of block_tokens */
	EXPECT(edc_token_id(token_at(0, 4)), EDC_ID_TRIGGER_FIRED);
	EXPECT(edc_token_arg(token_at(0, 4)), 0);
	EXPECT(token_at(0, 5), CLASS | 7ull << 32);
	EXPECT(counted(level(0)->seen), 1);
	EXPECT(level(0)->seen[EDC_ID_TRIGGER_FIRED - EDC_ID_KERNEL_FIRST], 1);
	EXPECT(counted(level(0)->filtered), 0);
	EXPECT(area.cpu.reader.hold, TICKS(40500));
	EXPECT(area.cpu.firings.count, 1);
	EXPECT(area.cpu.firings.fired[0], 1);
	EXPECT(entry[0].number, 1);
	EXPECT(entry[0].time, TICKS(40500));
	EXPECT(entry[0].event, CLASS | 9 << 16);
	EXPECT(entry[0].trigger, EDC_FIRING_HELD);
	EXPECT(entry[0].tid, 7);
	EXPECT(entry[0].words[0], 0x1234);
	EXPECT(wakeups, 1);
	POST(CLASS, EDC_FILTER_NONE, 9, 0x1234); /* the rings are held already, and the wake-up was sent */
	EXPECT(entry[1].trigger, 0);
	EXPECT(wakeups, 1);
	area.cpu.reader.firings = 2;
	POST(CLASS, EDC_FILTER_NONE, 9, 0x1234);
	EXPECT(wakeups, 2);
	wait_for_nothing();
}

static void a_trigger_does_not_hold_what_is_not_armed(void)
{
	wait_for_events(EDC_TRIGGER_EVENT);
	area.cpu.reader.hold = EDC_HOLD_UNARMED;
	POST(CLASS, EDC_FILTER_NONE, 9, 1);
	EXPECT(area.cpu.reader.hold, EDC_HOLD_UNARMED);
	EXPECT(area.cpu.firings.entry[0].trigger, 0);
	wait_for_nothing();
}

static void firings_for_which_there_is_no_room_are_counted(void)
{
	wait_for_events(EDC_TRIGGER_EVENT);
	for (int i = 0; i < EDC_FIRINGS + 5; i++)
		POST(CLASS, EDC_FILTER_NONE, 9, i);
	EXPECT(area.cpu.firings.fired[0], EDC_FIRINGS + 5);
	EXPECT(area.cpu.firings.count, EDC_FIRINGS);
	EXPECT(area.cpu.firings.entry[0].words[0], 0);
	EXPECT(area.cpu.firings.entry[EDC_FIRINGS - 1].words[0], EDC_FIRINGS - 1);
	wait_for_nothing();
}

static void the_third_event_in_time_fires(void)
{
	wait_for_events(EDC_TRIGGER_TIMES);
	for (int i = 0; i < 2; i++)
		POST(CLASS, EDC_FILTER_NONE, 9, 1);
	EXPECT(area.cpu.firings.fired[0], 0);
	EXPECT(counted(level(0)->filtered), 2); /* they have not fired */
	publish(41);
	publish(42);
	ns += 2000; /* too late for these two */
	for (int i = 0; i < 3; i++)
		POST(CLASS, EDC_FILTER_NONE, 9, 1);
	EXPECT(area.cpu.firings.fired[0], 1);
	EXPECT(area.cpu.firings.entry[0].began, TICKS(42500));
	wait_for_nothing();
}

/* Each firing trigger's own: a reading, or a reset with its number after those of --reset-on. */
static void triggers_read_the_counters(void)
{
	const __u32 other = CLASS + 1; /* not judged */

	wait_for_events(EDC_TRIGGER_EVENT);
	reading_triggers = 1;
	first_trigger_reset = 2;
	matcher.trigger[0].acts = EDC_ACT_RESET;
	matcher.trigger[0].reset = 3;
	POST(CLASS, EDC_FILTER_NONE, 9, 1);
	EXPECT(resets_made, 1);
	EXPECT(last_reset, 5);
	POST(other, EDC_FILTER_NONE, 9);
	EXPECT(resets_made, 1);
	matcher.trigger[0].acts = EDC_ACT_READ;
	POST(CLASS, EDC_FILTER_NONE, 9, 1);
	EXPECT(resets_made, 2);
	EXPECT(last_reset, NO_RESET);
	reading_triggers = 2; /* not this one */
	POST(CLASS, EDC_FILTER_NONE, 9, 1);
	EXPECT(resets_made, 2);
	reading_triggers = 0;
	wait_for_nothing();
}

static void a_sample_is_begun_once_in_a_tick(void)
{
	wait_for_events(EDC_TRIGGER_EVENT);
	overwriting = 0;
	sampling = 1;
	matcher.trigger[0].acts = EDC_ACT_SAMPLE | EDC_ACT_NOTIFY;
	for (int i = 0; i < 3; i++) {
		tick += i == 2;
		POST(CLASS, EDC_FILTER_NONE, 9, 1);
	}
	EXPECT(area.cpu.firings.fired[0], 3);
	EXPECT(area.cpu.firings.unsampled, 1);
	EXPECT(area.cpu.reader.sampled, 2);
	EXPECT(area.cpu.firings.entry[0].sample, 1);
	EXPECT(area.cpu.firings.entry[1].sample, 0);
	EXPECT(area.cpu.firings.entry[2].sample, 2);
	EXPECT(level(0)->seen[EDC_ID_SAMPLE - EDC_ID_KERNEL_FIRST], 2);
	EXPECT(edc_token_id(token_at(0, 6)), EDC_ID_SAMPLE); /* after the event and its firing */
	EXPECT(edc_token_arg(token_at(0, 6)), EDC_DOING_KERNEL);
	EXPECT(token_at(0, 7), 7ull << 32 | 7);
	EXPECT(token_at(0, 8), 1);
	sampling = 0;
	wait_for_nothing();
}

/* What fires is stored all the same; the first token after the pause opens a block, which reports the gap.
 */
static void a_pause_stores_nothing_and_counts(void)
{
	const __u32 other = CLASS + 1; /* not judged */

	wait_for_events(EDC_TRIGGER_EVENT);
	overwriting = 0;
	pausing = 1;
	start_triggers = 0;
	matcher.trigger[0].acts = EDC_ACT_STOP;
	POST(CLASS, EDC_FILTER_NONE, 9, 1);
	EXPECT(area.cpu.reader.paused, TICKS(40500));
	EXPECT(edc_token_id(token_at(0, 0)), CLASS);
	EXPECT(edc_token_id(token_at(0, 2)), EDC_ID_TRIGGER_FIRED);
	POST(other, EDC_FILTER_NONE, 9);
	POST(other, EDC_FILTER_NONE, 9);
	EXPECT(level(0)->seen[other - EDC_ID_KERNEL_FIRST], 2);
	EXPECT(level(0)->paused[other - EDC_ID_KERNEL_FIRST], 2);
	EXPECT(level(0)->ring.discarded, 2);
	EXPECT(level(0)->ring.opened, 1);
	POST(CLASS, EDC_FILTER_NONE, 9, 1); /* what fires in a pause leaves its firing, after a gap */
	POST(other, EDC_FILTER_NONE, 9);
	POST(CLASS, EDC_FILTER_NONE, 9, 1); /* and the next one in the same block */
	EXPECT(area.cpu.firings.fired[0], 3);
	EXPECT(level(0)->paused[CLASS - EDC_ID_KERNEL_FIRST], 2);
	EXPECT(level(0)->seen[EDC_ID_TRIGGER_FIRED - EDC_ID_KERNEL_FIRST], 3);
	EXPECT(level(0)->ring.opened, 2);
	matcher.trigger[0].acts = EDC_ACT_START;
	start_triggers = 1;
	area.cpu.reader.read[0] = level(0)->ring.closed;
	publish(41);
	publish(42);
	ns += 1000;
	POST(CLASS, EDC_FILTER_NONE, 9, 1);
	EXPECT(level(0)->ring.opened, 3);
	EXPECT(area.cpu.reader.paused, 0);
	EXPECT(area.cpu.firings.pauses, 1);
	EXPECT(area.cpu.firings.paused, TICKS(41500) - TICKS(40500));
	EXPECT(level(0)->seen[EDC_ID_PAUSED - EDC_ID_KERNEL_FIRST], 1);
	POST(other, EDC_FILTER_NONE, 9);
	POST(CLASS, EDC_FILTER_NONE, 9, 1); /* there is no pause to end */
	EXPECT(area.cpu.firings.pauses, 1);
	EXPECT(level(0)->ring.opened, 3);
	EXPECT(level(0)->paused[other - EDC_ID_KERNEL_FIRST], 3);
	EXPECT(counted(level(0)->filtered), 0);
	pausing = 0;
	wait_for_nothing();
}

static void a_recording_that_is_over_posts_nothing(void)
{
	start();
	area.cpu.stopped = 1;
	POST(CLASS, EDC_FILTER_NONE, 0);
	EXPECT(counted(level(0)->seen), 0);
	EXPECT(level(0)->ring.opened, 0);
}

static void (*const cases[])(void) = {
    the_clock_chooses_its_set_by_time,
    a_probe_that_slept_through_a_lap_looks_again,
    a_ring_uses_its_set_until_the_next_one_takes_effect,
    a_set_of_long_ago_is_not_kept,
    a_set_of_whole_ticks_is_kept,
    a_probe_that_interrupts_leaves_the_clock_of_the_other,
    a_token_is_counted_stored_and_committed,
    a_time_that_steps_back_is_moved_up_and_counted,
    a_full_ring_refuses_and_counts,
    a_flight_recorder_overwrites,
    a_hold_keeps_the_newest_blocks,
    a_token_far_from_its_blocks_begin_opens_another,
    nested_probes_have_rings_of_their_own,
    the_filter_keeps_and_counts,
    what_only_counts_stores_nothing,
    the_matcher_decides_and_counts,
    an_event_ends_a_time_and_starts_the_next,
    a_trigger_fires_holds_and_notifies,
    a_trigger_does_not_hold_what_is_not_armed,
    firings_for_which_there_is_no_room_are_counted,
    the_third_event_in_time_fires,
    triggers_read_the_counters,
    a_sample_is_begun_once_in_a_tick,
    a_pause_stores_nothing_and_counts,
    a_recording_that_is_over_posts_nothing,
};

int main(void)
{
	for (int round = 0; round < 2; round++) {
		may_be_plain = round;
		resets_made = 0;
		for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			const int before = failures;

			cases[i]();
			if (failures != before)
				printf("that was case %u, %s\n", i, may_be_plain ? "plain" : "full");
		}
	}
	return failures != 0;
}
