// SPDX-License-Identifier: MIT
/*
 * What /dev/monitor says to programs that ask it for rings the wrong way, and what it bears of those that do as they
 * like with their rings. Run by tests/vm/user_device.sh.
 *
 *   user_device_abuse                refusals and limits, as root while nobody records
 *   user_device_abuse garbage MS     takes rings, and writes at random over all of their memory for so long
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abuse.h"
#include "monitor/device.h"

static __u16 ids[2000];

static int open_device(void)
{
	return open(EDC_DEVICE, O_RDWR | O_CLOEXEC);
}

/* The text "NAME\0FIELDS\0" without fields. */
static struct edc_device_hello hello_of(const char *texts, __u32 bytes, __u32 classes)
{
	struct edc_device_hello hello = {.request = EDC_HELLO_AREA, .classes = classes, .text_bytes = bytes};

	hello.texts = (__u64)(unsigned long)texts;
	hello.ids = (__u64)(unsigned long)ids;
	return hello;
}

static struct edc_device_hello usual(void)
{
	return hello_of("step\0", 6, 1);
}

static void say(int device, struct edc_device_hello hello, int error, const char *what)
{
	call(device, EDC_DEVICE_HELLO, &hello, error, what);
}

static void refuse_questions(int device)
{
	struct edc_device_hello hello = usual();

	hello.request = 3;
	say(device, hello, EINVAL, "a request that there is not");
	hello = usual();
	hello.reserved = 1;
	say(device, hello, EINVAL, "a reserved word");
	hello = usual();
	hello.classes = 1001;
	say(device, hello, EINVAL, "too many classes at once");
	hello = usual();
	hello.text_bytes = 0;
	say(device, hello, EINVAL, "no text");
	hello = usual();
	hello.text_bytes = ~0u;
	say(device, hello, EINVAL, "more text than a question has");
	say(device, hello_of("step", 4, 1), EINVAL, "a text without an end");
	hello = usual();
	hello.texts = 8;
	say(device, hello, EFAULT, "a text from nowhere");
	hello = usual();
	hello.request = EDC_HELLO_CLASSES;
	say(device, hello, ESRCH, "more classes without rings");
	errno = 0;
	expect(ioctl(device, EDC_DEVICE_HELLO, NULL) == -1 && errno == EFAULT, "a question from nowhere");

	struct edc_device_class class = {0};
	char buffer[64];

	errno = 0;
	expect(ioctl(device, EDC_DEVICE_CLASS, &class) == -1 && errno == EBADFD, "classes, not to the recorder");
	errno = 0;
	expect(read(device, buffer, sizeof buffer) == -1 && errno == EBADFD, "processes, not to the recorder");
}

/* Garbage in each question, some of it in place of a part only. Whatever is answered, nothing else happens. */
static void ask_garbage(void)
{
	static char texts[512];
	long refused = 0;

	for (int i = 0; i < 20000; i++) {
		struct edc_device_hello hello = hello_of(texts, (__u32)rand() % 520, (__u32)rand() % 64);
		struct edc_device_class class = {.text = (__u64)(unsigned long)texts, .bytes = sizeof texts};
		unsigned char *bytes = rand() % 2 ? (unsigned char *)&hello : (unsigned char *)&class;
		int device = open_device();

		for (unsigned at = 0; at < sizeof texts; at++)
			texts[at] = (char)(rand() % 8 ? 'a' + rand() % 4 : rand() % 4 - 1);
		texts[sizeof texts - 1] = 0;
		for (int change = rand() % 4; change > 0; change--)
			bytes[rand() % 24] = (unsigned char)rand();
		hello.request = (__u32)rand() % 4;
		refused += ioctl(device, EDC_DEVICE_HELLO, &hello) == -1;
		refused += ioctl(device, EDC_DEVICE_CLASS, &class) == -1;
		refused += ioctl(device, EDC_DEVICE_USERS, (unsigned long)rand()) == -1;
		close(device);
	}
	expect(refused > 20000, "garbage to be refused");
}

static void refuse_mappings(void)
{
	const int read_write = PROT_READ | PROT_WRITE;
	struct edc_device_hello hello = usual();
	int device = open_device(), other = open_device();

	expect(ioctl(device, EDC_DEVICE_HELLO, &hello) == 0 && ids[0] >= EDC_ID_USER_FIRST, "rings");
	say(device, hello, EBUSY, "rings twice");
	say(other, usual(), 0, "rings of another descriptor");
	expect(hello.welcome.ring_bytes == (hello.welcome.blocks + 1ull) * EDC_BLOCK_SIZE &&
		   hello.welcome.area_bytes == EDC_BLOCK_SIZE + (hello.welcome.rings + 1) * hello.welcome.ring_bytes,
	       "sizes that fit");

	const size_t size = hello.welcome.area_bytes;

	map(device, 0, size, read_write, MAP_SHARED, 0, "all of it");
	map(device, EDC_BLOCK_SIZE, size - EDC_BLOCK_SIZE, read_write, MAP_SHARED, 0, "all but the first page");
	map(device, 0, size + EDC_BLOCK_SIZE, read_write, MAP_SHARED, EINVAL, "more than there is");
	map(device, size, EDC_BLOCK_SIZE, read_write, MAP_SHARED, EINVAL, "what is after it");
	map(device, 0, size, read_write, MAP_PRIVATE, EINVAL, "a private copy");
	map(device, 0, size, read_write | PROT_EXEC, MAP_SHARED, EPERM, "code");
	for (size_t number = 1; number < 8; number++)
		map(device, number * EDC_DEVICE_AREA_STEP, EDC_BLOCK_SIZE, read_write, MAP_SHARED, EINVAL, "another's");

	/* The middle goes, a child is born and ends, the descriptor is closed: what is left works. */
	char *place = mmap(NULL, size, read_write, MAP_SHARED, device, 0);

	place[size - 1] = 1;
	munmap(place + EDC_BLOCK_SIZE, EDC_BLOCK_SIZE);
	if (fork() == 0) {
		place[2 * EDC_BLOCK_SIZE] = 7;
		_exit(0);
	}
	wait(NULL);
	close(device);
	expect(place[2 * EDC_BLOCK_SIZE] == 7 && place[size - 1] == 1, "memory that stays");
	munmap(place, size);
	close(other);
}

#define MAX_DEVICES 900
static int devices[MAX_DEVICES], opened;

/* As many rings as there are: how many. errno says why not more. */
static int take_all(void)
{
	for (opened = 0; opened < MAX_DEVICES; opened++) {
		struct edc_device_hello hello = usual();

		devices[opened] = open_device();
		errno = 0;
		if (ioctl(devices[opened], EDC_DEVICE_HELLO, &hello) == -1)
			return opened++;
	}
	return opened;
}

static void give_back(void)
{
	while (opened > 0)
		close(devices[--opened]);
}

/* A user has a bound: of rings, and of classes. What was given back can be had again. */
static void reach_limits(void)
{
	char texts[8000];
	int length = 0;

	for (int round = 0; round < 2; round++) {
		const int taken = take_all();

		expect(taken > 20 && taken < MAX_DEVICES && errno == ENOSPC, "no more rings than a user may have");
		give_back();
	}
	for (int i = 0; i < 600; i++)
		length += sprintf(texts + length, "class_%d", i) + 1, texts[length++] = 0;

	struct edc_device_hello hello = hello_of(texts, (__u32)length, 600);
	int device = open_device(), refused = 0;

	expect(ioctl(device, EDC_DEVICE_HELLO, &hello) == 0, "many classes");
	for (int i = 0; i < 600; i++)
		refused += ids[i] == 0;
	expect(refused == 600 - 512 && ids[0] != 0 && ids[1] != ids[0], "no more classes than a user may have");

	const __u16 first = ids[0];

	expect(ioctl(open_device(), EDC_DEVICE_HELLO, &(struct edc_device_hello){.request = 9}) == -1, "nonsense");
	hello.classes = 1;
	hello.request = EDC_HELLO_CLASSES;
	say(device, hello, 0, "a class that is known");
	expect(ids[0] == first, "its id again");
	close(device);
}

static void be(unsigned id)
{
	if (setgid(id) || setuid(id))
		_exit(100);
}

/* The rings that a user can have, 255 at most: takes them in a process that ends. */
static int rings_of(unsigned id)
{
	const pid_t child = fork();
	int status = -1;

	if (child == 0) {
		be(id);
		_exit(take_all() % 256);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

/* Another user of a namespace that a user made has no rings beyond those of who made it. */
static void users_of_a_namespace(void)
{
	int made[2], mapped[2], took[2], taken = 0;
	char path[64], byte = 0;

	expect(!pipe(made) && !pipe(mapped) && !pipe(took), "pipes");

	const pid_t child = fork();

	if (child == 0) {
		be(1000);
		if (unshare(CLONE_NEWUSER) || write(made[1], "", 1) != 1 || read(mapped[0], &byte, 1) != 1 || setuid(0))
			_exit(101);
		taken = take_all();
		if (write(took[1], &taken, sizeof taken) != sizeof taken)
			_exit(102);
		pause();
	}
	expect(read(made[0], &byte, 1) == 1, "a user namespace");
	snprintf(path, sizeof path, "/proc/%d/uid_map", (int)child);

	const int map_file = open(path, O_WRONLY);

	expect(write(map_file, "0 100000 1", 10) == 10 && write(mapped[1], "", 1) == 1, "a user of it");
	close(map_file);
	expect(read(took[0], &taken, sizeof taken) == sizeof taken && taken > 20, "rings in a user namespace");
	expect(rings_of(1000) == 0, "no rings beside those of the namespace");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	expect(rings_of(1000) == taken, "rings that the namespace gave back");
	for (int i = 0; i < 2; i++)
		close(made[i]), close(mapped[i]), close(took[i]);
}

static int recorder_as(unsigned id)
{
	const pid_t child = fork();
	int status = -1;

	if (child == 0) {
		if (id)
			be(id);
		int device = open_device();
		_exit(ioctl(device, EDC_DEVICE_USERS) == 0 ? 0 : errno);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

static void one_recorder(void)
{
	int recorder = open_device(), program = open_device();
	struct edc_device_process processes[2];
	struct edc_device_class class = {0};
	char text[8] = "";

	expect(recorder_as(1000) == EPERM, "a recorder without the right to be one");
	say(program, usual(), 0, "rings before");
	expect(ioctl(recorder, EDC_DEVICE_USERS) == 0, "the recorder");
	expect(recorder_as(0) == EBUSY, "a second recorder");
	expect(read(recorder, processes, sizeof processes[0] - 1) == -1 && errno == EINVAL, "less than a process");
	expect(read(recorder, processes, sizeof processes) == sizeof processes[0] &&
		   processes[0].pid == (__u32)getpid() && !processes[0].open,
	       "this process");
	expect(read(recorder, processes + 1, sizeof processes[1]) == -1 && errno == EAGAIN, "nobody else");
	class.text = (__u64)(unsigned long)text;
	errno = 0;
	expect(ioctl(recorder, EDC_DEVICE_CLASS, &class) == -1 && errno == ENOSPC, "a class without a place");
	class.serial = 0;
	class.bytes = sizeof text;
	expect(ioctl(recorder, EDC_DEVICE_CLASS, &class) == 0 && !strcmp(text, "step") && class.bytes == 6,
	       "the class");
	errno = 0;
	expect(ioctl(recorder, EDC_DEVICE_CLASS, &class) == -1 && errno == ENOENT, "no other class");

	/* The rings of a process that ends are the recorder's until it has seen them. */
	close(program);
	void *rings = mmap(NULL, processes[0].area_bytes, PROT_READ, MAP_SHARED, recorder,
			   (off_t)(processes[0].number * EDC_DEVICE_AREA_STEP));
	expect(rings != MAP_FAILED && ((struct edc_user_area *)rings)->magic == EDC_USER_MAGIC, "rings that are left");
	map(recorder, processes[0].number * EDC_DEVICE_AREA_STEP, EDC_BLOCK_SIZE, PROT_READ, MAP_SHARED, EINVAL,
	    "rings that were seen and are gone");
	munmap(rings, processes[0].area_bytes);
	close(recorder);
	expect(recorder_as(0) == 0, "a recorder after the first one");
}

static void garbage(long ms)
{
	struct edc_device_hello hello = usual();
	int device = open_device();
	struct timespec now, end;

	expect(ioctl(device, EDC_DEVICE_HELLO, &hello) == 0, "rings");

	const size_t words = hello.welcome.area_bytes / sizeof(unsigned);
	volatile unsigned *area = mmap(NULL, hello.welcome.area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += ms / 1000;
	do {
		/* the pages of the rings' states oftener than the blocks */
		for (int i = 0; i < 1000; i++) {
			size_t at = (size_t)rand() * 32768u + (size_t)rand();

			if (rand() % 2)
				at = (EDC_BLOCK_SIZE + at % (hello.welcome.rings + 1) * hello.welcome.ring_bytes) / 4 +
				     (unsigned)rand() % 64;
			area[at % words] = (unsigned)rand() * (rand() % 4 ? 1u : 2654435761u);
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec);
}

int main(int count, char **argument)
{
	srand(4711);
	if (count > 2) {
		garbage(atol(argument[2]));
		return failures != 0;
	}
	int device = open_device();

	expect(device != -1, "to open");
	refuse_questions(device);
	ask_garbage();
	refuse_mappings();
	reach_limits();
	users_of_a_namespace();
	one_recorder();
	close(device);
	printf("user_device_abuse: %d wrong\n", failures);
	return failures != 0;
}
