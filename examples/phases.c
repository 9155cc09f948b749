/* SPDX-License-Identifier: MIT */
/*
 * A C program with phases, marked with events of its own: reads numbers from a file, sorts them, writes them.
 * Documentation/tutorial-user-card.md shows its phases in a trace.
 *
 *   phases INPUT OUTPUT    one number a line
 */
#include <stdio.h>
#include <stdlib.h>

#define EDC_PROVIDER phases
#include <monitor/edc.h>

enum { reading, sorting, writing };

EDC_EVENT(input, "str48 file");
EDC_EVENT(phase, "arg: token name {reading = 0, sorting = 1, writing = 2}; u64 numbers");
EDC_ACTIVITY(sort, "");

static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return x < y ? -1 : x > y;
}

int main(int count, char **arguments)
{
	FILE *in = count > 2 ? fopen(arguments[1], "r") : NULL, *out = in ? fopen(arguments[2], "w") : NULL;
	size_t numbers = 0, room = 1024;
	long *values = malloc(room * sizeof *values);

	if (!out || !values)
		return fputs("usage: phases INPUT OUTPUT\n", stderr), 1;
	edc_data(input, 0, EDC_TEXT48(arguments[1]));
	edc_data(phase, reading, 0);
	while (fscanf(in, "%ld", &values[numbers]) == 1) {
		if (++numbers == room) {
			values = realloc(values, (room *= 2) * sizeof *values);
			if (!values)
				return 1;
		}
	}
	edc_data(phase, sorting, numbers);
	edc_begin(sort, 0);
	qsort(values, numbers, sizeof *values, compare);
	edc_end(sort, 0);
	edc_data(phase, writing, numbers);
	for (size_t i = 0; i < numbers; i++)
		fprintf(out, "%ld\n", values[i]);
	fclose(in);
	fclose(out);
	free(values);
	return 0;
}
