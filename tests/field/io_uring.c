// SPDX-License-Identifier: MIT
// A ring whose submissions the kernel's thread iou-sqp-PID polls, without rest, for 0.4 s; then 200 reads that are
// forced onto threads iou-wrk-PID. Prints the id, and the CPU times of the process and of its only thread of its own.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct ring {
	int file;
	unsigned *tail, *mask, *array;
	struct io_uring_sqe *entries;
};

static int set_up(struct ring *ring, unsigned flags)
{
	struct io_uring_params parameters = {.flags = flags, .sq_thread_idle = 300};
	ring->file = syscall(SYS_io_uring_setup, 256, &parameters);
	if (ring->file < 0)
		return 0;
	char *queue = mmap(0, parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned),
			   PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->file, IORING_OFF_SQ_RING);
	ring->entries = mmap(0, parameters.sq_entries * sizeof *ring->entries, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_POPULATE, ring->file, IORING_OFF_SQES);
	ring->tail = (unsigned *)(queue + parameters.sq_off.tail);
	ring->mask = (unsigned *)(queue + parameters.sq_off.ring_mask);
	ring->array = (unsigned *)(queue + parameters.sq_off.array);
	return 1;
}

static void submit(struct ring *ring, struct io_uring_sqe entry, unsigned flags)
{
	unsigned at = *ring->tail & *ring->mask;
	ring->entries[at] = entry;
	ring->array[at] = at;
	__atomic_store_n(ring->tail, *ring->tail + 1, __ATOMIC_RELEASE);
	syscall(SYS_io_uring_enter, ring->file, flags == IORING_ENTER_GETEVENTS, flags == IORING_ENTER_GETEVENTS, flags,
		0, 0);
}

static double cpu(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(void)
{
	struct ring polled, own;
	char text[4096];
	if (!set_up(&polled, IORING_SETUP_SQPOLL) || !set_up(&own, 0))
		return 77;
	submit(&polled, (struct io_uring_sqe){.opcode = IORING_OP_NOP}, IORING_ENTER_SQ_WAKEUP);
	int file = open("/proc/self/exe", O_RDONLY);
	for (int i = 0; i < 200; i++)
		submit(&own,
		       (struct io_uring_sqe){.opcode = IORING_OP_READ,
					     .fd = file,
					     .addr = (unsigned long)text,
					     .len = sizeof text,
					     .flags = IOSQE_ASYNC},
		       IORING_ENTER_GETEVENTS);
	usleep(600000);
	printf("pid=%d cpu_ns=%.0f own_ns=%.0f\n", getpid(), cpu(CLOCK_PROCESS_CPUTIME_ID),
	       cpu(CLOCK_THREAD_CPUTIME_ID));
	return 0;
}
