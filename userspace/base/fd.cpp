// SPDX-License-Identifier: MIT
#include "fd.h"

#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>

#include "error.h"

namespace monitor {

Fd open_file(const std::string &path, int flags, unsigned mode)
{
	Fd fd(::open(path.c_str(), flags | O_CLOEXEC, mode));
	if (!fd)
		throw Error(errno, "cannot open " + path);
	return fd;
}

Mapping map_file(const std::string &path)
{
	Fd fd = open_file(path, O_RDONLY | O_NONBLOCK); // a pipe without a writer would wait for ever
	struct stat status;
	if (::fstat(fd.get(), &status) < 0)
		throw Error(errno, "cannot read " + path);
	if (!S_ISREG(status.st_mode))
		throw Error(path + " is not a regular file");
	if (status.st_size == 0)
		return {};
	auto size_bytes = static_cast<std::size_t>(status.st_size);
	void *address = ::mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, fd.get(), 0);
	if (address == MAP_FAILED)
		throw Error(errno, "cannot map " + path);
	return {address, size_bytes};
}

std::string read_text(const std::string &path, std::size_t most_bytes)
{
	std::string text;
	Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	struct stat status;
	if (!fd || ::fstat(fd.get(), &status) < 0 || !S_ISREG(status.st_mode))
		return text;
	char chunk[16384];
	for (ssize_t n; text.size() < most_bytes && (n = ::read(fd.get(), chunk, sizeof chunk)) > 0;)
		text.append(chunk, static_cast<std::size_t>(n));
	return text;
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
	} catch (const Error &) {
		::unlink(temporary.c_str());
		throw;
	}
	if (::rename(temporary.c_str(), path.c_str()) < 0)
		throw Error(errno, "cannot write " + path);
}

} // namespace monitor
