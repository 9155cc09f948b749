// SPDX-License-Identifier: MIT
// File descriptors and memory mappings that close themselves. Ownership is never shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace monitor {

class Fd {
public:
	Fd() = default;
	explicit Fd(int fd) : fd_(fd) {}
	Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	Fd &operator=(Fd &&other) noexcept
	{
		std::swap(fd_, other.fd_);
		return *this;
	}
	~Fd() { reset(); }

	int get() const { return fd_; }
	explicit operator bool() const { return fd_ >= 0; }
	int release() { return std::exchange(fd_, -1); }
	void reset()
	{
		if (fd_ >= 0)
			::close(std::exchange(fd_, -1));
	}

private:
	int fd_ = -1;
};

class Mapping {
public:
	Mapping() = default;
	Mapping(void *address, std::size_t size_bytes) : address_(address), size_bytes_(size_bytes) {}
	Mapping(Mapping &&other) noexcept
	    : address_(std::exchange(other.address_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0))
	{
	}
	Mapping &operator=(Mapping &&other) noexcept
	{
		std::swap(address_, other.address_);
		std::swap(size_bytes_, other.size_bytes_);
		return *this;
	}
	~Mapping()
	{
		if (address_)
			::munmap(address_, size_bytes_);
	}

	// Child processes do without it: a fork copies the page tables of memory that devices and BPF maps share.
	void keep_from_children() const { ::madvise(address_, size_bytes_, MADV_DONTFORK); }

	// The mapping passes to the caller.
	std::span<std::byte> release()
	{
		return {static_cast<std::byte *>(std::exchange(address_, nullptr)), std::exchange(size_bytes_, 0)};
	}

	std::byte *data() const { return static_cast<std::byte *>(address_); }
	std::size_t size() const { return size_bytes_; }
	std::span<const std::byte> bytes() const { return {data(), size_bytes_}; }

private:
	void *address_ = nullptr;
	std::size_t size_bytes_ = 0;
};

// Open a file or throw Error("cannot open PATH: reason").
Fd open_file(const std::string &path, int flags, unsigned mode = 0);

// Open a regular file for reading; opening a pipe without a writer would block forever. Throws Error.
Fd open_regular(const std::string &path, struct stat &status);

// The whole text of a regular file, or its first max_bytes. Throws Error.
std::string read_file(const std::string &path, std::size_t max_bytes);

// The whole text of a (proc) file, or its start up to max_bytes; "" if it cannot be read or is no regular file.
// Throws Error if this process can open no more files.
std::string read_text(const std::string &path, std::size_t max_bytes = std::string::npos);

// Read until `to` is full or the file ends; returns the number of bytes, or -1 with errno.
ssize_t read_at(int fd, std::span<std::byte> to, std::uint64_t offset);

// Write all bytes or throw Error("cannot write PATH: reason").
void write_all(int fd, std::span<const std::byte> bytes, const std::string &path);

// Replace a file's content in one step: write PATH.new with this mode, then rename. Throws Error.
void replace_file(const std::string &path, const std::string &text, unsigned mode);

} // namespace monitor
