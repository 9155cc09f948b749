/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What each CPU is doing, at a timer of its own: record --sample-every without the kernel module. The timers are perf
 * events that userspace/recording/card/sample_timers.cpp starts at the same time on all CPUs. They stay in step, so a
 * sample's number is that of its period, and what the CPUs answer in one period belongs together, as in kmod/sample.c.
 * A timer that is handled late by a period or more leaves out a number. Included by card.bpf.c.
 *
 * The programs are not attached to the events, but to the expiry of any high-resolution timer: there are kernels whose
 * perf events post nothing on some CPUs while these are idle, although the timer expires.
 */
#include "pmu.bpf.h"

/* Set by the loader before the program is verified, constants to the verifier. */
const volatile __u64 sample_every_ns = 1;
const volatile __u64 sample_cookie = 0; /* config1 of the perf events */

__u64 samples_from_ns = 0; /* when the first period starts; 0: the timers are not in step yet */

/* Number of the latest sample. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} answered SEC(".maps");

/* Reads what would be a perf event's memory around the timer. */
INLINE bool is_of_samples(struct hrtimer *timer)
{
	__u64 event = (__u64)timer - bpf_core_field_offset(struct perf_event, hw.hrtimer), cookie = 0;

	bpf_probe_read_kernel(&cookie, sizeof(cookie),
			      (void *)(event + bpf_core_field_offset(struct perf_event, attr.config1)));
	return cookie == sample_cookie;
}

INLINE int post_what_is_done(bool user)
{
	__u64 id = bpf_get_current_pid_tgid(), from = READ(samples_from_ns), ns = bpf_ktime_get_ns(), number;
	__u32 tid = (__u32)id, place = 0;
	__u64 *last = bpf_map_lookup_elem(&answered, &place);
	__u32 doing = user ? EDC_DOING_USER : EDC_DOING_KERNEL;

	if (!last || !from || ns < from)
		return 0;
	number = 1 + (ns - from) / sample_every_ns;
	if (*last == number)
		return 0; /* a CPU appears only once in each sample */
	*last = number;
	if (!tid)
		doing = EDC_DOING_IDLE;
	if (counter_sets)
		read_counters();
	return post_sample_of(EDC_FILTER_NONE, doing, (__s32)tid, (__s32)(id >> 32), number);
}

SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(sample, struct hrtimer *timer)
{
	struct pt_regs___entry **regs = bpf_this_cpu_ptr(&__irq_regs);

	return is_of_samples(timer) ? post_what_is_done(FROM_USER(*regs)) : 0;
}

/* Where the kernel does not show the interrupted registers: see irq.bpf.c. */
SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(plain_sample, struct hrtimer *timer)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	bool user = 0;

	if (!is_of_samples(timer))
		return 0;
	if (!(task->flags & PF_KTHREAD))
		user = SYSCALL_NUMBER(bpf_task_pt_regs((void *)task)) < 0;
	return post_what_is_done(user);
}
