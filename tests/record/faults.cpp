// SPDX-License-Identifier: MIT
#include "faults.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>

namespace faults {
namespace {

std::atomic<long> until_failure{-1};
std::atomic<bool> failed{false};
thread_local bool is_spared = false;

bool is_the_one()
{
	if (is_spared || until_failure.load(std::memory_order_relaxed) < 0 || until_failure.fetch_sub(1) != 0)
		return false;
	failed = true;
	return true;
}

bool refuses(Plan &plan)
{
	errno = plan.next().error;
	return errno != 0;
}

Fault next_write()
{
	const Fault fault = writes.next();
	return fault.error      ? fault
	       : disk_room == 0 ? fails(ENOSPC)
				: takes(std::min(fault.max_bytes, disk_room.load()));
}

ssize_t written(ssize_t bytes)
{
	if (bytes > 0 && disk_room != unlimited)
		disk_room -= static_cast<std::size_t>(bytes);
	return bytes;
}

} // namespace

Plan writes, truncations, opens, mappings, renames;
std::atomic<std::size_t> disk_room{unlimited};
std::uint64_t (*monotonic_ns)() = nullptr;

void Plan::set(std::vector<Fault> faults, Fault always)
{
	faults_ = std::move(faults);
	always_ = always;
	calls_ = 0;
}

Fault Plan::next()
{
	const std::size_t call = calls_++;
	return call < faults_.size() ? faults_[call] : always_;
}

void fail_allocation(long number)
{
	failed = false;
	is_spared = false;
	until_failure = number;
}

void fail_allocation_of_others(long number)
{
	fail_allocation(number);
	is_spared = true;
}

bool allocation_failed()
{
	return failed;
}

} // namespace faults

void *operator new(std::size_t size)
{
	void *memory = faults::is_the_one() ? nullptr : std::malloc(std::max<std::size_t>(size, 1));
	if (!memory)
		throw std::bad_alloc();
	return memory;
}

void operator delete(void *memory) noexcept
{
	std::free(memory);
}

void operator delete(void *memory, std::size_t) noexcept
{
	std::free(memory);
}

extern "C" {

int __real_clock_gettime(clockid_t id, timespec *now);
int __real_ftruncate(int fd, off_t length);
void *__real_mmap(void *address, std::size_t length, int protection, int flags, int fd, off_t offset);
int __real_open(const char *path, int flags, ...);
int __real_openat(int directory, const char *path, int flags, ...);
int __real_rename(const char *from, const char *to);
ssize_t __real_write(int fd, const void *bytes, std::size_t count);
ssize_t __real_writev(int fd, const iovec *parts, int count);

int __wrap_clock_gettime(clockid_t id, timespec *now)
{
	if (id != CLOCK_MONOTONIC || !faults::monotonic_ns)
		return __real_clock_gettime(id, now);
	const std::uint64_t ns = faults::monotonic_ns();
	*now = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
	return 0;
}

int __wrap_ftruncate(int fd, off_t length)
{
	return faults::refuses(faults::truncations) ? -1 : __real_ftruncate(fd, length);
}

void *__wrap_mmap(void *address, std::size_t length, int protection, int flags, int fd, off_t offset)
{
	return faults::refuses(faults::mappings) ? MAP_FAILED
						 : __real_mmap(address, length, protection, flags, fd, offset);
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	const unsigned mode = flags & O_CREAT ? va_arg(arguments, unsigned) : 0;
	va_end(arguments);
	return faults::refuses(faults::opens) ? -1 : __real_open(path, flags, mode);
}

int __wrap_openat(int directory, const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	const unsigned mode = flags & O_CREAT ? va_arg(arguments, unsigned) : 0;
	va_end(arguments);
	return faults::refuses(faults::opens) ? -1 : __real_openat(directory, path, flags, mode);
}

int __wrap_rename(const char *from, const char *to)
{
	return faults::refuses(faults::renames) ? -1 : __real_rename(from, to);
}

ssize_t __wrap_write(int fd, const void *bytes, std::size_t count)
{
	const faults::Fault fault = faults::next_write();
	errno = fault.error;
	return fault.error ? -1 : faults::written(__real_write(fd, bytes, std::min(count, fault.max_bytes)));
}

// A short write ends within any of the parts.
ssize_t __wrap_writev(int fd, const iovec *parts, int count)
{
	const faults::Fault fault = faults::next_write();
	errno = fault.error;
	if (fault.error)
		return -1;
	std::array<iovec, 1024> taken;
	std::size_t left = fault.max_bytes;
	int used = 0;
	for (; used < count && left > 0; ++used) {
		taken.at(static_cast<std::size_t>(used)) = {parts[used].iov_base, std::min(parts[used].iov_len, left)};
		left -= taken.at(static_cast<std::size_t>(used)).iov_len;
	}
	return faults::written(__real_writev(fd, taken.data(), used));
}

} // extern "C"
