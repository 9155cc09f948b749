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

void SystemClockLog::log(const std::string &host, const SystemClock &untrusted, std::uint64_t now_ns)
{
	const std::lock_guard lock(mutex_);
	Host &written = hosts_[host];
	if (!written.is_due(untrusted.is_synchronised, now_ns))
		return;
	if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST)
		throw Error(errno, "cannot create " + directory_);
	const std::string path = directory_ + '/' + host;
	const Fd file = open_file(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
	written = {untrusted.is_synchronised, now_ns};
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
