// SPDX-License-Identifier: MIT
#include "folder.h"

#include <cerrno>
#include <cstdlib>
#include <span>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/escape.h"

namespace monitor::archive {

bool is_measurement(const std::string &folder)
{
	return ::access((folder + "/" + measurement_file).c_str(), F_OK) == 0;
}

Fd lock_folder(const std::string &folder)
{
	Fd fd = open_file(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (::flock(fd.get(), LOCK_EX) < 0)
		if (errno != EINTR)
			throw Error(errno, "cannot lock " + printable(folder));
	return fd;
}

void replace_in_folder(const std::string &folder, const std::string &file, const std::string &text,
		       std::size_t max_bytes)
{
	if (text.size() >= max_bytes)
		throw Error("{} would have {} bytes, so it could not be read again: it was not changed",
			    printable(folder + "/" + file), text.size());
	struct stat status {};
	if (::stat(folder.c_str(), &status) < 0)
		throw Error(errno, "cannot write in " + printable(folder));
	std::string temporary = folder + "/.writing-XXXXXX";
	const Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
	if (!fd)
		throw Error(errno, "cannot write in " + printable(folder));
	try {
		const mode_t mask = ::umask(0);
		::umask(mask);
		write_all(fd.get(), std::as_bytes(std::span(text)), temporary);
		if (::fchmod(fd.get(), 0666 & ~mask & status.st_mode) < 0 || ::fsync(fd.get()) < 0 ||
		    ::rename(temporary.c_str(), (folder + "/" + file).c_str()) < 0)
			throw Error(errno, "cannot write " + printable(folder + "/" + file));
	} catch (const Error &) {
		::unlink(temporary.c_str());
		throw;
	}
}

} // namespace monitor::archive
