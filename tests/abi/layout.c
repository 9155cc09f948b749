/* SPDX-License-Identifier: MIT */
/*
 * Prints the layout list of layout.h, a "name = number" per line. For BPF, which prints nothing, the numbers lie in the
 * object's section `abi_layout` instead. Compiled and run by run.py.
 */
#include "layout.h"

#define NUMBER(name, number) (unsigned long long)(number),
#define NAME(name, number) name,

#ifdef __bpf__

__attribute__((section("abi_layout"), used)) const unsigned long long layout[] = {LAYOUT(NUMBER)};

/* that the inline functions compile for BPF */
__attribute__((section("abi_probe"), used)) unsigned long long probe(const struct edc_clock_set *set)
{
	const struct edc_ratio ratio = edc_ratio_decode32(edc_ratio_encode32(set->from_ns, set->base));

	return edc_clock_at(set,
			    edc_token(1, EDC_MODE_KERNEL, set->from_ns, edc_ratio_encode16(2, ratio.denominator))) +
	       (unsigned)is_class(256);
}

#else

#include <stdio.h>

static const unsigned long long layout[] = {LAYOUT(NUMBER)};
static const char *const names[] = {LAYOUT(NAME)};

int main(void)
{
	const __u64 token = edc_token(0xabc, EDC_MODE_KERNEL, 0x123456789abcdefull, 0xfedcb);
	const struct edc_clock_set set = {1000, 5000, 2, 0x80000000u};
	const __u32 rems16 = edc_ratio_encode16(12345678, 87654321), rems32 = edc_ratio_encode32(12345678, 87654321);
	const struct edc_ratio ratio = edc_ratio_decode32(rems32);
	unsigned long i;

	for (i = 0; i < sizeof layout / sizeof layout[0]; i++)
		printf("%s = %llu\n", names[i], layout[i]);
	printf("token = %llx\n", (unsigned long long)token);
	printf("id time mode arg = %x %x %x %x\n", edc_token_id(token), edc_token_time(token), edc_token_mode(token),
	       edc_token_arg(token));
	printf("clock = %llu\n", (unsigned long long)edc_clock_at(&set, 1003));
	printf("ratio = %x %x %llu/%llu %u %u\n", rems16, rems32, (unsigned long long)ratio.numerator,
	       (unsigned long long)ratio.denominator, ratio.within, ratio.flags);
	return !is_class(EDC_ID_KERNEL_FIRST) || is_class(0);
}

#endif
