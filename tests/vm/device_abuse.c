// SPDX-License-Identifier: MIT
/*
 * What /dev/monitor says to who does it wrong: the right errno, and nothing else. Run by tests/vm/module.sh as root.
 * Exit status 0: all as expected.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abuse.h"
#include "monitor/device.h"

static struct edc_device_create usual(void)
{
	struct edc_device_create wanted = {.blocks = {64, 2, 2, 2}};

	wanted.area_bytes = EDC_CPU_HEADER + 70 * EDC_BLOCK_SIZE;
	return wanted;
}

static void refuse_creations(int device)
{
	struct edc_device_create wanted = usual();

	wanted.area_bytes += EDC_BLOCK_SIZE;
	call(device, EDC_DEVICE_CREATE, &wanted, EINVAL, "an area that is not its blocks");
	wanted = usual();
	wanted.blocks[1] = 0;
	wanted.area_bytes -= 2 * EDC_BLOCK_SIZE;
	call(device, EDC_DEVICE_CREATE, &wanted, EINVAL, "a ring without blocks");
	wanted = usual();
	wanted.filtering = 2;
	call(device, EDC_DEVICE_CREATE, &wanted, EINVAL, "a filter that there is not");
	wanted = usual();
	wanted.overwriting = 2;
	call(device, EDC_DEVICE_CREATE, &wanted, EINVAL, "a reserved word");
	wanted = usual();
	wanted.counters[7] = EDC_COUNTERS_IN_SET + 1;
	call(device, EDC_DEVICE_CREATE, &wanted, EINVAL, "a set of more counters than there are");
	wanted = usual();
	wanted.throttle_count = 1024;
	call(device, EDC_DEVICE_CREATE, &wanted, EINVAL, "a count outside of its structure");
	wanted.throttle_count = 2;
	call(device, EDC_DEVICE_CREATE, &wanted, EINVAL, "a count between two words");
	memset(&wanted, 0xff, sizeof(wanted));
	call(device, EDC_DEVICE_CREATE, &wanted, EINVAL, "all ones");
	wanted = usual();
	wanted.blocks[0] = 0xffffffff;
	wanted.area_bytes = EDC_CPU_HEADER + (0xffffffffull + 6) * EDC_BLOCK_SIZE;
	call(device, EDC_DEVICE_CREATE, &wanted, ENOMEM, "more than there is");
	call(device, EDC_DEVICE_CREATE, NULL, EFAULT, "no argument");
	call(device, EDC_DEVICE_CREATE, (void *)-4096l, EFAULT, "the kernel's memory as argument");
}

static void refuse_mappings(int device)
{
	const size_t area = usual().area_bytes, page = EDC_BLOCK_SIZE;
	const int read_write = PROT_READ | PROT_WRITE;

	map(device, 0, page, read_write, MAP_SHARED, 0, "the reader's page");
	map(device, page, area - page, PROT_READ, MAP_SHARED, 0, "the rings");
	map(device, 3 * page, page, PROT_READ, MAP_SHARED, 0, "one page of the rings");
	map(device, page, area - page, read_write, MAP_SHARED, EACCES, "the rings, to write");
	map(device, page, page, read_write, MAP_SHARED, EACCES, "a page of the rings, to write");
	map(device, 0, 2 * page, PROT_READ, MAP_SHARED, EINVAL, "the reader's page and more");
	map(device, 0, area, read_write, MAP_SHARED, EINVAL, "a whole area");
	map(device, page, area, PROT_READ, MAP_SHARED, EINVAL, "more than an area");
	map(device, page, page, PROT_READ, MAP_PRIVATE, EINVAL, "a private copy");
	map(device, 100000 * area, page, PROT_READ, MAP_SHARED, EINVAL, "a CPU that there is not");
	map(device, (size_t)1 << 62, page, PROT_READ, MAP_SHARED, EINVAL, "far after all");

	unsigned char *rings = mmap(NULL, page, PROT_READ, MAP_SHARED, device, (off_t)page);
	errno = 0;
	expect(mprotect(rings, page, read_write) == -1 && errno == EACCES, "the rings, made writable later");
	munmap(rings, page);
}

/* Everything that the reader may write, at random, while probes post. */
static void scribble(int device)
{
	struct edc_device_classes classes = {{~0ull, ~0ull}};
	unsigned *page = mmap(NULL, EDC_BLOCK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);

	const struct edc_device_stop nowhere = {1u << 20, 1}, all = {EDC_CPU_UNKNOWN, 1}, none = {EDC_CPU_UNKNOWN, 0};
	cpu_set_t cpu0;

	CPU_ZERO(&cpu0);
	CPU_SET(0, &cpu0);
	expect(sched_setaffinity(0, sizeof(cpu0), &cpu0) == 0, "to run on CPU 0");
	call(device, EDC_DEVICE_ATTACH, &classes, 0, "all classes");
	for (int i = 0; i < 300000; i++) {
		page[rand() % (EDC_BLOCK_SIZE / 4)] = (unsigned)rand() * 2654435761u;
		if (i % 1000 == 0)
			getppid();
	}
	call(device, EDC_DEVICE_STOP, (void *)&nowhere, EINVAL, "to stop a CPU that there is not");
	call(device, EDC_DEVICE_STOP, (void *)&all, 0, "to stop all");
	call(device, EDC_DEVICE_STOP, (void *)&none, 0, "to go on");
	call(device, EDC_DEVICE_RESET, NULL, EBUSY, "to forget while probes post");
	munmap(page, EDC_BLOCK_SIZE);
	call(device, EDC_DEVICE_DETACH, NULL, 0, "detach");
	call(device, EDC_DEVICE_RESET, NULL, 0, "to forget");
}

/* Tokens of samples that CPU 0 posted. */
static __u64 samples_seen(int device)
{
	const size_t first = EDC_BLOCK_SIZE;
	char *area = mmap(NULL, EDC_CPU_HEADER - first, PROT_READ, MAP_SHARED, device, (off_t)first);
	const struct edc_cpu *cpu = (const struct edc_cpu *)(area - first);
	__u64 seen = 0;

	for (int level = 0; level < EDC_CARD_LEVELS; level++)
		seen += cpu->level[level].seen[EDC_ID_SAMPLE - EDC_ID_KERNEL_FIRST];
	munmap(area, EDC_CPU_HEADER - first);
	return seen;
}

static void without_permission(void)
{
	const pid_t child = fork();

	if (child == 0) {
		int device = open(EDC_DEVICE, O_RDWR);
		struct edc_device_create wanted = usual();

		if (setgid(1) || setuid(1))
			_exit(2);
		if (open(EDC_DEVICE, O_RDWR) != -1 || errno != EACCES)
			_exit(3);
		_exit(ioctl(device, EDC_DEVICE_CREATE, &wanted) == -1 && errno == EPERM ? 0 : 4);
	}
	int status = -1;

	waitpid(child, &status, 0);
	expect(status == 0, "without a permission");
}

int main(void)
{
	struct edc_device_info info;
	struct edc_device_create wanted = usual();
	struct edc_device_faults faults;
	struct edc_device_classes samples = {};
	__u64 every = 0;
	int device = open(EDC_DEVICE, O_RDWR), other = open(EDC_DEVICE, O_RDWR);

	srand(4711);
	expect(device != -1 && other != -1, "to open");
	call(device, EDC_DEVICE_INFO, &info, 0, "info");
	call(device, EDC_DEVICE_INFO, NULL, EFAULT, "info to nowhere");
	map(device, 0, EDC_BLOCK_SIZE, PROT_READ, MAP_SHARED, EBADFD, "without a card");
	call(device, EDC_DEVICE_RESET, NULL, EBADFD, "to forget without a card");
	call(device, EDC_DEVICE_FAULTS, &faults, EBADFD, "faults without a card");
	without_permission();
	refuse_creations(device);
	call(device, EDC_DEVICE_CREATE, &wanted, 0, "a card");
	call(device, EDC_DEVICE_CREATE, &wanted, EBUSY, "a second card of one recorder");
	call(other, EDC_DEVICE_CREATE, &wanted, EBUSY, "a second recorder's card");
	call(other, EDC_DEVICE_DETACH, NULL, EBADFD, "another's card");
	call(other, EDC_DEVICE_SAMPLE, &every, EBADFD, "another's samples");
	call(other, EDC_DEVICE_TRACE, &every, EBADFD, "another's threads");
	map(other, 0, EDC_BLOCK_SIZE, PROT_READ, MAP_SHARED, EBADFD, "another's rings");
	for (unsigned number = 0; number < 256; number++)
		if (number < 0x40 || number > 0x4a)
			call(device, _IOC(_IOC_READ | _IOC_WRITE, 'E', number, 16), &info, ENOTTY,
			     "a command that there is not");
	call(device, 0, NULL, ENOTTY, "command 0");
	call(device, ~0u, NULL, ENOTTY, "all ones");
	refuse_mappings(device);
	scribble(device);
	call(device, EDC_DEVICE_FAULTS, &faults, 0, "faults");
	call(device, EDC_DEVICE_DETACH, NULL, 0, "all probes away");
	call(device, EDC_DEVICE_SAMPLE, &every, ENODATA, "a sample that nobody takes");
	edc_device_classes_add(&samples, EDC_ID_SAMPLE);
	call(device, EDC_DEVICE_ATTACH, &samples, 0, "samples");
	call(device, EDC_DEVICE_SAMPLE, NULL, EFAULT, "a sample from nowhere");
	for (every = 1; every < EDC_SAMPLE_MIN_NS; every *= 7)
		call(device, EDC_DEVICE_SAMPLE, &every, EINVAL, "samples too often");
	every = ~0ull;
	call(device, EDC_DEVICE_SAMPLE, &every, EINVAL, "samples in a thousand years");
	const __u64 before = samples_seen(device);

	every = 0;
	call(device, EDC_DEVICE_SAMPLE, &every, 0, "one sample");
	usleep(100000);
	expect(samples_seen(device) == before + 1, "one token of one sample on CPU 0");
	every = EDC_SAMPLE_MIN_NS;
	call(device, EDC_DEVICE_SAMPLE, &every, 0, "samples");
	call(device, EDC_DEVICE_SAMPLE, &every, EBUSY, "samples twice");
	for (int i = 0; i < 100; i++) {
		__u64 once = 0;

		if (ioctl(device, EDC_DEVICE_SAMPLE, &once) == -1)
			expect(errno == EBUSY, "a sample between samples");
		usleep(1000);
	}
	expect(samples_seen(device) > before + 10, "many samples");
	call(device, EDC_DEVICE_RESET, NULL, EBUSY, "to forget while samples are taken");
	for (__u32 fault = EDC_ID_MINOR_FAULT; fault <= EDC_ID_MAJOR_FAULT; fault++) {
		struct edc_device_classes one = {};

		edc_device_classes_add(&one, fault);
		call(device, EDC_DEVICE_ATTACH, &one, 0, "one kind of faults");
		expect(edc_device_classes_has(&one, fault) && edc_device_classes_has(&one, EDC_ID_MINOR_FAULT),
		       "faults besides those that are there");
	}
	close(device);
	call(other, EDC_DEVICE_CREATE, &wanted, 0, "the card after its recorder went");
	close(other);
	printf("device_abuse: %d wrong\n", failures);
	return failures != 0;
}
