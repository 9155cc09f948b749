// SPDX-License-Identifier: MIT
// many_mappings PROCESSES MAPPINGS: processes with as many executable mappings each, which the kernel cannot merge.
// Says "ready" and waits to be killed.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char **words)
{
	const int processes = count > 2 ? atoi(words[1]) : 10, mappings = count > 2 ? atoi(words[2]) : 8190;
	int ready[2];
	if (pipe(ready) != 0)
		return 1;
	for (int i = 0; i < processes; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			char *at = mmap(0, 2 * 4096ul * mappings, PROT_NONE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
			for (int k = 0; k < mappings; k++)
				if (mprotect(at + 2 * 4096ul * k, 4096, PROT_READ | PROT_EXEC) != 0)
					break;
			if (write(ready[1], "x", 1) == 1)
				pause();
			_exit(0);
		}
	for (int i = 0; i < processes; i++) {
		char byte;
		if (read(ready[0], &byte, 1) != 1)
			return 1;
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
