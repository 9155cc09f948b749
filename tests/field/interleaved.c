// SPDX-License-Identifier: MIT
// 40 requests in one event loop: all begin, each in turn is parsed and ends, a second round begins meanwhile. Prints
// "ID BEGIN END" of each, in nanoseconds by CLOCK_MONOTONIC. With an argument the activities have none.
#define _GNU_SOURCE
#include <monitor/edc.h>

#include <stdio.h>

#include "spin.h"

EDC_ACTIVITY(request, "arg: u16 id");
EDC_ACTIVITY(parse, "arg: u16 id");
EDC_ACTIVITY(silent, "");

enum { at_once = 40, requests = 2 * at_once };

static long from[requests], to[requests];

static void begin(int id, int is_silent)
{
	spin_us(200);
	from[id] = now();
	if (is_silent)
		edc_begin(silent, 0);
	else
		edc_begin(request, id);
}

static void end(int id, int is_silent)
{
	if (!is_silent) {
		edc_begin(parse, id);
		spin_us(100);
		edc_end(parse, id);
		edc_end(request, id);
	} else {
		spin_us(100);
		edc_end(silent, 0);
	}
	to[id] = now();
}

int main(int count, char **argument)
{
	const int is_silent = count > 1;

	(void)argument;
	edc(parse_begin, 65535); /* it connects */
	for (int i = 0; i < at_once; i++)
		begin(i, is_silent);
	for (int i = 0; i < at_once; i++) {
		end(i, is_silent);
		begin(at_once + i, is_silent);
	}
	for (int i = at_once; i < requests; i++)
		end(i, is_silent);
	for (int i = 0; i < requests; i++)
		printf("%d %ld %ld\n", i, from[i], to[i]);
	return 0;
}
