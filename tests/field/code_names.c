// SPDX-License-Identifier: MIT
// Computes for 0.4 s in a function called NAME. In MODE: a program, which with an argument runs itself from memory (a
// memfd) or, with two, removes a library and computes in that; or code that it made, which it names in
// /tmp/perf-PID.map.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef NAME
#define NAME spin_somewhere
#endif
#ifdef MANGLED
void NAME(double s) __asm__(MANGLED);
#endif

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

__attribute__((noinline)) void NAME(double s)
{
	for (double end = cpu() + s; cpu() < end;)
		for (volatile int i = 0; i < 50000; i++)
			;
}

#ifndef LIBRARY
static int run_from_memory(void)
{
	const int in = open("/proc/self/exe", O_RDONLY), out = memfd_create("in memory", MFD_CLOEXEC);
	char *argv[] = {"from_memory", NULL}, *environment[] = {NULL};
	struct stat status;

	fstat(in, &status);
	sendfile(out, in, NULL, (size_t)status.st_size);
	return fexecve(out, argv, environment);
}

static int run_unlinked(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*function)(double) = NULL;

	if (library)
		*(void **)&function = dlsym(library, "spin_in_library");
	if (!function)
		return 1;
	unlink(path);
	function(0.4);
	return 0;
}

// 50,000 times: dec, jnz; then a return.
static int run_made(void)
{
	static const unsigned char code[] = {0xb9, 0x50, 0xc3, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
	unsigned char *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*function)(void);
	char path[64];
	FILE *map;

	memcpy(made, code, sizeof code);
	*(void **)&function = made;
	snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	fprintf(map, "%lx 40 made at run time\n", (unsigned long)made);
	fclose(map);
	for (double end = cpu() + 0.4; cpu() < end;)
		for (int i = 0; i < 100; i++)
			function();
	puts(path);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "memory"))
		return run_from_memory();
	if (argc > 2 && !strcmp(argv[1], "unlinked"))
		return run_unlinked(argv[2]);
	if (argc > 1 && !strcmp(argv[1], "made"))
		return run_made();
	NAME(0.4);
	return 0;
}
#endif
