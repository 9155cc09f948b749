// SPDX-License-Identifier: MIT
// Targets of patched sleds: save all live registers and call post.c with the function's number and the stack pointer.
// Reached through a stub near the sled (patch.c), which has pushed the number; next in the flow: post.c.
//
// Invariant: no code from here on uses vector or floating point registers, because they are not saved. So this library
// is compiled with -mgeneral-regs-only, and after its constructors it calls no other library.

// On entry the stack has the number, and next to it, if the sled called, the return address. `above`: bytes between the
// number and the stack pointer at the sled. CFI describes each push and pop, because a signal handler may unwind at any
// instruction.
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

// A vfork() child shares its parent's TLS, whose rseq(2) area has the parent's CPU, so it must not post: the counter is
// incremented in the child and decremented in the parent, which resumes when the child is gone. As in glibc, the return
// address is kept in a register, because the child overwrites the stack.
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
