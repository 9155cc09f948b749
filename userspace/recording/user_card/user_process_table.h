// SPDX-License-Identifier: MIT
// The processes that have rings: gives rings to those that ask, adopts those whose rings the kernel module created
// (user_module.h), and keeps what they lost when they end. The card's thread and the drain thread call it under the
// lock of the card.
//
// One client must not use up what all need: memory, descriptors, and the larger rings are limited per process and user.
// Invariant: the areas that the recorder gave take no more than the memory of the options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/tsc.h"
#include "monitor/card.h"
#include "user_counts.h"
#include "user_module.h"
#include "user_options.h"
#include "user_process.h"

namespace monitor::card {

// Rings that have their own stream; those of later processes are merged, one stream per CPU.
inline constexpr std::size_t max_own_streams = 64;
// With those of merged rings, one for each CPU, and that of shared rings.
constexpr std::size_t max_streams(std::size_t cpus)
{
	return max_own_streams + cpus + 1;
}

class ProcessTable {
public:
	// `module` may be null. `options` must outlive the table.
	ProcessTable(const UserCardOptions &options, UserModule *module)
	    : options_(options), module_(module), cpus_(options.cpus)
	{
	}

	// From now on events are recorded. `max_areas`: how many processes may have rings.
	void start(std::size_t max_areas);
	// Gives a process rings, which the welcome describes. `blocks`: of each ring; 0: any number. `losses_counted`:
	// losses before it has rings are counted elsewhere. Returns their memory, or nothing.
	Fd give_area(const ucred &who, edc_welcome &welcome, std::uint64_t blocks = 0, bool losses_counted = false);
	// Adds the losses of a process that got no answer.
	void add_losses(pid_t process, std::uint64_t untrusted_lost);
	// Adopts the processes that got rings from the module since the last call.
	void adopt_arrived();
	// The same, at the start of a pass; `now` was read before that. Processes that arrive later post nothing older.
	void begin_pass(std::uint64_t now);
	// A process got nothing because memory ran out.
	void refuse() { ++counts_.refused; }

	const std::vector<std::unique_ptr<UserProcess>> &all() const { return processes_; }
	// Rings per process.
	unsigned cpus() const { return cpus_; }
	// When recording started, in ticks.
	std::uint64_t start_time() const { return start_time_; }
	// Plausibility limit: one event per tick and CPU.
	std::uint64_t max_possible_discarded() const { return (read_tsc() - start_time_) * options_.cpus; }

	// Polls for the end of every process, and takes what was found.
	void add_polls(std::vector<pollfd> &polls) const;
	void note_ended(std::span<const pollfd> polls);
	// Removes the processes that have ended and are drained.
	void remove_done();
	bool all_done() const;
	// The recording is over.
	void notify_over() const;

	// The processes that got rings since the last call, if the options ask for their names.
	std::vector<edc_task> take_arrived() { return std::exchange(arrived_, {}); }
	UserCounts counts() const;

private:
	bool may_have_area(const ucred &who) const;
	std::uint64_t ring_blocks_for(const UserProcess &asking, std::uint64_t wanted) const;
	Fd make_area(UserProcess &process, std::uint64_t wanted_blocks);
	void adopt(const edc_device_process &reported);
	void add(std::unique_ptr<UserProcess> process);

	const UserCardOptions &options_;
	UserModule *module_;
	unsigned cpus_;
	std::size_t max_areas_ = 0;
	std::uint64_t start_time_ = 0;
	std::uint64_t last_look_ = 0; // processes that have rings by then are known
	bool started_ = false;        // processes that had rings before are known
	std::vector<std::unique_ptr<UserProcess>> processes_;
	std::uint64_t area_bytes_ = 0;    // of those that the recorder gave
	std::map<pid_t, unsigned> cards_; // how many a process had
	std::vector<edc_task> arrived_;
	UserCounts counts_; // the claims are of processes that were removed
};

} // namespace monitor::card
