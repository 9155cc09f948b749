// SPDX-License-Identifier: MIT
#include "system_clock_log.h"

#include <cerrno>
#include <fcntl.h>
#include <span>
#include <sys/stat.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"

namespace monitor::fleet {

void SystemClockLog::take(const std::string &host, const SystemClock &untrusted, std::uint64_t now_ns)
{
	const std::lock_guard lock(mutex_);
	Host &mine = hosts_[host];
	const std::uint64_t since = now_ns - mine.written_ns;
	const bool is_due = mine.written_ns == 0 || since >= between_ns ||
			    (since >= least_between_ns && mine.is_synchronised != untrusted.is_synchronised);
	if (!is_due)
		return;
	if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST)
		throw Error(errno, "cannot create " + directory_);
	const std::string path = directory_ + '/' + host;
	const Fd file = open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
	mine = {untrusted.is_synchronised, now_ns};
	struct stat status {};
	if (::fstat(file.get(), &status) != 0 || status.st_size >= max_bytes)
		return;
	const std::string line =
	    json_dump(nlohmann::ordered_json{
		{"version", 1}, {"reference_ns", now_ns}, {"clock", system_clock_json(untrusted)}}) +
	    '\n';
	write_all(file.get(), std::as_bytes(std::span(line)), path);
}

} // namespace monitor::fleet
