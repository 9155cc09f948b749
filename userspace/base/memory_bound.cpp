// SPDX-License-Identifier: MIT
#include "memory_bound.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "fd.h"

namespace monitor {
namespace {

constexpr std::uint64_t max_bytes = 800'000'000;
constexpr unsigned packets_a_look = 16;

std::atomic<std::uint64_t> bound = 0, shared = 0; // shared: of all MemoryShares

std::uint64_t page_size()
{
	return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Without the files that are mapped.
std::uint64_t own_bytes()
{
	char text[128];
	const Fd file(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
	const ssize_t n = file ? ::read(file.get(), text, sizeof text - 1) : 0;
	text[std::max<ssize_t>(n, 0)] = '\0';
	unsigned long resident = 0, of_files = 0;
	return std::sscanf(text, "%*u %lu %lu", &resident, &of_files) == 2 ? (resident - of_files) * page_size() : 0;
}

} // namespace

std::uint64_t usual_memory_bound()
{
	return std::min(static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * page_size() / 10, max_bytes);
}

void set_memory_bound(std::uint64_t bytes)
{
	bound = bytes;
}

std::uint64_t memory_bound()
{
	return bound;
}

bool is_memory_used_up()
{
	thread_local unsigned calls = 0;
	thread_local bool is_used_up = false;
	const std::uint64_t most = bound.load(std::memory_order_relaxed);
	if (most == 0)
		return false;
	if (calls++ % packets_a_look == 0)
		is_used_up = own_bytes() > most / 2;
	return is_used_up;
}

MemoryShare::~MemoryShare()
{
	shared -= bytes_;
}

bool MemoryShare::take(std::uint64_t bytes)
{
	const std::uint64_t most = (bound ? bound.load() : usual_memory_bound()) / 4;
	std::uint64_t before = shared.load();
	while (before <= most && bytes <= most - before)
		if (shared.compare_exchange_weak(before, before + bytes)) {
			bytes_ += bytes;
			return true;
		}
	return false;
}

std::string memory_used_up_text()
{
	return "reading takes more than " + std::to_string(bound / 1'000'000) +
	       " MB of memory, which `monitor --memory SIZE` raises";
}

} // namespace monitor
