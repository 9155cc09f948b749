// SPDX-License-Identifier: MIT
#include "durable_file.h"

#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "error.h"
#include "fd.h"

namespace monitor {

std::string directory_of(const std::string &path)
{
	const std::size_t slash = path.rfind('/');
	return slash == std::string::npos ? "." : path.substr(0, slash ? slash : 1);
}

void sync_directory(const std::string &path)
{
	const Fd fd = open_file(path, O_RDONLY | O_DIRECTORY);
	if (::fsync(fd.get()) < 0)
		throw Error(errno, "cannot write the directory " + path);
}

void replace_file_durably(const std::string &path, const std::string &text, unsigned mode)
{
	const std::string temporary = path + ".new";
	{
		const Fd fd = open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode);
		try {
			write_all(fd.get(), std::as_bytes(std::span(text)), temporary);
			if (::fdatasync(fd.get()) < 0 || ::rename(temporary.c_str(), path.c_str()) < 0)
				throw Error(errno, "cannot write " + path);
		} catch (const Error &) {
			::unlink(temporary.c_str());
			throw;
		}
	}
	sync_directory(directory_of(path));
}

} // namespace monitor
