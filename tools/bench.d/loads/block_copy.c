// SPDX-License-Identifier: MIT
/*
 * What the bench `recorder` compares with: a reader that copies blocks and writes them, and nothing else.
 *
 *   block_copy CPU SECONDS PER_S FILE
 *
 * A thread on CPU fills PER_S blocks a second of a ring. This one looks as often as the recorder does at a million
 * tokens a second, copies what there is into a pool, and writes it to FILE in the recorder's portions: those of
 * blocks.h and drain.cpp. Prints the CPU time of this thread in ns, and the number of blocks.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "load.h"

enum { block_bytes = 4096, ring_blocks = 3840, pool_blocks = 20480, max_written = 256 };
static const uint64_t look_ns = 20000000, write_ns = 100000000, fill_ns = 1000000;

static char *ring, *pool;
static uint64_t closed; /* blocks that are filled */
static uint64_t begin, end, per_s;
static long cpu;

static void *map(size_t blocks)
{
	void *memory = mmap(NULL, blocks * block_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail("mmap");
	return memory;
}

static void wait_until(uint64_t ns)
{
	struct timespec at = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void *fill(void *unused)
{
	pin_to(cpu);
	for (uint64_t at = begin; at < end; at += fill_ns) {
		wait_until(at);
		for (uint64_t due = (at - begin) * per_s / 1000000000u; closed < due;) {
			memset(ring + closed % ring_blocks * block_bytes, (int)closed, block_bytes);
			__atomic_store_n(&closed, closed + 1, __ATOMIC_RELEASE);
		}
	}
	return unused;
}

static void write_blocks(int file, uint64_t first, uint64_t last)
{
	struct iovec parts[max_written];

	while (first < last) {
		int count = 0;

		for (; count < max_written && first < last; first++)
			parts[count++] = (struct iovec){pool + first % pool_blocks * block_bytes, block_bytes};
		if (writev(file, parts, count) != count * block_bytes)
			fail("writev");
	}
}

static uint64_t copy_until_end(int file)
{
	uint64_t taken = 0, written = 0, written_at = begin;

	for (uint64_t at = begin + look_ns; at < end; at += look_ns) {
		wait_until(at);
		for (uint64_t now = __atomic_load_n(&closed, __ATOMIC_ACQUIRE); taken < now; taken++)
			memcpy(pool + (taken - written) % pool_blocks * block_bytes,
			       ring + taken % ring_blocks * block_bytes, block_bytes);
		if (taken - written < max_written && at - written_at < write_ns)
			continue;
		write_blocks(file, 0, taken - written); /* the pool's first blocks again, as its free list gives them */
		written = taken;
		written_at = at;
	}
	return taken;
}

int main(int count, char **argument)
{
	if (count != 5)
		return fprintf(stderr, "block_copy: see the head of block_copy.c\n"), 2;
	cpu = atol(argument[1]);
	begin = now_ns(CLOCK_MONOTONIC);
	end = begin + (uint64_t)(atof(argument[2]) * 1e9);
	per_s = strtoull(argument[3], NULL, 10);
	ring = map(ring_blocks);
	pool = map(pool_blocks);

	int file = open(argument[4], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	pthread_t filling;

	if (file < 0 || pthread_create(&filling, NULL, fill, NULL) != 0)
		fail(argument[4]);

	uint64_t before = now_ns(CLOCK_THREAD_CPUTIME_ID), blocks = copy_until_end(file);

	printf("%llu %llu\n", (unsigned long long)(now_ns(CLOCK_THREAD_CPUTIME_ID) - before),
	       (unsigned long long)blocks);
	pthread_join(filling, NULL);
	return 0;
}
