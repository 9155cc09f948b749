// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that posts into the card of monitor_edc and triggers its samples, by include/monitor/kernel_post.h. Writing
 * N to /sys/module/poster/parameters/posts posts N times a token with a payload and one without, on this CPU; to
 * .../samples asks all CPUs N times, with a millisecond between. Both fail with what the card says.
 */
#include <linux/delay.h>
#include <linux/module.h>

#include "monitor/card.h"
#include "monitor/kernel_post.h"

static int post_once(__u64 state)
{
	int error = edc_post_payload(EDC_ID_CPU_FREQUENCY, 0, &state, sizeof(state));

	return error ?: edc_post(EDC_ID_CPU_IDLE, 7);
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
static const struct kernel_param_ops wrong = {.set = wrong_set};
module_param_cb(posts, &posts, NULL, 0200);
module_param_cb(samples, &samples, NULL, 0200);
module_param_cb(wrong, &wrong, NULL, 0200);
MODULE_PARM_DESC(posts, "post so many times");
MODULE_PARM_DESC(samples, "ask all CPUs so many times");
MODULE_PARM_DESC(wrong, "post what the card refuses");
MODULE_DESCRIPTION("Posts into the event-data card");
MODULE_LICENSE("GPL");
