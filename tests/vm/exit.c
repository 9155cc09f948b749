/* SPDX-License-Identifier: MIT */
/*
 * Ends the virtual machine with an exit status: exit N makes QEMU exit with 2 * N + 1.
 * Compiled by tests/vm/boot, run by the init that it writes. Debian's kernels have no /dev/port for the shell.
 */
#include <stdlib.h>
#include <sys/io.h>

int main(int argc, char **argv)
{
	const int port = 0xf4; /* of QEMU's isa-debug-exit device */

	if (ioperm(port, 4, 1))
		return 1;
	outb(argc > 1 ? atoi(argv[1]) : 0, port);
	return 0;
}
