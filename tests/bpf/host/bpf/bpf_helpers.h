/* SPDX-License-Identifier: MIT */
/* libbpf's header for post_test.c: the same names, on this side of the kernel. The test says what the helpers return.
 */
#ifndef MONITOR_TEST_BPF_HELPERS_H
#define MONITOR_TEST_BPF_HELPERS_H

#include <linux/types.h>

#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) __typeof__(value) *name
#define barrier() __asm__ volatile("" ::: "memory")
#define barrier_var(value) __asm__ volatile("" : "+r"(value))

void *bpf_map_lookup_elem(void *map, void *key);
__u64 bpf_ktime_get_ns(void);
__u32 bpf_get_smp_processor_id(void);
__u64 bpf_get_current_pid_tgid(void);
__u64 bpf_jiffies64(void);
void *bpf_get_current_task_btf(void);
long bpf_get_current_comm(void *name, __u32 bytes);
long bpf_get_task_stack(void *task, void *to, __u32 bytes, __u64 flags);
long bpf_loop(__u32 rounds, void *function, void *context, __u64 flags);
long bpf_ringbuf_output(void *ring, void *data, __u64 size, __u64 flags);

#endif
