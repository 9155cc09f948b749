// SPDX-License-Identifier: MIT
// Common to monitor top and monitor serve: a recording in a thread of its own while its time windows are shown
// (answers/live/), and names for the cgroups in them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "option_texts.h"
#include "recording/session/recording.h"

namespace monitor {

// Common options, as text.
struct LiveOptions {
	std::string delay = "1s", families, selection, card = "auto", buffer;
	bool no_calibration = false;

	// -d. Throws Error.
	std::uint64_t window_ns() const;
	// For a recording that writes nothing; its directory is called monitor-`name`-... Throws Error.
	record::Options record_options(const std::string &name) const;
};

class LiveRecording {
public:
	// Returns when it has started. `on_end`: called once it has ended, by any thread. Throws Error.
	explicit LiveRecording(record::Options options, std::function<void()> on_end = {});
	~LiveRecording() { stop(); }
	LiveRecording(const LiveRecording &) = delete;
	LiveRecording &operator=(const LiveRecording &) = delete;

	void stop();
	// Of the trace; after the start.
	const std::string &directory() const { return directory_; }
	std::uint64_t lost() const { return lost_; }
	std::map<std::uint64_t, std::string> cgroups() const { return recording_.cgroups(); }
	bool is_over() const { return is_over_; }
	// After stop().
	const record::Result &result() const { return result_; }

private:
	record::Recording recording_;

	std::string directory_;
	std::atomic<std::uint64_t> lost_{0};
	std::atomic<bool> is_over_{false};
	record::Result result_;
	std::thread waiter_;
};

// Looks up names of cgroups, repeatedly for new ones.
class CgroupNaming {
public:
	using Paths = std::map<std::uint64_t, std::string>; // by id

	// `name` is called with all names so far, now and after each look-up.
	CgroupNaming(const LiveRecording &recording, std::function<void(Paths)> name);

	// Call it when a cgroup without a name was seen.
	void look_up_if_due();

private:
	using Clock = std::chrono::steady_clock;

	void look_up();

	const LiveRecording &recording_;
	const std::function<void(Paths)> name_;
	Clock::time_point next_look_up_;
};

} // namespace monitor
