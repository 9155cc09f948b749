// SPDX-License-Identifier: MIT
#include "user_process_info.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/tsc.h"
#include "recording/recorder/process_numbers.h"

namespace monitor::card {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_threads = 16384; // of a process
constexpr std::chrono::nanoseconds max_age_for_unknown = 5ms,
				   max_age_for_known = 1s; // of the table, for TIDs that it lacks or has

} // namespace

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

std::uint64_t lockable_bytes(pid_t pid)
{
	constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
	const std::string limits = record::text_of(fmt::format("/proc/{}/limits", pid)),
			  status = record::text_of(fmt::format("/proc/{}/status", pid));
	const auto number_after = [](const std::string &text, std::string_view label, int base, std::uint64_t &number) {
		const std::size_t at = text.find(label), from = text.find_first_not_of(" \t", at + label.size());
		return at != std::string::npos && from != std::string::npos &&
		       std::from_chars(text.data() + from, text.data() + text.size(), number, base).ec == std::errc();
	};
	std::uint64_t limit = 0, mapped_kib = 0, capabilities = 0;
	if (!number_after(limits, "\nMax locked memory", 10, limit) ||
	    !number_after(status, "\nVmSize:", 10, mapped_kib) ||
	    !number_after(status, "\nCapEff:", 16, capabilities) || capabilities >> CAP_IPC_LOCK & 1)
		return any;
	return limit > mapped_kib * 1024 ? limit - mapped_kib * 1024 : any;
}

bool in_other_pid_namespace(pid_t pid)
{
	return record::numbers_of(fmt::format("/proc/{}/status", pid)).find('\t') != std::string::npos;
}

void ThreadNumbers::read_threads()
{
	read_at_ = std::chrono::steady_clock::now();
	std::error_code error;
	std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", process_), error);
	for (std::size_t seen = 0; !error && task != std::filesystem::directory_iterator() && seen < max_threads;
	     ++seen) {
		const std::string numbers = record::numbers_of(task->path().string() + "/status");
		if (const std::size_t last = numbers.rfind('\t'); last != std::string::npos)
			outer_tids_[static_cast<std::uint32_t>(std::atoi(numbers.c_str() + last + 1))] =
			    static_cast<std::uint32_t>(std::atoi(numbers.c_str()));
		task.increment(error);
	}
}

std::uint32_t ThreadNumbers::find(std::uint32_t untrusted_tid)
{
	const auto since = std::chrono::steady_clock::now() - read_at_;
	if (since > (outer_tids_.contains(untrusted_tid) ? max_age_for_known : max_age_for_unknown))
		read_threads();
	if (outer_tids_.size() >= max_threads && !outer_tids_.contains(untrusted_tid))
		return static_cast<std::uint32_t>(process_);
	return outer_tids_.try_emplace(untrusted_tid, process_).first->second;
}

bool has_thread(pid_t pid, std::uint32_t tid)
{
	return ::syscall(SYS_tgkill, pid, tid, 0) == 0 || errno != ESRCH;
}

} // namespace monitor::card
