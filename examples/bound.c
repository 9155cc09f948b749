/* SPDX-License-Identifier: MIT */
/*
 * The program of Documentation/tutorial-ratios.md: sums up a table of 16 MiB again and again.
 *
 *   bound fresh ROUNDS   a new table for each round, which is given back after it
 *   bound kept ROUNDS    the same table for all rounds
 */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { words = 2 << 20 };

static uint64_t *new_table(void)
{
	void *table = mmap(NULL, words * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (table == MAP_FAILED) {
		perror("bound: mmap");
		exit(1);
	}
	madvise(table, words * sizeof(uint64_t), MADV_NOHUGEPAGE);
	return table;
}

static uint64_t fill_and_sum(uint64_t *table)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < words; i++)
		table[i] = i * 2654435761u;
	for (uint64_t i = 0; i < words; i++)
		sum += table[i] >> 7;
	return sum;
}

int main(int count, char **argument)
{
	long rounds = count == 3 ? atol(argument[2]) : 0;
	int fresh = count == 3 && !strcmp(argument[1], "fresh");
	uint64_t sum = 0, *table = NULL;

	if (rounds <= 0 || (!fresh && strcmp(argument[1], "kept"))) {
		fprintf(stderr, "usage: bound fresh|kept ROUNDS\n");
		return 2;
	}
	for (long i = 0; i < rounds; i++) {
		if (!table || fresh)
			table = new_table();
		sum += fill_and_sum(table);
		if (fresh)
			munmap(table, words * sizeof(uint64_t));
	}
	printf("%ld rounds, sum %llu\n", rounds, (unsigned long long)sum);
	return 0;
}
