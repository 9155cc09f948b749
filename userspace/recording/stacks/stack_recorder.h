// SPDX-License-Identifier: MIT
// Keeps the probes able to walk stacks while a recording runs (record --stacks): learns of mappings, reads the files,
// fills the card's memory, and notes every change of mappings for the trace, which later names the frames by them.
//
// Made by recording.cpp while it has its privileges; start() after they are gone; the drain thread takes the changes.
// Its own thread does all the rest. What it cannot learn leaves stacks truncated, which the trace says.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "address_spaces.h"
#include "base/fd.h"
#include "code_files.h"
#include "opener.h"
#include "side_band.h"

namespace monitor::stacks {

// For a `mapping` token (card.h).
struct MappingChange {
	std::uint32_t change = 0; // EDC_MAPPING_*
	std::int32_t process = 0, parent = 0;
	std::uint32_t file = 0;
	std::uint64_t monotonic_ns = 0; // 0: before the recording
	std::uint64_t start = 0, end = 0, offset = 0;
};

struct StackCounts {
	std::uint64_t files = 0, unread_files = 0, rows = 0, tables_without_room = 0, table_ns = 0;
	std::uint64_t processes = 0, spaces_without_room = 0, lost_changes = 0;
};

// The card's memory, as its maker has it.
struct UnwindMemory {
	std::span<edc_unwind_row> rows;
	std::span<edc_unwind_mapping> mappings;
	std::span<edc_unwind_space> spaces;
	AddressSpaces::SetSpace set_space;
};

class StackRecorder {
public:
	// `drop`: see Opener. Throws Error.
	StackRecorder(UnwindMemory memory, unsigned cpus, const std::function<void()> &drop);
	~StackRecorder();

	// Notes the kernel's functions, reads the mappings of all processes, then starts the thread. `directory`: the
	// trace's .monitor.
	void start(const std::string &directory);
	void stop();

	// What happened since the last call. Any thread.
	std::vector<MappingChange> take_changes();
	// After stop().
	StackCounts counts() const;

private:
	void run();
	void write_kernel_symbols(const std::string &directory);
	void read_processes();
	void read_maps(std::int32_t process);
	void take(const Change &change);
	void take_mapping(const Change &change);
	const CodeFile *file_of(const Change &change);
	void note(const MappingChange &change);
	void forget_ended();

	UnwindMemory memory_;
	Fd kallsyms_;
	SideBand side_band_;
	Opener opener_;
	AddressSpaces spaces_;
	std::unique_ptr<CodeFiles> files_;
	std::vector<std::int32_t> ended_;
	Fd wakeup_;
	std::atomic<bool> stopping_{false};
	std::mutex mutex_; // of changes_
	std::vector<MappingChange> changes_;
	std::thread thread_;
};

} // namespace monitor::stacks
