// SPDX-License-Identifier: MIT
#include "memory_bound.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <new>
#include <thread>

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fd.h"

namespace monitor {
namespace {

constexpr std::uint64_t max_bytes = 800'000'000;
constexpr std::uint64_t bytes_per_check = 64 << 10; // bytes read between two checks
constexpr std::uint64_t reading_divisor = 4;        // a quarter is for reading: the answer may take three times as much
constexpr std::uint64_t reserve_divisor = 16;       // each failed allocation raises the limit by a sixteenth
constexpr std::uint64_t stack_bytes = 1 << 20;      // of a thread; the kernel counts all of it

std::atomic<std::uint64_t> bound = 0, shared = 0; // shared: of all MemoryShares
std::atomic<bool> is_limited = false;

std::uint64_t page_size()
{
	return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

struct Memory {
	std::uint64_t own = 0;      // resident, without mapped files
	std::uint64_t writable = 0; // private mappings, touched or not: what RLIMIT_DATA bounds
};

Memory memory_now()
{
	char text[128];
	const Fd file(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
	const ssize_t n = file ? ::read(file.get(), text, sizeof text - 1) : 0;
	text[std::max<ssize_t>(n, 0)] = '\0';
	unsigned long resident = 0, of_files = 0, writable = 0;
	if (std::sscanf(text, "%*u %lu %lu %*u %*u %lu", &resident, &of_files, &writable) != 3)
		return {};
	return {(resident - of_files) * page_size(), writable * page_size()};
}

// new_handler. Raises the limit a little before it throws: destructors that run during unwinding allocate, too
// (nlohmann::json flattens itself), and would terminate the program if they failed.
[[noreturn]] void fail_with_a_reserve()
{
	rlimit limit{};
	::getrlimit(RLIMIT_DATA, &limit);
	limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur + bound / reserve_divisor, limit.rlim_max);
	::setrlimit(RLIMIT_DATA, &limit);
	throw std::bad_alloc();
}

// Sets RLIMIT_DATA. 0: restores it.
void limit_this_process(std::uint64_t bytes)
{
	static const rlimit before = [] {
		rlimit limit{};
		::getrlimit(RLIMIT_DATA, &limit);
		return limit;
	}();
	static const std::uint64_t at_start =
	    memory_now().writable + (std::thread::hardware_concurrency() + 4) * stack_bytes;
	rlimit limit = before;
	if (bytes) {
		pthread_attr_t threads;
		::pthread_attr_init(&threads);
		::pthread_attr_setstacksize(&threads, stack_bytes);
		::pthread_setattr_default_np(&threads);
		::pthread_attr_destroy(&threads);
		limit.rlim_cur = std::min<rlim_t>(at_start + bytes, before.rlim_cur);
	}
	::setrlimit(RLIMIT_DATA, &limit);
	std::set_new_handler(bytes ? fail_with_a_reserve : nullptr);
}

} // namespace

std::uint64_t usual_memory_bound()
{
	return std::min(static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * page_size() / 10, max_bytes);
}

void set_memory_bound(std::uint64_t bytes)
{
	bound = bytes;
	if (is_limited.exchange(false))
		limit_this_process(0);
}

std::uint64_t memory_bound()
{
	return bound;
}

void use_memory_bound()
{
	if (const std::uint64_t max_total = bound; max_total && !is_limited.exchange(true))
		limit_this_process(max_total);
}

bool is_memory_used_up(std::uint64_t bytes)
{
	thread_local std::uint64_t unchecked = bytes_per_check;
	thread_local bool is_used_up = false;
	const std::uint64_t max_total = bound.load(std::memory_order_relaxed);
	if (max_total == 0)
		return false;
	if ((unchecked += bytes) >= bytes_per_check) {
		use_memory_bound();
		unchecked = 0;
		is_used_up = memory_now().own > max_total / reading_divisor;
	}
	return is_used_up;
}

std::uint64_t memory_for_helpers()
{
	const std::uint64_t max_total = memory_bound() ? memory_bound() : usual_memory_bound();
	if (!memory_bound())
		return max_total / 2;
	static const std::uint64_t rest = [max_total] {
		const std::uint64_t kept =
		    std::min(std::max(max_total * 5 / 8, memory_now().own + max_total / 4), max_total);
		limit_this_process(kept);
		return max_total - kept;
	}();
	return rest;
}

MemoryShare::~MemoryShare()
{
	shared -= bytes_;
}

bool MemoryShare::take(std::uint64_t bytes)
{
	const std::uint64_t max_total = (bound ? bound.load() : usual_memory_bound()) / 4;
	std::uint64_t before = shared.load();
	while (before <= max_total && bytes <= max_total - before)
		if (shared.compare_exchange_weak(before, before + bytes)) {
			bytes_ += bytes;
			return true;
		}
	return false;
}

std::string memory_ended_text(std::uint64_t ended_at, bool has_window)
{
	return "the answer takes more than " + std::to_string(ended_at / 1'000'000) + " MB of memory: " +
	       (has_window ? "select less, such as by --from and --to"
			   : "give it fewer or smaller recordings or models") +
	       ", or allow more: `monitor --memory SIZE COMMAND`";
}

std::string memory_used_up_text()
{
	return "to read it and to answer takes more than " + std::to_string(bound / 1'000'000) +
	       " MB of memory, which `monitor --memory SIZE` raises";
}

} // namespace monitor
