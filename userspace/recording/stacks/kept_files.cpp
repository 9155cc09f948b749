// SPDX-License-Identifier: MIT
#include "kept_files.h"

#include <algorithm>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

namespace monitor::stacks {
namespace {

bool may_read(const struct stat &status)
{
	return status.st_mode & S_IROTH || status.st_uid == ::geteuid();
}

bool is_at(const std::string &path, const struct stat &status)
{
	struct stat now;
	return ::stat(path.c_str(), &now) == 0 && now.st_ino == status.st_ino && now.st_dev == status.st_dev;
}

void copy(int from, std::uint64_t bytes, const std::string &path)
{
	const Fd to(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	off_t at = 0;
	while (to && static_cast<std::uint64_t>(at) < bytes)
		if (::sendfile(to.get(), from, &at, bytes - static_cast<std::uint64_t>(at)) <= 0)
			break;
	if (static_cast<std::uint64_t>(at) < bytes)
		::unlink(path.c_str());
}

} // namespace

void KeptFiles::add(std::uint32_t number, const std::string &path, Fd fd)
{
	if (files_.size() < max_files)
		files_.push_back({number, path, std::move(fd)});
}

void KeptFiles::write_unreachable(const std::string &directory) const
{
	std::uint64_t left = max_bytes;
	for (const Kept &file : files_) {
		struct stat status;
		if (::fstat(file.fd.get(), &status) < 0 || is_at(file.path, status) || !may_read(status))
			continue;
		const auto bytes = static_cast<std::uint64_t>(status.st_size);
		if (bytes > std::min(left, max_file_bytes))
			continue;
		left -= bytes;
		::mkdir(directory.c_str(), 0700);
		copy(file.fd.get(), bytes, fmt::format("{}/{}", directory, file.number));
	}
}

} // namespace monitor::stacks
