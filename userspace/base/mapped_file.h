// SPDX-License-Identifier: MIT
// A file mapped read-only that may be truncated while it is read.
//
// A recorder truncates a stream to whole packets when the disk is full, also while somebody reads it. A load beyond the
// new end, or of an unreadable block, raises SIGBUS. pread() would avoid that, but copy every trace. Instead, as in
// systemd's journal and libwayland's shm pools, a handler maps zero pages from the fault to the mapping's end and marks
// the file as damaged: the load is repeated and returns 0, and readers check whole_bytes() before they trust the data.
//
// Any number of threads may read; with libpoet this runs in other programs, too. The handler is installed when the
// first file is mapped, unless leave_sigbus() was called before, and passes every SIGBUS that is not of a MappedFile to
// the previous handler. Invariants: the handler only accesses atomics and calls mmap, on a list whose nodes are never
// freed; a mapping is taken off the list before it is unmapped.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace monitor {

class MappedFile {
public:
	MappedFile() = default;
	// The whole file; an empty one gives an empty mapping. Throws Error.
	explicit MappedFile(const std::string &path);
	MappedFile(MappedFile &&other) noexcept { *this = std::move(other); }
	MappedFile &operator=(MappedFile &&other) noexcept
	{
		std::swap(guard_, other.guard_);
		std::swap(bytes_, other.bytes_);
		path_.swap(other.path_);
		holes_.swap(other.holes_);
		return *this;
	}
	~MappedFile();

	std::span<const std::byte> bytes() const { return bytes_; }
	std::size_t size() const { return bytes_.size(); }
	// For madvise().
	std::byte *data() const { return const_cast<std::byte *>(bytes_.data()); }
	// Length of the part before the first byte that could not be read so far; zeros follow it.
	std::size_t whole_bytes() const;
	// A hole in a sparse file: zeros, possibly too many to read.
	struct Hole {
		std::size_t begin = 0, end = 0;
	};
	// In order.
	const std::vector<Hole> &holes() const { return holes_; }
	// Whether bytes [from, end) were in the file when read. Also touches the next page, since zeros in the last
	// page of a truncated file raise no signal.
	bool was_in_file(std::size_t from, std::size_t end) const;

	struct Guard;

private:
	void find_holes(int fd);
	void compare_size() const;

	Guard *guard_ = nullptr; // its node in the list
	std::span<const std::byte> bytes_;
	std::vector<Hole> holes_;
	std::string path_; // instead of a descriptor: a trace may have more files than RLIMIT_NOFILE
};

// From now on no handler is installed: the process has its own, which calls survive_fault().
void leave_sigbus();
// For such a handler: whether this address (siginfo_t::si_addr) is in a MappedFile; if so, the load can be repeated.
bool survive_fault(const void *address) noexcept;

} // namespace monitor
