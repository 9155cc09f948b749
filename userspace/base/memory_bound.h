// SPDX-License-Identifier: MIT
// Bounds the memory that a command takes for untrusted files: a trace of a few megabytes can name a million threads, a
// program's debug information can expand a thousandfold. One bound for the process and its helpers, set by main() for
// commands that read; recorders and programs that use libpoet have none. Reading stops at a part of the bound, and the
// answer says what it leaves out. Allocations beyond the bound fail (RLIMIT_DATA), and the command ends with an error.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace monitor {

// A tenth of the machine's memory, at most 800 MB.
std::uint64_t usual_memory_bound();
// 0: none. Takes effect at the first read, so that commands that read nothing do not pass it on to child programs.
void set_memory_bound(std::uint64_t bytes);
std::uint64_t memory_bound();
// Takes effect now: for what is read in one piece, such as a model, not in packets.
void use_memory_bound();

// Whether this process has used up the part for reading. Cheap enough to call for each packet, of size `bytes`.
bool is_memory_used_up(std::uint64_t bytes);
// Takes the part for all helpers together from this process's bound. Half of the usual bound if there is none.
std::uint64_t memory_for_helpers();

// A reservation from the memory for all program files together, which is a quarter of the bound (of the usual one if
// there is none). Released by the destructor.
class MemoryShare {
public:
	MemoryShare() = default;
	MemoryShare(MemoryShare &&other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
	MemoryShare &operator=(MemoryShare &&) = delete;
	~MemoryShare();

	// False: not enough left; nothing is reserved.
	bool take(std::uint64_t bytes);

private:
	std::uint64_t bytes_ = 0;
};

// "to read it and to answer takes more than 800 MB of memory, which `monitor --memory SIZE` raises"
std::string memory_used_up_text();
// The error of a command that exceeds the bound. `has_window`: it has --from and --to.
std::string memory_ended_text(std::uint64_t bound, bool has_window);

} // namespace monitor
