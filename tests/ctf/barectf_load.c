// SPDX-License-Identifier: MIT
// barectf_load FILE N: writes a stream of N events with the tracer that barectf makes of barectf.yaml.
#include "barectf.h"

#include <stdio.h>
#include <stdlib.h>

enum { packet_bytes = 512 };

static struct barectf_default_ctx context;
static uint64_t now = 1000;
static FILE *file;

static uint64_t clock_value(void *unused)
{
	(void)unused;
	return now;
}

static int is_full(void *unused)
{
	(void)unused;
	return 0;
}

static void open_packet(void *unused)
{
	(void)unused;
	barectf_default_open_packet(&context, 3);
}

static void close_packet(void *unused)
{
	(void)unused;
	barectf_default_close_packet(&context);
	if (fwrite(barectf_packet_buf(&context), barectf_packet_buf_size(&context), 1, file) != 1)
		exit(1);
}

int main(int argc, char **argv)
{
	static const char *const texts[] = {"one", "", "three"};
	static uint8_t packet[packet_bytes];
	const struct barectf_platform_callbacks calls = {clock_value, is_full, open_packet, close_packet};

	if (argc != 3 || !(file = fopen(argv[1], "wb"))) {
		fprintf(stderr, "usage: barectf_load FILE EVENTS\n");
		return 2;
	}
	barectf_init(&context, packet, packet_bytes, calls, NULL);
	open_packet(NULL);
	for (long n = 0; n < atol(argv[2]); ++n) {
		const int16_t fixed[] = {n, -n, 7};
		const uint32_t row[] = {n, 1, 0xffffffff, 4};

		now += n % 10 ? 13 : 65000;
		switch (n % 3) {
		case 0:
			barectf_default_trace_bits(&context, n, n % 2, n % 8 - 4, n % 128, -n);
			break;
		case 1:
			barectf_default_trace_values(&context, n, "here", n / 8.0f, n / 3.0, "text", n % 11, fixed,
						     n % 5, row, n % 4, texts);
			break;
		default:
			barectf_default_trace_nothing(&context, n);
		}
	}
	if (barectf_packet_is_open(&context) && !barectf_packet_is_empty(&context))
		close_packet(NULL);
	return fclose(file) ? 1 : 0;
}
