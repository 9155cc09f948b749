// SPDX-License-Identifier: MIT
#include "output.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"

namespace monitor::exporting {

Output::Output(const std::string &path) : path_(path)
{
	namespace fs = std::filesystem;
	buffer_.reserve(buffer_bytes);
	if (is_standard())
		return;
	std::error_code error;
	const fs::file_status existing = fs::status(path, error);
	if (fs::exists(existing) && !fs::is_regular_file(existing)) { // such as a pipe or a device
		file_ = open_file(path, O_WRONLY | O_TRUNC);
		return;
	}
	target_ = fs::exists(existing) ? fs::canonical(path, error).string() : path; // keeps a symbolic link
	const std::string temporary = target_ + "." + std::to_string(::getpid()) + ".new";
	file_ = Fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
	if (!file_)
		throw Error(errno, "cannot open " + path);
	temporary_ = temporary;
}

Output::~Output()
{
	if (!temporary_.empty())
		::unlink(temporary_.c_str());
}

void Output::append(std::string_view bytes)
{
	size_bytes_ += bytes.size();
	if (buffer_.size() + bytes.size() > buffer_bytes)
		flush();
	buffer_ += bytes;
}

void Output::flush()
{
	write_all(is_standard() ? STDOUT_FILENO : file_.get(), std::as_bytes(std::span(buffer_)),
		  is_standard() ? "standard output" : path_);
	buffer_.clear();
}

void Output::finish()
{
	flush();
	if (temporary_.empty())
		return;
	if (::rename(temporary_.c_str(), target_.c_str()) < 0)
		throw Error(errno, "cannot write " + path_);
	temporary_.clear();
}

} // namespace monitor::exporting
