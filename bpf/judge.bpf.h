/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What becomes of an event: whether it is kept (record --filter), the counts that it belongs to (--count), what it
 * starts or ends (--time), and which triggers it fires (--trigger). Included by post.bpf.h, between a probe and its
 * ring.
 *
 *     keeps() -- its class is decided as a whole --> kept or not, counted or not
 *        \-- else --> is_judged_kept(): matcher.h, then timing.h and trigger.h; fire.bpf.h after its token
 *
 * What is looked at is written into the level's area, not to the stack, whose frames are shared with those of stacks.
 */
#ifndef MONITOR_BPF_JUDGE_H
#define MONITOR_BPF_JUDGE_H

SEC(".data.matcher") struct edc_matcher matcher = {}; /* by the loader */
__u32 judging = 0;                                    /* not before the recording starts, nor after it ended */

/* The starts that wait for an end, of each --time. The loader sets how many there are. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct edc_begun);
} begun SEC(".maps");

/* Ends or starts one time: `of` is its number, for its ends plus EDC_TIMES. Global, so that it is verified once. */
__attribute__((noinline)) int time_event(struct edc_cpu *cpu, __u32 ring_index, __u32 slot, __u32 of)
{
	__u32 number = of & (EDC_TIMES - 1);
	struct edc_begun *open = bpf_map_lookup_elem(&begun, &number);

	if (!cpu || !open || ring_index >= EDC_CARD_RINGS)
		return 0;

	const __u64 *value = cpu->level[ring_index].value;
	struct edc_timed *timed = &cpu->timed[of & (EDC_TIMES - 1)];
	__u64 key = edc_match_key_of(&matcher, of, slot, value);

	if (of >= EDC_TIMES)
		edc_timed_end(timed, open, key, value[EDC_VALUE_TIME]);
	else
		edc_timed_start(timed, open, key, value[EDC_VALUE_TIME]);
	return 0;
}

/* What each trigger remembers. The loader sets how many there are. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct edc_trigger_state);
} trigger_states SEC(".maps");

/* The event is this input of a trigger: 2 * its number, or one more. Returns whether it fires. */
__attribute__((noinline)) int step_trigger(struct edc_cpu *cpu, __u32 ring_index, __u32 slot, __u32 input)
{
	__u32 number = input / 2;
	const struct edc_trigger *trigger = &matcher.trigger[number & (EDC_TRIGGERS - 1)];
	struct edc_trigger_state *state = bpf_map_lookup_elem(&trigger_states, &number);

	if (!cpu || ring_index >= EDC_CARD_RINGS)
		return 0;

	const __u64 *value = cpu->level[ring_index].value;
	struct edc_fired *fired = &cpu->level[ring_index].fired[number & (EDC_TRIGGERS - 1)];

	fired->key = edc_match_key_of(&matcher, EDC_FIRST_INPUT + input, slot, value);
	return edc_trigger_step(trigger, state, input & 1, fired->key, value[EDC_VALUE_TIME], &fired->began,
				&cpu->firings.forgotten);
}

/* The second inputs first: an event may be both. Returns whether any fires. */
static __attribute__((noinline, unused)) bool step_all(struct edc_cpu *cpu, __u32 ring_index, __u32 slot, __u32 inputs)
{
	const __u32 seconds = 0xaaaaaaaa;

	for (__u32 i = 0; i < EDC_TRIGGER_INPUTS && inputs; i++) {
		__u32 of = edc_lowest_bit(inputs & seconds ? inputs & seconds : inputs) & (EDC_TRIGGER_INPUTS - 1);

		inputs &= ~(1u << of);
		if (step_trigger(cpu, ring_index, slot, of))
			cpu->level[ring_index].fires |= 1 << of / 2;
	}
	return cpu->level[ring_index].fires;
}

/* `times`: bits as in edc_match_class.belongs. Ends first: an event may end one and start the next. */
static __attribute__((noinline, unused)) void time_all(struct edc_cpu *cpu, __u32 ring_index, __u32 slot, __u32 times)
{
	for (__u32 i = 0; i < 2 * EDC_TIMES && times; i++) {
		__u32 ends = times >> EDC_TIMES;
		__u32 of = ends ? EDC_TIMES + edc_lowest_bit(ends) : edc_lowest_bit(times);

		times &= ~(1u << (of & 31));
		time_event(cpu, ring_index, slot, of);
	}
}

static __attribute__((noinline, unused)) int match_apart(__u32 slot, __u64 *value, __u64 *hit)
{
	return edc_match(&matcher, slot, value, hit);
}

static __attribute__((noinline, unused)) __u64 count_apart(const struct edc_match_class *cls, const __u64 *hit,
							   __u64 *count)
{
	return edc_match_count(&matcher, cls, hit, count);
}

/* Whether the event whose values were noted is kept; counts and times it. `small`: with small frames. */
INLINE bool judge(bool small, struct edc_cpu *cpu, __u32 ring_index, __u32 slot)
{
	const struct edc_match_class *cls = &matcher.cls[slot & (EDC_CARD_CLASSES - 1)];
	struct edc_level *level = &cpu->level[ring_index];
	bool is_kept = cls->decision == EDC_MATCH_KEEP;
	__u64 belongs = cls->belongs;

	if (cls->counted)
		edc_match_count_all(cls->counted, level->count);
	if (cls->asks && (small ? match_apart(slot, level->value, level->hit)
				: edc_match(&matcher, slot, level->value, level->hit))) {
		belongs |= small ? count_apart(cls, level->hit, level->count)
				 : edc_match_count(&matcher, cls, level->hit, level->count);
		is_kept = edc_match_keeps(cls, level->hit);
	}
	if (timing && (__u32)belongs)
		time_all(cpu, ring_index, slot, (__u32)belongs);
	if (triggering && belongs >> EDC_FIRST_INPUT)
		is_kept |= step_all(cpu, ring_index, slot, belongs >> EDC_FIRST_INPUT); /* why it fires is recorded */
	return is_kept;
}

static __attribute__((noinline, unused)) bool judge_apart(struct edc_cpu *cpu, __u32 ring_index, __u32 slot)
{
	return !cpu || ring_index >= EDC_CARD_RINGS || judge(1, cpu, ring_index, slot);
}

/* `event` is id and argument: a BPF function has at most five arguments. */
INLINE int fetch_and_judge(bool small, struct edc_cpu *cpu, __u32 ring_index, __u64 time, __u32 event)
{
	__u32 slot = (event & 0xffff) - EDC_ID_KERNEL_FIRST, wanted;
	__u64 *value;

	if (!cpu || slot >= EDC_CARD_CLASSES || ring_index >= EDC_CARD_RINGS)
		return 0;
	FORGET(ring_index); /* addresses are made of it after the check, not before */
	value = cpu->level[ring_index].value;
	wanted = READ(matcher.cls[slot].wanted);
	if (wanted & 1 << EDC_VALUE_TIME) { /* as the token will have it */
		if (!time)
			time = now();
		if (time < cpu->level[ring_index].ring.last_time) {
			time = cpu->level[ring_index].ring.last_time;
			cpu->level[ring_index].ring.clamped++;
		}
	}
	value[EDC_VALUE_TIME] = time;
	value[EDC_VALUE_ARGUMENT] = event >> 16;
	if (small || wanted & (1 << EDC_VALUE_CPU | 1 << EDC_VALUE_LEVEL)) {
		value[EDC_VALUE_CPU] = bpf_get_smp_processor_id();
		value[EDC_VALUE_LEVEL] = ring_index;
	}
	if (wanted & (1 << EDC_VALUE_TID | EDC_VALUE_NAMES))
		value[EDC_VALUE_TID] = small ? (__u32)bpf_get_current_pid_tgid() : (__u32)current_thread();
	if (wanted & EDC_VALUE_NAMES) {
		if (value[EDC_VALUE_TID])
			bpf_get_current_comm(&value[EDC_VALUE_NAME], 16);
		else
			edc_name_idle(&value[EDC_VALUE_NAME]);
	}
	return small ? judge_apart(cpu, ring_index, slot) : judge(0, cpu, ring_index, slot);
}

/*
 * Judges an event, whose words were noted by note_words(). The token's time, or 0, is then in EDC_VALUE_TIME. Global,
 * so that it is verified once for a program, not for each way to it. Without calls: where the kernel guards returns
 * against speculation, each takes as long as a comparison of two values.
 */
__attribute__((noinline)) int is_judged_kept(struct edc_cpu *cpu, __u32 ring_index, __u64 time, __u32 event)
{
	return fetch_and_judge(0, cpu, ring_index, time, event);
}

/* The same in probes that may be preempted: none of its functions has a large frame, see reset.bpf.c. */
__attribute__((noinline)) int is_judged_kept_in_slot(struct edc_cpu *cpu, __u32 ring_index, __u64 time, __u32 event)
{
	return fetch_and_judge(1, cpu, ring_index, time, event);
}

/* In the caller, where the words may still be registers. Those that the event does not have are of another one. */
INLINE void note_words(struct edc_cpu *cpu, __u32 ring_index, const __u64 *words, __u32 count)
{
	for (__u32 i = 0; i < count && i < EDC_MAX_WORDS; i++)
		WRITE(cpu->level[ring_index].value[EDC_VALUE_WORD + i], words[i]);
}

/* Sets `time`, which is 0 or the event's, if it was needed. With a constant id most of it is not there. */
INLINE bool keeps(bool in_slot, struct edc_cpu *cpu, __u32 ring_index, __u64 *time, __u32 id, __u32 arg,
		  const __u64 *words, __u32 count)
{
	__u16 whole = decisions[(id - EDC_ID_KERNEL_FIRST) & (EDC_CARD_CLASSES - 1)], decision = whole & 0xff;

	if (!READ(judging))
		return 1;
	if (decision != EDC_MATCH_ASK) {
		if (whole >> 8)
			cpu->level[ring_index].count[((whole >> 8) - 1) & (EDC_MATCH_COUNTS - 1)]++;
		return decision == EDC_MATCH_KEEP;
	}
	note_words(cpu, ring_index, words, count);
	if (!(in_slot ? is_judged_kept_in_slot : is_judged_kept)(cpu, ring_index, *time, id | arg << 16))
		return 0;
	*time = cpu->level[ring_index].value[EDC_VALUE_TIME];
	return 1;
}

#endif
