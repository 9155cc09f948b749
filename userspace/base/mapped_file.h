// SPDX-License-Identifier: MIT
// A file mapped read-only, which may be cut short while it is read.
//
// Who reads a recording beside the recorder cannot keep the file from shrinking: the recorder itself cuts a stream back
// to whole packets when the disk is full. A load behind the new end raises SIGBUS, as it does where the disk cannot be
// read. Copying with pread() would avoid that at the price of a copy of every trace; so, as in systemd's journal and in
// libwayland's shm pools, a handler maps zero pages from the fault to the end of the mapping and marks the file as
// damaged: the load is repeated and gives 0, nothing else happens, and who reads asks whole_bytes() before it believes
// what it has read.
//
// Used by all readers, in any number of threads; POET brings it into processes of others. The handler is installed when
// the first file is mapped, unless leave_sigbus() was called before, and hands every SIGBUS that is not of a MappedFile
// to the handler that was there. Invariants: the handler only reads atomics and calls mmap, on a list whose nodes are
// never freed; a mapping is off the list before it is unmapped.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

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
		return *this;
	}
	~MappedFile();

	std::span<const std::byte> bytes() const { return bytes_; }
	std::size_t size() const { return bytes_.size(); }
	// For madvise().
	std::byte *data() const { return const_cast<std::byte *>(bytes_.data()); }
	// What is before the first byte that could not be read so far; from there on are zeros.
	std::size_t whole_bytes() const;
	// Whether what was read from `from` to before `end` was of the file. Touches the page after it, too: zeros in
	// the last page of a file that was cut raise nothing.
	bool was_there(std::size_t from, std::size_t end) const;

	struct Guard;

private:
	void compare_size() const;

	Guard *guard_ = nullptr; // its place in the list
	std::span<const std::byte> bytes_;
	std::string path_; // no descriptor: a trace may have more files than a process may have descriptors
};

// From now on no handler is installed: the process has its own, which calls survive_fault().
void leave_sigbus();
// For such a handler: whether this address, of siginfo_t::si_addr, is of a MappedFile; if so, it can be read now.
bool survive_fault(const void *address) noexcept;

} // namespace monitor
