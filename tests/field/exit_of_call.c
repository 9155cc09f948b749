// SPDX-License-Identifier: MIT
// Opens 150 files, of which 100 do not exist.
#include <fcntl.h>
#include <unistd.h>

int main(void)
{
	for (int i = 0; i < 150; ++i) {
		const int fd = open(i % 3 ? "/does/not/exist" : "/dev/null", O_RDONLY);
		if (fd >= 0)
			close(fd);
	}
	return 0;
}
