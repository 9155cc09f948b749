/* SPDX-License-Identifier: MIT */
/* Reads this process's mappings and allocates memory, with direct system calls instead of libc. */
#ifndef MONITOR_PRELOAD_MAPPINGS_H
#define MONITOR_PRELOAD_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

#define PAGE 4096ul

/* A mapping of a module's code. */
struct monitor_text {
	uintptr_t begin, end;
	uint64_t offset; /* of `begin` in the file */
	int protection;
};

/* The lines of /proc/self/maps, each ended by a NUL, as long as `bytes`. NULL: they cannot be read. */
char *monitor_read_mappings(size_t *bytes);
void monitor_release_mappings(char *lines);

/* Parses a line: proc_pid_maps(5). Returns its path, or NULL if it is not a file's code. */
const char *monitor_parse_mapping(const char *line, struct monitor_text *text);

/* As mmap(2). NULL: refused. */
void *monitor_map(uintptr_t at, size_t bytes, int protection, int flags, long file);

#endif
