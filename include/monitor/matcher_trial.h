/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What bpf/trial.bpf.c is given and gives back: the context of a program that is run by BPF_PROG_TEST_RUN.
 */
#ifndef MONITOR_MATCHER_TRIAL_H
#define MONITOR_MATCHER_TRIAL_H

#include "card.h"

#define EDC_TRIAL_ROUNDS 1000

struct edc_matcher_trial {
	__u32 slot, rounds; /* in: the class, and how often it is judged */
	__u64 value[EDC_MATCH_VALUES];
	__u64 kept; /* out */
	__u64 ns;   /* out: of all rounds */
};

EDC_ASSERT(sizeof(struct edc_matcher_trial) == 152);

#endif
