// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings of the card, and edc_post_words(), the only way into them. One area per possible CPU: struct edc_cpu, then
 * blocks (include/monitor/card.h). The recorder maps it and can write only struct edc_reader. What it writes there can
 * only cause tokens to be discarded or overwritten, because every address is computed from what it cannot write.
 *
 * The device creates and frees the areas, under its lock, while no probe is attached.
 */
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#include "monitor/block.h"

#include "module.h"

static DEFINE_PER_CPU(struct edc_cpu *, edc_areas); /* for probes; NULL: not recording */
static DEFINE_PER_CPU(struct edc_cpu *, edc_owned); /* all areas */

/* Wakes the recorder when a ring is half full. By an irq_work on this CPU, since a probe may hold any lock. */
static DECLARE_WAIT_QUEUE_HEAD(listeners);
static bool rung;

static void wake_recorder(struct irq_work *unused)
{
	WRITE_ONCE(rung, true);
	wake_up_interruptible_poll(&listeners, EPOLLIN | EPOLLRDNORM);
}

static struct irq_work bell = IRQ_WORK_INIT(wake_recorder);

/* The same for firings of triggers: EPOLLPRI. */
static void wake_for_firings(struct irq_work *unused)
{
	wake_up_interruptible_poll(&listeners, EPOLLPRI);
}

static struct irq_work firing_bell = IRQ_WORK_INIT(wake_for_firings);

static u64 area_bytes;
static u8 trace_uuid[16];
static u32 ring_blocks[EDC_CARD_LEVELS];
static bool overwriting; /* a flight recorder's rings */

static void close_block(struct edc_cpu *cpu, struct edc_ring *ring)
{
	edc_block_closed((void *)cpu + ring->end - EDC_BLOCK_SIZE, ring);
	WRITE_ONCE(ring->end, 0);
	smp_store_release(&ring->closed, ring->opened); /* publish the whole block */
	smp_mb();					/* it sees `closed`, or we see its new `read` */
}

/* First block that must not be overwritten. */
static u64 limit_of(struct edc_cpu *cpu, struct edc_ring *ring, u32 level)
{
	u64 hold;

	if (!overwriting)
		return READ_ONCE(cpu->reader.read[level]);
	hold = smp_load_acquire(&per_cpu(edc_owned, 0)->reader.hold); /* so `read` belongs to this hold */
	return edc_ring_limit(ring, READ_ONCE(cpu->reader.read[level]), hold);
}

/* Returns the offset of the first token, 0 if no block is free. */
static noinline u64 open_block(struct edc_cpu *cpu, u32 level, u64 time)
{
	struct edc_ring *ring = &cpu->level[level].ring;
	struct edc_block *block;
	u64 start, waiting;

	if (ring->end)
		close_block(cpu, ring);
	/* The control dependency keeps the next lap's tokens after the reader's copy. */
	waiting = ring->opened - limit_of(cpu, ring, level);
	if (waiting == ring->blocks / 2)
		irq_work_queue(&bell);
	if (waiting >= ring->blocks)
		return 0;
	start = ring->first + ring->next * EDC_BLOCK_SIZE;
	block = (void *)cpu + start;
	WRITE_ONCE(block->magic, 0);
	barrier();
	memcpy(block->uuid, trace_uuid, sizeof(block->uuid));
	edc_block_opened(block, ring, time, level);
	block->cpu_id = raw_smp_processor_id();
	block->tid = current->pid;
	barrier();
	WRITE_ONCE(block->magic, EDC_BLOCK_MAGIC);
	ring->next = ring->next + 1 < ring->blocks ? ring->next + 1 : 0;
	ring->opened++;
	ring->begin_time = time;
	WRITE_ONCE(ring->pos, start + EDC_BLOCK_HEADER);
	if (overwriting) {
		edc_block_counts((void *)(block + 1), ring, time);
		WRITE_ONCE(ring->pos, ring->pos + EDC_BLOCK_COUNTS_BYTES);
	}
	WRITE_ONCE(ring->end, start + EDC_BLOCK_SIZE);
	return ring->pos;
}

/* Returns the offset for a token and `count` words; 0: ring full. The token's time is the ring's last_time. */
static __always_inline u64 reserve(struct edc_cpu *cpu, u32 level, u64 time, u32 count)
{
	struct edc_ring *ring = &cpu->level[level].ring;
	u64 pos = ring->pos;

	if (time < ring->last_time) {
		time = ring->last_time;
		ring->clamped++;
	}
	if (pos + 8 + 8 * count > ring->end || time - ring->begin_time >= EDC_BLOCK_MAX_TICKS) {
		pos = open_block(cpu, level, time);
		if (!pos)
			return 0;
	}
	ring->last_time = time;
	return pos;
}

static __always_inline void store_token(struct edc_cpu *cpu, u32 level, u32 id, u32 arg, const u64 *words, u32 count,
					u64 time)
{
	struct edc_level *at = &cpu->level[level];
	u64 pos, *record;
	u32 i;

	pos = reserve(cpu, level, time, count);
	if (!pos) {
		at->discarded[id - EDC_ID_KERNEL_FIRST]++;
		at->ring.discarded++;
		return;
	}
	record = (void *)cpu + pos;
	WRITE_ONCE(record[0], edc_token(id, EDC_MODE_KERNEL, at->ring.last_time, arg));
	for (i = 0; i < count; i++)
		WRITE_ONCE(record[1 + i], words[i]);
	at->ring.tokens++;
	WRITE_ONCE(at->ring.pos, pos + 8 + 8 * count); /* commits */
}

/* The next record opens a block, so readers see a gap there. */
static void end_block(struct edc_ring *ring)
{
	ring->begin_time = ring->last_time - EDC_BLOCK_MAX_TICKS;
}

/* Storing is paused, as in bpf/ring.bpf.h. */
static void leave_out(struct edc_level *at, u32 id)
{
	at->paused[id - EDC_ID_KERNEL_FIRST]++;
	at->ring.discarded++;
	if (!at->in_pause)
		end_block(&at->ring);
	at->in_pause = 1;
}

static bool fires_start(const struct edc_matcher *matcher, u64 fires)
{
	for (; fires; fires &= fires - 1)
		if (matcher->trigger[edc_lowest_bit(fires) & (EDC_TRIGGERS - 1)].acts & EDC_ACT_START)
			return true;
	return false;
}

static bool is_left_out(const struct edc_matcher *matcher, struct edc_level *at)
{
	if (READ_ONCE(per_cpu(edc_owned, 0)->reader.paused) && !fires_start(matcher, at->fires))
		return true;
	if (at->in_pause)
		end_block(&at->ring);
	at->in_pause = 0;
	return false;
}

/* At most one per tick: each sample interrupts all CPUs. */
static bool sample_all(void)
{
	static unsigned long sampled;
	const unsigned long now = jiffies, before = READ_ONCE(sampled);

	return before != now && cmpxchg(&sampled, before, now) == before && !edc_sample_once();
}

/* Stops storing, or resumes it and posts the length of the pause. */
static void stop_or_start(struct edc_cpu *cpu, u32 level, u32 acts)
{
	u64 *paused = &per_cpu(edc_owned, 0)->reader.paused;
	struct edc_level *at = &cpu->level[level];
	const u64 time = at->value[EDC_VALUE_TIME];

	if (acts & EDC_ACT_STOP) {
		edc_pause(paused, time);
		return;
	}
	at->payload[0] = edc_resume(paused);
	if (!at->payload[0])
		return;
	at->payload[1] = time > at->payload[0] ? time - at->payload[0] : 0; /* events of two CPUs may be out of order */
	__sync_fetch_and_add(&cpu->firings.pauses, 1);
	__sync_fetch_and_add(&cpu->firings.paused, at->payload[1]);
	at->seen[EDC_ID_PAUSED - EDC_ID_KERNEL_FIRST]++;
	store_token(cpu, level, EDC_ID_PAUSED, 0, at->payload, 2, time);
}

/* Fires one trigger for the event in the level's values, as in bpf/fire.bpf.h. */
static noinline void fire(const struct edc_matcher *matcher, struct edc_cpu *cpu, u32 level, u32 number)
{
	const u32 acts = matcher->trigger[number].acts;
	struct edc_level *at = &cpu->level[level];
	struct edc_firing *entry;
	u64 before;

	__sync_fetch_and_add(&cpu->firings.fired[number], 1); /* a probe may interrupt this one */
	at->payload[0] = (at->event & 0xffff) | (u64)current->pid << 32;
	at->payload[1] = at->fired[number].began;
	at->payload[2] = at->fired[number].key;
	at->seen[EDC_ID_TRIGGER_FIRED - EDC_ID_KERNEL_FIRST]++;
	store_token(cpu, level, EDC_ID_TRIGGER_FIRED, number, at->payload, 3, at->value[EDC_VALUE_TIME]);
	/* The time identifies the hold. */
	if (acts & EDC_ACT_HOLD && overwriting &&
	    !cmpxchg(&per_cpu(edc_owned, 0)->reader.hold, 0, at->value[EDC_VALUE_TIME]))
		number |= EDC_FIRING_HELD;
	at->sample = acts & EDC_ACT_SAMPLE && sample_all();
	if (acts & EDC_ACT_SAMPLE && !at->sample)
		__sync_fetch_and_add(&cpu->firings.unsampled, 1);
	if (acts & (EDC_ACT_STOP | EDC_ACT_START))
		stop_or_start(cpu, level, acts);
	if (!(acts & EDC_ACT_NOTIFY) || READ_ONCE(cpu->firings.count) - READ_ONCE(cpu->reader.firings) >= EDC_FIRINGS)
		return;
	before = __sync_fetch_and_add(&cpu->firings.count, 1);
	entry = &cpu->firings.entry[before % EDC_FIRINGS];
	WRITE_ONCE(entry->number, 0);
	barrier();
	entry->time = at->value[EDC_VALUE_TIME];
	entry->began = at->payload[1];
	entry->key = at->payload[2];
	entry->event = at->event;
	entry->trigger = number;
	entry->sample = at->sample;
	entry->tid = current->pid;
	entry->tgid = current->tgid;
	memcpy(entry->words, &at->value[EDC_VALUE_WORD], sizeof(entry->words));
	smp_store_release(&entry->number, before + 1);
	smp_mb(); /* the reader sees the entry, or we see what it took */
	if (READ_ONCE(cpu->reader.firings) == before)
		irq_work_queue(&firing_bell);
}

static __always_inline void write_token(struct edc_cpu *cpu, u32 level, u32 id, s32 target, u32 arg, const u64 *words,
					u32 count)
{
	const struct edc_matcher *matcher = READ_ONCE(edc_matching);
	struct edc_level *at = &cpu->level[level];
	u64 time = 0;

	at->seen[id - EDC_ID_KERNEL_FIRST]++;
	if (!edc_filter_passes(target) || (matcher && !edc_judge(matcher, cpu, level, id, arg, words, count, &time)))
		at->filtered[id - EDC_ID_KERNEL_FIRST]++;
	else if (matcher && is_left_out(matcher, at))
		leave_out(at, id);
	else
		store_token(cpu, level, id, arg, words, count, time ?: get_cycles());
	while (matcher && at->fires) {
		const u32 number = edc_lowest_bit(at->fires);

		at->fires &= at->fires - 1;
		fire(matcher, cpu, level, number);
	}
}

void edc_post_words(u32 id, s32 target, u32 arg, const u64 *words, u32 count)
{
	struct edc_cpu *cpu;
	u32 level;

	preempt_disable_notrace();
	cpu = __this_cpu_read(edc_areas);
	if (!cpu || READ_ONCE(cpu->stopped))
		goto out;
	level = cpu->depth;
	WRITE_ONCE(cpu->depth, level + 1);
	barrier();
	if (level < EDC_CARD_LEVELS)
		write_token(cpu, level, id, target, arg, words, count);
	else
		cpu->too_deep[id - EDC_ID_KERNEL_FIRST]++;
	barrier();
	WRITE_ONCE(cpu->depth, level);
out:
	preempt_enable_notrace();
}

u32 edc_runs(u32 who)
{
	struct edc_cpu *cpu;
	u32 before = who;

	preempt_disable_notrace();
	cpu = __this_cpu_read(edc_areas);
	if (cpu) {
		before = cpu->runs;
		cpu->runs = who;
	}
	preempt_enable_notrace();
	return before;
}

static void lay_out(struct edc_cpu *area, unsigned int cpu)
{
	u64 offset = EDC_CPU_HEADER;
	unsigned int level;

	memset(area, 0, sizeof(*area));
	for (level = 0; level < EDC_CARD_LEVELS; level++) {
		struct edc_ring *ring = &area->level[level].ring;

		ring->first = offset;
		ring->blocks = ring_blocks[level];
		ring->stream_instance_id = 1 + cpu * EDC_CARD_LEVELS + level;
		offset += ring->blocks * EDC_BLOCK_SIZE;
	}
}

/* After this returns no CPU posts: posters run with preemption disabled. */
static void unpublish(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(edc_areas, cpu), NULL);
	synchronize_rcu();
}

void edc_rings_reset(void)
{
	unsigned int cpu;

	unpublish();
	edc_filter_clear();
	for_each_possible_cpu(cpu) {
		lay_out(per_cpu(edc_owned, cpu), cpu);
		/* Publish the initialised area. */
		smp_store_release(&per_cpu(edc_areas, cpu), per_cpu(edc_owned, cpu));
	}
}

void edc_rings_free(void)
{
	unsigned int cpu;

	edc_filter_end();
	unpublish();
	irq_work_sync(&bell);
	irq_work_sync(&firing_bell);
	edc_filter_free();
	for_each_possible_cpu(cpu) {
		vfree(per_cpu(edc_owned, cpu));
		per_cpu(edc_owned, cpu) = NULL;
	}
}

static bool fits(const struct edc_device_create *wanted)
{
	u64 bytes = EDC_CPU_HEADER;
	unsigned int level;

	for (level = 0; level < EDC_CARD_LEVELS; level++) {
		if (!wanted->blocks[level])
			return false;
		bytes += (u64)wanted->blocks[level] * EDC_BLOCK_SIZE;
	}
	return bytes == wanted->area_bytes && wanted->filtering <= 1 && wanted->overwriting <= 1;
}

int edc_rings_create(const struct edc_device_create *wanted)
{
	unsigned int cpu;

	if (!fits(wanted))
		return -EINVAL;
	if (wanted->area_bytes >> PAGE_SHIFT > totalram_pages() / 2 / num_possible_cpus())
		return -ENOMEM; /* at most half of the machine's memory */
	area_bytes = wanted->area_bytes;
	overwriting = wanted->overwriting;
	memcpy(trace_uuid, wanted->uuid, sizeof(trace_uuid));
	memcpy(ring_blocks, wanted->blocks, sizeof(ring_blocks));
	if (wanted->filtering && edc_filter_create())
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		per_cpu(edc_owned, cpu) = vmalloc_user(area_bytes);
		if (!per_cpu(edc_owned, cpu)) {
			edc_rings_free();
			return -ENOMEM;
		}
	}
	edc_rings_reset();
	return 0;
}

int edc_rings_stop(u32 cpu, bool stopped)
{
	unsigned int each;

	if (cpu != EDC_CPU_UNKNOWN && (cpu >= nr_cpu_ids || !cpu_possible(cpu)))
		return -EINVAL;
	for_each_possible_cpu(each)
		if (cpu == EDC_CPU_UNKNOWN || cpu == each)
			WRITE_ONCE(per_cpu(edc_owned, each)->stopped, stopped);
	return 0;
}

bool edc_rings_overwrite(void)
{
	return overwriting;
}

void *edc_rings_area(unsigned int cpu)
{
	return per_cpu(edc_owned, cpu);
}

u64 edc_rings_area_bytes(void)
{
	return area_bytes;
}

/* Whether there are firings that the recorder has not read. */
static bool has_firings(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		const struct edc_cpu *area = per_cpu(edc_owned, cpu);

		if (area && READ_ONCE(area->firings.count) != READ_ONCE(area->reader.firings))
			return true;
	}
	return false;
}

__poll_t edc_rings_poll(struct file *file, struct poll_table_struct *wait)
{
	__poll_t events = 0;

	poll_wait(file, &listeners, wait);
	if (READ_ONCE(rung))
		events |= EPOLLIN | EPOLLRDNORM;
	if (poll_requested_events(wait) & EPOLLPRI && has_firings())
		events |= EPOLLPRI;
	return events;
}

/* Like the read() of an eventfd: it also clears the bell. */
ssize_t edc_rings_read(char __user *to, size_t bytes)
{
	const u64 one = 1;

	if (bytes < sizeof(one))
		return -EINVAL;
	if (!xchg(&rung, false))
		return -EAGAIN;
	return copy_to_user(to, &one, sizeof(one)) ? -EFAULT : sizeof(one);
}
