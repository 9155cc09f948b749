// SPDX-License-Identifier: MIT
// How much memory a command takes for what it reads from files that others made: a trace of a few megabytes can name a
// million threads, a program's debug information expands a thousandfold. One bound for the process and its helpers.
// Set by main() for commands that read; a recorder and programs that use libpoet have none. Reading stops at a part of
// it, so that an answer without the rest can be given, and the rest is said to be left out. Whatever needs more than
// all of it gets no memory (RLIMIT_DATA), and the command ends with a sentence.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace monitor {

// A tenth of the machine's memory, at most 800 MB.
std::uint64_t usual_memory_bound();
// 0: none. It holds from when something is read on, so commands that read nothing hand it to no program that they
// start.
void set_memory_bound(std::uint64_t bytes);
std::uint64_t memory_bound();

// Whether this process has taken the part that is for reading. Cheap enough to ask for each packet; `bytes`: its
// size.
bool is_memory_used_up(std::uint64_t bytes);
// What all helpers together may take; from now on this process has only the rest. Half of the usual bound if there is
// none.
std::uint64_t memory_for_helpers();

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

// "to read it and to answer takes more than 800 MB of memory, which `monitor --memory SIZE` raises"
std::string memory_used_up_text();
// Of a command that needs more all the same.
std::string memory_ended_text(std::uint64_t bound);

} // namespace monitor
