// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "mappings.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "monitor/edc_card.h"

#define MAX_MAPPINGS (4ul << 20) // bytes of /proc/self/maps

void *monitor_map(uintptr_t at, size_t bytes, int protection, int flags, long file)
{
	const long address =
	    edc_syscall_(SYS_mmap, at, bytes, (uint64_t)protection, (uint64_t)flags, (uint64_t)file, 0);

	return address > 0 ? (void *)address : NULL;
}

static uint64_t number_at(const char **at, unsigned base)
{
	uint64_t number = 0;

	for (;; (*at)++) {
		const char c = **at;
		const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
				       : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
							      : base;
		if (digit >= base)
			return number;
		number = number * base + digit;
	}
}

const char *monitor_parse_mapping(const char *at, struct monitor_text *text)
{
	text->begin = number_at(&at, 16);
	at++;
	text->end = number_at(&at, 16);
	if (*at != ' ' || at[3] != 'x')
		return NULL;
	text->protection = PROT_EXEC | (at[1] == 'r' ? PROT_READ : 0) | (at[2] == 'w' ? PROT_WRITE : 0);
	at += 6; // " r-xp "
	text->offset = number_at(&at, 16);
	while (*at && *at != '/')
		at++;
	return *at ? at : NULL;
}

char *monitor_read_mappings(size_t *bytes)
{
	const long file = EDC_CALL_3_(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	char *lines =
	    file >= 0 ? monitor_map(0, MAX_MAPPINGS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1) : NULL;
	long read = 1;

	*bytes = 0;
	while (lines && read > 0 && *bytes < MAX_MAPPINGS - PAGE) {
		read = EDC_CALL_3_(SYS_read, file, lines + *bytes, MAX_MAPPINGS - PAGE - *bytes);
		*bytes += read > 0 ? (size_t)read : 0;
	}
	for (size_t i = 0; i < *bytes; i++)
		if (lines[i] == '\n')
			lines[i] = 0;
	if (file >= 0)
		EDC_CALL_2_(SYS_close, file, 0);
	return lines;
}

void monitor_release_mappings(char *lines)
{
	EDC_CALL_2_(SYS_munmap, lines, MAX_MAPPINGS);
}
