// SPDX-License-Identifier: MIT
// Maintains the probes' unwind tables while a recording runs (record --stacks): follows mappings, reads files, fills
// the card's memory, and writes changes of mappings into the trace for symbolization.
//
// Constructed by Recording with privileges; start() after they are dropped. A thread of its own does the work; the
// drain thread takes the changes. Unknown mappings truncate stacks, which the trace shows.
//
// Without --stacks only sampled processes of the command are published (SampledCommand), and tables are built when
// worth their cost. The thread then polls instead of following each change.
//
// The thread uses at most a share of a CPU, however fast programs change mappings. Records lost meanwhile are counted,
// and affected lists are re-read from /proc.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

#include "address_spaces.h"
#include "base/fd.h"
#include "base/recording_file/stacks.h"
#include "code_files.h"
#include "code_histories.h"
#include "cpu_share.h"
#include "kept_files.h"
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

using recording_file::UnwindCounts, recording_file::WithoutRoom;

// The card's memory.
struct UnwindMemory {
	std::span<edc_unwind_row> rows;
	std::span<edc_unwind_mapping> mappings;
	std::span<edc_unwind_space> spaces;
	AddressSpaces::SetSpace set_space;
};

// The sampled processes without --stacks.
struct SampledCommand {
	const edc_unwind_wanted *wanted = nullptr; // null: with --stacks, of all processes
	std::function<bool(std::int32_t process)> includes;
	std::function<std::uint64_t()> cpu_ns; // its CPU time so far, by the samples
};

// Raises the calling thread's priority during its lifetime. Threads and processes created meanwhile inherit it for good
// (privileges are dropped before they start): mappings must be followed before a short program ends.
class Urgency {
public:
	explicit Urgency(bool is_urgent);
	~Urgency();
	Urgency(const Urgency &) = delete;
	Urgency &operator=(const Urgency &) = delete;

private:
	int nice_before_;
};

class StackRecorder {
public:
	// `user`: see Opener. With --stacks the calling thread has raised priority until start(). Throws Error.
	StackRecorder(UnwindMemory memory, SampledCommand sampled, unsigned cpus, const record::User &user);
	~StackRecorder() { stop(); }

	// Writes the kernel's symbols, reads the mappings of all processes (unless only the command is sampled), and
	// starts the thread. `directory`: the trace's .monitor.
	void start(const std::string &directory);
	void stop();
	// SideBand::add().
	void follow(unsigned cpu, Fd events);

	// Changes since the last call. Any thread.
	std::vector<MappingChange> take_changes();
	// After stop().
	UnwindCounts counts() const;

private:
	std::vector<pollfd> fds_to_poll() const;
	void run();
	void run_sampled();
	void publish_sampled_processes();
	void publish_sampled(std::int32_t process);
	void write_kernel_symbols(const std::string &directory);
	void read_processes();
	void read_maps(std::int32_t process, std::uint64_t monotonic_ns);
	void reread_lists();
	void pause();
	void apply(const Change &change);
	void add_mapping(const Change &change);
	bool is_still_mapped(const Change &change);
	OpenedFile open_file_of(const Change &change);
	const CodeFile *file_of(const Change &change);
	void note_number_inside(std::int32_t process);
	void add_change(const MappingChange &change);
	void forget_ended();
	void publish();
	void add_without_room(std::uint32_t user, std::uint64_t WithoutRoom::*what);
	void note_lost_opener();

	UnwindMemory memory_;
	const SampledCommand sampled_;
	CodeHistories histories_;          // of the sampled command
	std::set<std::int32_t> published_; // published processes
	std::uint64_t wanted_seen_ = 0;    // requests of the probes seen
	Fd kallsyms_;
	SideBand side_band_;
	std::optional<Urgency> urgency_; // until the thread is started
	Opener opener_;
	AddressSpaces spaces_;
	std::unique_ptr<CodeFiles> files_;
	KeptFiles kept_;
	std::string directory_;
	std::set<std::int32_t> noted_inside_; // processes whose number in their pid namespace is noted
	std::vector<std::int32_t> ended_;
	std::set<std::uint64_t> local_devices_; // of file systems that cannot hang
	std::set<std::uint64_t> hung_devices_;  // that did hang; not used again
	std::set<std::int32_t> stale_;          // processes whose lists must be re-read
	AddressSpaces::Clock::time_point read_again_at_{}, forget_at_{};
	std::uint64_t lost_ = 0, lists_read_again_ = 0, paused_ns_ = 0;
	std::map<std::uint32_t, WithoutRoom> without_room_; // by user
	bool opener_lost_ = false;
	CpuShare share_;
	Fd wakeup_;
	std::atomic<bool> stopping_{false};
	std::mutex mutex_; // of changes_
	std::vector<MappingChange> changes_;
	std::thread thread_;
};

} // namespace monitor::stacks
