// SPDX-License-Identifier: MIT
// A program that makes functions while it runs, and says so: argv[1] `map` in /tmp/perf-PID.map, or `dump` in
// jit-PID.dump in its directory. The first one, jit_first, runs for half of the CPU time, then jit_second takes its
// place; in a map, where this cannot be told, its own.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

// push rbp; mov rbp, rsp; 1: dec rdi; jnz 1b; pop rbp; ret
constexpr unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};

std::uint64_t now_ns(clockid_t clock = CLOCK_MONOTONIC)
{
	timespec now;
	clock_gettime(clock, &now);
	return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

FILE *open_dump()
{
	struct {
		std::uint32_t magic = 0x4A695444, version = 1, size = 40, machine = 62, pad = 0, pid;
		std::uint64_t time = now_ns(), flags = 0;
	} head;
	head.pid = static_cast<std::uint32_t>(getpid());
	const std::string path = "jit-" + std::to_string(getpid()) + ".dump";
	FILE *file = std::fopen(path.c_str(), "w+");
	if (!file || std::fwrite(&head, sizeof head, 1, file) != 1 || std::fflush(file) != 0 ||
	    mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) == MAP_FAILED)
		return nullptr;
	return file;
}

void write_symbol(FILE *file, bool in_dump, const char *name, void *where, std::uint64_t index)
{
	if (!in_dump) {
		std::fprintf(file, "%lx %zx %s\n", reinterpret_cast<unsigned long>(where), sizeof code, name);
	} else {
		struct {
			std::uint32_t id = 0, size;
			std::uint64_t time = now_ns();
			std::uint32_t pid, tid;
			std::uint64_t vma, address, code_size = sizeof code, index;
		} load;
		load.size = static_cast<std::uint32_t>(sizeof load + std::strlen(name) + 1 + sizeof code);
		load.pid = load.tid = static_cast<std::uint32_t>(getpid());
		load.vma = load.address = reinterpret_cast<std::uint64_t>(where);
		load.index = index;
		std::fwrite(&load, sizeof load, 1, file);
		std::fwrite(name, std::strlen(name) + 1, 1, file);
		std::fwrite(code, sizeof code, 1, file);
	}
	std::fflush(file);
}

[[gnu::noinline]] void call_for_a_while(void *where)
{
	const std::uint64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + 400'000'000;
	while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < end) {
		reinterpret_cast<void (*)(unsigned long)>(where)(100'000);
		asm volatile("");
	}
}

} // namespace

int main(int argc, char **argv)
{
	const bool in_dump = argc > 1 && std::strcmp(argv[1], "dump") == 0;
	const std::string map = "/tmp/perf-" + std::to_string(getpid()) + ".map";
	FILE *file = in_dump ? open_dump() : std::fopen(map.c_str(), "w");
	void *memory = mmap(nullptr, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!file || memory == MAP_FAILED)
		return 1;
	auto *second = static_cast<unsigned char *>(memory) + (in_dump ? 0 : 4096);
	std::memcpy(memory, code, sizeof code);
	write_symbol(file, in_dump, "jit_first", memory, 1);
	call_for_a_while(memory);
	std::memcpy(second, code, sizeof code);
	write_symbol(file, in_dump, "jit_second(int, <T>)", second, 2);
	call_for_a_while(second);
	std::printf("%d\n", getpid());
	return 0;
}
