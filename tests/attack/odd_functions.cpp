// SPDX-License-Identifier: MIT
// Functions that are left in other ways than by a return, or called in others: exceptions, longjmp, tail calls,
// recursion, alternate stacks, fork, threads. Prints how often each was called.
#include <csetjmp>
#include <cstdio>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define FUNCTION extern "C" __attribute__((noinline, noclone))
enum { LEAF, THROWING, JUMPING, TAIL, TAIL_OF, RECURSIVE, FORKING, COUNT };
static const char *names[] = {"f_leaf", "f_throw", "f_jump", "f_tail", "f_tail_of", "f_recursive", "f_fork"};
static long calls[COUNT];
static jmp_buf out;
static ucontext_t main_context, other_context;

static void called(int which)
{
	__atomic_fetch_add(&calls[which], 1, __ATOMIC_RELAXED);
}

FUNCTION long f_leaf(long a)
{
	called(LEAF);
	return a * 3;
}

FUNCTION long f_throw(long a)
{
	called(THROWING);
	if (a % 3 == 0)
		throw std::runtime_error("left");
	return a;
}

FUNCTION long f_jump(long a)
{
	called(JUMPING);
	if (a % 5 == 0)
		longjmp(out, 1);
	return a;
}

FUNCTION long f_tail_of(long a)
{
	called(TAIL_OF);
	return a + 1;
}

FUNCTION long f_tail(long a)
{
	called(TAIL);
	return f_tail_of(a + 1);
}

FUNCTION long f_recursive(long n)
{
	called(RECURSIVE);
	return n < 2 ? n : f_recursive(n - 1) + f_recursive(n - 2);
}

FUNCTION long f_fork(long a)
{
	called(FORKING);
	pid_t child = fork();
	if (!child)
		_exit(0);
	waitpid(child, nullptr, 0);
	return a;
}

static void other_stack()
{
	for (int i = 0; i < 50; i++) {
		f_leaf(i);
		swapcontext(&other_context, &main_context);
	}
}

static void *thread(void *unused)
{
	for (int i = 0; i < 1000; i++)
		f_leaf(i) + f_recursive(5);
	return unused;
}

int main()
{
	static char stack[65536];
	pthread_t threads[2];
	for (auto &each : threads)
		pthread_create(&each, nullptr, thread, nullptr);
	for (volatile int i = 0; i < 300; i++) {
		try {
			f_throw(i);
		} catch (const std::runtime_error &) {
		}
		if (!setjmp(out))
			f_jump(i);
		f_tail(i);
	}
	getcontext(&other_context);
	other_context.uc_stack.ss_sp = stack;
	other_context.uc_stack.ss_size = sizeof stack;
	makecontext(&other_context, other_stack, 0);
	for (int i = 0; i < 50; i++)
		swapcontext(&main_context, &other_context);
	for (int i = 0; i < 5; i++)
		f_fork(i);
	for (auto &each : threads)
		pthread_join(each, nullptr);
	for (int i = 0; i < COUNT; i++)
		printf("%s=%ld ", names[i], calls[i]);
	return 0;
}
