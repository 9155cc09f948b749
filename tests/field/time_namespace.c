// SPDX-License-Identifier: MIT
// Posts ten events with this place, given as argument, and what the program's clocks say.
#include <monitor/edc.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

EDC_EVENT(tick, "arg: u16 place; u64 monotonic; u64 realtime");

static unsigned long long now(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

int main(int count, char **words)
{
	for (int i = 0; i < 10; i++) {
		edc_data(tick, count > 1 ? atoi(words[1]) : 0, now(CLOCK_MONOTONIC), now(CLOCK_REALTIME));
		usleep(2000);
	}
	return 0;
}
