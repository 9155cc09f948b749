/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Family power: idle states (-1: idle ends) and frequency changes. Included by card.bpf.c. */
#include "post.bpf.h"

SEC("?tp_btf/cpu_idle")
int BPF_PROG(cpu_idle, unsigned int state, unsigned int cpu_id)
{
	return post_cpu_idle_to_card((__s32)state);
}

SEC("?tp_btf/cpu_frequency")
int BPF_PROG(cpu_frequency, unsigned int state, unsigned int cpu_id)
{
	return post_cpu_frequency_to_card(cpu_id, state);
}
