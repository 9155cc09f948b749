// SPDX-License-Identifier: MIT
#include "mapped_file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "fd.h"

namespace monitor {

struct MappedFile::Guard {
	std::atomic<std::uintptr_t> begin = 0; // 0: free
	std::atomic<std::size_t> size_bytes = 0, whole_bytes = 0;
	dev_t device = 0;
	ino_t inode = 0;
	Guard *next = nullptr;
};

namespace {

using Guard = MappedFile::Guard;

std::atomic<Guard *> guards = nullptr;
std::mutex guards_changed; // never taken by the handler
bool has_handler = false;
struct sigaction previous_handler;
const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));

void lower(std::atomic<std::size_t> &value, std::size_t to)
{
	std::size_t now = value.load(std::memory_order_relaxed);
	while (to < now && !value.compare_exchange_weak(now, to, std::memory_order_relaxed)) {
	}
}

void call_previous_handler(int number, siginfo_t *info, void *context)
{
	if (previous_handler.sa_flags & SA_SIGINFO)
		return previous_handler.sa_sigaction(number, info, context);
	if (previous_handler.sa_handler == SIG_IGN && info->si_code <= 0)
		return; // sent by kill(2)
	if (previous_handler.sa_handler != SIG_DFL && previous_handler.sa_handler != SIG_IGN)
		return previous_handler.sa_handler(number);
	struct sigaction standard = {}; // the load is repeated and kills the process
	standard.sa_handler = SIG_DFL;
	::sigaction(SIGBUS, &standard, nullptr);
	if (info->si_code <= 0)
		::raise(number);
}

void on_sigbus(int number, siginfo_t *info, void *context)
{
	const int error_number = errno;
	if (info->si_code != BUS_ADRERR || !survive_fault(info->si_addr))
		call_previous_handler(number, info, context);
	errno = error_number;
}

// Called with guards_changed held.
void install_handler()
{
	if (std::exchange(has_handler, true))
		return;
	struct sigaction action = {};
	action.sa_sigaction = on_sigbus;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	::sigaction(SIGBUS, nullptr, &previous_handler); // before ours is installed
	::sigaction(SIGBUS, &action, nullptr);
}

Guard *add_guard(void *address, const struct stat &status)
{
	const auto size_bytes = static_cast<std::size_t>(status.st_size);
	const std::lock_guard lock(guards_changed);
	install_handler();
	Guard *each = guards.load(std::memory_order_relaxed);
	while (each && each->begin.load(std::memory_order_relaxed) != 0)
		each = each->next;
	Guard *const entry = each ? each : new Guard;
	entry->size_bytes.store(size_bytes, std::memory_order_relaxed);
	entry->whole_bytes.store(size_bytes, std::memory_order_relaxed);
	entry->device = status.st_dev;
	entry->inode = status.st_ino;
	entry->begin.store(reinterpret_cast<std::uintptr_t>(address), std::memory_order_release);
	if (!each) {
		entry->next = guards.load(std::memory_order_relaxed);
		guards.store(entry, std::memory_order_release);
	}
	return entry;
}

} // namespace

MappedFile::MappedFile(const std::string &path) : path_(path)
{
	struct stat status;
	const Fd fd = open_regular(path, status);
	if (status.st_size == 0)
		return;
	const auto size_bytes = static_cast<std::size_t>(status.st_size);
	void *address = ::mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, fd.get(), 0);
	if (address == MAP_FAILED)
		throw Error(errno, "cannot map " + path);
	Mapping owner(address, size_bytes);
	constexpr std::size_t block_bytes = 512; // stat(2)
	if (static_cast<std::size_t>(status.st_blocks) < size_bytes / block_bytes)
		find_holes(fd.get());
	guard_ = add_guard(address, status);
	bytes_ = owner.release();
}

// lseek(2): file systems without holes report all as data.
void MappedFile::find_holes(int fd)
{
	const auto file_end = static_cast<std::size_t>(::lseek(fd, 0, SEEK_END));
	for (;;) { // holes are at least a disk block apart
		const ::off_t begin =
		    ::lseek(fd, holes_.empty() ? 0 : static_cast<::off_t>(holes_.back().end), SEEK_HOLE);
		if (begin < 0 || static_cast<std::size_t>(begin) >= file_end)
			return;
		const ::off_t end = ::lseek(fd, begin, SEEK_DATA);
		holes_.push_back({static_cast<std::size_t>(begin), end < 0 ? file_end : static_cast<std::size_t>(end)});
	}
}

MappedFile::~MappedFile()
{
	if (!guard_)
		return;
	{
		const std::lock_guard lock(guards_changed);
		guard_->begin.store(0, std::memory_order_release);
	}
	::munmap(data(), size());
}

std::size_t MappedFile::whole_bytes() const
{
	return guard_ ? guard_->whole_bytes.load(std::memory_order_relaxed) : 0;
}

// The file may have shrunk by less than a page. Looked up by name; ignored if the name is now another file's.
void MappedFile::compare_size() const
{
	struct stat status;
	if (::stat(path_.c_str(), &status) != 0 || status.st_ino != guard_->inode || status.st_dev != guard_->device)
		return;
	lower(guard_->whole_bytes, static_cast<std::size_t>(status.st_size));
}

bool MappedFile::was_in_file(std::size_t from, std::size_t end) const
{
	if (!guard_ || end <= from)
		return true;
	const auto touch = [this](std::size_t at) {
		static_cast<void>(*static_cast<const volatile std::byte *>(bytes_.data() + at));
	};
	for (std::size_t at = from; at < end; at += page_bytes)
		touch(at);
	const std::size_t after = end - 1 + page_bytes;
	touch(std::min(after, size() - 1));
	if (after < size() && whole_bytes() == size()) [[likely]]
		return true;
	compare_size();
	return end <= whole_bytes();
}

void leave_sigbus()
{
	const std::lock_guard lock(guards_changed);
	has_handler = true;
}

bool survive_fault(const void *untrusted_address) noexcept
{
	const auto at = reinterpret_cast<std::uintptr_t>(untrusted_address);
	for (Guard *each = guards.load(std::memory_order_acquire); each; each = each->next) {
		const std::uintptr_t begin = each->begin.load(std::memory_order_acquire);
		const std::size_t size_bytes = each->size_bytes.load(std::memory_order_relaxed);
		if (begin == 0 || at < begin || at - begin >= size_bytes ||
		    each->begin.load(std::memory_order_acquire) != begin) // so that both belong to one file
			continue;
		const std::uintptr_t page = at / page_bytes * page_bytes;
		lower(each->whole_bytes, page - begin);
		void *const zeros = ::mmap(reinterpret_cast<void *>(page), begin + size_bytes - page, PROT_READ,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
		return zeros != MAP_FAILED;
	}
	return false;
}

} // namespace monitor
