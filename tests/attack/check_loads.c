// SPDX-License-Identifier: MIT
// check_loads KIND SECONDS: what kernels are seldom asked for, again and again.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>

static double end;
static volatile int hits;

static int goes_on(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9 < end;
}

static void spin(long n)
{
	for (volatile long i = 0; i < n; i++)
		;
}

static void on_signal(int number)
{
	hits += number;
}

static void *thread_spins(void *unused)
{
	spin(300000);
	return unused;
}

static void *thread_execs(void *unused)
{
	usleep(2000);
	execl("/bin/true", "true", (char *)0);
	return unused;
}

static void *thread_waits(void *word)
{
	const struct timespec half_ms = {0, 500000};

	while (goes_on()) {
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, &half_ms, 0, 0);
		sched_yield();
	}
	return NULL;
}

static void *thread_echoes(void *ends)
{
	const int *fds = ends;
	char byte;

	while (read(fds[0], &byte, 1) == 1 && write(fds[1], &byte, 1) == 1)
		;
	return NULL;
}

static void ticks(unsigned us, int flags)
{
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
	const struct itimerval every = {{0, us}, {0, us}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

// What a child does, once per child.
static void child_threads(int number, void *(*first)(void *), int leader_exits)
{
	pthread_t threads[8];

	for (int i = 0; i < number; i++)
		pthread_create(threads + i, NULL, i == 1 ? first : thread_spins, NULL);
	if (leader_exits)
		pthread_exit(NULL);
	spin(first == thread_execs ? 10000000 : 1000);
}

static void child(const char *kind)
{
	const struct rlimit no_core = {0, 0};

	if (!strcmp(kind, "execthread")) {
		child_threads(3, thread_execs, 0);
		pause();
	} else if (!strcmp(kind, "exitgroup")) {
		child_threads(8, thread_spins, 0);
	} else if (!strcmp(kind, "leaderexit")) {
		child_threads(3, thread_spins, 1);
	} else if (!strcmp(kind, "segv")) {
		setrlimit(RLIMIT_CORE, &no_core);
		raise(SIGSEGV);
	} else if (!strcmp(kind, "daemon")) {
		setsid();
		if (!fork())
			spin(20000);
	}
	_exit(0);
}

static int is_of_children(const char *kind)
{
	const char *all[] = {"execthread", "exitgroup", "leaderexit", "segv", "daemon"};

	for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(kind, all[i]))
			return 1;
	return 0;
}

static void killed(void)
{
	pid_t all[20];

	for (int i = 0; i < 20; i++)
		if (!(all[i] = fork()))
			for (;;)
				spin(1000);
	usleep(1500);
	for (int i = 0; i < 20; i++)
		kill(all[i], SIGKILL);
	while (wait(NULL) > 0)
		;
}

static void traced(void)
{
	const pid_t tracee = fork();
	int status;

	if (!tracee) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		for (int i = 0; i < 200; i++)
			syscall(SYS_getppid);
		_exit(0);
	}
	waitpid(tracee, &status, 0);
	while (!WIFEXITED(status))
		if (ptrace(PTRACE_SYSCALL, tracee, 0, 0) || waitpid(tracee, &status, 0) < 0)
			break;
}

static void real_time(void)
{
	for (int i = 0; i < 5; i++) {
		const struct sched_param priority = {.sched_priority = 10 + i};

		if (fork())
			continue;
		if (i < 2)
			sched_setscheduler(0, SCHED_FIFO, &priority);
		while (goes_on()) {
			spin(200000);
			if (i < 2)
				usleep(700);
		}
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}

static void yields(void)
{
	for (int i = 0; i < 6; i++)
		if (!fork()) {
			while (goes_on())
				sched_yield();
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

static void stopped(void)
{
	const pid_t pid = fork();

	if (!pid)
		for (;;)
			spin(5000);
	while (goes_on()) {
		kill(pid, SIGSTOP);
		usleep(800);
		kill(pid, SIGCONT);
		usleep(800);
	}
	kill(pid, SIGKILL);
	wait(NULL);
}

static void waits(void)
{
	pthread_t threads[16];
	int word = 0;

	for (int i = 0; i < 16; i++)
		pthread_create(threads + i, NULL, thread_waits, &word);
	while (goes_on()) {
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 5, 0, 0, 0);
		usleep(100);
	}
	for (int i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
}

static void pipes(void)
{
	int there[2], back[2];
	pthread_t echo;
	char byte = 1;

	if (pipe(there) || pipe(back))
		exit(1);
	int ends[2] = {there[0], back[1]};
	pthread_create(&echo, NULL, thread_echoes, ends);
	while (goes_on() && write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1)
		;
	close(there[1]);
	pthread_join(echo, NULL);
}

static void timers(void)
{
	const struct itimerspec every = {{0, 50000}, {0, 50000}};
	const int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	unsigned long number;

	timerfd_settime(fd, 0, &every, NULL);
	while (goes_on() && read(fd, &number, sizeof number) == sizeof number)
		;
}

// Once of what needs no preparation. 0: there is no such kind.
static int once(const char *kind, unsigned round)
{
	const struct timespec five_ms = {0, 5000000};
	const size_t bytes = 4 << 20;
	char name[16], *memory;
	cpu_set_t cpu;
	pid_t pid;

	if (!strcmp(kind, "vfork")) {
		if (!(pid = vfork())) {
			execl("/bin/true", "true", (char *)0);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	} else if (!strcmp(kind, "signals")) {
		spin(1000);
		pause();
	} else if (!strcmp(kind, "restart")) {
		nanosleep(&five_ms, NULL);
		poll(NULL, 0, 3);
	} else if (!strcmp(kind, "affinity")) {
		CPU_ZERO(&cpu);
		CPU_SET(round & 1, &cpu);
		sched_setaffinity(0, sizeof cpu, &cpu);
		spin(3000);
	} else if (!strcmp(kind, "rename")) {
		snprintf(name, sizeof name, "nm%u", round);
		prctl(PR_SET_NAME, name);
		spin(500);
		if (round % 7 == 0)
			sched_yield();
	} else if (!strcmp(kind, "faults")) {
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (size_t i = 0; i < bytes; i += 4096)
			memory[i] = 1;
		munmap(memory, bytes);
	} else if (!strcmp(kind, "numbers")) {
		syscall(400000);
		syscall(-5);
		spin(200);
	} else if (!strcmp(kind, "killed")) {
		killed();
	} else if (!strcmp(kind, "ptrace")) {
		traced();
	} else {
		return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	const struct {
		const char *name;
		void (*run)(void);
	} whole[] = {{"rt", real_time}, {"yield", yields}, {"stopcont", stopped},
		     {"futex", waits},  {"pipes", pipes},  {"timers", timers}};
	struct timespec now;
	unsigned round = 0;

	if (argc != 3)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + now.tv_nsec / 1e9 + atof(argv[2]);
	for (unsigned i = 0; i < sizeof whole / sizeof *whole; i++)
		if (!strcmp(argv[1], whole[i].name))
			return whole[i].run(), 0;
	if (!strcmp(argv[1], "signals"))
		ticks(300, 0);
	if (!strcmp(argv[1], "restart"))
		ticks(900, SA_RESTART);
	while (goes_on()) {
		if (is_of_children(argv[1])) {
			const pid_t pid = fork();

			if (!pid)
				child(argv[1]);
			waitpid(pid, NULL, 0);
		} else if (!once(argv[1], round++)) {
			return 3;
		}
	}
	return 0;
}
