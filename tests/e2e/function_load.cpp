// SPDX-License-Identifier: MIT
// Functions that are left in every way, from several threads, and how often each was called, as JSON.
//
//     function_load THREADS ROUNDS [wait | family]     wait: for a line on standard input; family: children, too, of a
//                                                      fork, 3 calls of by_return, and of a vfork, 2
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#define KEPT extern "C" __attribute__((noinline, noclone, used))

namespace {
thread_local volatile int sink;
thread_local jmp_buf where;
std::atomic<long> returns, tails, callees, throws, throughs, thrown, catchers, jumps, jumpers, levels, conditions,
    conditions_taken, empties, parents;
} // namespace

KEPT int callee(int x)
{
	++callees;
	sink = x;
	return sink;
}
KEPT int by_return(int x)
{
	++returns;
	sink = x;
	if (x % 2)
		return sink + 1;
	sink = 5;
	return sink * 2;
}
KEPT int by_tail(int x)
{
	++tails;
	sink = x;
	return callee(x + 1);
}
KEPT int by_throw(int x)
{
	++throws;
	if (x % 3 == 0) {
		++thrown;
		throw std::runtime_error("out");
	}
	return sink = x;
}
KEPT int through(int x)
{
	++throughs;
	const int y = by_throw(x);
	sink = y;
	return y + 1;
}
KEPT int catcher(int x)
{
	++catchers;
	try {
		return through(x) + 1;
	} catch (const std::exception &) {
		sink = 7;
		return -1;
	}
}
KEPT void by_longjmp(int x)
{
	++jumps;
	sink = x;
	longjmp(where, 1);
}
KEPT int jumper(int x)
{
	++jumpers;
	if (setjmp(where) == 0)
		by_longjmp(x);
	sink = 3;
	return 4;
}
KEPT int recur(int x)
{
	++levels;
	sink = x;
	return x ? recur(x - 1) + sink : 0;
}
KEPT void last()
{
	std::fflush(stdout);
	std::exit(0);
}

// A conditional tail call; one whose first instruction leaves it; one whose first instruction is a loop's.
extern "C" int by_condition(int), empty(int), looped(int);
asm(".text\n"
    ".globl by_condition\n.type by_condition, @function\nby_condition:\n"
    "	test %edi, %edi\n	jne callee\n	xor %eax, %eax\n	ret\n.size by_condition, . - by_condition\n"
    ".globl empty\n.type empty, @function\nempty:\n	ret\n.size empty, . - empty\n"
    ".globl looped\n.type looped, @function\nlooped:\n"
    "	dec %edi\n	jns looped\n	ret\n.size looped, . - looped\n");

namespace {
void work(int rounds)
{
	for (int i = 0; i < rounds; ++i) {
		by_return(i);
		by_tail(i);
		catcher(i);
		jumper(i);
		recur(4);
		by_condition(i % 2);
		++conditions;
		conditions_taken += i % 2;
		empty(i);
		++empties;
		looped(3);
		getppid();
		++parents;
	}
}

void have_children()
{
	const pid_t forked = fork();
	if (forked == 0) {
		for (int i = 0; i < 3; ++i)
			by_return(i);
		_exit(0);
	}
	waitpid(forked, nullptr, 0);
	const pid_t child = vfork();
	if (child == 0) {
		by_return(1);
		by_return(2);
		_exit(0);
	}
	returns -= 2;
	waitpid(child, nullptr, 0);
	by_return(1);
}
} // namespace

int main(int argc, char **argv)
{
	const int count = argc > 1 ? std::atoi(argv[1]) : 1, rounds = argc > 2 ? std::atoi(argv[2]) : 1;
	if (argc > 3 && std::strcmp(argv[3], "wait") == 0)
		std::getchar();
	std::vector<std::thread> threads;
	for (int i = 0; i < count; ++i)
		threads.emplace_back(work, rounds);
	for (std::thread &thread : threads)
		thread.join();
	if (argc > 3 && std::strcmp(argv[3], "family") == 0)
		have_children();
	std::printf("{\"by_return\": %ld, \"by_tail\": %ld, \"callee\": %ld, \"by_throw\": %ld, \"through\": %ld, "
		    "\"catcher\": %ld, "
		    "\"by_longjmp\": %ld, \"jumper\": %ld, \"recur\": %ld, \"by_condition\": %ld, \"empty\": %ld, "
		    "\"thrown\": %ld, "
		    "\"taken\": %ld, \"getppid\": %ld}\n",
		    returns.load(), tails.load(), callees.load(), throws.load(), throughs.load(), catchers.load(),
		    jumps.load(), jumpers.load(), levels.load(), conditions.load(), empties.load(), thrown.load(),
		    conditions_taken.load(), parents.load());
	last();
}
