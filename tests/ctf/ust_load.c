// SPDX-License-Identifier: MIT
// ust_load N [THREADS]: records N LTTng-UST events of all kinds on each of the threads (1), whoever listens. Also a
// load for a benchmark of reading: about 60 bytes an event.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "ust_load_tp.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long events;

static const char *const texts[] = {"",
				    "text",
				    "Gr\xc3\xbc\xc3\x9f"
				    "e, \xe4\xb8\x96\xe7\x95\x8c",
				    "not UTF-8: \xff\xc3",
				    "\"quoted\"\n\\",
				    "quite a long text, that goes on and on and on and on and on and on"};
static const double numbers[] = {0.0, -0.0, 1.5, -0.1, INFINITY, -INFINITY, NAN, 5e-324, 1e300, 3.0e-5};

static void one(long n)
{
	const int32_t row[8] = {n, -n, 0, INT32_MAX, INT32_MIN, 1, 2, 3};
	const uint8_t bytes[8] = {n, 0, 255, 3, 4, 5, 6, 7};
	const uint16_t words[8] = {n, 0x1234, 65535, 3, 4, 5, 6, 7};
	char padded[80] = "";

	switch (n % 8) {
	case 0:
		lttng_ust_tracepoint(ust_load, integers, n);
		break;
	case 1:
		lttng_ust_tracepoint(ust_load, floats, numbers[n / 8 % 10]);
		break;
	case 2:
		strncpy(padded, texts[n / 8 % 6], sizeof(padded) - 1);
		lttng_ust_tracepoint(ust_load, texts, padded, n / 8 % 11);
		break;
	case 3:
		lttng_ust_tracepoint(ust_load, rows, row, bytes, words, n / 8 % 9);
		break;
	case 4:
		lttng_ust_tracepoint(ust_load, enumerations, n / 8 % 13);
		break;
	case 5:
		lttng_ust_tracepoint(ust_load, nothing);
		break;
	case 6:
		lttng_ust_tracepoint(ust_load, first_of_class, n);
		break;
	default:
		lttng_ust_tracepoint(ust_load, second_of_class, -n);
	}
}

static void *run(void *unused)
{
	(void)unused;
	for (long n = 0; n < events; ++n)
		one(n);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int count = argc > 2 ? atoi(argv[2]) : 1;

	events = argc > 1 ? atol(argv[1]) : 1000;
	if (events < 0 || count < 1 || count > 64) {
		fprintf(stderr, "usage: ust_load [EVENTS [THREADS]]\n");
		return 2;
	}
	for (int n = 0; n < count; ++n)
		if (pthread_create(&threads[n], NULL, run, NULL))
			return 1;
	for (int n = 0; n < count; ++n)
		pthread_join(threads[n], NULL);
	return 0;
}
