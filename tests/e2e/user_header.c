/* SPDX-License-Identifier: MIT */
/* All of edc.h in one file that is C and C++; compiled in every way by structure.py, run as it is. */
#include <monitor/edc.h>

EDC_EVENT(short_one, "");
EDC_EVENT(long_one, "arg: s16 a; u64 b; s64 c; x64 d; address e; u64 f; u64 g; u64 h (ns)");
EDC_EVENT(labelled, "arg: token state {ok = 0, failed = 1}; flags how {r = 1, w = 2}");
EDC_ACTIVITY(parse, "arg: u16 id");

int main(int count, char **arguments)
{
	unsigned char small = 3;
	long negative = -1;

	edc(short_one, count);
	edc_data(labelled, 1, 3);
	edc_data(long_one, negative, count, negative, small, arguments, 5, 6u, 7ull);
	edc_begin(parse, small);
	edc_end(parse, small);
#ifdef __cplusplus
	{
		edc::scope one{parse};
		edc::scope two{parse, 7};
	}
#endif
	return 0;
}
