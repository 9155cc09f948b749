/* SPDX-License-Identifier: MIT */
/* An instrumented library for user_card.py, which builds it in several ways. post() posts that many events. */
#include <monitor/edc.h>

EDC_EVENT(in_library, "arg: u16 low; u64 number");

__attribute__((visibility("default"))) void post(long n);

void post(long n)
{
	for (long i = 0; i < n; i++)
		edc_data(in_library, i, i);
}
