/* SPDX-License-Identifier: MIT */
/* How many instructions the verifier looked at in all loaded BPF programs: bpf_prog_info, since Linux 5.16. */
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int call(enum bpf_cmd command, union bpf_attr *attributes)
{
	return (int)syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

int main(void)
{
	unsigned long long instructions = 0;
	unsigned programs = 0;
	union bpf_attr next = {};

	while (!call(BPF_PROG_GET_NEXT_ID, &next)) {
		union bpf_attr number = {.prog_id = next.next_id}, asked;
		struct bpf_prog_info info = {};
		int program = call(BPF_PROG_GET_FD_BY_ID, &number);

		next.start_id = next.next_id;
		memset(&asked, 0, sizeof(asked));
		asked.info.bpf_fd = (__u32)program;
		asked.info.info_len = sizeof(info);
		asked.info.info = (unsigned long)&info;
		if (program < 0 || call(BPF_OBJ_GET_INFO_BY_FD, &asked)) {
			perror("verified");
			return 1;
		}
		close(program);
		programs++;
		instructions += info.verified_insns;
	}
	printf("verified: %llu instructions of %u programs\n", instructions, programs);
	return 0;
}
