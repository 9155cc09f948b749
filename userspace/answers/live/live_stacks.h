// SPDX-License-Identifier: MIT
// Stacks of the followed process in consecutive windows, and the mappings of all processes (`monitor top --stacks`).
// The fold is that of `monitor report DIR stacks`, an observer of LiveFold's in the thread that drains the rings;
// stack_naming.h names its results in a thread of its own.
// A probe describes a stack once and then refers to it by its id, as long as its CPU's table of described stacks has it
// (bpf/stack.bpf.h). Invariant: a description is kept while one of these tables has its id, or a thread sleeps at it,
// so memory is bounded like the tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "monitor/stack.h"
#include "reading/analyze/stacks.h"
#include "reading/analyze/thread_fold.h"

namespace monitor::live {

// A window's stacks, independent of the running fold.
struct StackWindow {
	std::int32_t process = 0, thread = 0; // what was followed
	std::deque<analyze::Thread> threads;  // threads with these stacks, and their wakers
	analyze::StackFold stacks;            // of `threads`
	std::unordered_map<const analyze::Thread *, std::string> commands;
	std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> interrupts; // that woke threads
	std::uint64_t left_out = 0; // descriptions of stacks, since the start
};

struct EndedProcess {
	std::int32_t process = 0;
	std::uint64_t time = 0; // end of the window in which it ended
};

class LiveStacks final : public analyze::StackFold {
public:
	static constexpr std::size_t max_stacks = 1 << 16; // per window; further ones are `other`
	static constexpr std::size_t max_frames = 1 << 24; // of all descriptions: 128 MiB

	explicit LiveStacks(const analyze::ThreadFold &fold, std::size_t stack_limit = max_stacks,
			    std::size_t frame_limit = max_frames);

	// From here on: this process, or only this thread of it; 0: none.
	void follow(std::int32_t process, std::int32_t thread);
	// The window has ended; the next one begins. Called before ThreadFold::forget().
	std::unique_ptr<StackWindow> take_window();
	// Since the last call.
	std::vector<EndedProcess> take_ended() { return std::exchange(ended_processes_, {}); }
	// Called at each clock snapshot: by then all mappings made shortly before are known.
	void set_on_clock(std::function<void(std::uint64_t time)> call) { on_clock_ = std::move(call); }

	std::size_t descriptions() const { return descriptions_.size(); }
	std::size_t frames() const { return frames_; }

	// As analyze::Observer:
	void stack_frames(std::uint64_t id, std::uint32_t first, std::span<const std::uint64_t> frames) override;
	void stack_end(std::uint32_t cpu, std::uint64_t id, std::uint32_t frames, const std::string &why) override;
	void stack(const analyze::Thread &thread, const analyze::StackSample &sample) override;
	void blocked(const analyze::Thread &thread, std::uint64_t from, std::uint64_t to,
		     const analyze::Waker &waker) override;
	void clock_read(std::uint64_t time, std::uint64_t monotonic_ns) override;
	void forgotten(const analyze::Thread &thread) override;

private:
	struct Description {
		std::size_t tables = 0; // number of CPUs' tables with its id
		std::size_t frames = 0; // number kept in memory
	};
	bool is_followed(const analyze::Thread &thread) const;
	void drop_frames(std::uint64_t id, Description &description);
	void drop_unused();

	const analyze::ThreadFold &fold_;
	const std::size_t max_frames_;
	std::int32_t process_ = 0, thread_ = 0;
	// Per CPU, a copy of the probes' table.
	std::unordered_map<std::uint32_t, std::array<std::uint64_t, EDC_STACK_KNOWN>> tables_;
	std::unordered_map<std::uint64_t, Description> descriptions_;
	std::vector<std::uint64_t> released_;          // ids in no table
	std::unordered_set<std::uint64_t> incomplete_; // ids without a stack_end() so far
	std::size_t frames_ = 0;
	std::uint64_t left_out_ = 0;
	std::vector<EndedProcess> ended_processes_;
	std::function<void(std::uint64_t)> on_clock_;
};

} // namespace monitor::live
