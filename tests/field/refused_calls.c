// SPDX-License-Identifier: MIT
// 1000 times: getppid, which a seccomp filter refuses with EPERM, then getuid, which it allows; 100 times uname, of
// which it refuses the second half.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

static int refuse(unsigned number)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
	int refused = 0, allowed = 0;
	struct utsname name;

	for (int i = 0; i < 50; i++)
		allowed += uname(&name) == 0;
	if (refuse(SYS_getppid) || refuse(SYS_uname))
		return 2;
	for (int i = 0; i < 50; i++)
		refused += uname(&name) == -1;
	for (int i = 0; i < 1000; i++) {
		refused += syscall(SYS_getppid) == -1 && errno == EPERM;
		allowed += syscall(SYS_getuid) >= 0;
		if (i % 100 == 0)
			sched_yield(); /* a switch between an entry and its exit */
	}
	printf("%d %d\n", refused, allowed);
	return refused != 1050 || allowed != 1050;
}
