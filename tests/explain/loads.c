/* SPDX-License-Identifier: MIT */
/*
 * Programs that are slow for one known reason each: `loads NAME [NUMBER...]`. Work is CPU time of the thread, so it is
 * the same beside other load. The NAME.load files say what `monitor explain` may say of them.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { max_threads = 64, message = 64 };

static long number[4]; /* of the command line */

static int64_t time_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void work(int64_t us)
{
	for (int64_t end = time_ns(CLOCK_THREAD_CPUTIME_ID) + us * 1000; time_ns(CLOCK_THREAD_CPUTIME_ID) < end;)
		for (volatile int spin = 0; spin < 1000; spin++)
			;
}

static void sleep_us(int64_t us)
{
	struct timespec time = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&time, NULL);
}

static void fail(const char *what)
{
	perror(what);
	exit(99);
}

static void wait_for_all(void)
{
	while (wait(NULL) > 0)
		;
}

static void run_threads(int threads, void *(*run)(void *))
{
	pthread_t ids[max_threads];

	for (long i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, run, (void *)i))
			fail("pthread_create");
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
}

/* spin US: one thread that computes. */
static void spin(void)
{
	work(number[0]);
}

/* loops PROCESSES US: processes that compute. */
static void loops(void)
{
	for (int i = 0; i < number[0]; i++)
		if (fork() == 0) {
			work(number[1]);
			_exit(0);
		}
	wait_for_all();
}

static void stage(int place, int in, int out)
{
	char name[16], item = 0;

	snprintf(name, sizeof name, "stage%d", place);
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < number[0]; i++) {
		if (in >= 0 && read(in, &item, 1) != 1)
			_exit(1);
		work(number[place]);
		if (out >= 0 && write(out, &item, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* pipeline ITEMS US US US: three stages, connected by pipes. */
static void pipeline(void)
{
	int first[2], second[2];

	if (pipe(first) || pipe(second))
		fail("pipe");
	for (int i = 1; i <= 3; i++)
		if (fork() == 0)
			stage(i,
			      i == 1   ? -1
			      : i == 2 ? first[0]
				       : second[0],
			      i == 1   ? first[1]
			      : i == 2 ? second[1]
				       : -1);
	wait_for_all();
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t conditions[max_threads];
static int turn, queued, is_done;

static void *convoy_thread(void *unused)
{
	for (int i = 0; i < number[1]; i++) {
		pthread_mutex_lock(&mutex);
		work(number[2]);
		pthread_mutex_unlock(&mutex);
		work(number[3]);
	}
	return unused;
}

/* convoy THREADS ROUNDS US US: threads that work so long with a lock and without. */
static void convoy(void)
{
	run_threads(number[0], convoy_thread);
}

static void *ring_thread(void *place)
{
	for (int i = 0; i < number[1]; i++) {
		pthread_mutex_lock(&mutex);
		while (turn != (long)place)
			pthread_cond_wait(&conditions[(long)place], &mutex);
		pthread_mutex_unlock(&mutex);
		work(number[2]);
		pthread_mutex_lock(&mutex);
		turn = ((long)place + 1) % number[0];
		pthread_cond_signal(&conditions[turn]);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

/* ring THREADS ROUNDS US: threads that pass a token round, and work while they have it. */
static void ring(void)
{
	run_threads(number[0], ring_thread);
}

static void *pool_thread(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&mutex);
		while (!queued && !is_done)
			pthread_cond_wait(&conditions[0], &mutex);
		if (!queued) {
			pthread_mutex_unlock(&mutex);
			return unused;
		}
		queued--;
		pthread_mutex_unlock(&mutex);
		work(number[3]);
	}
}

/* pool THREADS ITEMS US US: a producer works so long on each item, and the threads of a pool so long. */
static void pool(void)
{
	pthread_t ids[max_threads];

	for (int i = 0; i < number[0]; i++)
		pthread_create(&ids[i], NULL, pool_thread, NULL);
	for (int i = 0; i < number[1]; i++) {
		work(number[2]);
		pthread_mutex_lock(&mutex);
		queued++;
		pthread_cond_signal(&conditions[0]);
		pthread_mutex_unlock(&mutex);
	}
	pthread_mutex_lock(&mutex);
	is_done = 1;
	pthread_cond_broadcast(&conditions[0]);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < number[0]; i++)
		pthread_join(ids[i], NULL);
}

/* sleeper ROUNDS US US: sleeps so long, and works so long, in turns. */
static void sleeper(void)
{
	for (int i = 0; i < number[0]; i++) {
		sleep_us(number[1]);
		work(number[2]);
	}
}

/* fsyncer ROUNDS: writes 4 KiB and waits until they are on the disk. */
static void fsyncer(void)
{
	char page[4096] = {0};
	int file = open("loads.tmp", O_CREAT | O_TRUNC | O_WRONLY, 0600);

	for (int i = 0; i < number[0]; i++)
		if (write(file, page, sizeof page) != sizeof page || fsync(file))
			fail("fsync");
	unlink("loads.tmp");
}

/* reader ROUNDS: a system call that works. */
static void reader(void)
{
	static char bytes[1 << 20];
	int file = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < number[0]; i++)
		if (read(file, bytes, sizeof bytes) != sizeof bytes)
			fail("read");
}

/* calls ROUNDS: system calls that do nothing. */
static void calls(void)
{
	for (int i = 0; i < number[0]; i++)
		syscall(SYS_getppid);
}

/* forks NUMBER: processes that end at once, one after the other. */
static void forks(void)
{
	for (int i = 0; i < number[0]; i++) {
		if (vfork() == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(99);
		}
		wait(NULL);
	}
}

/* faults MIB ROUNDS: touches memory that it has just got. */
static void faults(void)
{
	const size_t bytes = (size_t)number[0] << 20;

	for (int round = 0; round < number[1]; round++) {
		char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			fail("mmap");
		madvise(memory, bytes, MADV_NOHUGEPAGE);
		for (size_t at = 0; at < bytes; at += 4096)
			memory[at] = 1;
		munmap(memory, bytes);
	}
}

/* reclaim MIB ROUNDS: touches memory of a file again and again, more than its group may have. */
static void reclaim(void)
{
	const size_t bytes = (size_t)number[0] << 20;
	int file = open("loads.tmp", O_CREAT | O_TRUNC | O_RDWR, 0600);
	char *memory;

	if (ftruncate(file, bytes))
		fail("ftruncate");
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	for (int round = 0; round < number[1]; round++)
		for (size_t at = 0; at < bytes; at += 4096)
			memory[at]++;
	unlink("loads.tmp");
}

static int listening(struct sockaddr_in *address, int type)
{
	socklen_t length = sizeof *address;
	int sock = socket(AF_INET, type, 0);

	memset(address, 0, sizeof *address);
	address->sin_family = AF_INET;
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(sock, (struct sockaddr *)address, sizeof *address) ||
	    getsockname(sock, (struct sockaddr *)address, &length))
		fail("bind");
	return sock;
}

/* udp US BYTES: one process sends to another, over loopback. */
static void udp(void)
{
	static char bytes[65536];
	struct sockaddr_in address;
	int to, from = listening(&address, SOCK_DGRAM);
	pid_t receiver = fork();

	while (receiver == 0)
		if (recv(from, bytes, sizeof bytes, 0) < 0)
			_exit(1);
	to = socket(AF_INET, SOCK_DGRAM, 0);
	connect(to, (struct sockaddr *)&address, sizeof address);
	for (int64_t end = time_ns(CLOCK_MONOTONIC) + number[0] * 1000; time_ns(CLOCK_MONOTONIC) < end;)
		send(to, bytes, number[1], 0);
	kill(receiver, SIGKILL);
	wait_for_all();
}

static void serve(int in, int out, int64_t us, int is_client)
{
	char bytes[message] = {0};

	for (int i = 0; i < number[0]; i++) {
		if (!is_client && read(in, bytes, message) != message)
			_exit(1);
		work(us);
		if (write(out, bytes, message) != message || (is_client && read(in, bytes, message) != message))
			_exit(1);
	}
}

/* tcp ROUNDS US US: a client and a server that work so long on each message, over loopback. */
static void tcp(void)
{
	struct sockaddr_in address;
	int on = 1, sock, server = listening(&address, SOCK_STREAM);

	listen(server, 1);
	if (fork() == 0) {
		prctl(PR_SET_NAME, "server");
		sock = accept(server, NULL, NULL);
		setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		serve(sock, sock, number[2], 0);
		_exit(0);
	}
	prctl(PR_SET_NAME, "client");
	sock = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(sock, (struct sockaddr *)&address, sizeof address))
		fail("connect");
	setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	serve(sock, sock, number[1], 1);
	wait_for_all();
}

static void pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	sched_setaffinity(0, sizeof cpus, &cpus);
}

/* pipes ROUNDS US US: the same over pipes, each on a CPU of its own if there are two. */
static void pipes(void)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		fail("pipe");
	if (fork() == 0) {
		prctl(PR_SET_NAME, "server");
		pin(1);
		serve(there[0], back[1], number[2], 0);
		_exit(0);
	}
	prctl(PR_SET_NAME, "client");
	pin(0);
	serve(back[0], there[1], number[1], 1);
	wait_for_all();
}

static void set_priority(int priority)
{
	struct sched_param param = {.sched_priority = priority};

	if (sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &param)) {
		perror("sched_setscheduler");
		exit(77);
	}
}

static volatile int has_lock;

/* Each thread sleeps after it has its priority, for only a wake-up says it. */
static void *inversion_thread(void *place)
{
	static const char *const names[] = {"low", "middle", "high"};
	static const int priorities[] = {1, 10, 20};

	pin(0);
	prctl(PR_SET_NAME, names[(long)place]);
	set_priority(priorities[(long)place]);
	sleep_us(1000);
	while ((long)place && !has_lock)
		sleep_us(200);
	if ((long)place == 1) {
		sleep_us(5000);
		work(number[0]);
		return NULL;
	}
	if ((long)place == 2)
		sleep_us(2000);
	pthread_mutex_lock(&mutex);
	has_lock = 1;
	work((long)place ? 1000 : 20000);
	pthread_mutex_unlock(&mutex);
	if ((long)place == 2)
		work(number[1]);
	return NULL;
}

/* inversion US US: on one CPU a thread of low priority has a lock that one of a high priority needs, and one between
 * them works so long; then that of the high priority does.
 */
static void inversion(void)
{
	run_threads(3, inversion_thread);
}

/* hog US US: real-time, on CPU 0, works so long and sleeps so long until it is killed. */
static void hog(void)
{
	pin(0);
	set_priority(10);
	for (;;) {
		work(number[0]);
		sleep_us(number[1]);
	}
}

/* pinned US: two processes that compute, on CPU 0. */
static void pinned(void)
{
	pin(0);
	for (int i = 0; i < 2; i++)
		if (fork() == 0) {
			work(number[0]);
			_exit(0);
		}
	wait_for_all();
}

/* locks PROCESSES ROUNDS US IS_FCNTL: processes that work with a file's lock, and a quarter of that without it. */
static void locks(void)
{
	for (int i = 0; i < number[0]; i++)
		if (fork() == 0) {
			int file = open("loads.lock", O_CREAT | O_RDWR, 0600);
			struct flock one = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

			for (int round = 0; round < number[1]; round++) {
				if (number[3] ? fcntl(file, F_SETLKW, &one) : flock(file, LOCK_EX))
					fail("lock");
				work(number[2]);
				one.l_type = F_UNLCK;
				if (number[3] ? fcntl(file, F_SETLK, &one) : flock(file, LOCK_UN))
					fail("unlock");
				one.l_type = F_WRLCK;
				work(number[2] / 4); /* meanwhile another one gets it */
			}
			_exit(0);
		}
	wait_for_all();
	unlink("loads.lock");
}

static int stream_socket(struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX, .sun_path = "\0monitor-explain-loads"};
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static int connected(void)
{
	struct sockaddr_un address;
	int peer = stream_socket(&address);

	for (int tries = 0; connect(peer, (struct sockaddr *)&address, sizeof address); tries++) {
		if (tries == 300)
			fail("connect");
		sleep_us(10000);
	}
	return peer;
}

/* server US US: works and sleeps so long for each request, until it is killed. */
static void server(void)
{
	struct sockaddr_un address;
	int listening = stream_socket(&address);
	char request;

	prctl(PR_SET_NAME, "server");
	if (bind(listening, (struct sockaddr *)&address, sizeof address) || listen(listening, 1))
		fail("bind");
	for (;;) {
		int peer = accept(listening, NULL, NULL);

		while (read(peer, &request, 1) == 1) {
			work(number[0]);
			if (number[1])
				sleep_us(number[1]);
			if (write(peer, &request, 1) != 1)
				break;
		}
		close(peer);
	}
}

/* client REQUESTS US: of the server, and works so long between two of them. */
static void client(void)
{
	int peer = connected();
	char request = 0;

	for (int i = 0; i < number[0]; i++) {
		if (write(peer, &request, 1) != 1 || read(peer, &request, 1) != 1)
			fail("request");
		work(number[1]);
	}
}

/* signaller US: stops who connects, and lets it go on after so long. */
static void signaller(void)
{
	struct sockaddr_un address;
	struct ucred other;
	socklen_t bytes = sizeof other;
	int listening = stream_socket(&address);

	prctl(PR_SET_NAME, "signaller");
	if (bind(listening, (struct sockaddr *)&address, sizeof address) || listen(listening, 1))
		fail("bind");
	for (;;) {
		int peer = accept(listening, NULL, NULL);

		if (getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &other, &bytes))
			fail("SO_PEERCRED");
		kill(other.pid, SIGSTOP);
		sleep_us(number[0]);
		kill(other.pid, SIGCONT);
		close(peer);
	}
}

/* stopped US: works until the signaller has stopped it, and so long afterwards. */
static void stopped(void)
{
	const int64_t stopped_ns = 100000000; /* of which a preemption is far */
	int64_t before, now;

	close(connected());
	now = time_ns(CLOCK_MONOTONIC);
	do {
		before = now;
		work(100);
		now = time_ns(CLOCK_MONOTONIC);
	} while (now - before < stopped_ns);
	work(number[0]);
}

/* busy: computes, on CPU 0, until it is killed. */
static void busy(void)
{
	pin(0);
	prctl(PR_SET_NAME, "busy");
	work(1000000000);
}

/* timed ROUNDS MS: waits so long for nothing, on CPU 0. */
static void timed(void)
{
	pin(0);
	for (int i = 0; i < number[0]; i++)
		poll(NULL, 0, number[1]);
}

static void *herd_thread(void *unused)
{
	pthread_mutex_lock(&mutex);
	for (int seen = turn; !is_done; seen = turn)
		while (seen == turn && !is_done)
			pthread_cond_wait(&conditions[0], &mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

/* herd THREADS ROUNDS US: threads that all wait for one, which sleeps so long each time. */
static void herd(void)
{
	pthread_t ids[max_threads];

	for (int i = 0; i < number[0]; i++)
		pthread_create(&ids[i], NULL, herd_thread, NULL);
	for (int i = 0; i < number[1]; i++) {
		sleep_us(number[2]);
		pthread_mutex_lock(&mutex);
		turn++;
		is_done = i + 1 == number[1];
		pthread_cond_broadcast(&conditions[0]);
		pthread_mutex_unlock(&mutex);
	}
	for (int i = 0; i < number[0]; i++)
		pthread_join(ids[i], NULL);
}

/* cold MIB: touches pages of a file that are only on the disk. */
static void cold(void)
{
	const size_t size = number[0] << 20, page = 4096;
	static char bytes[1 << 20];
	int file = open("loads.tmp", O_CREAT | O_TRUNC | O_RDWR, 0600);
	volatile char *mapped;
	int sum = 0;

	for (int i = 0; i < number[0]; i++)
		if (write(file, bytes, sizeof bytes) != sizeof bytes)
			fail("write");
	fsync(file);
	posix_fadvise(file, 0, size, POSIX_FADV_DONTNEED);
	mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
	if (mapped == MAP_FAILED)
		fail("mmap");
	madvise((void *)mapped, size, MADV_RANDOM);
	for (size_t at = 0; at < size; at += 16 * page)
		sum += mapped[at * 7919 / page % (size / page) * page];
	unlink("loads.tmp");
	exit(sum != 0);
}

/* vforks NUMBER US: processes that sleep so long before their parent may go on. */
static void vforks(void)
{
	for (int i = 0; i < number[0]; i++) {
		if (vfork() == 0) {
			sleep_us(number[1]);
			_exit(0);
		}
		wait(NULL);
	}
}

static void *spinning_thread(void *place)
{
	if (!place) {
		prctl(PR_SET_NAME, "worker");
		work(number[1]);
		__atomic_store_n(&is_done, 1, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&is_done, __ATOMIC_ACQUIRE))
		sched_yield();
	return NULL;
}

/* spinners THREADS US: threads that yield until one of them has worked. */
static void spinners(void)
{
	run_threads(number[0], spinning_thread);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {{"spin", spin},
		   {"loops", loops},
		   {"pipeline", pipeline},
		   {"convoy", convoy},
		   {"ring", ring},
		   {"pool", pool},
		   {"sleeper", sleeper},
		   {"fsyncer", fsyncer},
		   {"reader", reader},
		   {"calls", calls},
		   {"forks", forks},
		   {"faults", faults},
		   {"reclaim", reclaim},
		   {"udp", udp},
		   {"tcp", tcp},
		   {"pipes", pipes},
		   {"inversion", inversion},
		   {"hog", hog},
		   {"pinned", pinned},
		   {"locks", locks},
		   {"server", server},
		   {"client", client},
		   {"signaller", signaller},
		   {"stopped", stopped},
		   {"busy", busy},
		   {"timed", timed},
		   {"herd", herd},
		   {"cold", cold},
		   {"vforks", vforks},
		   {"spinners", spinners}};

	for (int i = 0; i < max_threads; i++)
		pthread_cond_init(&conditions[i], NULL);
	for (int i = 0; i < 4 && i + 2 < argc; i++)
		number[i] = atol(argv[i + 2]);
	for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
		if (!strcmp(argv[1], all[i].name)) {
			all[i].run();
			return 0;
		}
	fprintf(stderr, "loads NAME [NUMBER...]\n");
	return 99;
}
