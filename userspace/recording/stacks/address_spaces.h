// SPDX-License-Identifier: MIT
// The current code mappings of each process, in the form that probes read (monitor/stack.h): a space for each distinct
// list of mappings, shared by a process and its children until one changes it (copy on write). Fed by
// stack_recorder.cpp.
//
// Changes may arrive out of order by some milliseconds; the latest by time wins. Invariant: a space that a probe may
// still read is not written; it is reused a second after the last process left it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "monitor/stack.h"
#include "user_shares.h"

namespace monitor::stacks {

struct CodeMapping {
	std::uint64_t start = 0, end = 0, bias = 0;
	std::uint32_t first_row = 0, rows = 0;
	std::uint64_t time = 0; // of the change, any clock
	std::uint32_t file = 0; // whose rows these are; 0: none
};

class AddressSpaces {
public:
	using Clock = std::chrono::steady_clock;
	// Publishes a process's space to the probes; negative: none.
	using SetSpace = std::function<void(std::int32_t process, std::int64_t space)>;

	// The user of a process; unknown ones count as one user.
	using UserOf = std::function<std::uint32_t(std::int32_t process)>;

	// Each user has a share of mappings and spaces (user_shares.h). Without `user_of` everything is root's.
	AddressSpaces(std::span<edc_unwind_mapping> mappings, std::span<edc_unwind_space> spaces, SetSpace set,
		      UserOf user_of = {});

	// Changes of a process. False: too many mappings; some may be stale, because perf does not report munmap().
	bool on_mapped(std::int32_t process, const CodeMapping &mapping);
	void on_executed(std::int32_t process, std::uint64_t time);
	void on_created(std::int32_t process, std::int32_t parent, std::uint64_t time);
	void on_ended(std::int32_t process);
	// Publishes the rows of a file that was EDC_UNWIND_LATER, also to walks in progress.
	void set_rows(std::uint32_t file, std::uint32_t first_row, std::uint32_t rows);
	std::vector<std::int32_t> known_processes() const;
	bool knows(std::int32_t process) const { return processes_.contains(process); }

	// Publishes changes to the probes. Skips states of a rapidly changing list: each takes room that is reused only
	// after a second.
	void publish(Clock::time_point now);
	bool has_unpublished() const { return !changed_.empty(); }

	std::size_t processes() const { return processes_.size(); }
	std::uint64_t without_room() const { return without_room_; } // lists that found no free memory
	// Users of these lists, since the last call.
	std::vector<std::uint32_t> take_refused() { return std::exchange(refused_, {}); }

private:
	struct Layout {
		std::vector<CodeMapping> mappings; // by start
		std::int64_t space = -1;
		std::uint32_t first = 0, room = 0, user = 0;
	};
	struct Process {
		std::shared_ptr<Layout> layout;
		std::uint64_t executed = 0; // time of the last exec
		Clock::time_point next_publish{};
	};
	struct FreedSpace {
		Clock::time_point when;
		std::int64_t space;
		std::uint32_t first, room, user;
	};

	Layout &private_layout(std::int32_t process);
	void leave_layout(Process &process);
	void allocate(Layout &layout, std::uint32_t user);
	bool take_share(std::uint32_t user, std::uint32_t room);
	Clock::duration publish_interval(const Layout &layout) const;
	std::int64_t free_space();
	std::int64_t free_mappings(std::uint32_t room);
	std::int64_t split_larger(std::uint32_t room);
	void reclaim(Clock::time_point now);

	std::span<edc_unwind_mapping> mappings_;
	std::span<edc_unwind_space> spaces_;
	SetSpace set_space_;
	UserOf user_of_;
	UserShares room_shares_, space_shares_;
	std::unordered_map<std::int32_t, Process> processes_;
	std::set<std::int32_t> changed_;
	std::deque<FreedSpace> freed_;
	std::vector<std::int64_t> free_spaces_;
	std::map<std::uint32_t, std::vector<std::uint32_t>> free_mappings_; // by room
	std::uint32_t next_space_ = 0, next_mapping_ = 0;
	std::uint64_t without_room_ = 0;
	std::vector<std::uint32_t> refused_;
};

} // namespace monitor::stacks
