// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that posts into the card of monitor_edc and triggers its samples, by include/monitor/kernel_post.h. Writing
 * N to /sys/module/poster/parameters/posts posts N times a token with a payload and one without, on this CPU; to
 * .../samples asks all CPUs N times, with a millisecond between. Both fail with what the card says. To .../random posts
 * N tokens of several classes with random values, the same ones each time.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "monitor/card.h"
#include "monitor/kernel_post.h"

static int post_once(__u64 state)
{
	int error = edc_post_payload(EDC_ID_CPU_FREQUENCY, 0, &state, sizeof(state));

	return error ?: edc_post(EDC_ID_CPU_IDLE, 7);
}

/* Small numbers, large ones, and what is near to powers of two. */
static __u64 random_number(__u64 *state)
{
	__u64 value;

	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	value = *state * 0x2545f4914f6cdd1dull;
	switch (value >> 62) {
	case 0:
		return value & 0xf;
	case 1:
		return value & 0xffff;
	case 2:
		return (1ull << (value & 63)) - (value >> 8 & 1);
	default:
		return value;
	}
}

static int random_set(const char *text, const struct kernel_param *param)
{
	unsigned long times, i;
	__u64 state = 88172645463325252ull;
	int error = kstrtoul(text, 0, &times);

	for (i = 0; !error && i < times; i++) {
		__u64 words[2] = {random_number(&state), random_number(&state)};
		__u32 arg = random_number(&state) & 0xffff;

		if (i % 4 == 0)
			error = edc_post(EDC_ID_CPU_IDLE, arg);
		else if (i % 4 == 1)
			error = edc_post_payload(EDC_ID_CPU_FREQUENCY, arg, words, 8);
		else
			error = edc_post_payload(i % 4 == 2 ? EDC_ID_BLOCK_RQ_ISSUE : EDC_ID_BLOCK_RQ_COMPLETE, arg,
						 words, 16);
		if (i % 1024 == 0)
			cond_resched();
	}
	return error;
}

static int sample_once(__u64 unused)
{
	usleep_range(1000, 2000);
	return edc_sample();
}

static int repeat(const char *text, int (*function)(__u64))
{
	unsigned long times, i;
	int error = kstrtoul(text, 0, &times);

	for (i = 0; !error && i < times; i++)
		error = function(i);
	return error;
}

static int posts_set(const char *text, const struct kernel_param *param)
{
	return repeat(text, post_once);
}

static int samples_set(const char *text, const struct kernel_param *param)
{
	return repeat(text, sample_once);
}

/* What is no class, no payload: refused. */
static int wrong_set(const char *text, const struct kernel_param *param)
{
	const __u64 words[EDC_MAX_WORDS + 1] = {};
	const __u32 never[] = {0,
			       EDC_ID_KERNEL_FIRST - 1,
			       EDC_ID_KERNEL_FIRST + EDC_CARD_CLASSES,
			       ~0u,
			       EDC_ID_COUNTERS,
			       EDC_ID_COUNTERS_RESET,
			       EDC_ID_RATIOS};
	__u32 i;

	for (i = 0; i < ARRAY_SIZE(never); i++)
		if (edc_post(never[i], 0) != -EINVAL || edc_post_payload(never[i], 0, words, 16) != -EINVAL)
			return -EBADMSG;
	for (i = 0; i <= sizeof(words); i++)
		if (i != 8 && edc_post_payload(EDC_ID_CPU_FREQUENCY, 0, words, i) != -EINVAL)
			return -EBADMSG;
	if (edc_post(EDC_ID_CPU_FREQUENCY, 0) != -EINVAL)
		return -EBADMSG;
	return edc_tsc() ? 0 : -EBADMSG;
}

static const struct kernel_param_ops posts = {.set = posts_set};
static const struct kernel_param_ops samples = {.set = samples_set};
static const struct kernel_param_ops random = {.set = random_set};
static const struct kernel_param_ops wrong = {.set = wrong_set};
module_param_cb(posts, &posts, NULL, 0200);
module_param_cb(samples, &samples, NULL, 0200);
module_param_cb(random, &random, NULL, 0200);
module_param_cb(wrong, &wrong, NULL, 0200);
MODULE_PARM_DESC(posts, "post so many times");
MODULE_PARM_DESC(samples, "ask all CPUs so many times");
MODULE_PARM_DESC(random, "the number of random tokens to post");
MODULE_PARM_DESC(wrong, "post what the card refuses");
MODULE_DESCRIPTION("Posts into the event-data card");
MODULE_LICENSE("GPL");
