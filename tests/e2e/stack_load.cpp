// SPDX-License-Identifier: MIT
// A program whose stacks are known: each function below calls mark(), which makes a system call that nothing else here
// makes. stacks.py knows which of these functions are on the stack then, and that there are no others.
// stack_load [SECONDS]: also computes and sleeps for so long, in functions that nobody can miss.
#include <alloca.h>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noipa, used)) // what assembler calls is not known to the compiler
#endif
#define NO_TAIL_CALL __asm__ volatile("" ::: "memory")

extern "C" {

KEPT void mark()
{
	syscall(SYS_getppid);
	NO_TAIL_CALL;
}

KEPT void in_recursion(int depth)
{
	if (depth > 1)
		in_recursion(depth - 1);
	else
		mark();
	NO_TAIL_CALL;
}

KEPT void in_alloca(std::size_t bytes)
{
	char *memory = static_cast<char *>(alloca(bytes));
	std::memset(memory, 1, bytes);
	mark();
	NO_TAIL_CALL;
	__asm__ volatile("" ::"r"(memory) : "memory");
}

KEPT void in_realigned(std::size_t bytes)
{
	alignas(64) char aligned[64];
	char *memory = static_cast<char *>(alloca(bytes));
	__asm__ volatile("" ::"r"(memory), "r"(aligned) : "memory");
	mark();
	NO_TAIL_CALL;
}

KEPT void in_handler(int)
{
	mark();
	NO_TAIL_CALL;
}

KEPT void in_signal()
{
	std::signal(SIGUSR1, in_handler);
	raise(SIGUSR1);
	NO_TAIL_CALL;
}

KEPT void in_child()
{
	mark();
	NO_TAIL_CALL;
}

KEPT void in_vfork()
{
	const pid_t child = vfork();
	if (child == 0) {
		in_child();
		_exit(0);
	}
	waitpid(child, nullptr, 0);
	NO_TAIL_CALL;
}

KEPT void in_fork()
{
	const pid_t child = fork();
	if (child == 0) {
		in_child();
		_exit(0);
	}
	waitpid(child, nullptr, 0);
	NO_TAIL_CALL;
}

KEPT void in_tail_target()
{
	mark();
	NO_TAIL_CALL;
}

KEPT void in_tail_call()
{
	__asm__ volatile("jmp in_tail_target");
}

KEPT void in_front_of_tail_call()
{
	in_tail_call();
	NO_TAIL_CALL;
}

KEPT void *in_thread(void *)
{
	mark();
	NO_TAIL_CALL;
	return nullptr;
}

// Nothing says how its frame is found.
__asm__(".text\n.type in_assembler, @function\nin_assembler:\n\tpush %rbx\n\tcall mark\n\tpop %rbx\n\tret\n"
	".size in_assembler, . - in_assembler\n");
void in_assembler();

KEPT void in_front_of_assembler()
{
	in_assembler();
	NO_TAIL_CALL;
}

struct Guard {
	KEPT ~Guard() { in_cleanup(); }
	KEPT static void in_cleanup()
	{
		mark();
		NO_TAIL_CALL;
	}
};

KEPT void in_throw()
{
	throw 1;
}

KEPT void in_guarded()
{
	const Guard guard;
	in_throw();
	NO_TAIL_CALL;
}

KEPT void in_exception()
{
	try {
		in_guarded();
	} catch (int) {
	}
	NO_TAIL_CALL;
}

KEPT int compare(const void *a, const void *b)
{
	mark();
	NO_TAIL_CALL;
	return *static_cast<const char *>(a) - *static_cast<const char *>(b);
}

KEPT void in_library()
{
	char two[] = "ba";
	qsort(two, 2, 1, compare);
	NO_TAIL_CALL;
}

KEPT double burn_inner(double x, long turns)
{
	for (long i = 0; i < turns; ++i)
		x = x * 1.0000001 + 0.5;
	NO_TAIL_CALL;
	return x;
}

KEPT double burn(long turns)
{
	const double x = burn_inner(1, turns);
	NO_TAIL_CALL;
	return x;
}

KEPT long burn_in_vdso(long turns)
{
	timespec now{};
	for (long i = 0; i < turns; ++i)
		clock_gettime(CLOCK_MONOTONIC, &now);
	NO_TAIL_CALL;
	return now.tv_nsec;
}

KEPT void rest(long us)
{
	usleep(static_cast<useconds_t>(us));
	NO_TAIL_CALL;
}

} // extern "C"

namespace {

double now_s()
{
	timespec now{};
	clock_gettime(CLOCK_MONOTONIC, &now);
	return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

} // namespace

int main(int count, char **arguments)
{
	usleep(100'000); // the recorder reads the program's tables in the meantime
	in_recursion(5);
	in_recursion(300);
	in_alloca(5000);
	in_realigned(3000);
	in_signal();
	in_vfork();
	in_fork();
	in_front_of_tail_call();
	pthread_t thread;
	pthread_create(&thread, nullptr, in_thread, nullptr);
	pthread_join(thread, nullptr);
	in_front_of_assembler();
	in_exception();
	in_library();
	if (count > 1)
		for (const double end = now_s() + std::atof(arguments[1]); now_s() < end;) {
			burn(3'000'000);
			burn_in_vdso(50'000);
			rest(3000);
		}
	return 0;
}
