// SPDX-License-Identifier: MIT
// How much memory a command takes for what it reads from files that others made: a trace of a few megabytes can name a
// million threads, a program's debug information expands a thousandfold. One bound for the process and its helpers.
// Set by main() for commands that read; a recorder and programs that use libpoet have none. What is beyond it is left
// out and said to be.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace monitor {

// A tenth of the machine's memory, at most 800 MB.
std::uint64_t usual_memory_bound();
// 0: none.
void set_memory_bound(std::uint64_t bytes);
std::uint64_t memory_bound();

// Whether this process has taken half of it; the other half is for the answer. Cheap enough to ask for each packet.
bool is_memory_used_up();
// A part of what all files of programs together may take in this process, a quarter of the bound (of the usual one if
// there is none). Given back when it is destroyed.
class MemoryShare {
public:
	MemoryShare() = default;
	MemoryShare(MemoryShare &&other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
	MemoryShare &operator=(MemoryShare &&) = delete;
	~MemoryShare();

	// False: there is not as much left, and nothing was taken.
	bool take(std::uint64_t bytes);

private:
	std::uint64_t bytes_ = 0;
};

// "reading takes more than 800 MB of memory, which `monitor --memory SIZE` raises"
std::string memory_used_up_text();

} // namespace monitor
