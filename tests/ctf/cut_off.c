// SPDX-License-Identifier: MIT
// Preloaded by cut_off.py: cuts a file short after the program has mapped it.
//
// CUT_FILE is the file, CUT_TO the bytes that stay, CUT_WHEN `mapped` (at once) or `read` (when the program first asks
// the kernel to read ahead: the file was looked at, its events are read now). Nothing depends on time.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int is_mapped, is_cut;

static void cut(const char *when)
{
	const char *file = getenv("CUT_FILE"), *wanted = getenv("CUT_WHEN"), *size = getenv("CUT_TO");
	if (is_cut || !is_mapped || !file || !wanted || !size || strcmp(wanted, when) != 0)
		return;
	is_cut = 1;
	if (truncate(file, atol(size)) != 0)
		abort();
}

void *mmap(void *address, size_t size, int access, int flags, int fd, off_t offset)
{
	void *(*real)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap");
	void *const made = real(address, size, access, flags, fd, offset);
	char link[64] = "/proc/self/fd/", path[4096];
	const char *file = getenv("CUT_FILE");
	if (fd < 0 || fd > 9999 || !file)
		return made;
	for (int digit = 1000, at = (int)strlen(link); digit > 0; digit /= 10)
		if (fd >= digit || digit == 1)
			link[at++] = (char)('0' + fd / digit % 10);
	const ssize_t length = readlink(link, path, sizeof path - 1);
	if (length > 0 && (size_t)length == strlen(file) && memcmp(path, file, (size_t)length) == 0) {
		is_mapped = 1;
		cut("mapped");
	}
	return made;
}

int madvise(void *address, size_t size, int advice)
{
	int (*real)(void *, size_t, int) = dlsym(RTLD_NEXT, "madvise");
	if (advice == MADV_WILLNEED || advice == MADV_SEQUENTIAL)
		cut("read");
	return real(address, size, advice);
}
