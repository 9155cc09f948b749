/* SPDX-License-Identifier: MIT */
/*
 * Posts short texts for user_texts.py, as a library with a provider: some that fit, some that do not, some that are no
 * text, and each at the very end of readable memory. Prints what it posted.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EDC_PROVIDER mylib
#include <monitor/edc.h>

EDC_EVENT(open_file, "arg: u16 mode; str24 path; u64 bytes (B)");
EDC_EVENT_FIELDS(texts, (str8, first), (str48, second));
EDC_EVENT(tick, "arg: u16 low");
EDC_ACTIVITY(parse, "arg: u16 id");

static const char *const paths[] = {
    "",
    "a",
    "/etc/passwd",
    "1234567",
    "12345678",
    "123456789",
    "just-24-bytes-long-text.",
    "cut after its 24th byte, here",
    "caf\xc3\xa9",
    "\x1b[31m\n\"\\",
    "\xff\xfe no UTF-8",
};

enum { number = sizeof paths / sizeof paths[0] };

/* The text, at most 24 bytes of it, so that the byte after it cannot be read; with its NUL if that still fits. */
static const char *at_end(char *end, const char *text)
{
	size_t length = strlen(text), kept = length < 24 ? length + 1 : 24;

	return memcpy(end - kept, text, kept);
}

int main(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE) != 0)
		return 1;
	for (int i = 0; i < number; i++) {
		edc_begin(parse, i);
		edc_data(open_file, i, EDC_TEXT24(at_end(memory + page, paths[i])), 100 + i);
		edc_end(parse, i);
	}
	edc_data(texts, 1, EDC_TEXT8("left"), EDC_TEXT48("right"));
	edc_data(texts, 2, EDC_TEXT8(NULL), EDC_TEXT48("a text that fills the forty-eight bytes it may have"));
	edc(tick, 1);
	printf("posted=%d\n", 3 * number + 3);
	return 0;
}
