// SPDX-License-Identifier: MIT
#include "user_process_info.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/tsc.h"

namespace monitor::card {

edc_task describe_process(pid_t pid)
{
	edc_task task{};
	const std::string stat = read_text(fmt::format("/proc/{}/stat", pid));
	const std::size_t open = stat.find('('), close = stat.rfind(')');
	if (open != std::string::npos && close != std::string::npos && close > open) {
		stat.copy(task.comm, std::min(sizeof task.comm - 1, close - open - 1), open + 1);
		std::sscanf(stat.c_str() + close + 1, " %*c %d", &task.ppid);
	}
	task.time = read_tsc();
	task.pid = task.tgid = pid;
	task.syscall = EDC_NO_SYSCALL;
	return task;
}

bool in_other_pid_namespace(pid_t pid)
{
	const std::string status = read_text(fmt::format("/proc/{}/status", pid));
	const std::size_t line = status.find("\nNSpid:\t");
	if (line == std::string::npos)
		return false;
	const std::size_t numbers = line + std::strlen("\nNSpid:\t");
	const std::string_view own(status.data() + numbers, status.find('\n', numbers) - numbers);
	return own.find('\t') != std::string_view::npos;
}

bool has_thread(pid_t pid, std::uint32_t tid)
{
	return ::syscall(SYS_tgkill, pid, tid, 0) == 0 || errno != ESRCH;
}

} // namespace monitor::card
