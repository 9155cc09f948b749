// SPDX-License-Identifier: MIT
// What fails, and when: system calls of the tested code are wrapped (-Wl,--wrap, see CMakeLists.txt) and pass on unless
// the test has planned something else; so does operator new.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

namespace faults {

// What one call meets.
struct Fault {
	int error = 0;                                                   // 0: none
	std::size_t max_bytes = std::numeric_limits<std::size_t>::max(); // a write takes no more
};

inline Fault fails(int error)
{
	return {error, 0};
}
inline Fault takes(std::size_t max_bytes)
{
	return {0, max_bytes};
}
inline const Fault passes{};

// The coming calls of one kind: the first fault for the first call. Calls after the last one pass, or meet `always`.
class Plan {
public:
	void set(std::vector<Fault> faults, Fault always = {});
	void reset() { set({}); }
	// How many calls there were since set().
	std::size_t calls() const { return calls_.load(); }
	Fault next();

private:
	std::vector<Fault> faults_;
	Fault always_;
	std::atomic<std::size_t> calls_{0};
};

extern Plan writes, truncations, opens, mappings, renames; // writes: write() and writev()

// Bytes that files take in all, in as many writes as it may be; then the disk is full.
inline constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
extern std::atomic<std::size_t> disk_room;

// The clock that clock_gettime(CLOCK_MONOTONIC) shows; nullptr: the machine's.
extern std::uint64_t (*monotonic_ns)();

// The allocation with this number from now on fails, and no other; of all threads, or all but the calling one.
// -1: none.
void fail_allocation(long number);
void fail_allocation_of_others(long number);
// Whether that allocation came.
bool allocation_failed();

} // namespace faults
