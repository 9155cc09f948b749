// SPDX-License-Identifier: MIT
// Four threads at a time in activities of three levels: each thread 200 times `outer`, in it twice `middle`, in that
// twice `inner`, with naps, so that they overlap.
#define _GNU_SOURCE
#include <monitor/edc.h>

#include <pthread.h>
#include <time.h>

EDC_ACTIVITY(outer, "");
EDC_ACTIVITY(middle, "");
EDC_ACTIVITY(inner, "");

static void nap(void)
{
	struct timespec time = {0, 100000};

	nanosleep(&time, NULL);
}

static void *work(void *unused)
{
	nap();
	for (int i = 0; i < 200; i++) {
		edc_begin(outer, 0);
		for (int j = 0; j < 2; j++) {
			edc_begin(middle, 0);
			for (int k = 0; k < 2; k++) {
				edc_begin(inner, 0);
				nap();
				edc_end(inner, 0);
			}
			edc_end(middle, 0);
		}
		edc_end(outer, 0);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
