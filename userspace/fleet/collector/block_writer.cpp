// SPDX-License-Identifier: MIT
#include "block_writer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "fleet/wire/batch.h"

namespace monitor::fleet {
namespace {

// Returns errno, or 0 if all bytes were written; `written`: their number.
int write_at(int fd, std::span<const std::byte> bytes, std::uint64_t offset, std::size_t &written)
{
	for (written = 0; written < bytes.size();) {
		const ssize_t n =
		    ::pwrite(fd, bytes.data() + written, bytes.size() - written, static_cast<off_t>(offset + written));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		written += static_cast<std::size_t>(n);
	}
	return 0;
}

int read_block(int fd, std::uint64_t offset, std::array<std::byte, block_bytes> &block)
{
	const ssize_t n = read_at(fd, block, offset);
	if (n < 0)
		return errno;
	return n == static_cast<ssize_t>(block.size()) ? 0 : EIO;
}

bool is_hole(const std::array<std::byte, block_bytes> &block)
{
	return std::ranges::all_of(block, [](std::byte byte) { return byte == std::byte{0}; });
}

// Writes the bytes if there is a hole, and compares them with the block otherwise. False: an error, in placed.error.
bool place_block(int fd, std::uint64_t block, std::span<const std::byte> bytes, unsigned number, bool rewrite,
		 Placed &placed)
{
	std::array<std::byte, block_bytes> old_block;
	placed.error = read_block(fd, block * block_bytes, old_block);
	if (placed.error)
		return false;
	const bool is_same = std::memcmp(old_block.data(), bytes.data(), block_bytes) == 0;
	if (!is_same && !is_hole(old_block)) {
		placed.conflicts.push_back(number);
		return true;
	}
	placed.repeated += is_same;
	std::size_t written;
	if (!is_same || rewrite)
		placed.error = write_at(fd, bytes, block * block_bytes, written);
	placed.added += !is_same && placed.error == 0;
	return placed.error == 0;
}

// Counts blocks in a part of the file that is not a hole.
std::uint64_t count_in_data(int fd, std::uint64_t first, std::uint64_t end)
{
	std::uint64_t count = 0;
	for (std::uint64_t block = first; block < end; ++block) {
		std::uint32_t magic = 0;
		count += ::pread(fd, &magic, sizeof magic, static_cast<off_t>(block * block_bytes)) == sizeof magic &&
			 magic != 0;
	}
	return count;
}

} // namespace

Placed place_blocks(int fd, std::uint64_t first_block, std::span<const std::byte> blocks, bool rewrite,
		    std::uint64_t max_ahead)
{
	Placed placed;
	struct stat status;
	if (::fstat(fd, &status) < 0) {
		placed.error = errno;
		return placed;
	}
	const std::uint64_t old_blocks = static_cast<std::uint64_t>(status.st_size) / block_bytes;
	placed.size_blocks = old_blocks;
	placed.too_far = first_block > old_blocks + max_ahead;
	if (placed.too_far)
		return placed;
	const std::uint64_t count = blocks.size() / block_bytes;
	std::uint64_t existing = first_block < old_blocks ? std::min(count, old_blocks - first_block) : 0;
	for (std::uint64_t i = 0; i < existing; ++i)
		if (!place_block(fd, first_block + i, blocks.subspan(i * block_bytes, block_bytes),
				 static_cast<unsigned>(i), rewrite, placed))
			return placed;
	if (existing == count)
		return placed;
	std::size_t written;
	const std::uint64_t from = first_block + existing;
	placed.error = write_at(fd, blocks.subspan(existing * block_bytes), from * block_bytes, written);
	if (written >= block_bytes)
		placed.size_blocks = from + written / block_bytes;
	placed.added += static_cast<unsigned>(written / block_bytes);
	if (placed.error && ::ftruncate(fd, static_cast<off_t>(placed.size_blocks * block_bytes)) < 0)
		placed.error = errno;
	return placed;
}

std::uint64_t count_blocks(const std::string &path)
{
	const Fd file = open_file(path, O_RDONLY | O_NOFOLLOW);
	struct stat status;
	if (::fstat(file.get(), &status) < 0)
		throw Error(errno, "cannot read " + path);
	const auto size = static_cast<std::uint64_t>(status.st_size);
	if (static_cast<std::uint64_t>(status.st_blocks) * 512 >= size) // no holes
		return size / block_bytes;
	std::uint64_t count = 0;
	for (off_t data = 0; (data = ::lseek(file.get(), data, SEEK_DATA)) >= 0;) {
		const off_t hole = ::lseek(file.get(), data, SEEK_HOLE);
		if (hole < 0)
			break;
		count += count_in_data(file.get(), static_cast<std::uint64_t>(data) / block_bytes,
				       static_cast<std::uint64_t>(hole) / block_bytes);
		data = hole;
	}
	return count;
}

} // namespace monitor::fleet
