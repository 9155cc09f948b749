// SPDX-License-Identifier: MIT
#define EDC_PROVIDER monitor
#include "post.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "monitor/edc.h"
#include "monitor/function_table.h"

// reading/activities/tracker.cpp and recording/session/metadata.cpp depend on these names and fields.
EDC_EVENT_FIELDS(function_entry, (arg, u16, function), (x64, stack_pointer));
EDC_EVENT_FIELDS(function_exit, (arg, u16, function), (x64, stack_pointer));
EDC_EVENT_FIELDS(functions_patched, (arg, u16, function), (u64, functions), (u64, refused_sleds));

#define HIDDEN __attribute__((visibility("hidden")))

// Number of vfork() children that run in this thread's memory.
HIDDEN __thread uint32_t monitor_vforks;

// At the first event of a forked child: waits for its rings, about as long as at a program's start, else events until
// the recorder's answer would be lost. Signals are blocked: a handler that exits or longjmps would leave the card
// locked.
__attribute__((noinline)) static void wait_for_rings(struct edc_card *card)
{
	const uint64_t all = ~0ull;
	uint64_t before = 0;

	edc_syscall_(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t)&all, (uint64_t)&before, sizeof all, 0, 0);
	if (!__atomic_exchange_n(&card->lock, 1, __ATOMIC_ACQUIRE)) {
		if (card->word == EDC_UNKNOWN_)
			edc_connect_(card, EDC_HELLO_AREA, 1);
		__atomic_store_n(&card->lock, 0, __ATOMIC_RELEASE);
	}
	edc_syscall_(SYS_rt_sigprocmask, SIG_SETMASK, (uint64_t)&before, 0, sizeof all, 0, 0);
}

// Whether record --budget has stopped this function.
static inline int is_left_out(const struct edc_card *card, uint32_t function)
{
	const struct edc_user_area *area = card->area;

	return area && function / 64 < EDC_FUNCTION_WORDS &&
	       __atomic_load_n(&area->functions_left_out[function / 64], __ATOMIC_RELAXED) >> function % 64 & 1;
}

static inline void post(struct edc_class *cls, uint32_t function, const uint64_t *stack_pointer)
{
	struct edc_card *card = &edc_card_page_.card;

	if (monitor_vforks)
		return;
	if (__builtin_expect(__atomic_load_n(&card->word, __ATOMIC_ACQUIRE) == EDC_UNKNOWN_, 0))
		wait_for_rings(card);
	if (is_left_out(card, function))
		return;
	edc_post_(cls, function, 1, stack_pointer);
}

void monitor_post_entry(uint32_t function, uint64_t stack_pointer)
{
	post(&edc_class_function_entry, function, &stack_pointer);
}

void monitor_post_exit(uint32_t function, uint64_t stack_pointer)
{
	post(&edc_class_function_exit, function, &stack_pointer);
}

void monitor_post_patched(uint32_t first, uint64_t functions, uint64_t refused_sleds)
{
	const uint64_t words[] = {functions, refused_sleds};

	edc_post_(&edc_class_functions_patched, first, 2, words);
}

HIDDEN long monitor_vfork_failed(int error)
{
	errno = -error;
	return -1;
}

// Replacements for libc functions in edc.h, which may use vector registers: see trampolines.c.

static char socket_name[108], table_path[4096]; // copies, because programs write over their environment
static const struct {
	const char *name;
	char *value;
	size_t bytes;
} saved[] = {{EDC_ENVIRONMENT, socket_name, sizeof socket_name},
	     {EDC_FUNCTION_TABLE_ENVIRONMENT, table_path, sizeof table_path}};

static const char *value_of(const char *variable, const char *name)
{
	while (*name && *variable == *name)
		variable++, name++;
	return !*name && *variable == '=' ? variable + 1 : NULL;
}

static int is_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

extern const char *gnu_get_libc_version(void) __attribute__((weak));

// Before edc.h's constructor, which needs it. Only glibc passes the environment to constructors; with other C libraries
// nothing is patched.
__attribute__((constructor(101))) static void take_environment(int argc, char **argv, char **environment)
{
	(void)argc, (void)argv;
	if (!gnu_get_libc_version)
		return;
	for (; *environment; environment++) {
		for (unsigned i = 0; i < sizeof saved / sizeof *saved; i++) {
			const char *value = value_of(*environment, saved[i].name);

			for (size_t at = 0; value && at < saved[i].bytes - 1; at++) {
				saved[i].value[at] = value[at];
				if (!value[at])
					break;
			}
		}
	}
}

HIDDEN char *getenv(const char *name)
{
	for (unsigned i = 0; i < sizeof saved / sizeof *saved; i++)
		if (is_same(saved[i].name, name))
			return *saved[i].value ? saved[i].value : NULL;
	return NULL;
}

// Of AT_SECURE: such programs load no library by a path in LD_PRELOAD (ld.so(8)).
HIDDEN unsigned long getauxval(unsigned long type)
{
	(void)type;
	return 0;
}

HIDDEN void *memcpy(void *to, const void *from, size_t size)
{
	char *put = to;

	for (const char *get = from; size--;)
		*put++ = *get++;
	return to;
}

HIDDEN void *memset(void *to, int value, size_t size)
{
	for (char *put = to; size--;)
		*put++ = (char)value;
	return to;
}
