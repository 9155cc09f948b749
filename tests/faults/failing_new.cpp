// SPDX-License-Identifier: MIT
// Preloaded, it makes one allocation of C++ fail: the first one that a given place in the program asks for. Used by
// tests/faults/run.
//
// FAILING_NEW_SITES=FILE: writes the places that allocate, one a line, as offsets in the program's file.
// FAILING_NEW_AT=OFFSET: the first allocation there throws std::bad_alloc, once in the process.
// FAILING_NEW_LIVE=FILE: writes how many allocations were not given back when the process ends.
//
// The files are opened at the start: a recorder gives up the right to open others.
//
// A place is where operator new returns to, in the program itself: templates and what is inlined are each their own.
// What static objects allocate before main() is left out: nobody could catch it, and libraries have such objects.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

namespace {

constexpr std::size_t max_sites = 1 << 16;
std::atomic<std::uint64_t> sites[max_sites];
std::atomic<long> live{0};
std::atomic<bool> started{false}, failed{false};
std::uintptr_t program_begin, program_end;
std::uint64_t fail_at;
pid_t process;
std::FILE *live_file, *sites_file;

int find_program(dl_phdr_info *info, std::size_t, void *)
{
	program_begin = info->dlpi_addr; // the first one is the program
	for (int i = 0; i < info->dlpi_phnum; ++i)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			program_end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	return 1;
}

// Not for the command of a recording, which inherits the environment.
std::FILE *open_named(const char *variable)
{
	const char *path = std::getenv(variable);
	std::FILE *file = path ? std::fopen(path, "we") : nullptr;
	unsetenv(variable);
	return file;
}

__attribute__((constructor)) void begin()
{
	dl_iterate_phdr(find_program, nullptr);
	if (const char *at = std::getenv("FAILING_NEW_AT"))
		fail_at = std::strtoull(at, nullptr, 16);
	live_file = open_named("FAILING_NEW_LIVE");
	sites_file = open_named("FAILING_NEW_SITES");
	process = getpid();
}

__attribute__((destructor)) void end()
{
	if (getpid() != process)
		return; // a child that did not execute anything
	if (live_file) {
		std::fprintf(live_file, "%ld %d\n", live.load(), failed ? 1 : 0);
		std::fclose(live_file);
	}
	if (sites_file) {
		for (const auto &site : sites)
			if (site)
				std::fprintf(sites_file, "%llx\n", static_cast<unsigned long long>(site.load()));
		std::fclose(sites_file);
	}
}

void remember(std::uint64_t site)
{
	for (std::size_t i = 0; i < max_sites; ++i) {
		std::atomic<std::uint64_t> &slot = sites[(site * 0x9E3779B97F4A7C15u + i) % max_sites];
		std::uint64_t empty = 0;
		if (slot.compare_exchange_strong(empty, site) || empty == site)
			return;
	}
}

bool is_to_fail(void *from)
{
	const auto address = reinterpret_cast<std::uintptr_t>(from);
	if (!started || address < program_begin || address >= program_end)
		return false;
	remember(address - program_begin);
	return address - program_begin == fail_at && !failed.exchange(true);
}

void *allocate(std::size_t size, std::size_t alignment, void *from)
{
	if (is_to_fail(from))
		return nullptr;
	void *memory = alignment ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
				 : std::malloc(size ? size : 1);
	live += memory != nullptr;
	return memory;
}

void *or_throw(void *memory)
{
	if (!memory)
		throw std::bad_alloc();
	return memory;
}

void give_back(void *memory)
{
	live -= memory != nullptr;
	std::free(memory);
}

using Main = int (*)(int, char **, char **);
Main program_main;

int start(int count, char **arguments, char **environment)
{
	started = true;
	return program_main(count, arguments, environment);
}

} // namespace

extern "C" int __libc_start_main(Main main, int count, char **arguments, void (*init)(), void (*fini)(),
				 void (*rtld_fini)(), void *stack_end)
{
	program_main = main;
	const auto real = reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
	return real(start, count, arguments, init, fini, rtld_fini, stack_end);
}

#define FROM __builtin_return_address(0)
void *operator new(std::size_t size)
{
	return or_throw(allocate(size, 0, FROM));
}
void *operator new[](std::size_t size)
{
	return or_throw(allocate(size, 0, FROM));
}
void *operator new(std::size_t size, std::align_val_t to)
{
	return or_throw(allocate(size, std::size_t(to), FROM));
}
void *operator new[](std::size_t size, std::align_val_t to)
{
	return or_throw(allocate(size, std::size_t(to), FROM));
}
void *operator new(std::size_t size, const std::nothrow_t &) noexcept
{
	return allocate(size, 0, FROM);
}
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept
{
	return allocate(size, 0, FROM);
}
void operator delete(void *memory) noexcept
{
	give_back(memory);
}
void operator delete[](void *memory) noexcept
{
	give_back(memory);
}
void operator delete(void *memory, std::size_t) noexcept
{
	give_back(memory);
}
void operator delete[](void *memory, std::size_t) noexcept
{
	give_back(memory);
}
void operator delete(void *memory, std::align_val_t) noexcept
{
	give_back(memory);
}
void operator delete[](void *memory, std::align_val_t) noexcept
{
	give_back(memory);
}
void operator delete(void *memory, std::size_t, std::align_val_t) noexcept
{
	give_back(memory);
}
void operator delete[](void *memory, std::size_t, std::align_val_t) noexcept
{
	give_back(memory);
}
void operator delete(void *memory, const std::nothrow_t &) noexcept
{
	give_back(memory);
}
void operator delete[](void *memory, const std::nothrow_t &) noexcept
{
	give_back(memory);
}
