// SPDX-License-Identifier: MIT
#include "own_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace monitor::card {
namespace {

constexpr std::size_t max_file_bytes = 1 << 16;

bool is_only_ours(const struct stat &status)
{
	return status.st_uid == ::geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH));
}

} // namespace

Fd open_own_file(const std::string &directory, const std::string &path)
{
	const Fd folder(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	struct stat status {};
	if (!folder || ::fstat(folder.get(), &status) < 0 || !is_only_ours(status))
		return {};
	Fd file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
	if (!file || ::fstat(file.get(), &status) < 0 || !S_ISREG(status.st_mode) || !is_only_ours(status))
		return {};
	return file;
}

std::string own_text(const Fd &file)
{
	std::string text(max_file_bytes, '\0');
	const ssize_t size = file ? ::pread(file.get(), text.data(), text.size(), 0) : 0;
	if (size <= 0 || static_cast<std::size_t>(size) == text.size())
		return "";
	text.resize(static_cast<std::size_t>(size));
	return text;
}

void write_own_file(const std::string &directory, const std::string &path, const std::string &text)
{
	::mkdir(directory.c_str(), 0755);
	replace_file(path, text, 0600);
}

} // namespace monitor::card
