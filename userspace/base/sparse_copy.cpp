// SPDX-License-Identifier: MIT
#include "sparse_copy.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fcntl.h>

#include "error.h"
#include "escape.h"
#include "fd.h"

namespace monitor {
namespace {

// Shares blocks where the file systems can (copy_file_range(2)). False: the file ends before.
bool copy_range(int from, int to, off_t begin, off_t end, const std::string &path)
{
	off_t read_at = begin, write_at = begin;
	while (read_at < end) {
		const ssize_t copied =
		    ::copy_file_range(from, &read_at, to, &write_at, static_cast<std::size_t>(end - read_at), 0);
		if (copied == 0)
			return false;
		if (copied < 0)
			break; // not between these file systems: read and write
	}
	std::vector<char> buffer(read_at < end ? 1 << 20 : 0);
	while (read_at < end) {
		const auto wanted = std::min<std::size_t>(buffer.size(), static_cast<std::size_t>(end - read_at));
		const ssize_t got = ::pread(from, buffer.data(), wanted, read_at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			throw Error(errno, "cannot read " + printable(path));
		if (got == 0)
			return false;
		const ssize_t written = ::pwrite(to, buffer.data(), static_cast<std::size_t>(got), read_at);
		if (written < 0 && errno != EINTR)
			throw Error(errno, "cannot write the copy of " + printable(path));
		read_at += std::max<ssize_t>(written, 0);
	}
	return true;
}

} // namespace

void copy_sparse(const std::string &from, const std::string &to, bool is_synced)
{
	struct stat status {};
	const Fd source = open_regular(from, status);
	const Fd target = open_file(to, O_WRONLY | O_CREAT | O_EXCL, status.st_mode & 0777);
	for (off_t at = 0, end; at < status.st_size; at = end) {
		const off_t begin = ::lseek(source.get(), at, SEEK_DATA);
		if (begin < 0 && errno == ENXIO)
			break; // a hole up to the end
		end = begin < 0 ? -1 : ::lseek(source.get(), begin, SEEK_HOLE);
		if (end < 0)
			end = status.st_size; // no support for holes
		if (!copy_range(source.get(), target.get(), std::max(begin, at), end, from))
			break;
	}
	if (::ftruncate(target.get(), status.st_size) < 0 || (is_synced && ::fsync(target.get()) < 0))
		throw Error(errno, "cannot write " + printable(to));
}

} // namespace monitor
