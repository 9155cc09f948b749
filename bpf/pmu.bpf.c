/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Counters of a thread that runs for long: read at an interrupt if no switch came (record --every). Included by
 * card.bpf.c. x86's local timer has a tracepoint of its own; elsewhere the timer is a device interrupt like others.
 */
#include "pmu.bpf.h"

SEC("?tp_btf/local_timer_entry")
int BPF_PROG(every_local_timer_entry, int vector)
{
	count_every();
	return 0;
}

SEC("?tp_btf/irq_handler_entry")
int BPF_PROG(every_irq_handler_entry, int irq)
{
	count_every();
	return 0;
}
