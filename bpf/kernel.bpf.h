/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The few kernel types that the probes read, declared by name only: CO-RE finds the field offsets in the running kernel
 * (libbpf, "BPF CO-RE reference guide"). Included before anything else by post.bpf.h and
 * preemption.bpf.c.
 */
#ifndef MONITOR_BPF_KERNEL_H
#define MONITOR_BPF_KERNEL_H

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#ifndef bool
#define bool _Bool
#endif

#define CORE __attribute__((preserve_access_index))

struct thread_info {
	__u32 cpu;
	__u32 status; /* x86: TS_COMPAT while in a 32-bit system call */
} CORE;

struct sched_entity {
	__u64 sum_exec_runtime;
	__u64 nr_migrations;
} CORE;

struct kernfs_node {
	__u64 id;
} CORE;

struct cgroup {
	struct kernfs_node *kn;
	int level;
} CORE;

struct css_set {
	struct cgroup *dfl_cgrp;
} CORE;

struct atomic_count {
	int counter;
};

struct task_io_accounting {
	__u64 syscr;
	__u64 syscw;
} CORE;

struct signal_struct {
	struct atomic_count live;
	short oom_score_adj;
	__u64 cutime, cstime;
	unsigned long nvcsw, cnvcsw;
	unsigned long min_flt, maj_flt, cmin_flt, cmaj_flt;
	struct task_io_accounting ioac;
} CORE;

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	__u8 on_cpu; /* int before 7.0: read one byte, never by name alone */
	int prio;
	struct sched_entity se;
	int exit_state;
	__s32 pid;
	__s32 tgid;
	__u64 start_time;
	struct task_struct *real_parent;
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
	char comm[16];
	struct css_set *cgroups;
	struct signal_struct *signal;
	struct task_io_accounting ioac;
	unsigned in_execve : 1;
} CORE;

#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000

/* The registers at kernel entry: the system call number, negative if there is none; whether the kernel was entered from
 * user mode. */
#ifdef __TARGET_ARCH_x86
struct pt_regs___entry {
	unsigned long orig_ax;
	unsigned long cs;
} CORE;
#define SYSCALL_NUMBER(regs) ((long)BPF_CORE_READ((struct pt_regs___entry *)(regs), orig_ax))
#define FROM_USER(regs) ((BPF_CORE_READ((struct pt_regs___entry *)(regs), cs) & 3) != 0)
#else
struct pt_regs___entry {
	__s32 syscallno;
	__u64 pstate;
} CORE;
#define SYSCALL_NUMBER(regs) ((long)BPF_CORE_READ((struct pt_regs___entry *)(regs), syscallno))
#define FROM_USER(regs) ((BPF_CORE_READ((struct pt_regs___entry *)(regs), pstate) & 0xf) == 0)
#endif

/* The same of the registers that a perf event interrupted. */
#ifdef __TARGET_ARCH_x86
#define INTERRUPTED_USER(context) (((context)->regs.cs & 3) != 0)
#else
#define INTERRUPTED_USER(context) (((context)->regs.pstate & 0xf) == 0)
#endif

/* A timer of the samples is part of a perf event. */
struct hrtimer {
	void *function;
} CORE;

struct hw_perf_event {
	struct hrtimer hrtimer;
} CORE;

struct perf_event_attr___sample {
	__u64 config1;
} CORE;

struct perf_event {
	struct perf_event_attr___sample attr;
	struct hw_perf_event hw;
} CORE;

struct gendisk {
	int major;
	int first_minor;
} CORE;

struct request_queue {
	struct gendisk *disk;
} CORE;

struct request {
	struct request_queue *q;
	__u32 cmd_flags;
	__u32 __data_len;
	__u64 __sector;
} CORE;

struct trace_entry {
	__u64 first;
};

/* Records of tracepoint programs (tp_*), which kernels with preemptible tracepoints need (bpf_card.cpp decides). */
struct trace_event_raw_sys_enter {
	long id;
} CORE;

struct trace_event_raw_sys_exit {
	long id;
	long ret;
} CORE;

struct trace_event_raw_sched_process_exec {
	__s32 pid;
	__s32 old_pid;
} CORE;

struct trace_event_raw_block_rq {
	__u32 dev;
	__u64 sector;
	unsigned int bytes;
	char rwbs[10];
} CORE;

struct trace_event_raw_block_rq_completion {
	__u32 dev;
	__u64 sector;
	unsigned int nr_sector;
	int error;
} CORE;

struct trace_event_raw_task_rename {
	__s32 pid;
	char newcomm[16];
	short oom_score_adj;
} CORE;

struct bpf_iter_meta {
	struct seq_file *seq;
} CORE;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} CORE;

#endif
