/* SPDX-License-Identifier: MIT */
/* What a large build is to a tracer: large_build N starts N processes that live for some microseconds, several at once.
 */
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const int makers = 4, processes = argc > 1 ? atoi(argv[1]) : 1000;
	for (int maker = 0; maker < makers; ++maker) {
		if (fork() != 0)
			continue;
		for (int i = maker; i < processes; i += makers) {
			const pid_t child = vfork();
			if (child == 0) {
				prctl(PR_SET_NAME, i % 3 ? "build_cc" : "build_as");
				_exit(0);
			}
			waitpid(child, NULL, 0);
		}
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
