// SPDX-License-Identifier: MIT
// Patches the functions that the recorder chose (record --functions) when a program starts, before anything else of it
// runs: each sled becomes a call of a stub near it, which pushes the function's number and goes on in trampolines.c.
// The table is the recorder's (monitor/function_table.h); what does not look as it says is left alone and counted.
//
// Without a table, or one that cannot be read, nothing is patched. While the code of a module can be written, it cannot
// be executed, so nothing but this file runs then: no other thread exists, and no libc function is called.
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/edc_card.h"
#include "monitor/function_table.h"
#include "post.h"

void monitor_called_at_entry(void);
void monitor_called_at_exit(void);
void monitor_jumped_to_at_exit(void);

#define PAGE 4096ul
#define STUB_BYTES 16u
#define REACH (1ul << 31) // of a jump
#define STEP (1ul << 20)

enum way { CALL_AT_ENTRY, CALL_AT_EXIT, JUMP_AT_EXIT, WAYS };

struct text {
	uintptr_t begin, end; // of the executable segment that has the sleds, in whole pages
	int protection;
};

struct stubs {
	unsigned char *begin, *next;
	size_t bytes;
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

static unsigned bytes_of(unsigned kind)
{
	return kind == EDC_SLED_NOP_ENTRY || kind == EDC_SLED_NOP_RETURN ? 5 : 11;
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

static void put(unsigned char *to, const void *from, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = ((const unsigned char *)from)[i];
}

static void put_distance(unsigned char *to, const unsigned char *target)
{
	int32_t distance = (int32_t)(target - (to + 4));

	put(to, &distance, 4);
}

// At the begin of the stubs: a jump to each trampoline, wherever this library is.
static void put_far_jumps(struct stubs *stubs)
{
	void (*const trampolines[WAYS])(void) = {monitor_called_at_entry, monitor_called_at_exit,
						 monitor_jumped_to_at_exit};

	for (unsigned way = 0; way < WAYS; way++) {
		put(stubs->next, "\xff\x25\0\0\0\0", 6); // jmp *0(%rip)
		put(stubs->next + 6, &trampolines[way], 8);
		stubs->next += STUB_BYTES;
	}
}

static unsigned char *put_stub(struct stubs *stubs, uint32_t function, enum way way)
{
	unsigned char *stub = stubs->next;

	stub[0] = 0x68; // push $function
	put(stub + 1, &function, 4);
	stub[5] = 0xe9; // jmp
	put_distance(stub + 6, stubs->begin + way * STUB_BYTES);
	stubs->next += STUB_BYTES;
	return stub;
}

static void patch_sled(unsigned char *code, unsigned kind, const unsigned char *stub)
{
	code[0] = kind == EDC_SLED_XRAY_RETURN ? 0xe9 : 0xe8; // jmp, call
	put_distance(code + 1, stub);
	if (kind == EDC_SLED_XRAY_ENTRY || kind == EDC_SLED_XRAY_TAIL)
		put(code + 5, "\xeb\x04", 2); // jmp over the rest
}

// Memory that jumps from all of the text reach. NULL: none is free.
static unsigned char *near_memory(const struct text *text, size_t bytes)
{
	for (uintptr_t distance = STEP; distance < REACH - STEP - bytes; distance += STEP) {
		const uintptr_t places[] = {text->begin - bytes - distance, text->end + distance};

		for (unsigned i = 0; i < 2; i++) {
			const uintptr_t far = i ? places[i] + bytes - text->begin : text->end - places[i];
			void *memory;

			if (far >= REACH || (i == 0 && text->begin < bytes + distance + STEP))
				continue;
			memory = mmap((void *)(places[i] & ~(PAGE - 1)), bytes, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			if (memory == (void *)(places[i] & ~(PAGE - 1)))
				return memory;
			if (memory != MAP_FAILED)
				munmap(memory, bytes); // a kernel before 4.17
		}
	}
	return NULL;
}

static bool protect(const void *begin, size_t bytes, int protection)
{
	return EDC_CALL_3_(SYS_mprotect, begin, bytes, protection) == 0;
}

// One call for each run of functions of which a sled was patched.
static void post_patched(const struct edc_function_sled *sleds, uint32_t count, const unsigned char *patched)
{
	for (uint32_t i = 0; i < count;) {
		const uint32_t first = sleds[i].function;
		uint32_t last = first, refused = 0, done = 0;

		for (; i < count && sleds[i].function <= last + 1u; i++) {
			last = sleds[i].function;
			done += patched[i];
			refused += !patched[i];
		}
		monitor_post_patched(first, done ? last - first + 1 : 0, refused);
	}
}

static void patch_all(const struct edc_function_sled *sleds, uint32_t count, uintptr_t base, const struct text *text,
		      struct stubs *stubs, unsigned char *patched)
{
	unsigned char *stub[WAYS] = {NULL};

	for (uint32_t i = 0; i < count; i++) {
		unsigned char *code = (unsigned char *)(base + sleds[i].address);
		const unsigned kind = sleds[i].kind;
		const enum way way = way_of(kind);

		if (i > 0 && sleds[i].function != sleds[i - 1].function)
			stub[CALL_AT_ENTRY] = stub[CALL_AT_EXIT] = stub[JUMP_AT_EXIT] = NULL;
		if (kind > EDC_SLED_NOP_RETURN || (uintptr_t)code < text->begin ||
		    (uintptr_t)code + bytes_of(kind) > text->end || !is_untouched(code, kind))
			continue;
		if (!stub[way])
			stub[way] = put_stub(stubs, sleds[i].function, way);
		patch_sled(code, kind, stub[way]);
		patched[i] = 1;
	}
}

static void patch_module(const struct edc_function_sled *sleds, uint32_t count, uintptr_t base, const struct text *text)
{
	const size_t text_bytes = text->end - text->begin;
	const size_t bytes = ((count + WAYS) * STUB_BYTES + PAGE - 1) & ~(PAGE - 1);
	unsigned char *memory = near_memory(text, bytes);
	unsigned char *patched = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stubs stubs = {memory, memory, bytes};

	if (patched == MAP_FAILED)
		return;
	if (memory && protect((void *)text->begin, text_bytes, PROT_READ | PROT_WRITE)) {
		put_far_jumps(&stubs);
		patch_all(sleds, count, base, text, &stubs, patched);
		if (!protect(memory, bytes, PROT_READ | PROT_EXEC) ||
		    !protect((void *)text->begin, text_bytes, text->protection))
			__builtin_trap(); // without its code the program cannot run
	}
	post_patched(sleds, count, patched);
	munmap(patched, count);
}

struct table {
	const struct edc_function_table *head;
	const struct edc_function_module *modules;
	const struct edc_function_sled *sleds;
};

static bool find_text(const struct dl_phdr_info *module, uint64_t address, struct text *text)
{
	for (unsigned i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &module->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || address < segment->p_vaddr ||
		    address - segment->p_vaddr >= segment->p_memsz)
			continue;
		text->begin = (module->dlpi_addr + segment->p_vaddr) & ~(PAGE - 1);
		text->end = (module->dlpi_addr + segment->p_vaddr + segment->p_memsz + PAGE - 1) & ~(PAGE - 1);
		text->protection =
		    PROT_EXEC | (segment->p_flags & PF_R ? PROT_READ : 0) | (segment->p_flags & PF_W ? PROT_WRITE : 0);
		return true;
	}
	return false;
}

static int visit(struct dl_phdr_info *module, size_t size, void *context)
{
	const struct table *table = context;
	const char *path = module->dlpi_name && *module->dlpi_name ? module->dlpi_name : "/proc/self/exe";
	struct stat status;
	struct text text;

	(void)size;
	if (stat(path, &status) != 0)
		return 0; // the vdso
	for (uint32_t i = 0; i < table->head->modules; i++) {
		const struct edc_function_module *wanted = &table->modules[i];
		const struct edc_function_sled *sleds = table->sleds + wanted->first_sled;

		if (wanted->device == status.st_dev && wanted->inode == status.st_ino &&
		    wanted->size == (uint64_t)status.st_size &&
		    wanted->modified_ns ==
			(uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec &&
		    wanted->sleds && find_text(module, sleds->address, &text))
			patch_module(sleds, wanted->sleds, module->dlpi_addr, &text);
	}
	return 0;
}

static bool is_whole(const struct table *table, size_t bytes)
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

// After the constructor of edc.h, which found the recorder: the linker keeps the order of the files.
__attribute__((constructor)) static void patch(void)
{
	const char *path = getenv(EDC_FUNCTION_TABLE_ENVIRONMENT);
	struct table table;
	struct stat status;
	void *bytes;
	int fd;

	fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && status.st_size > 0 &&
	    (bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) != MAP_FAILED) {
		table.head = bytes;
		table.modules = (const void *)(table.head + 1);
		table.sleds = (const void *)(table.modules + table.head->modules);
		if (is_whole(&table, (size_t)status.st_size))
			dl_iterate_phdr(visit, &table);
		munmap(bytes, (size_t)status.st_size);
	}
	close(fd);
}
