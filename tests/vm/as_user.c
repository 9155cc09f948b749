// SPDX-License-Identifier: MIT
/* as_user ID COMMAND...: the command as the user ID of the group ID, without any other group and without rights. */
#define _GNU_SOURCE
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **argument)
{
	const unsigned id = count > 2 ? (unsigned)atoi(argument[1]) : 0;

	if (id == 0 || setgroups(0, NULL) || setgid(id) || setuid(id)) {
		perror("as_user");
		return 2;
	}
	execvp(argument[2], argument + 2);
	perror(argument[2]);
	return 2;
}
