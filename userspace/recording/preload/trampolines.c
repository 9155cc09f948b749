// SPDX-License-Identifier: MIT
// What a patched sled calls: saves every register that a function may find in use, and calls the function of post.c
// with the function's number and the stack pointer. Called through a stub near the sled (patch.c), which has pushed the
// number; next in the flow: post.c.
//
// Invariant: nothing from here on uses a vector or floating point register, because none is saved. So all of this
// library is compiled for general registers only, and after its constructors it calls no function of another one.

// At entry: the number, and below it, if the sled called, the address behind it. `above`: bytes on the stack between
// the number and what the stack pointer was at the sled.
// An unwinder may come by at any instruction, in a signal handler: so each push and pop is described.
#define PUSH(name) "push %" name "\n.cfi_adjust_cfa_offset 8\n"
#define POP(name) "pop %" name "\n.cfi_adjust_cfa_offset -8\n"
#define TRAMPOLINE(name, handler, above)                                                                              \
	__asm__(".pushsection .text\n"                                                                                \
		".balign 16\n"                                                                                        \
		".globl " name "\n"                                                                                   \
		".hidden " name "\n"                                                                                  \
		".type " name ", @function\n" name ":\n"                                                              \
		".cfi_startproc\n"                                                                                    \
		".cfi_def_cfa_offset 16\n" PUSH("rax") PUSH("rcx") PUSH("rdx") PUSH("rsi") PUSH("rdi") PUSH("r8")     \
		    PUSH("r9") PUSH("r10") PUSH("r11") "mov 72(%rsp), %edi\n"                                         \
						       "lea 72 + 8 + " above "(%rsp), %rsi\n"                         \
						       "call " handler "\n" POP("r11") POP("r10") POP("r9") POP("r8") \
							   POP("rdi") POP("rsi") POP("rdx") POP("rcx")                \
							       POP("rax") "lea 8(%rsp), %rsp\n"                       \
									  ".cfi_adjust_cfa_offset -8\n"               \
									  "ret\n"                                     \
									  ".cfi_endproc\n"                            \
									  ".size " name ", . - " name "\n"            \
									  ".popsection\n")

TRAMPOLINE("monitor_called_at_entry", "monitor_post_entry", "8");
TRAMPOLINE("monitor_called_at_exit", "monitor_post_exit", "8");
TRAMPOLINE("monitor_jumped_to_at_exit", "monitor_post_exit", "0");

// The child of a vfork runs with its parent's thread-local memory, but on another CPU than rseq(2) tells there, so it
// must not post: it counts itself in, and its parent, which goes on when the child is gone, out. Like glibc's, it keeps
// the return address in a register, because the child overwrites the stack.
__asm__(".pushsection .text\n"
	".balign 16\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	".cfi_startproc\n"
	"pop %rdi\n"
	".cfi_adjust_cfa_offset -8\n"
	".cfi_register %rip, %rdi\n"
	"mov $58, %eax\n" // SYS_vfork
	"syscall\n"
	"push %rdi\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_offset %rip, -8\n"
	"cmp $-4095, %rax\n"
	"jae 2f\n"
	"mov monitor_vforks@gottpoff(%rip), %rdx\n"
	"test %eax, %eax\n"
	"jnz 1f\n"
	"incl %fs:(%rdx)\n"
	"ret\n"
	"1: decl %fs:(%rdx)\n"
	"ret\n"
	"2: mov %eax, %edi\n"
	"jmp monitor_vfork_failed\n"
	".cfi_endproc\n"
	".size vfork, . - vfork\n"
	".popsection\n");
