/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The event-data card as BPF programs: one object of all probe families. Loaded and attached by
 * userspace/card/bpf_card.cpp, which switches each program on (they are all optional: "?") by what the recording
 * asks for and what the kernel has. A program bears the name of its tracepoint; a classic twin has the prefix classic_.
 */
#include "post.bpf.h"

#include "sched.bpf.c"

#include "irq.bpf.c"

#include "syscall.bpf.c"

#include "fault.bpf.c"

#include "power.bpf.c"

#include "block.bpf.c"

#include "pmu.bpf.c"

#include "reset.bpf.c"

#include "tasks.bpf.c"

char LICENSE[] SEC("license") = "Dual MIT/GPL";
