// SPDX-License-Identifier: MIT
#include "fd.h"

#include <algorithm>
#include <cstdio>

#include <fcntl.h>

#include "error.h"

namespace monitor {

Fd open_file(const std::string &path, int flags, unsigned mode)
{
	Fd fd(::open(path.c_str(), flags | O_CLOEXEC, mode));
	if (!fd)
		throw Error(errno, "cannot open " + path);
	return fd;
}

Fd open_regular(const std::string &path, struct stat &status)
{
	Fd fd = open_file(path, O_RDONLY | O_NONBLOCK);
	if (::fstat(fd.get(), &status) < 0)
		throw Error(errno, "cannot read " + path);
	if (!S_ISREG(status.st_mode))
		throw Error(path + " is not a regular file");
	return fd;
}

// False if it could not be read to its end.
static bool read_to_end(int fd, std::size_t max_bytes, std::string &text)
{
	char chunk[16384];
	ssize_t n = 1;
	while (text.size() < max_bytes && n != 0) {
		n = ::read(fd, chunk, std::min(sizeof chunk, max_bytes - text.size()));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		text.append(chunk, static_cast<std::size_t>(n));
	}
	return true;
}

std::string read_file(const std::string &path, std::size_t max_bytes)
{
	struct stat status;
	const Fd fd = open_regular(path, status);
	std::string text;
	if (!read_to_end(fd.get(), max_bytes, text))
		throw Error(errno, "cannot read " + path);
	return text;
}

std::string read_text(const std::string &path, std::size_t max_bytes)
{
	std::string text;
	Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	if (!fd && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		throw Error(errno, "cannot open " + path);
	struct stat status;
	if (!fd || ::fstat(fd.get(), &status) < 0 || !S_ISREG(status.st_mode))
		return text;
	read_to_end(fd.get(), max_bytes, text);
	return text;
}

ssize_t read_at(int fd, std::span<std::byte> to, std::uint64_t offset)
{
	std::size_t have = 0;
	while (have < to.size()) {
		const ssize_t n = ::pread(fd, to.data() + have, to.size() - have, static_cast<off_t>(offset + have));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		have += static_cast<std::size_t>(n);
	}
	return static_cast<ssize_t>(have);
}

void write_all(int fd, std::span<const std::byte> bytes, const std::string &path)
{
	while (!bytes.empty()) {
		ssize_t n = ::write(fd, bytes.data(), bytes.size());
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			throw Error(errno, "cannot write " + path);
		bytes = bytes.subspan(static_cast<std::size_t>(n));
	}
}

void replace_file(const std::string &path, const std::string &text, unsigned mode)
{
	const std::string temporary = path + ".new";
	Fd fd = open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode);
	try {
		write_all(fd.get(), std::as_bytes(std::span(text)), temporary);
		if (::rename(temporary.c_str(), path.c_str()) < 0)
			throw Error(errno, "cannot write " + path);
	} catch (const Error &) {
		::unlink(temporary.c_str());
		throw;
	}
}

} // namespace monitor
