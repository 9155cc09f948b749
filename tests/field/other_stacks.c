// SPDX-License-Identifier: MIT
// Calls getppid() on stacks of its own making: of a coroutine (swapcontext), of one that assembler changes to without a
// word to a debugger, of a signal handler, and of functions that are called on a stack above and below that of their
// caller; in code that is made at run time; and computes in functions of assembler that have no type or lie within
// another. For other_stacks.py.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noipa))
enum { STACK = 256 << 10 };

NOINLINE static void mark(void)
{
	syscall(SYS_getppid);
	__asm__ volatile("");
}

// void on_stack(void *top, void (*function)(void)), which debuggers can follow
__asm__(".text\n.globl on_stack\n.type on_stack, @function\non_stack:\n.cfi_startproc\n"
	"push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register 6\n"
	"mov %rdi, %rsp\ncall *%rsi\nleave\n.cfi_def_cfa 7, 8\nret\n.cfi_endproc\n.size on_stack, .-on_stack\n");
void on_stack(void *top, void (*function)(void));

// void jump(void **from, void *to): what libraries of coroutines do, without a description of the frame
__asm__(".text\n.globl jump\n.type jump, @function\njump:\n"
	"push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\nmov %rsp, (%rdi)\nmov %rsi, %rsp\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n.size jump, .-jump\n");
void jump(void **from, void *to);

// Without a type; the second lies within the third.
__asm__(".text\n.globl no_type\nno_type:\nmov $400000000, %rax\nno_type.loop:\ndec %rax\njnz "
	"no_type.loop\nret\n.balign 16\n"
	".globl outer_part\n.type outer_part, @function\nouter_part:\nmov $200000000, %rcx\ncall inner_part\n"
	"jmp 1f\n.type inner_part, @function\ninner_part:\nret\n.size inner_part, .-inner_part\n"
	"1:\ndec %rcx\njnz 1b\nret\n.size outer_part, .-outer_part\n");
void no_type(void);
void outer_part(void);

static char *stack_of(size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static ucontext_t outside, inside;

NOINLINE static void in_coroutine(void)
{
	mark();
	swapcontext(&inside, &outside);
	mark();
}

NOINLINE static void coroutines(void)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = malloc(STACK);
	inside.uc_stack.ss_size = STACK;
	inside.uc_link = &outside;
	makecontext(&inside, in_coroutine, 0);
	swapcontext(&outside, &inside);
	swapcontext(&outside, &inside);
}

static void *us, *them;

NOINLINE static void in_fiber(void)
{
	mark();
	jump(&them, us);
	_exit(1);
}

NOINLINE static void fibers(void)
{
	uintptr_t *top = (uintptr_t *)(stack_of(STACK) + STACK) - 16;
	top[6] = (uintptr_t)in_fiber; // above six registers
	jump(&us, top);
}

NOINLINE static void handler(int signal)
{
	(void)signal;
	mark();
}

NOINLINE static void in_signal(void)
{
	raise(SIGUSR1);
	__asm__ volatile("");
}

NOINLINE static void signals(void)
{
	const stack_t other = {.ss_sp = stack_of(STACK), .ss_size = STACK};
	sigaltstack(&other, NULL);
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	sigaction(SIGUSR1, &action, NULL);
	in_signal();
}

NOINLINE static void above(void)
{
	mark();
}

NOINLINE static void below(void)
{
	mark();
}

static char *three; // stacks; the thread has the middle one

NOINLINE static void *in_middle(void *unused)
{
	on_stack(three + STACK - 64, below);
	on_stack(three + 3 * STACK - 64, above);
	return unused;
}

NOINLINE static void called_elsewhere(void)
{
	pthread_t thread;
	pthread_attr_t attributes;
	three = stack_of(3 * STACK);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, three + STACK, STACK);
	pthread_create(&thread, &attributes, in_middle, NULL);
	pthread_join(thread, NULL);
}

// push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret; and what starts on another stack with the frame pointer 0, calls
// it and comes back
static const unsigned char made[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90,
				     0x90, 0x90, 0x90, 0x53, 0x55, 0x48, 0x89, 0xe3, 0x48, 0x89, 0xf4, 0x31, 0xed,
				     0xe8, 0xe1, 0xff, 0xff, 0xff, 0x48, 0x89, 0xdc, 0x5d, 0x5b, 0xc3};

NOINLINE static void in_made(void)
{
	mark();
}

NOINLINE static void made_at_run_time(void)
{
	char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(code, made, sizeof made);
	usleep(300000); // so that the mapping is known
	((void (*)(void (*)(void), void *))(code + 16))(in_made, stack_of(STACK) + STACK - 64);
}

int main(void)
{
	usleep(300000); // so that the program is known
	coroutines();
	fibers();
	signals();
	called_elsewhere();
	made_at_run_time();
	no_type();
	outer_part();
	return 0;
}
