/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The event-data card as BPF programs: one object with all probe families. Loaded and attached by
 * userspace/recording/card/bpf_card.cpp, which enables each program (they are all optional: "?") according to what the
 * recording requests and what the kernel has. A program has the name of its tracepoint; its variant of type
 * tracepoint has the prefix tp_.
 */
#include "post.bpf.h"

#include "sched.bpf.c"

#include "irq.bpf.c"

#include "syscall.bpf.c"

#include "fault.bpf.c"

#include "power.bpf.c"

#include "block.bpf.c"

#include "stack.bpf.c"

#include "pmu.bpf.c"

#include "sample.bpf.c"

#include "reset.bpf.c"

#include "function.bpf.c"

#include "tasks.bpf.c"

#include "trial.bpf.c"

char LICENSE[] SEC("license") = "Dual MIT/GPL";
