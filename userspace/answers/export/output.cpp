// SPDX-License-Identifier: MIT
#include "output.h"

#include <span>

#include <fcntl.h>
#include <unistd.h>

namespace monitor::exporting {

Output::Output(const std::string &path) : path_(path)
{
	if (!is_standard())
		file_ = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	buffer_.reserve(buffer_bytes);
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
}

} // namespace monitor::exporting
