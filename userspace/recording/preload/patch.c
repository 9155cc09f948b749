// SPDX-License-Identifier: MIT
// Patches the functions chosen by record --functions before the program's own code runs: each sled becomes a call of a
// nearby stub, which pushes the function's number and jumps to trampolines.c. The recorder provides the table
// (monitor/function_table.h); sleds with unexpected code are skipped and counted.
//
// Nothing is patched without a readable table, or if code may not be written. Code stays executable throughout, and
// instructions that other libraries' threads may run change in a single store. System calls are direct, because a
// program may interpose libc functions, which must not run before its constructors.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "mappings.h"
#include "monitor/edc_card.h"
#include "monitor/function_table.h"
#include "post.h"

void monitor_called_at_entry(void);
void monitor_called_at_exit(void);
void monitor_jumped_to_at_exit(void);

#define STUB_BYTES 16u
#define REACH (1ul << 31) // of a relative jump
#define STEP (1ul << 20)
#define MAX_SLED_BYTES 11u

enum way { CALL_AT_ENTRY, CALL_AT_EXIT, JUMP_AT_EXIT, WAYS };

struct stubs {
	unsigned char *begin, *next;
};

static enum way way_of(unsigned kind)
{
	switch (kind) {
	case EDC_SLED_XRAY_RETURN:
		return JUMP_AT_EXIT;
	case EDC_SLED_XRAY_TAIL:
	case EDC_SLED_NOP_RETURN:
		return CALL_AT_EXIT;
	default:
		return CALL_AT_ENTRY;
	}
}

// Whether the sled is as the compiler left it.
static bool is_untouched(const unsigned char *code, unsigned kind)
{
	switch (kind) {
	case EDC_SLED_XRAY_ENTRY:
	case EDC_SLED_XRAY_TAIL:
		return code[0] == 0xeb && code[1] == 0x09; // jmp over the rest
	case EDC_SLED_XRAY_RETURN:
		return code[0] == 0xc3;
	default:
		return code[0] == 0x0f && code[1] == 0x1f && code[2] == 0x44 && code[3] == 0 && code[4] == 0;
	}
}

static void copy(unsigned char *to, const void *from, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = ((const unsigned char *)from)[i];
}

static void store_first_two(unsigned char *to, const unsigned char *from)
{
	uint16_t both;

	__builtin_memcpy(&both, from, 2);
	__atomic_store_n((uint16_t *)(void *)to, both, __ATOMIC_RELEASE);
}

static void write_distance(unsigned char *to, const unsigned char *target)
{
	int32_t distance = (int32_t)(target - (to + 4));

	copy(to, &distance, 4);
}

// Puts absolute jumps to the trampolines at the start of the stubs.
static void write_far_jumps(struct stubs *stubs)
{
	void (*const trampolines[WAYS])(void) = {monitor_called_at_entry, monitor_called_at_exit,
						 monitor_jumped_to_at_exit};

	for (unsigned way = 0; way < WAYS; way++) {
		copy(stubs->next, "\xff\x25\0\0\0\0", 6); // jmp *0(%rip)
		copy(stubs->next + 6, &trampolines[way], 8);
		stubs->next += STUB_BYTES;
	}
}

static unsigned char *write_stub(struct stubs *stubs, uint32_t function, enum way way)
{
	unsigned char *stub = stubs->next;

	stub[0] = 0x68; // push $function
	copy(stub + 1, &function, 4);
	stub[5] = 0xe9; // jmp
	write_distance(stub + 6, stubs->begin + way * STUB_BYTES);
	stubs->next += STUB_BYTES;
	return stub;
}

// First writes the bytes that no thread can execute: those that the sled's first instruction jumps over or returns
// before.
static void patch_sled(unsigned char *code, unsigned kind, const unsigned char *stub)
{
	unsigned char patched[8];
	const int32_t distance = (int32_t)(stub - (code + 5));
	uint64_t eight;

	patched[0] = kind == EDC_SLED_XRAY_RETURN ? 0xe9 : 0xe8; // jmp, call
	copy(patched + 1, &distance, 4);
	copy(patched + 5, "\xeb\x04", 2); // jmp over the rest
	patched[7] = code[7];
	if (kind == EDC_SLED_XRAY_RETURN) {
		copy(code + 1, patched + 1, 4);
		__atomic_store_n(code, patched[0], __ATOMIC_RELEASE);
	} else if (kind == EDC_SLED_XRAY_ENTRY || kind == EDC_SLED_XRAY_TAIL) {
		copy(code + 2, patched + 2, 5);
		store_first_two(code, patched);
	} else {
		copy(patched + 5, code + 5, 3);
		__builtin_memcpy(&eight, patched, 8);
		*(volatile uint64_t *)(void *)code = eight;
	}
}

// Whether writable and executable memory is permitted.
static bool may_execute(void)
{
	void *page = monitor_map(0, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (page)
		EDC_CALL_2_(SYS_munmap, page, PAGE);
	return page != NULL;
}

// Executable memory within reach of jumps from all of the text. NULL: none.
static unsigned char *near_memory(const struct monitor_text *text, size_t bytes)
{
	for (uintptr_t distance = STEP; distance < REACH - STEP - bytes; distance += STEP) {
		const uintptr_t addresses[] = {text->begin - bytes - distance, text->end + distance};

		for (unsigned i = 0; i < 2; i++) {
			const uintptr_t far = i ? addresses[i] + bytes - text->begin : text->end - addresses[i];
			unsigned char *memory;

			if (far >= REACH || (i == 0 && text->begin < bytes + distance + STEP))
				continue;
			memory = monitor_map(addresses[i] & ~(PAGE - 1), bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
					     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
			if ((uintptr_t)memory == (addresses[i] & ~(PAGE - 1)))
				return memory;
			if (memory) // a kernel before 4.17
				EDC_CALL_2_(SYS_munmap, memory, bytes);
			else if (distance == STEP && !may_execute())
				return NULL;
		}
	}
	return NULL;
}

static bool protect(const void *begin, size_t bytes, int protection)
{
	return EDC_CALL_3_(SYS_mprotect, begin, bytes, protection) == 0;
}

// Index after the last sled of the function of sleds[i].
static uint32_t end_of_function(const struct edc_function_sled *sleds, uint32_t count, uint32_t i)
{
	uint32_t end = i + 1;

	while (end < count && sleds[end].function == sleds[i].function)
		end++;
	return end;
}

// Posts one event for each range of functions, patched or not.
static void post_patched(const struct edc_function_sled *sleds, uint32_t count, const unsigned char *patched)
{
	for (uint32_t i = 0; i < count;) {
		const uint32_t first = i;
		uint32_t functions = 0;

		for (; i < count && patched[i] == patched[first] &&
		       sleds[i].function == sleds[first].function + functions;
		     functions++)
			i = end_of_function(sleds, count, i);
		monitor_post_patched(sleds[first].function, patched[first] ? functions : 0,
				     patched[first] ? 0 : i - first);
	}
}

static unsigned char *code_of(const struct edc_function_sled *sled, const struct monitor_text *text)
{
	return (unsigned char *)(text->begin + (sled->offset - text->offset));
}

static bool can_be_patched(const struct edc_function_sled *sled, const struct monitor_text *text)
{
	return sled->kind <= EDC_SLED_NOP_RETURN && sled->offset >= text->offset &&
	       sled->offset - text->offset <= text->end - text->begin - MAX_SLED_BYTES &&
	       is_untouched(code_of(sled, text), sled->kind);
}

// A function is patched at all of its sleds or at none: entries without exits would be wrong.
static void patch_all(const struct edc_function_sled *sleds, uint32_t count, const struct monitor_text *text,
		      struct stubs *stubs, unsigned char *patched)
{
	for (uint32_t begin = 0, end; begin < count; begin = end) {
		unsigned char *stub[WAYS] = {NULL};
		bool all = true;

		end = end_of_function(sleds, count, begin);
		for (uint32_t i = begin; i < end; i++)
			all = all && can_be_patched(&sleds[i], text);
		for (uint32_t i = begin; all && i < end; i++) {
			const enum way way = way_of(sleds[i].kind);

			if (!stub[way])
				stub[way] = write_stub(stubs, sleds[i].function, way);
			patch_sled(code_of(&sleds[i], text), sleds[i].kind, stub[way]);
			patched[i] = 1;
		}
	}
}

static void patch_text(const struct edc_function_sled *sleds, uint32_t count, const struct monitor_text *text,
		       unsigned char *patched)
{
	const size_t bytes = ((count + WAYS) * STUB_BYTES + PAGE - 1) & ~(PAGE - 1);
	unsigned char *memory = near_memory(text, bytes);
	struct stubs stubs = {memory, memory};

	if (!memory)
		return;
	if (protect((void *)text->begin, text->end - text->begin, PROT_READ | PROT_WRITE | PROT_EXEC)) {
		write_far_jumps(&stubs);
		patch_all(sleds, count, text, &stubs, patched);
		protect((void *)text->begin, text->end - text->begin, text->protection);
	}
	protect(memory, bytes, PROT_READ | PROT_EXEC);
}

struct table {
	const struct edc_function_table *head;
	const struct edc_function_module *modules;
	const struct edc_function_sled *sleds;
};

static const struct edc_function_module *module_of(const struct table *table, const char *path)
{
	struct stat status;

	if (EDC_CALL_2_(SYS_stat, path, &status) != 0)
		return NULL;
	for (uint32_t i = 0; i < table->head->modules; i++) {
		const struct edc_function_module *module = &table->modules[i];

		if (module->device == status.st_dev && module->inode == status.st_ino &&
		    module->size == (uint64_t)status.st_size &&
		    module->modified_ns ==
			(uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec)
			return module;
	}
	return NULL;
}

// `patched`: a byte for each sled of the table, then one for each module.
static void patch_mapping(const struct table *table, const char *line, unsigned char *patched)
{
	struct monitor_text text;
	const char *path = monitor_parse_mapping(line, &text);
	const struct edc_function_module *module = path ? module_of(table, path) : NULL;

	if (!module)
		return;
	patched[table->head->sleds + (module - table->modules)] = 1;
	patch_text(table->sleds + module->first_sled, module->sleds, &text, patched + module->first_sled);
}

static void patch_mappings(const struct table *table)
{
	const uint32_t sleds = table->head->sleds;
	const size_t flags = sleds + (size_t)table->head->modules; // for each sled: patched; for each module: mapped
	unsigned char *patched = monitor_map(0, flags, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	size_t bytes = 0;
	char *lines = patched ? monitor_read_mappings(&bytes) : NULL;

	for (size_t at = 0; at < bytes;) {
		patch_mapping(table, lines + at, patched);
		while (lines[at++])
			;
	}
	for (uint32_t i = 0; lines && i < table->head->modules; i++)
		if (patched[sleds + i])
			post_patched(table->sleds + table->modules[i].first_sled, table->modules[i].sleds,
				     patched + table->modules[i].first_sled);
	if (lines)
		monitor_release_mappings(lines);
	if (patched)
		EDC_CALL_2_(SYS_munmap, patched, flags);
}

static bool is_valid_table(const struct table *table, size_t bytes)
{
	const struct edc_function_table *head = table->head;

	if (bytes < sizeof *head || head->magic != EDC_FUNCTION_TABLE_MAGIC || head->modules > EDC_MAX_FUNCTIONS ||
	    (bytes - sizeof *head - head->modules * sizeof *table->modules) / sizeof *table->sleds != head->sleds)
		return false;
	for (uint32_t i = 0; i < head->modules; i++)
		if (table->modules[i].first_sled > head->sleds ||
		    table->modules[i].sleds > head->sleds - table->modules[i].first_sled)
			return false;
	return true;
}

// Runs after the constructor of edc.h, which finds the recorder: the linker keeps the order of files.
__attribute__((constructor)) static void patch(void)
{
	const char *path = getenv(EDC_FUNCTION_TABLE_ENVIRONMENT);
	struct table table;
	struct stat status;
	void *bytes;
	long fd = path ? EDC_CALL_3_(SYS_open, path, O_RDONLY | O_CLOEXEC, 0) : -1;

	if (fd < 0)
		return;
	if (EDC_CALL_2_(SYS_fstat, fd, &status) == 0 && status.st_size > 0 &&
	    (bytes = monitor_map(0, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd))) {
		table.head = bytes;
		table.modules = (const void *)(table.head + 1);
		table.sleds = (const void *)(table.modules + table.head->modules);
		if (is_valid_table(&table, (size_t)status.st_size))
			patch_mappings(&table);
		EDC_CALL_2_(SYS_munmap, bytes, status.st_size);
	}
	EDC_CALL_2_(SYS_close, fd, 0);
}
