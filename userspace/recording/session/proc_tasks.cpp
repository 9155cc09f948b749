// SPDX-License-Identifier: MIT
#include "proc_tasks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_set>

#include <unistd.h>

#include "base/fd.h"
#include "recording/recorder/process_numbers.h"

namespace monitor::record {
namespace {

std::uint16_t state_of(char letter)
{
	const std::size_t bit = std::string_view("SDTtXZ-I").find(letter);
	return bit == std::string_view::npos ? 0 : static_cast<std::uint16_t>(1u << bit);
}

// "TID (COMM) S PPID ... processor is the 39th": proc(5).
bool parse_stat(const std::string &text, edc_task &task)
{
	const std::size_t open = text.find('('), close = text.rfind(')');
	if (open == std::string::npos || close == std::string::npos || close < open)
		return false;
	text.copy(task.comm, sizeof task.comm - 1, open + 1);
	std::memset(task.comm + std::min(close - open - 1, sizeof task.comm - 1), 0,
		    sizeof task.comm - std::min(close - open - 1, sizeof task.comm - 1));
	char letter = 0;
	int ppid = 0, used = 0;
	if (std::sscanf(text.c_str() + close + 1, " %c %d%n", &letter, &ppid, &used) != 2)
		return false;
	task.state = state_of(letter);
	task.ppid = ppid;
	const char *at = text.c_str() + close + 1 + used;
	for (int field = 5; field < 39 && at; ++field)
		at = std::strchr(at + 1, ' ');
	task.cpu = at ? static_cast<std::uint16_t>(std::atoi(at)) : 0;
	return true;
}

std::string task_directory(int pid, int tid)
{
	return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid);
}

std::unordered_set<int> numbers_of(const std::vector<edc_task> &tasks)
{
	std::unordered_set<int> numbers;
	for (const edc_task &task : tasks)
		numbers.insert(task.pid);
	return numbers;
}

} // namespace

std::vector<edc_task> tasks_only_in_proc(const std::vector<edc_task> &listed, std::uint64_t time, bool filtering)
{
	const std::unordered_set<int> known = numbers_of(listed);
	std::vector<edc_task> found;
	for (int pid : numbers_in("/proc"))
		for (int tid : numbers_in("/proc/" + std::to_string(pid) + "/task")) {
			edc_task task{};
			if (known.contains(tid) || !parse_stat(read_text(task_directory(pid, tid) + "/stat"), task))
				continue;
			task.time = time;
			task.pid = tid;
			task.tgid = pid;
			task.syscall = EDC_NO_SYSCALL;
			task.flags = EDC_THREAD_HIDDEN | (filtering ? EDC_THREAD_FILTERED : 0);
			found.push_back(task);
		}
	return found;
}

void drop_new_tasks(std::vector<edc_task> &tasks, const std::vector<edc_task> &listed_after)
{
	const std::unordered_set<int> known = numbers_of(listed_after);
	std::erase_if(tasks, [&known](const edc_task &task) {
		return known.contains(task.pid) || ::access(task_directory(task.tgid, task.pid).c_str(), F_OK) < 0;
	});
}

} // namespace monitor::record
